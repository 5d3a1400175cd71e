"""Exact leaves for states in which nothing fits: the vertex of `solvers.own_width.farkas`, solved in rationals.

Unknowns are the multipliers that are not 0, shared by all cells of the inner trees, and for each cell the steps
|t_i - base_i| of its slopes that are not 0, counted from 0, from e_i at points that are decided on, and from e_i at
undecided points whose slope is at that end. What is 0 beside the others is told of lambda_i ||x_i|| and t_i ||x_i||: a
point may be in any units.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from verify.checker.dual_trees import Bound, Case, Nodes
from verify.checker.errors import CertificateError
from verify.checker.states import Nothing
from verify.deciders.exact_systems import NOTHING, solution_near
from verify.deciders.time_limits import poll
from verify.numbers.floats import to_float
from verify.problem.members import factors
from verify.problem.problem import Problem

if TYPE_CHECKING:
    from solvers.own_width.farkas import InnerNode, StateNothing
    from solvers.own_width.states import StateCase

__all__ = ["Exclusions"]

LARGEST = 1000
"""Of the exponents of units, so that floats hold them."""

END = 1e-7
"""A slope this near to the end of its interval, relative to its length, is at it."""


def _size(entries: Sequence[Fraction]) -> float:
    """A power of two near the largest entry; 1 where all are 0."""
    largest = max(map(abs, entries), default=Fraction(0))
    exponent = largest.numerator.bit_length() - largest.denominator.bit_length()
    return math.ldexp(1.0, min(max(exponent, -LARGEST), LARGEST)) if largest else 1.0


class Exclusions:
    """The exact leaves near guesses about a problem, each made and checked once."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self._known: dict[StateNothing, Nothing | None] = {}

    def leaf(self, guess: StateNothing) -> Nothing | None:
        """The leaf with exact numbers near the guess, which excludes its state; None where the guess leads to none."""
        if guess not in self._known:
            self._known[guess] = self._checked(guess)
        return self._known[guess]

    def has(self, guess: StateNothing) -> bool:
        """Whether there is one."""
        return self.leaf(guess) is not None

    def _checked(self, guess: StateNothing) -> Nothing | None:
        poll()
        system = _Exclusion(self.problem, guess)
        found = system.solution()
        if found is None:
            return None
        leaf = system.leaf(found)
        try:
            leaf.exclude(self.problem, [self._case(case) for case in guess.cases])
        except CertificateError:
            return None
        return leaf

    def _case(self, case: StateCase) -> Case:
        sides = dict(case.cone)
        cone = tuple(sides.get(i, 0) for i in range(len(self.problem.targets)))
        return self.problem.mask_classes[case.mask], cone, case.sign


@dataclass(frozen=True, slots=True)
class _ExactCell:
    """at_end: points whose slope is counted from e_i.   steps: (point, sign of its step)."""

    case: StateCase
    at_end: frozenset[int]
    steps: tuple[tuple[int, int], ...]


class _Exclusion:
    """lines, right: sum lambda_i y_i - eps |lambda_i| = 1, and p = 0 in each column that the case of each cell sees."""

    def __init__(self, problem: Problem, guess: StateNothing) -> None:
        self.problem, self.given = problem, guess
        self.factors, self.slope = factors(problem), problem.architecture.slope
        self.sizes = np.array([_size(row) for row in problem.rows])
        largest = max(float(np.abs(guess.multipliers * self.sizes).max()), 1e-300)
        self.support = [int(i) for i in np.flatnonzero(np.abs(guess.multipliers * self.sizes) > NOTHING * largest)]
        self.units: list[float] = (1 / self.sizes[self.support]).tolist()
        self.guess = [abs(float(guess.multipliers[i])) for i in self.support]
        self.signs = [1 if guess.multipliers[i] > 0 else -1 for i in self.support]
        self.cells: list[_ExactCell] = []
        self.split: set[int] = set()
        for case, tree in zip(guess.cases, guess.trees, strict=True):
            self._add_tree(case, tree, largest)
        self.nonnegative = [True] * len(self.guess)
        self.lines, self.right = [self._gain()], [Fraction(1)]
        start = len(self.support)
        for cell in self.cells:
            for column in problem.mask_classes[cell.case.mask]:
                self.lines.append(self._line(cell, column, start))
                self.right.append(Fraction(0))
            start += len(cell.steps)

    def _add_tree(self, case: StateCase, tree: Sequence[InnerNode], largest: float) -> None:
        waiting = [dict(case.cone)]
        for node in tree:
            sides = waiting.pop()
            if isinstance(node, int):
                self.split.add(node)
                waiting += [{**sides, node: -1}, {**sides, node: 1}]
            else:
                self.cells.append(self._cell(case, sides, node.tolist(), largest))

    def _cell(self, case: StateCase, sides: dict[int, int], slopes: Sequence[float], largest: float) -> _ExactCell:
        """A cell, of whose slopes those that are at neither end are unknown, with the sides on which they may be."""
        at_end = {i for i, side in sides.items() if side > 0}
        steps: list[tuple[int, int]] = []
        for i, t in enumerate(slopes):
            e = to_float((1 - self.slope) * case.sign * self.factors[i]) * float(self.given.multipliers[i])
            if i not in sides and e < 0 and t <= e * (1 - END):
                at_end.add(i)
            step = t - (e if i in at_end else 0.0)
            if abs(step) * self.sizes[i] > NOTHING * largest and not (i in at_end and i not in sides):
                steps.append((i, 1 if i in at_end else -1))
                self.guess.append(abs(step))
                self.units.append(1 / self.sizes[i])
        return _ExactCell(case, frozenset(at_end), tuple(steps))

    def solution(self) -> list[Fraction] | None:
        """The unknowns near the guess; each line in units in which its largest coefficient is about 1."""
        sizes = [
            _size([entry * Fraction(unit) for entry, unit in zip(line, self.units, strict=True)]) for line in self.lines
        ]
        lines = [[entry / Fraction(size) for entry in line] for line, size in zip(self.lines, sizes, strict=True)]
        right = [value / Fraction(size) for value, size in zip(self.right, sizes, strict=True)]
        guess, units = np.array(self.guess), np.array(self.units)
        return solution_near(lines, right, guess, self.nonnegative, units)

    def _gain(self) -> list[Fraction]:
        line = [Fraction(0)] * len(self.guess)
        for q, (i, sign) in enumerate(zip(self.support, self.signs, strict=True)):
            gain = self.factors[i] * self.problem.targets[i] * sign
            line[q] = gain - self.problem.fit_tolerance
        return line

    def _line(self, cell: _ExactCell, column: int, start: int) -> list[Fraction]:
        """p of a cell in one column, as a function of the unknowns."""
        line = [Fraction(0)] * len(self.guess)
        for place, (i, sign) in enumerate(zip(self.support, self.signs, strict=True)):
            share = Fraction(1) if i in cell.at_end else self.slope
            line[place] = share * cell.case.sign * self.factors[i] * sign * self.problem.rows[i][column]
        for place, (i, sign) in enumerate(cell.steps, start):
            line[place] = sign * self.problem.rows[i][column]
        return line

    def leaf(self, found: Sequence[Fraction]) -> Nothing:
        """The leaf of a solution; whether its undecided slopes are within their intervals, the checker says."""
        multipliers = {i: sign * value for i, sign, value in zip(self.support, self.signs, found, strict=False)}
        decided = {i for case in self.given.cases for i, _ in case.cone} | self.split
        stepped = {i for cell in self.cells for i, _ in cell.steps}
        listed = sorted(multipliers.keys() | decided | stepped)
        slopes: list[list[Fraction]] = []
        start = len(self.support)
        for cell in self.cells:
            taken = {i: sign * found[start + k] for k, (i, sign) in enumerate(cell.steps)}
            start += len(cell.steps)
            jumps = {i: (1 - self.slope) * cell.case.sign * self.factors[i] * multipliers.get(i, 0) for i in listed}
            slopes.append([(jumps[i] if i in cell.at_end else 0) + taken.get(i, Fraction(0)) for i in listed])
        unit = math.lcm(*(Fraction(t).denominator for each in slopes for t in each))
        bounds = iter([Bound(tuple(int(t * unit) for t in each)) for each in slopes])
        trees: list[Nodes] = [
            tuple(node if isinstance(node, int) else next(bounds) for node in tree) for tree in self.given.trees
        ]
        return Nothing(tuple((i, multipliers.get(i, Fraction(0))) for i in listed), unit, tuple(trees))
