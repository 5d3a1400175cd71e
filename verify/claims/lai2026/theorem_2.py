"""Theorem 2 of arXiv:2603.04895v2, section 3.4.

    as in Theorem 1  ==>  c sqrt(n_-) |y| / |x| <= |lim w(t) - w*| <= C sqrt(n_-) |y| / |x|

with w* the weights of least norm of (7) and n_- the number of negative labels; |x| and |y| stand for the sizes of
points and labels, which differ by constant factors at most. The paper's 1 / |x| is sqrt(1 / |lambda|_1). The text that
we have lost its formulas; this is rebuilt from the proof.
"""

from __future__ import annotations

from verify.claims.lai2026.hypotheses import (
    EVENT,
    STEP,
    has_labels,
    is_nearly_orthogonal,
    is_one_neuron,
    is_small_and_positive,
)
from verify.claims.lai2026.least_norms import OF_THAT_ORDER, stays_near_the_least_norm
from verify.claims.records import Claim, Instance
from verify.claims.theorems import run_alone
from verify.strategies import positive_starts

__all__ = ["CLAIMS"]

CLAIMS = (
    Claim(
        id="lai2026.thm2",
        source="arXiv:2603.04895v2, Theorem 2",
        statement="Its distance to the least-norm solution is of order sqrt(n_-) |y| / |x|, never 0 with a negative "
        "label.",
        setting=is_one_neuron,
        hypotheses={
            "nonzero-labels": has_labels,
            "nearly-orthogonal": is_nearly_orthogonal,
            "small-positive-start": is_small_and_positive,
        },
        conclusion=stays_near_the_least_norm,
        instances=positive_starts().map(lambda drawn: Instance(*drawn)),
        regime=f"{EVENT}; starts in the span of the points, z at most min |y| / 16; {STEP}{OF_THAT_ORDER}",
        quantity="distance^2 |x|^2 / (n_- max |y|^2)",
    ),
)

if __name__ == "__main__":
    run_alone(CLAIMS)
