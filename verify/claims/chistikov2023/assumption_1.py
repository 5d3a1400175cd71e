"""Part (ii) of Assumption 1 of arXiv:2306.06479, section 3, at random starts.

    z_j random, s_j = +-1 with probability 1/2 each  ==>  (ii) holds with probability at least 1 - (3/4)^m

(ii): some neuron of positive output weight is active at some point, no point is on a kink, and no neuron of negative
output weight is along gamma. One neuron is positive with probability 1/2, and on at a given point with 1/2.
"""

from __future__ import annotations

from fractions import Fraction
from math import sqrt
from random import Random

from verify.checker.exact import dot
from verify.claims.chistikov2023.correlated import (
    has_a_positive_active_neuron,
    is_correlated,
    is_off_the_common_pull,
    is_off_the_kinks,
)
from verify.claims.power import always
from verify.claims.records import Claim, Instance, Judgement, Variant, failed, held
from verify.claims.theorems import run_alone
from verify.numbers.floats import to_float
from verify.problem.network import Network
from verify.problem.problem import Bias, Dataset, Goal

__all__ = ["CLAIMS", "meets_part_two", "random_start"]

DRAWS = 700


def random_start(random: Random, width: int) -> Instance:
    """d = 2, 3 or 4, d points near the teacher (1, 0, ..), z_j Gaussian to 1/1000, s_j = +-1.

    Near: the angles between points are a few degrees, so that few more neurons are active than at one point.
    """
    d = random.choice((2, 3, 4))
    rows = [[Fraction(1), *(Fraction(random.randint(-9, 9), 200) for _ in range(d - 1))] for _ in range(d)]
    hidden = [[Fraction(round(1000 * random.gauss(0, 1)), 1000) for _ in range(d)] for _ in range(width)]
    outgoing = [Fraction(random.choice((-1, 1)) * sqrt(to_float(dot(w, w)))) for w in hidden]
    data = Dataset(rows, [row[0] for row in rows])
    return Instance.posed(Network.two_layer(hidden, outgoing), data, goal=Goal.MIN_NORM, bias=Bias.NONE)


def meets_part_two(instance: Instance) -> Judgement:
    """Part (ii) of Assumption 1, in exact arithmetic."""
    for what, holds in (
        ("no positive neuron is active", has_a_positive_active_neuron),
        ("a point is on a kink", is_off_the_kinks),
        ("a negative neuron is along gamma", is_off_the_common_pull),
    ):
        if not holds(instance):
            return failed(what)
    return held()


def _claim(width: int) -> Claim:
    return Claim(
        id=f"chistikov2023.assumption1.m{width}",
        source="arXiv:2306.06479, section 3, after Assumption 1",
        statement="Part (ii) of Assumption 1 holds at random starts with probability at least 1 - (3/4)^m; m = "
        f"{width}.",
        setting=lambda instance: instance.network.width == width,
        hypotheses={"45-degrees": is_correlated},
        conclusion=meets_part_two,
        kind="chance",
        chance=1 - Fraction(3, 4) ** width,
        trial=lambda random: random_start(random, width),
        regime=f"d = 2, 3, 4, points a few degrees apart, where the bound is nearly reached; z_j Gaussian, rounded to "
        f"1/1000; {DRAWS} draws",
        examples=DRAWS,
        could_fail=always,
        variants=(
            Variant(
                name="quarter",
                statement="With probability at least 1 - (1/4)^m.",
                chance=1 - Fraction(1, 4) ** width,
                examples=1000,
            ),
        ),
    )


CLAIMS = tuple(_claim(width) for width in (1, 2, 4))

if __name__ == "__main__":
    run_alone(CLAIMS)
