"""Small linear and quadratic programs in rationals: the independent side of claims that name an optimum.

Both return points with the multipliers that prove them, checked by the caller's own arithmetic or here by weak duality.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations

from verify.checker.exact import dot
from verify.deciders.rounding import solve_exactly

__all__ = ["least_l1_norm", "least_norm", "least_squares_norm"]

_Matrix = Sequence[Sequence[Fraction]]


def least_l1_norm(rows: _Matrix) -> Fraction | None:
    """min ||b||_1 subject to r_i.b >= 1 for the rows, exactly; None when no b does it.

    The simplex method with Bland's rule on the dual: max sum lambda subject to |sum lambda_i r_i| <= 1 in every
    coordinate, lambda >= 0, which 0 satisfies. rows: (n, d).
    """
    n, d = len(rows), len(rows[0])
    table = [
        [*(sign * row[c] for row in rows), *(Fraction(2 * c + side == q) for q in range(2 * d)), Fraction(1)]
        for c in range(d)
        for side, sign in enumerate((1, -1))
    ]
    gains = [Fraction(1)] * n + [Fraction(0)] * (2 * d + 1)
    basis = list(range(n, n + 2 * d))
    while (column := next((c for c in range(n + 2 * d) if gains[c] > 0), None)) is not None:
        ratios = [(line[-1] / line[column], basis[r], r) for r, line in enumerate(table) if line[column] > 0]
        if not ratios:
            return None
        pivot = min(ratios)[2]
        basis[pivot] = column
        lead = table[pivot][column]
        table[pivot] = [value / lead for value in table[pivot]]
        for line in (*(line for r, line in enumerate(table) if r != pivot), gains):
            factor = line[column]
            if factor:
                line[:] = [value - factor * other for value, other in zip(line, table[pivot], strict=True)]
    return -gains[-1]


def least_norm(
    equal: _Matrix, values: Sequence[Fraction], above: _Matrix, bounds: Sequence[Fraction]
) -> tuple[list[Fraction], dict[int, Fraction]] | None:
    """The w of least norm with equal.w = values and above.w >= bounds, and the multipliers of active bounds.

    By trying active sets, smallest first: w in the span of the rows in force, all bounds met, multipliers >= 0, which
    together prove that it is the least (convexity). Exact; complete for up to about 12 bounds. None: infeasible.
    """
    for count in range(len(above) + 1):
        for active in combinations(range(len(above)), count):
            rows = [*equal, *(above[i] for i in active)]
            found = least_squares_norm(rows, [*values, *(bounds[i] for i in active)], len((*equal, *above)[0]))
            if found is None:
                continue
            w, multipliers = found
            tail = multipliers[len(equal) :]
            if all(m >= 0 for m in tail) and all(
                dot(row, w) >= bound for row, bound in zip(above, bounds, strict=True)
            ):
                return w, dict(zip(active, tail, strict=True))
    return None


def least_squares_norm(
    rows: _Matrix, values: Sequence[Fraction], dimension: int
) -> tuple[list[Fraction], list[Fraction]] | None:
    """The w of least norm with rows.w = values, and m with w = sum m_i rows_i; None when there is no such w."""
    if not rows:
        return [Fraction(0)] * dimension, []
    gram = [[dot(a, b) for b in rows] for a in rows]
    multipliers = solve_exactly(gram, values)
    if multipliers is None:
        return None
    return [dot(multipliers, column) for column in zip(*rows, strict=True)], multipliers
