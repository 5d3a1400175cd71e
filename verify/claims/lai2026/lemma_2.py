"""Lemma 2 of arXiv:2603.04895v2, section 3.1.

    D(t) = D(T) for all t >= T  ==>  w(t) -> argmin |w - w(T)|^2 subject to X_S w = y_S

with D(t) the activation pattern and S the points at which the neuron is on. The text that we have lost its formulas;
this is rebuilt from the proof.
"""

from __future__ import annotations

from verify.checker.exact import dot
from verify.claims.lai2026.ends import MISSED, UNTIL_CAPTURED, active_rows
from verify.claims.lai2026.exact_descent import after_step, captured, step_size
from verify.claims.lai2026.hypotheses import has_labels, is_hidden_regression, stacked
from verify.claims.records import Claim, Instance, Judgement, failed, held, undecided
from verify.claims.theorems import run_alone
from verify.deciders.rounding import rank
from verify.strategies import hidden_networks

__all__ = ["CLAIMS", "ends_in_a_projection"]


def ends_in_a_projection(instance: Instance) -> Judgement:
    """The limit meets all active points, differs from the weights by a combination of their rows, and comes nearer.

    The first two say that it is the projection of the weights onto the solutions of linear regression.
    """
    found = captured(instance)
    if found is None:
        return undecided(MISSED)
    rows, targets = active_rows(instance, found)
    here, limit = stacked(found.path[-1]), stacked(found.limit)
    if any(dot(row, limit) != y for row, y in zip(rows, targets, strict=True)):
        return failed("the limit does not meet an active point")
    way = [a - b for a, b in zip(limit, here, strict=True)]
    if any(way) and rank([*rows, way]) > rank(rows):
        return failed("the limit is not the projection of the weights")
    after = stacked(after_step(instance, found.path[-1], step_size(instance.data.inputs)))
    left = [a - b for a, b in zip(limit, after, strict=True)]
    if any(way) and dot(left, left) >= dot(way, way):
        return failed("a step does not come nearer to the limit")
    return held(f"from step {found.steps} on", measured=found.steps)


CLAIMS = (
    Claim(
        id="lai2026.lem2",
        source="arXiv:2603.04895v2, Lemma 2",
        statement="Once the pattern stays, descent converges to the projection of the weights onto the solutions.",
        setting=is_hidden_regression,
        hypotheses={"nonzero-labels": has_labels},
        conclusion=ends_in_a_projection,
        instances=hidden_networks().map(lambda drawn: Instance(*drawn)),
        regime=UNTIL_CAPTURED,
        quantity="steps until then",
    ),
)

if __name__ == "__main__":
    run_alone(CLAIMS)
