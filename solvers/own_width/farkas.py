"""States in which nothing fits: multipliers with D = 1 whose s h is at most 0 in each case, by one linear program.

On the cone of a case s h(u) <= p . u with p = sum_i (a s c_i + t_i) x_i, and p = 0 is asked for, with slopes

    decided on: t_i = e_i + nu_i;   decided off: t_i = -nu_i;   undecided: e_i <= t_i <= 0;   e_i = (1 - a) s c_i

A vertex has few numbers that are not 0, and they are the solution of linear equations: exact numbers follow from it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from solvers.any_width.scaling import Scaled
from solvers.arrays import Floats
from solvers.own_width.states import StateCase
from solvers.programs.linear import solve_lp

__all__ = ["StateNothing", "excluding"]


@dataclass(frozen=True, slots=True, eq=False)
class StateNothing:
    """multipliers (n,), and for each of the cases, in their order, the slopes t (n,) with which p = 0."""

    cases: tuple[StateCase, ...]
    multipliers: Floats
    slopes: tuple[Floats, ...]


def excluding(problem: Scaled, cases: Sequence[StateCase]) -> StateNothing | None:
    """The multipliers that prove that nothing fits in the state, of the given instance; None where there are none.

    The unknowns are the parts of the multipliers above and below 0, then nu and -t of each case: all at least 0.
    """
    instance, n = problem.instance, len(problem.required)
    signs = problem.coefficients(np.ones(n))
    width = 2 * n + n * len(cases)
    part = np.hstack([np.eye(n), -np.eye(n)])  # of the multipliers
    gains = np.concatenate([problem.required - problem.tolerances, -problem.required - problem.tolerances])
    equal = [np.concatenate([gains, np.zeros(width - 2 * n)])[None]]
    upper: list[Floats] = []
    least = np.zeros((width, 2))
    least[:, 1] = np.inf
    if instance.margin:
        least[n : 2 * n, 1] = 0.0
    for q, case in enumerate(cases):
        seen, place = instance.masks[case.mask], slice(2 * n + q * n, 2 * n + (q + 1) * n)
        side = np.zeros(n)
        for i, known in case.cone:
            side[i] = known
        rows = instance.rows[:, seen]
        jumps = (1.0 - instance.slope) * case.sign * signs[:, None] * part  # e in the multipliers
        always = instance.slope * case.sign * signs[:, None] * part + np.where(side > 0, 1.0, 0.0)[:, None] * jumps
        lines = np.zeros((len(seen), width))
        lines[:, : 2 * n] = rows.T @ always
        lines[:, place] = rows.T * np.where(side > 0, 1.0, -1.0)
        equal.append(lines)
        bounds = np.zeros((n, width))  # -t <= -e, which is at least 0
        bounds[:, : 2 * n] = jumps
        bounds[np.arange(n), np.arange(place.start, place.stop)] = 1.0
        upper.append(bounds[(side == 0) & rows.any(axis=1)])
        least[place, 1] = np.where((side == 0) & ~rows.any(axis=1), 0.0, np.inf)
    matrix = np.concatenate(equal)
    right = np.zeros(len(matrix))
    right[0] = 1.0
    above = np.concatenate(upper)
    found = solve_lp(np.ones(width), above, np.zeros(len(above)), matrix, right, least)
    if not found.is_usable:
        return None
    multipliers = part @ found.primal[: 2 * n]
    slopes: list[Floats] = []
    for q, case in enumerate(cases):
        free = found.primal[2 * n + q * n : 2 * n + (q + 1) * n]
        side = np.zeros(n)
        for i, known in case.cone:
            side[i] = known
        jumps = (1.0 - instance.slope) * case.sign * signs * multipliers
        slopes.append(np.where(side > 0, jumps + free, -free) * problem.row_scales)
    return StateNothing(tuple(cases), multipliers * problem.row_scales, tuple(slopes))
