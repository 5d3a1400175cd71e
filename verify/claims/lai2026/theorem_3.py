"""Theorem 3 of arXiv:2603.04895v2, section 4.2.

    a positive and a negative neuron, points nearly orthogonal, 0 < z_ki(0) small
        ==>  lim w_k(t) = argmin |w - w_k|^2 subject to w.x_i = |y_i| where s_k y_i > 0

with w_k the weights after the first step and s_k the output weights, 1 and -1. The text that we have lost its
formulas; this is rebuilt from the proof.
"""

from __future__ import annotations

from verify.claims.lai2026.ends import ends_as_regressions
from verify.claims.lai2026.hypotheses import (
    EVENT,
    STEP,
    has_labels,
    is_nearly_orthogonal,
    is_pair,
    is_small_and_positive,
)
from verify.claims.records import Claim, Instance
from verify.claims.theorems import run_alone
from verify.strategies import positive_starts

__all__ = ["CLAIMS"]

CLAIMS = (
    Claim(
        id="lai2026.thm3",
        source="arXiv:2603.04895v2, Theorem 3",
        statement="From small positive starts a positive and a negative neuron end as linear regressions on their "
        "labels.",
        setting=is_pair,
        hypotheses={
            "nonzero-labels": has_labels,
            "nearly-orthogonal": is_nearly_orthogonal,
            "small-positive-start": is_small_and_positive,
        },
        conclusion=ends_as_regressions,
        instances=positive_starts(neurons=2).map(lambda drawn: Instance(*drawn)),
        regime=f"{EVENT}; starts in the span of the points, z at most min |y| / 16; {STEP}",
        quantity="steps",
    ),
)

if __name__ == "__main__":
    run_alone(CLAIMS)
