"""What is known of the best objective of networks of other depths than 2."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import final

from solvers.instance import SearchStatus
from verify.checker.certificate import Certificate
from verify.checker.depth import is_own, powered
from verify.checker.depth_bounds import DeepUpperBound, LowerBoundOfDepth
from verify.checker.statement import Architecture
from verify.problem.network import Network
from verify.problem.problem import Problem

__all__ = ["PowerBounds"]


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class PowerBounds:
    """Bounds of the objective to the power m, and networks of the family that fit.

    lower: accepted bounds, the best first.   upper: None where no network is known.
    witnesses: with what their objective is to the power m, the best first.
    """

    lower: tuple[LowerBoundOfDepth, ...] = ()
    upper: DeepUpperBound | None = None
    witnesses: tuple[tuple[Fraction, Network], ...] = ()
    status: SearchStatus = SearchStatus.OPTIMAL

    @property
    def proofs(self) -> tuple[Certificate, ...]:
        """The certificates."""
        return (*self.lower, *([] if self.upper is None else [self.upper]))

    def below(self, mine: Fraction | None, shape: Architecture | None = None) -> list[Network]:
        """The networks of which this is less than that, of this shape or narrower where one is given."""
        return [
            network
            for value, network in self.witnesses
            if (mine is None or value < mine) and (shape is None or is_own(network.architecture, shape))
        ]


def power_of_network(problem: Problem, network: Network) -> Fraction:
    """The objective to the power m of a network that fits, whose margin is rational."""
    above, below = powered(problem, network)
    return above / below
