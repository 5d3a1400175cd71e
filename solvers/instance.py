"""The problem as arrays (`ProblemInstance`) and the one result type of this package (`Solution`)."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

from solvers.arrays import Bits, Floats, Indices

if TYPE_CHECKING:
    from collections.abc import Iterable

_Number = TypeVar("_Number", bound=np.generic)


class Status(StrEnum):
    """How a solve ended. Only a hint: a verdict never follows from it."""

    OPTIMAL = "optimal"
    INACCURATE = "inaccurate"
    """A point came back, at less than the asked accuracy."""
    INFEASIBLE = "infeasible"
    UNBOUNDED = "unbounded"
    FAILED = "failed"


class SearchStatus(StrEnum):
    """How a search for the best network ended, over all widths or over one."""

    OPTIMAL = "optimal"
    """The bracket is as narrow as asked."""
    INFEASIBLE = "infeasible"
    """It is proved that nothing fits."""
    TIME = "time"
    INTERRUPTED = "interrupted"
    NODES = "nodes"
    """As many states were looked at as are at most."""
    STALLED = "stalled"
    """Nothing helps any more: floats could not decide the rest."""
    LARGE = "large"
    """Too many neurons or points: nothing was searched."""
    FAILED = "failed"
    """The arithmetic of floats did: no search says so of itself, it raises; those who asked for it say so."""


@dataclass(frozen=True, slots=True, eq=False)
class ProblemInstance:
    """Data of a depth-2 problem: minimise sum_j |u_j| subject to margins or interpolation.

    rows: lifted points x_i, shape (n, c); targets: y_i, shape (n,), for margins none 0; slope: a in [0, 1].
    masks: for every mask class the columns that its neurons see, increasing; all columns when not given.
    margin: True for margins, f(x_i) / y_i >= 1 (which is y_i f(x_i) >= 1 for labels +1 and -1), False for min-norm.
    free: whether the last column is a bias that does not count in the norm.
    tolerance: min-norm fits every target within this.
    bundle: P, where each point has P rows, one after the other, whose outputs are added up; targets has its target at
    each of them, a multiplier is that of all of them. n counts rows. Without a free bias only.

    The arrays are copied and read-only. Raises ValueError where a shape or a number is not acceptable.

    Source: `docs/mathematics.md`, 2.2 "Max-margin and min-norm" and 3.1 "Rescaling a neuron".
    """

    rows: Floats
    targets: Floats
    slope: float = field(default=0.0, kw_only=True)
    masks: tuple[Indices, ...] = field(default=(), kw_only=True)
    margin: bool = field(kw_only=True)
    free: bool = field(default=False, kw_only=True)
    tolerance: float = field(default=0.0, kw_only=True)
    bundle: int = field(default=1, kw_only=True)

    def __post_init__(self) -> None:
        rows = _frozen(self.rows)
        if rows.ndim != 2 or rows.shape[0] == 0 or rows.shape[1] == 0:
            raise ValueError(f"rows must have shape (n, c) with n, c >= 1, not {rows.shape}")
        targets = _frozen(self.targets)
        if targets.shape != (rows.shape[0],):
            raise ValueError(f"targets must have shape ({rows.shape[0]},), not {targets.shape}")
        if not (np.isfinite(rows).all() and np.isfinite(targets).all()):
            raise ValueError("rows and targets must be finite")
        if not 0.0 <= self.slope <= 1.0:
            raise ValueError(f"the slope must lie in [0, 1], not {self.slope}")
        if self.margin and not targets.all():
            raise ValueError("a target of a margin must not be 0, which has no side")
        if not 0.0 <= self.tolerance < np.inf or (self.margin and self.tolerance):
            raise ValueError(f"the tolerance must be at least 0, and 0 for max-margin, not {self.tolerance}")
        if self.bundle < 1 or rows.shape[0] % self.bundle or (self.bundle > 1 and self.free):
            raise ValueError(f"rows must be whole bundles of {self.bundle}, of problems without a free bias")
        if (targets.reshape(-1, self.bundle) != targets[:: self.bundle, None]).any():
            raise ValueError("the rows of a bundle must have one target")
        object.__setattr__(self, "rows", rows)
        object.__setattr__(self, "targets", targets)
        object.__setattr__(self, "slope", float(self.slope))
        object.__setattr__(self, "masks", _masks(self.masks, rows.shape[1]))

    @property
    def points(self) -> int:
        """n, the number of points."""
        return self.rows.shape[0]

    @property
    def columns(self) -> int:
        """c, the number of columns of the lifted points."""
        return self.rows.shape[1]

    @property
    def signs(self) -> Floats:
        """The factor between a multiplier and its coefficient in h: 1 / y_i (y_i where it is +1 or -1) for margins, 1
        for min-norm; shape (n,).
        """
        return 1.0 / self.targets if self.margin else np.ones(self.points)

    def whole(self, points: Indices) -> Indices:
        """The rows of all bundles that some of these rows are of, increasing."""
        if self.bundle == 1:
            return points
        return (np.unique(points // self.bundle)[:, None] * self.bundle + np.arange(self.bundle)).ravel()

    def masked_rows(self, mask: int) -> Floats:
        """The columns of the points that class `mask` sees, shape (n, len(masks[mask]))."""
        return self.rows[:, self.masks[mask]]

    def counted(self, mask: int) -> Bits:
        """Which columns of class `mask` count in the norm, shape (len(masks[mask]),)."""
        seen = self.masks[mask]
        return seen != self.columns - 1 if self.free else np.ones(seen.size, dtype=bool)


def _masks(masks: Iterable[Iterable[int]], columns: int) -> tuple[Indices, ...]:
    checked: list[Indices] = []
    for place, mask in enumerate(masks):
        seen = np.array(mask, dtype=np.intp)
        if seen.ndim != 1 or (np.diff(seen) <= 0).any() or (seen < 0).any() or (seen >= columns).any():
            raise ValueError(f"masks[{place}] must hold increasing column indices below {columns}")
        checked.append(_locked(seen))
    return tuple(checked) if checked else (_locked(np.arange(columns, dtype=np.intp)),)


def _empty() -> Floats:
    return _frozen(())


@dataclass(frozen=True, slots=True, eq=False)
class Solution:
    """What a solve returned; a failed solve is a status, not an exception.

    value: the objective (inf when infeasible, -inf when unbounded, nan when failed).
    primal, dual: arrays whose shapes and signs the solving function states; empty when there are none.
    cone_dual: multipliers of the constraints that `dual` does not speak of (cones, equalities, bounds).
    support: indices of the basic columns (linear programs), else empty.
    message: the solver's own words.
    """

    status: Status
    value: float
    primal: Floats = field(default_factory=_empty, kw_only=True)
    dual: Floats = field(default_factory=_empty, kw_only=True)
    cone_dual: Floats = field(default_factory=_empty, kw_only=True)
    support: Indices = field(default_factory=lambda: _locked(np.zeros(0, dtype=np.intp)), kw_only=True)
    message: str = field(default="", kw_only=True)

    @property
    def is_usable(self) -> bool:
        """Whether there is a point to look at."""
        return self.status in (Status.OPTIMAL, Status.INACCURATE)

    @classmethod
    def without_point(cls, status: Status, message: str = "") -> Solution:
        """The result of a solve that returned no point."""
        value = {Status.INFEASIBLE: np.inf, Status.UNBOUNDED: -np.inf}.get(status, np.nan)
        return cls(status, float(value), message=message)


def _frozen(values: object) -> Floats:
    return _locked(np.array(values, dtype=np.float64))


def _locked(array: NDArray[_Number]) -> NDArray[_Number]:
    array.flags.writeable = False
    return array
