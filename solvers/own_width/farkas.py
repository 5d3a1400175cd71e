"""States in which nothing fits: multipliers with D > 0 whose s h is at most 0 in each case, by linear programs.

The cone of a case may be cut into cells by inner decisions; all cells share the multipliers. In each of them
s h(u) <= p . u with p = sum_i (a s c_i + t_i) x_i, and p = 0 is asked for, with slopes

    decided on: t_i = e_i + nu_i;   decided off: t_i = -nu_i;   undecided: e_i <= t_i <= 0;   e_i = (1 - a) s c_i

A vertex has few numbers that are not 0, and they are the solution of linear equations: exact numbers follow from it.
Source: `docs/mathematics.md`, 12.6 "The search at a width".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from scipy.sparse import coo_array, csr_array

from solvers.any_width.scaling import Scaled
from solvers.arrays import Floats, Indices
from solvers.own_width.states import StateCase
from solvers.programs.linear import solve_lp, stacked

__all__ = ["CaseCell", "FarkasProgram", "InnerNode", "Missing", "StateNothing", "excluding"]

InnerNode: TypeAlias = int | Floats
"""Of an inner tree in pre-order: the point at which it is split, left its on side, or the slopes t (n,) of a leaf."""


@dataclass(frozen=True, slots=True, eq=False)
class CaseCell:
    """A part of the cone of a case: the sides of all that is decided there, those of the case included."""

    case: StateCase
    sides: Mapping[int, int]


@dataclass(frozen=True, slots=True, eq=False)
class StateNothing:
    """multipliers (n,), and for each of the cases, in their order, an inner tree with p = 0 at each leaf."""

    cases: tuple[StateCase, ...]
    multipliers: Floats
    trees: tuple[tuple[InnerNode, ...], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Missing:
    """What keeps the largest D of some cells at 0: a network of them that fits, if undecided points may help for free.

    free (cells, points): help at undecided points beyond what the direction of the cell gives.
    """

    free: Floats


class FarkasProgram:
    """The multipliers of some points (increasing) that are shared by some cells.

    The variables are the multipliers, for min-norm their parts above and below 0, then nu_i or -t_i for each cell.
    """

    def __init__(self, problem: Scaled, cells: Sequence[CaseCell], points: Indices) -> None:
        self.problem, self.cells, self.points = problem, cells, points
        self.sides = np.array([[cell.sides.get(int(i), 0) for i in points] for cell in cells], np.int8)
        part = np.eye(len(points))
        self.part = part if problem.instance.margin else np.hstack([part, -part])  # of the multipliers
        self.signs = problem.coefficients(np.ones(len(problem.required)))[points]
        self.gains = self.part.T @ problem.required[points] - np.tile(
            problem.tolerances[points], self.part.shape[1] // len(points)
        )
        self.width = self.part.shape[1] + len(points) * len(cells)
        self.box = np.zeros((self.width, 2))
        self.box[:, 1] = np.inf
        self.lines = sum(len(problem.instance.masks[cell.case.mask]) for cell in cells)
        self.equal = self._balance()
        self.ends, self.places = self._ends()

    def _rows(self, cell: CaseCell) -> Floats:
        instance = self.problem.instance
        return instance.rows[np.ix_(self.points, instance.masks[cell.case.mask])]

    def _jumps(self, cell: CaseCell) -> Floats:
        """e (points, multipliers)."""
        return (1.0 - self.problem.instance.slope) * cell.case.sign * self.signs[:, None] * self.part

    def _place(self, q: int) -> int:
        """Of the first slope of a cell."""
        return self.part.shape[1] + q * len(self.points)

    def _balance(self) -> csr_array:
        """p = 0, a line for each column that a cell sees."""
        lines: list[tuple[Floats, Indices, Indices]] = []
        start = 0
        for q, (cell, side) in enumerate(zip(self.cells, self.sides, strict=True)):
            rows = self._rows(cell)
            base = self.problem.instance.slope * cell.case.sign * self.signs[:, None] * self.part
            base = base + (side > 0)[:, None] * self._jumps(cell)
            block = np.hstack([rows.T @ base, rows.T * np.where(side > 0, 1.0, -1.0)])
            own = np.concatenate([np.arange(self.part.shape[1]), self._place(q) + np.arange(len(rows))])
            at, column = np.nonzero(block)
            lines.append((block[at, column], start + at, own[column]))
            start += rows.shape[1]
        return _matrix(lines, self.lines, self.width)

    def _ends(self) -> tuple[csr_array, Indices]:
        """e_i <= t_i at undecided points that the cell sees, and which (cell, point) each line is about."""
        lines: list[tuple[Floats, Indices, Indices]] = []
        places: list[Indices] = []
        start, own = 0, np.arange(self.part.shape[1])
        for q, (cell, side) in enumerate(zip(self.cells, self.sides, strict=True)):
            seen = self._rows(cell).any(axis=1)
            chosen = np.flatnonzero((side == 0) & seen)
            jumps = self._jumps(cell)[chosen]
            at, column = np.nonzero(jumps)
            lines.append((jumps[at, column], start + at, own[column]))
            lines.append((np.ones(len(chosen)), start + np.arange(len(chosen)), self._place(q) + chosen))
            self.box[self._place(q) + np.flatnonzero((side == 0) & ~seen), 1] = 0.0
            places.append(np.column_stack([np.full(len(chosen), q), chosen]))
            start += len(chosen)
        return _matrix(lines, start, self.width), np.concatenate(places)

    def most(self) -> tuple[float, Missing] | None:
        """The largest D where sum |lambda| is 1 at most, and what is missing where it is 0; None where that fails."""
        cost = np.zeros(self.width)
        cost[: len(self.gains)] = -self.gains
        total = csr_array(([1.0] * len(self.gains), ([0] * len(self.gains), range(len(self.gains)))), (1, self.width))
        above = stacked(self.ends, total)
        limits = np.zeros(len(self.places) + 1)
        limits[-1] = 1.0
        found = solve_lp(cost, above, limits, self.equal, np.zeros(self.lines), self.box)
        if not found.is_usable:
            return None
        free = np.zeros((len(self.cells), len(self.points)))
        free[tuple(self.places.T)] = found.dual[:-1]
        start = 0
        for q, cell in enumerate(self.cells):
            rows = self._rows(cell)
            direction = found.cone_dual[start : start + rows.shape[1]]
            free[q] -= np.maximum(rows @ direction, 0.0)
            start += rows.shape[1]
        return -found.value, Missing(free)

    def shortest(self) -> tuple[Floats, Floats] | None:
        """Multipliers (n,) and slopes (cells, n) with D = 1 and the least sum of sizes, at a vertex; None without."""
        gain = np.zeros((1, self.width))
        gain[0, : len(self.gains)] = self.gains
        equal = stacked(csr_array(gain), self.equal)
        right = np.zeros(1 + self.lines)
        right[0] = 1.0
        found = solve_lp(np.ones(self.width), self.ends, np.zeros(len(self.places)), equal, right, self.box)
        if not found.is_usable:
            return None
        multipliers = self.part @ found.primal[: self.part.shape[1]]
        slopes = np.zeros((len(self.cells), len(self.problem.required)))
        for q, (cell, side) in enumerate(zip(self.cells, self.sides, strict=True)):
            free = found.primal[self._place(q) : self._place(q + 1)]
            jumps = (1.0 - self.problem.instance.slope) * cell.case.sign * self.signs * multipliers
            slopes[q, self.points] = np.where(side > 0, jumps + free, -free)
        whole = np.zeros(len(self.problem.required))
        whole[self.points] = multipliers
        return whole, slopes


def _matrix(lines: Sequence[tuple[Floats, Indices, Indices]], height: int, width: int) -> csr_array:
    values, rows, columns = (np.concatenate(entries) for entries in zip(*lines, strict=True))
    return coo_array((values, (rows, columns)), (height, width)).tocsr()


def excluding(problem: Scaled, cases: Sequence[StateCase]) -> StateNothing | None:
    """The multipliers that prove that nothing fits in the state, of the given instance; None where there are none.

    Each case is one cell.
    """
    cells = [CaseCell(case, dict(case.cone)) for case in cases]
    found = FarkasProgram(problem, cells, np.arange(len(problem.required))).shortest()
    if found is None:
        return None
    multipliers, slopes = found
    scales = problem.row_scales
    return StateNothing(tuple(cases), multipliers * scales, tuple((own * scales,) for own in slopes))
