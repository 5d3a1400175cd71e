"""Theorem 6 of arXiv:2603.04895v2, appendix D.4.

    as in Theorem 5  ==>  |lim w(t) - w*| <= C sqrt(m n) |y| / |x|

with w all weights of the m neurons and w* of least norm among all that meet the labels; |x| and |y| stand for the
sizes of points and labels, which differ by constant factors at most. The text that we have lost its formulas; this is
rebuilt from the proof.
"""

from __future__ import annotations

from fractions import Fraction

from verify.checker.exact import dot
from verify.claims.lai2026.ends import MISSED
from verify.claims.lai2026.exact_descent import captured, preactivations
from verify.claims.lai2026.hypotheses import (
    EVENT,
    STEP,
    has_labels,
    is_assigned,
    is_hidden_regression,
    is_nearly_orthogonal,
    label_range,
    stacked,
)
from verify.claims.records import Claim, Instance, Judgement, failed, held, undecided
from verify.claims.theorems import run_alone
from verify.numbers.floats import to_float
from verify.strategies import assigned_starts

__all__ = ["CLAIMS", "is_bounded_at_the_end"]


def is_bounded_at_the_end(instance: Instance) -> Judgement:
    """The limit meets all labels and ||limit||^2 <= 10 m n max |y|^2 / min |x|^2 for m neurons.

    So the least-norm solution, which is no longer, is within twice that norm.
    """
    found = captured(instance)
    if found is None:
        return undecided(MISSED)
    data, signs = instance.data, instance.network.output_weights
    z = preactivations(found.limit, data.inputs)
    for i, y in enumerate(data.targets):
        if sum((s * max(line[i], Fraction(0)) for s, line in zip(signs, z, strict=True)), Fraction(0)) != y:
            return failed(f"the limit does not meet label {i}")
    _, high = label_range(instance)
    limit = stacked(found.limit)
    unit = len(signs) * len(data) * high * high / min(dot(x, x) for x in data.inputs)
    ratio = dot(limit, limit) / unit
    return (held if ratio <= 10 else failed)(
        f"||limit||^2 is {to_float(ratio):.3g} of its bound's unit", measured=ratio
    )


CLAIMS = (
    Claim(
        id="lai2026.thm6",
        source="arXiv:2603.04895v2, Theorem 6",
        statement="Their distance to the least-norm solution is at most of order sqrt(m n) |y| / |x|.",
        setting=is_hidden_regression,
        hypotheses={"nonzero-labels": has_labels, "nearly-orthogonal": is_nearly_orthogonal, "assigned": is_assigned},
        conclusion=is_bounded_at_the_end,
        instances=assigned_starts().map(lambda drawn: Instance(*drawn)),
        regime=f"{EVENT}; starts in the span of the points, z at most min |y| / 16; {STEP}; at most 10 of the unit "
        "of what is measured",
        quantity="||limit||^2 |x|^2 / (m n max |y|^2)",
    ),
)

if __name__ == "__main__":
    run_alone(CLAIMS)
