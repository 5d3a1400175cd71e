"""Where descent ends, exactly: at linear regression on some of the labels."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from verify.checker.exact import dot
from verify.claims.exact_programs import least_squares_norm
from verify.claims.lai2026.exact_descent import ExactDescent, Vector, captured
from verify.claims.lai2026.hypotheses import STEP, by_sign
from verify.claims.records import Instance, Judgement, failed, held, undecided

__all__ = ["MISSED", "UNTIL_CAPTURED", "active_rows", "ends_as_regressions", "ends_on"]

MISSED = "no step up to 150 shows that the pattern stays"

UNTIL_CAPTURED = (
    f"up to 3 neurons, points and dimensions, also with neurons that see the same points; {STEP}; that "
    "the pattern stays for ever is proved, and open where no step up to 150 shows it"
)
"""The regime of claims about what follows once the pattern stays."""


def ends_as_regressions(instance: Instance) -> Judgement:
    """From the first step on each neuron is linear regression on the labels of its sign; it is off elsewhere.

    So positive labels are met by the positive neuron, negative ones by the negative neuron; a positive neuron alone is
    0 at negative labels, which is the least loss that it can have.
    """
    return ends_on(instance, by_sign(instance))


def ends_on(instance: Instance, sets: Sequence[Sequence[int]]) -> Judgement:
    """From the first step on neuron k is linear regression on the labels of sets[k], and it is off elsewhere."""
    found = captured(instance)
    if found is None:
        return undecided(MISSED)
    for k, (seen, w, limit) in enumerate(zip(sets, found.path[1], found.limit, strict=True)):
        if [i for i, on in enumerate(found.pattern[k]) if on] != list(seen):
            return failed(f"neuron {k} ends on at other points than {seen}")
        if _regression_limit(instance, seen, w) != limit:
            return failed(f"neuron {k} does not end where linear regression on {seen} does")
    return held(f"the pattern is for ever that of step {found.steps}", measured=found.steps)


def _regression_limit(instance: Instance, seen: Sequence[int], w: Vector) -> Vector | None:
    """The projection of w onto {w: w.x_i = |y_i| for i in seen}: w + X^T m."""
    rows = [instance.data.inputs[i] for i in seen]
    gaps = [abs(instance.data.targets[i]) - dot(w, x) for i, x in zip(seen, rows, strict=True)]
    step = least_squares_norm(rows, gaps, len(w))
    return None if step is None else [a + b for a, b in zip(w, step[0], strict=True)]


def active_rows(instance: Instance, found: ExactDescent) -> tuple[list[Vector], list[Fraction]]:
    """Phi, a row for each point at which some neuron is on, and the labels of these points."""
    data, signs = instance.data, instance.network.output_weights
    seen = [i for i in range(len(data)) if any(line[i] for line in found.pattern)]
    rows = [[s * on[i] * x for s, on in zip(signs, found.pattern, strict=True) for x in data.inputs[i]] for i in seen]
    return rows, [data.targets[i] for i in seen]
