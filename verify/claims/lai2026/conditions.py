"""The conditions on a neuron's variables that carry over from step to step, in exact arithmetic.

For the points S_k that neuron k is to fit, z_k = X w_k and w_k = X^T b_k:

    (a)  z_ki > 0  for i in S_k                             (d)  |x|^4 sum_i b_ki^2 <= 9 n max |y|^2
    (b)  -2 max |y| <= |x_i|^2 b_ki <= -min |y| / 8  else   (e)  z_ki < 0  for i not in S_k
    (c)  sum over S_k of (z_ki - |y_i|)^2 <= n max |y|^2    (f)  the pattern, which follows from (a) and (e)

Source: arXiv:2603.04895v2, Lemmas 9, 10 and 12, rebuilt from the proofs, with our constants.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial

from verify.checker.exact import dot
from verify.claims.lai2026.exact_descent import Primal, advanced, gram, step_size
from verify.claims.lai2026.hypotheses import by_sign, duals, label_range, primal_of
from verify.claims.records import Instance, Judgement, failed, held, undecided

__all__ = ["CONDITIONS", "broken_conditions", "carry_over", "keeps_its_conditions", "settled"]


def broken_conditions(instance: Instance, z: Primal, b: Primal, sets: Sequence[Sequence[int]]) -> list[str]:
    """The conditions of Lemmas 9, 10 and 12 that do not hold for the sets S_k, by letter."""
    low, high = label_range(instance)
    labels, n = instance.data.targets, len(instance.data)
    squares = [row[i] for i, row in enumerate(gram(instance))]
    broken: set[str] = set()
    for k, seen in enumerate(sets):
        rest = [i for i in range(n) if i not in seen]
        errors = [z[k][i] - abs(labels[i]) for i in seen]
        is_so = {
            "a": all(z[k][i] > 0 for i in seen),
            "b": all(-2 * high <= squares[i] * b[k][i] <= -low / 8 for i in rest),
            "c": dot(errors, errors) <= n * high * high,
            "d": min(squares) ** 2 * dot(b[k], b[k]) <= 9 * n * high * high,
            "e": all(z[k][i] < 0 for i in rest),
        }
        broken |= {letter for letter, holds in is_so.items() if not holds}
    return sorted(broken)


CONDITIONS = {
    "on": "a", "negative-duals": "b", "bounded-residuals": "c", "bounded-duals": "d", "off": "e",
}  # fmt: skip
"""The conditions as hypotheses of Lemmas 9 and 10, by letter; (f), the pattern, follows from (a) and (e)."""


def settled() -> dict[str, Callable[[Instance], bool]]:
    """Conditions (a) to (e), each by its name, S_k being all points of the neuron's sign."""
    return {name: partial(_holds, letter) for name, letter in CONDITIONS.items()}


def _holds(letter: str, instance: Instance) -> bool:
    b = duals(instance)
    return b is not None and letter not in broken_conditions(instance, primal_of(instance), b, by_sign(instance))


def keeps_its_conditions(instance: Instance) -> Judgement:
    """(a) to (e) after a step as well."""
    return carry_over(instance, by_sign(instance), (1,))


def carry_over(instance: Instance, sets: Sequence[Sequence[int]], steps: Sequence[int]) -> Judgement:
    """(a) to (e) after each of these steps; measured: how near (e) comes to failing, the least |z| / min |y|."""
    z, start, h = primal_of(instance), duals(instance), step_size(instance)
    if start is None:
        return undecided("the weights are not in the span of the points")
    moves: Primal = [[Fraction(0)] * len(instance.data) for _ in z]
    nearest: list[Fraction] = []
    low, _ = label_range(instance)
    for step in range(1, max(steps) + 1):
        z, moves = advanced(instance, z, moves, h)
        b = [[p + q for p, q in zip(line, more, strict=True)] for line, more in zip(start, moves, strict=True)]
        broken = broken_conditions(instance, z, b, sets) if step in steps else []
        if broken:
            return failed(f"conditions {', '.join(broken)} do not hold after step {step}")
        nearest += [
            abs(line[i]) / low for line, seen in zip(z, sets, strict=True) for i in range(len(line)) if i not in seen
        ]
    return held(measured=min(nearest)) if nearest else held()
