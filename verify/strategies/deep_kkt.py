"""KKT points of networks of any depth and with shared weights: linear, diagonal, and convolutions of two patches."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from math import prod

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from verify.checker.exact import dot
from verify.problem.network import Architecture, Layer, Network
from verify.problem.problem import Bias, Dataset, Goal, Problem
from verify.strategies.kkt import KKTPoint
from verify.strategies.linear_kkt import margin_points
from verify.strategies.numbers import Vector, nonzero, positive_rationals, rationals, times, unit_vectors

__all__ = ["deep_diagonals", "deep_linear_kkt_points", "deep_linear_starts", "singular_convolutions"]

_LEAST = 4
"""y f(x) of `deep_linear_starts` at least."""


@st.composite
def deep_linear_kkt_points(draw: DrawFn) -> KKTPoint:
    """Fully connected linear max-margin networks of depth 3 to 5, up to 3 units in a layer.

    W_1 = t a_1 g', W_l = t a_l a_(l-1)', v = t a_(m-1), all of these unit vectors: f(x) = t^m g.x, and sum_i lambda_i
    y_i x_i = t^(2-m) g makes it a KKT point. Shrinks to weights 1 on one point.
    """
    m, t = draw(st.integers(3, 5)), draw(positive_rationals(2))
    units = [draw(unit_vectors(draw(st.integers(1, 3)))) for _ in range(m)]
    g, *hidden = units
    points, weights = margin_points(draw, g, g)
    targets = draw(st.lists(st.sampled_from([1, -1]), min_size=len(points), max_size=len(points)))
    inputs = [times(y, row) for y, row in zip(targets, points, strict=True)]
    layers = [[t * b * a for b in after for a in before] for before, after in zip(units, hidden, strict=False)]
    shape = _dense([*map(len, units), 1])
    data = Dataset(inputs, targets)
    problem = Problem(data, shape, goal=Goal.MAX_MARGIN, bias=Bias.NONE)
    multipliers = tuple(weight * t ** (2 - m) for weight in weights)
    return KKTPoint(problem, Network(shape, [*layers, times(t, hidden[-1])]), multipliers, ())


@st.composite
def deep_linear_starts(draw: DrawFn) -> tuple[Problem, Network]:
    """A fully connected linear network of depth 3 or 4 that classifies every point with a margin of at least 4.

    Up to 3 units in a layer and up to 4 points, labelled by the network. Shrinks to one unit in each layer.
    """
    m = draw(st.integers(3, 4))
    shape = _dense([*(draw(st.integers(1, 3)) for _ in range(m)), 1])
    layers = [[draw(rationals(2)) for _ in range(layer.parameter_count)] for layer in shape.layers]
    points = st.tuples(nonzero(), *[rationals()] * (shape.inputs - 1))
    rows = draw(st.lists(points, min_size=2, max_size=4, unique=True))
    if not any(map(Network(shape, layers), rows)):  # the network is 0 there: one that is not, and a point for it
        layers, rows = [[1 + abs(w) for w in row] for row in layers], [(Fraction(1),) * shape.inputs, *rows[1:]]
    network = Network(shape, layers)
    kept = [(row, value) for row in rows if (value := network(row))]
    least = min(abs(value) for _, value in kept)
    factor = 1
    while factor**m * least < _LEAST:
        factor += 1
    data = Dataset([row for row, _ in kept], [1 if value > 0 else -1 for _, value in kept])
    problem = Problem(data, shape, goal=Goal.MAX_MARGIN, bias=Bias.NONE)
    return problem, Network(shape, [times(factor, row) for row in layers])


@st.composite
def deep_diagonals(draw: DrawFn, *, slopes: Sequence[int] = (1, 0)) -> KKTPoint:
    """A diagonal network of depth 3 to 6, linear or ReLU, on one point: two or three coordinates, all of them live.

    Coordinate c has weights +-r_c in every layer and |x_c| = r_c^(2-m), so that lambda = 1. Shrinks to depth 3 and
    weights 1 on the point (1, 1).
    """
    m, slope = draw(st.integers(3, 6)), draw(st.sampled_from(slopes))
    d, y = draw(st.integers(2, 3)), draw(st.sampled_from([1, -1]))
    sizes = [draw(positive_rationals(2)) for _ in range(d)]
    signs = [[draw(st.sampled_from([1, -1])) for _ in range(d)] for _ in range(m)]
    if not slope:  # what is off gives nothing: the layers between have weights > 0, and the last one the sign of y
        signs = [signs[0], *[[1] * d] * (m - 2), [y] * d]
    layers = [[s * r for s, r in zip(row, sizes, strict=True)] for row in signs]
    whole = [prod(column) for column in zip(*signs, strict=True)]
    x = [y * s * r ** (2 - m) for s, r in zip(whole, sizes, strict=True)]
    shape = diagonal_shape(d, m, slope)
    problem = Problem(Dataset([x], [y]), shape, goal=Goal.MAX_MARGIN, bias=Bias.NONE)
    return KKTPoint(problem, Network(shape, layers), (Fraction(1),), ())


@st.composite
def singular_convolutions(draw: DrawFn, *, slopes: Sequence[int] = (1, 0)) -> KKTPoint:
    """A convolution of depth 2 with one filter on two patches, linear or ReLU, one output weight for each; one point.

    The patches are the rows of X = s u w' + S p q', with orthonormal u, p and w, q, and 0 < s < S: r w and r u are
    singular vectors of the smaller value, and lambda = 1/s. Both patches give something other than 0. Shrinks to
    s = 1, S = 2.
    """
    slope, k = draw(st.sampled_from(slopes)), draw(st.integers(2, 3))
    u, w = _positive(draw), draw(unit_vectors(k))
    p, q = (-u[1], u[0]), _orthogonal_to(w)
    s, r = draw(positive_rationals(2)), draw(positive_rationals(2))
    larger = s + draw(positive_rationals())
    signs = (1, 1) if not slope else draw(st.tuples(*[st.sampled_from([1, -1])] * 2))
    y = draw(st.sampled_from([1, -1]))
    patches = [
        [sign * (s * a * b + larger * c * z) for b, z in zip(w, q, strict=True)]
        for sign, a, c in zip(signs, u, p, strict=True)
    ]
    shape = convolution_shape(k, 2, slope)
    outgoing = [y * r * sign * a for sign, a in zip(signs, u, strict=True)]
    problem = Problem(Dataset([[*patches[0], *patches[1]]], [y]), shape, goal=Goal.MAX_MARGIN, bias=Bias.NONE)
    return KKTPoint(problem, Network(shape, [times(r, w), outgoing]), (1 / s,), ())


def diagonal_shape(dimension: int, depth: int, slope: object) -> Architecture:
    """Each hidden unit reads the one before it."""
    entries = [[c if c == j else None for c in range(dimension)] for j in range(dimension)]
    hidden = [Layer(inputs=dimension, outputs=dimension, slope=slope, entries=entries) for _ in range(depth - 1)]
    return Architecture([*hidden, Layer(inputs=dimension, outputs=1, slope=None)])


def convolution_shape(size: int, patches: int, slope: object) -> Architecture:
    """One filter on patches beside each other, and an output weight for each."""
    entries = [
        [c - p * size if p * size <= c < (p + 1) * size else None for c in range(patches * size)]
        for p in range(patches)
    ]
    first = Layer(inputs=patches * size, outputs=patches, slope=slope, entries=entries)
    return Architecture([first, Layer(inputs=patches, outputs=1, slope=None)])


def _dense(sizes: Sequence[int]) -> Architecture:
    last = len(sizes) - 2
    pairs = enumerate(pairwise(sizes))
    return Architecture(Layer(inputs=a, outputs=b, slope=None if l == last else 1) for l, (a, b) in pairs)


def _positive(draw: DrawFn) -> Vector:
    """A unit vector in the plane of numbers > 0."""
    t = draw(st.sampled_from([Fraction(1, 2), Fraction(1, 3), Fraction(2, 3), Fraction(1, 4), Fraction(3, 4)]))
    return (1 - t * t) / (1 + t * t), 2 * t / (1 + t * t)


def _orthogonal_to(unit: Vector) -> Vector:
    """A unit vector orthogonal to this one: the image of e_2 under the reflection that exchanges it with e_1."""
    n = [z - (c == 0) for c, z in enumerate(unit)]
    square = dot(n, n)
    return tuple(Fraction(c == 1) - (2 * n[1] * z / square if square else 0) for c, z in enumerate(n))
