"""From the float trees of `solvers.pricing.tree` to a `lower-bound` certificate, rounded so that the proof still holds.

Slopes and ranges become whole numbers over one denominator, rounded towards the inside of their intervals; beta is then
computed from the rounded leaves, upwards. Nothing here is trusted.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from operator import mul
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from verify.checker.bounds import LowerBound
from verify.checker.dual_trees import Bound, Dual, Nodes, Range, centred
from verify.checker.exact import common_integers, sqrt_upper, squared_norm
from verify.checker.multipliers import bound_of, dual_value
from verify.checker.objectives import Objective, PointLoss
from verify.deciders.global_optimality.tree_walks import with_signs
from verify.deciders.rounding import ceil_dyadic
from verify.deciders.time_limits import poll
from verify.numbers.floats import float_factors, float_rows, to_float
from verify.problem.members import factors
from verify.problem.problem import Problem

if TYPE_CHECKING:
    from solvers.any_width.dual_cuts import DualGuess
    from solvers.pricing.tree import Leaf, Tree

__all__ = ["Cone", "coarse", "dual_point", "lower_bound", "one_tree"]

FEWEST_BITS, MOST_BITS = 20, 44
BITS_BELOW = 30  # beta is at least this many bits below what the float trees prove: it has to be above 0


Cone: TypeAlias = tuple[int, int, tuple[int, ...]]
"""What a tree is about: mask class, sign, and the side of each point of the support that holds in advance, if any."""


def lower_bound(problem: Problem, proof: DualGuess, tol: float = 1e-9) -> LowerBound | None:
    """The certificate for `proof`, or None where its multipliers prove nothing."""
    everywhere: list[Cone] = [(mask, sign, ()) for mask in range(len(problem.mask_classes)) for sign in (1, -1)]
    found = dual_point(problem, proof, everywhere, tol)
    if found is None:
        return None
    dual, value = found
    beta, asked = dual.beta, problem.goal
    if isinstance(asked, Objective):  # scaled by less than 1 the coefficients stay admissible
        beta = max(beta, asked.price_above)
        every = factors(problem)
        value = bound_of(problem, {i: number * every[i] for i, number in dual.multipliers}, beta)
    elif problem.has_output_bias:
        every = factors(problem)
        c = {i: number * every[i] for i, number in dual.multipliers}
        if problem.decay.output_bias:  # t D - t^2 / 2 (sum c)^2 is largest there
            beta = max(beta, ceil_dyadic(sum(c.values(), Fraction(0)) ** 2 / problem.decay.output_bias / value, 44))
        value = bound_of(problem, c, beta)
    else:
        value /= beta
    if value < 0:
        return None
    return LowerBound(dual.multipliers, beta, dual.denominator, dual.trees, bracket=(value, None))


def dual_point(
    problem: Problem, proof: DualGuess, cones: Sequence[Cone], tol: float = 1e-9
) -> tuple[Dual, Fraction] | None:
    """The dual point of `proof`, with a tree for each of the cones, and its dual value D; None where that is not > 0.

    The coefficients c_i are the short numbers, as trees hold them. A free bias needs sum c_i = 0, except in cones that
    forbid to go along it: what rounding left of it is taken from the largest that can give it.
    """
    support = [int(i) for i in proof.support]
    every = factors(problem)
    sizes = float_factors(problem)
    coefficients = [Fraction(float(proof.multipliers[i] * sizes[i])) for i in support]
    if isinstance(problem.goal, Objective):
        coefficients = [
            _within_loss(problem, problem.goal.loss, i, c) for i, c in zip(support, coefficients, strict=True)
        ]
    is_free = problem.has_output_bias and not problem.decay.output_bias
    if is_free or _leans(problem, cones, sum(coefficients, Fraction(0))):
        coefficients = _balanced(coefficients)
    multipliers = [c / every[i] for i, c in zip(support, coefficients, strict=True)]
    value = dual_value(problem, dict(zip(support, coefficients, strict=True)))
    if value <= 0:
        return None
    bits = min(max(math.ceil(-math.log2(tol)) + 13, FEWEST_BITS), MOST_BITS)
    denominator = _denominator(problem, support, coefficients, bits)
    builder = _Builder(problem, support, coefficients, denominator, Fraction(float(proof.beta)))
    trees: list[Nodes] = []
    for (mask, sign, known), tree in zip(cones, proof.trees, strict=True):
        trees.append(tuple(builder.nodes(mask, sign, tree.nodes or [], known)))
    beta = ceil_dyadic(max(builder.beta, Fraction(float(proof.beta)) / 2**BITS_BELOW), 44)
    return Dual(tuple(zip(support, multipliers, strict=True)), beta, denominator, tuple(trees)), value


def one_tree(
    problem: Problem, coefficients: Mapping[int, Fraction], tree: Tree, target: float, tol: float = 1e-9
) -> tuple[int, Nodes, Fraction]:
    """(denominator, tree, beta): h(u) <= beta ||u|| for these c_i, which floats hold exactly, on all columns.

    target: what the float tree proves, nearly.
    """
    support, values = list(coefficients), list(coefficients.values())
    bits = min(max(math.ceil(-math.log2(tol)) + 13, FEWEST_BITS), MOST_BITS)
    denominator = _denominator(problem, support, values, bits)
    builder = _Builder(problem, support, values, denominator, Fraction(target))
    nodes = tuple(builder.nodes(0, 1, tree.nodes or []))
    return denominator, nodes, builder.beta


NEARLY = Fraction(1, 10**9)
"""By how much a range with as few terms as there are columns may be larger than with those that were found."""

NEAR_END = 2**-40
"""A coefficient this near to an end of what a loss admits, relative to that, is taken to be there."""


def _within_loss(problem: Problem, loss: PointLoss, point: int, c: Fraction) -> Fraction:
    """The coefficient, within what the loss admits at this point; of short digits otherwise."""
    side = problem.targets[point] if loss.labels else Fraction(1)
    bounded = c * side
    if loss.high is not None and bounded >= loss.high * (1 - Fraction(NEAR_END)):
        bounded = loss.high
    if loss.low is not None and bounded <= loss.low * (1 - Fraction(NEAR_END)):
        bounded = loss.low
    return bounded * side


def _leans(problem: Problem, cones: Sequence[Cone], total: Fraction) -> bool:
    """Whether s h grows without end along a free bias in one of the cones, where sum c_i is `total`, not 0."""
    for mask, sign, known in cones:
        if all(column in problem.norm_columns for column in problem.mask_classes[mask]):
            continue
        up, down = sign * total, -problem.architecture.slope * sign * total
        if (up > 0 and -1 not in known) or (down > 0 and 1 not in known):
            return True
    return False


def _balanced(coefficients: list[Fraction]) -> list[Fraction]:
    """Coefficients with sum c_i = 0, each of the sign that it has; zeros where none could give what is too much."""
    surplus = sum(coefficients, Fraction(0))
    if not surplus:
        return coefficients
    able = [q for q, c in enumerate(coefficients) if c * surplus > surplus**2]
    if not able:
        return [Fraction(0)] * len(coefficients)
    chosen = max(able, key=lambda q: abs(coefficients[q]))
    return [c - surplus if q == chosen else c for q, c in enumerate(coefficients)]


def coarse(proof: DualGuess) -> DualGuess:
    """The same multipliers with a single leaf for each tree: a larger beta, proved in no time."""
    from solvers.pricing.tree import Leaf

    leaves = [next(node for node in tree.nodes or [] if not isinstance(node, int)) for tree in proof.trees]
    trees = (replace(tree, nodes=[Leaf(leaf.slopes)]) for tree, leaf in zip(proof.trees, leaves, strict=True))
    return replace(proof, trees=tuple(trees))


def _denominator(problem: Problem, support: Sequence[int], coefficients: Sequence[Fraction], bits: int) -> int:
    """A denominator that makes every (1 - a) c_i whole and leaves `bits` bits for slopes, ranges and multipliers."""
    base = math.lcm(*(((1 - problem.architecture.slope) * c).denominator for c in coefficients))
    largest = max(map(abs, coefficients))
    rows = max((abs(entry) for i in support for entry in problem.rows[i]), default=Fraction(1)) or Fraction(1)
    wanted = 2**bits / min(largest, Fraction(1), rows)
    factor = max(math.ceil(wanted / base), 1)
    return base * 2 ** (factor - 1).bit_length()


class _Builder:
    """Rounds the leaves of trees, each with the signs of its path; keeps the largest bound as `beta`.

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
        self.reach: Fraction | None = None  # B, in a mask class that sees a free bias
        self.slope = problem.architecture.slope
        self.coefficients = coefficients
        self.beta, self.target = Fraction(0), target
        self.base_unit = math.lcm(*((self.slope * c * denominator).denominator for c in coefficients))
        self.plain: dict[int, int] = {}
        self.floats: NDArray[np.float64] = np.empty((0, 0))  # the rows on the columns of each mask
        self.row_denominator = 1

    def nodes(self, mask: int, sign: int, nodes: Sequence[int | Leaf], known: Sequence[int] = ()) -> list[int | Bound]:
        seen = self.problem.mask_classes[mask]
        self.plain.clear()  # rows are those of this mask
        counted = [q for q, column in enumerate(seen) if column in self.problem.norm_columns]
        fractions = [[self.problem.rows[i][column] for column in seen] for i in self.support]
        self.floats = float_rows(self.problem)[np.ix_(self.support, seen)]
        self.reach = None
        if len(counted) < len(seen):
            fractions = centred(fractions, len(counted))
            sizes = (sqrt_upper(squared_norm(row[: len(counted)])) for row in fractions)
            self.reach = max(sizes, default=Fraction(0))
            self.floats = np.array([[*map(to_float, row[:-1]), to_float(self.reach)] for row in fractions])
        rows, self.row_denominator = common_integers(fractions)
        excess = [int((1 - self.slope) * sign * c * self.denominator) for c in self.coefficients]
        base = [int(self.slope * sign * c * self.denominator * self.base_unit) for c in self.coefficients]
        result: list[int | Bound] = []
        for node, signs in with_signs(nodes, len(self.support), known):
            if isinstance(node, int):
                result.append(self.support[node])
            else:
                poll()
                result.append(self._leaf(node, signs, excess, base, rows, counted))
        return result

    def _leaf(
        self,
        leaf: Leaf,
        signs: Sequence[int],
        excess: Sequence[int],
        base: Sequence[int],
        rows: Sequence[Sequence[int]],
        counted: Sequence[int],
    ) -> Bound:
        slopes = [self._slope(t, s, e) for t, s, e in zip(leaf.slopes, signs, excess, strict=True)]
        factors = [b + t * self.base_unit for b, t in zip(base, slopes, strict=True)]
        size = self._size([sum(map(mul, factors, column)) for column in zip(*rows, strict=True)], counted)
        size /= self.denominator * self.base_unit * self.row_denominator
        chords = [i for i, (s, e) in enumerate(zip(signs, excess, strict=True)) if s == 0 and e > 0]
        listed: list[tuple[int, int, list[Range]]] = []  # offset without the ranges, with them (over denominator^2)
        offset = 0
        for i in chords:
            t, e = slopes[i], excess[i]
            low, high = leaf.ranges.get(i) or ({}, {})
            left, low_terms = self._range(i, -1, low, signs, rows, counted) if t > 0 else (0, ())
            right, high_terms = self._range(i, 1, high, signs, rows, counted) if t < e else (0, ())
            plain = max(t, e - t) * self._plain_range(i, rows, counted)
            if low_terms or high_terms:
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
            if plain - tight <= budget:  # the leaf closes without this range
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
            self.plain[point] = math.ceil((sqrt_upper(square) + (self.reach or 0)) * self.denominator)
        return self.plain[point]

    def _size(self, vector: Sequence[int], counted: Sequence[int]) -> Fraction:
        """||v||, rounded up to a whole number; with a free bias |v_b| B more."""
        head = _ceil_sqrt(sum(vector[q] ** 2 for q in counted))
        return Fraction(head) + (self.reach or 0) * sum(map(abs, vector[len(counted) :]))

    def _range(
        self,
        point: int,
        side: int,
        terms: dict[int, float],
        signs: Sequence[int],
        rows: Sequence[Sequence[int]],
        counted: Sequence[int],
    ) -> tuple[int, tuple[tuple[int, int], ...]]:
        """The whole number over the denominator that bounds side x_i . u on the cone, and its multipliers."""
        bounded = partial(self._bounded, point, side, signs=signs, rows=rows, counted=counted)
        if len(terms) <= self.floats.shape[1]:
            return bounded(terms)
        few = bounded(self._few(point, side, terms, signs))
        if self.reach is None:
            return few
        found = bounded(terms)  # with a free bias the norm is another one than that in which the few are shortest
        return few if few[0] <= found[0] * (1 + NEARLY) else found

    def _bounded(
        self,
        point: int,
        side: int,
        terms: dict[int, float],
        signs: Sequence[int],
        rows: Sequence[Sequence[int]],
        counted: Sequence[int],
    ) -> tuple[int, tuple[tuple[int, int], ...]]:
        d = self.denominator
        whole = {k: self._whole(m) for k, m in terms.items() if m > 0 and signs[k]}
        used = tuple((self.support[k], m) for k, m in sorted(whole.items()) if m > 0)
        pairs = [(k, m * signs[k]) for k, m in whole.items() if m > 0]
        vector = [side * d * entry + sum(m * rows[k][q] for k, m in pairs) for q, entry in enumerate(rows[point])]
        return math.ceil(self._size(vector, counted) / self.row_denominator), used

    def _few(self, point: int, side: int, terms: dict[int, float], signs: Sequence[int]) -> dict[int, float]:
        """The shortest range vector over the same decided points: a vertex has at most as many terms as columns."""
        from solvers.programs.nonnegative import nonnegative_least_squares

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
