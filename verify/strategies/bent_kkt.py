"""KKT points on symmetric data that are not linear, and so not optimal."""

from __future__ import annotations

from fractions import Fraction
from math import isqrt

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from verify.problem.network import Network
from verify.problem.problem import Bias, Dataset, Goal, Problem
from verify.strategies.kkt import KKTPoint
from verify.strategies.numbers import (
    Vector,
    combination,
    leaky_slopes,
    negative,
    orthonormal,
    positive_rationals,
    times,
)

__all__ = ["bent_networks"]


@st.composite
def bent_networks(draw: DrawFn, *, steep: bool = True) -> KKTPoint:
    """Points +-s (C, S), +-s (C, -S), turned, C^2 + S^2 = 1, and neurons r (S, C), r (S, -C), -r sqrt(2 S) (1, 0).

    The outputs are r, r, -r sqrt(2 S), and the third neuron is spread over up to four, as r^2 2 S is a sum of four
    rational squares. s = 1/(2 (1 + a) S C r^2) makes every margin 1: the first two neurons are on their kinks at the
    points +-s (C, -S), +-s (C, S). The KKT conditions hold with the multipliers l = (1/S - a)/(2 s C (1 - a^2)) at each
    of the first two points, m = (1 - a/S)/(2 s C (1 - a^2)) at each of their antipodes, if the kinks of a neuron can
    take (S^2 - C^2)/(2 S C s) as the sum of multiplier times slope, which is below l + m; at least a (l + m) it is if
    and only if
        a (1 + S) <= (1 + a) (2 S^2 - 1).
    steep: that this is so; otherwise a < S, and it is not. The objective is 2 r^2 (1 + S), (1 + 1/S)/2 times the best
    one. Points further out support nothing. S = (k^2 - 1)/(k^2 + 1). Shrinks to slope 1/2, k = 5.
    """
    a = draw(leaky_slopes())
    least = next(k for k in range(2, 50) if _is_steep(a, k))
    if steep:
        k = draw(st.integers(least, least + 3))
    else:
        k = draw(st.integers(next(k for k in range(2, 50) if _sine(k) > a), least - 1))
    S, C = _sine(k), Fraction(2 * k, k * k + 1)
    r = draw(positive_rationals(2))
    s = 1 / (2 * (1 + a) * S * C * r * r)
    first, second = draw(orthonormal(2))

    def turned(x: Fraction, y: Fraction) -> Vector:
        return combination([x, y], [first, second])

    half = [turned(s * C, s * S), turned(s * C, -s * S)]
    half += [
        times(1 + beyond, draw(st.sampled_from(half))) for beyond in draw(st.lists(positive_rationals(2), max_size=1))
    ]
    sizes = [r * root for root in _square_roots(2 * S)]
    hidden = [turned(r * S, r * C), turned(r * S, -r * C), *(turned(-size, Fraction(0)) for size in sizes)]
    network = Network.two_layer(hidden, [r, r, *(-size for size in sizes)], slope=a)
    data = Dataset([*half, *map(negative, half)], [1] * len(half) + [-1] * len(half))
    problem = Problem(data, network.architecture, goal=Goal.MAX_MARGIN, bias=Bias.NONE)
    factor = 1 / (2 * s * C * (1 - a * a))
    idle = [Fraction(0)] * (len(half) - 2)
    multipliers = [factor * (1 / S - a)] * 2 + idle + [factor * (1 - a / S)] * 2 + idle
    return KKTPoint(problem, network, tuple(multipliers), ())


def _sine(k: int) -> Fraction:
    return Fraction(k * k - 1, k * k + 1)


def _is_steep(a: Fraction, k: int) -> bool:
    return a * (1 + _sine(k)) <= (1 + a) * (2 * _sine(k) ** 2 - 1)


def _square_roots(value: Fraction) -> list[Fraction]:
    """At most four rationals whose squares have this sum, the fewest (Lagrange)."""
    whole = value.numerator * value.denominator
    for count in range(1, 5):
        found = _squares(whole, count)
        if found is not None:
            return [Fraction(root, value.denominator) for root in found]
    raise ValueError(f"{value} is negative")  # as every natural number is a sum of four squares


def _squares(whole: int, count: int) -> list[int] | None:
    """`count` positive integers whose squares have this sum, if there are any."""
    if count == 1:
        root = isqrt(whole)
        return [root] if root and root * root == whole else None
    for root in range(isqrt(max(whole, 0)), 0, -1):
        rest = _squares(whole - root * root, count - 1)
        if rest is not None:
            return [root, *rest]
    return None
