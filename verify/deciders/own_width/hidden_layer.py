"""The best objective over networks of given output weights: the search, and its best network in short numbers."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from verify.checker.width import LowerBoundWidth
from verify.deciders.fit.repairs import repairs
from verify.deciders.own_width.record import OnStates, WidthBracket
from verify.deciders.rounding import dyadic
from verify.deciders.witnesses import network_with
from verify.numbers.floats import float_near
from verify.problem.network import Network
from verify.problem.problem import Problem, objective

__all__ = ["bracket_of_hidden_layer"]

LONG_BITS = 250
"""Weights of more bits are long."""


def bracket_of_hidden_layer(
    problem: Problem,
    networks: Iterable[Network],
    *,
    tol: Fraction,
    deadline: float | None = None,
    max_nodes: int | None = None,
    earlier: LowerBoundWidth | None = None,
    on_progress: OnStates | None = None,
) -> WidthBracket:
    """`bracket_at_width` where the output weights are given; where that is easy both ends are made equal."""
    from verify.deciders.hidden.search import HiddenSearch

    found = HiddenSearch(problem, networks, tol, deadline, on_progress, max_nodes, earlier).run()
    known = list(found.networks)
    if known and tol:
        known[0] = _shortened(problem, known[0], tol)
    valued = [(value, network) for network in known if (value := objective(problem, network)) is not None]
    return WidthBracket.of(
        problem,
        found.lower or found.nothing,
        valued,
        earlier=earlier,
        status=found.status,
        nodes=found.nodes,
        left=found.left,
        sharpening=found.sharpening,
    )


def _shortened(problem: Problem, network: Network, tol: Fraction) -> Network:
    """Nearly the same network in short numbers, where it has long ones and that costs no more than the tolerance."""
    longest = max((max(abs(z.numerator), z.denominator).bit_length() for z in network.parameters[0]), default=0)
    value = objective(problem, network)
    if longest <= LONG_BITS or value is None:
        return network
    rounded = network_with(network, [[dyadic(float_near(z), 53) for z in row] for row in network.hidden_weights])
    found = rounded if objective(problem, rounded) is not None else next(repairs(problem, rounded), None)
    mine = None if found is None else objective(problem, found)
    is_near = found is not None and mine is not None and mine <= value * (1 + tol / 1000)
    return found if is_near and found is not None else network
