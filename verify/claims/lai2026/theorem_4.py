"""Theorem 4 of arXiv:2603.04895v2, section 4.3.

    as in Theorem 3  ==>  with high probability  0 < c sqrt(n) |y| / |x| <= |lim w(t) - w*| <= C sqrt(n) |y| / |x|

with w = (w_1, w_2) and w* the nearest of least norm among all that meet the labels; |x| and |y| stand for the sizes of
points and labels. The text that we have lost its formulas; this is rebuilt from the proof, and c and C are ours. The
distance, and what violates it, are as for Theorem 2.
"""

from __future__ import annotations

from verify.claims.lai2026.hypotheses import has_both_labels, is_pair, is_small_and_positive
from verify.claims.lai2026.least_norms import MOST, OF_THAT_ORDER, stays_near_the_least_norm, stays_within
from verify.claims.lai2026.theorem_1 import LIKELY
from verify.claims.lai2026.theorem_2 import AUDITED, AUDITED_SIZES
from verify.claims.power import always
from verify.claims.records import Claim, Instance, Variant
from verify.claims.theorems import run_alone
from verify.strategies import start_of_size

__all__ = ["CLAIMS"]

CLAIMS = (
    Claim(
        id="lai2026.thm4",
        source="arXiv:2603.04895v2, Theorem 4",
        statement="Their distance to the least-norm solution is, with high probability over random features, of order "
        "sqrt(n) |y| / |x|, and never 0.",
        setting=is_pair,
        hypotheses={"both-labels": has_both_labels, "small-positive-start": is_small_and_positive},
        sharp={"small-positive-start": "min-norm/lai2026-pair-starts-best"},
        conclusion=stays_near_the_least_norm,
        kind="chance",
        chance=LIKELY,
        trial=lambda random: Instance(*start_of_size(random, [1, -1], AUDITED_SIZES)),
        regime=f"{AUDITED}{OF_THAT_ORDER}",
        quantity="distance^2 |x|^2 / (n max |y|^2)",
        examples=60,
        could_fail=always,
        variants=(
            Variant(
                name="farther",
                statement="It is at least 5/8 min |y| times that order.",
                conclusion=stays_within(MOST, MOST),
                trial=lambda random: Instance(*start_of_size(random, [1, -1], ((4, 256),))),
                examples=40,
            ),
        ),
    ),
)

if __name__ == "__main__":
    run_alone(CLAIMS)
