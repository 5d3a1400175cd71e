"""Theorem 3 of arXiv:2603.04895v2, section 4.2.

    a positive and a negative neuron, random features, d >= C n^2, 0 < z_ki(0) small
        ==>  with high probability lim w_k(t) = argmin |w - w_k|^2 subject to w.x_i = |y_i| where s_k y_i > 0,
             and z_ki < 0 elsewhere

with w_k the weights after the first step and s_k the output weights, 1 and -1. The text that we have lost its
formulas; this is rebuilt from the proof. What violates it is as for Theorem 1, at either neuron.
"""

from __future__ import annotations

from verify.claims.lai2026.ends import ends_as_regressions
from verify.claims.lai2026.hypotheses import has_both_labels, is_pair, is_small_and_positive
from verify.claims.lai2026.theorem_1 import HIGH_DIMENSION, LIKELY, MODERATE
from verify.claims.power import always
from verify.claims.records import Claim, Instance, Variant
from verify.claims.theorems import run_alone
from verify.strategies import start_of_size

__all__ = ["CLAIMS"]

CLAIMS = (
    Claim(
        id="lai2026.thm3",
        source="arXiv:2603.04895v2, Theorem 3",
        statement="From small positive starts a positive and a negative neuron end, with high probability over random "
        "features, as linear regressions on their labels; they fit, with a certificate, and training ends there.",
        setting=is_pair,
        hypotheses={"both-labels": has_both_labels, "small-positive-start": is_small_and_positive},
        sharp={"small-positive-start": "min-norm/lai2026-pair-starts-off"},
        conclusion=ends_as_regressions,
        kind="chance",
        chance=LIKELY,
        trial=lambda random: Instance(*start_of_size(random, [1, -1])),
        regime=HIGH_DIMENSION,
        quantity="steps",
        examples=60,
        could_fail=always,
        variants=(
            Variant(
                name="moderate",
                statement="The same in dimension n^2.",
                trial=lambda random: Instance(*start_of_size(random, [1, -1], MODERATE)),
                examples=80,
            ),
        ),
    ),
)

if __name__ == "__main__":
    run_alone(CLAIMS)
