"""From a search in many digits to exact numbers: leaves of a lower bound, and networks that interpolate.

Nothing here is trusted.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

from verify.checker.dual_trees import Bound
from verify.checker.exact import dot, sqrt_upper, squared_norm
from verify.deciders.global_optimality.tree_walks import with_signs
from verify.deciders.rounding import solve_exactly
from verify.problem.problem import Problem

if TYPE_CHECKING:
    from solvers.pricing.precise import PreciseSearch

__all__ = ["ExactColumn", "Leaves", "fraction", "in_decimals", "interpolating", "log2", "short"]


@dataclass(frozen=True, slots=True)
class ExactColumn:
    """mask, sign s, and the sides on which the points are on, exactly as in `solvers.any_width.master`."""

    mask: int
    sign: int
    on: tuple[bool, ...]


class Leaves:
    """Leaves with slopes over `denominator`, and the least beta with which they close."""

    def __init__(
        self,
        problem: Problem,
        support: list[int],
        c: list[Fraction],
        mask: int,
        denominator: int,
        scales: list[Fraction],
    ) -> None:
        self.scales = [scales[i] for i in support]
        self.support, self.c, self.denominator = support, c, denominator
        self.slope = problem.architecture.slope
        seen = problem.mask_classes[mask]
        self.rows = [[problem.rows[i][column] for column in seen] for i in support]
        self.counted = sum(column in problem.norm_columns for column in seen)
        self.is_free = self.counted < len(seen)
        self.slope_jumps = [(1 - self.slope) * value for value in c]
        middle = [
            (min(column) + max(column)) / 2 for column in zip(*(row[: self.counted] for row in self.rows), strict=True)
        ]
        self.middle = middle if self.is_free else [Fraction(0)] * self.counted
        around = [squared_norm([x - o for x, o in zip(row, self.middle, strict=False)]) for row in self.rows]
        self.reach = sqrt_upper(max(around, default=Fraction(0))) if self.is_free else Fraction(0)
        self.sizes = [sqrt_upper(square) + self.reach for square in around]
        self.beta = Fraction(0)

    def nodes(self, search: PreciseSearch) -> list[int | Bound]:
        """The nodes of a search without violators that count."""
        return [
            self.support[node] if isinstance(node, int) else self._leaf(node, signs)
            for node, signs in with_signs(search.nodes, len(self.support))
        ]

    def _leaf(self, slopes: list[Decimal], signs: list[int]) -> Bound:
        listed: list[int | str] = []
        q: list[Fraction] = []
        offset = Fraction(0)
        for k, (t, e, sign) in enumerate(zip(slopes, self.slope_jumps, signs, strict=True)):
            whole = round(fraction(t) * self.scales[k] * self.denominator)
            low = e if sign > 0 else None if sign < 0 else min(e, Fraction(0))
            high = None if sign > 0 else Fraction(0) if sign < 0 else max(e, Fraction(0))
            exact = Fraction(whole, self.denominator)
            near = abs(exact - e) * self.denominator <= 1
            if near or (low is not None and exact < low) or (high is not None and exact > high):
                at_zero = not near and (low == 0 or high == 0) and abs(exact) <= abs(exact - e)
                exact = Fraction(0) if at_zero else e
                listed.append(0 if at_zero else "e")
            else:
                listed.append(whole)
            if sign == 0 and e > 0:
                offset += max(exact, e - exact) * self.sizes[k]
            q.append(self.slope * self.c[k] + exact)
        p = [dot(q, column) for column in zip(*self.rows, strict=True)]
        outer = p[-1] if self.is_free else Fraction(0)
        centred = [value - outer * o for value, o in zip(p[: self.counted], self.middle, strict=True)]
        self.beta = max(self.beta, sqrt_upper(squared_norm(centred), 60) + abs(outer) * self.reach + offset)
        return Bound(tuple(listed))  # type: ignore[arg-type]


def interpolating(
    problem: Problem, kept: list[tuple[ExactColumn, list[Fraction]]], digits: int
) -> list[tuple[ExactColumn, list[Fraction]]]:
    """The directions, corrected so that they meet the targets exactly and kinks stay kinks; as they are if not."""
    rows, slope = problem.rows, problem.architecture.slope
    small = Fraction(1, 10 ** (digits // 4))
    lines: list[list[Fraction]] = []
    right: list[Fraction] = []
    places = [(j, c) for j, (column, _) in enumerate(kept) for c in problem.mask_classes[column.mask]]
    gains: list[list[Fraction]] = []
    near = [(column, [short(value, digits * 3) for value in u]) for column, u in kept]
    for j, (_, u) in enumerate(near):
        length = sqrt_upper(squared_norm(u), 20)
        own = []
        for row in rows:
            z = dot(row, u)
            size = length * sqrt_upper(squared_norm(row), 20)
            own.append(Fraction(1) if z > 0 else slope)
            if abs(z) <= small * size and any(row) and slope < 1:
                lines.append([row[c] if q == j else Fraction(0) for q, c in places])
                right.append(-z)
        gains.append(own)
    for i, row in enumerate(rows):
        lines.append([near[j][0].sign * gains[j][i] * row[c] for j, c in places])
        value = sum((column.sign * gains[j][i] * dot(row, u) for j, (column, u) in enumerate(near)), Fraction(0))
        right.append(problem.data.targets[i] - value)
    step = solve_exactly(lines, right)
    if step is None:
        return near
    for (j, c), change in zip(places, step, strict=True):
        near[j][1][c] += change
    return near


def in_decimals(number: Fraction) -> Decimal:
    """The nearest number of the current decimal context."""
    return Decimal(number.numerator) / Decimal(number.denominator)


def fraction(number: Decimal) -> Fraction:
    """The exact value."""
    return Fraction(number)


def short(number: Fraction, bits: int) -> Fraction:
    """The number to so many significant bits."""
    if not number:
        return number
    shift = bits - log2(number)
    return Fraction(round(number * Fraction(2) ** shift)) / Fraction(2) ** shift


def log2(number: Fraction) -> int:
    """The logarithm of |number| to within 1."""
    return abs(number.numerator).bit_length() - number.denominator.bit_length()
