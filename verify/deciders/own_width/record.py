"""What is known of the best objective over networks of one width."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import NoReturn

from solvers.instance import SearchStatus
from verify.checker.width import InfeasibleWidth, LowerBoundWidth
from verify.problem.network import Network

__all__ = ["WidthBracket"]


@dataclass(frozen=True, slots=True, kw_only=True)
class WidthBracket:
    """lower: a bound of the width; nothing: the proof that no network of it fits; accepted by the checker, or None.

    witnesses: networks that fit and are at most as wide, the best first, with their objectives.

    status: how the search ended.   nodes: states that it looked at.
    left: states that it left open.
    """

    lower: LowerBoundWidth | None
    nothing: InfeasibleWidth | None = None
    witnesses: tuple[Network, ...] = ()
    objectives: tuple[Fraction, ...] = ()
    status: SearchStatus
    nodes: int
    left: int

    def __bool__(self) -> NoReturn:
        raise TypeError("a bracket has no truth value: ask `.ends`, or whether `.lower` is None")

    @property
    def ends(self) -> tuple[Fraction | None, Fraction | None]:
        """The bracket's two ends."""
        return (
            None if self.lower is None or self.lower.bracket[0] is None else Fraction(self.lower.bracket[0]),
            min(self.objectives, default=None),
        )
