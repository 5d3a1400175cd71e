"""How far a free bias reaches: the numbers that the checker asks for, and what keeps h from growing along it."""

from fractions import Fraction

import pytest

from tests.exact_states import posed
from verify import Bias
from verify.checker.dual_trees import Bound
from verify.checker.errors import CertificateError
from verify.checker.states import HiddenDual
from verify.deciders.hidden.geometry import Geometry
from verify.deciders.hidden.norm_bounds import NormBounds, with_bounded_sums

F = Fraction
POINTS = [[0, 0], [8, 0], [8, 6]]  # the midpoint of their box is (4, 3), and all are 5 from it
SEEN = (0, 1, 2)


def geometry(*, goal="min-norm", slope=0, v=(1, -1), bias=Bias.FREE):
    return Geometry(posed(POINTS, [1, -1, 1], goal, [F(z) for z in v], slope=slope, bias=bias))


def case(sign, *cone):
    return SEEN, cone or (0, 0, 0), sign


def test_points_are_counted_from_the_midpoint_of_their_box():
    norms = NormBounds(geometry(), case(1), {0: F(1), 1: F(-1), 2: F(0)})
    assert norms.reach == 5
    assert [norms.size(i) for i in range(3)] == [10, 10, 10]
    assert norms.parts({0: F(1), 1: F(-1)}) == (64, 0)
    assert norms.parts({0: F(2)}) == (100, 10)
    assert norms.parts({}) == (0, 0)
    few = NormBounds(geometry(), case(1), {0: F(1), 1: F(-1)})
    assert (few.reach, few.size(0)) == (4, 8)


def test_a_bias_that_counts_has_no_part_in_it():
    norms = NormBounds(geometry(bias=Bias.PENALISED), case(1), {0: F(1), 1: F(2)})
    assert norms.reach == 0
    assert norms.parts({0: F(3), 1: F(1)}) == (8**2 + 4**2, 0)
    assert norms.size(2) ** 2 >= 101 > (norms.size(2) - F(1, 10**6)) ** 2


@pytest.mark.parametrize(
    ("total", "slope", "shown", "bounded"),
    [
        (1, 0, case(1), False),
        (1, 0, case(1, 1, 0, 0), False),
        (1, 0, case(1, 0, -1, 0), True),
        (-1, 0, case(1), True),
        (-1, 0, case(-1), False),
        (0, "1/2", case(1), True),
        (-1, "1/2", case(1), False),
        (-1, "1/2", case(1, 1, 0, 0), True),
        (-1, "1/2", case(1, -1, 0, 0), False),
        (1, "1/2", case(-1, 0, 0, 1), True),
    ],
)
def test_the_reach_is_none_where_the_checker_allows_no_range(total, slope, shown, bounded):
    """One leaf, with slope 0 but where a side asks for an end: the checker refuses ranges of open points, or p_b."""
    at = geometry(slope=slope)
    listed = {0: F(total, 2), 1: F(total, 2), 2: F(0)}
    assert (NormBounds(at, shown, listed).reach is not None) == bounded
    tree = (Bound(tuple("e" if side > 0 else 0 for side in shown[1])),)
    dual = HiddenDual(tuple(listed.items()), (F(10**6),), 2, (tree,))
    try:
        dual.value(at.problem, {shown: F(1)})
    except CertificateError as refused:
        assert not bounded
        assert "free" in str(refused)
    else:
        assert bounded


@pytest.mark.parametrize("goal", ["min-norm", "max-margin"])
def test_what_rounding_left_of_the_sum_is_taken_from_a_multiplier(goal):
    left = F(1, 2**40)
    given = {0: 1 + left, 1: F(2) * (1 if goal == "max-margin" else -1), 2: F(1)}
    found = with_bounded_sums(geometry(goal=goal), [case(1), case(-1)], given)
    c = {i: z * (-1 if goal == "max-margin" and i == 1 else 1) for i, z in found.items()}
    assert sum(c.values()) == 0
    assert sum(found[i] != given[i] for i in given) == 1


def test_multipliers_stay_where_the_sum_may_be_as_it_is():
    given = {0: F(1), 1: F(1), 2: F(1)}
    assert with_bounded_sums(geometry(), [case(1, -1, 0, 0)], given) == given
    assert with_bounded_sums(geometry(), [case(-1)], given) == given
    assert with_bounded_sums(geometry(bias=Bias.PENALISED), [case(1)], given) == given
    both = {0: F(1), 2: F(1)}
    assert with_bounded_sums(geometry(goal="max-margin"), [case(1)], both) == both  # neither of them can give so much
