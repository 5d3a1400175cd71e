"""Theorem 1 of arXiv:2603.04895v2, section 3.3.

    one neuron, points nearly orthogonal, 0 < z_i(0) small
        ==>  lim w(t) = argmin |w - w(0)|^2 subject to w.x_i = y_i where y_i > 0

up to where w(1) stands for w(0). The text that we have lost its formulas; this is rebuilt from the proof.
"""

from __future__ import annotations

from verify.claims.lai2026.ends import ends_as_regressions
from verify.claims.lai2026.hypotheses import (
    EVENT,
    STEP,
    has_labels,
    is_nearly_orthogonal,
    is_one_neuron,
    is_small_and_positive,
)
from verify.claims.records import Claim, Instance
from verify.claims.theorems import run_alone
from verify.strategies import positive_starts

__all__ = ["CLAIMS"]

CLAIMS = (
    Claim(
        id="lai2026.thm1",
        source="arXiv:2603.04895v2, Theorem 1",
        statement="From a small positive start one neuron ends as linear regression on the positive labels.",
        setting=is_one_neuron,
        hypotheses={
            "nonzero-labels": has_labels,
            "nearly-orthogonal": is_nearly_orthogonal,
            "small-positive-start": is_small_and_positive,
        },
        conclusion=ends_as_regressions,
        instances=positive_starts().map(lambda drawn: Instance(*drawn)),
        regime=f"{EVENT}; starts in the span of the points, z at most min |y| / 16; {STEP}",
        quantity="steps",
    ),
)

if __name__ == "__main__":
    run_alone(CLAIMS)
