"""Which neurons, points and kinks an optimum of a small problem uses: a float guess, to be polished and proved.

At an optimum with multipliers lambda scaled to beta = 1 every neuron points along a unit vector u at which s h(u) = 1,
s its output sign: there p = u for the gradient p of s h (with a slope between a and 1 at each kink).
Incomplete: a coincidence below the tolerances is read wrongly, and then the proof fails later.

Source: `docs/mathematics.md`, 9.2 "How the numbers are found".
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb

import numpy as np

from solvers.arrays import Floats
from verify.deciders.global_optimality.instance import as_instance
from verify.deciders.witnesses import norms
from verify.problem.problem import Problem

__all__ = ["ActiveSet", "UnitDirection", "direction_of", "find_active_set"]


MOST_CELLS = 3000
"""Columns of the program over all cells; more take seconds."""

NEGLIGIBLE = 1e-5
"""Neurons, multipliers and preactivations below this part of the largest are 0."""


@dataclass(frozen=True, slots=True)
class UnitDirection:
    """A unit vector along which |h| = 1: mask class, output sign, float value (c,), and the signs of x_i.u."""

    mask: int
    sign: int
    vector: Floats
    pattern: tuple[int, ...]

    def is_like(self, other: UnitDirection, same: float) -> bool:
        """Whether the other one is the same, up to rounding."""
        is_alike = (self.mask, self.sign) == (other.mask, other.sign)
        return is_alike and bool(np.linalg.norm(self.vector - other.vector) < same)


@dataclass(frozen=True, slots=True)
class ActiveSet:
    """support: the points with a multiplier.   multipliers: of these, in floats.

    same: unit vectors nearer than this are taken to be one, or to be negatives of each other.
    """

    support: tuple[int, ...]
    multipliers: Floats
    directions: tuple[UnitDirection, ...]
    same: float

    @property
    def mirrors(self) -> list[tuple[int, int, int]]:
        """(C, D, +-1), D < C, for directions of one mask that are equal (1) or negatives (-1), with any signs."""
        return [
            (q, r, sign)
            for q, one in enumerate(self.directions)
            for r, other in enumerate(self.directions[:q])
            for sign in (1, -1)
            if one.mask == other.mask and np.linalg.norm(one.vector - sign * other.vector) < self.same
        ]

    @property
    def key(self) -> object:
        """What the equations depend on: the same for active sets that lead to the same ones."""
        return self.support, [(found.mask, found.sign, found.pattern) for found in self.directions], self.mirrors


def find_active_set(problem: Problem, same: float) -> ActiveSet | str:
    """The active set of the optimum over all widths, or the reason why none was found."""
    from solvers.programs.restricted import all_columns, restricted_program

    instance = as_instance(problem)
    count = sum(4 * sum(comb(instance.points - 1, j) for j in range(len(mask))) for mask in instance.masks)
    if count > MOST_CELLS:
        return f"the problem has up to {count} activation patterns, and a closed form is sought up to {MOST_CELLS}"
    columns = list(all_columns(instance))
    solution = restricted_program(instance, columns)
    if not solution.is_usable or not len(solution.primal):
        return "the optimum was not found in floating point"
    if not solution.value > 0 or not np.abs(solution.dual).max() > 0:
        return "the optimum is 0, by the network of zeros"
    multipliers, sizes = solution.dual, norms(solution.primal)
    support = np.flatnonzero(np.abs(multipliers) > NEGLIGIBLE * np.abs(multipliers).max())
    directions: list[UnitDirection] = []
    for j in np.argsort(-sizes, kind="stable"):
        if sizes[j] > NEGLIGIBLE * sizes.max():
            vector = solution.primal[j] / sizes[j]
            found = direction_of(instance.rows, columns[j].mask, columns[j].output, vector)
            if not any(found.is_like(other, same) for other in directions):
                directions.append(found)
    return ActiveSet(tuple(map(int, support)), multipliers[support], tuple(directions), same)


def direction_of(rows: Floats, mask: int, sign: int, vector: Floats) -> UnitDirection:
    """The direction with the signs of its preactivations: 0 where one is negligible."""
    z, reach = rows @ vector, norms(rows) * np.linalg.norm(vector)
    pattern = np.where(np.abs(z) <= NEGLIGIBLE * reach, 0, np.sign(z)).astype(int)
    return UnitDirection(mask, sign, vector, tuple(pattern.tolist()))
