"""Lemma 10 of arXiv:2603.04895v2, appendix C.

    two neurons: (a) to (f) at t, S_k = {i: s_k y_i > 0}, points nearly orthogonal  ==>  (a) to (f) at t + 1

with s_k the output weights, 1 and -1. The conditions are those of `verify.claims.lai2026.conditions`.
"""

from __future__ import annotations

from verify.claims.lai2026.conditions import is_settled, keeps_its_conditions
from verify.claims.lai2026.hypotheses import EVENT, STEP, has_labels, is_nearly_orthogonal, is_pair
from verify.claims.records import Claim, Instance
from verify.claims.theorems import run_alone
from verify.strategies import settled_networks

__all__ = ["CLAIMS"]

CLAIMS = (
    Claim(
        id="lai2026.lem10",
        source="arXiv:2603.04895v2, Lemma 10",
        statement="The conditions on two neurons' variables carry over from step to step.",
        setting=is_pair,
        hypotheses={"nonzero-labels": has_labels, "nearly-orthogonal": is_nearly_orthogonal, "conditions": is_settled},
        conclusion=keeps_its_conditions,
        instances=settled_networks(neurons=2).map(lambda drawn: Instance(*drawn)),
        regime=f"conditions (a) to (f) rebuilt from the proofs, with our constants; {EVENT}; {STEP}",
    ),
)

if __name__ == "__main__":
    run_alone(CLAIMS)
