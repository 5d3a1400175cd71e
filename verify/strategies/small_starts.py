"""Small networks to start trainings from, on data that are separable and symmetric, or hinted.

mu = 1/n sum y_i x_i. Near 0 the flow on symmetric data makes neuron k grow along +-mu with the sign of
<w_k, mu> + v_k |mu|, its *drift*.

Source: arXiv:2110.13905, sections 4 to 6.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from random import Random

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from verify.checker.exact import dot
from verify.problem.network import Network
from verify.problem.posing import pose
from verify.problem.problem import Dataset, Goal, Problem
from verify.quantities.growth import drift_signs, mean_signed, squared_m_norm
from verify.strategies.margins import KnownMargin, hinted_data, known_margins
from verify.strategies.numbers import (
    Vector,
    combination,
    labels,
    leaky_slopes,
    negative,
    positive_rationals,
    rationals,
    times,
    unit_vectors,
    vectors,
)

__all__ = [
    "balanced_pairs",
    "drift_signs",
    "embedded_pairs",
    "general_symmetric",
    "hinted_starts",
    "is_small_start",
    "mean_signed",
    "random_hinted_start",
    "random_symmetric_start",
    "symmetric_starts",
]

PosedStart = tuple[Problem, Network]

SHARES = ((Fraction(1),), (Fraction(3, 5), Fraction(4, 5)), (Fraction(1, 3), Fraction(2, 3), Fraction(2, 3)))
"""b_k / |b| of a group of neurons: rational unit vectors with positive entries."""


def is_small_start(data: Dataset, network: Network) -> bool:
    """4 r^2 X^2 <= l, with r^3 = sqrt(m) M, M the largest |w_k| or |v_k|, l = (1 + a)/4 |mu|, X = max |x_i|.

    Both sides to the sixth power, which is rational. Then the linear part of the flow dominates until the weights are
    2 r / sqrt(m).
    """
    mu = mean_signed(data)
    growth = (1 + network.architecture.slope) ** 2 / 16 * dot(mu, mu)
    reach = max(dot(row, row) for row in data.inputs)
    return (4 * reach) ** 6 * network.width**2 * squared_m_norm(network) ** 2 <= growth**3


@st.composite
def general_symmetric(draw: DrawFn, *, least_dimension: int = 1) -> KnownMargin:
    """`known_margins`, symmetric, with <mu, x_i> != 0 at every point: where it would be 0, without the offsets.

    Shrinks to one point and its antipode on an axis.
    """
    known = draw(known_margins(symmetric=True, least_dimension=least_dimension))
    mu = mean_signed(known.data)
    if all(dot(mu, row) for row in known.data.inputs):
        return known
    half = times(known.margin, known.direction)
    return known._replace(data=Dataset([half, negative(half)], [1, -1]))


@st.composite
def symmetric_starts(
    draw: DrawFn, *, both_signs: bool = True, least_width: int = 2, decades: SearchStrategy[int] | None = None,
    least_dimension: int = 1,
) -> PosedStart:  # fmt: skip
    """Small weights on symmetric data, no drift 0; both signs of drift occur, or only one.

    Weights are rationals times a power of ten, by default the largest with which `is_small_start` holds; `decades` are
    taken off. Shrinks to two neurons on two points.
    """
    known = draw(general_symmetric(least_dimension=least_dimension))
    slope, mu = draw(leaky_slopes()), mean_signed(known.data)
    width = draw(st.integers(least_width, 4))
    first = draw(st.sampled_from([1, -1]))
    signs = [first, -first if both_signs else first, *([first] * (width - 2))][:width]
    if both_signs:
        signs[2:] = draw(labels(max(0, width - 2)))
    hidden = [draw(vectors(known.data.dimension, 2)) for _ in signs]
    outgoing = [draw(rationals(2)) for _ in signs]
    found = drift_signs(Network.two_layer(hidden, outgoing, slope=slope), mu)
    for k, (wanted, sign) in enumerate(zip(signs, found, strict=True)):
        if not sign:
            hidden[k], outgoing[k] = times(wanted, known.direction), Fraction(wanted)
        elif sign != wanted:
            hidden[k], outgoing[k] = negative(hidden[k]), -outgoing[k]
    return _shrunk(known.data, hidden, outgoing, slope, draw(decades) if decades is not None else 0)


def random_symmetric_start(random: Random, *, width: int, decades: int = 0) -> PosedStart:
    """Gaussian weights of two decimals times a power of ten, on random symmetric data, in the plane or in space.

    The points have first coordinates of at least 1/5, their antipodes the other label.
    """
    d = random.randint(2, 3)
    half = [[_decimal(random.uniform(0.2, 1)), *(_decimal(random.uniform(-1, 1)) for _ in range(d - 1))]
            for _ in range(random.randint(2, 4))]  # fmt: skip
    data = Dataset([*half, *map(negative, half)], [1] * len(half) + [-1] * len(half))
    if not all(dot(mean_signed(data), row) for row in data.inputs):  # never but for rounding
        data = Dataset([half[0], negative(half[0])], [1, -1])
    hidden = [tuple(_decimal(random.gauss(0, 1)) for _ in range(d)) for _ in range(width)]
    outgoing = [_decimal(random.gauss(0, 1)) for _ in range(width)]
    return _shrunk(data, hidden, outgoing, random.choice([Fraction(1, 4), Fraction(1, 2)]), decades)


def _decimal(value: float) -> Fraction:
    return Fraction(round(100 * value), 100)


def _shrunk(
    data: Dataset, hidden: Sequence[Vector], outgoing: Sequence[Fraction], slope: Fraction, decades: int
) -> PosedStart:
    """The network times the largest power of ten with which it is small, and further powers."""
    factor = Fraction(1)
    while not is_small_start(data, _network(hidden, outgoing, slope, factor)):
        factor /= 10
    return _posed(data, _network(hidden, outgoing, slope, factor / 10**decades))


def _network(hidden: Sequence[Vector], outgoing: Sequence[Fraction], slope: Fraction, factor: Fraction) -> Network:
    return Network.two_layer([times(factor, row) for row in hidden], times(factor, outgoing), slope=slope)


def _posed(data: Dataset, network: Network) -> PosedStart:
    return pose(network, data, goal=Goal.MAX_MARGIN), network


@st.composite
def balanced_pairs(draw: DrawFn) -> PosedStart:
    """Two balanced neurons on symmetric data: v_1 = |w_1|, w*.w_1 > 0, and v_2 = -|w_2|, w*.w_2 < 0.

    Any directions in the two half spaces, norms from 1/400 to 4. Shrinks to (w*, -w*, 1, -1) on two points.
    """
    known = draw(general_symmetric())
    sizes = [draw(positive_rationals()) / draw(st.sampled_from([1, 10, 100])) for _ in range(2)]
    units: list[Vector] = []
    for _ in range(2):
        u = draw(unit_vectors(known.data.dimension))
        side = dot(u, known.direction)
        units.append(known.direction if not side else u if side > 0 else negative(u))
    hidden = [times(sizes[0], units[0]), times(-sizes[1], units[1])]
    return _posed(known.data, Network.two_layer(hidden, [sizes[0], -sizes[1]], slope=draw(leaky_slopes())))


@st.composite
def embedded_pairs(draw: DrawFn) -> PosedStart:
    """Two neurons, v_1 > 0 > v_2, each spread over one to three, on separable data; no point is on a kink.

    Symmetric data or not. Shrinks to the two neurons themselves on one point.
    """
    known = draw(known_margins(symmetric=draw(st.booleans())))
    hidden: list[Vector] = []
    outgoing: list[Fraction] = []
    for sign in (1, -1):
        v = sign * draw(positive_rationals(2))
        row = draw(vectors(known.data.dimension, 2))
        if not all(dot(row, x) for x in known.data.inputs):
            row = times(sign, known.direction)
        for share in draw(st.sampled_from(SHARES)):
            hidden.append(times(share, row))
            outgoing.append(share * v)
    return _posed(known.data, Network.two_layer(hidden, outgoing, slope=draw(leaky_slopes())))


@st.composite
def hinted_starts(draw: DrawFn, *, far: bool = True) -> PosedStart:
    """Balanced neurons of norm 1e-8 to 1e-6 on hinted data, at least one of them with a positive output.

    That one does not point along -w*. far: with the first hint so far away that neurons near 0 turn to w*; see
    `hinted_data`. Shrinks to one neuron.
    """
    data, slope, w, _ = draw(hinted_data(far=far))
    width = draw(st.integers(1, 3))
    signs = [1, *draw(labels(width - 1))]
    scale = Fraction(1, 10 ** draw(st.integers(6, 8)))
    hidden: list[Vector] = []
    outgoing: list[Fraction] = []
    for sign in signs:
        size = scale * draw(positive_rationals(2))
        unit = times(draw(st.sampled_from([1, -1])), draw(unit_vectors(data.dimension)))
        hidden.append(times(size, w if unit == negative(w) else unit))
        outgoing.append(sign * size)
    return _posed(data, Network.two_layer(hidden, outgoing, slope=slope))


def random_hinted_start(random: Random, *, width: int) -> PosedStart:
    """Hinted data around random separable ones in the plane, and balanced Gaussian neurons of size 1e-8 or so.

    w* = (1, 0). Directions are rational points of the circle near uniform ones, norms have two decimals.
    """
    slope = random.choice([Fraction(1, 4), Fraction(1, 2)])
    offset = _decimal(random.uniform(0.1, 1))
    signs = [random.choice([1, -1]) for _ in range(3)]
    signed = [(Fraction(1), offset), (Fraction(1), -offset),
              (_decimal(random.uniform(1.1, 2)), _decimal(random.uniform(-1, 1)))]  # fmt: skip
    e = slope / random.randint(2, 6)
    reach = e * ((3 + slope) / (1 - slope) + _decimal(random.uniform(0.1, 2)))
    spread = sum((abs(row[1]) for row in signed), Fraction(0))
    far = 2 * reach * (reach + spread) / (slope * e)
    hints: list[Vector] = [(far, Fraction(0)), (e, reach), (e, -reach)]
    data = Dataset([*hints, *(times(y, row) for y, row in zip(signs, signed, strict=True))], [1, 1, 1, *signs])
    hidden: list[Vector] = []
    outgoing: list[Fraction] = []
    for _ in range(width):
        x, y = random.gauss(0, 1), random.gauss(0, 1)
        norm = (x * x + y * y) ** 0.5
        t = _decimal(y / (norm + abs(x)))
        square = 1 + t * t
        unit = combination([Fraction(1)], [((1 if x > 0 else -1) * (1 - t * t) / square, 2 * t / square)])
        size = max(Fraction(1, 100), _decimal(norm)) / 10**8
        hidden.append(times(size, unit))
        outgoing.append(random.choice([1, -1]) * size)
    return _posed(data, Network.two_layer(hidden, outgoing, slope=slope))
