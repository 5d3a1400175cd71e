"""Conclusions about starts that are small enough: the same start at several scales."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from verify.claims.records import Instance, Judgement, undecided
from verify.problem.network import Network

__all__ = ["TWO_SCALES", "at_two_scales", "scaled"]

STEP = Fraction(1, 1000)


def scaled(instance: Instance, factor: Fraction) -> Instance:
    """The same problem with all weights of the network multiplied."""
    network = instance.network
    layers = [[factor * weight for weight in layer] for layer in network.parameters]
    return Instance(instance.problem, Network(network.architecture, layers))


def at_two_scales(instance: Instance, conclusion: Callable[[Instance], Judgement]) -> Judgement:
    """What holds from this start and from a thousandth of it; where these differ, of the second and a third.

    Undecided where those differ as well. What holds below every scale is not decided by any two of them.
    """
    first, second = conclusion(instance), conclusion(scaled(instance, STEP))
    if first.outcome is not second.outcome:
        first, second = second, conclusion(scaled(instance, STEP * STEP))
    if first.outcome is second.outcome:
        return second
    return undecided("the outcome changes with the scale of the start")


TWO_SCALES = (
    "weights 10^4 times smaller than the linear part of the flow needs, and 10^3 times smaller still; that the flow is "
    "unique is not decided"
)
