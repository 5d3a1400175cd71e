"""Linearly separable data whose max-margin direction and margin are known by construction."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from verify.problem.network import Network
from verify.problem.problem import Bias, Dataset, Goal, Problem
from verify.strategies.kkt import KKTPoint
from verify.strategies.numbers import (
    Vector,
    combination,
    labels,
    negative,
    orthonormal,
    positive_rationals,
    rationals,
    shifted,
    slopes,
    times,
    vectors,
)
from verify.strategies.pairs import split_sizes

__all__ = [
    "Hinted",
    "KnownMargin",
    "hinted",
    "hinted_data",
    "known_margins",
    "linear_networks",
    "orthogonally_separable",
]


class KnownMargin(NamedTuple):
    """Data with the unit vector w* of largest margin min_i y_i w*.x_i, that margin, and a basis orthogonal to w*."""

    data: Dataset
    direction: Vector
    margin: Fraction
    across: tuple[Vector, ...]


@st.composite
def known_margins(draw: DrawFn, *, symmetric: bool = False, least_dimension: int = 1) -> KnownMargin:
    """y_i x_i = g w +- p_i, and points beyond, y_i x_i = (1 + t) g w + p_i, with p_i orthogonal to w, |w| = 1.

    The support points have the mean g w, so w is the max-margin direction, and g the margin.
    symmetric: with each point its antipode, labelled oppositely, in the order of arXiv:2110.13905, Assumption 4.1.
    Shrinks to one point (and its antipode) on an axis.
    """
    d = draw(st.integers(least_dimension, 3))
    w, *basis = draw(orthonormal(d))
    g = draw(positive_rationals())
    half: list[Vector] = []
    for _ in range(draw(st.integers(1, 2))):
        p = _offset(draw, basis, d)
        half += [combination([g, Fraction(s)], [w, p]) for s in ((1, -1) if any(p) else (1,))]
    for _ in range(draw(st.integers(0, 1))):
        half.append(combination([g * (1 + draw(positive_rationals())), Fraction(1)], [w, _offset(draw, basis, d)]))
    if symmetric:
        data = Dataset([*half, *map(negative, half)], [1] * len(half) + [-1] * len(half))
    else:
        targets = draw(labels(len(half)))
        data = Dataset([times(y, row) for y, row in zip(targets, half, strict=True)], targets)
    return KnownMargin(data, w, g, tuple(basis))


def _offset(draw: DrawFn, basis: list[Vector], d: int) -> Vector:
    if not basis:
        return (Fraction(0),) * d
    return combination(draw(vectors(len(basis), 2)), basis)


@st.composite
def linear_networks(draw: DrawFn, *, optimal: bool = False) -> KKTPoint:
    """Symmetric data, and neurons along w (output +) and -w (output -): f is linear where both sides weigh the same.

    In half of the draws, or if `optimal` always, they do, which is the global optimum of arXiv:2110.13905, Theorem 4.2;
    otherwise one side is heavier. Any slope in [0, 1]. multipliers: those of the optimum. Shrinks to two neurons on two
    points, slope 0.
    """
    known = draw(known_margins(symmetric=True))
    slope = draw(slopes())
    sides = [draw(split_sizes(1, 3)) for _ in range(2)]
    factor = Fraction(1) if optimal or draw(st.booleans()) else 1 + draw(positive_rationals(1))
    r = draw(positive_rationals(2))
    first, second = ([r * size for size in sides[0]], [r * factor * size for size in sides[1]])
    hidden = [*(times(size, known.direction) for size in first), *(times(-size, known.direction) for size in second)]
    network = Network.two_layer(hidden, [*first, *(-size for size in second)], slope=slope)
    problem = Problem(known.data, network.architecture, goal=Goal.MAX_MARGIN, bias=Bias.NONE)
    return KKTPoint(problem, network, (), ())


class Hinted(NamedTuple):
    """Data with hints, the slope of the activation that they are for, the unit vector w*, and e."""

    data: Dataset
    slope: Fraction
    direction: Vector
    height: Fraction


@st.composite
def hinted_data(draw: DrawFn, *, far: bool | None = None, first: bool = True) -> Hinted:
    """(H, K, e, w_)-hinted data: separable data with the points H w, e w + K w_, e w - K w_ of label 1 before them.

    e is less than the leaky margin a g of the separable points, K/e > (3 + a)/(1 - a), H > g; w_ is orthogonal to
    w = w*. far: a H e >= 2 K (K + sum |p_i|), p_i the parts of the separable points orthogonal to w, in the 1-norm;
    False: H is 2 g. first: with the point H w, else without.

    Source: arXiv:2110.13905, Definition 6.1; what is large enough is ours.
    """
    known = draw(known_margins(least_dimension=2))
    slope = draw(slopes(linear=False).map(lambda a: a or Fraction(2, 3)))
    across = draw(st.sampled_from(known.across))
    e = slope * known.margin / draw(st.integers(2, 8))
    reach = e * ((3 + slope) / (1 - slope) + draw(positive_rationals()))
    height = known.margin * (1 + draw(positive_rationals())) + abs(draw(rationals(1)))
    if far is not None:
        height = 2 * known.margin
    if far:
        spread = sum((abs(value) for p in _across(known) for value in p), Fraction(0))
        height = max(height, 2 * reach * (reach + spread) / (slope * e))
    hints = [
        times(height, known.direction),
        combination([e, reach], [known.direction, across]),
        combination([e, -reach], [known.direction, across]),
    ][0 if first else 1 :]
    data = Dataset([*hints, *known.data.inputs], [*[1] * len(hints), *known.data.targets])
    return Hinted(data, slope, known.direction, e)


def _across(known: KnownMargin) -> list[Vector]:
    """The parts of the points that are orthogonal to w."""
    return [shifted(known.direction, Fraction(0), row) for row in known.data.inputs]


@st.composite
def hinted(draw: DrawFn, *, first: bool = True) -> KKTPoint:
    """`hinted_data` with 1 to 4 leaky neurons along w, a KKT point. Shrinks to one neuron."""
    data, slope, w, e = draw(hinted_data(first=first))
    sizes = draw(split_sizes())
    network = Network.two_layer([times(r, w) for r in sizes], sizes, slope=slope)
    problem = Problem(data, network.architecture, goal=Goal.MAX_MARGIN, bias=Bias.NONE)
    multipliers = [1 / (2 * e)] * 2 + [Fraction(0)] * (len(data) - 2 - first)
    return KKTPoint(problem, network, (*[Fraction(0)] * first, *multipliers), ())


@st.composite
def orthogonally_separable(draw: DrawFn) -> Dataset:
    """Points of one label at angles of at most 90 degrees, of different labels at least 90: in opposite orthants.

    x_i.x_j >= 0 for equal labels, <= 0 for others. Shrinks to one point on an axis.
    """
    d = draw(st.integers(1, 3))
    basis = draw(orthonormal(d))
    targets = draw(labels(draw(st.integers(1, 4))))
    rows: list[Vector] = []
    for y in targets:
        weights = [abs(value) for value in draw(vectors(d))]
        weights[draw(st.integers(0, d - 1))] += 1
        rows.append(combination([y * value for value in weights], basis))
    return Dataset(rows, targets)
