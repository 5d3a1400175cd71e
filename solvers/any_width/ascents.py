"""Dual points: multipliers on a grid, and the columns that violate |h(u)| <= ||u|| there, by local ascents."""

from __future__ import annotations

import numpy as np

from solvers.any_width.columns import ColumnPool, Key, column_of
from solvers.any_width.master import Column, MasterSolution
from solvers.any_width.scaling import Scaled
from solvers.arrays import Floats, Indices
from solvers.clock import poll
from solvers.pricing.dual_function import crossings, sweep_angles
from solvers.pricing.search import ascend

COLUMNS_PER_ROUND = 24  # per mask class and sign
FEWEST_BITS, MOST_BITS = 20, 40  # of the multipliers: short ones make small certificates, and are exact as floats
SUPPORT_TOLERANCE = 1e-9  # multipliers below this part of the largest are set to zero
STARTS, LATE_STARTS = 160, 8  # of local ascents, beside the rows themselves; when no time is left
FIRST_SUPPORT, LATE_SUPPORT = 40, 20  # points with a multiplier in the first dual point


def multiplier_bits(tol: float) -> int:
    """Multipliers are multiples of 2^-bits of the largest one: as short as the relative gap `tol` allows."""
    return int(np.clip(np.ceil(-np.log2(tol)) + 12, FEWEST_BITS, MOST_BITS))


def on_grid(problem: Scaled, multipliers: Floats, tol: float, *, balance: bool) -> Floats:
    """Multipliers on a dyadic grid, tiny ones zero; balance: with a signed sum of exactly zero, or none."""
    largest = float(np.abs(multipliers).max(initial=0.0))
    if largest <= 0:
        return np.zeros_like(multipliers)
    quantum = 2.0 ** (np.floor(np.log2(largest)) - multiplier_bits(tol))
    rounded = np.round(multipliers / quantum) * quantum
    rounded[np.abs(multipliers) < SUPPORT_TOLERANCE * largest] = 0.0
    return _balanced(problem, rounded) if balance else rounded


def _balanced(problem: Scaled, rounded: Floats) -> Floats:
    """What is too much is taken from the largest multiplier that can give it."""
    y = problem.coefficients(np.ones(len(rounded)))
    surplus = float(rounded @ y)
    if surplus == 0:
        return rounded
    for i in np.argsort(-np.abs(rounded)):
        is_able = rounded[i] != 0 and np.sign(rounded[i] * y[i]) == np.sign(surplus)
        if is_able and abs(rounded[i]) > abs(surplus):
            rounded[i] -= surplus * y[i]
            return rounded
    return np.zeros_like(rounded)


class Ascents:
    """Local ascents of |h(u)| / ||u|| at dual points of a scaled problem; columns are told apart as the pool does."""

    def __init__(self, problem: Scaled, pool: ColumnPool, tol: float, random: np.random.Generator) -> None:
        self.problem, self.pool, self.tol, self.random = problem, pool, tol, random

    def rounded(self, multipliers: Floats) -> Floats:
        """Multipliers on a dyadic grid, tiny ones zero; with a free bias their signed sum is exactly zero."""
        return on_grid(self.problem, multipliers, self.tol, balance=self.problem.instance.free)

    def at_solution(
        self, multipliers: Floats, solution: MasterSolution, columns: list[Column]
    ) -> tuple[list[Column], float]:
        """Columns that violate |h| <= 1 at the master's multipliers, and the largest |h| seen."""
        seeds: dict[int, list[Floats]] = {}
        for column, direction in zip(columns, solution.directions, strict=True):
            if np.any(direction):
                seeds.setdefault(column.mask, []).append(direction)
        return self.columns(multipliers, 1.0 + self.tol / 10, seeds=seeds)

    def columns(
        self,
        multipliers: Floats,
        threshold: float,
        *,
        starts: int = STARTS,
        seeds: dict[int, list[Floats]] | None = None,
        late: bool = False,
    ) -> tuple[list[Column], float]:
        """Columns with |h| above the threshold, and the largest |h| seen. late: from few starts, as no time is left."""
        instance = self.problem.instance
        support = np.flatnonzero(multipliers)
        largest = 0.0
        found: list[Column] = []
        if not len(support):
            return found, largest
        weights = self.problem.coefficients(multipliers)[support]
        for mask, seen in enumerate(instance.masks):
            if not len(seen):
                continue
            rows = instance.rows[np.ix_(support, seen)]
            seeded = np.array(seeds[mask])[:, seen] if seeds and mask in seeds else None
            for sign in (1, -1):
                poll()
                directions, values = self._maxima(rows, sign * weights, seen, seeded, starts=starts, late=late)
                largest = max(largest, float(values[0]))
                found += self._different(mask, sign, directions[values > threshold])
        return found, largest

    def _maxima(
        self,
        rows: Floats,
        weights: Floats,
        seen: Indices,
        seeded: Floats | None,
        *,
        starts: int,
        late: bool,
    ) -> tuple[Floats, Floats]:
        """Local maxima of h over directions of a mask, and their values, the largest first."""
        slope, is_free = self.problem.instance.slope, self.problem.is_free(seen)
        if len(seen) <= 2 and not is_free:
            return sweep_angles(rows, weights, slope)
        starts, compiled = (LATE_STARTS, False) if late else (starts, None)
        some = rows
        if self.problem.instance.bundle > 1 and len(rows) > starts:
            some = rows[self.random.choice(len(rows), starts, False)]
        first = [self.random.standard_normal((starts, len(seen))), crossings(rows, starts, self.random), some, -some]
        if seeded is not None:
            first.append(seeded)
        return ascend(rows, weights, slope, np.concatenate(first), free=is_free, compiled=compiled)

    def _different(self, mask: int, sign: int, directions: Floats) -> list[Column]:
        """The columns of these directions, each once, at most `COLUMNS_PER_ROUND`."""
        taken: dict[Key, Column] = {}
        for direction in directions:
            column = column_of(self.problem.instance, mask, sign, direction)
            taken.setdefault(self.pool.key(column), column)
            if len(taken) >= COLUMNS_PER_ROUND:
                break
        return list(taken.values())

    def first(self, *, late: bool = False) -> tuple[list[Column], Floats, float]:
        """Columns to begin with, a first dual point and the largest |h| seen there."""
        instance = self.problem.instance
        columns: list[Column] = []
        for mask, seen in enumerate(instance.masks):
            if not len(seen):
                continue  # a neuron that sees nothing is 0
            starts = self.random.standard_normal((8, len(seen)))
            rows = instance.rows[:, seen]
            chosen = self.random.choice(len(rows), min(8, len(rows)), replace=False)
            directions = np.concatenate([starts, rows[chosen], -rows[chosen]])
            for sign in (1, -1):
                columns.append(Column(mask, sign, np.ones(len(rows), bool)))
                if instance.free:
                    columns.append(Column(mask, sign, np.zeros(len(rows), bool)))
                columns += [column_of(instance, mask, sign, u) for u in directions]
        multipliers = self._first_point(LATE_SUPPORT if late else FIRST_SUPPORT)
        found, beta = self.columns(multipliers, 0.0, late=late)
        return columns + found, multipliers, beta

    def _first_point(self, most: int) -> Floats:
        """What is required of at most so many points of the working set, as multipliers."""
        required, points = self.problem.required, self.pool.working.points
        instance = self.problem.instance
        wanted = max(most // instance.bundle, 1)
        few = points if len(points) <= most else instance.whole(self.random.choice(points, wanted, False))
        weights = np.zeros(len(required))
        beyond = np.sign(required) * np.maximum(np.abs(required) - self.problem.tolerances, 0.0)
        weights[few] = beyond[few] / max(float(np.abs(beyond).sum()), 1e-300)
        return self.rounded(weights)
