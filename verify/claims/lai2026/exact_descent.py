"""Gradient descent of the hidden layer in rationals, up to a step from which on its limit is known.

    f(x) = sum_k s_k max(w_k.x, 0), s_k = +-1,     w_k <- w_k - h s_k X^T D_k (f - y),     D_k = 1[X w_k > 0]

the gradient of 1/2 sum (f - y)^2. While the pattern D stays as it is, this is linear regression of all weights
together on the points R at which some neuron is on, with rows Phi_i = (s_k D_ki x_i)_k: with K = Phi Phi^T on R, the
residuals e = f - y obey e <- (1 - h K) e. If 0 < h K < 2, then e -> 0, and e^T K^-1 e never grows. As w(t) - w(oo) =
Phi^T K^-1 e,

    |x_i.(w_k(t) - w_k(oo))|^2 <= |x_i|^2 e^T K^-1 e     from now on,

so the pattern stays for ever if every x_i.w_k(oo) is on its side by more than that, or if e = 0, where nothing moves.
Then the limit is w(oo), exactly.

Source: arXiv:2603.04895v2, section 2 and Lemmas 1, 2, 11; the test for "for ever" is ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import final

from verify.checker.exact import dot
from verify.claims.records import Instance
from verify.deciders.rounding import rank, solve_exactly

__all__ = ["ExactDescent", "Vector", "after_step", "captured", "gram", "preactivations", "step_size"]

Vector = list[Fraction]


Pattern = tuple[tuple[bool, ...], ...]


MOST_STEPS = 150


@final
@dataclass(frozen=True, slots=True)
class ExactDescent:
    """Descent up to step `steps`, from which on the pattern stays.

    path: the weights after 0, 1, .., `steps` steps, each a list of vectors, one for each neuron.   pattern: by neuron,
    whether it is on at each point.   limit: the weights in the limit.
    """

    path: tuple[list[Vector], ...]
    pattern: Pattern
    limit: list[Vector]

    @property
    def steps(self) -> int:
        """How many steps were made."""
        return len(self.path) - 1


def gram(rows: Sequence[Sequence[Fraction]]) -> list[Vector]:
    """x_i.x_j."""
    return [[dot(a, b) for b in rows] for a in rows]


def step_size(rows: Sequence[Sequence[Fraction]]) -> Fraction:
    """The largest power of two with 2 h max_i sum_j |x_i.x_j| <= 1; so 2 h times the Gram matrix is at most 1."""
    most = 2 * max(sum((abs(entry) for entry in row), Fraction(0)) for row in gram(rows))
    h = Fraction(1)
    while h * most > 1:
        h /= 2
    while 2 * h * most <= 1 and most:
        h *= 2
    return h


def preactivations(weights: Sequence[Vector], rows: Sequence[Sequence[Fraction]]) -> list[Vector]:
    """w_k.x_i, by neuron."""
    return [[dot(w, x) for x in rows] for w in weights]


def after_step(instance: Instance, weights: Sequence[Vector], h: Fraction) -> list[Vector]:
    """The weights after one step of descent; the derivative at 0 is 0."""
    rows, signs = instance.data.inputs, instance.network.output_weights
    z = preactivations(weights, rows)
    residuals = [
        sum((s * max(line[i], Fraction(0)) for s, line in zip(signs, z, strict=True)), -y)
        for i, y in enumerate(instance.data.targets)
    ]
    moved: list[Vector] = []
    for w, s, line in zip(weights, signs, z, strict=True):
        pull = [h * s * r if value > 0 else Fraction(0) for r, value in zip(residuals, line, strict=True)]
        moved.append([entry - dot(pull, column) for entry, column in zip(w, zip(*rows, strict=True), strict=True)])
    return moved


@lru_cache(maxsize=32)
def captured(instance: Instance) -> ExactDescent | None:
    """Descent from the instance's network with `step_size`, to its limit; None when no step up to 150 shows it.

    Exact. Not complete: descent that ends at a point on a kink, or between dependent points, is not decided.
    """
    rows, h = instance.data.inputs, step_size(instance.data.inputs)
    path = [[list(w) for w in instance.network.hidden_weights]]
    before: Pattern | None = None
    for _ in range(MOST_STEPS):
        path.append(after_step(instance, path[-1], h))
        pattern = tuple(tuple(value > 0 for value in line) for line in preactivations(path[-1], rows))
        if pattern == before:
            limit = _limit(instance, path[-1], pattern, h)
            if limit is not None:
                return ExactDescent(tuple(path), pattern, limit)
        before = pattern
    return None


def _limit(instance: Instance, weights: list[Vector], pattern: Pattern, h: Fraction) -> list[Vector] | None:
    """The limit if the pattern stays for ever, by the test of the docstring above."""
    data, signs = instance.data, instance.network.output_weights
    seen = [i for i in range(len(data)) if any(line[i] for line in pattern)]
    kernel = [
        [sum(on[i] and on[j] for on in pattern) * dot(data.inputs[i], data.inputs[j]) for j in seen] for i in seen
    ]
    if any(h * sum((abs(entry) for entry in row), Fraction(0)) >= 2 for row in kernel):
        return None
    z = preactivations(weights, data.inputs)
    residuals = [
        sum((s * line[i] for s, line, on in zip(signs, z, pattern, strict=True) if on[i]), -data.targets[i])
        for i in seen
    ]
    multipliers = solve_exactly(kernel, residuals) if seen else []
    if multipliers is None or rank(kernel) < len(seen):
        return None
    limit: list[Vector] = []
    for w, s, on in zip(weights, signs, pattern, strict=True):
        back = [m * s if on[i] else Fraction(0) for m, i in zip(multipliers, seen, strict=True)]
        columns = list(zip(*(data.inputs[i] for i in seen), strict=True)) or [()] * len(w)
        limit.append([entry - dot(back, column) for entry, column in zip(w, columns, strict=True)])
    energy = dot(residuals, multipliers)
    if not energy:
        return limit
    for k, (line, on) in enumerate(zip(preactivations(limit, data.inputs), pattern, strict=True)):
        for i, value in enumerate(line):
            x = data.inputs[i]
            is_still = all(not dot(x, data.inputs[j]) for j in seen if pattern[k][j])  # w_k does not move along x_i
            if is_still or (value and (value > 0) is on[i] and value * value > dot(x, x) * energy):
                continue
            return None
    return limit
