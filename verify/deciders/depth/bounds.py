"""What the best network of any depth costs at least: the crude bound, and for linear networks the exact one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import isfinite, prod

import numpy as np

from solvers.programs.nonnegative import nonnegative_least_squares
from verify.checker.depth import power_of
from verify.checker.depth_bounds import LowerBoundCrude, LowerBoundLinear
from verify.checker.exact import dot, squared_norm
from verify.checker.multipliers import dual_value
from verify.deciders.proposal import certified
from verify.deciders.rounding import dyadic, solve_by_few
from verify.deciders.time_limits import poll
from verify.numbers.floats import float_rows, float_targets, to_float
from verify.problem.members import has_margin
from verify.problem.problem import Problem

__all__ = ["crude_bound", "is_linear", "linear_bound", "linear_multipliers"]

NEAR = 1 + 1e-9
"""Pairs of points whose bounds differ by less, relative, are compared exactly."""


def is_linear(problem: Problem) -> bool:
    """Whether every slope is 1 and no weight is shared."""
    layers = problem.architecture.layers
    return not problem.architecture.has_sharing and all(layer.slope in (None, 1) for layer in layers)


def crude_bound(problem: Problem) -> LowerBoundCrude | None:
    """The bound of the point, or the pair of points, that gives the most; None where no point is other than 0."""
    chosen = _worst(problem)
    needed, over = _needed(problem, chosen)
    if not over:
        return None
    m = power_of(problem)
    value = Fraction(m, 2) ** m * needed**2 / (over * prod(layer.most_places for layer in problem.architecture.layers))
    return certified(problem, None, LowerBoundCrude(points=chosen, power=m, bracket=(value, None)))


def _needed(problem: Problem, points: Sequence[int]) -> tuple[Fraction, Fraction]:
    """By how much outputs differ at least, and the squared distance over which they do."""
    rows, targets = [problem.rows[i] for i in points], [problem.targets[i] for i in points]
    if len(points) == 1:
        return max(abs(targets[0]) - problem.fit_tolerance, Fraction(0)), squared_norm(rows[0])
    apart = [a - b for a, b in zip(*rows, strict=True)]
    return max(abs(targets[0] - targets[1]) - 2 * problem.fit_tolerance, Fraction(0)), squared_norm(apart)


def _worst(problem: Problem) -> tuple[int, ...]:
    """Of single points and pairs, by floats, and those that these cannot tell apart exactly."""
    rows, targets = float_rows(problem), float_targets(problem)
    tolerance = to_float(problem.fit_tolerance)
    found: list[tuple[float, tuple[int, ...]]] = []
    with np.errstate(all="ignore"):
        sizes = np.linalg.norm(rows, axis=1)
        single = np.maximum(np.abs(targets) - tolerance, 0.0) / sizes
        found += [(z, (i,)) for i, z in enumerate(single.tolist()) if isfinite(z)]
        for i in range(len(rows) - 1):
            poll()
            apart = np.linalg.norm(rows[i + 1 :] - rows[i], axis=1)
            ratios = np.maximum(np.abs(targets[i + 1 :] - targets[i]) - 2 * tolerance, 0.0) / apart
            ratios = np.where(np.isfinite(ratios), ratios, -1.0)
            k = int(np.argmax(ratios))
            found.append((ratios[k].item(), (i, i + 1 + k)))
    most = max((ratio for ratio, _ in found), default=0.0)
    near = [points for ratio, points in found if ratio * NEAR >= most][:100]

    def value(points: tuple[int, ...]) -> Fraction:
        needed, over = _needed(problem, points)
        return needed * needed / over if over else Fraction(0)

    return max(near, key=value, default=(0,))


def linear_multipliers(problem: Problem) -> Iterator[dict[int, Fraction]]:
    """Multipliers of the linear problem min 1/2 ||b||^2, those of exact equations first, then those of floats."""
    rows, targets = float_rows(problem), float_targets(problem)
    if has_margin(problem.goal):
        signed = rows * targets[:, None]
        matrix = np.column_stack([signed, np.ones(len(rows)) * np.linalg.norm(signed, axis=1).mean()])
        weights = nonnegative_least_squares(matrix.T, np.append(np.zeros(rows.shape[1]), matrix[0, -1]))
        used = np.flatnonzero(weights > 1e-9 * weights.max(initial=0.0)).tolist()
    else:
        weights = np.linalg.lstsq(rows @ rows.T, targets, rcond=None)[0]
        used = list(range(len(rows)))
    if not used:
        return
    gram = [[dot(problem.rows[i], problem.rows[k]) for k in used] for i in used]
    wanted = [problem.targets[i] for i in used]
    exact = solve_by_few(gram, wanted)  # b = sum c_i x_i has b.x_i = y_i
    if exact is not None:
        yield {
            i: c * (wanted[k] if has_margin(problem.goal) else 1)
            for k, (i, c) in enumerate(zip(used, exact, strict=True))
        }
    yield {i: dyadic(float(weights[i])) for i in used}


def linear_bound(problem: Problem) -> LowerBoundLinear | None:
    """The exact bound of a linear problem, or the nearest one; None where none above 0 is found."""
    m = power_of(problem)
    for multipliers in linear_multipliers(problem):
        is_allowed = not has_margin(problem.goal) or all(value >= 0 for value in multipliers.values())
        listed = tuple((i, value) for i, value in sorted(multipliers.items()) if value)
        factors = {i: value * (problem.targets[i] if has_margin(problem.goal) else 1) for i, value in listed}
        total = [dot(factors.values(), column) for column in zip(*(problem.rows[i] for i in factors), strict=True)]
        value, over = dual_value(problem, factors), squared_norm(total)
        if not (is_allowed and over and value > 0):
            continue
        bound = Fraction(m, 2) ** m * value**2 / over
        proof = certified(problem, None, LowerBoundLinear(multipliers=listed, power=m, bracket=(bound, None)))
        if proof is not None:
            return proof
    return None
