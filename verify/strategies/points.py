"""Data sets with labels +-1, by what is special about them."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from verify.problem.members import has_margin
from verify.problem.problem import Dataset, Goal
from verify.strategies.numbers import (
    combination,
    labels,
    negative,
    nonzero,
    orthonormal,
    positive_rationals,
    rationals,
    shifted,
    times,
    unit_vectors,
    vectors,
)


@st.composite
def separable(draw: DrawFn, dimension: int | None = None) -> Dataset:
    """Linearly separable data, n <= 6: x_i = y_i g_i w + p_i with |w| = 1, g_i >= 1, p_i orthogonal to w.

    Margin at least 1 in the direction w. Shrinks to one point at (1, 0, ..).
    """
    d = draw(st.integers(1, 3)) if dimension is None else dimension
    w = draw(unit_vectors(d))
    labels = draw(st.lists(st.sampled_from([1, -1]), min_size=1, max_size=6))
    rows = [shifted(w, y * (1 + draw(positive_rationals())), draw(vectors(d))) for y in labels]
    return Dataset(rows, labels)


@st.composite
def symmetric(draw: DrawFn) -> Dataset:
    """Separable data x_1, .., x_m labelled 1 and then -x_1, .., -x_m labelled -1. Shrinks to one pair.

    Source: arXiv:2110.13905, Assumption 4.1.
    """
    data = draw(separable())
    half = [times(label, row) for label, row in zip(data.targets, data.inputs, strict=True)]
    return Dataset([*half, *map(negative, half)], [1] * len(half) + [-1] * len(half))


@st.composite
def orthogonal(draw: DrawFn) -> Dataset:
    """At most d <= 4 pairwise orthogonal nonzero points with labels. Shrinks to one point on an axis."""
    d = draw(st.integers(1, 4))
    count = draw(st.integers(1, d))
    basis = draw(orthonormal(d))[:count]
    rows = [times(draw(positive_rationals()), row) for row in basis]
    return Dataset(rows, draw(labels(count)))


@st.composite
def nearly_orthogonal(draw: DrawFn) -> Dataset:
    """Orthogonal data of equal lengths moved by at most 1/(16 n d) of it in every coordinate.

    So |x_i.x_j| <= |x_i|^2 / (4 n) for i != j. Shrinks to orthogonal data.
    """
    d = draw(st.integers(2, 4))
    count = draw(st.integers(1, d))
    length = draw(positive_rationals())
    step = Fraction(1, 16 * count * d)
    rows = [times(length, [value + step * draw(rationals(1)) for value in row]) for row in draw(orthonormal(d))[:count]]
    return Dataset(rows, draw(labels(count)))


@st.composite
def collinear(draw: DrawFn) -> Dataset:
    """Points t_i r on one line through 0, labelled by the sign of t_i: fits for every slope. Shrinks to one point."""
    direction = draw(st.integers(1, 3).flatmap(unit_vectors))
    factors = draw(st.lists(nonzero(), min_size=1, max_size=5))
    return Dataset([times(t, direction) for t in factors], [1 if t > 0 else -1 for t in factors])


@st.composite
def duplicated(draw: DrawFn, base: SearchStrategy[Dataset] | None = None) -> Dataset:
    """The data of `base` (default: separable) with some points repeated. Shrinks to the first point twice."""
    data = draw(separable() if base is None else base)
    again = draw(st.lists(st.integers(0, len(data) - 1), min_size=1, max_size=3))
    return Dataset([*data.inputs, *(data.inputs[i] for i in again)], [*data.targets, *(data.targets[i] for i in again)])


@st.composite
def scaled(draw: DrawFn, base: SearchStrategy[Dataset] | None = None) -> Dataset:
    """The data of `base` (default: separable) times 10^k, -6 <= k <= 6. Shrinks to k = 0."""
    data = draw(separable() if base is None else base)
    scale = Fraction(10) ** draw(st.integers(-6, 6))
    return Dataset([times(scale, row) for row in data.inputs], data.targets)


@st.composite
def contradictory(draw: DrawFn, base: SearchStrategy[Dataset] | None = None) -> Dataset:
    """Data with a point of `base` (default: separable) again on the same ray, with the opposite label.

    No bias-free network of any width or slope fits. Shrinks to one point with both labels.
    """
    data = draw(separable() if base is None else base)
    point = draw(st.integers(0, len(data) - 1))
    again = times(draw(positive_rationals()), data.inputs[point])
    return Dataset([*data.inputs, again], [*data.targets, -data.targets[point]])


@st.composite
def odd(draw: DrawFn) -> Dataset:
    """Points r_1, .., r_m labelled 1 with sum c_k r_k = 0, all c_k > 0, and their antipodes labelled -1.

    The odd part of a bias-free network is linear, so that none fits, whatever the slope, though no two points
    contradict each other unless they coincide. Shrinks to r = (0), labelled both ways.
    """
    d = draw(st.integers(1, 3))
    rows = draw(st.lists(vectors(d), min_size=1, max_size=3))
    weights = [draw(positive_rationals()) for _ in rows]
    last = negative(combination(weights, rows))
    half = [*rows, last]
    return Dataset([*half, *map(negative, half)], [1] * len(half) + [-1] * len(half))


@st.composite
def labelled(draw: DrawFn, goal: Goal) -> Dataset:
    """Any small points, n <= 6, d <= 3, with any targets that suit the goal: often not feasible. Shrinks to one 0."""
    d = draw(st.integers(1, 3))
    rows = draw(st.lists(vectors(d), min_size=1, max_size=6))
    targets = draw(labels(len(rows)) if has_margin(goal) else vectors(len(rows)))
    return Dataset(rows, targets)


def datasets() -> SearchStrategy[Dataset]:
    """One of all kinds of data with labels +-1. Shrinks to separable data."""
    return st.one_of(
        separable(), symmetric(), orthogonal(), nearly_orthogonal(), collinear(), duplicated(), scaled(),
        labelled(Goal.MAX_MARGIN), odd(), contradictory(),
    )  # fmt: skip
