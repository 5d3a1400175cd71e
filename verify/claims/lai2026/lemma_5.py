"""Lemma 5 of arXiv:2603.04895v2, section 5.

    z_ki(t) > 0, s_k y_i > 0, residuals |f(x_i) - y_i| bounded, points nearly orthogonal  ==>  z_ki(t + 1) > 0

with z_k = X w_k the primal variables of neuron k and s_k its output weight. The text that we have lost its formulas;
this is rebuilt from the proof.
"""

from __future__ import annotations

from hypothesis import strategies as st

from verify.claims.lai2026.exact_descent import after_step, preactivations, step_size
from verify.claims.lai2026.hypotheses import (
    EVENT,
    STEP,
    assigned,
    has_labels,
    is_hidden_regression,
    is_nearly_orthogonal,
    label_range,
    weights_of,
)
from verify.claims.records import Claim, Instance, Judgement, failed, held
from verify.claims.theorems import run_alone
from verify.problem.problem import outputs
from verify.strategies import settled_networks

__all__ = ["CLAIMS", "has_a_positive_variable", "has_bounded_residuals", "stays_positive"]


def has_bounded_residuals(instance: Instance) -> bool:
    """|f(x_i) - y_i| <= 4 max |y|, and at most one neuron of each sign."""
    _, high = label_range(instance)
    values = outputs(instance.problem, instance.network)
    signs = instance.network.output_weights
    is_single = len(set(signs)) == len(signs)
    return is_single and all(abs(f - y) <= 4 * high for f, y in zip(values, instance.data.targets, strict=True))


def has_a_positive_variable(instance: Instance) -> bool:
    """z_ki > 0 somewhere where y_i has the neuron's sign."""
    return any(assigned(instance, weights_of(instance)))


def stays_positive(instance: Instance) -> Judgement:
    """z_ki > 0 where y_i has the neuron's sign: also after a step."""
    seen = assigned(instance, weights_of(instance))
    moved = after_step(instance, weights_of(instance), step_size(instance.data.inputs))
    z = preactivations(moved, instance.data.inputs)
    lost = [(k, i) for k, points in enumerate(seen) for i in points if z[k][i] <= 0]
    return failed(f"z is not positive any more at {lost}") if lost else held(measured=sum(map(len, seen)))


CLAIMS = (
    Claim(
        id="lai2026.lem5",
        source="arXiv:2603.04895v2, Lemma 5",
        statement="On nearly orthogonal points, with bounded residuals, a positive primal variable stays positive "
        "where the label has the neuron's sign.",
        setting=is_hidden_regression,
        hypotheses={
            "nonzero-labels": has_labels,
            "nearly-orthogonal": is_nearly_orthogonal,
            "bounded-residuals": has_bounded_residuals,
            "positive": has_a_positive_variable,
        },
        conclusion=stays_positive,
        instances=st.one_of(settled_networks(positive=True), settled_networks(neurons=2)).map(
            lambda drawn: Instance(*drawn)
        ),
        regime=f"at most one neuron of each sign; residuals up to 4 max |y|; {EVENT}; {STEP}",
        quantity="variables",
    ),
)

if __name__ == "__main__":
    run_alone(CLAIMS)
