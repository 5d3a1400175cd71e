"""Where descent ends, exactly: Lemmas 1, 2 and 11 and Theorems 1, 3, 5 and 6 of arXiv:2603.04895."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from verify.checker.exact import dot
from verify.claims.exact_programs import least_squares_norm
from verify.claims.lai2026.exact_descent import Descent, Vector, after_step, captured, preactivations, step_size
from verify.claims.lai2026.hypotheses import assigned, by_sign, label_range, stacked, weights_of
from verify.claims.records import Instance, Judgement, failed, held, undecided
from verify.deciders.rounding import rank

__all__ = [
    "MISSED",
    "ends_as_assigned",
    "ends_as_regressions",
    "ends_in_a_projection",
    "is_bounded_at_the_end",
    "is_linear_after_capture",
    "stays_off",
]

MISSED = "no step up to 150 shows that the pattern stays"


def ends_as_regressions(instance: Instance) -> Judgement:
    """From the first step on each neuron is linear regression on the labels of its sign; it is off elsewhere.

    So positive labels are met by the positive neuron, negative ones by the negative neuron; a positive neuron alone is
    0 at negative labels, which is the least loss that it can have.
    """
    return _ends_on(instance, by_sign(instance))


def ends_as_assigned(instance: Instance) -> Judgement:
    """From the first step on each neuron is linear regression on the labels of its sign at which it is on; else off."""
    return _ends_on(instance, assigned(instance, weights_of(instance)))


def _ends_on(instance: Instance, sets: Sequence[Sequence[int]]) -> Judgement:
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


def is_linear_after_capture(instance: Instance) -> Judgement:
    """Five further steps equal, number by number, those of linear regression with one row for each active point."""
    found = captured(instance)
    if found is None:
        return undecided(MISSED)
    h = step_size(instance.data.inputs)
    rows, targets = _active_rows(instance, found)
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


def ends_in_a_projection(instance: Instance) -> Judgement:
    """The limit meets all active points, differs from the weights by a combination of their rows, and comes nearer.

    The first two say that it is the projection of the weights onto the solutions of linear regression.
    """
    found = captured(instance)
    if found is None:
        return undecided(MISSED)
    rows, targets = _active_rows(instance, found)
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


def _active_rows(instance: Instance, found: Descent) -> tuple[list[Vector], list[Fraction]]:
    data, signs = instance.data, instance.network.output_weights
    seen = [i for i in range(len(data)) if any(line[i] for line in found.pattern)]
    rows = [[s * on[i] * x for s, on in zip(signs, found.pattern, strict=True) for x in data.inputs[i]] for i in seen]
    return rows, [data.targets[i] for i in seen]


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
    return (held if ratio <= 10 else failed)(f"||limit||^2 is {float(ratio):.3g} of its bound's unit", measured=ratio)
