"""Cone programs put together from named blocks of variables and of constraints, so that nobody counts offsets.

    program = ConeProgram()
    x = program.variables(3, cost=1.0)
    fits = program.constraints("zero", [1.0, 2.0])         right - (what is put there) lies in the cone
    program.put(fits, x, matrix)
    found = program.solve()
    found.of(x), found.multipliers(fits), found.room(fits)

Blocks stand in the order in which they are asked for; neighbouring constraints of the same linear cone become one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from solvers.arrays import Floats, Indices
from solvers.instance import Solution, Status
from solvers.programs.interior_point import Cone, solve_cone_program

__all__ = ["ConeProgram", "ConeSolution", "Places", "Variables"]

Variables: TypeAlias = Indices
"""The places of some variables, or of some constraints, in the whole program; a part of a block is one too."""


class Places:
    """The places of a program's variables, or of its constraints, given out block by block."""

    def __init__(self) -> None:
        self.count = 0

    def block(self, count: int) -> Variables:
        """The next `count` places."""
        self.count += count
        return np.arange(self.count - count, self.count)


@dataclass(frozen=True, slots=True, eq=False)
class ConeSolution:
    """What the solver returned, block by block. Only `status` and `value` are there where it `FAILED`."""

    solution: Solution
    matrix: sparse.csc_matrix
    right: Floats

    @property
    def status(self) -> Status:
        """As of `solve_cone_program`."""
        return self.solution.status

    @property
    def value(self) -> float:
        """The objective."""
        return self.solution.value

    def of(self, variables: Variables) -> Floats:
        """The values of these variables."""
        return self.solution.primal[variables]

    def multipliers(self, constraints: Variables) -> Floats:
        """z of these constraints: cost + matrix^T z = 0, z in the dual cone."""
        return self.solution.dual[constraints]

    def room(self, constraints: Variables) -> Floats:
        """right - matrix x of these constraints."""
        return (self.right - self.matrix @ self.solution.primal)[constraints]


class ConeProgram:
    """Minimise cost.x subject to right - matrix x in a product of cones; empty at first."""

    def __init__(self) -> None:
        self._cost: list[Floats] = []
        self._right: list[Floats] = []
        self._cones: list[tuple[Cone, int]] = []
        self._columns, self._rows = Places(), Places()
        self._entries: list[tuple[Floats, Indices, Indices]] = []

    def variables(self, count: int, *, cost: float | Floats = 0.0) -> Variables:
        """New variables, each with this cost, or with its own."""
        self._cost.append(np.full(count, cost))
        return self._columns.block(count)

    def constraints(self, cone: Cone, right: ArrayLike) -> Variables:
        """New constraints with these right-hand sides (m,): a second-order cone of size m, or m linear ones."""
        sides = np.asarray(right, np.float64)
        count = len(sides)
        if self._cones and self._cones[-1][0] == cone != "second-order":
            self._cones[-1] = cone, self._cones[-1][1] + count
        elif count:
            self._cones.append((cone, count))
        self._right.append(sides)
        return self._rows.block(count)

    def put(self, constraints: Variables, variables: Variables, block: Floats) -> None:
        """The entries (m, k) of the matrix between m constraints and k variables; entries put twice are added."""
        rows, columns = np.meshgrid(constraints, variables, indexing="ij")
        self._entries.append((np.asarray(block, np.float64).ravel(), rows.ravel(), columns.ravel()))

    def put_diagonal(self, constraints: Variables, variables: Variables, value: float | Floats) -> None:
        """An entry, one for all or the k-th, between the k-th of these constraints and of as many variables."""
        self._entries.append((np.full(len(constraints), value), constraints, variables))

    def solve(self, *, accuracy: float = 1e-10, time_limit: float = np.inf) -> ConeSolution:
        """As `solve_cone_program` does it."""
        data, rows, columns = (np.concatenate(part) for part in zip(*self._entries, strict=True))
        matrix = sparse.csc_matrix((data, (rows, columns)), shape=(self._rows.count, self._columns.count))
        cost, right = np.concatenate(self._cost), np.concatenate(self._right)
        solution = solve_cone_program(cost, matrix, right, self._cones, accuracy=accuracy, time_limit=time_limit)
        return ConeSolution(solution, matrix, right)
