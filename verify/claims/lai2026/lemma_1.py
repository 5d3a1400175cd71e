"""Lemmas 1 and 11 of arXiv:2603.04895v2, section 3.1 and appendix D.

    D(t) = D(T) for all t >= T  ==>  w(t + 1) = w(t) - h X_S^T (X_S w(t) - y_S) for all t >= T

for one neuron, with D(t) its activation pattern and S the points at which it is on; for several together likewise, on
the points at which some neuron is on. The text that we have lost its formulas; this is rebuilt from the proof.
"""

from __future__ import annotations

from fractions import Fraction

from verify.checker.exact import dot
from verify.claims.lai2026.ends import MISSED, UNTIL_CAPTURED, active_rows
from verify.claims.lai2026.exact_descent import after_step, captured, step_size
from verify.claims.lai2026.hypotheses import has_labels, is_hidden_regression, stacked
from verify.claims.records import Claim, Instance, Judgement, failed, held, undecided
from verify.claims.theorems import run_alone
from verify.strategies import hidden_networks

__all__ = ["CLAIMS", "is_linear_after_capture"]


def is_linear_after_capture(instance: Instance) -> Judgement:
    """Five further steps equal, number by number, those of linear regression with one row for each active point."""
    found = captured(instance)
    if found is None:
        return undecided(MISSED)
    h = step_size(instance.data.inputs)
    rows, targets = active_rows(instance, found)
    whole, weights = stacked(found.path[-1]), found.path[-1]
    for step in range(5):
        weights = after_step(instance, weights, h)
        errors = [dot(row, whole) - y for row, y in zip(rows, targets, strict=True)]
        whole = [
            w - h * sum((e * row[c] for e, row in zip(errors, rows, strict=True)), Fraction(0))
            for c, w in enumerate(whole)
        ]
        if stacked(weights) != whole:
            return failed(f"step {found.steps + step + 1} is not that of linear regression")
    return held(f"from step {found.steps} on", measured=found.steps)


CLAIMS = (
    Claim(
        id="lai2026.lem1",
        source="arXiv:2603.04895v2, Lemmas 1 and 11",
        statement="Once the pattern stays, gradient descent is that of linear regression on the active points.",
        setting=is_hidden_regression,
        hypotheses={"nonzero-labels": has_labels},
        conclusion=is_linear_after_capture,
        instances=hidden_networks().map(lambda drawn: Instance(*drawn)),
        regime=UNTIL_CAPTURED,
        quantity="steps until then",
    ),
)

if __name__ == "__main__":
    run_alone(CLAIMS)
