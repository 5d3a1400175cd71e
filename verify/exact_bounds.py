"""From the float trees of `solvers.pricing` to a `lower-bound` certificate: every number rounded so that the proof
still holds.

Slopes and ranges become whole numbers over one denominator, rounded towards the inside of their intervals; beta is then
computed from the rounded leaves, upwards. Nothing here is trusted.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from verify.certificate import Bound, LowerBound, Range, Split, Tree
from verify.exact import common_integers, sqrt_upper
from verify.exactify import ceil_dyadic
from verify.problem import Bias, Goal, Problem

if TYPE_CHECKING:
    from solvers.dual_cuts import DualProof
    from solvers.pricing import Leaf

__all__ = ["lower_bound"]

SLOPE_BITS = 40


def lower_bound(problem: Problem, proof: DualProof) -> LowerBound | None:
    """The certificate for `proof`, or None where rounding breaks it (free bias: no variable left to balance a leaf)."""
    support = [int(i) for i in proof.support]
    multipliers = [Fraction(float(proof.multipliers[i])) for i in support]
    targets = problem.data.targets
    margin = problem.goal is Goal.MAX_MARGIN
    coefficients = [value * targets[i] if margin else value for i, value in zip(support, multipliers, strict=True)]
    value = sum((m if margin else m * targets[i] for i, m in zip(support, multipliers, strict=True)), Fraction(0))
    if value <= 0 or (problem.bias is Bias.FREE and sum(coefficients) != 0):
        return None
    denominator = _denominator(problem, coefficients)
    builder = _Builder(problem, support, coefficients, denominator)
    trees: list[Tree] = []
    order = [(mask, sign) for mask in range(len(problem.mask_classes)) for sign in (1, -1)]
    for (mask, sign), tree in zip(order, proof.trees, strict=True):
        nodes = builder.nodes(mask, sign, tree.nodes or [])
        if nodes is None:
            return None
        trees.append(Tree(mask=mask, sign="+" if sign > 0 else "-", nodes=tuple(nodes)))
    beta = ceil_dyadic(builder.beta, 44)
    return LowerBound(
        multipliers=tuple(zip(support, multipliers, strict=True)),
        beta=beta,
        bracket=(value / beta, None),
        denominator=denominator,
        trees=tuple(trees),
    )


def _denominator(problem: Problem, coefficients: Sequence[Fraction]) -> int:
    """A denominator that makes every (1 - a) c_i whole and leaves `SLOPE_BITS` bits for slopes, ranges and
    multipliers.
    """
    base = math.lcm(*(((1 - problem.architecture.slope) * c).denominator for c in coefficients))
    largest = max(map(abs, coefficients))
    rows = max((abs(entry) for row in problem.rows for entry in row), default=Fraction(1)) or Fraction(1)
    wanted = max(Fraction(2) ** SLOPE_BITS / largest, Fraction(2) ** SLOPE_BITS, Fraction(2) ** SLOPE_BITS / rows)
    factor = max(math.ceil(wanted / base), 1)
    return base * 2 ** (factor - 1).bit_length()


class _Builder:
    """Walks trees in pre-order with the signs of the path; keeps the largest bound as `beta`."""

    def __init__(
        self, problem: Problem, support: Sequence[int], coefficients: Sequence[Fraction], denominator: int
    ) -> None:
        self.problem, self.support, self.denominator = problem, support, denominator
        self.free = problem.bias is Bias.FREE
        self.slope = problem.architecture.slope
        self.coefficients = coefficients
        self.beta = Fraction(0)
        rows, self.row_denominator = common_integers([problem.rows[i] for i in support])
        self.rows = rows

    def nodes(self, mask: int, sign: int, nodes: Sequence[int | Leaf]) -> list[Split | Bound] | None:
        seen = self.problem.mask_classes[mask]
        counted = [q for q, column in enumerate(seen) if column in set(self.problem.norm_columns)]
        rows = [[row[column] for column in seen] for row in self.rows]
        excess = [int((1 - self.slope) * sign * c * self.denominator) for c in self.coefficients]
        base = [self.slope * sign * c for c in self.coefficients]
        result: list[Split | Bound] = []
        signs = [0] * len(self.support)
        pending: list[tuple[int, int]] = []  # (point, next sign) of the splits on the path
        for node in nodes:
            if isinstance(node, int):
                result.append(Split(self.support[node]))
                signs[node] = 1
                pending.append((node, -1))
                continue
            leaf = self._leaf(node, signs, excess, base, rows, counted)
            if leaf is None:
                return None
            result.append(leaf)
            while pending:
                point, following = pending.pop()
                if following == -1:
                    signs[point] = -1
                    pending.append((point, 0))
                    break
                signs[point] = 0
        return result

    def _leaf(
        self,
        leaf: Leaf,
        signs: Sequence[int],
        excess: Sequence[int],
        base: Sequence[Fraction],
        rows: Sequence[Sequence[int]],
        counted: Sequence[int],
    ) -> Bound | None:
        slopes = []
        for t, s, e in zip(leaf.slopes, signs, excess, strict=True):
            whole = round(Fraction(float(t)) * self.denominator)
            if s > 0:
                whole = max(whole, e)
            elif s < 0:
                whole = min(whole, 0)
            else:
                whole = min(max(whole, min(e, 0)), max(e, 0))
            slopes.append(whole)
        if self.free and not self._balance(slopes, signs, excess):
            return None
        ranges: list[Range] = []
        offset = Fraction(0)
        for i, (s, e) in enumerate(zip(signs, excess, strict=True)):
            if s != 0 or e <= 0:
                continue
            found = leaf.ranges.get(i)
            low, high = found or ({}, {})
            left, low_terms = self._range(i, -1, low, signs, rows, counted)
            right, high_terms = self._range(i, 1, high, signs, rows, counted)
            if left is None or right is None:
                return None
            if low_terms or high_terms or self.free:
                ranges.append(
                    Range(point=self.support[i], left=left, right=right, left_terms=low_terms, right_terms=high_terms)
                )
            else:  # not listed: the bound that the checker takes
                square = Fraction(sum(rows[i][q] ** 2 for q in counted), self.row_denominator**2)
                left = right = sqrt_upper(square) * self.denominator
            offset += max(slopes[i] * left, (e - slopes[i]) * right) / Fraction(self.denominator**2)
        p = [Fraction(0)] * len(rows[0])
        factors = [b * self.denominator + t for b, t in zip(base, slopes, strict=True)]
        scale = math.lcm(*(f.denominator for f in factors))
        whole_factors = [int(f * scale) for f in factors]
        p = [sum(f * row[q] for f, row in zip(whole_factors, rows, strict=True)) for q in range(len(rows[0]))]
        square = sum(p[q] * p[q] for q in counted)
        size = Fraction(_ceil_sqrt(square), scale * self.denominator * self.row_denominator)
        self.beta = max(self.beta, offset + size)
        return Bound(tuple(slopes), tuple(ranges))

    def _balance(self, slopes: list[int], signs: Sequence[int], excess: Sequence[int]) -> bool:
        """Make the slopes sum to zero (the bias coordinate of p) by changing as few as possible."""
        surplus = sum(slopes)
        for i, (s, e) in enumerate(zip(signs, excess, strict=True)):
            if surplus == 0:
                break
            low = e if s > 0 else None if s < 0 else min(e, 0)
            high = None if s > 0 else 0 if s < 0 else max(e, 0)
            new = slopes[i] - surplus
            new = new if low is None else max(new, low)
            new = new if high is None else min(new, high)
            surplus -= slopes[i] - new
            slopes[i] = new
        return surplus == 0

    def _range(
        self,
        point: int,
        side: int,
        terms: dict[int, float],
        signs: Sequence[int],
        rows: Sequence[Sequence[int]],
        counted: Sequence[int],
    ) -> tuple[int | None, tuple[tuple[int, int], ...]]:
        """The whole number over the denominator that bounds side x_i . u on the cone, and its multipliers."""
        d = self.denominator
        whole = {k: round(Fraction(m) * d) for k, m in terms.items() if m > 0 and signs[k]}
        if self.free:
            surplus = side * d + sum(m * signs[k] for k, m in whole.items())
            for k, s in enumerate(signs):
                if surplus and s:
                    new = max(whole.get(k, 0) - s * surplus, 0)
                    surplus += (new - whole.get(k, 0)) * s
                    whole[k] = new
            if surplus:
                return None, ()
        used = tuple((self.support[k], m) for k, m in sorted(whole.items()) if m > 0)
        pairs = [(k, m * signs[k]) for k, m in whole.items() if m > 0]
        vector = [side * d * rows[point][q] + sum(m * rows[k][q] for k, m in pairs) for q in counted]
        size = _ceil_sqrt(sum(entry * entry for entry in vector))
        return -(-size // self.row_denominator), used


def _ceil_sqrt(value: int) -> int:
    root = math.isqrt(value)
    return root if root * root == value else root + 1
