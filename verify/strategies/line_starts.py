"""Networks of one input with biases to start trainings from: those that classify the points, and Gaussian ones."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from math import isqrt
from random import Random

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from verify.problem.network import Network
from verify.problem.posing import pose
from verify.problem.problem import Dataset, Goal, Problem

__all__ = [
    "alternating", "alternating_starts", "fitted", "fitted_starts", "gaussian_network", "normal",
]  # fmt: skip

MARGIN = 4
"""y f(x) of `fitted` at least: sum_i exp(-y_i f(x_i)) is below n / 54."""

_Neuron = tuple[Fraction, Fraction, Fraction]
"""(w, b, v)."""


def normal(random: Random, deviation: Fraction, digits: int = 4) -> Fraction:
    """A Gaussian number, rounded to so many digits after the point in units of the deviation, and never 0."""
    return deviation * Fraction(round(random.gauss(0.0, 1.0) * 10**digits) or 1, 10**digits)


def gaussian_network(random: Random, width: int, hidden: Fraction, output: Fraction) -> Network:
    """w, b ~ N(0, hidden^2), v ~ N(0, output^2), all independent. Source: arXiv:2205.09072, Assumption 2.1."""
    return _network([_gaussian(random, hidden, output) for _ in range(width)])


def _gaussian(random: Random, hidden: Fraction, output: Fraction) -> _Neuron:
    return normal(random, hidden), normal(random, hidden), normal(random, output)


def fitted(data: Dataset, others: Sequence[_Neuron] = ()) -> tuple[Problem, Network]:
    """A zigzag through the middle of each switch of the labels, large enough for margins of 4 beside `others`.

    The zigzag has one neuron per switch and one more, slopes of equal size, and is +-1 halfway between two switches.
    """
    points = sorted(zip((x for (x,) in data.inputs), data.targets, strict=True))
    zigzag = _zigzag(points)
    own, noise = ([_value(part, x) for x, _ in points] for part in (zigzag, others))
    needed = max((MARGIN - y * q) / (y * p) for (_, y), p, q in zip(points, own, noise, strict=True))
    factor = 1 + isqrt(max(0, int(needed)))
    network = _network([*((factor * w, factor * b, factor * v) for w, b, v in zigzag), *others])
    return pose(network, data, goal=Goal.MAX_MARGIN), network


def _zigzag(points: Sequence[tuple[Fraction, Fraction]]) -> list[_Neuron]:
    """Neurons of a function of the signs of the labels at every point; each of |v| = 1 where its slope is 1."""
    crossings = [(a + b) / 2 for (a, y), (b, z) in pairwise(points) if y != z]
    label = points[0][1]
    if not crossings:
        return [(Fraction(0), Fraction(1), label)]
    turns = [(a + b) / 2 for a, b in pairwise(crossings)]
    start = min(points[0][0], crossings[0]) - 1  # left of all points: f = label (c_1 - x) up to the first turn
    rising = [(Fraction(1), -t, -label * 2 * (-1) ** (k + 1)) for k, t in enumerate(turns)]
    return [(Fraction(1), -start, -label), (Fraction(0), Fraction(1), label * (crossings[0] - start)), *rising]


def _value(neurons: Sequence[_Neuron], x: Fraction) -> Fraction:
    return sum((v * max(w * x + b, Fraction(0)) for w, b, v in neurons), Fraction(0))


@st.composite
def fitted_starts(draw: DrawFn, *, most: int = 72) -> tuple[Problem, Network]:
    """Points in [-1, 1] whose labels change at most twice, and a `fitted` network with Gaussian neurons beside.

    Up to 72 of them where all labels are the same, up to 24 elsewhere, at most `most`. Shrinks to r = 0 and none.
    """
    data = draw(_spread())
    wide = 72 if len(set(data.targets)) == 1 else 24
    count = draw(st.sampled_from([n for n in (0, 2, 8, wide) if n <= most]))
    random = Random(draw(st.integers(0, 2**16)))  # noqa: S311
    size = draw(st.sampled_from([Fraction(1, 4), Fraction(1, 16)]))
    return fitted(data, [_gaussian(random, size, size) for _ in range(count)])


@st.composite
def _spread(draw: DrawFn) -> Dataset:
    """Points from -1 to 1 (a single one at 1) whose labels change r <= 2 times; gaps within a factor of 3.

    One or two points in a row. Shrinks to one point of label 1.
    """
    label = draw(st.sampled_from([1, -1]))
    targets: list[int] = []
    for _ in range(draw(st.integers(0, 2)) + 1):
        targets += [label] * draw(st.integers(1, 2))
        label = -label
    places = [Fraction(0)]
    for _ in targets[1:]:
        places.append(places[-1] + draw(st.integers(1, 3)))
    length = places[-1]
    return Dataset([(2 * x / length - 1 if length else Fraction(1),) for x in places], targets)


@st.composite
def alternating_starts(draw: DrawFn, *, most: int = 8) -> tuple[Problem, Network]:
    """Points -1, .., 1 at equal distances with labels that alternate r >= 3 times, and at most r - 2 Gaussian neurons.

    Shrinks to four points and one neuron. Source: after arXiv:2205.09072, Theorem 3.2.
    """
    r = draw(st.integers(3, most))
    width = draw(st.integers(1, r - 2))
    random = Random(draw(st.integers(0, 2**16)))  # noqa: S311
    network = gaussian_network(random, width, Fraction(1), Fraction(1))
    return pose(network, alternating(r), goal=Goal.MAX_MARGIN), network


def alternating(switches: int) -> Dataset:
    """r + 1 points from -1 to 1 at equal distances (a single one at 0), with labels that alternate."""
    r = switches
    return Dataset([(Fraction(2 * i - r, max(r, 1)),) for i in range(r + 1)], [(-1) ** i for i in range(r + 1)])


def _network(neurons: Sequence[_Neuron]) -> Network:
    return Network.two_layer([(w,) for w, _, _ in neurons], [v for *_, v in neurons], b=[b for _, b, _ in neurons])
