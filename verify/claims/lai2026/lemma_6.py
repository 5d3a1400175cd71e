"""Lemma 6 of arXiv:2603.04895v2, section 5.

    |x_i|^2 b_ki(t) <= -min |y| / 8, duals bounded, points nearly orthogonal  ==>  z_ki(t) < 0, b_ki(t + 1) = b_ki(t)

with z_k = X w_k the primal and b_k the dual variables of neuron k, w_k = X^T b_k. The text that we have lost its
formulas; this is rebuilt from the proof.
"""

from __future__ import annotations

from verify.checker.exact import dot
from verify.claims.lai2026.exact_descent import after_step, preactivations, step_size
from verify.claims.lai2026.hypotheses import (
    EVENT,
    STEP,
    duals,
    has_labels,
    is_hidden_regression,
    is_nearly_orthogonal,
    label_range,
    weights_of,
)
from verify.claims.records import Claim, Instance, Judgement, failed, held, undecided
from verify.claims.theorems import run_alone
from verify.strategies import dual_networks

__all__ = ["CLAIMS", "freezes", "has_a_negative_dual", "has_bounded_duals"]


def has_bounded_duals(instance: Instance) -> bool:
    """|x|^4 sum_i b_ki^2 <= 9 n max |y|^2 for each neuron, |x| the smallest."""
    found, (_, high) = duals(instance, weights_of(instance)), label_range(instance)
    square = min(dot(x, x) for x in instance.data.inputs)
    return found is not None and all(square**2 * dot(b, b) <= 9 * len(instance.data) * high * high for b in found)


def _negative_duals(instance: Instance) -> list[tuple[int, int]]:
    low, _ = label_range(instance)
    rows = instance.data.inputs
    found = duals(instance, weights_of(instance)) or []
    return [(k, i) for k, b in enumerate(found) for i, x in enumerate(rows) if 8 * dot(x, x) * b[i] <= -low]


def has_a_negative_dual(instance: Instance) -> bool:
    """|x_i|^2 b_ki <= -min |y| / 8 for some neuron and point."""
    return bool(_negative_duals(instance))


def freezes(instance: Instance) -> Judgement:
    """Where |x_i|^2 b_ki <= -min |y| / 8, z_ki < 0, and a step leaves b_ki as it is."""
    places = _negative_duals(instance)
    z = preactivations(weights_of(instance), instance.data.inputs)
    moved = after_step(instance, weights_of(instance), step_size(instance.data.inputs))
    before, after = duals(instance, weights_of(instance)), duals(instance, moved)
    if before is None or after is None:
        return undecided("the weights are not in the span of the points")
    wrong = [(k, i) for k, i in places if z[k][i] >= 0 or before[k][i] != after[k][i]]
    return failed(f"dual variables move at {wrong}") if wrong else held(measured=len(places))


CLAIMS = (
    Claim(
        id="lai2026.lem6",
        source="arXiv:2603.04895v2, Lemma 6",
        statement="On nearly orthogonal points, with bounded dual variables, a sufficiently negative dual variable "
        "does not move.",
        setting=is_hidden_regression,
        hypotheses={
            "nonzero-labels": has_labels,
            "nearly-orthogonal": is_nearly_orthogonal,
            "bounded-duals": has_bounded_duals,
            "negative-dual": has_a_negative_dual,
        },
        conclusion=freezes,
        instances=dual_networks().map(lambda drawn: Instance(*drawn)),
        regime=f"|x|^2 b <= -min |y| / 8 is sufficiently negative; {EVENT}; {STEP}",
        quantity="variables",
    ),
)

if __name__ == "__main__":
    run_alone(CLAIMS)
