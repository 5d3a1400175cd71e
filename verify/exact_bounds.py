"""From the float trees of `solvers.pricing` to a `lower-bound` certificate, rounded so that the proof still holds.

Slopes and ranges become whole numbers over one denominator, rounded towards the inside of their intervals; beta is then
computed from the rounded leaves, upwards. Nothing here is trusted.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from operator import mul
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from verify.certificate import Bound, LowerBound, Nodes, Range
from verify.exact import common_integers, sqrt_upper
from verify.exact_networks import float_rows
from verify.exactify import ceil_dyadic
from verify.problem import Bias, Goal, Problem

if TYPE_CHECKING:
    from solvers.dual_cuts import DualProof
    from solvers.pricing import Leaf

__all__ = ["lower_bound"]

FEWEST_BITS, MOST_BITS = 20, 44


def lower_bound(problem: Problem, proof: DualProof, tol: float = 1e-9) -> LowerBound | None:
    """The certificate for `proof`, or None where rounding breaks it (free bias: no variable left to balance a leaf)."""
    support = [int(i) for i in proof.support]
    multipliers = [Fraction(float(proof.multipliers[i])) for i in support]
    targets = problem.data.targets
    margin = problem.goal is Goal.MAX_MARGIN
    coefficients = [value * targets[i] if margin else value for i, value in zip(support, multipliers, strict=True)]
    value = sum((m if margin else m * targets[i] for i, m in zip(support, multipliers, strict=True)), Fraction(0))
    value -= problem.fit_tolerance * sum(map(abs, multipliers))
    if value <= 0 or (problem.bias is Bias.FREE and sum(coefficients) != 0):
        return None
    bits = min(max(math.ceil(-math.log2(tol)) + 13, FEWEST_BITS), MOST_BITS)
    denominator = _denominator(problem, support, coefficients, bits)
    builder = _Builder(problem, support, coefficients, denominator, Fraction(float(proof.beta)))
    trees: list[Nodes] = []
    order = [(mask, sign) for mask in range(len(problem.mask_classes)) for sign in (1, -1)]
    for (mask, sign), tree in zip(order, proof.trees, strict=True):
        nodes = builder.nodes(mask, sign, tree.nodes or [])
        if nodes is None:
            return None
        trees.append(tuple(nodes))
    beta = ceil_dyadic(builder.beta, 44)
    return LowerBound(
        multipliers=tuple(zip(support, multipliers, strict=True)),
        beta=beta,
        bracket=(value / beta, None),
        denominator=denominator,
        trees=tuple(trees),
    )


def _denominator(problem: Problem, support: Sequence[int], coefficients: Sequence[Fraction], bits: int) -> int:
    """A denominator that makes every (1 - a) c_i whole and leaves `bits` bits for slopes, ranges and multipliers."""
    base = math.lcm(*(((1 - problem.architecture.slope) * c).denominator for c in coefficients))
    largest = max(map(abs, coefficients))
    rows = max((abs(entry) for i in support for entry in problem.rows[i]), default=Fraction(1)) or Fraction(1)
    wanted = 2**bits / min(largest, Fraction(1), rows)
    factor = max(math.ceil(wanted / base), 1)
    return base * 2 ** (factor - 1).bit_length()


class _Builder:
    """Walks trees in pre-order with the signs of the path; keeps the largest bound as `beta`.

    target: what the float trees prove; a range is left out of a leaf that stays below it without.
    """

    def __init__(
        self,
        problem: Problem,
        support: Sequence[int],
        coefficients: Sequence[Fraction],
        denominator: int,
        target: Fraction,
    ) -> None:
        self.problem, self.support, self.denominator = problem, support, denominator
        self.free = False  # set for each mask, which may hide a free bias
        self.slope = problem.architecture.slope
        self.coefficients = coefficients
        self.beta, self.target = Fraction(0), target
        self.base_unit = math.lcm(*((self.slope * c * denominator).denominator for c in coefficients))
        self.plain: dict[int, int] = {}
        self.floats: NDArray[np.float64] = np.empty((0, 0))  # the rows on the columns of each mask
        rows, self.row_denominator = common_integers([problem.rows[i] for i in support])
        self.rows = rows

    def nodes(self, mask: int, sign: int, nodes: Sequence[int | Leaf]) -> list[int | Bound] | None:
        seen = self.problem.mask_classes[mask]
        self.plain.clear()  # rows are those of this mask
        self.free = self.problem.bias is Bias.FREE and bool(seen) and seen[-1] not in self.problem.norm_columns
        counted_columns = [column for column in seen if column in self.problem.norm_columns]
        counted = [q for q, column in enumerate(seen) if column in counted_columns]
        rows = [[row[column] for column in seen] for row in self.rows]
        self.floats = float_rows(self.problem)[np.ix_(self.support, counted_columns)]
        excess = [int((1 - self.slope) * sign * c * self.denominator) for c in self.coefficients]
        base = [int(self.slope * sign * c * self.denominator * self.base_unit) for c in self.coefficients]
        result: list[int | Bound] = []
        signs = [0] * len(self.support)
        pending: list[tuple[int, int]] = []  # (point, next sign) of the splits on the path
        for node in nodes:
            if isinstance(node, int):
                result.append(self.support[node])
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
        base: Sequence[int],
        rows: Sequence[Sequence[int]],
        counted: Sequence[int],
    ) -> Bound | None:
        slopes = [self._slope(t, s, e) for t, s, e in zip(leaf.slopes, signs, excess, strict=True)]
        if self.free and not self._balance(slopes, signs, excess):
            return None
        factors = [b + t * self.base_unit for b, t in zip(base, slopes, strict=True)]
        p = [sum(map(mul, factors, column)) for column in zip(*rows, strict=True)]
        size = Fraction(
            _ceil_sqrt(sum(p[q] * p[q] for q in counted)), self.denominator * self.base_unit * self.row_denominator
        )
        chords = [i for i, (s, e) in enumerate(zip(signs, excess, strict=True)) if s == 0 and e > 0]
        listed: list[tuple[int, int, list[Range]]] = []  # offset without the ranges, with them (over denominator^2)
        offset = 0
        for i in chords:
            t, e = slopes[i], excess[i]
            low, high = leaf.ranges.get(i) or ({}, {})
            left, low_terms = self._range(i, -1, low, signs, rows, counted) if t > 0 else (0, ())
            right, high_terms = self._range(i, 1, high, signs, rows, counted) if t < e else (0, ())
            if left is None or right is None:
                return None
            plain = max(t, e - t) * self._plain_range(i, rows, counted)
            if low_terms or high_terms or self.free:
                ends: list[Range] = [] if t <= 0 else [(self.support[i], "-", left, tuple(low_terms))]
                if t < e:
                    ends.append((self.support[i], "+", right, tuple(high_terms)))
                listed.append((plain, max(t * left, (e - t) * right), ends))
            else:
                offset += plain
        unit = self.denominator**2
        budget = math.floor((self.target - size) * unit) - offset - sum(tight for _, tight, _ in listed)
        ranges: list[Range] = []
        for plain, tight, found in sorted(listed, key=lambda entry: entry[0] - entry[1]):
            if not self.free and plain - tight <= budget:  # the leaf closes without this range
                budget -= plain - tight
                offset += plain
            else:
                offset += tight
                ranges += found
        self.beta = max(self.beta, size + Fraction(offset, unit))
        return Bound(tuple(slopes), tuple(sorted(ranges)))

    def _slope(self, t: float, sign: int, excess: int) -> int:
        """t over the denominator, rounded, within its interval."""
        whole = self._whole(float(t))
        if sign > 0:
            return max(whole, excess)
        if sign < 0:
            return min(whole, 0)
        return min(max(whole, min(excess, 0)), max(excess, 0))

    def _whole(self, value: float) -> int:
        """The float over the denominator, rounded."""
        return round((value if self.denominator < 2**900 else Fraction(value)) * self.denominator)

    def _plain_range(self, point: int, rows: Sequence[Sequence[int]], counted: Sequence[int]) -> int:
        """The bound of |x_i . u| that the checker takes where no range is listed, over the denominator, rounded up."""
        if point not in self.plain:
            square = Fraction(sum(rows[point][q] ** 2 for q in counted), self.row_denominator**2)
            self.plain[point] = math.ceil(sqrt_upper(square) * self.denominator)
        return self.plain[point]

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
        if not self.free and len(terms) > len(counted):
            terms = self._few(point, side, terms, signs)
        whole = {k: self._whole(m) for k, m in terms.items() if m > 0 and signs[k]}
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

    def _few(self, point: int, side: int, terms: dict[int, float], signs: Sequence[int]) -> dict[int, float]:
        """The shortest range vector over the same decided points: a vertex has at most as many terms as columns."""
        from solvers.nonnegative import nonnegative_least_squares

        places = [k for k in terms if signs[k]]
        rows = self.floats[places] * np.array([signs[k] for k in places], float)[:, None]
        try:
            found = nonnegative_least_squares(rows.T, -side * self.floats[point])
        except RuntimeError:  # it did not converge
            return terms
        return dict(zip(places, found.tolist(), strict=True))


def _ceil_sqrt(value: int) -> int:
    root = math.isqrt(value)
    return root if root * root == value else root + 1
