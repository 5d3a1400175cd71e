"""KKT points by construction."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from verify.problem.members import has_margin
from verify.problem.network import Network
from verify.problem.problem import Bias, Dataset, Goal, Problem, outputs
from verify.strategies.numbers import (
    Vector,
    combination,
    negative,
    orthonormal,
    positive_rationals,
    shifted,
    slopes,
    times,
    unit_vectors,
    vectors,
)
from verify.strategies.weights import with_dead_neurons


class KKTPoint(NamedTuple):
    """A network that satisfies the KKT conditions of a problem, with the multipliers that show it.

    multipliers: lambda, length n.   kink_products: (i, j, lambda_i g_ij) where the slope at a kink matters.
    """

    problem: Problem
    network: Network
    multipliers: Vector
    kink_products: tuple[tuple[int, int, Fraction], ...]


def kkt_points(goal: Goal | None = None) -> SearchStrategy[KKTPoint]:
    """Exact KKT points without bias, of either goal, some with kinks that matter, slack points and zero neurons.

    Shrinks to two opposite neurons on two opposite points.
    """
    return st.one_of(_opposite_neurons(goal), _tied_neurons(goal))


@st.composite
def _opposite_neurons(draw: DrawFn, goal: Goal | None) -> KKTPoint:
    """Neurons c w and -c w with points w +- p and -(w +- p), p orthogonal to w, |w| = 1.

    Labels alike: v = (c, c), margin c^2 (1 - a), each side's multipliers sum to 1/(1 - a). Labels opposite:
    v = (c, -c), c^2 (1 + a), 1/(1 + a): the global optimum of symmetric data (arXiv:2110.13905, Theorem 4.2).
    """
    w = draw(st.integers(1, 3).flatmap(unit_vectors))
    alike = draw(st.booleans())
    slope = draw(slopes(linear=not alike))
    offsets = draw(st.lists(vectors(len(w), 2), min_size=1, max_size=2))
    side = [shifted(w, Fraction(1), times(sign, p)) for p in offsets for sign in (1, -1)]
    second = 1 if alike else -1
    total = 1 / (1 - second * slope)
    size = draw(positive_rationals())
    count = len(side)
    return _kkt_point(
        draw,
        goal,
        rows=[*side, *map(negative, side)],
        labels=[1] * count + [second] * count,
        multipliers=[total / count] * (2 * count),
        kinks=[],
        network=Network.two_layer([times(size, w), times(-size, w)], [size, second * size], slope=slope),
    )


@st.composite
def _tied_neurons(draw: DrawFn, goal: Goal | None) -> KKTPoint:
    """ReLU neurons c_1 e, c_2 p with orthonormal e, p; the second point is on the kink of the first, with slope g.

    x_1 = (e - g p) / lambda_1, x_2 = p / lambda_2, lambda_j = c_j^2 / m at margin m. With slope 0 at the kink, as
    automatic differentiation has it, such a point with g > 0 looks as if it were not stationary.
    """
    d = draw(st.integers(2, 3))
    e, p = draw(orthonormal(d))[:2]
    g = draw(st.sampled_from([Fraction(1), Fraction(1, 2), Fraction(0), Fraction(2, 3)]))
    c = [draw(positive_rationals()), draw(positive_rationals())]
    margin = draw(positive_rationals())
    first, second = (value * value / margin for value in c)
    return _kkt_point(
        draw,
        goal,
        rows=[times(1 / first, combination([Fraction(1), -g], [e, p])), times(1 / second, p)],
        labels=[1, 1],
        multipliers=[first, second],
        kinks=[(1, 0, g * second)],
        network=Network.two_layer([times(c[0], e), times(c[1], p)], c),
    )


def _kkt_point(
    draw: DrawFn,
    goal: Goal | None,
    *,
    rows: Sequence[Vector],
    labels: Sequence[int],
    multipliers: Sequence[Fraction],
    kinks: Sequence[tuple[int, int, Fraction]],
    network: Network,
) -> KKTPoint:
    """The point with either overall sign and goal, and with slack points and zero neurons."""
    chosen = draw(st.sampled_from(Goal)) if goal is None else goal
    sign = draw(st.sampled_from([1, -1]))
    slack = draw(st.lists(st.tuples(st.integers(0, len(rows) - 1), positive_rationals()), max_size=2))
    inputs = [*rows, *(times(1 + t, rows[i]) for i, t in slack)]
    targets = [sign * label for label in [*labels, *(labels[i] for i, _ in slack)]]
    hidden, outgoing = network.parameters
    subject = Network(network.architecture, (hidden, times(sign, outgoing)))
    if draw(st.booleans()):
        subject = draw(with_dead_neurons(subject))
    problem = Problem(Dataset(inputs, targets), subject.architecture, goal=chosen, bias=Bias.NONE)
    signs = [Fraction(1)] * len(rows)
    if not has_margin(chosen):
        data = Dataset(inputs, outputs(problem, subject))
        problem = Problem(data, subject.architecture, goal=chosen, bias=Bias.NONE)
        signs = [Fraction(target) for target in targets]
    return KKTPoint(
        problem,
        subject,
        (*(s * value for s, value in zip(signs, multipliers, strict=False)), *[Fraction(0)] * len(slack)),
        tuple((i, j, signs[i] * value) for i, j, value in kinks),
    )
