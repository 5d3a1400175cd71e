"""Lemmas 1 and 11 of arXiv:2603.04895v2, section 3.1 and appendix D.

    D(t) = D(T) for all t >= T  ==>  w(t + 1) = w(t) - h X_S^T (X_S w(t) - y_S) for all t >= T

for one neuron, with D(t) its activation pattern and S the points at which it is on; for several together likewise, on
the points at which some neuron is on. The text that we have lost its formulas; this is rebuilt from the proof.

A step after T at which some preactivation is on the other side of 0 would violate it, as would a training of the
product that goes elsewhere: before T both happen on most instances.
"""

from __future__ import annotations

from verify.claims.lai2026.ends import MISSED, UNTIL_CAPTURED, trained_there
from verify.claims.lai2026.exact_descent import advanced, captured, step_size
from verify.claims.lai2026.hypotheses import has_labels, is_hidden_regression
from verify.claims.power import has_points
from verify.claims.records import Claim, Instance, Judgement, Variant, failed, held, undecided
from verify.claims.theorems import run_alone
from verify.strategies import signed_features

__all__ = ["CLAIMS", "is_linear_after_capture"]

STEPS = 5


def is_linear_after_capture(instance: Instance) -> Judgement:
    """Five further steps equal, number by number, those of linear regression on the active points; training agrees."""
    found = captured(instance)
    if found is None:
        return undecided(MISSED)
    return is_linear_after(instance, found.steps, found.pattern, found.primal[-1], found.moves[-1])


def is_linear_after(
    instance: Instance, step: int, pattern: tuple[tuple[bool, ...], ...], z: list, moves: list
) -> Judgement:
    """Whether steps from here are those of linear regression with this pattern, and training ends at the limit."""
    h, linear = step_size(instance), (z, moves)
    here = linear
    for further in range(1, STEPS + 1):
        here = advanced(instance, *here, h)
        linear = advanced(instance, *linear, h, pattern)
        if here != linear:
            return failed(f"step {step + further} is not that of linear regression")
    return trained_there(instance, held(f"from step {step} on", measured=step))


def is_linear_at_once(instance: Instance) -> Judgement:
    """From the start on, with the pattern that it has there."""
    found = captured(instance)
    if found is None:
        return undecided(MISSED)
    pattern = tuple(tuple(value > 0 for value in line) for line in found.primal[0])
    return is_linear_after(instance, 0, pattern, found.primal[0], found.moves[0])


CLAIMS = (
    Claim(
        id="lai2026.lem1",
        source="arXiv:2603.04895v2, Lemmas 1 and 11",
        statement="Once the pattern stays, gradient descent is that of linear regression on the active points.",
        setting=is_hidden_regression,
        hypotheses={"nonzero-labels": has_labels},
        conclusion=is_linear_after_capture,
        instances=signed_features().map(lambda drawn: Instance(*drawn)),
        regime=UNTIL_CAPTURED,
        quantity="steps until then",
        examples=40,
        could_fail=has_points(2),
        variants=(
            Variant(
                name="at-once",
                statement="From the start on, with its pattern, gradient descent is that of linear regression.",
                conclusion=is_linear_at_once,
            ),
        ),
    ),
)

if __name__ == "__main__":
    run_alone(CLAIMS)
