"""The largest values of s h(u) on the cone of a case, and trees that prove a bound of it there.

On a cone the ascents are those of `solvers.pricing.search.ascend` for h less a multiple of how far u is outside: with
row r = -side x_i, a term -M max(r . u, 0) for each decided point. For the slope a that is made of two rows,

    max(z, 0) = (s(z) + a s(-z)) / (1 - a^2),      s(z) = max(z, a z).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from solvers.any_width.scaling import Scaled
from solvers.arrays import Bits, Floats, Indices, Signs
from solvers.own_width.states import StateCase
from solvers.pricing.dual_function import crossings, evaluate, sweep_angles
from solvers.pricing.faces import are_few, maxima_of_faces
from solvers.pricing.search import ascend, bound_tree
from solvers.pricing.tree import Tree

__all__ = ["CasePricing"]

STARTS = 24  # of local ascents, beside the rows themselves and what the master uses
PULL = 100.0  # M, in units of the largest c_i ||x_i||: more than what any cone holds back
INSIDE = 1e-7  # a direction is in the cone up to this part of ||x_i||
MOST_NODES = 4000  # of a tree: beyond that the state is split, not proved
MOST = 6  # directions for one case and round


@dataclass(frozen=True, slots=True, eq=False)
class CasePricing:
    """s h at fixed multipliers on the cone of one case.

    support: the points that trees speak of.   rows (S, D): on the columns that the mask sees.   weights (S,): s c_i.
    signs (S,): what is decided.
    """

    support: Indices
    rows: Floats
    weights: Floats
    signs: Signs
    slope: float
    is_free: bool

    @classmethod
    def of(cls, problem: Scaled, case: StateCase, coefficients: Floats, support: Indices) -> CasePricing:
        """coefficients (n,): c_i.   support: of the multipliers and of all that is decided."""
        seen = problem.instance.masks[case.mask]
        signs = np.zeros(len(support), np.int8)
        if case.cone:
            points, sides = zip(*case.cone, strict=True)
            signs[np.searchsorted(support, points)] = sides
        return cls(
            support,
            problem.instance.rows[np.ix_(support, seen)],
            case.sign * coefficients[support],
            signs,
            problem.instance.slope,
            problem.is_free(seen),
        )

    def maxima(self, seeds: Floats, random: np.random.Generator) -> tuple[Floats, Floats]:
        """Directions in the cone (V, D), local maxima, and their values, the largest first; maybe none."""
        columns = self.rows.shape[1]
        if not self.is_free and are_few(self.rows):
            found = maxima_of_faces(self.rows, self.weights, self.slope, self.signs)
            if len(found[0]):
                return found
        if columns <= 2 and not self.is_free:
            directions, _ = sweep_angles(self.rows, self.weights, self.slope)
        else:
            rows, weights = self._held()
            starts = [random.standard_normal((STARTS, columns)), crossings(self.rows, STARTS, random), self.rows, seeds]
            directions, _ = ascend(
                rows, weights, self.slope, np.concatenate(starts), free=self.is_free, compiled=False, rounds=4
            )
        directions = directions[self.contains(directions)]
        values = evaluate(self.rows, self.weights, self.slope, directions)
        order = np.argsort(-values, kind="stable")
        return directions[order], values[order]

    def _held(self) -> tuple[Floats, Floats]:
        """Rows and weights with those of the penalty."""
        decided = np.flatnonzero(self.signs)
        if not len(decided) or self.slope >= 1.0:
            return self.rows, self.weights
        outward = -self.signs[decided, None] * self.rows[decided]
        sizes = np.linalg.norm(self.rows, axis=1)
        pull = PULL * float((np.abs(self.weights) * sizes).sum()) / (1.0 - self.slope**2)
        weights = -pull / np.maximum(sizes[decided], 1e-300)
        rows = [self.rows, outward] + ([-outward] if self.slope else [])
        parts = [self.weights, weights] + ([self.slope * weights] if self.slope else [])
        return np.concatenate(rows), np.concatenate(parts)

    def contains(self, directions: Floats) -> Bits:
        """Which of the directions (V, D) are in the cone."""
        decided = np.flatnonzero(self.signs)
        rows = self.rows[decided] * self.signs[decided, None]
        sizes = np.outer(np.linalg.norm(directions, axis=1), np.linalg.norm(rows, axis=1))
        return np.count_nonzero(directions @ rows.T < -INSIDE * sizes, axis=1) == 0

    def tree(self, limit: float, deadline: float | None, *, truncate: bool = False) -> Tree:
        """A proof of s h(u) <= limit ||u|| on the cone, or directions in it that violate that."""
        return bound_tree(
            self.rows,
            self.weights,
            self.slope,
            limit,
            free=self.is_free,
            deadline=deadline,
            truncate=truncate,
            max_nodes=MOST_NODES,
            max_violators=MOST,
            signs=self.signs,
        )
