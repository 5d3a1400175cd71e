"""Theorem 5 of arXiv:2603.04895v2, appendix D.

    m neurons, each label assigned to one of its sign, S_k those of neuron k, points nearly orthogonal
        ==>  lim w_k(t) = argmin |w - w_k|^2 subject to w.x_i = |y_i| for i in S_k

with w_k the weights after the first step. The text that we have lost its formulas; this is rebuilt from the proof.
"""

from __future__ import annotations

from verify.claims.lai2026.ends import ends_on
from verify.claims.lai2026.hypotheses import (
    EVENT,
    STEP,
    assigned,
    has_labels,
    is_assigned,
    is_hidden_regression,
    is_nearly_orthogonal,
    weights_of,
)
from verify.claims.records import Claim, Instance, Judgement
from verify.claims.theorems import run_alone
from verify.strategies import assigned_starts

__all__ = ["CLAIMS", "ends_as_assigned"]


def ends_as_assigned(instance: Instance) -> Judgement:
    """From the first step on each neuron is linear regression on the labels of its sign at which it is on; else off."""
    return ends_on(instance, assigned(instance, weights_of(instance)))


CLAIMS = (
    Claim(
        id="lai2026.thm5",
        source="arXiv:2603.04895v2, Theorem 5",
        statement="Neurons with disjoint sets of labels end as linear regressions on them.",
        setting=is_hidden_regression,
        hypotheses={"nonzero-labels": has_labels, "nearly-orthogonal": is_nearly_orthogonal, "assigned": is_assigned},
        conclusion=ends_as_assigned,
        instances=assigned_starts().map(lambda drawn: Instance(*drawn)),
        regime=f"{EVENT}; starts in the span of the points, z at most min |y| / 16; {STEP}",
        quantity="steps",
    ),
)

if __name__ == "__main__":
    run_alone(CLAIMS)
