"""Gradient descent of the hidden layer in rationals, up to a step from which on its limit is known.

    f(x) = sum_k s_k max(w_k.x, 0), s_k = +-1,     w_k <- w_k - h s_k X^T D_k (f - y),     D_k = 1[X w_k > 0]

the gradient of 1/2 sum (f - y)^2. It moves w_k by combinations of points only, w_k(t) = w_k(0) + X^T m_k(t), so that
z_k = X w_k and the moves m_k are all that is needed, whatever the dimension is: with G = X X^T

    m_k <- m_k - h s_k D_k (f - y),     z_k <- z_k - h s_k G D_k (f - y).

While the pattern D stays as it is, this is linear regression of all weights together on the points R at which some
neuron is on, with rows Phi_i = (s_k D_ki x_i)_k: with K = Phi Phi^T on R, the residuals e = f - y obey e <- (1 - h K)
e. If 0 < h K < 2, then e -> 0, and e^T K^-1 e never grows. As w(t) - w(oo) = Phi^T K^-1 e,

    |x_i.(w_k(t) - w_k(oo))|^2 <= |x_i|^2 e^T K^-1 e     from now on,

so the pattern stays for ever if every x_i.w_k(oo) is on its side by more than that, or if e = 0, where nothing moves.
Then the limit is w(oo), exactly.

Source: arXiv:2603.04895v2, section 2 and Lemmas 1, 2, 11; the test for "for ever" is ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import final

import numpy as np

from verify.checker.exact import common_integers, dot
from verify.checker.products import products
from verify.claims.records import Instance
from verify.deciders.rounding import rank, solve_exactly
from verify.numbers.floats import to_float
from verify.strategies.features import gram_of

__all__ = ["Descent", "Primal", "Vector", "advanced", "captured", "gram", "moved", "preactivations", "step_size"]

Vector = list[Fraction]
Primal = list[Vector]
"""z_k or m_k: a line for each neuron, an entry for each point."""
Pattern = tuple[tuple[bool, ...], ...]

MOST_STEPS = 150


@final
@dataclass(frozen=True, eq=False)
class Descent:
    """Descent up to step `steps`, from which on the pattern stays.

    primal, moves: z_k and m_k after 0, 1, .., `steps` steps.   pattern: by neuron, whether it is on at each point.
    end: m_k in the limit.
    """

    instance: Instance
    primal: tuple[Primal, ...]
    moves: tuple[Primal, ...]
    pattern: Pattern
    end: Primal

    @property
    def steps(self) -> int:
        """How many steps were made."""
        return len(self.primal) - 1

    @cached_property
    def path(self) -> tuple[Primal, ...]:
        """The weights after each step, a line for each neuron."""
        return tuple(moved(self.instance, m) for m in self.moves)

    @cached_property
    def limit(self) -> Primal:
        """The weights in the limit."""
        return moved(self.instance, self.end)

    @cached_property
    def primal_limit(self) -> Primal:
        """X w_k in the limit."""
        return _shifted(self.primal[0], gram(self.instance), self.end)


def moved(instance: Instance, moves: Primal) -> Primal:
    """w_k(0) + X^T m_k."""
    rows, unit = common_integers(instance.data.inputs)
    found: Primal = []
    for w, line in zip(instance.network.hidden_weights, moves, strict=True):
        (factors,), size = common_integers([line])
        (start,), scale = common_integers([w])
        whole = np.array(factors, dtype=object) @ np.array(rows, dtype=object)
        found.append([Fraction(a, scale) + Fraction(int(b), unit * size) for a, b in zip(start, whole, strict=True)])
    return found


@lru_cache(maxsize=64)
def gram(instance: Instance) -> list[Vector]:
    """x_i.x_j."""
    return gram_of(instance.problem)


def step_size(instance: Instance) -> Fraction:
    """The largest power of two with 2 h max_i sum_j |x_i.x_j| <= 1; so 2 h times the Gram matrix is at most 1."""
    most = 2 * max(sum((abs(entry) for entry in row), Fraction(0)) for row in gram(instance))
    h = Fraction(1)
    while h * most > 1:
        h /= 2
    while 2 * h * most <= 1 and most:
        h *= 2
    return h


def preactivations(weights: Sequence[Sequence[Fraction]], rows: Sequence[Sequence[Fraction]]) -> Primal:
    """w_k.x_i, by neuron."""
    points, unit = common_integers(rows)
    found: Primal = []
    for w in weights:
        (vector,), scale = common_integers([w])
        found.append([Fraction(z, unit * scale) for z in products([vector], points)[0]])
    return found


def advanced(
    instance: Instance, z: Primal, moves: Primal, h: Fraction, pattern: Pattern | None = None
) -> tuple[Primal, Primal]:
    """z_k and m_k after one step; the derivative at 0 is 0. With a pattern, that of linear regression on it."""
    signs = instance.network.output_weights
    on = pattern or tuple(tuple(value > 0 for value in line) for line in z)
    residuals = [
        sum((s * line[i] for s, line, seen in zip(signs, z, on, strict=True) if seen[i]), -y)
        for i, y in enumerate(instance.data.targets)
    ]
    pulls = [
        [-h * s * r if sees else Fraction(0) for r, sees in zip(residuals, seen, strict=True)]
        for s, seen in zip(signs, on, strict=True)
    ]
    after = [[a + b for a, b in zip(line, pull, strict=True)] for line, pull in zip(moves, pulls, strict=True)]
    return _shifted(z, gram(instance), pulls), after


def _shifted(z: Primal, products_of: Sequence[Vector], moves: Primal) -> Primal:
    """z_k + G m_k."""
    return [
        [value + dot(row, move) for value, row in zip(line, products_of, strict=True)]
        for line, move in zip(z, moves, strict=True)
    ]


@lru_cache(maxsize=32)
def captured(instance: Instance) -> Descent | None:
    """Descent from the instance's network with `step_size`, to its limit; None when no step up to 150 shows it.

    Exact. Not complete: descent that ends at a point on a kink, or between dependent points, is not decided.
    """
    h = step_size(instance)
    primal = [preactivations(instance.network.hidden_weights, instance.data.inputs)]
    moves: list[Primal] = [[[Fraction(0)] * len(instance.data) for _ in primal[0]]]
    before: Pattern | None = None
    for _ in range(MOST_STEPS):
        z, m = advanced(instance, primal[-1], moves[-1], h)
        primal.append(z)
        moves.append(m)
        pattern = tuple(tuple(value > 0 for value in line) for line in z)
        if pattern == before:
            end = _end(instance, z, m, pattern, h)
            if end is not None:
                return Descent(instance, tuple(primal), tuple(moves), pattern, end)
        before = pattern
    return None


def _end(instance: Instance, z: Primal, moves: Primal, pattern: Pattern, h: Fraction) -> Primal | None:
    """The moves in the limit if the pattern stays for ever, by the test of the docstring above."""
    data, signs, products_of = instance.data, instance.network.output_weights, gram(instance)
    seen = [i for i in range(len(data)) if any(line[i] for line in pattern)]
    kernel = [[sum(on[i] and on[j] for on in pattern) * products_of[i][j] for j in seen] for i in seen]
    if any(h * sum((abs(entry) for entry in row), Fraction(0)) >= 2 for row in kernel):
        return None
    residuals = [
        sum((s * line[i] for s, line, on in zip(signs, z, pattern, strict=True) if on[i]), -data.targets[i])
        for i in seen
    ]
    if seen and not _may_stay(z, pattern, kernel, residuals, seen, signs, products_of):
        return None
    multipliers = solve_exactly(kernel, residuals) if seen else []
    if multipliers is None or rank(kernel) < len(seen):
        return None
    back = [[Fraction(0)] * len(data) for _ in z]
    for k, (s, on) in enumerate(zip(signs, pattern, strict=True)):
        for m, i in zip(multipliers, seen, strict=True):
            back[k][i] = -m * s if on[i] else Fraction(0)
    limit, energy = _shifted(z, products_of, back), dot(residuals, multipliers)
    for line, on in zip(limit, pattern, strict=True):
        for i, value in enumerate(line):
            is_far = value != 0 and (value > 0) is on[i] and value * value > products_of[i][i] * energy
            if energy and not is_far and _moves(i, on, seen, products_of):
                return None
    return [[a + b for a, b in zip(line, step, strict=True)] for line, step in zip(moves, back, strict=True)]


def _moves(i: int, on: Sequence[bool], seen: Sequence[int], products_of: Sequence[Vector]) -> bool:
    """Whether the neuron moves along x_i."""
    return any(products_of[i][j] for j in seen if on[j])


def _may_stay(
    z: Primal, pattern: Pattern, kernel: Sequence[Vector], residuals: Vector, seen: Sequence[int],
    signs: Sequence[Fraction], products_of: Sequence[Vector],
) -> bool:  # fmt: skip
    """What floats say of the test, which is exact only where they do not deny it."""
    try:
        matrix = np.array([[to_float(entry) for entry in row] for row in kernel])
        e = np.array([to_float(r) for r in residuals])
        multipliers = np.linalg.solve(matrix, e)
    except np.linalg.LinAlgError:
        return False
    whole = np.array([[to_float(entry) for entry in row] for row in products_of])
    energy = max(float(e @ multipliers), 0.0)
    for line, on, s in zip(z, pattern, signs, strict=True):
        back = np.zeros(len(whole))
        back[list(seen)] = [-to_float(s) * m * on[i] for m, i in zip(multipliers, seen, strict=True)]
        last = np.array([to_float(value) for value in line]) + whole @ back
        near = last**2 < 0.99 * whole.diagonal() * energy
        if energy > 1e-12 and any(near[i] and _moves(i, on, seen, products_of) for i in range(len(whole))):
            return False
    return True
