"""Short networks with given output weights, in floats: the best of a choice of sides, and walks between neighbours.

Within a choice of sides f is linear in the hidden weights, so the best network there is a least-norm point. At a wall
x_i.w_j = 0 of the choice the next one may hold a better network: a walk crosses walls while that improves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from solvers.arrays import Bits, Floats, Signs
from solvers.clock import poll, spend
from solvers.hidden.cases import WantedOutputs
from solvers.programs.least_distance import least_distance

__all__ = ["HEAVY", "Cell", "GivenNeurons"]

HEAVY = (1e4, 1e2)
"""A free bias costs 1 / HEAVY^2 of its square in floats, where it has to cost something: more of it where floats do not
see that anything fits, as they do not if the rest is long.
"""

CROSSINGS = 40
"""Of walls, tried in one walk."""

SETTLING = 8
"""Choices of sides that a start is moved through, before the walls of one are kept."""

BETTER = 1e-9
"""A part of the value that a step has to save."""

SECONDS, SECONDS_PER_PRODUCT = 5e-4, 1e-8
"""Of the best network of one choice of sides, about, and for each row times the square of the weights besides."""


@dataclass(frozen=True, slots=True, eq=False)
class Cell:
    """sides (k, n): 1 or -1.   value: 1/2 ||W||^2.   preactivations (k, n).   walls (k, n): nu_ji >= 0."""

    sides: Signs
    value: float
    preactivations: Floats
    walls: Floats


@dataclass(frozen=True, slots=True, eq=False)
class GivenNeurons:
    """rows: for each neuron the points (n, r) in coordinates that count; free: their entries (n,) of a free bias, or
    None; outgoing (k,): v, none of them 0.
    """

    points: WantedOutputs
    rows: Sequence[Floats]
    free: Sequence[Floats | None]
    outgoing: Floats
    _seen: list[list[Floats]] = field(init=False)

    def __post_init__(self) -> None:
        weights = HEAVY if any(free is not None for free in self.free) else HEAVY[:1]
        object.__setattr__(self, "_seen", [self._with_bias(heavy) for heavy in weights])

    def _with_bias(self, heavy: float) -> list[Floats]:
        return [
            rows
            if free is None
            else np.column_stack([rows, heavy * max(float(np.abs(rows).max(initial=0.0)), 1.0) * free])
            for rows, free in zip(self.rows, self.free, strict=True)
        ]

    def best(self, sides: Signs, *, walls: Bits | None = None) -> Cell | None:
        """The shortest network of these sides; None where nothing fits.   walls (k, n): those kept, all by default."""
        found = (self._best_of(sides, walls, seen) for seen in self._seen)
        return next((cell for cell in found if cell is not None), None)

    def _best_of(self, sides: Signs, walls: Bits | None, seen: list[Floats]) -> Cell | None:
        points, k, n = self.points, len(self.outgoing), len(self.points.targets)
        kept = np.ones((k, n), bool) if walls is None else walls
        slopes = np.where(sides > 0, 1.0, points.slope) * self.outgoing[:, None]
        fits = np.hstack([slopes[j][:, None] * seen[j] for j in range(k)])
        places = np.argwhere(kept)
        blocks = np.zeros((len(places), fits.shape[1]))
        start = 0
        for j in range(k):
            own = np.flatnonzero(places[:, 0] == j)
            end = start + seen[j].shape[1]
            blocks[own, start:end] = sides[j, places[own, 1], None] * seen[j][places[own, 1]]
            start = end
        if points.margin:
            fits, right, equal = fits * points.targets[:, None], np.ones(n), np.zeros(n, bool)
        elif points.tolerance:
            fits, equal = np.vstack([fits, -fits]), np.zeros(2 * n, bool)
            right = np.concatenate([points.targets - points.tolerance, -points.targets - points.tolerance])
        else:
            right, equal = points.targets, np.ones(n, bool)
        matrix = np.vstack([fits, blocks])
        spend(SECONDS + SECONDS_PER_PRODUCT * matrix.size * matrix.shape[1])
        found = least_distance(
            matrix, np.concatenate([right, np.zeros(len(places))]), np.concatenate([equal, np.zeros(len(places), bool)])
        )
        if found is None:
            return None
        weights = matrix.T @ found
        nu = np.zeros((k, n))
        nu[places[:, 0], places[:, 1]] = found[len(right) :]
        values, start, square = np.zeros((k, n)), 0, 0.0
        for j in range(k):
            end = start + seen[j].shape[1]
            own = weights[start:end]
            values[j] = seen[j] @ own
            square += float((own[: self.rows[j].shape[1]] ** 2).sum())
            start = end
        return Cell(sides, 0.5 * square, values, nu)

    def settled(self, sides: Signs) -> Cell | None:
        """The best of these sides; where nothing fits there, of sides that the networks of such slopes lead to."""
        found = self.best(sides)
        none = np.zeros(sides.shape, bool)
        for _ in range(SETTLING):
            poll()
            if found is not None:
                return found
            free = self.best(sides, walls=none)
            if free is None:
                return None
            moved = np.where(free.preactivations > 0, 1, np.where(free.preactivations < 0, -1, sides)).astype(np.int8)
            if (moved == sides).all():
                return None
            sides = moved
            found = self.best(sides)
        return found

    def walk(self, start: Cell, fixed: Signs | None = None) -> Cell:
        """The end of a walk from `start` across walls, each time to a better choice of sides.

        fixed (k, n): sides that must stay, 0 for those that need not.
        """
        here = start
        for _ in range(CROSSINGS):
            poll()
            order = np.argsort(-here.walls, axis=None)
            order = order[here.walls.ravel()[order] > 1e-9 * max(float(here.walls.max(initial=0.0)), 1e-300)]
            for place in order[:CROSSINGS]:
                j, i = divmod(int(place), here.sides.shape[1])
                if fixed is not None and fixed[j, i]:
                    continue
                sides = here.sides.copy()
                sides[j, i] = -sides[j, i]
                there = self.best(sides)
                if there is not None and there.value < here.value * (1 - BETTER):
                    here = there
                    break
            else:
                return here
        return here
