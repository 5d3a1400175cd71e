"""How many multipliers has an exact KKT point? The dimension of the set Lambda of all of them, exactly.

With products mu_ij = lambda_i g_ij at kinks, the KKT conditions are linear in x = (lambda, mu): A x = b, G x >= 0. So
Lambda is a projection of a polyhedron (min-norm: one for each vector of signs of the multipliers at kinks; the largest
counts). Its dimension is the rank, in lambda, of the solutions of A x = 0 and G_k x = 0, k in those inequalities that
are equalities throughout. These are guessed in floats. Then a point with G_k x > 0 for all others, and y > 0 with
sum y_k G_k x = 0 for all x with A x = b, are found exactly, so that the guess is proved.

Source: `docs/mathematics.md`, 4.6 "How many multipliers"; R. Freund, R. Roundy, M. Todd, Identifying the set of
always-active constraints in a system of linear inequalities by a single linear program, 1985.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np

from solvers.arrays import Floats
from verify.checker.exact import dot
from verify.deciders.exact_systems import Vector, floats, solution_near
from verify.deciders.local_optimality.choices import KKTNeighbourhood
from verify.deciders.rounding import power_of_two, rank, solve_exactly
from verify.deciders.time_limits import poll
from verify.numbers.floats import to_floats
from verify.problem.members import trains_all
from verify.problem.network import Network
from verify.problem.problem import Problem

__all__ = ["multiplier_dimension"]

MOST_UNKNOWNS = 150
MOST_BRANCHES = 64


def multiplier_dimension(problem: Problem, network: Network) -> int | None:
    """The dimension of the set of multipliers of an exact KKT point; 0: they are unique.

    None where it is not found: no KKT point, too large, several isolated ones, or rounding. What is returned is proved,
    also that a vector of signs at kinks has no multipliers.
    """
    system = _MultiplierSystem(KKTNeighbourhood(problem, network))
    if system.size > MOST_UNKNOWNS or 2 ** len(system.turning) > MOST_BRANCHES:
        return None
    found: list[tuple[int, tuple[Fraction, ...]]] = []
    for signs in product((1, -1), repeat=len(system.turning)):
        poll()
        branch = system.branch(dict(zip(system.turning, signs, strict=True)))
        if branch is None:
            return None
        found += [branch] if branch[0] >= 0 else []
    largest = max((dimension for dimension, _ in found), default=None)
    return None if largest == 0 and len({point for _, point in found}) > 1 else largest


class _MultiplierSystem:
    """A x = b.   turning: the places of the multipliers whose sign has to be chosen."""

    def __init__(self, nearby: KKTNeighbourhood) -> None:
        problem, network = nearby.problem, nearby.network
        self.count = len(nearby.active)
        self.is_margin = nearby.is_margin
        self.slope = problem.architecture.slope
        self.kinks: dict[tuple[int, int], int] = {}
        live = [j for j, v in enumerate(network.output_weights) if v]
        for j in live:
            for place, i in enumerate(nearby.active):
                if i in nearby.ties[j]:
                    self.kinks[place, j] = self.count + len(self.kinks)
        self.size = self.count + len(self.kinks)
        self.turning = [] if self.is_margin else sorted({place for place, _ in self.kinks})
        self.lines: list[Vector] = []
        self.right: Vector = []
        for j, (w, v) in enumerate(zip(network.hidden_weights, network.output_weights, strict=True)):
            for c in nearby.masks[j]:
                is_counted = c in problem.norm_columns
                if not v and (is_counted or not w[c] or not trains_all(problem.trained)):
                    continue
                line = [Fraction(0)] * self.size
                for place, i in enumerate(nearby.active):
                    factor = nearby.factors[i] * problem.rows[i][c]
                    if (place, j) in self.kinks:
                        line[self.kinks[place, j]] += factor
                    else:
                        line[place] += factor * nearby.gain(nearby.strict[j], i)
                self.lines.append(line)
                self.right.append(w[c] / v if v and is_counted else Fraction(0))

        if nearby.bias_pull is not None:
            sums = [factor for i, factor in enumerate(nearby.factors) if i in nearby.active]
            self.lines.append([*sums, *[Fraction(0)] * len(self.kinks)])
            self.right.append(nearby.bias_pull)
        self._equilibrate(nearby)

    def _equilibrate(self, nearby: KKTNeighbourhood) -> None:
        """The multipliers and products of a point in a unit about 1 / |x_i|, and each equation times a power of two.

        x_i without the 1 of a free bias; the largest one's unit where that is 0. The inequalities are between numbers
        of one point, so that they stay what they are.
        """
        counted = nearby.problem.norm_columns
        sizes = [max(abs(nearby.problem.rows[i][c]) for c in counted) for i in nearby.active]
        largest = max(sizes, default=Fraction(0))
        places = [*range(self.count), *(place for place, _ in self.kinks)]
        units = [power_of_two(sizes[place] or largest) for place in places]
        for k, line in enumerate(self.lines):
            scaled = [x / unit for x, unit in zip(line, units, strict=True)]
            size = power_of_two(max(map(abs, scaled), default=Fraction(0)))
            self.lines[k], self.right[k] = [x / size for x in scaled], self.right[k] / size

    def _inequalities(self, signs: dict[int, int]) -> list[Vector]:
        """G, for the signs of the multipliers that have to be chosen."""
        found: list[Vector] = []
        for place in range(self.count):
            if self.is_margin or place in signs:
                line = [Fraction(0)] * self.size
                line[place] = Fraction(signs.get(place, 1))
                found.append(line)
        for (place, _), q in self.kinks.items():
            sign = signs.get(place, 1)
            for on_multiplier, on_product in ((-self.slope, 1), (1, -1)):
                line = [Fraction(0)] * self.size
                line[place], line[q] = sign * Fraction(on_multiplier), Fraction(sign * on_product)
                found.append(line)
        return found

    def branch(self, signs: dict[int, int]) -> tuple[int, tuple[Fraction, ...]] | None:
        """The dimension of one branch, and multipliers in it: (-1, ()) when it is empty, None when it is not found."""
        bounds = self._inequalities(signs)
        guess = self._inside(bounds)
        if guess is None:
            return (-1, ()) if self._is_empty(bounds) else None
        x, room = guess
        tight = [line for line, value in zip(bounds, room, strict=True) if value < 0.5]
        loose = [line for line, value in zip(bounds, room, strict=True) if value >= 0.5]
        exact = solution_near([*self.lines, *tight], [*self.right, *[Fraction(0)] * len(tight)], x, [False] * self.size)
        if exact is None or any(dot(line, exact) <= 0 for line in loose) or not self._are_equalities(tight):
            return None
        kernel = _kernel([*self.lines, *tight], self.size)
        return rank([vector[: self.count] for vector in kernel]), tuple(exact[: self.count])

    def _is_empty(self, bounds: list[Vector]) -> bool:
        """Whether y and z >= 0 exist with y A + z G = 0 and y.b = 1: then A x = b and G x >= 0 exclude each other."""
        from scipy.optimize import linprog

        count, total = len(self.lines), len(self.lines) + len(bounds)
        lines = [[*(line[q] for line in self.lines), *(line[q] for line in bounds)] for q in range(self.size)]
        lines.append([*self.right, *[Fraction(0)] * len(bounds)])
        right = [*[Fraction(0)] * self.size, Fraction(1)]
        are_signed = [*[False] * count, *[True] * len(bounds)]
        solved = linprog(
            np.r_[np.zeros(count), np.ones(len(bounds))],
            A_eq=floats(lines, total),
            b_eq=to_floats(right),
            bounds=[*[(None, None)] * count, *[(0, None)] * len(bounds)],
            method="highs-ds",
        )
        return solved.x is not None and solution_near(lines, right, np.array(solved.x), are_signed) is not None

    def _inside(self, bounds: list[Vector]) -> tuple[Floats, Floats] | None:
        """A point, and for each inequality 1 where it can be strict, else 0; in floats. None when there is no point.

        Maximises sum t over A z = tau b, G z >= t, 0 <= t <= 1, tau >= 1; x = z / tau.
        """
        from scipy.optimize import linprog

        lines, limits = floats(self.lines, self.size), floats(bounds, self.size)
        right = to_floats(self.right)[:, None]
        solved = linprog(
            np.r_[np.zeros(self.size + 1), -np.ones(len(bounds))],
            A_eq=np.hstack([lines, -right, np.zeros((len(lines), len(bounds)))]),
            b_eq=np.zeros(len(lines)),
            A_ub=np.hstack([-limits, np.zeros((len(bounds), 1)), np.eye(len(bounds))]),
            b_ub=np.zeros(len(bounds)),
            bounds=[*[(None, None)] * self.size, (1, None), *[(0, 1)] * len(bounds)],
            method="highs",
        )
        if solved.x is None:
            return None
        values = np.array(solved.x)
        return values[: self.size] / values[self.size], values[self.size + 1 :]

    def _are_equalities(self, tight: list[Vector]) -> bool:
        """Whether z and y > 0 exist with z A = sum y_k G_k and z.b = 0."""
        from scipy.optimize import linprog

        if not tight:
            return True
        count = len(self.lines)
        lines = [[*(line[q] for line in self.lines), *(-line[q] for line in tight)] for q in range(self.size)]
        lines.append([*self.right, *[Fraction(0)] * len(tight)])
        solved = linprog(
            np.zeros(count + len(tight)),
            A_eq=floats(lines, count + len(tight)),
            b_eq=np.zeros(len(lines)),
            bounds=[*[(None, None)] * count, *[(1, None)] * len(tight)],
            method="highs",
        )
        if solved.x is None:
            return False
        exact = solution_near(
            lines, [Fraction(0)] * len(lines), np.array(solved.x), [*[False] * count, *[True] * len(tight)]
        )
        return exact is not None and all(value > 0 for value in exact[count:])


def _kernel(lines: list[Vector], width: int) -> list[Vector]:
    """A basis of the solutions of lines x = 0: one for each column that depends on those before it."""
    chosen: list[int] = []
    basis: list[Vector] = []
    for q in range(width):
        poll()
        right = [line[q] for line in lines]
        found = solve_exactly([[line[c] for c in chosen] for line in lines], right) if chosen else None
        if found is None and any(right):
            chosen.append(q)
            continue
        vector = [Fraction(0)] * width
        vector[q] = Fraction(-1)
        for c, value in zip(chosen, found or [], strict=False):
            vector[c] = value
        basis.append(vector)
    return basis
