"""Theorem 4.2 of arXiv:2110.13905, section 4.1.

    data separable and symmetric, m >= 2, theta* of global max margin, |theta*| = 1
        ==>  f_theta*(x) = (1 + a)/4 <w*, x>

with w* the unit vector of largest linear margin g = min y_i <w*, x_i>. So the largest y_i f(x_i) / |theta|^2 is
(1 + a) g / 4, and the least |theta|^2 / 2 with y_i f(x_i) >= 1 is 2 / ((1 + a) g).
"""

from __future__ import annotations

from fractions import Fraction

from verify.checker.exact import dot
from verify.claims.decisions import audited, global_exactly
from verify.claims.lyu2021.symmetric import SYMMETRIC, Vector, separator
from verify.claims.power import has_points
from verify.claims.predicates import is_fully_connected, is_margin_problem
from verify.claims.records import Claim, Instance, Judgement, Variant, failed, held, undecided
from verify.claims.theorems import run_alone
from verify.deciders.finding import Verdict
from verify.numbers.floats import to_float
from verify.problem.network import Network
from verify.problem.problem import Goal, half_squared_norm
from verify.strategies import known_margins, linear_networks
from verify.strategies.margins import KnownMargin

__all__ = ["CLAIMS", "has_linear_optimum", "has_width_two", "is_dense_margin_problem"]


def is_dense_margin_problem(instance: Instance) -> bool:
    """A max-margin problem without biases, every neuron seeing every column."""
    return is_margin_problem(instance) and is_fully_connected(instance)


def has_width_two(instance: Instance) -> bool:
    """More than one neuron."""
    return instance.network.width > 1


def has_linear_optimum(instance: Instance) -> Judgement:
    """The best objective is 2 / ((1 + a) g), g the linear margin, and the network is linear if it is optimal.

    The best of any width, which two neurons reach; of one neuron, the best of this width.
    """
    found, w = audited(instance), separator(instance)
    if w is None or found.infeasible:
        return failed("no linear classifier fits") if w is None else failed("no network fits")
    ends = found.bracket if has_width_two(instance) else found.bracket_own_width
    if ends is None:
        return undecided("the best objective has no bracket")
    low, high = ends
    square = 4 * dot(w, w) / (1 + instance.slope) ** 2
    if not low * low <= square <= high * high:
        return failed(f"the best objective lies in {ends}, not at {to_float(square) ** 0.5:.9g}")
    if high > low * (1 + found.tolerance):
        return undecided("the bracket of the best objective is too wide")
    best = global_exactly(instance)
    if best.verdict is Verdict.UNDECIDED:
        return undecided(f"the value agrees; {best.reason}")
    if best.verdict is Verdict.REFUTED:
        return held("the value agrees; this network is not optimal")
    return _is_the_linear_one(instance, w)


def _is_the_linear_one(instance: Instance, w: Vector) -> Judgement:
    """f(x) = (1 + a) / 4 <w*, x> at unit norm, exactly."""
    network = instance.network
    sides: dict[tuple[Fraction, ...], Fraction] = {}
    for row, v in zip(network.hidden_weights, network.output_weights, strict=True):
        lead = next((x for x in row if x), None)
        if lead is not None:
            line = tuple(x / lead for x in row)
            sides[line] = sides.get(line, Fraction(0)) + v * abs(lead)
    if instance.slope != 1 and any(sides.values()):
        return failed("an optimal network is not linear")
    total = [dot(network.output_weights, column) for column in zip(*network.hidden_weights, strict=True)]
    size = half_squared_norm(instance.problem, network)
    is_parallel = dot(total, w) > 0 and dot(total, w) ** 2 == dot(total, total) * dot(w, w)
    if not is_parallel or dot(total, total) != size * size:
        return failed("an optimal network is linear, but not (1 + a)/4 <w*, x> at unit norm")
    return held("optimal, and (1 + a)/4 <w*, x> at unit norm")


def _posed_along_the_margin(known: KnownMargin) -> Instance:
    """Two opposite neurons along the separator."""
    network = Network.two_layer([known.direction, [-x for x in known.direction]], [1, -1], slope=Fraction(1, 2))
    return Instance.posed(network, known.data, goal=Goal.MAX_MARGIN)


CLAIMS = (
    Claim(
        id="lyu2021.thm4.2",
        source="arXiv:2110.13905, Theorem 4.2",
        statement="On separable symmetric data the best objective is 2/((1+a) g) with the linear margin g, and every "
        "optimal network of width >= 2 is (1+a)/4 <w*, x> at unit norm.",
        setting=is_dense_margin_problem,
        hypotheses={**SYMMETRIC, "width": has_width_two},
        conclusion=has_linear_optimum,
        instances=linear_networks().map(Instance.of),
        sharp={
            "symmetric": "max-margin/lyu2021-theorem-6-2-hinted",
            "separable": "max-margin/lyu2021-theorem-4-2-not-separable",
            "width": "max-margin/lyu2021-one-neuron-on-symmetric-data",
        },
        regime="all slopes 0 <= a <= 1, though the paper has 0 < a < 1; the value within 1e-7 from both sides; "
        "linearity of the optimal networks that are drawn, exactly; these are built along +-w*, others are those of "
        "lyu2021.thm4.2.found",
        could_fail=has_points(4),
        variants=(
            Variant(
                name="asymmetric",
                statement="That is so on all separable data.",
                dropped=("symmetric",),
                instances=known_margins(least_dimension=2).map(_posed_along_the_margin),
            ),
        ),
    ),
)

if __name__ == "__main__":
    run_alone(CLAIMS)
