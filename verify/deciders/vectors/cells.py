"""A tree of the cells of few points, on each of which H(u) = P u is shown to be short by a semidefinite matrix."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from solvers.programs.nonnegative import nonnegative_least_squares
from verify.checker.dual_trees import Empty
from verify.checker.exact import common_integers
from verify.checker.vector_bounds import Linear, is_semidefinite
from verify.checker.vector_goals import Vector
from verify.checker.vector_statement import VectorProblem
from verify.deciders.rounding import ceil_dyadic, solve_exactly
from verify.deciders.time_limits import poll
from verify.numbers.floats import to_matrix

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

__all__ = ["find_cells"]

CellNodes: TypeAlias = tuple[int | Linear | Empty, ...]

ABOVE = Fraction(1, 10**9)
"""The square is taken so much above the largest eigenvalue where that is not exactly the square of the price."""


def find_cells(
    problem: VectorProblem, c: Mapping[int, Vector], deadline: float | None
) -> tuple[CellNodes, Fraction] | None:
    """(nodes, square) with ||H(u)||^2 <= square ||u||^2; None where the time ends.

    The square is m^2 where every cell has it exactly; else just above the largest eigenvalue of any P^T P.
    """
    del deadline  # `poll` ends it
    search = _Cells(problem, c)
    nodes = search.nodes([], list(c) if problem.slope < 1 else [])
    square = problem.square_price
    if not all(is_semidefinite(search.rest(matrix, square)) for matrix in search.matrices):
        largest = max(float(np.linalg.eigvalsh(to_matrix(matrix)).max()) for matrix in search.matrices)
        square = ceil_dyadic(Fraction(largest) * (1 + ABOVE), 40)
        if not all(is_semidefinite(search.rest(matrix, square)) for matrix in search.matrices):
            return None
    return tuple(nodes), square


class _Cells:
    """matrices: P^T P of each cell that is not empty."""

    def __init__(self, problem: VectorProblem, c: Mapping[int, Vector]) -> None:
        self.problem, self.c = problem, c
        self.matrices: list[list[list[Fraction]]] = []

    def rest(self, matrix: list[list[Fraction]], square: Fraction) -> list[list[Fraction]]:
        """square I less the matrix."""
        counted = self.problem.counted
        return [
            [(square if r == q < counted else 0) - entry for q, entry in enumerate(row)] for r, row in enumerate(matrix)
        ]

    def nodes(self, path: list[tuple[int, int]], open_points: Sequence[int]) -> list[int | Linear | Empty]:
        """The tree below a path of decided points."""
        poll()
        empty = self._empty(path)
        if empty is not None:
            return [empty]
        if not open_points:
            self.matrices.append(self._square(dict(path)))
            return [Linear(())]
        first, *others = open_points
        return [first, *self.nodes([*path, (first, 1)], others), *self.nodes([*path, (first, -1)], others)]

    def _square(self, path: Mapping[int, int]) -> list[list[Fraction]]:
        rows, size = self.problem.rows, len(self.problem.rows[0])
        slopes = {i: self.problem.slope if path.get(i, 1) < 0 else Fraction(1) for i in self.c}
        p = [
            [sum((slopes[i] * v[k] * rows[i][q] for i, v in self.c.items()), Fraction(0)) for q in range(size)]
            for k in range(self.problem.outputs)
        ]
        return [[sum((row[r] * row[q] for row in p), Fraction(0)) for q in range(size)] for r in range(size)]

    def _empty(self, path: Sequence[tuple[int, int]]) -> Empty | None:
        """Weights m_i > 0 of decided points with sum m_i s_i x_i = 0, where floats find them and they are exact."""
        if len(path) < 2:
            return None
        sides = [[side * x for x in self.problem.rows[i]] for i, side in path]
        if not any(sides[-1]):
            return None
        # the last one is what makes a cell empty, as the one before was not
        others = to_matrix(sides[:-1]).T
        last = to_matrix(sides[-1:])[0]
        weights = nonnegative_least_squares(others, -last)
        if float(np.linalg.norm(others @ weights + last)) > 1e-9 * float(np.linalg.norm(last)):
            return None
        return self._exact_empty(path, sides, [q for q, weight in enumerate(weights) if weight > 1e-9])

    @staticmethod
    def _exact_empty(path: Sequence[tuple[int, int]], sides: list[list[Fraction]], used: list[int]) -> Empty | None:
        """The exact combination of these and the last one."""
        matrix = [[sides[q][k] for q in used] for k in range(len(sides[0]))]
        found = solve_exactly(matrix, [-entry for entry in sides[-1]])
        if found is None or any(weight <= 0 for weight in found) or not all(any(sides[q]) for q in used):
            return None
        (whole,), _ = common_integers([[*found, Fraction(1)]])
        points = [path[q][0] for q in used] + [path[-1][0]]
        return Empty(tuple(sorted(zip(points, whole, strict=True))))
