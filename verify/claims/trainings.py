"""Trainings that claims speak of: from the network of an instance, in floats, each done once.

What is measured on the way (times, angles, distances) is no proof. What is said about the network at the end is decided
like for any other network: `ended` hands it over with the exact values of its floats.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

from solvers.losses import Loss
from verify.claims.asking import stationary
from verify.claims.conclusions import judged
from verify.claims.records import Instance, Judgement, undecided
from verify.exact import dot
from verify.problem import outputs
from verify.training import TrainingRun, train

__all__ = [
    "after",
    "ended",
    "ends_stationary",
    "has_loss_below",
    "is_nearly_stationary",
    "margins",
    "relative_distance",
    "trained",
]

NEARLY = Fraction(1, 1000)
"""Of the norm: what float networks are allowed by default in an audit as well."""

EVALUATIONS = 200_000
"""Gradients that a training may compute, unless a claim says otherwise."""


@lru_cache(maxsize=64)
def trained(
    instance: Instance, *, loss: Loss | None = None, stop_at: float | None = None, evaluations: int = EVALUATIONS
) -> TrainingRun:
    """Gradient flow from the instance's network on its data; the loss is chosen as in `verify.train`.

    Raises KeyboardInterrupt at Ctrl-C.
    """
    run = train(instance.data, start=instance.network, loss=loss, stop_at=stop_at, max_evaluations=evaluations)
    if run.status == "interrupted":
        raise KeyboardInterrupt
    return run


def ended(instance: Instance, run: TrainingRun) -> Instance:
    """The instance's problem with the network that training ended with."""
    return Instance(instance.problem, run.network)


def after(instance: Instance, run: TrainingRun, conclusion: Callable[[Instance], Judgement]) -> Judgement:
    """The conclusion about the end of a training; undecided where a limit ended it before its limit was reached."""
    if run.status not in ("converged", "stopped"):
        return undecided(f"training did not come to an end ({run.status})")
    return conclusion(ended(instance, run))


def ends_stationary(instance: Instance) -> Judgement:
    """Gradient flow from here ends at a KKT point, up to 1e-3, with a certificate."""
    return after(instance, trained(instance), is_nearly_stationary)


def is_nearly_stationary(instance: Instance) -> Judgement:
    """The max-margin network is a KKT point up to 1e-3 relative to its norm, with a certificate."""
    return judged(stationary(instance, NEARLY))


def margins(instance: Instance) -> list[Fraction]:
    """y_i f(x_i), exactly."""
    values = outputs(instance.problem, instance.network)
    return [y * f for y, f in zip(instance.data.targets, values, strict=True)]


def has_loss_below(instance: Instance, bound: Fraction) -> bool:
    """sum_i exp(-y_i f(x_i)) < bound, shown by e^-m <= 1 / (1 + m + m^2/2 + m^3/6 + m^4/24) for m >= 0.

    The logistic loss, log(1 + e^-m) at each point, is smaller still.
    """
    found = margins(instance)
    if min(found) < 0:
        return False
    return sum((1 / _exponential(m) for m in found), Fraction(0)) < bound


def _exponential(m: Fraction) -> Fraction:
    """A lower bound of e^m for m >= 0."""
    return 1 + m * (1 + m / 2 * (1 + m / 3 * (1 + m / 4)))


def relative_distance(first: list[Fraction], second: list[Fraction]) -> float:
    """||a/|a| - b/|b|||, in floats."""
    from math import sqrt

    a, b = sqrt(float(dot(first, first))), sqrt(float(dot(second, second)))
    return sqrt(sum((float(p) / a - float(q) / b) ** 2 for p, q in zip(first, second, strict=True)))
