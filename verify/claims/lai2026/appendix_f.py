"""Appendix F and Remark 1 of arXiv:2603.04895v2.

    one neuron, y_i > 0, z_i(0) < 0, points nearly orthogonal  ==>  z_i(t) < 0 for all t, so that y_i is never met

The text that we have lost its formulas; this is rebuilt from the proof.
"""

from __future__ import annotations

from verify.claims.lai2026.ends import MISSED
from verify.claims.lai2026.exact_descent import captured, preactivations
from verify.claims.lai2026.hypotheses import (
    EVENT,
    STEP,
    duals,
    has_labels,
    is_nearly_orthogonal,
    is_one_neuron,
    label_range,
    weights_of,
)
from verify.claims.records import Claim, Instance, Judgement, failed, held, undecided
from verify.claims.theorems import run_alone
from verify.strategies import inactive_starts

__all__ = ["CLAIMS", "is_off_at_a_positive_label", "stays_off"]


def is_off_at_a_positive_label(instance: Instance) -> bool:
    """At some point of positive label z <= -min |y| / 4, elsewhere 0 < z <= min |y| / 16; in the span of the points."""
    low, _ = label_range(instance)
    (z,) = preactivations(weights_of(instance), instance.data.inputs)
    off = [i for i, value in enumerate(z) if value <= 0]
    is_far = all(instance.data.targets[i] > 0 and 4 * z[i] <= -low for i in off)
    is_small = all(0 < 16 * value <= low for i, value in enumerate(z) if i not in off)
    return bool(off) and is_far and is_small and duals(instance, weights_of(instance)) is not None


def stays_off(instance: Instance) -> Judgement:
    """Descent ends with the neuron off at a positive label, so that it is not met: no global minimum of the loss."""
    found = captured(instance)
    if found is None:
        return undecided(MISSED)
    (z,) = preactivations(found.path[0], instance.data.inputs)
    off = [i for i, value in enumerate(z) if value <= 0]
    if any(found.pattern[0][i] for i in off):
        return failed("the neuron is on there in the end")
    return held(f"it is for ever off at {off}", measured=found.steps)


CLAIMS = (
    Claim(
        id="lai2026.appF",
        source="arXiv:2603.04895v2, appendix F and Remark 1",
        statement="A neuron that starts off at a positive label stays off there, so that the label is never met.",
        setting=is_one_neuron,
        hypotheses={
            "nonzero-labels": has_labels,
            "nearly-orthogonal": is_nearly_orthogonal,
            "starts-off": is_off_at_a_positive_label,
        },
        conclusion=stays_off,
        instances=inactive_starts().map(lambda drawn: Instance(*drawn)),
        regime=f"{EVENT}; starts in the span of the points, z at most min |y| / 16; {STEP}",
        quantity="steps",
    ),
)

if __name__ == "__main__":
    run_alone(CLAIMS)
