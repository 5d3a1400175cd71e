"""How near descent ends to the least norm, exactly: Lemma 4 and Theorems 2 and 4 of arXiv:2603.04895."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations, product

import numpy as np

from verify.checker.exact import dot
from verify.claims.exact_programs import least_norm, least_squares_norm
from verify.claims.lai2026.ends import MISSED
from verify.claims.lai2026.exact_descent import Vector, captured, preactivations
from verify.claims.lai2026.hypotheses import label_range, stacked, weights_of
from verify.claims.records import Instance, Judgement, failed, held, undecided

__all__ = [
    "is_in_a_pattern_program",
    "is_linear_on_a_subset",
    "stays_near_the_least_norm",
]


def stays_near_the_least_norm(instance: Instance) -> Judgement:
    """min |y| / 25 <= ||limit - w*|| |x| / sqrt(m) <= max |y|, m the pairs of a neuron and a label of the other sign.

    w* has the least norm of all that meet the positive labels and are at most 0 at others (one neuron), or that meet
    all labels (two). |x|^2 is the largest, and the smallest, of the points. Without such pairs the limit is w*.
    """
    found = captured(instance)
    if found is None:
        return undecided(MISSED)
    best = _least(instance)
    if best is None:
        return undecided("there is no least-norm solution")
    low, high = label_range(instance)
    signs, squares = instance.network.output_weights, [dot(x, x) for x in instance.data.inputs]
    across = sum(s * y < 0 for s in signs for y in instance.data.targets)
    limit = stacked(found.limit)
    far = [sum(((a - b) ** 2 for a, b in zip(limit, w, strict=True)), Fraction(0)) for w in best]
    if not across:
        return held("the limit is w*", measured=0) if not max(far) else failed("the limit is not w*")
    least, most = min(far) * max(squares), max(far) * min(squares)
    ratio = min(far) * min(squares) / (high * high * across)
    if not least:
        return failed("the limit is w*", measured=0)
    if 625 * least < low * low * across or most > high * high * across:
        return failed("the distance is not of the order sqrt(m) |y| / |x|", measured=ratio)
    return held("the distance is of that order", measured=ratio)


def _least(instance: Instance) -> list[Vector] | None:
    """All w of least norm, the weights of the neurons one after the other."""
    data = instance.data
    if len(instance.network.output_weights) == 1:
        positive = [i for i, y in enumerate(data.targets) if y > 0]
        above = [[-entry for entry in x] for x, y in zip(data.inputs, data.targets, strict=True) if y <= 0]
        found = least_norm(
            [data.inputs[i] for i in positive], [data.targets[i] for i in positive], above, [Fraction(0)] * len(above)
        )
        return None if found is None else [found[0]]
    best: list[Vector] = []
    for both in product((False, True), repeat=len(data)):
        found = _pattern_program(instance, both)
        if found is None:
            continue
        if not best or dot(found, found) < dot(best[0], best[0]):
            best = [found]
        elif dot(found, found) == dot(best[0], best[0]) and found not in best:
            best.append(found)
    return best or None


def _pattern_program(instance: Instance, both: Sequence[bool]) -> Vector | None:
    """(9): the least-norm weights of a positive and a negative neuron that meet all labels.

    both: at which points both neurons are on; at the others one of them is.
    """
    equal: list[Vector] = []
    above: list[Vector] = []
    for x, y, is_both in zip(instance.data.inputs, instance.data.targets, both, strict=True):
        zero = [Fraction(0)] * len(x)
        mine, other = ([*x, *zero], [*zero, *x]) if y > 0 else ([*zero, *x], [*x, *zero])
        equal.append([a - b for a, b in zip(mine, other, strict=True)] if is_both else mine)
        above.append(other if is_both else [-entry for entry in other])
    found = least_norm(equal, [abs(y) for y in instance.data.targets], above, [Fraction(0)] * len(above))
    return None if found is None else found[0]


def is_in_a_pattern_program(instance: Instance) -> Judgement:
    """The weights satisfy the constraints of one program (9), whose solution meets all labels and is no longer."""
    z = preactivations(weights_of(instance), instance.data.inputs)
    both = [(second if y > 0 else first) > 0 for first, second, y in zip(*z, instance.data.targets, strict=True)]
    found, mine = _pattern_program(instance, both), stacked(weights_of(instance))
    if found is None:
        return failed("its program has no solution")
    d = instance.data.dimension
    first, second = preactivations([found[:d], found[d:]], instance.data.inputs)
    if any(
        max(a, Fraction(0)) - max(b, Fraction(0)) != y
        for a, b, y in zip(first, second, instance.data.targets, strict=True)
    ):
        return failed("the solution of its program does not meet a label")
    if dot(found, found) > dot(mine, mine):
        return failed("the solution of its program is longer")
    return held("the solution of its program meets all labels and is no longer")


def is_linear_on_a_subset(instance: Instance) -> Judgement:
    """The w of (7) is the least-norm w with w.x_i = max(y_i, 0) on some subset S that holds the positive labels.

    Every S is tried. Held: one such w meets (7), and its multipliers, >= 0 off the positive labels, prove that it is
    the best (weak duality). Failed: a point of (7), found in floats and repaired, is better than all of them.
    """
    data = instance.data
    positive = [i for i, y in enumerate(data.targets) if y > 0]
    others = [i for i, y in enumerate(data.targets) if y <= 0]
    best: Fraction | None = None
    for count in range(len(others) + 1):
        for more in combinations(others, count):
            rows = [data.inputs[i] for i in (*positive, *more)]
            values = [max(data.targets[i], Fraction(0)) for i in (*positive, *more)]
            found = least_squares_norm(rows, values, data.dimension)
            if found is None or any(dot(found[0], data.inputs[i]) > 0 for i in others):
                continue
            w, multipliers = found
            if all(m <= 0 for m in multipliers[len(positive) :]):
                return held(f"S = {sorted((*positive, *more))}")
            best = dot(w, w) if best is None else min(best, dot(w, w))
    better = _better_point(instance, positive, others)
    if better is not None and (best is None or better < best):
        return failed(f"a point of (7) has |w|^2 = {float(better):.6g}, every subset at least {best}")
    return undecided("no subset is proved to be best, and no better point was found")


def _better_point(instance: Instance, positive: Sequence[int], others: Sequence[int]) -> Fraction | None:
    """|w|^2 of an exact point of (7) near its float optimum."""
    from scipy.optimize import minimize

    data = instance.data
    x = np.array([[float(q) for q in row] for row in data.inputs])
    y = np.array([float(q) for q in data.targets])
    limits = [{"type": "eq", "fun": lambda w: x[list(positive)] @ w - y[list(positive)]}] if positive else []
    limits += [{"type": "ineq", "fun": lambda w: -x[list(others)] @ w - 1e-9}] if others else []
    solved = minimize(lambda w: w @ w / 2, np.zeros(data.dimension), jac=lambda w: w, constraints=limits)
    guess = [Fraction(float(q)).limit_denominator(10**9) for q in solved.x]
    rows = [data.inputs[i] for i in positive]
    gaps = [data.targets[i] - dot(guess, data.inputs[i]) for i in positive]
    step = least_squares_norm(rows, gaps, data.dimension)
    if step is None:
        return None
    w: Vector = [a + b for a, b in zip(guess, step[0], strict=True)]
    return None if any(dot(w, data.inputs[i]) > 0 for i in others) else dot(w, w)
