"""What section 2 of arXiv:2110.13905 says of its Appendix H, which we do not have; the proof is ours.

    x_i.x_j > 0 where y_i = y_j, x_i.x_j <= 0 elsewhere, theta a KKT point
        ==>  theta is of global max margin

for ReLU networks, as in Phuong and Lampert 2021; and for leaky ones with a live neuron of each sign that has labels,
which ReLU networks that fit have anyway. With z_i = y_i x_i all z_i.z_j >= 0. A neuron of output weight v > 0 is
w = v sum c_i lambda_i z_i with c_i in [a, 1], so that w.z_i > 0 wherever lambda_i c_i > 0: it is on at the points of
label 1 and off at the others, and w = v p, p = sum over label 1 of lambda_i z_i + a times the sum over label -1, with
|p| = 1; likewise for v < 0. On any unit u the dual function sum lambda_i y_i s(u.x_i) is u.q at most, where q has
coefficients in [0, lambda_i] over label 1 and a lambda_i, or less, over the other; products of the z being >= 0,
|q| <= |p| = 1. So the multipliers bound every network of any width.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from verify.checker.exact import dot, sqrt_upper
from verify.claims.conclusions import is_global
from verify.claims.decisions import is_kkt_point
from verify.claims.lyu2021.theorem_4_2 import is_dense_margin_problem
from verify.claims.power import always
from verify.claims.records import Claim, Instance, Variant
from verify.claims.theorems import run_alone
from verify.problem.network import Network
from verify.problem.problem import Bias, Dataset, Goal, Problem
from verify.strategies import split_sizes
from verify.strategies.numbers import combination, leaky_slopes, orthonormal, positive_rationals, times

__all__ = ["CLAIMS", "has_both_signs", "is_bent_margin_problem", "is_orthogonally_separable", "separable_points"]


def is_bent_margin_problem(instance: Instance) -> bool:
    """A max-margin problem without biases and masks, of a slope from 0 to 1, 1 left out."""
    return is_dense_margin_problem(instance) and instance.slope < 1


def is_orthogonally_separable(instance: Instance) -> bool:
    """x_i.x_j > 0 for points of one label, <= 0 for others."""
    points = list(zip(instance.data.inputs, instance.data.targets, strict=True))
    pairs = [(dot(x, z), y == t) for (x, y), (z, t) in combinations(points, 2)]
    return all(any(x) for x, _ in points) and all((product > 0) is is_alike for product, is_alike in pairs)


def has_both_signs(instance: Instance) -> bool:
    """For each label that occurs some neuron has an output weight of that sign."""
    return all(any(v * y > 0 for v in instance.network.output_weights) for y in instance.data.targets)


@st.composite
def separable_points(draw: DrawFn) -> Instance:
    """Points (e + t q) / s, (e - t q) / s, t <= 1/2, and points -(e' + t q'), such: KKT points by their construction.

    e, e' are unit vectors up to 30 degrees apart (one for leaky networks), the neurons r e, and -r e', with margin 1 at
    the points; further out there are others, which support nothing. One label or both; neurons of a sign are split.
    Shrinks to one point of one label in the plane, without a slope.
    """
    d, a = draw(st.integers(2, 4)), draw(st.one_of(st.just(Fraction(0)), leaky_slopes()))
    e, *basis = draw(orthonormal(d))
    tilt = Fraction(0) if a else Fraction(draw(st.integers(0, 1)), 4)
    square = tilt * tilt
    other = combination([(1 - square) / (1 + square), 2 * tilt / (1 + square)], [e, basis[0]])
    r, labels = draw(positive_rationals(2)), draw(st.sampled_from([(1,), (-1,), (1, -1)]))
    if a:
        labels = (1, -1)
    height = 1 / ((1 + a) * r * r)  # a neuron r e of output weight r has r^2 e.x, and a r^2 e.x at the other label
    across = [q for q in basis if dot(q, other) == 0] or basis
    rows: list[tuple[Fraction, ...]] = []
    targets: list[int] = []
    for label in labels:
        axis, q = (e, basis[0]) if label > 0 else (other, draw(st.sampled_from(across)))
        turned = _orthogonal(q, axis)
        t = Fraction(draw(st.integers(0, 2)), 4)
        points = [times(height, combination([Fraction(1), s * t], [axis, turned])) for s in ((1, -1) if t else (0,))]
        points += [times(1 + more, points[0]) for more in draw(st.lists(positive_rationals(2), max_size=1))]
        rows += [times(label, x) for x in points]
        targets += [label] * len(points)
    sizes = [r * share for share in draw(split_sizes())]
    hidden = [times(size, e if label > 0 else times(-1, other)) for label in labels for size in sizes]
    network = Network.two_layer(hidden, [label * size for label in labels for size in sizes], slope=a)
    problem = Problem(Dataset(rows, targets), network.architecture, goal=Goal.MAX_MARGIN, bias=Bias.NONE)
    return Instance(problem, network)


def _orthogonal(q: tuple[Fraction, ...], axis: tuple[Fraction, ...]) -> tuple[Fraction, ...]:
    """The part of q orthogonal to a unit vector."""
    return combination([Fraction(1), -dot(q, axis)], [q, axis])


def _with_one_sign(instance: Instance) -> Instance:
    """The first neuron alone, at slope 1/2, on a point along it and its antipode: a KKT point, which two neurons "
    "beat.
    """
    e = instance.network.hidden_weights[0]
    size = sqrt_upper(dot(e, e))  # rational
    network = Network.two_layer([e], [size], slope=Fraction(1, 2))
    row = times(2 / size**3, e)
    problem = Problem(
        Dataset([row, times(-1, row)], [1, -1]), network.architecture, goal=Goal.MAX_MARGIN, bias=Bias.NONE
    )
    return Instance(problem, network)


CLAIMS = (
    Claim(
        id="lyu2021.appH",
        source="arXiv:2110.13905, section 2, of Appendix H",
        statement="On orthogonally separable data every KKT point is of global max margin; of leaky networks where "
        "there is a neuron for each sign of a label.",
        setting=is_bent_margin_problem,
        hypotheses={
            "orthogonally-separable": is_orthogonally_separable,
            "kkt": is_kkt_point,
            "both-signs": has_both_signs,
        },
        conclusion=is_global,
        instances=separable_points(),
        sharp={
            "orthogonally-separable": "max-margin/vardi2022-theorem-3-2",
            "kkt": "max-margin/unbalanced",
            "both-signs": "max-margin/lyu2021-appendix-h-wrong-sign",
        },
        regime="the appendix is not in the text that we have: its statement is that of section 2, the condition on "
        "leaky networks and the proof are ours; slopes 0 <= a < 1, up to 4 dimensions; of any width, exactly; "
        "the neurons of a sign are along one direction, as the proof says of every KKT point",
        could_fail=always,
        variants=(
            Variant(
                name="one-sign",
                statement="That is so of leaky networks with neurons of one sign as well.",
                dropped=("both-signs",),
                instances=separable_points().map(_with_one_sign),
            ),
        ),
    ),
)

if __name__ == "__main__":
    run_alone(CLAIMS)
