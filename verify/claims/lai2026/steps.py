"""What single steps of descent preserve, exactly: Lemmas 5, 6, 9, 10 and 12 of arXiv:2603.04895."""

from __future__ import annotations

from collections.abc import Sequence

from verify.checker.exact import dot
from verify.claims.lai2026.exact_descent import Vector, after_step, preactivations, step_size
from verify.claims.lai2026.hypotheses import assigned, by_sign, duals, label_range, weights_of
from verify.claims.records import Instance, Judgement, failed, held, undecided
from verify.problem.problem import outputs

__all__ = [
    "freezes",
    "has_a_negative_dual",
    "has_a_positive_variable",
    "has_bounded_duals",
    "has_bounded_residuals",
    "is_settled",
    "keeps_its_conditions",
    "reaches_the_conditions",
    "stays_positive",
]


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


def _broken_conditions(instance: Instance, weights: Sequence[Vector], sets: Sequence[Sequence[int]]) -> list[str]:
    """The conditions of Lemmas 9, 10 and 12 that do not hold for the sets S_k, by letter."""
    low, high = label_range(instance)
    rows, labels, n = instance.data.inputs, instance.data.targets, len(instance.data)
    z, b = preactivations(weights, rows), duals(instance, weights)
    square = min(dot(x, x) for x in rows)
    if b is None:
        return ["span"]
    broken: set[str] = set()
    for k, seen in enumerate(sets):
        rest = [i for i in range(n) if i not in seen]
        errors = [z[k][i] - abs(labels[i]) for i in seen]
        is_so = {
            "a": all(z[k][i] > 0 for i in seen),
            "b": all(-2 * high <= dot(rows[i], rows[i]) * b[k][i] <= -low / 8 for i in rest),
            "c": dot(errors, errors) <= n * high * high,
            "d": square**2 * dot(b[k], b[k]) <= 9 * n * high * high,
            "e": all(z[k][i] < 0 for i in rest),
        }
        broken |= {letter for letter, holds in is_so.items() if not holds}
    return sorted(broken)


def is_settled(instance: Instance) -> bool:
    """Conditions (a) to (e), S_k being all points of the neuron's sign; (f), the pattern, follows from (a) and (e)."""
    return not _broken_conditions(instance, weights_of(instance), by_sign(instance))


def keeps_its_conditions(instance: Instance) -> Judgement:
    """(a) to (e) after a step as well."""
    moved = after_step(instance, weights_of(instance), step_size(instance.data.inputs))
    broken = _broken_conditions(instance, moved, by_sign(instance))
    return failed(f"conditions {', '.join(broken)} do not hold after a step") if broken else held()


def reaches_the_conditions(instance: Instance) -> Judgement:
    """(a) to (e) with the S_k of the start, after the first step and after the second."""
    sets, weights = assigned(instance, weights_of(instance)), weights_of(instance)
    for step in (1, 2):
        weights = after_step(instance, weights, step_size(instance.data.inputs))
        broken = _broken_conditions(instance, weights, sets)
        if broken:
            return failed(f"conditions {', '.join(broken)} do not hold after step {step}")
    return held()
