"""What is known of the best objective over networks of one width, whichever layers are trained."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import NoReturn, TypeAlias

from solvers.instance import SearchStatus
from verify.checker.bounds import UpperBound
from verify.checker.width import InfeasibleWidth, LowerBoundWidth
from verify.deciders.proposal import certified
from verify.numbers.counts import count
from verify.numbers.decimals import at_least, at_most
from verify.numbers.intervals import Interval
from verify.problem.network import Network
from verify.problem.problem import Problem

__all__ = ["OnStates", "WidthBracket"]

OnStates: TypeAlias = Callable[[int, int, float, float], None]
"""Called after a state with the number of states looked at, of open ones, and both ends of the bracket in floats, 0 and
infinite where none is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WidthBracket:
    """What is known of the networks of one width; every certificate in it was accepted by the checker.

    lower, upper: certificates of the best objective, or None.   nothing: the proof that no network of the width fits.
    witnesses: networks that fit and are at most as wide, the best first, with their objectives.
    status: how the search ended, and where it failed the `reason`.
    nodes: states of the neurons that it looked at.   left: states that it left open.
    sharpening: how many of these nodes only made a bound within the tolerance equal to the best objective.
    """

    lower: LowerBoundWidth | None = None
    upper: UpperBound | None = None
    nothing: InfeasibleWidth | None = None
    witnesses: tuple[Network, ...] = ()
    objectives: tuple[Fraction, ...] = ()
    status: SearchStatus
    reason: str = ""
    nodes: int = 0
    left: int = 0
    sharpening: int = 0

    @classmethod
    def of(
        cls,
        problem: Problem,
        proof: LowerBoundWidth | InfeasibleWidth | None,
        found: Iterable[tuple[Fraction, Network]],
        *,
        earlier: LowerBoundWidth | None = None,
        status: SearchStatus,
        nodes: int,
        left: int,
        sharpening: int = 0,
    ) -> WidthBracket:
        """What a search found, its proof and the networks that fit, best first, with what it ended in.

        earlier: an accepted bound that was known before, which stays where it is the larger one.
        """
        sealed = None if proof is None else certified(problem, None, proof)
        networks = tuple(found)
        upper = UpperBound(witness=networks[0][1], bracket=(None, networks[0][0])) if networks else None
        nothing = sealed if isinstance(sealed, InfeasibleWidth) else None
        if nothing is not None or status is SearchStatus.INFEASIBLE:
            status = SearchStatus.STALLED if nothing is None else SearchStatus.INFEASIBLE
        return cls(
            lower=_larger(sealed, earlier),
            upper=None if upper is None else certified(problem, None, upper),
            nothing=nothing,
            witnesses=tuple(network for _, network in networks),
            objectives=tuple(value for value, _ in networks),
            status=status,
            nodes=nodes,
            left=left,
            sharpening=sharpening,
        )

    def __repr__(self) -> str:
        low, high = self.ends
        ends = f"[{'?' if low is None else at_least(low, 10)}, {'?' if high is None else at_most(high, 10)}]"
        if low is not None and high is not None:
            ends = repr(Interval(low, high))
        return f"<WidthBracket: {ends}, {self.ended}, {count(self.nodes, 'state')}, {self.left} open>"

    def __bool__(self) -> NoReturn:
        raise TypeError("a bracket has no truth value: ask `.ends`, or whether `.lower` or `.nothing` is None")

    @property
    def ended(self) -> str:
        """How the search ended, in words: "failed (the reason)", or the status alone."""
        return f"{self.status} ({self.reason})" if self.reason else self.status.value

    @property
    def ends(self) -> tuple[Fraction | None, Fraction | None]:
        """The bracket's two ends."""
        return (
            None if self.lower is None else self.lower.bracket[0],
            None if self.upper is None else self.upper.bracket[1],
        )


def _larger(proof: LowerBoundWidth | InfeasibleWidth | None, earlier: LowerBoundWidth | None) -> LowerBoundWidth | None:
    """The bound, or the earlier one where that is larger."""
    if not isinstance(proof, LowerBoundWidth):
        return earlier if proof is None else None
    known = None if earlier is None else earlier.bracket[0]
    return earlier if known is not None and known > (proof.bracket[0] or 0) else proof
