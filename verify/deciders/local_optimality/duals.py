"""One dual point for many choices: multipliers that hold the network in every cell of every case, exactly.

In a cell with sides tau the bound of case (mask, sign s) is p = s sum_i lambda_i y_i a_i x_i + sum_i nu_i tau_i x_i
over ties i, nu >= 0, a_i = 1 or the slope. It needs p = w_j / |v_j| where a live neuron lies in the cell, else
||p|| <= 1; with a loss mu_w w_j / |v_j| and m, and lambda_i in the subdifferential at the point.

Source: `docs/mathematics.md`, 7.1 "The criterion".
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from solvers.arrays import Floats
from verify.checker.exact import squared_norm
from verify.deciders.exact_systems import NOTHING, Vector, floats, shortest, solution_near
from verify.deciders.local_optimality.choices import ConeCase, KKTNeighbourhood, TieSides
from verify.deciders.time_limits import poll
from verify.numbers.floats import to_float, to_floats

if TYPE_CHECKING:
    from solvers.programs.interior_point import Cone

Weights = dict[tuple[int, TieSides], Vector]
"""nu for (case, cell), in the order of the ties."""


class LocalDual:
    """multipliers: lambda_i of the active points.   weights: nu of every cell."""

    def __init__(self, multipliers: dict[int, Fraction], weights: Weights) -> None:
        self.multipliers, self.weights = multipliers, weights


def common_dual(nearby: KKTNeighbourhood, cases: list[ConeCase]) -> LocalDual | None:
    """Multipliers for all cells of the cases at once, or None where none were found."""
    system = _DualSystem(nearby, cases)
    for guess, extra in system.guesses():
        poll()
        lines, right = [*system.lines, *extra], [*system.right, *[Fraction(0)] * len(extra)]
        exact = solution_near(lines, right, guess, system.nonnegative, system.units)
        if exact is not None and (dual := system.completed(exact)) is not None:
            return dual
    return None


class _DualSystem:
    def __init__(self, nearby: KKTNeighbourhood, cases: list[ConeCase]) -> None:
        self.nearby, self.cases = nearby, cases
        self.active = nearby.active
        self.nonnegative = [nearby.is_margin] * len(self.active)
        slacks, ranges = self._with_ranges()
        self.tight: list[tuple[int, TieSides]] = []
        self.loose: list[tuple[int, TieSides]] = []
        for q, case in enumerate(cases):
            for cell, units in case.units.items():
                (self.tight if units else self.loose).append((q, cell))
        self.places: dict[tuple[int, TieSides], int] = {}
        for key in self.tight:
            poll()
            self.places[key] = len(self.nonnegative)
            self.nonnegative += [True] * len(cases[key[0]].ties)
        points = [*self.active, *slacks, *(i for key in self.tight for i in cases[key[0]].ties)]
        self.units = np.array([self._unit(i) for i in points])
        width = len(self.nonnegative)
        self.lines: list[Vector] = [[line.get(q, Fraction(0)) for q in range(width)] for line, _ in ranges]
        self.right: Vector = [value for _, value in ranges]
        for key in self.tight:
            poll()
            lines = self._lines(key, len(self.nonnegative), self.places[key])
            for unit in cases[key[0]].units[key[1]]:
                self.lines += lines
                self.right += unit.vector
                for k in unit.weightless:
                    line = [Fraction(0)] * len(self.nonnegative)
                    line[self.places[key] + k] = 1 / Fraction(self.units[self.places[key] + k])
                    self.lines.append(line)
                    self.right.append(Fraction(0))

    def _with_ranges(self) -> tuple[list[int], list[tuple[dict[int, Fraction], Fraction]]]:
        """Where a loss is asked: a slack for each end of a range but 0, its point, and the equations that say so."""
        slacks: list[int] = []
        lines: list[tuple[dict[int, Fraction], Fraction]] = []
        one = Fraction(1)
        for q, i in enumerate(self.active if self.nearby.ranges else ()):
            low, high = self.nearby.ranges[i]
            if low == high:
                lines.append(({q: one}, low))
                continue
            self.nonnegative[q] = low == 0
            for end, sign in ((high, one), (low, -one)):
                if end:
                    lines.append(({q: one, len(self.active) + len(slacks): sign}, end))
                    slacks.append(i)
        self.nonnegative += [True] * len(slacks)
        if self.nearby.bias_pull is not None:
            sums = {q: self.nearby.factors[i] for q, i in enumerate(self.active)}
            lines.append((sums, self.nearby.bias_pull))
        return slacks, lines

    def _unit(self, i: int) -> float:
        """A power of two about 1 / |x_i|: what is about 1 for a multiplier of the point."""
        size = max((abs(to_float(x)) for x in self.nearby.problem.rows[i]), default=1.0) or 1.0
        return 2.0 ** -round(math.log2(size))

    def _lines(self, key: tuple[int, TieSides], width: int, place: int) -> list[Vector]:
        """The rows of p as functions of the unknowns."""
        case, cell = self.cases[key[0]], key[1]
        nearby, rows, sides = self.nearby, self.nearby.problem.rows, case.sides(cell)
        lines: list[Vector] = []
        for c in case.mask:
            line = [Fraction(0)] * width
            for q, i in enumerate(self.active):
                line[q] = case.sign * nearby.factors[i] * nearby.gain(sides, i) * rows[i][c]
            for k, i in enumerate(case.ties):
                line[place + k] = cell[k] * rows[i][c]
            lines.append(line)
        return lines

    def _floats(self, key: tuple[int, TieSides], units: Floats, place: int) -> Floats:
        """The rows of p in floats, for unknowns in their units."""
        return floats(self._lines(key, len(units), place), len(units)) * units

    def guesses(self) -> list[tuple[Floats, list[Vector]]]:
        """Float solutions, each with lines that must be 0 besides.

        A vertex where all is linear; the one with the most room in the loose cells otherwise, where a part along the
        free bias that no nu can take up is 0.
        """
        from scipy.optimize import linprog

        found: list[tuple[Floats, list[Vector]]] = []
        width = len(self.nonnegative)
        matrix, right = floats(self.lines, width) * self.units, to_floats(self.right)
        if width:
            sizes = np.maximum(np.abs(matrix).max(axis=1), 1e-300)
            matrix, right = matrix / sizes[:, None], right / sizes
        bounds = [(0, None) if low else (None, None) for low in self.nonnegative]
        if width and len(matrix):
            solved = linprog(np.zeros(width), A_eq=matrix, b_eq=right, bounds=bounds, method="highs")
            if solved.status == 2:
                return []
            if solved.x is not None:
                found.append((np.array(solved.x) * self.units, []))
        if (roomiest := self._roomiest(matrix, right)) is not None:
            found.insert(0 if self.loose else 1, roomiest)
        return found

    def _roomiest(self, matrix: Floats, right: Floats) -> tuple[Floats, list[Vector]] | None:
        """The solution whose largest norm in a loose cell is least, with the lines that must be 0; None for failure."""
        from solvers.instance import Status
        from solvers.programs.interior_point import solve_cone_program

        places, units = self._unknowns()
        width = len(self.nonnegative)
        cost = np.zeros(len(units))
        cost[width] = 1.0
        solution = solve_cone_program(cost, *self._constraints(matrix, right, places, units))
        if solution.status is Status.FAILED or solution.primal is None:
            return None
        nothing = NOTHING * max(float(np.abs(solution.primal[:width]).max(initial=0.0)), 1.0)
        idle = list[Vector]()
        for key, place in places.items():
            weights = solution.primal[place : place + len(self.cases[key[0]].ties)]
            if weights.max(initial=0.0) <= nothing:
                idle += self._bias_lines(key)
        return (solution.primal * units)[:width], idle

    def _unknowns(self) -> tuple[dict[tuple[int, TieSides], int], Floats]:
        """Where nu of each loose cell begins, and the units of all: those of the tight cells, the norm, every nu."""
        places: dict[tuple[int, TieSides], int] = {}
        units = [*self.units, 1.0]
        for key in self.loose:
            places[key] = len(units)
            units += [self._unit(i) for i in self.cases[key[0]].ties]
        return places, np.array(units)

    def _constraints(
        self, matrix: Floats, right: Floats, places: dict[tuple[int, TieSides], int], units: Floats
    ) -> tuple[Floats, Floats, list[tuple[Cone, int]]]:
        """The cone program of the roomiest solution: matrix x + s = right, s in the cones.

        The equations of the tight cells; p = 0 along a free bias; nu, the multipliers of margins and the norm >= 0; in
        each loose cell ||p|| at most the norm.
        """
        width, total = len(self.nonnegative), len(units)
        counted = self.nearby.problem.norm_columns
        lines = {key: self._floats(key, units, place) for key, place in places.items()}
        blocks, values = [np.hstack([matrix, np.zeros((len(matrix), total - width))])], [right]
        cones: list[tuple[Cone, int]] = [("zero", len(matrix))]
        for key in self.loose:
            for at in (q for q, c in enumerate(self.cases[key[0]].mask) if c not in counted):
                blocks.append(lines[key][at : at + 1])
                values.append(np.zeros(1))
                cones.append(("zero", 1))
        low = [q for q, is_low in enumerate(self.nonnegative) if is_low] + list(range(width, total))
        identity = np.zeros((len(low), total))
        identity[np.arange(len(low)), low] = -1.0
        blocks.append(identity)
        values.append(np.zeros(len(low)))
        cones.append(("nonnegative", len(low)))
        radius = np.zeros((1, total))
        radius[0, width] = -1.0
        for key in self.loose:
            head = [q for q, c in enumerate(self.cases[key[0]].mask) if c in counted]
            blocks += [radius, -lines[key][head].reshape(len(head), total)]
            values += [np.zeros(1), np.zeros(len(head))]
            cones.append(("second-order", 1 + len(head)))
        return np.concatenate(blocks), np.concatenate(values), cones

    def _bias_lines(self, key: tuple[int, TieSides]) -> list[Vector]:
        """The part of p along a free bias as a function of the multipliers alone."""
        width, counted = len(self.active), self.nearby.problem.norm_columns
        lines = self._lines(key, width + len(key[1]), width)
        others = [line for line, c in zip(lines, self.cases[key[0]].mask, strict=True) if c not in counted]
        return [line[:width] + [Fraction(0)] * (len(self.nonnegative) - width) for line in others]

    def completed(self, exact: Vector) -> LocalDual | None:
        """The dual point with exact weights in the loose cells too, when all of them close."""
        problem = self.nearby.problem
        multipliers = dict(zip(self.active, exact, strict=False))
        weights: Weights = {key: exact[place : place + len(key[1])] for key, place in self.places.items()}
        for key in self.loose:
            case = self.cases[key[0]]
            counted = [q for q, c in enumerate(case.mask) if c in problem.norm_columns]
            lines = self._lines(key, len(self.active) + len(case.ties), len(self.active))
            start = [
                sum((x * y for x, y in zip(line, exact[: len(self.active)], strict=False)), Fraction(0))
                for line in lines
            ]
            generators = [[line[len(self.active) + k] for line in lines] for k in range(len(case.ties))]
            found = shortest(start, generators, counted)
            if found is None:
                return None
            end = [
                s + sum((w * g[q] for w, g in zip(found, generators, strict=True)), Fraction(0))
                for q, s in enumerate(start)
            ]
            if squared_norm(end[q] for q in counted) > self.nearby.square:
                return None
            weights[key] = found
        return LocalDual(multipliers, weights)
