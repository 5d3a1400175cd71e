"""KKT points of linear networks with masks: g = sum_i lambda_i y_i x_i has length 1 on the mask of every neuron."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from verify.checker.exact import dot
from verify.problem.network import Network
from verify.problem.problem import Bias, Dataset, Goal, Problem
from verify.strategies.kkt import KKTPoint
from verify.strategies.numbers import combination, positive_rationals, rationals, times, unit_vectors, vectors

__all__ = ["linear_kkt_points", "margin_points", "unequal_diagonals"]

_SHARES = (Fraction(3, 5), Fraction(4, 5), Fraction(3, 5))  # of three blocks under two overlapping masks


@st.composite
def linear_kkt_points(draw: DrawFn, *, diagonal: bool = False) -> KKTPoint:
    """Linear max-margin networks without zero neurons, each neuron with a mask of its own; some masks overlap.

    diagonal: neuron j sees coordinate j only. Every point y_i x_i = g / sum(lambda) + p_i, with p_i orthogonal to the
    predictor and sum lambda_i p_i = 0, or beyond the margin with lambda_i = 0.
    Shrinks to one neuron of weight 1 on one point.
    """
    masks, g = _diagonal(draw) if diagonal else _masks(draw)
    neurons = [(j, draw(st.sampled_from([1, -1])), draw(positive_rationals(2))) for j in range(len(masks))]
    if not diagonal:
        again = draw(st.lists(st.integers(0, len(masks) - 1), max_size=1))
        neurons += [(j, draw(st.sampled_from([1, -1])), draw(positive_rationals(2))) for j in again]
    seen = [tuple(value if c in mask else Fraction(0) for c, value in enumerate(g)) for mask in masks]
    predictor = combination([r * r for _, _, r in neurons], [seen[j] for j, _, _ in neurons])
    points, multipliers = margin_points(draw, g, predictor)
    targets = draw(st.lists(st.sampled_from([1, -1]), min_size=len(points), max_size=len(points)))
    inputs = [times(y, row) for y, row in zip(targets, points, strict=True)]
    network = Network.two_layer(
        [times(s * r, seen[j]) for j, s, r in neurons],
        [s * r for _, s, r in neurons],
        slope=1,
        masks=[masks[j] for j, _, _ in neurons],
    )
    data = Dataset(inputs, targets)
    problem = Problem(data, network.architecture, goal=Goal.MAX_MARGIN, bias=Bias.NONE)
    return KKTPoint(problem, network, tuple(multipliers), ())


def _diagonal(draw: DrawFn) -> tuple[list[tuple[int, ...]], tuple[Fraction, ...]]:
    d = draw(st.integers(1, 4))
    return [(c,) for c in range(d)], tuple(Fraction(draw(st.sampled_from([1, -1]))) for _ in range(d))


def _masks(draw: DrawFn) -> tuple[list[tuple[int, ...]], tuple[Fraction, ...]]:
    """One or two groups of coordinates, each with one mask, or with two masks that overlap."""
    masks: list[tuple[int, ...]] = []
    g: list[Fraction] = []
    for _ in range(draw(st.integers(1, 2))):
        if draw(st.booleans()):
            blocks = [_block(draw, g, share) for share in _SHARES]
            masks += [(*blocks[0], *blocks[1]), (*blocks[1], *blocks[2])]
        else:
            masks.append(_block(draw, g, Fraction(1)))
    return masks, tuple(g)


def _block(draw: DrawFn, g: list[Fraction], length: Fraction) -> tuple[int, ...]:
    """One or two more coordinates of g, of the given length."""
    start = len(g)
    g += times(length, draw(unit_vectors(draw(st.integers(1, 2)))))
    return tuple(range(start, len(g)))


def margin_points(
    draw: DrawFn, g: Sequence[Fraction], predictor: Sequence[Fraction]
) -> tuple[list[tuple[Fraction, ...]], list[Fraction]]:
    """y_i x_i and lambda_i, sum lambda_i y_i x_i = g: on the margin where lambda_i > 0, else beyond it."""
    square = dot(predictor, predictor)
    shifts: list[tuple[Fraction, ...]] = []
    weights: list[Fraction] = []
    for _ in range(draw(st.integers(1, 2))):
        weight = draw(positive_rationals(2))
        if draw(st.booleans()):
            p = _orthogonal(draw, predictor, square)
            shifts += [p, times(-1, p)]
            weights += [weight, weight]
        else:
            shifts.append((Fraction(0),) * len(g))
            weights.append(weight)
    centre = times(1 / sum(weights, Fraction(0)), g)
    points = [combination([Fraction(1), Fraction(1)], [centre, p]) for p in shifts]
    for _ in range(draw(st.integers(0, 1))):
        beyond = times(1 + abs(draw(rationals(2))), centre)
        points.append(combination([Fraction(1), Fraction(1)], [beyond, _orthogonal(draw, predictor, square)]))
        weights.append(Fraction(0))
    return points, weights


def _orthogonal(draw: DrawFn, predictor: Sequence[Fraction], square: Fraction) -> tuple[Fraction, ...]:
    r = draw(vectors(len(predictor), 2))
    return combination([Fraction(1), -dot(r, predictor) / square], [r, tuple(predictor)])


@st.composite
def unequal_diagonals(draw: DrawFn, *, slopes: Sequence[int] = (1, 0), larger: bool = False) -> KKTPoint:
    """A diagonal network, linear or ReLU, on one point: one live neuron, and a larger coordinate that none uses.

    larger: the live neuron is on the largest coordinate instead. Shrinks to the point (1, 2) with the weight on its
    first coordinate.
    """
    d = draw(st.integers(2, 4))
    slope = draw(st.sampled_from(list(slopes)))
    live = draw(st.integers(0, d - 1))
    x = [draw(rationals(2)) for _ in range(d)]
    x[live] = draw(positive_rationals())
    other = draw(st.sampled_from([c for c in range(d) if c != live]))
    x[other] = x[live] + draw(positive_rationals())
    if larger:
        x[live] = sum(map(abs, x), Fraction(0))
    sign, r = draw(st.sampled_from([1, -1])), draw(positive_rationals(2))
    rows = [[r * (j == c == live) for c in range(d)] for j in range(d)]
    network = Network.two_layer(
        rows, [sign * r * (j == live) for j in range(d)], slope=slope, masks=[(c,) for c in range(d)]
    )
    problem = Problem(Dataset([x], [sign]), network.architecture, goal=Goal.MAX_MARGIN, bias=Bias.NONE)
    return KKTPoint(problem, network, (1 / x[live],), ())
