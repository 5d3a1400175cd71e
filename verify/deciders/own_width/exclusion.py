"""Exact leaves for states in which nothing fits: the vertex of `solvers.own_width.farkas`, solved in rationals.

Unknowns are the multipliers that are not 0, and for each case the steps |t_i - base_i| of its slopes that are not 0,
counted from 0, from e_i at points that are decided on, and from e_i at undecided points whose slope is at that end.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from verify.checker.dual_trees import Bound, Nodes
from verify.checker.states import Nothing
from verify.deciders.exact_systems import NOTHING, solution_near
from verify.deciders.time_limits import poll
from verify.numbers.floats import to_float
from verify.problem.members import factors
from verify.problem.problem import Problem

if TYPE_CHECKING:
    from solvers.own_width.farkas import StateNothing
    from solvers.own_width.states import StateCase

__all__ = ["nothing_leaf"]

END = 1e-7
"""A slope this near to the end of its interval, relative to its length, is at it."""


def nothing_leaf(problem: Problem, guess: StateNothing) -> Nothing | None:
    """The leaf with exact numbers near the guess; None where the guess does not lead to one."""
    system = _Exclusion(problem, guess)
    poll()
    found = solution_near(system.lines, system.right, np.array(system.guess), system.nonnegative)
    return None if found is None else system.leaf(found)


class _Exclusion:
    """lines, right: sum lambda_i y_i - eps |lambda_i| = 1, and p = 0 in each column that each case sees."""

    def __init__(self, problem: Problem, guess: StateNothing) -> None:
        self.problem, self.cases = problem, guess.cases
        self.factors, self.slope = factors(problem), problem.architecture.slope
        largest = max(float(np.abs(guess.multipliers).max()), 1e-300)
        self.support = [int(i) for i in np.flatnonzero(np.abs(guess.multipliers) > NOTHING * largest)]
        self.guess = [abs(float(guess.multipliers[i])) for i in self.support]
        self.signs = [1 if guess.multipliers[i] > 0 else -1 for i in self.support]
        self.at_end: list[set[int]] = []
        self.steps: list[list[tuple[int, int]]] = []  # of each case: (point, sign of its step)
        for case, slopes in zip(guess.cases, guess.slopes, strict=True):
            self._add_steps(case, guess, slopes.tolist(), largest)
        self.nonnegative = [True] * len(self.guess)
        self.lines, self.right = [self._gain()], [Fraction(1)]
        start = len(self.support)
        for q, case in enumerate(guess.cases):
            for column in problem.mask_classes[case.mask]:
                self.lines.append(self._line(q, column, start))
                self.right.append(Fraction(0))
            start += len(self.steps[q])

    def _add_steps(self, case: StateCase, guess: StateNothing, slopes: Sequence[float], largest: float) -> None:
        """The slopes of a case that are at neither end, with the sides on which they may be."""
        sides = dict(case.cone)
        at_end = {i for i, side in sides.items() if side > 0}
        steps: list[tuple[int, int]] = []
        for i, t in enumerate(slopes):
            e = to_float((1 - self.slope) * case.sign * self.factors[i]) * float(guess.multipliers[i])
            if i not in sides and e < 0 and t <= e * (1 - END):
                at_end.add(i)
            step = t - (e if i in at_end else 0.0)
            if abs(step) > NOTHING * largest and not (i in at_end and i not in sides):
                steps.append((i, 1 if i in at_end else -1))
                self.guess.append(abs(step))
        self.at_end.append(at_end)
        self.steps.append(steps)

    def _gain(self) -> list[Fraction]:
        line = [Fraction(0)] * len(self.guess)
        for q, (i, sign) in enumerate(zip(self.support, self.signs, strict=True)):
            gain = self.factors[i] * self.problem.targets[i] * sign
            line[q] = gain - self.problem.fit_tolerance
        return line

    def _line(self, q: int, column: int, start: int) -> list[Fraction]:
        """p of a case in one column, as a function of the unknowns."""
        case, line = self.cases[q], [Fraction(0)] * len(self.guess)
        for place, (i, sign) in enumerate(zip(self.support, self.signs, strict=True)):
            share = Fraction(1) if i in self.at_end[q] else self.slope
            line[place] = share * case.sign * self.factors[i] * sign * self.problem.rows[i][column]
        for place, (i, sign) in enumerate(self.steps[q], start):
            line[place] = sign * self.problem.rows[i][column]
        return line

    def leaf(self, found: Sequence[Fraction]) -> Nothing:
        """The leaf of a solution; whether its undecided slopes are within their intervals, the checker says."""
        multipliers = {i: sign * value for i, sign, value in zip(self.support, self.signs, found, strict=False)}
        listed = sorted(multipliers.keys() | {i for case in self.cases for i, _ in case.cone} | self._stepped())
        slopes: list[list[Fraction]] = []
        start = len(self.support)
        for q, case in enumerate(self.cases):
            taken = {i: sign * found[start + k] for k, (i, sign) in enumerate(self.steps[q])}
            start += len(self.steps[q])
            jumps = {i: (1 - self.slope) * case.sign * self.factors[i] * multipliers.get(i, 0) for i in listed}
            slopes.append([(jumps[i] if i in self.at_end[q] else 0) + taken.get(i, Fraction(0)) for i in listed])
        unit = math.lcm(*(Fraction(t).denominator for each in slopes for t in each))
        trees: list[Nodes] = [(Bound(tuple(int(t * unit) for t in each)),) for each in slopes]
        return Nothing(tuple((i, multipliers.get(i, Fraction(0))) for i in listed), unit, tuple(trees))

    def _stepped(self) -> set[int]:
        return {i for steps in self.steps for i, _ in steps}
