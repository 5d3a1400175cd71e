"""What is known of the networks of a problem's own width: the least objective from both sides, or that none fits."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import NoReturn

from verify.checker.bounds import UpperBound
from verify.checker.width import InfeasibleWidth, LowerBoundWidth
from verify.deciders.fit.repairs import repairs
from verify.deciders.hidden.status import WidthStatus
from verify.deciders.proposal import certified
from verify.deciders.rounding import dyadic
from verify.deciders.witnesses import network_with
from verify.numbers.counts import count
from verify.numbers.decimals import at_least, at_most
from verify.numbers.floats import float_near
from verify.problem.network import Network
from verify.problem.problem import Problem, objective

__all__ = ["AtWidth", "WidthStatus", "bracket_at_width"]

LONG_BITS = 250
"""Weights of more bits are long."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AtWidth:
    """What is known of the networks of one width; every certificate in it was accepted by the checker.

    lower, upper: certificates of the least objective, or None.   nothing: the proof that none of the width fits.
    witnesses: networks of the width that fit, the best first, and their objectives.
    status: how the search ended.   reason: what failed, "" otherwise.
    nodes, open_nodes: how many states it looked at, and how many were left.
    """

    lower: LowerBoundWidth | None = None
    upper: UpperBound | None = None
    nothing: InfeasibleWidth | None = None
    witnesses: tuple[Network, ...] = ()
    objectives: tuple[Fraction, ...] = ()
    status: WidthStatus
    reason: str = ""
    nodes: int = 0
    open_nodes: int = 0

    def __repr__(self) -> str:
        low, high = self.ends
        ends = f"[{'?' if low is None else at_least(low, 10)}, {'?' if high is None else at_most(high, 10)}]"
        return f"<AtWidth: {ends}, {self.status.value}, {count(self.nodes, 'node')}>"

    def __bool__(self) -> NoReturn:
        raise TypeError("a bracket has no truth value: ask `.ends`, or whether `.lower` or `.nothing` is None")

    @property
    def ends(self) -> tuple[Fraction | None, Fraction | None]:
        """The bracket's two ends."""
        return (
            None if self.lower is None else self.lower.bracket[0],
            None if self.upper is None else self.upper.bracket[1],
        )


def bracket_at_width(
    problem: Problem,
    best: Network | None = None,
    *,
    also: Iterable[Network] = (),
    tol: Fraction = Fraction(1, 10**6),
    deadline: float | None = None,
    progress: Callable[[float, float | None, int], None] | None = None,
) -> AtWidth:
    """The bracket of the least objective of a problem with given output weights, or the proof that nothing fits.

    best: a network that fits, where one is known.   also: others of the width that may.
    tol: the relative gap at which the search ends; where that is easy the ends are made equal.
    deadline: a moment of `solvers.clock.now()`.
    """
    from verify.deciders.hidden.search import HiddenSearch

    found = HiddenSearch(problem, best, tol, deadline, progress, also).run()
    lower = None if found.lower is None else certified(problem, None, found.lower)
    nothing = None if found.nothing is None else certified(problem, None, found.nothing)
    networks = list(found.networks)
    if networks and tol:
        networks[0] = _shortened(problem, networks[0], tol)
    values = [(value, network) for network in networks if (value := objective(problem, network)) is not None]
    upper = None
    if values:
        upper = certified(problem, None, UpperBound(witness=values[0][1], bracket=(None, values[0][0])))
    return AtWidth(
        lower=lower,
        upper=upper,
        nothing=nothing,
        witnesses=tuple(network for _, network in values),
        objectives=tuple(value for value, _ in values),
        status=found.status,
        nodes=found.nodes,
        open_nodes=found.open_nodes,
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
