"""Exact products of points as neurons see them."""

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from verify import Architecture, Bias, Dataset, Goal, Problem
from verify.deciders.hidden.geometry import Geometry
from verify.problem.problem import Trained

numbers = st.fractions(-3, 3, max_denominator=12)
MASKS = ((0, 1, 2), (1, 2), (0, 2))


@given(
    st.lists(st.tuples(numbers, numbers), min_size=3, max_size=3),
    st.lists(numbers, min_size=3, max_size=3),
    st.sampled_from([Bias.PENALISED, Bias.FREE]),
)
def test_the_squared_norm_is_that_of_the_sum(points, factors, bias):
    """A column of 1 stands for the bias, and does not count where the bias is free."""
    shape = Architecture.two_layer(2, 3, bias=True, masks=MASKS)
    problem = Problem(
        Dataset(points, [1, 2, 3]), shape, goal=Goal.MIN_NORM, bias=bias, trained=Trained.HIDDEN,
        output_weights=(Fraction(1),) * 3,
    )  # fmt: skip
    geometry = Geometry(problem)
    for mask in MASKS:
        seen = [c for c in mask if c < 2 or bias is Bias.PENALISED]
        total = [sum(a * (*x, Fraction(1))[c] for a, x in zip(factors, points, strict=True)) for c in seen]
        assert geometry.squared_norm(mask, dict(enumerate(factors))) == sum(z * z for z in total)
        assert geometry.product(mask, 0, 2) == sum((*points[0], 1)[c] * (*points[2], 1)[c] for c in seen)
    assert geometry.squared_norm(MASKS[0], {}) == 0
