"""Lemma 12 and the proof of Theorem 5 of arXiv:2603.04895v2, appendix E.2.

    each label assigned to one neuron of its sign, S_k those of neuron k, points nearly orthogonal
        ==>  (a) to (e) at t = 1, and with (a) to (e) at t also at t + 1

The conditions are those of `verify.claims.lai2026.conditions`.
"""

from __future__ import annotations

from verify.claims.lai2026.conditions import broken_conditions
from verify.claims.lai2026.exact_descent import after_step, step_size
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
from verify.claims.records import Claim, Instance, Judgement, failed, held
from verify.claims.theorems import run_alone
from verify.strategies import assigned_starts

__all__ = ["CLAIMS", "reaches_the_conditions"]


def reaches_the_conditions(instance: Instance) -> Judgement:
    """(a) to (e) with the S_k of the start, after the first step and after the second."""
    sets, weights = assigned(instance, weights_of(instance)), weights_of(instance)
    for step in (1, 2):
        weights = after_step(instance, weights, step_size(instance.data.inputs))
        broken = broken_conditions(instance, weights, sets)
        if broken:
            return failed(f"conditions {', '.join(broken)} do not hold after step {step}")
    return held()


CLAIMS = (
    Claim(
        id="lai2026.lem12",
        source="arXiv:2603.04895v2, Lemma 12 and the proof of Theorem 5",
        statement="With each label assigned to a neuron the conditions hold after the first step, and carry over.",
        setting=is_hidden_regression,
        hypotheses={"nonzero-labels": has_labels, "nearly-orthogonal": is_nearly_orthogonal, "assigned": is_assigned},
        conclusion=reaches_the_conditions,
        instances=assigned_starts().map(lambda drawn: Instance(*drawn)),
        regime=f"the first two steps; {EVENT}; {STEP}",
    ),
)

if __name__ == "__main__":
    run_alone(CLAIMS)
