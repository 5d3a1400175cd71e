"""Theorem 1 of arXiv:2603.04895v2, section 3.3.

    one neuron, random features, d >= C n^2, 0 < z_i(0) small
        ==>  with high probability lim w(t) = argmin |w - w(1)|^2 subject to w.x_i = y_i where y_i > 0, and z_i < 0 else

w(1) are the weights after the first step; the text that we have lost its formulas, this is rebuilt from the proof.

A positive label at which the neuron ends off, or a negative one at which it ends on, violates it: at d = n^2 that is
most draws.
"""

from __future__ import annotations

from fractions import Fraction

from verify.claims.lai2026.ends import ends_as_regressions
from verify.claims.lai2026.hypotheses import STEP, has_both_labels, is_one_neuron, is_small_and_positive
from verify.claims.power import always
from verify.claims.records import Claim, Instance, Variant
from verify.claims.theorems import run_alone
from verify.strategies import start_of_size

__all__ = ["CLAIMS", "HIGH_DIMENSION", "LIKELY", "MODERATE"]

LIKELY = Fraction(9, 10)
"""In place of the paper's probability, which tends to 1."""

MODERATE = ((8, 64),)
"""(points, dimension): d = n^2, where that is false."""

HIGH_DIMENSION = (
    "Gaussian points in sixteenths, n from 4 to 16 at d = 16 n^2 or more and n = 32 at d = 4096, labels of both "
    "signs, their "
    "sizes from 1 to 5/4; starts in the span of the points, z at most min |y| / 16; 9/10 for the paper's probability; "
    f"{STEP}"
)

CLAIMS = (
    Claim(
        id="lai2026.thm1",
        source="arXiv:2603.04895v2, Theorem 1",
        statement="From a small positive start one neuron ends, with high probability over random features, as "
        "linear regression on the positive labels; it meets them and is 0 at the others, with a certificate, and "
        "training ends there.",
        setting=is_one_neuron,
        hypotheses={"both-labels": has_both_labels, "small-positive-start": is_small_and_positive},
        sharp={"small-positive-start": "min-norm/lai2026-starts-off"},
        conclusion=ends_as_regressions,
        kind="chance",
        chance=LIKELY,
        trial=lambda random: Instance(*start_of_size(random, [1])),
        regime=HIGH_DIMENSION,
        quantity="steps",
        examples=60,
        could_fail=always,
        variants=(
            Variant(
                name="moderate",
                statement="The same in dimension n^2.",
                trial=lambda random: Instance(*start_of_size(random, [1], MODERATE)),
            ),
        ),
    ),
)

if __name__ == "__main__":
    run_alone(CLAIMS)
