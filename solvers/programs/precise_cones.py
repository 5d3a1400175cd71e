"""Second-order cones and positive definite systems in arrays of `decimal.Decimal`.

Source: L. Vandenberghe, The CVXOPT linear and quadratic cone program solvers, 2010, sections 2 and 4.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any, TypeAlias

import numpy as np

Decimals: TypeAlias = Any
"""An array of `Decimal`, which numpy's types do not describe."""


def zeros(*shape: int) -> Decimals:
    """An array of Decimal zeros."""
    found = np.empty(shape, object)
    found.fill(Decimal(0))
    return found


def norm(vector: Decimals) -> Decimal:
    """The Euclidean norm, also of a vector without entries, such as a mask that hides every input leaves."""
    return (Decimal(0) + vector @ vector).sqrt()


def joined(first: Decimal, rest: Decimals) -> Decimals:
    """The vector (first, rest)."""
    head = np.empty(1, object)
    head[0] = first
    return np.concatenate([head, rest])


class ConeScaling:
    """Nesterov and Todd's W of a second-order cone: W z = W^-1 s = point, W^2 = ratio (2 v v' - J), v'J v = 1."""

    def __init__(self, s: Decimals, z: Decimals) -> None:
        size_s, size_z = determinant(s).sqrt(), determinant(z).sqrt()
        unit_s, unit_z = s / size_s, z / size_z
        gamma = ((1 + unit_z @ unit_s) / 2).sqrt()
        reflected = -unit_z
        reflected[0] = unit_z[0]
        self.ratio = size_s / size_z
        self.root = self.ratio.sqrt()
        self.v = (unit_s + reflected) / (2 * gamma)
        self.point = self.times(z)

    @property
    def inverse_square(self) -> Decimals:
        """W^-2 on the part behind the first coordinate."""
        inner = self.v[1:]
        return (2 * np.outer(inner, inner) + np.diag(np.full(len(inner), Decimal(1), object))) / self.ratio

    def times(self, x: Decimals) -> Decimals:
        """W x = root (v0 x0 + v1'x1, x0 v1 + x1 + v1 (v1'x1) / (1 + v0))."""
        v, inner = self.v, self.v[1:] @ x[1:]
        rest = x[1:] + v[1:] * (x[0] + inner / (1 + v[0]))
        return self.root * joined(v[0] * x[0] + inner, rest)

    def divide_twice(self, x: Decimals) -> Decimals:
        """W^-2 x = (2 (J v) (J v)'x - J x) / ratio."""
        reflected = -self.v
        reflected[0] = self.v[0]
        turned = x.copy()
        turned[0] = -x[0]
        return (2 * reflected * (reflected @ x) + turned) / self.ratio

    def quotient(self, right: Decimals) -> Decimals:
        """The solution of point o x = right."""
        point = self.point
        first = (point[0] * right[0] - point[1:] @ right[1:]) / determinant(point)
        return joined(first, (right[1:] - first * point[1:]) / point[0])


def product(x: Decimals, y: Decimals) -> Decimals:
    """x o y = (x'y, x0 y1 + y0 x1)."""
    return joined(x @ y, x[0] * y[1:] + y[0] * x[1:])


def determinant(x: Decimals) -> Decimal:
    """x0^2 - ||x1||^2: positive inside the cone."""
    return x[0] * x[0] - x[1:] @ x[1:]


def roots(values: Decimals) -> Decimals:
    """The square root of each."""
    return np.array([value.sqrt() for value in values], object)


def to_boundary(x: Decimals, change: Decimals) -> Decimal:
    """The least alpha > 0 at which x + alpha change leaves the cone; infinite if there is none."""
    square, half = determinant(change), x[0] * change[0] - x[1:] @ change[1:]
    constant = determinant(x)
    infinite = Decimal("Infinity")
    if not square:
        return -constant / (2 * half) if half < 0 else infinite
    inside = half * half - square * constant
    if inside < 0:
        return infinite
    root = inside.sqrt()
    q = -(half + root) if half >= 0 else -half + root
    ends = [end for end in (q / square, constant / q if q else infinite) if end > 0]
    return min(ends, default=infinite)


def cholesky(matrix: Decimals) -> Decimals:
    """The lower triangular L with L L' = matrix; ArithmeticError when it is not positive definite."""
    left = matrix.copy()
    for k in range(len(left)):
        if left[k, k] <= 0:
            raise ArithmeticError("the matrix is not positive definite")
        root = left[k, k].sqrt()
        left[k, k] = root
        left[k + 1 :, k] = left[k + 1 :, k] / root
        left[k, k + 1 :] = Decimal(0)
        left[k + 1 :, k + 1 :] -= np.outer(left[k + 1 :, k], left[k + 1 :, k])
    return left


def forward(left: Decimals, right: Decimals) -> Decimals:
    """L^-1 right."""
    found = right.copy()
    for k in range(len(left)):
        found[k] = (right[k] - left[k, :k] @ found[:k]) / left[k, k] if k else right[k] / left[k, k]
    return found


def backward(left: Decimals, right: Decimals) -> Decimals:
    """L'^-1 right."""
    found = right.copy()
    size = len(left)
    for k in reversed(range(size)):
        rest = left[k + 1 :, k] @ found[k + 1 :] if k + 1 < size else Decimal(0)
        found[k] = (right[k] - rest) / left[k, k]
    return found
