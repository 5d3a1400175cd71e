"""Univariate data and networks with a penalised bias."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from verify.problem.network import Network
from verify.problem.problem import Bias, Dataset, Goal, Problem
from verify.strategies.kkt import KKTPoint
from verify.strategies.numbers import nonzero, positive_rationals

__all__ = ["constant_networks", "switching"]


@st.composite
def switching(draw: DrawFn, *, switches: int | None = None) -> Dataset:
    """Points x_1 < .. < x_n on a line whose labels change r times, r <= 4 unless given; one or two points in a row.

    Shrinks to one point per label, at distances 1.
    """
    r = draw(st.integers(0, 4)) if switches is None else switches
    label = draw(st.sampled_from([1, -1]))
    x = draw(nonzero())
    rows: list[tuple[Fraction]] = []
    targets: list[int] = []
    for _ in range(r + 1):
        for _ in range(draw(st.integers(1, 2))):
            rows.append((x,))
            targets.append(label)
            x += draw(positive_rationals())
        label = -label
    return Dataset(rows, targets)


@st.composite
def constant_networks(draw: DrawFn, *, at_least: Fraction = Fraction(7, 4)) -> KKTPoint:
    """Points +-c of label 1, c >= `at_least`, a neuron that is constant on the line, and a zero neuron.

    Source: arXiv:2205.09072, Example 1 (c = 4). Shrinks to that.
    """
    c = draw(st.one_of(st.just(Fraction(4)), positive_rationals().map(lambda t: at_least + t)))
    r = draw(positive_rationals(2))
    place = draw(st.integers(0, 1))
    sizes = [r, Fraction(0)] if place == 0 else [Fraction(0), r]
    network = Network.two_layer([[0], [0]], sizes, b=sizes)
    problem = Problem(Dataset([[c], [-c]], [1, 1]), network.architecture, goal=Goal.MAX_MARGIN, bias=Bias.PENALISED)
    return KKTPoint(problem, network, (Fraction(1, 2),) * 2, ())
