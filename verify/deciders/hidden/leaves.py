"""Leaves of proofs about all networks of a state: multipliers and slopes made exact, or refused.

Slopes and ranges become whole numbers over one denominator, within what the state allows; squares are computed from
them, upwards. Nothing here is trusted: what is returned was accepted by the checker's own rule for leaves.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np

from solvers.arrays import Floats
from solvers.hidden.inner_cells import ByCells
from solvers.hidden.relaxation import Relaxed
from verify.checker.dual_trees import Bound, Case, Range, Together
from verify.checker.errors import CertificateError
from verify.checker.exact import sqrt_upper
from verify.checker.states import HiddenDual, Nothing
from verify.deciders.hidden.geometry import Geometry
from verify.deciders.hidden.norm_bounds import NormBounds, with_bounded_sums
from verify.deciders.rounding import ceil_dyadic
from verify.problem.members import has_margin
from verify.problem.problem import Problem

__all__ = [
    "BITS",
    "StateLeaf",
    "accepted",
    "celled_leaf",
    "denominator_over",
    "digits",
    "exact_leaf",
    "excesses",
    "factors",
    "rounded_leaf",
    "rounded_tree",
    "shortened_leaf",
    "shown_slopes",
    "slope_written",
    "unfitted_leaf",
    "zero_leaf",
]

BITS = 44
"""Of multipliers and slopes, below the largest one."""

AT_END = 1e-7
"""A slope this near to an end of its interval, in parts of the largest multiplier, is there."""


@dataclass(frozen=True, slots=True)
class StateLeaf:
    """value: what the leaf proves, None where it proves that nothing fits."""

    node: HiddenDual | Nothing
    value: Fraction | None

    @property
    def length(self) -> int:
        """How many digits its multipliers have, about."""
        return digits(value for _, value in self.node.multipliers)


def digits(numbers: Iterable[Fraction]) -> int:
    """How many digits they have together, about."""
    return sum(z.numerator.bit_length() + z.denominator.bit_length() for z in numbers) * 3 // 10


def factors(problem: Problem) -> Sequence[Fraction]:
    """What turns lambda_i into c_i."""
    return problem.data.targets if has_margin(problem.goal) else [Fraction(1)] * len(problem.data)


def excesses(problem: Problem, case: Case, multipliers: Mapping[int, Fraction]) -> dict[int, Fraction]:
    """e_i = (1 - a) s c_i of the listed points."""
    c = factors(problem)
    slope = problem.architecture.slope
    return {i: (1 - slope) * case[2] * value * c[i] for i, value in multipliers.items()}


def rounded_leaf(
    geometry: Geometry,
    cases: Mapping[Case, Fraction],
    found: Relaxed,
    ranges: Mapping[int, Mapping[int, Sequence[Mapping[int, float]]]],
) -> StateLeaf | None:
    """The leaf of a relaxation in floats; None where it proves nothing.

    ranges: by case and point the weights, by decided point, of the vectors that -x_i.u and x_i.u are at most the
    product of u with.
    """
    problem = geometry.problem
    largest = float(np.abs(found.multipliers).max(initial=0.0)) or 1.0
    unit = Fraction(2) ** (math.frexp(largest)[1] - BITS)
    multipliers = {i: round(Fraction(float(value)) / unit) * unit for i, value in enumerate(found.multipliers)}
    multipliers = with_bounded_sums(geometry, cases, multipliers)
    decided = {i for _, cone, _ in cases for i, side in enumerate(cone) if side}
    listed = {i: value for i, value in multipliers.items() if value or i in decided or geometry.free is not None}
    trees: list[tuple[Bound, ...]] = []
    squares: list[Fraction] = []
    denominator = denominator_over(problem, listed, unit)
    for q, case in enumerate(cases):
        norms = NormBounds(geometry, case, listed)
        written = rounded_tree(norms, case, listed, found.slopes[q], denominator, ranges.get(q, {}))
        if written is None:
            return None
        trees.append((written[0],))
        squares.append(written[1])
    node = HiddenDual(tuple(sorted(listed.items())), tuple(squares), denominator, tuple(trees))
    return accepted(problem, node, cases)


def zero_leaf(cases: Mapping[Case, Fraction]) -> StateLeaf:
    """The leaf that proves no more than that an objective is at least 0."""
    trees = ((Bound(()),),) * len(cases)
    return StateLeaf(HiddenDual((), (Fraction(0),) * len(cases), 1, trees), Fraction(0))


def unfitted_leaf(problem: Problem) -> StateLeaf:
    """The leaf that proves that f = 0 does not fit, by the target that is farthest from 0."""
    targets = problem.targets
    i = max(range(len(targets)), key=lambda i: abs(targets[i]))
    multiplier = Fraction(1 if has_margin(problem.goal) or targets[i] > 0 else -1)
    return StateLeaf(Nothing(((i, multiplier),), 1, ()), None)


def celled_leaf(geometry: Geometry, cases: Mapping[Case, Fraction], cells: ByCells | None) -> StateLeaf | None:
    """The leaf of a relaxation whose cases are cut into cells; None where it proves nothing, or there is none."""
    if cells is None:
        return None
    problem, found = geometry.problem, cells.found
    largest = float(np.abs(found.multipliers).max(initial=0.0)) or 1.0
    unit = Fraction(2) ** (math.frexp(largest)[1] - BITS)
    multipliers = {i: round(Fraction(float(value)) / unit) * unit for i, value in enumerate(found.multipliers)}
    multipliers = with_bounded_sums(geometry, cases, multipliers)
    named = {i for _, cone, _ in cases for i, side in enumerate(cone) if side}
    named |= {node for tree in cells.trees for node in tree if isinstance(node, int)}
    listed = {i: value for i, value in multipliers.items() if value or i in named or geometry.free is not None}
    denominator = denominator_over(problem, listed, unit)
    slopes = iter(found.slopes)
    trees: list[tuple[int | Bound, ...]] = []
    squares: list[Fraction] = []
    for case, tree in zip(cases, cells.trees, strict=True):
        norms = NormBounds(geometry, case, listed)
        nodes: list[int | Bound] = []
        square = Fraction(0)
        for node in tree:
            if isinstance(node, int):
                nodes.append(node)
                continue
            part = case[0], tuple(node.floats.cone.tolist()), case[2]
            written = rounded_tree(norms, part, listed, next(slopes), denominator, node.terms)
            if written is None:
                return None
            nodes.append(written[0])
            square = max(square, written[1])
        trees.append(tuple(nodes))
        squares.append(square)
    leaf = HiddenDual(tuple(sorted(listed.items())), tuple(squares), denominator, tuple(trees))
    return accepted(problem, leaf, cases)


def denominator_over(problem: Problem, listed: Mapping[int, Fraction], unit: Fraction) -> int:
    """A denominator over which (1 - a) c_i is whole, with bits enough for slopes of the size of the multipliers."""
    slope = problem.architecture.slope
    whole = [((1 - slope) * value).denominator for value in listed.values()]
    base = math.lcm(*whole, slope.denominator)
    wanted = max(math.ceil(1 / unit), 1)
    return base if base >= wanted else base * 2 ** math.ceil(math.log2(wanted) - math.log2(base))


def rounded_tree(
    norms: NormBounds,
    case: Case,
    listed: Mapping[int, Fraction],
    slopes: Floats,
    denominator: int,
    ranges: Mapping[int, Sequence[Mapping[int, float]]],
) -> tuple[Bound, Fraction] | None:
    """One leaf for a case, or a cell of the one of the norms, with its square."""
    problem, (_, cone, sign) = norms.geometry.problem, case
    excess = excesses(problem, case, listed)
    largest = max(map(abs, listed.values()), default=Fraction(0))
    taken: dict[int, Fraction] = {}
    for i, e in excess.items():
        side, t = cone[i], Fraction(round(Fraction(float(slopes[i])) * denominator), denominator)
        if abs(t - e) <= abs(e) / 2**30 or (norms.reach is None and abs(t - e) <= AT_END * largest):
            t = e
        elif norms.reach is None and abs(t) <= AT_END * largest:
            t = Fraction(0)
        taken[i] = _allowed(t, e, side)
    if norms.has_bias and not _without_bias(norms.geometry, case, listed, excess, taken) and norms.reach is None:
        return None
    slope, c = problem.architecture.slope, factors(problem)
    listed_ranges: list[Range] = []
    rest = Fraction(0)
    for i, e in excess.items():
        if cone[i] == 0 and e > 0:
            if norms.reach is None:
                return None
            left, right, more = _ranges(norms, cone, i, ranges.get(i), denominator)
            listed_ranges += more
            rest += max(taken[i] * left, (e - taken[i]) * right)
    square, along = norms.parts({i: slope * sign * listed[i] * c[i] + taken[i] for i in listed})
    rest += along
    if rest:
        root = sqrt_upper(square) + rest
        square = root * root
    shown = shown_slopes(slope_written(t, excess[i], denominator) for i, t in sorted(taken.items()))
    if len(shown) < len(taken):
        return None
    short = ceil_dyadic(square, BITS) if square and square.denominator.bit_length() > BITS else square
    return Bound(shown, tuple(sorted(listed_ranges))), short


def shown_slopes(written: Iterable[int | Literal["e"] | None]) -> tuple[int | Literal["e"], ...]:
    """The slopes, where all are written; the checker refuses fewer of them."""
    return tuple(slope for slope in written if slope is not None)


def slope_written(t: Fraction, e: Fraction, denominator: int) -> int | Literal["e"] | None:
    """A slope over the denominator; None where it is not a whole number of parts."""
    if t == e and t:
        return "e"
    scaled = t * denominator
    return int(scaled) if scaled.denominator == 1 else None


def _ranges(
    norms: NormBounds,
    cone: Sequence[int],
    point: int,
    terms: Sequence[Mapping[int, float]] | None,
    denominator: int,
) -> tuple[Fraction, Fraction, list[Range]]:
    """l and r of a point, and what is listed of them."""
    found: list[Fraction] = []
    listed: list[Range] = []
    for side, end, weights in zip((-1, 1), "-+", terms or ({}, {}), strict=True):
        whole = {k: round(m * denominator) for k, m in weights.items() if m > 0}
        whole = {k: m for k, m in sorted(whole.items()) if m > 0}
        if not whole:
            found.append(norms.size(point))
            continue
        vector = {k: Fraction(m, denominator) * cone[k] for k, m in whole.items()}
        vector[point] = vector.get(point, Fraction(0)) + side
        square, along = norms.parts(vector)
        bound = math.ceil((sqrt_upper(square) + along) * denominator)
        found.append(Fraction(bound, denominator))
        listed.append((point, "-" if end == "-" else "+", bound, tuple(whole.items())))
    return found[0], found[1], listed


def _without_bias(
    geometry: Geometry,
    case: Case,
    listed: Mapping[int, Fraction],
    excess: Mapping[int, Fraction],
    taken: dict[int, Fraction],
) -> bool:
    """Whether p has no part along the free bias, after what rounding left of it was taken from one slope."""
    problem, (_, cone, sign) = geometry.problem, case
    slope, c = problem.architecture.slope, factors(problem)

    def part() -> Fraction:
        return sum(((slope * sign * listed[i] * c[i] + taken[i]) * geometry.bias_entry(i) for i in listed), Fraction(0))

    left = part()
    for i in sorted(listed, key=lambda i: -abs(taken[i])):
        if not left:
            return True
        if not geometry.bias_entry(i):
            continue
        t, e, side = taken[i] - left / geometry.bias_entry(i), excess[i], cone[i]
        is_allowed = t >= e if side > 0 else t <= 0 if side < 0 else min(e, 0) <= t <= max(e, 0)
        if is_allowed:
            taken[i] = t
            left = part()
    return not left


def accepted(problem: Problem, node: HiddenDual | Nothing, cases: Mapping[Case, Fraction]) -> StateLeaf | None:
    """The leaf, when the checker's rule accepts it."""
    try:
        if isinstance(node, Nothing):
            node.exclude(problem, list(cases))
            return StateLeaf(node, None)
        return StateLeaf(node, node.value(problem, cases))
    except CertificateError:
        return None


def exact_leaf(
    problem: Problem,
    cases: Mapping[Case, Fraction],
    multipliers: Mapping[int, Fraction],
    slopes: Sequence[Mapping[int, Fraction]],
    squares: Sequence[Fraction],
) -> StateLeaf | None:
    """The leaf of exact multipliers and slopes; points that are undecided and on with e_i > 0 are taken together."""
    decided = {i for _, cone, _ in cases for i, side in enumerate(cone) if side}
    used = {i for found in slopes for i, t in found.items() if t}
    listed = {i: multipliers.get(i, Fraction(0)) for i in sorted({*multipliers, *decided, *used})}
    all_slopes = [Fraction(1), *(t for found in slopes for t in found.values())]
    denominator = math.lcm(*(t.denominator for t in all_slopes))
    trees: list[tuple[Bound, ...]] = []
    for case, found in zip(cases, slopes, strict=True):
        _, cone, _ = case
        excess = excesses(problem, case, listed)
        shown = shown_slopes(slope_written(found.get(i, Fraction(0)), excess[i], denominator) for i in listed)
        together = tuple(i for i in listed if cone[i] == 0 and excess[i] > 0 and found.get(i) == excess[i])
        trees.append((Together(shown, together=together) if together else Bound(shown),))
    node = HiddenDual(tuple(listed.items()), tuple(squares), denominator, tuple(trees))
    return accepted(problem, node, cases)


def shortened_leaf(
    geometry: Geometry,
    cases: Mapping[Case, Fraction],
    multipliers: Mapping[int, Fraction],
    slopes: Sequence[Mapping[int, Fraction]],
    bits: int,
) -> StateLeaf | None:
    """The leaf of exact multipliers and slopes, all of them rounded to so many bits of the largest one."""
    problem, largest = geometry.problem, max(map(abs, multipliers.values()), default=Fraction(0))
    if not largest:
        return None
    unit = Fraction(2) ** (largest.numerator.bit_length() - largest.denominator.bit_length() - bits)
    found = {i: round(value / unit) * unit for i, value in multipliers.items()}
    found = with_bounded_sums(geometry, cases, found)
    taken: list[dict[int, Fraction]] = []
    squares: list[Fraction] = []
    slope, c = problem.architecture.slope, factors(problem)
    for case, before in zip(cases, slopes, strict=True):
        mask, cone, sign = case
        exact, excess = excesses(problem, case, multipliers), excesses(problem, case, found)
        own = {
            i: excess[i] if i in exact and t == exact[i] else _allowed(round(t / unit) * unit, excess.get(i), cone[i])
            for i, t in before.items()
        }
        if geometry.sees_free(mask):
            listed = {i: found.get(i, Fraction(0)) for i in {*found, *own}}
            own = {i: own.get(i, Fraction(0)) for i in listed}
            if not _without_bias(geometry, case, listed, excesses(problem, case, listed), own):
                return None
        taken.append(own)
        shares = {i: slope * sign * found.get(i, Fraction(0)) * c[i] + own.get(i, Fraction(0)) for i in {*found, *own}}
        square = geometry.squared_norm(mask, shares)
        squares.append(ceil_dyadic(square, bits) if square else square)
    return exact_leaf(problem, cases, found, taken, squares)


def _allowed(t: Fraction, e: Fraction | None, side: int) -> Fraction:
    """The slope nearest to t that a side allows."""
    e = e or Fraction(0)
    if side:
        return max(t, e) if side > 0 else min(t, Fraction(0))
    return min(max(t, min(e, Fraction(0))), max(e, Fraction(0)))
