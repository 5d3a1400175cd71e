"""The networks of least norm: the one-sided program (7) exactly, and the distances that audits prove."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache

import numpy as np

from verify.auditing.record import Audit
from verify.checker.exact import dot
from verify.claims.lai2026.audited_limits import audited_limit
from verify.claims.lai2026.ends import MISSED
from verify.claims.lai2026.exact_descent import Vector, captured, gram, moved
from verify.claims.lai2026.hypotheses import label_range
from verify.claims.records import Instance, Judgement, failed, held, undecided
from verify.deciders.finding import Verdict
from verify.deciders.rounding import solve_exactly
from verify.numbers.floats import to_float, to_matrix

__all__ = ["LEAST", "MOST", "OF_THAT_ORDER", "one_sided", "stays_near_the_least_norm", "weights_at"]

LEAST, MOST = Fraction(1, 8), Fraction(5, 8)
"""c and C of Theorems 2 and 4, ours: h |x|^2, about 1/5 to 1/2, is what a step makes of a label of the other sign."""

OF_THAT_ORDER = (
    f"; of that order: from {LEAST} min |y| to {MOST} max |y| times sqrt(m) / |x|, m the pairs of a neuron and a label "
    "of the other sign"
)


@lru_cache(maxsize=64)
def one_sided(instance: Instance, sign: int) -> tuple[Fraction, ...] | None:
    """The multipliers m of (7) for the labels times `sign`: w = sum m_i x_i with w.x_i = y_i > 0, and w.x_i <= 0 else.

    Floats find which points of the other sign are at 0; the equations are solved exactly, and m_i <= 0 at these points
    and w.x_i <= 0 at all of the others prove that w is the shortest. None where that is not found.
    """
    products_of = gram(instance)
    labels = [sign * y for y in instance.data.targets]
    own = np.array([y > 0 for y in labels])
    matrix, targets = to_matrix(products_of), np.array([max(to_float(y), 0.0) for y in labels])
    active = own.copy()
    for _ in range(4 * len(labels)):
        m = np.zeros(len(labels))
        m[active] = np.linalg.solve(matrix[np.ix_(active, active)], targets[active])
        wrong, right = (matrix @ m > 1e-9) & ~active, active & ~own & (m > 1e-12)
        if not wrong.any() and not right.any():
            break
        active = (active & ~right) | wrong
    kept = [i for i in range(len(labels)) if active[i]]
    values = [max(labels[i], Fraction(0)) for i in kept]
    exact = solve_exactly([[products_of[i][j] for j in kept] for i in kept], values) if kept else []
    if exact is None:
        return None
    m_exact = [Fraction(0)] * len(labels)
    for i, value in zip(kept, exact, strict=True):
        m_exact[i] = value
    at = [dot(row, m_exact) for row in products_of]
    is_least = all(m_exact[i] <= 0 and at[i] <= 0 for i in range(len(labels)) if not own[i])
    return tuple(m_exact) if is_least else None


def weights_at(instance: Instance, duals: Sequence[Sequence[Fraction]]) -> list[Vector]:
    """X^T b_k for each neuron."""
    whole = moved(instance, [list(line) for line in duals])
    return [
        [a - Fraction(b) for a, b in zip(line, start, strict=True)]
        for line, start in zip(whole, instance.network.hidden_weights, strict=True)
    ]


def stays_near_the_least_norm(instance: Instance) -> Judgement:
    """The audit proves c min |y| sqrt(m) <= ||limit - w*|| |x| <= C max |y| sqrt(m).

    m counts the pairs of a neuron and a label of the other sign; without any, or where a neuron is on at one, the limit
    is not what the theorem speaks of. w* is the nearest network of least norm, and |x|^2 the mean of the points.
    """
    return _judged(instance, LEAST, MOST)


def stays_within(least: Fraction, most: Fraction) -> Callable[[Instance], Judgement]:
    """The same with other constants c and C."""
    return lambda instance: _judged(instance, least, most)


def _judged(instance: Instance, least: Fraction, most: Fraction) -> Judgement:
    if captured(instance) is None:
        return undecided(MISSED)
    found = audited_limit(instance)
    if found is None or found.distance_own_width is None:
        return undecided("the audit does not say how far the networks of least norm are")
    if found.fits.verdict is not Verdict.PROVED:
        return failed("the limit does not meet the labels")
    low, high = label_range(instance)
    n, signs = len(instance.data), instance.network.output_weights
    across = sum(s * y < 0 for s in signs for y in instance.data.targets)
    size = sum((row[i] for i, row in enumerate(gram(instance))), Fraction(0)) / n
    near, far = found.distance_own_width
    unit = across / size
    ratio = far**2 / (unit * high**2) if across else Fraction(0)
    smallest, largest = (least * low) ** 2 * unit, (most * high) ** 2 * unit
    if far**2 < smallest:
        return failed("the distance is smaller than that order", measured=ratio)
    if near**2 > largest:
        return failed("the distance is larger than that order", measured=ratio)
    if near**2 < smallest or far**2 > largest:
        return undecided("the ends of the distance leave it open")
    return held("the distance is of that order", measured=ratio)


def is_best_exactly(found: Audit) -> bool:
    """Whether the audit proved both ends of the best objective to be one number."""
    ends = found.bracket_own_width
    return ends is not None and ends.lower == ends.upper
