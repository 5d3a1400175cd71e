"""Networks to start trainings from, with data that suit them."""

from __future__ import annotations

from fractions import Fraction
from math import isqrt

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from verify.problem.network import Network
from verify.problem.posing import pose
from verify.problem.problem import Dataset, Goal, Problem, outputs
from verify.strategies.numbers import Vector, nonzero, slopes, vectors

MARGIN = 4
"""y f(x) of `separating_starts` at least: the sum of exp(-y f(x)) over 5 points is below 1/10."""


@st.composite
def separating_starts(
    draw: DrawFn,
    *,
    slope: SearchStrategy[Fraction] | None = None,
    bias: bool | None = None,
    dimension: int | None = None,
    points: int = 5,
    width: int = 4,
) -> tuple[Problem, Network]:
    """A max-margin problem and a network that classifies every point with a margin of at least 4.

    The labels are those of the network; a point at which it is 0 is mirrored, or left out where that does not help. Up
    to `width` neurons and `points` points, as many of these as were drawn. Shrinks to one neuron and one point.
    """
    d = draw(st.integers(1, 3)) if dimension is None else dimension
    has_bias = draw(st.booleans()) if bias is None else bias
    a = draw(slopes() if slope is None else slope)
    count = draw(st.integers(1, width))
    hidden = [_nonzero(draw(vectors(d))) for _ in range(count)]
    outgoing = [draw(nonzero()) for _ in range(count)]
    biases = draw(vectors(count)) if has_bias else None
    others = draw(st.integers(0, points - 1))
    rows = [hidden[0], *draw(st.lists(vectors(d), min_size=others, max_size=others, unique=True))]
    network = Network.two_layer(hidden, outgoing, slope=a, b=biases)
    if not any(_outputs(network, rows)):  # at its own weights a neuron without bias is not 0
        network = Network.two_layer(hidden[:1], outgoing[:1], slope=a, b=[0] if has_bias else None)
    values = _outputs(network, rows)
    rows = list(dict.fromkeys(row if f else tuple(-x for x in row) for row, f in zip(rows, values, strict=True)))
    return _scaled(network, rows)


def _outputs(network: Network, rows: list[Vector]) -> list[Fraction]:
    return outputs(pose(network, Dataset(rows, [1] * len(rows)), goal=Goal.MAX_MARGIN), network)


def _scaled(network: Network, rows: list[Vector]) -> tuple[Problem, Network]:
    """Labels, and a factor of all weights; where the network is not 0."""
    shape = network.architecture
    kept = [(row, value) for row, value in zip(rows, _outputs(network, rows), strict=True) if value]
    least = min(abs(value) for _, value in kept)
    factor = 1 + isqrt(int(MARGIN / least)) if least < MARGIN else 1
    larger = Network(shape, [[factor * w for w in layer] for layer in network.parameters])
    data = Dataset([row for row, _ in kept], [1 if value > 0 else -1 for _, value in kept])
    return pose(larger, data, goal=Goal.MAX_MARGIN), larger


def _nonzero(vector: Vector) -> Vector:
    return vector if any(vector) else (Fraction(1), *vector[1:])
