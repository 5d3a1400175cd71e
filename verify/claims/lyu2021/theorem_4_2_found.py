"""Theorem 4.2 of arXiv:2110.13905, section 4.1, on networks that nobody built linear.

    data separable and symmetric, theta of the best objective up to a factor 1 + 1e-7
        ==>  f at unit norm is (1 + a)/4 <w*, x>, up to 3 %

The networks are those that an audit finds better than one that is not linear, from searches over all widths. Nothing
says how far from linear a network within 1e-7 of the best may be; 3 % leaves room for a hundred times the square root
of that.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial

from verify.claims.decisions import audited
from verify.claims.lyu2021.ends import ALLOWED, unit_vector
from verify.claims.lyu2021.symmetric import SYMMETRIC, is_leaky, separator
from verify.claims.lyu2021.theorem_4_3 import distance_from_linear
from verify.claims.power import has_points
from verify.claims.records import Claim, Instance, Judgement, Variant, failed, held, undecided
from verify.claims.theorems import run_alone
from verify.numbers.floats import to_float
from verify.problem.network import Network
from verify.problem.posing import pose
from verify.strategies import bent_networks, known_margins, symmetric_starts
from verify.strategies.margins import KnownMargin

__all__ = ["CLAIMS", "finds_a_linear_one"]


def finds_a_linear_one(instance: Instance, factor: float = 1.0) -> Judgement:
    """The best network that the audit knows, where that is proved to be within 1e-7; measured: its distance."""
    found, w = audited(instance), separator(instance)
    if w is None:
        return failed("no linear classifier fits")
    best = found.better or instance.network
    if found.bracket is None or found.bracket[1] > found.bracket[0] * (1 + found.tolerance):
        return undecided("the bracket of the best objective is too wide")
    problem = pose(best, instance.data, goal=instance.problem.goal, bias=instance.problem.bias)
    distance = Fraction(distance_from_linear(Instance(problem, best), factor * unit_vector(w))).limit_denominator(10**9)
    words = f"the best network known is {to_float(distance):.2g} from (1 + a)/4 <w*, x>"
    return (held if distance <= ALLOWED else failed)(words, measured=distance)


def _bent(known: KnownMargin) -> Instance:
    """Two neurons that are not opposite, on data that need not be symmetric."""
    across = [2 * x for x in known.direction[1:]] + [-known.direction[0]]
    network = Network.two_layer([known.direction, across], [1, -1], slope=Fraction(1, 2))
    return Instance.posed(network, known.data)


CLAIMS = (
    Claim(
        id="lyu2021.thm4.2.found",
        source="arXiv:2110.13905, Theorem 4.2",
        statement="On separable symmetric data the best network that a search finds, from one that is not linear, is "
        "(1+a)/4 <w*, x> at unit norm.",
        setting=is_leaky,
        hypotheses=SYMMETRIC,
        conclusion=finds_a_linear_one,
        instances=bent_networks().map(Instance.of) | symmetric_starts().map(lambda drawn: Instance(*drawn)),
        sharp={
            "symmetric": "max-margin/lyu2021-theorem-6-2-hinted",
            "separable": "max-margin/lyu2021-theorem-4-2-not-separable",
        },
        regime="half of the networks are the KKT points of Figure 1 (left); within 1e-7 of the best over all widths, "
        "and 3 % of the classifier, in floats",
        quantity="distance",
        examples=100,
        could_fail=has_points(4),
        variants=(
            Variant(
                name="asymmetric",
                statement="That is so on all separable data.",
                dropped=("symmetric",),
                instances=known_margins(least_dimension=2).map(_bent),
            ),
            Variant(
                name="doubled",
                statement="It is (1+a)/2 <w*, x> at unit norm.",
                conclusion=partial(finds_a_linear_one, factor=2.0),
            ),
        ),
    ),
)

if __name__ == "__main__":
    run_alone(CLAIMS)
