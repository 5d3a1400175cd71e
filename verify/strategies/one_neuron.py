"""Problems of one neuron of which only the incoming weights are trained."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from verify.problem.network import Network
from verify.problem.problem import Bias, Dataset, Goal, Problem, Trained
from verify.strategies.kkt import KKTPoint
from verify.strategies.numbers import nonzero, rationals

__all__ = ["one_neuron_problems"]


@st.composite
def one_neuron_problems(draw: DrawFn) -> KKTPoint:
    """Independent points, n <= d <= 4, any targets, a ReLU neuron with v = 1; the network's own w is arbitrary.

    x_i = a_i e_i + sum_{k < i} c_ik e_k with a_i != 0. Shrinks to points on the axes with targets 0.
    """
    d = draw(st.integers(1, 4))
    n = draw(st.integers(1, d))
    rows = [
        [draw(rationals(2)) if k < i else draw(nonzero()) if k == i else Fraction(0) for k in range(d)]
        for i in range(n)
    ]
    targets = [draw(rationals(2)) for _ in range(n)]
    network = Network.two_layer([[draw(rationals(2)) for _ in range(d)]], [1])
    problem = Problem(
        Dataset(rows, targets), network.architecture, goal=Goal.MIN_NORM, bias=Bias.NONE, trained=Trained.HIDDEN
    )
    return KKTPoint(problem, network, (), ())
