"""Lemma 2 of arXiv:2603.04895v2, section 3.1.

    D(t) = D(T) for all t >= T  ==>  w(t) -> argmin |w - w(T)|^2 subject to X_S w = y_S

with D(t) the activation pattern and S the points at which the neuron is on. The text that we have lost its formulas;
this is rebuilt from the proof.

An active label that the limit misses, a part of the way to it off the rows of the active points, or a step that does
not come nearer would violate it. The projection of the start is another point on most instances.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial

from verify.checker.exact import dot
from verify.claims.lai2026.ends import MISSED, UNTIL_CAPTURED, trained_there
from verify.claims.lai2026.exact_descent import Primal, advanced, captured, gram, step_size
from verify.claims.lai2026.hypotheses import has_labels, is_hidden_regression
from verify.claims.power import has_points
from verify.claims.records import Claim, Instance, Judgement, Variant, failed, held, undecided
from verify.claims.theorems import run_alone
from verify.deciders.rounding import rank
from verify.strategies import signed_features

__all__ = ["CLAIMS", "ends_in_a_projection", "is_projection_of"]


def ends_in_a_projection(instance: Instance) -> Judgement:
    """The limit is the projection of the weights from which on the pattern stays; the product's training ends there."""
    return is_projection_of(-1, instance)


def is_projection_of(step: int, instance: Instance) -> Judgement:
    """The limit meets all active points, differs from the weights by a combination of their rows, and comes nearer.

    The first two say that it is the projection of the weights after `step` steps (-1: when the pattern stays) onto the
    solutions of linear regression.
    """
    found = captured(instance)
    if found is None:
        return undecided(MISSED)
    signs, labels = instance.network.output_weights, instance.data.targets
    seen = [i for i in range(len(labels)) if any(line[i] for line in found.pattern)]
    for i in seen:
        value = sum(
            (s * z[i] for s, z, on in zip(signs, found.primal_limit, found.pattern, strict=True) if on[i]), Fraction(0)
        )
        if value != labels[i]:
            return failed("the limit does not meet an active point")
    way = [[b - a for a, b in zip(*lines, strict=True)] for lines in zip(found.moves[step], found.end, strict=True)]
    # in the span of the rows (s_k D_ki x_i)_k: the points are independent, so a multiple of s_k D_ki for each point
    rows = [[s * on[i] for s, on in zip(signs, found.pattern, strict=True)] for i in range(len(labels))]
    for i, row in enumerate(rows):
        column = [line[i] for line in way]
        if any(column) and rank([row, column]) > rank([row]):
            return failed("the limit is not the projection of the weights")
    _, after = advanced(instance, found.primal[step], found.moves[step], step_size(instance))
    left = [[b - a for a, b in zip(*lines, strict=True)] for lines in zip(after, found.end, strict=True)]
    if any(map(any, way)) and _square(instance, left) >= _square(instance, way):
        return failed("a step does not come nearer to the limit")
    return trained_there(instance, held(f"from step {found.steps} on", measured=found.steps))


def _square(instance: Instance, moves: Primal) -> Fraction:
    """|X^T m|^2."""
    lines = [[dot(row, line) for row in gram(instance)] for line in moves]
    return sum((dot(line, image) for line, image in zip(moves, lines, strict=True)), Fraction(0))


CLAIMS = (
    Claim(
        id="lai2026.lem2",
        source="arXiv:2603.04895v2, Lemma 2",
        statement="Once the pattern stays, descent converges to the projection of the weights onto the solutions.",
        setting=is_hidden_regression,
        hypotheses={"nonzero-labels": has_labels},
        conclusion=ends_in_a_projection,
        instances=signed_features().map(lambda drawn: Instance(*drawn)),
        regime=UNTIL_CAPTURED,
        quantity="steps until then",
        examples=60,
        could_fail=has_points(2),
        variants=(
            Variant(
                name="of-the-start",
                statement="Descent converges to the projection of the weights that it starts with.",
                conclusion=partial(is_projection_of, 0),
            ),
        ),
    ),
)

if __name__ == "__main__":
    run_alone(CLAIMS)
