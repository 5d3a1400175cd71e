"""Lemma 9 of arXiv:2603.04895v2, appendix B.2.

    one neuron: (a) to (f) at t, S = {i: y_i > 0}, points nearly orthogonal  ==>  (a) to (f) at t + 1

The conditions are those of `verify.claims.lai2026.conditions`; a step after which one of them is broken violates it.
"""

from __future__ import annotations

from verify.claims.lai2026.conditions import keeps_its_conditions, settled
from verify.claims.lai2026.hypotheses import EVENT, STEP, has_labels, is_nearly_orthogonal, is_one_neuron
from verify.claims.power import has_points
from verify.claims.records import Claim, Instance, Variant
from verify.claims.theorems import run_alone
from verify.strategies import settled_features

__all__ = ["CLAIMS", "LARGE"]

LARGE = "n up to 32 and d up to 1024, Gaussian points that also have an axis of their own"

CLAIMS = (
    Claim(
        id="lai2026.lem9",
        source="arXiv:2603.04895v2, Lemma 9",
        statement="The conditions on one neuron's variables carry over from step to step.",
        setting=is_one_neuron,
        hypotheses={"nonzero-labels": has_labels, "nearly-orthogonal": is_nearly_orthogonal, **settled()},
        sharp={
            "nearly-orthogonal": "min-norm/lai2026-near-points",
            "on": "min-norm/lai2026-at-zero",
            "negative-duals": "min-norm/lai2026-weakly-off",
            "bounded-residuals": "min-norm/lai2026-large-residual",
        },
        conclusion=keeps_its_conditions,
        instances=settled_features(signs=(1,)).map(lambda drawn: Instance(*drawn)),
        regime=f"conditions (a) to (f) rebuilt from the proofs, with our constants; {LARGE}; {EVENT}; {STEP}",
        quantity="|z| / min |y| where it is off",
        examples=60,
        could_fail=has_points(2),
        variants=(
            Variant(
                name="anywhere",
                statement="They carry over on all features.",
                hypotheses={},
                instances=settled_features(signs=(1,), sizes=((8, 16),), holds=lambda _: True).map(
                    lambda drawn: Instance(*drawn)
                ),
            ),
        ),
    ),
)

if __name__ == "__main__":
    run_alone(CLAIMS)
