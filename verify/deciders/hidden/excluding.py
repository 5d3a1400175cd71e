"""Leaves that prove that no network of a state fits: multipliers of a vertex made exact, small whole numbers first."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np

from solvers.arrays import Floats
from verify.checker.dual_trees import Bound, Case
from verify.checker.states import Nothing
from verify.deciders.exact_systems import solution_near
from verify.deciders.hidden.geometry import Geometry
from verify.deciders.hidden.leaves import StateLeaf, accepted, excesses, factors, shown_slopes, slope_written
from verify.numbers.floats import float_near
from verify.problem.problem import Problem

__all__ = ["excluding_leaf"]

SMALL = (1, 2, 3, 4, 6, 12)
"""Denominators that are tried first for multipliers that prove that nothing fits."""


def excluding_leaf(
    geometry: Geometry, cases: Mapping[Case, Fraction], multipliers: Floats, slopes: Floats
) -> StateLeaf | None:
    """The leaf `Nothing` of float multipliers and slopes of a vertex; None where they are not made exact."""
    problem = geometry.problem
    size = float(np.abs(multipliers).max(initial=0.0))
    if not size:
        return None
    decided = {i for _, cone, _ in cases for i, side in enumerate(cone) if side}
    for denominator in SMALL:
        guess = {i: Fraction(round(float(z) / size * denominator), denominator) for i, z in enumerate(multipliers)}
        kept = [i for i, z in guess.items() if z or i in decided]
        found: list[dict[int, Fraction]] = []
        for q, case in enumerate(cases):
            excess = excesses(problem, case, {i: guess[i] for i in kept})
            own = {i: Fraction(round(float(slopes[q, i]) / size * denominator), denominator) for i in kept}
            ends = {i: e for i, e in excess.items() if abs(float(slopes[q, i]) / size - float_near(e)) < 1e-7}
            found.append(own | ends)
        leaf = _nothing(problem, cases, {i: guess[i] for i in kept}, found)
        if leaf is not None:
            return leaf
    return _solved(geometry, cases, multipliers / size, slopes / size)


def _nothing(
    problem: Problem,
    cases: Mapping[Case, Fraction],
    multipliers: Mapping[int, Fraction],
    slopes: Sequence[Mapping[int, Fraction]],
) -> StateLeaf | None:
    denominator = math.lcm(*(t.denominator for found in slopes for t in found.values()))
    trees: list[tuple[Bound, ...]] = []
    for case, found in zip(cases, slopes, strict=True):
        excess = excesses(problem, case, multipliers)
        shown = shown_slopes(slope_written(found[i], excess[i], denominator) for i in multipliers)
        trees.append((Bound(shown),))
    return accepted(problem, Nothing(tuple(multipliers.items()), denominator, tuple(trees)), cases)


def _solved(
    geometry: Geometry, cases: Mapping[Case, Fraction], multipliers: Floats, slopes: Floats
) -> StateLeaf | None:
    """The same with the entries of the vertex that are not 0 solved for: p = 0 in every case."""
    problem = geometry.problem
    n, slope, c = len(multipliers), problem.architecture.slope, factors(problem)
    used = [i for i in range(n) if abs(multipliers[i]) > 1e-9]
    steps: list[tuple[int, int]] = []
    at_end: set[tuple[int, int]] = set()
    for q, case in enumerate(cases):
        for i in range(n):
            t, e = float(slopes[q, i]), float_near((1 - slope) * case[2] * c[i]) * float(multipliers[i])
            if abs(t - e) <= 1e-9 and abs(e) > 1e-9:
                at_end.add((q, i))
            elif abs(t) > 1e-9:
                steps.append((q, i))
    places = {key: len(used) + k for k, key in enumerate(steps)}
    lines: list[list[Fraction]] = []
    for q, (mask, _, sign) in enumerate(cases):
        for column in mask:
            line = [Fraction(0)] * (len(used) + len(steps))
            for k, i in enumerate(used):
                share = slope + (1 - slope if (q, i) in at_end else 0)
                line[k] = share * sign * c[i] * problem.rows[i][column]
            for i in range(n):
                if (q, i) in places:
                    line[places[q, i]] = problem.rows[i][column]
            if any(line):
                lines.append(line)
    biggest = max(range(len(used)), key=lambda k: abs(multipliers[used[k]]), default=None)
    if biggest is None:
        return None
    lines.append([Fraction(int(k == biggest)) for k in range(len(used) + len(steps))])
    right = [*[Fraction(0)] * (len(lines) - 1), Fraction(1 if multipliers[used[biggest]] > 0 else -1)]
    guess = np.array([*(multipliers[i] for i in used), *(slopes[q, i] for q, i in steps)])
    exact = solution_near(lines, right, guess / abs(float(multipliers[used[biggest]])), [False] * len(guess))
    if exact is None:
        return None
    found = {i: exact[k] for k, i in enumerate(used)}
    decided = {i for _, cone, _ in cases for i, side in enumerate(cone) if side}
    listed = {i: found.get(i, Fraction(0)) for i in sorted({*found, *decided, *(i for _, i in steps)})}
    taken: list[dict[int, Fraction]] = []
    for q, case in enumerate(cases):
        excess = excesses(problem, case, listed)
        taken.append(
            {
                i: excess[i] if (q, i) in at_end else exact[places[q, i]] if (q, i) in places else Fraction(0)
                for i in listed
            }
        )
    return _nothing(problem, cases, listed, taken)
