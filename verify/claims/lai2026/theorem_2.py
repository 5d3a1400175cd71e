"""Theorem 2 of arXiv:2603.04895v2, section 3.4.

    as in Theorem 1  ==>  with high probability  c sqrt(n_-) |y| / |x| <= |lim w(t) - w*| <= C sqrt(n_-) |y| / |x|

with w* the weights of least norm of (7) and n_- the number of negative labels; |x| and |y| stand for the sizes of
points and labels. The paper's 1 / |x| is sqrt(1 / |lambda|_1). The text that we have lost its formulas; this is
rebuilt from the proof, and c and C are ours.

The distance is that which the audit of the limit proves (`Audit.distance_own_width`), outward. One beyond either end
violates it: with C = 1/8, or with c = 5/8, nearly every draw does.
"""

from __future__ import annotations

from fractions import Fraction

from verify.claims.lai2026.hypotheses import STEP, has_both_labels, is_one_neuron, is_small_and_positive
from verify.claims.lai2026.least_norms import LEAST, OF_THAT_ORDER, stays_near_the_least_norm, stays_within
from verify.claims.lai2026.theorem_1 import LIKELY
from verify.claims.power import always
from verify.claims.records import Claim, Instance, Variant
from verify.claims.theorems import run_alone
from verify.strategies import start_of_size

__all__ = ["AUDITED", "AUDITED_SIZES", "CLAIMS"]

AUDITED_SIZES = ((4, 256), (4, 256), (6, 576), (6, 576), (6, 576), (8, 512), (8, 1024))
"""(points, dimension) of draws that are audited, each of which costs a second at most."""

AUDITED = (
    "Gaussian points in sixteenths, n from 4 to 8 and d from 256 to 1024, mostly 16 n^2, labels of both signs, their "
    "sizes from 1 to 5/4; starts in the span of the points, z at most min |y| / 16; 9/10 for the paper's probability; "
    f"{STEP}"
)

CLAIMS = (
    Claim(
        id="lai2026.thm2",
        source="arXiv:2603.04895v2, Theorem 2",
        statement="Its distance to the least-norm solution is, with high probability over random features, of order "
        "sqrt(n_-) |y| / |x|, never 0 with a negative label.",
        setting=is_one_neuron,
        hypotheses={"both-labels": has_both_labels, "small-positive-start": is_small_and_positive},
        sharp={"small-positive-start": "min-norm/lai2026-starts-best"},
        conclusion=stays_near_the_least_norm,
        kind="chance",
        chance=LIKELY,
        trial=lambda random: Instance(*start_of_size(random, [1], AUDITED_SIZES)),
        regime=f"{AUDITED}{OF_THAT_ORDER}",
        quantity="distance^2 |x|^2 / (n_- max |y|^2)",
        examples=100,
        could_fail=always,
        variants=(
            Variant(
                name="nearer",
                statement="It is at most min |y| / 8 times that order.",
                conclusion=stays_within(LEAST, Fraction(1, 8)),
                trial=lambda random: Instance(*start_of_size(random, [1], ((4, 256),))),
                examples=40,
            ),
        ),
    ),
)

if __name__ == "__main__":
    run_alone(CLAIMS)
