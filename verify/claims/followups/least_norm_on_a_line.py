"""Savarese, Evron, Soudry, Srebro 2019, arXiv:1902.05040, Theorem 3.1, for interpolation on a line.

    least 1/2 sum w_j^2 + v_j^2 of a ReLU network with free biases that is f  =  max(TV(f'), |f'(-oo) + f'(oo)|)
    ==>  through (x_1, y_1), .., (x_n, y_n), x rising, the least is  max(A, (A + B) / 2),
         A = sum |s_(i+1) - s_i|,  B = |s_1 + s_(n-1)|,  s_i = (y_(i+1) - y_i) / (x_(i+1) - x_i)

The second line is ours: f' takes each s_i between its points, so that TV(f') >= |p - s_1| + A + |q - s_(n-1)| with p
and q the slopes at both ends, and each unit of these two raises TV by one and lowers |p + q| by one at most; the points
joined by lines, with kinks at the first and the last, reach it.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from itertools import pairwise

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from verify.claims.decisions import audited
from verify.claims.records import Claim, Instance, Judgement, Variant, failed, held, undecided
from verify.claims.theorems import run_alone
from verify.numbers.floats import to_float
from verify.problem.members import has_bias, has_margin, is_free
from verify.problem.network import Network
from verify.problem.problem import Bias, Dataset, Goal
from verify.strategies.numbers import rationals

__all__ = ["CLAIMS", "has_the_least_norm", "least_norm", "slopes"]

POINTS = 5


def is_univariate_regression(instance: Instance) -> bool:
    """Min-norm of ReLU neurons with biases on a line, at two different places or more."""
    problem = instance.problem
    is_right = not has_margin(problem.goal) and has_bias(problem.bias) and instance.slope == 0
    rows = instance.data.inputs
    return is_right and instance.data.dimension == 1 and len(rows) > 1 and len({*rows}) == len(rows)


def slopes(data: Dataset) -> list[Fraction]:
    """s_i of neighbouring points."""
    points = sorted((x, y) for (x,), y in zip(data.inputs, data.targets, strict=True))
    return [(z - y) / (b - a) for (a, y), (b, z) in pairwise(points)]


def least_norm(data: Dataset, *, has_ends: bool = True) -> Fraction:
    """max(A, (A + B) / 2); has_ends: False is A, where a linear part costs nothing."""
    found = slopes(data)
    inner = sum((abs(b - a) for a, b in pairwise(found)), Fraction(0))
    ends = abs(found[0] + found[-1])
    return max(inner, (inner + ends) / 2) if has_ends else inner


def has_the_least_norm(instance: Instance, *, has_ends: bool = True) -> Judgement:
    """The bracket of the audit over all widths holds that number; measured: it."""
    value, found = least_norm(instance.data, has_ends=has_ends), audited(instance)
    if found.bracket is None:
        return undecided("the best objective has no bracket")
    low, high = found.bracket
    if not low <= value <= high:
        return failed(f"the best objective lies in {found.bracket}, not at {to_float(value):.9g}", measured=value)
    if high > low * (1 + found.tolerance):
        return undecided("the bracket of the best objective is too wide")
    return held(measured=value)


@st.composite
def _data(draw: DrawFn) -> Instance:
    """Two to five points of different places, their targets not all alike, and a network that meets none of them."""
    places = sorted(draw(st.lists(rationals(2), min_size=2, max_size=POINTS, unique=True)))
    targets = [draw(rationals(2)) for _ in places]
    if len({*targets}) == 1:
        targets[0] += 1
    network = Network.two_layer([[1], [-1]], [1, 1], b=[0, 0])
    return Instance.posed(network, Dataset([(x,) for x in places], targets), goal=Goal.MIN_NORM, bias=Bias.FREE)


CLAIMS = (
    Claim(
        id="followups.savarese2019.line",
        source="arXiv:1902.05040, Theorem 3.1, for interpolation",
        statement="The least norm of univariate ReLU networks with free biases through n points is max(A, (A + B)/2), "
        "A the variation of the slopes between neighbours and B the size of the first and the last together.",
        setting=is_univariate_regression,
        hypotheses={"free-bias": lambda instance: is_free(instance.problem.bias)},
        conclusion=has_the_least_norm,
        instances=_data(),
        sharp={"free-bias": "min-norm/followups-counted-bias"},
        regime=f"2 to {POINTS} points; the closed form for interpolation is ours, and may be known elsewhere; the "
        "value within 1e-7 from both sides, over all widths",
        quantity="least norm",
        examples=100,
        could_fail=lambda instance: len({*slopes(instance.data)}) > 1,
        variants=(
            Variant(
                name="no-ends",
                statement="It is A, as where a linear part costs nothing.",
                conclusion=partial(has_the_least_norm, has_ends=False),
            ),
        ),
    ),
)

if __name__ == "__main__":
    run_alone(CLAIMS)
