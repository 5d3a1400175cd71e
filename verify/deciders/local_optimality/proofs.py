"""The certificate `local` from the dual points of its leaves."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Literal

import numpy as np

from verify.checker.dual_trees import Bound, Dual, Empty
from verify.checker.exact import common_integers
from verify.checker.states import HiddenDual
from verify.deciders.exact_systems import Vector
from verify.deciders.local_optimality.choices import ConeCase, KKTNeighbourhood, TieSides
from verify.deciders.local_optimality.duals import LocalDual
from verify.deciders.rounding import solve_exactly
from verify.deciders.time_limits import poll
from verify.numbers.floats import to_matrix


def leaf(nearby: KKTNeighbourhood, cases: Sequence[ConeCase], dual: LocalDual) -> Dual | HiddenDual | None:
    """The node of the certificate; None where a cell without interior could not be shown to have none."""
    ties = {i for case in cases for i in case.ties}
    listed = sorted(ties | {i for i, value in dual.multipliers.items() if value})
    multipliers = tuple((i, nearby.multiplier(i, dual.multipliers.get(i, Fraction(0)))) for i in listed)
    writers = [_Writer(nearby, case, listed, dual, q) for q, case in enumerate(cases)]
    denominator = math.lcm(*(t.denominator for writer in writers for t in writer.slopes()))
    trees = [writer.tree(denominator) for writer in writers]
    if any(tree is None for tree in trees):
        return None
    written = tuple(tuple(tree) for tree in trees if tree is not None)
    if nearby.is_whole:
        return Dual(multipliers, nearby.price, denominator, written)
    return HiddenDual(multipliers, tuple(case.square for case in cases), denominator, written)


class _Writer:
    def __init__(
        self, nearby: KKTNeighbourhood, case: ConeCase, listed: Sequence[int], dual: LocalDual, place: int
    ) -> None:
        self.problem, self.case, self.listed = nearby.problem, case, listed
        signed = {i: case.sign * dual.multipliers.get(i, Fraction(0)) * nearby.factors[i] for i in listed}
        self.slope_jumps = {i: (1 - self.problem.architecture.slope) * c for i, c in signed.items()}
        self.steps: dict[TieSides, dict[int, Fraction]] = {}
        for cell in case.units:
            weights: Vector = dual.weights[place, cell]
            self.steps[cell] = {i: nu * side for i, nu, side in zip(case.ties, weights, cell, strict=True)}

    def _slope(self, i: int, sides: Mapping[int, int], cell: TieSides) -> Fraction:
        on = self.slope_jumps[i] if sides.get(i, -1) > 0 else Fraction(0)
        return on + self.steps[cell].get(i, Fraction(0))

    def slopes(self) -> list[Fraction]:
        """All numbers that need a common denominator."""
        found: list[Fraction] = [Fraction(1)]
        for cell in self.case.units:
            sides = self.case.sides(cell)
            found += [t for i in self.listed if (t := self._slope(i, sides, cell)) != self.slope_jumps[i]]
        return found

    def tree(self, denominator: int) -> list[int | Bound | Empty] | None:
        """The nodes in pre-order."""
        nodes: list[int | Bound | Empty] = []
        decided = {i: side for i, side in self.case.cone.items() if i in self.case.ties}
        pending: list[tuple[dict[int, int], list[TieSides]]] = [(decided, list(self.case.units))]
        while pending:
            poll()
            path, cells = pending.pop()
            if not cells:
                empty = self._empty(path)
                if empty is None:
                    return None
                nodes.append(empty)
                continue
            open_ties = [i for i in self.case.ties if i not in path]
            if len(cells) == 1 and all(self._needs_no_side(i, cells[0]) for i in open_ties):
                nodes.append(self._bound(cells[0], denominator))
                continue
            places = {i: k for k, i in enumerate(self.case.ties)}
            mixed = [i for i in open_ties if len({cell[places[i]] for cell in cells}) > 1]
            point = (mixed or [i for i in open_ties if not self._needs_no_side(i, cells[0])])[0]
            nodes.append(point)
            pending += [  # the left one is taken first, from the end
                ({**path, point: side}, [cell for cell in cells if cell[places[point]] == side]) for side in (-1, 1)
            ]
        return nodes

    def _needs_no_side(self, i: int, cell: TieSides) -> bool:
        t, e = self._slope(i, self.case.sides(cell), cell), self.slope_jumps[i]
        return e <= t <= 0

    def _bound(self, cell: TieSides, denominator: int) -> Bound:
        sides = self.case.sides(cell)
        slopes: list[int | Literal["e"]] = []
        for i in self.listed:
            t = self._slope(i, sides, cell)
            slopes.append("e" if t == self.slope_jumps[i] and t else int(t * denominator))
        return Bound(tuple(slopes))

    def _empty(self, path: Mapping[int, int]) -> Empty | None:
        """Weights m > 0 with sum m_i s_i x_i = 0 over decided ties."""
        from scipy.optimize import linprog

        points = sorted(path)
        columns = [[path[i] * self.problem.rows[i][c] for c in self.case.mask] for i in points]
        if not points:
            return None
        numbers = to_matrix(columns)
        sizes = np.abs(numbers).max(axis=1)
        matrix = np.vstack([(numbers / sizes[:, None]).T, np.ones(len(points))])
        solved = linprog(np.zeros(len(points)), A_eq=matrix, b_eq=[*np.zeros(len(self.case.mask)), 1.0], method="highs")
        if solved.x is None:
            return None
        used = [k for k in range(len(points)) if solved.x[k] > 1e-9]
        lines = [[columns[k][q] for k in used] for q in range(len(self.case.mask))]
        exact = solve_exactly([*lines, [Fraction(1)] * len(used)], [*[Fraction(0)] * len(lines), Fraction(1)])
        if exact is None or any(value <= 0 for value in exact):
            return None
        (whole,), _ = common_integers([exact])
        return Empty(tuple((points[k], m) for k, m in zip(used, whole, strict=True)))
