"""The value of M at orthogonal points, arXiv:2306.06479, section 7, after Theorem 8.

    x_i.x_j = 0 for i != j, n = d  ==>  cos(p, q) = 0 throughout, and so M < 0:  M = - min_k cos(v*, x_k)

p is nearest to v* in the cone of all chi_k but one, where it is the projection of v*; the value is ours. It has to lie
in the bracket of M that `verify.quantities.correlated.m_bracket` computes from the definition.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from itertools import combinations

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from verify.checker.exact import dot
from verify.claims.chistikov2023.correlated import is_taught
from verify.claims.power import always
from verify.claims.records import Claim, Instance, Judgement, Variant, failed, held
from verify.claims.theorems import run_alone
from verify.numbers.floats import to_float
from verify.problem.network import Network
from verify.problem.problem import Bias, Dataset, Goal
from verify.quantities.correlated import m_bracket
from verify.strategies.numbers import combination, orthonormal, positive_rationals, times

__all__ = ["CLAIMS", "are_orthogonal", "has_the_least_cosine"]

ACCURACY, NOISE = 1e-2, 1e-9
"""Of the bracket, and of what floats may be wrong by."""

TEACHERS = {2: ((3, 4, 5), (5, 12, 13), (20, 21, 29)), 3: ((2, 2, 1, 3), (2, 3, 6, 7), (1, 4, 8, 9))}
"""Whole numbers whose last is the root of the sum of the squares of the others."""


def are_orthogonal(instance: Instance) -> bool:
    """All points, as many as there are dimensions, are at right angles."""
    rows = instance.data.inputs
    return all(not dot(x, z) for x, z in combinations(rows, 2))


def has_the_least_cosine(instance: Instance, power: int = 1) -> Judgement:
    """- min y_k / |x_k| lies in the bracket of M, whose upper end is below 0; measured: that number.

    power: of the cosine, in its place.
    """
    data = instance.data
    least = min(to_float(y * y / dot(x, x)) ** 0.5 for x, y in zip(data.inputs, data.targets, strict=True))
    value = -(least**power)
    low, high = m_bracket(data, ACCURACY)
    text = f"M is between {low:.4g} and {high:.4g}, minus the least cosine {-least:.4g}"
    is_in = low - NOISE <= value <= high + NOISE and high < 0
    return (held if is_in else failed)(text, measured=Fraction(value))


@st.composite
def _orthogonal(draw: DrawFn) -> Instance:
    """Orthogonal points in two or three dimensions and a teacher of rational coordinates in their directions."""
    d = draw(st.sampled_from([2, 3]))
    axes = draw(orthonormal(d))
    *parts, whole = draw(st.sampled_from(TEACHERS[d]))
    teacher = combination([Fraction(part, whole) for part in parts], axes)
    rows = [times(draw(positive_rationals(2)), axis) for axis in axes]
    network = Network.two_layer([teacher], [1])
    data = Dataset(rows, [dot(teacher, x) for x in rows])
    return Instance.posed(network, data, goal=Goal.MIN_NORM, bias=Bias.NONE)


CLAIMS = (
    Claim(
        id="chistikov2023.M.orthogonal",
        source="arXiv:2306.06479, section 7, after Theorem 8",
        statement="At orthogonal points, n = d, M is minus the least cosine of v* and a point.",
        setting=lambda instance: is_taught(instance) and len(instance.data) == instance.data.dimension,
        hypotheses={"orthogonal": are_orthogonal},
        conclusion=has_the_least_cosine,
        instances=_orthogonal(),
        sharp={"orthogonal": "min-norm/chistikov2023-theorem-8-negative"},
        regime="d = 2, 3; v*.x_i > 0 in place of angles below 45 degrees; the bracket of M, 0.01 wide, in floats; that "
        "M is negative is the paper's, its value ours",
        quantity="M",
        examples=60,
        could_fail=always,
        variants=(
            Variant(
                name="squared",
                statement="It is minus the square of the least cosine.",
                conclusion=partial(has_the_least_cosine, power=2),
            ),
        ),
    ),
)

if __name__ == "__main__":
    run_alone(CLAIMS)
