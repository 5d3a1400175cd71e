"""Two points labelled alike and a live neuron between them: where neurons are wasted."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from verify.problem.network import Network
from verify.problem.problem import Bias, Dataset, Goal, Problem
from verify.strategies.kkt import KKTPoint
from verify.strategies.numbers import combination, orthonormal, positive_rationals, rationals, times, unit_vectors

__all__ = ["far_pairs", "split_sizes", "tied_pairs", "wide_pairs"]

_SPLITS = (
    (Fraction(1),),
    (Fraction(3, 5), Fraction(4, 5)),
    (Fraction(2, 3), Fraction(2, 3), Fraction(1, 3)),
    (Fraction(1, 2),) * 4,
)


def split_sizes(least: int = 1, most: int = 4) -> st.SearchStrategy[tuple[Fraction, ...]]:
    """Sizes r_j of neurons with one direction, sum r_j^2 = 1. Shrinks to the fewest."""
    return st.sampled_from([sizes for sizes in _SPLITS if least <= len(sizes) <= most])


@st.composite
def wide_pairs(draw: DrawFn, *, near: bool = False, splits: bool = False, narrow: bool = False) -> KKTPoint:
    """x_1 = h(e + s p), x_2 = h(e - t p), s, t >= 2: more than 120 degrees apart; a ReLU neuron along e sees both.

    |e| = 1, p orthogonal to it. Besides, one zero neuron; with `splits` instead the live neuron is split into several.
    narrow: s, t <= 1/2 instead, so that they are less than 90 degrees apart.   near: within 1/2 of the points of
    arXiv:2110.02732, Theorem 3.2. Shrinks to s = t = 2 (near: to those points).
    """
    if near:
        tilt = draw(rationals(1)) / 16
        e = (2 * tilt / (1 + tilt**2), (1 - tilt**2) / (1 + tilt**2))
        h = Fraction(1, 4) + draw(rationals(1)) / 32
        s, t = (4 + draw(rationals(1)) / 4 for _ in range(2))
    else:
        e = draw(unit_vectors(2))
        h = draw(positive_rationals())
        s, t = (2 + abs(draw(rationals())) for _ in range(2))
        if narrow:
            s, t = 2 / (s * s), 2 / (t * t)
    p = (e[1], -e[0])
    rows = [times(h, combination([Fraction(1), s], [e, p])), times(h, combination([Fraction(1), -t], [e, p]))]
    sizes = draw(split_sizes(2)) if splits else (draw(positive_rationals(2)),)
    hidden = [times(r, e) for r in sizes]
    if splits:
        network = Network.two_layer(hidden, sizes)
    else:
        place = draw(st.integers(0, 1))
        hidden.insert(place, (Fraction(0), Fraction(0)))
        network = Network.two_layer(hidden, [*sizes[:place], Fraction(0), *sizes[place:]])
    label = 1
    multipliers = (t / (h * (s + t)), s / (h * (s + t)))  # sum lambda_i x_i = e
    data = Dataset(rows, [label, label])
    problem = Problem(data, network.architecture, goal=Goal.MAX_MARGIN, bias=Bias.NONE)
    return KKTPoint(problem, network, multipliers, ())


@st.composite
def far_pairs(draw: DrawFn, ratios: tuple[int, ...]) -> KKTPoint:
    """(1, e), (-1, e) with 21 M^2 e <= 10 for M one of `ratios`, a ReLU neuron along (0, 1) and a zero neuron.

    The ratio of its norm to the least one is at least M. Shrinks to the first M and equality.
    """
    ratio = draw(st.sampled_from(ratios))
    e = Fraction(10, 21 * ratio**2) / (1 + abs(draw(rationals())) * draw(positive_rationals()))
    network = Network.two_layer([(0, 1), (0, 0)], [1, 0])
    data = Dataset([(1, e), (-1, e)], [1, 1])
    problem = Problem(data, network.architecture, goal=Goal.MAX_MARGIN, bias=Bias.NONE)
    return KKTPoint(problem, network, (1 / (2 * e),) * 2, ())


@st.composite
def tied_pairs(draw: DrawFn) -> KKTPoint:
    """ReLU neurons c_1 e (possibly split), c_2 p, with orthonormal e, p in the plane; point 2 is on the kink of the
    first, where the KKT conditions need slope 1: lambda_1 x_1 = e - p, lambda_2 x_2 = p.

    No neuron is zero. Shrinks to two neurons.
    """
    e, p = draw(orthonormal(2))
    c = [draw(positive_rationals(2)), draw(positive_rationals(2))]
    margin = draw(positive_rationals())
    first, second = (value * value / margin for value in c)
    sizes = [c[0] * r for r in draw(split_sizes(1, 3))]
    network = Network.two_layer([*(times(r, e) for r in sizes), times(c[1], p)], [*sizes, c[1]])
    rows = [times(1 / first, combination([Fraction(1), Fraction(-1)], [e, p])), times(1 / second, p)]
    problem = Problem(Dataset(rows, [1, 1]), network.architecture, goal=Goal.MAX_MARGIN, bias=Bias.NONE)
    return KKTPoint(problem, network, (first, second), tuple((1, j, second) for j in range(len(sizes))))
