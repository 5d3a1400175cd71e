"""KKT points on a line: patterns, their equations in floats, and how they become exact."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from verify import Bias, Goal, strategies
from verify.claims import Instance, is_kkt_point
from verify.claims.safran2022 import linear_regions, switches
from verify.strategies.line_equations import LineEquations
from verify.strategies.line_exact import exact_line_point, squares
from verify.strategies.line_kkt import LineGrowth
from verify.strategies.line_patterns import Place, breakpoints, is_plausible, places_of

DESCENT = [Place(1, -1, 2), Place(-1, 1, 2)]  # both in the gap between a positive and a negative point
THREE_UNITS = [Place(1, 1, 0), Place(-1, 1, 2), Place(1, 1, 2)]  # T = e, V = e', T - V = e''


def root(labels, places, tries=400):
    random, equations = np.random.default_rng(0), LineEquations(labels, places)
    for _ in range(tries):
        z = equations.solved(random.normal(0, 1, 2 * len(labels) + 2 * len(places)))
        if z is not None:
            return equations, z
    pytest.fail("no root was found")


@given(st.integers(0, 2**32 - 1))
def test_the_derivatives_are_those_of_the_residuals(seed):
    random = np.random.default_rng(seed)
    n = int(random.integers(1, 5))
    spots = places_of(n)
    chosen = random.choice(len(spots), min(4, len(spots)), replace=False)
    places = [Place(spots[q][0], int(random.choice((1, -1))), spots[q][1]) for q in chosen]
    equations = LineEquations([int(y) for y in random.choice((1, -1), n)], places)
    z = random.normal(0, 0.5, 2 * n + 2 * len(places))
    seen = equations.values(z)
    margin = np.abs(seen.points[:, None] - seen.breaks)
    way = random.normal(0, 1, len(z))
    step = 1e-6
    if margin[margin > 1e-12].min(initial=1) > 1e-3:  # f has no derivative where a breakpoint meets a point
        _, lines = equations.residuals(z)
        two = [equations.residuals(z + sign * step * way)[0] for sign in (1, -1)]
        np.testing.assert_allclose((two[0] - two[1]) / (2 * step), lines @ way, rtol=1e-4, atol=1e-4)


def test_a_root_is_a_kkt_point():
    equations, z = root([1, -1], DESCENT)
    found = equations.values(z)
    lifted = np.c_[found.points, np.ones(2)]
    for place, t in zip(DESCENT, found.breaks, strict=True):
        e = place.facing * np.array([1, -t]) / np.hypot(1, t)
        on = lifted @ e > 0
        np.testing.assert_allclose((found.multipliers * on) @ lifted, place.sign * e, atol=1e-9)
    assert found.multipliers[0] > 0 > found.multipliers[1]
    assert found.points[0] < found.breaks.min() <= found.breaks.max() < found.points[1]


def test_a_root_becomes_exact():
    equations, z = root([1, -1], DESCENT)
    point = exact_line_point(equations, z)
    instance = Instance.of(point)
    assert is_kkt_point(instance)
    assert linear_regions(instance) == 3
    assert all(value > 0 for value in point.multipliers)
    assert (point.problem.goal, point.problem.bias) == (Goal.MAX_MARGIN, Bias.PENALISED)


def test_three_unit_vectors_with_sum_zero_are_not_rational():
    equations, z = root([1, 1], THREE_UNITS)
    assert np.abs(equations.residuals(z)[0]).max() < 1e-10
    assert breakpoints(THREE_UNITS) == 3
    assert exact_line_point(equations, z) is None


@pytest.mark.parametrize(
    ("labels", "places"),
    [
        ([1, -1], [Place(1, -1, 0), Place(-1, 1, 4)]),  # two where every point is seen
        ([1, -1], [Place(1, 1, 2), Place(-1, 1, 2)]),  # the right-facing h is that of a negative point there
        ([1, 1], [Place(1, 1, 1), Place(1, 1, 2), Place(-1, 1, 2)]),  # a smooth one next to a kink
        ([1, -1, 1], [Place(-1, -1, 3), Place(-1, 1, 4)]),  # both signs in the negative stretch
        ([1, -1, 1], [Place(1, 1, 2), Place(1, 1, 4), Place(-1, -1, 4)]),  # two of the other sign in one stretch
        ([1, 1], [Place(1, 1, 0)]),  # f cannot come back
    ],
)
def test_patterns_that_cannot_be(labels, places):
    assert not is_plausible(labels, places)


def test_patterns_that_can_be():
    assert is_plausible([1, -1], DESCENT)
    assert is_plausible([1, 1], THREE_UNITS)
    assert breakpoints([Place(1, 1, 3), Place(-1, 1, 3), *DESCENT]) == 3


@given(st.fractions(min_value=Fraction(1, 10**9), max_value=10**30))
def test_every_positive_rational_is_a_short_sum_of_squares(number):
    roots = squares(number)
    assert sum(root * root for root in roots) == number
    assert all(root > 0 for root in roots)
    assert len(roots) <= 8


@pytest.mark.parametrize("count", [0, 1, 2])
def test_what_grows_is_exact_and_has_the_switches(count):
    growth = LineGrowth(count)
    regions = 0
    for seed in range(3):
        instance = Instance.of(growth.draw(seed))
        assert is_kkt_point(instance)
        assert switches(instance) == count
        assert linear_regions(instance) >= regions
        regions = linear_regions(instance)
    assert regions >= 2


def test_the_same_draws_give_the_same():
    first, second = LineGrowth(1), LineGrowth(1)
    assert [first.draw(seed) for seed in (3, 4)] == [second.draw(seed) for seed in (3, 4)]


@settings(max_examples=4, deadline=None)
@given(strategies.line_kkt_points(1))
def test_the_strategy(point):
    assert is_kkt_point(Instance.of(point))


@settings(max_examples=6, deadline=None)
@given(strategies.switching_kkt_points(most=2))
def test_points_that_are_grown_from_nothing(point):
    instance = Instance.of(point)
    assert is_kkt_point(instance)
    assert 1 <= switches(instance) <= 2
