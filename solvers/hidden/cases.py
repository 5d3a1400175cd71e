"""What a state with given output weights asks, in floats: the outputs at the points, and the cases of its neurons."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from solvers.arrays import Floats, Signs

__all__ = ["BiasReach", "FloatCase", "WantedOutputs"]


@dataclass(frozen=True, slots=True, eq=False)
class WantedOutputs:
    """targets (n,); margin: whether they are labels; tolerance: of targets; slope a of the activation."""

    targets: Floats
    margin: bool
    tolerance: float
    slope: float

    @property
    def factors(self) -> Floats:
        """What turns lambda_i into c_i."""
        return self.targets if self.margin else np.ones(len(self.targets))

    def dual_value(self, multipliers: Floats) -> float:
        """D."""
        if self.margin:
            return float(multipliers.sum())
        return float(multipliers @ self.targets - self.tolerance * np.abs(multipliers).sum())


@dataclass(frozen=True, slots=True, eq=False)
class BiasReach:
    """reach: B.   rises, falls: whether b may go to either end in the cone of the case: no point is off, or on."""

    reach: float
    rises: bool
    falls: bool


@dataclass(frozen=True, slots=True, eq=False)
class FloatCase:
    """rows (n, r): the points in coordinates that count; free (n,): their entries of a free bias, None without one.
    bias: how far that bias reaches; None: p must have no part along it.

    sign: s; weight: V.   cone (n,): the side of each point, 0 undecided.   left, right (n,): l_i and r_i, infinite
    where there is no range.
    """

    rows: Floats
    free: Floats | None
    sign: int
    weight: float
    cone: Signs
    left: Floats
    right: Floats
    bias: BiasReach | None = None

    @property
    def lifted(self) -> Floats:
        """The points with their entries of a free bias, if there is one."""
        return self.rows if self.free is None else np.column_stack([self.rows, self.free])
