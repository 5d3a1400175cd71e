"""Linear systems over a number field, exactly.  Not trusted: the checker sees only the results."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from verify.checker.exact import Algebraic
from verify.deciders.rounding import solve_exactly
from verify.deciders.time_limits import poll

__all__ = ["inverse", "solve"]


def inverse(number: Fraction) -> Fraction:
    """1 / number, also of an algebraic number (which the trusted core never divides by)."""
    if not isinstance(number, Algebraic):
        return 1 / number
    field = number.field
    degree = len(field.polynomial) - 1
    columns = []
    for k in range(degree):
        product = field.number([*[Fraction(0)] * k, *number.coefficients])
        columns.append(_padded(product, degree))
    solution = solve_exactly(list(zip(*columns, strict=True)), [Fraction(1), *[Fraction(0)] * (degree - 1)])
    if solution is None:
        raise ZeroDivisionError("the number is 0, or the polynomial of its field reducible")
    return field.number(solution)


def _padded(number: Fraction, degree: int) -> list[Fraction]:
    coefficients = list(number.coefficients) if isinstance(number, Algebraic) else [number]
    return [*coefficients, *[Fraction(0)] * (degree - len(coefficients))]


def solve(matrix: Sequence[Sequence[Fraction]], right: Sequence[Fraction]) -> list[Fraction] | None:
    """The solution of a system with independent columns, or None (Gauss-Jordan, first nonzero pivot)."""
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    width = len(rows[0]) - 1
    for column in range(width):
        poll()
        chosen = next((r for r in range(column, len(rows)) if rows[r][column]), None)
        if chosen is None:
            return None
        rows[column], rows[chosen] = rows[chosen], rows[column]
        factor = inverse(rows[column][column])
        rows[column] = [entry * factor for entry in rows[column]]
        for r, row in enumerate(rows):
            if r != column and row[column]:
                rows[r] = [a - row[column] * b for a, b in zip(row, rows[column], strict=True)]
    return [row[width] for row in rows[:width]] if not any(row[width] for row in rows[width:]) else None
