"""Theorem 4 of arXiv:2603.04895v2, section 4.3.

    as in Theorem 3  ==>  0 < c sqrt(n) |y| / |x| <= |lim w(t) - w*| <= C sqrt(n) |y| / |x|

with w = (w_1, w_2) and w* of least norm among all that meet the labels; |x| and |y| stand for the sizes of points and
labels, which differ by constant factors at most. The text that we have lost its formulas; this is rebuilt from the
proof.
"""

from __future__ import annotations

from verify.claims.lai2026.hypotheses import (
    EVENT,
    STEP,
    has_labels,
    is_nearly_orthogonal,
    is_pair,
    is_small_and_positive,
)
from verify.claims.lai2026.least_norms import OF_THAT_ORDER, stays_near_the_least_norm
from verify.claims.records import Claim, Instance
from verify.claims.theorems import run_alone
from verify.strategies import positive_starts

__all__ = ["CLAIMS"]

CLAIMS = (
    Claim(
        id="lai2026.thm4",
        source="arXiv:2603.04895v2, Theorem 4",
        statement="Their distance to the least-norm solutions is of order sqrt(n) |y| / |x|, and never 0.",
        setting=is_pair,
        hypotheses={
            "nonzero-labels": has_labels,
            "nearly-orthogonal": is_nearly_orthogonal,
            "small-positive-start": is_small_and_positive,
        },
        conclusion=stays_near_the_least_norm,
        instances=positive_starts(neurons=2, most=3).map(lambda drawn: Instance(*drawn)),
        regime=f"{EVENT}; starts in the span of the points, z at most min |y| / 16; {STEP}{OF_THAT_ORDER}",
        quantity="distance^2 |x|^2 / (n max |y|^2)",
    ),
)

if __name__ == "__main__":
    run_alone(CLAIMS)
