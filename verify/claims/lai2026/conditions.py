"""The conditions on a neuron's variables that carry over from step to step, in exact arithmetic.

For the points S_k that neuron k is to fit, z_k = X w_k and w_k = X^T b_k:

    (a)  z_ki > 0  for i in S_k                             (d)  |x|^4 sum_i b_ki^2 <= 9 n max |y|^2
    (b)  -2 max |y| <= |x_i|^2 b_ki <= -min |y| / 8  else   (e)  z_ki < 0  for i not in S_k
    (c)  sum over S_k of (z_ki - |y_i|)^2 <= n max |y|^2    (f)  the pattern, which follows from (a) and (e)

Source: arXiv:2603.04895v2, Lemmas 9, 10 and 12, rebuilt from the proofs, with our constants.
"""

from __future__ import annotations

from collections.abc import Sequence

from verify.checker.exact import dot
from verify.claims.lai2026.exact_descent import Vector, after_step, preactivations, step_size
from verify.claims.lai2026.hypotheses import by_sign, duals, label_range, weights_of
from verify.claims.records import Instance, Judgement, failed, held

__all__ = ["broken_conditions", "is_settled", "keeps_its_conditions"]


def broken_conditions(instance: Instance, weights: Sequence[Vector], sets: Sequence[Sequence[int]]) -> list[str]:
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
    return not broken_conditions(instance, weights_of(instance), by_sign(instance))


def keeps_its_conditions(instance: Instance) -> Judgement:
    """(a) to (e) after a step as well."""
    moved = after_step(instance, weights_of(instance), step_size(instance.data.inputs))
    broken = broken_conditions(instance, moved, by_sign(instance))
    return failed(f"conditions {', '.join(broken)} do not hold after a step") if broken else held()
