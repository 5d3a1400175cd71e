"""Networks on two points in the plane from which gradient flow ends at a point that is no local optimum."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from verify.problem.network import Network
from verify.problem.posing import pose
from verify.problem.problem import Dataset, Goal, Problem
from verify.strategies.numbers import combination, orthonormal, positive_rationals, rationals, times
from verify.strategies.pairs import split_sizes

__all__ = ["dead_neuron_starts", "tilted_pairs"]

SMALL = Fraction(1, 10**7)
"""The norm of `dead_neuron_starts`, at most."""

HEIGHT = Fraction(1, 4)


@st.composite
def dead_neuron_starts(draw: DrawFn, *, first: tuple[int, int] = (1, 1), output: int = 1) -> tuple[Problem, Network]:
    """Points (1, 1/4), (-1, 1/4) of label 1; of two neurons the first is on at both and pulls up, the second off.

    All weights together are at most 1e-7. first: the signs of neuron 1 at the points; output: that of v_1.
    Shrinks to preactivations 1, 1 and -1, -1 before scaling. Source: arXiv:2110.02732, Theorem 3.2.
    """
    rows = [(Fraction(1), HEIGHT), (Fraction(-1), HEIGHT)]
    on = [sign * draw(positive_rationals()) for sign in first]
    off = [-draw(positive_rationals()) for _ in range(2)]
    hidden = [_with_values(*on), _with_values(*off)]
    outgoing = [output * draw(positive_rationals()), draw(rationals())]
    total = sum(map(abs, [*hidden[0], *hidden[1], *outgoing]), Fraction(0))
    network = Network.two_layer([times(SMALL / total, w) for w in hidden], times(SMALL / total, outgoing))
    return pose(network, Dataset(rows, [1, 1]), goal=Goal.MAX_MARGIN), network


def _with_values(p: Fraction, q: Fraction) -> tuple[Fraction, Fraction]:
    """w with w.(1, 1/4) = p and w.(-1, 1/4) = q."""
    return (p - q) / 2, (p + q) / (2 * HEIGHT)


@st.composite
def tilted_pairs(draw: DrawFn, *, side: int = 1) -> tuple[Problem, Network]:
    """`tied_pairs` at margin 16 or more, its first neurons turned so that they are on at the second point (side -1:
    off), by a tangent of 1/8 to 1/2; neuron 2 is half to twice as large as they are together.

    Shrinks to two neurons of the same size. Source: after arXiv:2110.02732, Theorem 4.2 (2).
    """
    e, p = draw(orthonormal(2))
    c = [draw(st.sampled_from([Fraction(1), Fraction(3, 4), Fraction(1, 2)])) for _ in range(2)]
    tilt = side * draw(st.sampled_from([Fraction(1, 4), Fraction(1, 8), Fraction(1, 2), Fraction(3, 8)]))
    size = 4 * draw(st.integers(1, 4))
    sizes = [c[0] * r for r in draw(split_sizes(1, 3))]
    turned = combination([Fraction(1), tilt], [e, p])
    hidden = [*(times(size * r, turned) for r in sizes), times(size * c[1], p)]
    rows = [times(1 / c[0] ** 2, combination([Fraction(1), Fraction(-1)], [e, p])), times(1 / c[1] ** 2, p)]
    network = Network.two_layer(hidden, [size * r for r in [*sizes, c[1]]])
    return pose(network, Dataset(rows, [1, 1]), goal=Goal.MAX_MARGIN), network
