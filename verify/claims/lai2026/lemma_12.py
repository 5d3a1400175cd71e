"""Lemma 12 and the proof of Theorem 5 of arXiv:2603.04895v2, appendix E.2.

    each label assigned to one neuron of its sign, S_k those of neuron k, points nearly orthogonal
        ==>  (a) to (e) at t = 1, and with (a) to (e) at t also at t + 1

The conditions are those of `verify.claims.lai2026.conditions`; a step after which one of them is broken violates it.
"""

from __future__ import annotations

from verify.claims.lai2026.conditions import carry_over
from verify.claims.lai2026.hypotheses import (
    EVENT,
    STEP,
    assigned,
    has_labels,
    is_assigned,
    is_hidden_regression,
    is_nearly_orthogonal,
)
from verify.claims.lai2026.lemma_9 import LARGE
from verify.claims.power import has_points
from verify.claims.records import Claim, Instance, Judgement, Variant
from verify.claims.theorems import run_alone
from verify.strategies import settled_features

__all__ = ["CLAIMS", "reaches_the_conditions"]

STEPS = (1, 2, 3, 4)


def reaches_the_conditions(instance: Instance) -> Judgement:
    """(a) to (e) with the S_k of the start, after the first step and after the next three."""
    return carry_over(instance, assigned(instance), STEPS)


CLAIMS = (
    Claim(
        id="lai2026.lem12",
        source="arXiv:2603.04895v2, Lemma 12 and the proof of Theorem 5",
        statement="With each label assigned to a neuron the conditions hold after the first step, and carry over.",
        setting=is_hidden_regression,
        hypotheses={"nonzero-labels": has_labels, "nearly-orthogonal": is_nearly_orthogonal, "assigned": is_assigned},
        sharp={
            "nearly-orthogonal": "min-norm/lai2026-pair-small-start-at-near-points",
            "assigned": "min-norm/lai2026-large-start",
        },
        conclusion=reaches_the_conditions,
        instances=settled_features(signs=(1, 1, -1, -1), assigned=True).map(lambda drawn: Instance(*drawn)),
        regime=f"four neurons, the first four steps; {LARGE}; {EVENT}; {STEP}",
        quantity="|z| / min |y| where it is off",
        examples=60,
        could_fail=has_points(2),
        variants=(
            Variant(
                name="anywhere",
                statement="They hold, and carry over, on all features.",
                hypotheses={},
                instances=settled_features(signs=(1, -1), assigned=True, sizes=((8, 16),), holds=lambda _: True).map(
                    lambda drawn: Instance(*drawn)
                ),
            ),
        ),
    ),
)

if __name__ == "__main__":
    run_alone(CLAIMS)
