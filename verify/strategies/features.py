"""Random features in many dimensions: Gaussian points in sixteenths, labels of both signs, starts in their span.

Everything follows from a seed, so that an instance is drawn by its size and its seed; sizes shrink, the rest does not.
Source: arXiv:2603.04895v2, section 2.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from verify.checker.exact import common_integers
from verify.checker.products import products
from verify.problem.network import Network
from verify.problem.posing import pose
from verify.problem.problem import Dataset, Goal, Problem, Trained

__all__ = ["Features", "Posed", "features", "gram_of", "many_dimensions", "posed"]

Posed = tuple[Problem, Network]
Vector = list[Fraction]

UNIT = 16
"""Entries of points are whole numbers of 1 / UNIT."""

DUAL_BITS = 40
"""Of dual variables of starts, below the largest one."""

LABELS = (Fraction(1), Fraction(9, 8), Fraction(5, 4))
"""The sizes of labels."""

FEW = 16
"""Below this dimension points may come out dependent, or 0, and are drawn again."""

MANY = 64
"""Seeds that are tried, one after the other, for points with a property."""


@dataclass(frozen=True, eq=False)
class Features:
    """n points in dimension d, whole numbers of 1 / UNIT, with labels."""

    integers: NDArray[np.int64]
    labels: list[Fraction]

    @cached_property
    def rows(self) -> list[tuple[Fraction, ...]]:
        """The points."""
        known = {int(z): Fraction(int(z), UNIT) for z in np.unique(self.integers)}
        return [tuple(known[z] for z in row) for row in self.integers.tolist()]

    @cached_property
    def products(self) -> NDArray[np.int64]:
        """x_i.x_j in units of 1 / UNIT^2, below 2^53 for all sizes here."""
        return self.integers @ self.integers.T

    @cached_property
    def gram(self) -> list[Vector]:
        """x_i.x_j."""
        return [[Fraction(z, UNIT * UNIT) for z in row] for row in self.products.tolist()]

    @cached_property
    def floats(self) -> NDArray[np.float64]:
        """x_i.x_j, which are floats exactly."""
        return self.products / UNIT**2

    @property
    def largest(self) -> Fraction:
        """max |y|."""
        return max(map(abs, self.labels))

    @property
    def smallest(self) -> Fraction:
        """min |y|."""
        return min(map(abs, self.labels))

    def weights(self, duals: Sequence[Fraction]) -> Vector:
        """X^T b."""
        (factors,), unit = common_integers([duals])
        whole = np.array(factors, dtype=object) @ self.integers.astype(object)
        return [Fraction(z, unit * UNIT) for z in whole.tolist()]

    def duals_near(self, z: NDArray[np.float64]) -> Vector:
        """Short b with X X^T b near z."""
        found = np.linalg.solve(self.floats, z)
        return dyadic(np.asarray(found, np.float64))


def dyadic(values: NDArray[np.float64]) -> Vector:
    """The values in units of one power of two, DUAL_BITS below the largest."""
    unit = Fraction(2) ** (int(np.ceil(np.log2(np.abs(values).max() or 1.0))) - DUAL_BITS)
    return [round(Fraction(float(value)) / unit) * unit for value in values]


def features(
    seed: int, n: int, d: int, *, spike: int = 0, labels: Sequence[Fraction] = LABELS, levels: int = 1
) -> Features:
    """n independent Gaussian points in dimension d >= n, and labels, of both signs for n > 1.

    spike: what is added to the i-th coordinate of x_i.   levels: 2 for a quarter of the size in half of all columns.
    """
    random = np.random.default_rng([seed, n, d])
    sizes = np.full(d, UNIT, np.float64)
    if levels > 1:
        sizes[d // 2 :] = UNIT / 4
    integers = np.zeros((n, d), np.int64)
    while (d < FEW and np.linalg.matrix_rank(integers) < min(n, d)) or not integers.any():
        integers = np.rint(sizes * random.standard_normal((n, d))).astype(np.int64)
    integers[np.arange(n), np.arange(n)] += spike * UNIT
    drawn = zip(random.choice([-1, 1], n), random.integers(len(labels), size=n), strict=True)
    y = [int(s) * labels[int(k)] for s, k in drawn]
    y[0] = abs(y[0])
    if n > 1:
        y[-1] = -abs(y[-1])
    return Features(integers, y)


def many_dimensions(seed: int, n: int, d: int, holds: Callable[[Features], bool]) -> Features:
    """Features of the first seed on which `holds`, each point after a few seeds with more and more on its own axis."""
    for k in range(MANY):
        found = features(seed + 1000 * k, n, d, spike=0 if k < 4 else int(1.25**k))
        if holds(found):
            return found
    raise AssertionError("some axis is long enough")


def posed(found: Features, weights: Sequence[Sequence[Fraction]], signs: Sequence[int]) -> Posed:
    """The min-norm problem in which only the hidden layer is trained, and the network."""
    network = Network.two_layer(weights, signs)
    return pose(network, Dataset(found.rows, found.labels), goal=Goal.MIN_NORM, trained=Trained.HIDDEN), network


def gram_of(problem: Problem) -> list[Vector]:
    """x_i.x_j of the points of a problem."""
    rows = problem.points.rows
    values = products([row for row, _ in rows], [row for row, _ in rows])
    units = [unit for _, unit in rows]
    return [[Fraction(z, a * b) for z, b in zip(row, units, strict=True)] for row, a in zip(values, units, strict=True)]
