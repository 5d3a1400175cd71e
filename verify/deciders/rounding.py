"""Floats to exact numbers: short dyadic rationals, exact solutions of linear systems.

Nothing here is trusted: what these functions return is a candidate that the checker decides on.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import cast

import numpy as np
from numpy.typing import NDArray

from verify.checker.exact import common_integers
from verify.deciders.lifting import pivots_modulo, solve_by_lifting
from verify.deciders.time_limits import is_late
from verify.numbers.floats import to_matrix

__all__ = ["ceil_dyadic", "dyadic", "power_of_two", "primitive", "rank", "solve_by_few", "solve_exactly"]


def power_of_two(size: Fraction) -> Fraction:
    """The power of two between size / 2 and 2 size, for size > 0; 1 for 0."""
    return Fraction(2) ** (size.numerator.bit_length() - size.denominator.bit_length()) if size else Fraction(1)


def dyadic(value: float, bits: int = 40) -> Fraction:
    """The multiple of 2^-k nearest to `value`, k so that `bits` significant bits are kept; 0 for 0."""
    if value == 0 or not math.isfinite(value):
        return Fraction(0)
    mantissa, exponent = math.frexp(value)
    shift = exponent - bits - 1
    whole = round(math.ldexp(mantissa, bits + 1))
    return Fraction(whole << shift) if shift >= 0 else Fraction(whole, 1 << -shift)


def ceil_dyadic(value: Fraction, bits: int = 40) -> Fraction:
    """A dyadic rational at least `value` > 0, with `bits` significant bits."""
    exponent = value.numerator.bit_length() - value.denominator.bit_length() - bits
    unit = Fraction(2) ** exponent
    return math.ceil(value / unit) * unit


def primitive(integers: Sequence[int]) -> tuple[tuple[int, ...], int]:
    """The line that an integer vector spans: `(r, t)` with `integers == ±t r`, r primitive with first nonzero positive.

    Two vectors lie on one line exactly when their r agree; t >= 0, and t = 0 only for the zero vector.
    """
    size = math.gcd(*integers)
    sign = -1 if next(filter(None, integers), 1) < 0 else 1
    return tuple(sign * z // (size or 1) for z in integers), size


FEW = 24
"""Systems with more equations and unknowns than this are solved by lifting, where the numbers stay short on the way."""


def solve_exactly(
    matrix: Sequence[Sequence[Fraction]], right: Sequence[Fraction], *, deadline: float | None = None
) -> list[Fraction] | None:
    """A solution x of `matrix` x = `right`, free variables set to 0; None when there is none, or at the deadline.

    Few equations or unknowns: fraction-free elimination (Bareiss) on integer rows, the numbers stay minors of the
    matrix. Many: `verify.deciders.lifting`, hundreds in seconds.
    matrix: m rows of n numbers; right: m numbers. deadline: a moment of `solvers.clock.now()`.
    """
    width = len(matrix[0]) if matrix else 0
    augmented = _integer_rows([[*row, value] for row, value in zip(matrix, right, strict=True)])
    if min(len(augmented), width) > FEW:
        return _by_lifting(augmented, width, deadline)
    echelon = _echelon(augmented, width, deadline)
    if echelon is None:
        return None
    rows, pivots = echelon
    if any(row[width] for row in rows[len(pivots) :]):
        return None
    solution = [Fraction(0)] * width
    for r in range(len(pivots) - 1, -1, -1):
        row, column = rows[r], pivots[r]
        rest = sum((row[c] * solution[c] for c in pivots[r + 1 :]), Fraction(0))
        solution[column] = (row[width] - rest) / row[column]
    return solution


def _by_lifting(augmented: list[list[int]], width: int, deadline: float | None) -> list[Fraction] | None:
    """The solution for rows with the right side last; what a column has in common is divided out of it."""
    contents = [math.gcd(*column) or 1 for column in list(zip(*augmented, strict=True))[:width]]
    matrix = [[entry // content for entry, content in zip(row, contents, strict=False)] for row in augmented]
    solution = solve_by_lifting(matrix, [row[width] for row in augmented], deadline)
    return None if solution is None else [value / content for value, content in zip(solution, contents, strict=True)]


def rank(matrix: Sequence[Sequence[Fraction]]) -> int:
    """The rank, exactly."""
    if not matrix:
        return 0
    rows, most = _integer_rows(matrix), min(len(matrix), len(matrix[0]))
    if most > FEW:
        pivots = pivots_modulo(rows)
        if pivots is not None and len(pivots[1]) == most:
            return most
    echelon = _echelon(rows, len(matrix[0]), None)
    return 0 if echelon is None else len(echelon[1])


def _integer_rows(matrix: Sequence[Sequence[Fraction]]) -> list[list[int]]:
    """Each row times a positive number of its own: integers without a common divisor."""
    rows: list[list[int]] = []
    for row in matrix:
        (integers,), _ = common_integers([row])
        divisor = math.gcd(*integers) or 1
        rows.append([entry // divisor for entry in integers])
    return rows


def _echelon(
    integers: Sequence[list[int]], width: int, deadline: float | None
) -> tuple[list[list[int]], list[int]] | None:
    """Integer rows after elimination in the first `width` columns, and the pivot column of each row up to the rank."""
    rows = list(integers)
    pivots: list[int] = []
    previous = 1
    for column in range(width):
        if is_late(deadline):
            return None
        top = len(pivots)
        chosen = next((r for r in range(top, len(rows)) if rows[r][column]), None)
        if chosen is None:
            continue
        rows[top], rows[chosen] = rows[chosen], rows[top]
        pivot_row, pivot = rows[top], rows[top][column]
        for r in range(top + 1, len(rows)):
            row, factor = rows[r], rows[r][column]
            rows[r] = [
                (pivot * entry - factor * other) // previous for entry, other in zip(row, pivot_row, strict=True)
            ]
        previous = pivot
        pivots.append(column)
        if len(pivots) == len(rows):
            break
    return rows, pivots


def solve_by_few(
    matrix: Sequence[Sequence[Fraction]],
    right: Sequence[Fraction],
    tolerance: float = 1e-11,
    *,
    deadline: float | None = None,
) -> list[Fraction] | None:
    """A solution of `matrix` x = `right` with as few nonzero entries as the rank, well-conditioned columns first.

    The columns are chosen in floats (QR with pivoting, of equations of one size, and where that has no solution, of
    columns of one size as well), the system on them is solved exactly. None when it has no solution, or at the deadline
    (a moment of `solvers.clock.now()`).
    """
    if not matrix or not matrix[0]:
        return None if any(right) else []
    numbers = to_matrix(matrix)
    if not np.isfinite(numbers).all():
        return None
    numbers = _of_one_size(numbers, axis=1)
    before: list[int] = []
    for scaled in (numbers, _of_one_size(numbers, axis=0)):
        chosen = _independent(scaled, tolerance)
        if sorted(chosen) == sorted(before):
            break
        few = solve_exactly([[line[q] for q in chosen] for line in matrix], right, deadline=deadline)
        if few is not None:
            solution = dict(zip(chosen, few, strict=True))
            return [solution.get(q, Fraction(0)) for q in range(len(matrix[0]))]
        before = chosen
    return None if any(right) else [Fraction(0)] * len(matrix[0])


def _of_one_size(numbers: NDArray[np.float64], axis: int) -> NDArray[np.float64]:
    """Every row (axis 1) or column (axis 0) over its largest entry; one of zeros as it is."""
    largest = np.abs(numbers).max(axis=axis, keepdims=True)
    return numbers / np.where(largest > 0, largest, 1.0)


def _independent(numbers: NDArray[np.float64], tolerance: float) -> list[int]:
    """As many columns as the rank is, independent of each other."""
    from scipy.linalg import qr

    _, triangle, order = cast(
        "tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.intp]]",
        qr(numbers, mode="economic", pivoting=True),
    )
    diagonal = np.abs(np.diag(triangle))
    rank = int((diagonal > tolerance * max(float(diagonal.max(initial=0.0)), 1e-300)).sum())
    return [int(q) for q in order[:rank]]
