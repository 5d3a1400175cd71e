"""The points as neurons see them: exact scalar products, and short coordinates in floats."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from operator import mul

import numpy as np

from solvers.arrays import Floats
from verify.checker.exact import common_integers
from verify.numbers.floats import float_rows
from verify.problem.problem import Problem

__all__ = ["Geometry"]


class Geometry:
    """live: the neurons with v_j != 0, which are all that count.   free: the column of a free bias, None without one.

    `product` is what a neuron's weights that count see of two points; `coordinates` are the points in an orthonormal
    basis of their span, which has few columns where there are fewer points than columns.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.masks = problem.architecture.masks
        self.outgoing: tuple[Fraction, ...] = problem.output_weights or ()
        self.live = [j for j, v in enumerate(self.outgoing) if v]
        columns = len(problem.rows[0])
        self.free = columns - 1 if columns > len(problem.norm_columns) else None
        self._products: dict[tuple[tuple[int, ...], int, int], int] = {}
        self._coordinates: dict[tuple[int, ...], Floats] = {}

    def counted(self, mask: tuple[int, ...]) -> tuple[int, ...]:
        """The columns of a mask that count in the norm."""
        return tuple(column for column in mask if column != self.free)

    def sees_free(self, mask: tuple[int, ...]) -> bool:
        """Whether a neuron of this mask has a free bias."""
        return self.free is not None and self.free in mask

    def product(self, mask: tuple[int, ...], i: int, l: int) -> Fraction:
        """x_i.x_l over the columns of the mask that count."""
        rows = self.problem.points.rows
        return Fraction(self._whole_product(mask, i, l), rows[i][1] * rows[l][1])

    def squared_norm(self, mask: tuple[int, ...], factors: Mapping[int, Fraction]) -> Fraction:
        """The squared norm of the sum of factors_i x_i, over the columns of the mask that count."""
        kept = {i: factor for i, factor in factors.items() if factor}
        rows = self.problem.points.rows
        (whole,), unit = common_integers([[factor / rows[i][1] for i, factor in kept.items()]])
        total = 0
        for q, (i, a) in enumerate(zip(kept, whole, strict=True)):
            across = sum(b * self._whole_product(mask, i, l) for l, b in zip([*kept][:q], whole, strict=False))
            total += a * (a * self._whole_product(mask, i, i) + 2 * across)
        return Fraction(total, unit**2)

    def _whole_product(self, mask: tuple[int, ...], i: int, l: int) -> int:
        """x_i.x_l in integers, as multiples of what the two rows are multiples of."""
        key = (mask, min(i, l), max(i, l))
        if key not in self._products:
            (one, _), (other, _) = (self.problem.points.rows[q] for q in key[1:])
            seen = self.counted(mask)
            if len(seen) < len(one):
                one, other = [one[c] for c in seen], [other[c] for c in seen]
            self._products[key] = sum(map(mul, one, other))
        return self._products[key]

    def coordinates(self, mask: tuple[int, ...]) -> Floats:
        """The points on the columns of the mask that count, (n, r), with the same scalar products.

        With a free bias they are counted from the midpoint of their bounding box, which changes that bias only.
        """
        if mask not in self._coordinates:
            rows = float_rows(self.problem)[:, list(self.counted(mask))]
            if self.sees_free(mask) and rows.size:
                rows = rows - (rows.min(axis=0) + rows.max(axis=0)) / 2
            if rows.shape[1] > rows.shape[0]:
                rows = np.asarray(np.linalg.qr(rows.T, mode="r")).T
            self._coordinates[mask] = rows
        return self._coordinates[mask]

    def bias_entry(self, i: int) -> Fraction:
        """The entry of a point in the column of the free bias."""
        return self.problem.rows[i][self.free] if self.free is not None else Fraction(0)
