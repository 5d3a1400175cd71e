"""The convex program on fixed directions u_j of unit norm: min sum_i l(y_i, f(x_i)) + m sum_j ||V_j||, f = S V + b.

Its optimum is that of all networks with these directions, and its multipliers are a dual point of the whole problem but
for the directions that are not there.

Source: `docs/vector.md`, 6 "The search".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from solvers.arrays import Floats
from solvers.instance import Status
from solvers.programs.interior_point import Cone, solve_cone_program
from solvers.vectors.vector_instance import VectorInstance, activated

__all__ = ["MasterPoint", "solve_master"]


@dataclass(frozen=True, slots=True, eq=False)
class MasterPoint:
    """outputs: V_j, shape (J, K).   shift: b, None without one.   multipliers: C_i, shape (n, K).   value: its cost.

    Free hidden biases give any constant for as little as one likes, so that there is a b then, which costs nothing.
    """

    outputs: Floats
    shift: Floats | None
    multipliers: Floats
    value: float


class _ConeRows:
    """Rows of `right - matrix x in cone`, gathered block by block."""

    def __init__(self, columns: int) -> None:
        self.columns = columns
        self.blocks: list[Any] = []
        self.rights: list[Floats] = []
        self.cones: list[tuple[Cone, int]] = []
        self.count = 0

    def add(self, kind: Cone, matrix: Any, right: Floats, size: int | None = None) -> int:
        """The place of the first row; `size` cones of so many rows each where it is not all of them."""
        place = self.count
        rows = int(matrix.shape[0])
        self.blocks.append(sparse.csr_matrix(matrix))
        self.rights.append(np.asarray(right, dtype=float))
        for _ in range(rows // size if size else 1):
            self.cones.append((kind, size or rows))
        self.count += rows
        return place


def solve_master(problem: VectorInstance, directions: Floats, accuracy: float = 1e-9) -> MasterPoint | None:
    """Its optimum for directions of unit norm, shape (J, c); None where the solver fails or nothing fits."""
    program = _Master(problem, directions)
    found = solve_cone_program(
        program.cost, sparse.csc_matrix(sparse.vstack(program.rows.blocks)), np.concatenate(program.rows.rights),
        program.rows.cones, accuracy=accuracy,
    )  # fmt: skip
    if found.status is Status.FAILED:
        return None
    return program.point(found.primal, found.dual, float(found.value))


class _Master:
    """Variables: V (J K), the norms (J), b (K if there is one), then those of the loss."""

    def __init__(self, problem: VectorInstance, directions: Floats) -> None:
        self.problem = problem
        self.count, self.outputs = len(directions), problem.targets.shape[1]
        self.active = activated(problem.rows @ directions.T, problem.slope)
        self.has_shift = problem.is_free or problem.output_bias is not None
        points, free = len(problem.rows), self.outputs * self.has_shift
        self.norms = self.count * self.outputs
        self.shift = self.norms + self.count
        self.extra = self.shift + free
        size = self.extra + {"squared": 1, "cross-entropy": points * (1 + self.outputs)}.get(problem.kind, 0)
        self.bias_cost = size
        costs = 0.0 if problem.is_free else problem.output_bias or 0.0
        size += costs > 0
        self.rows = _ConeRows(size)
        self.cost = np.zeros(size)
        self.cost[self.norms : self.shift] = problem.price
        self.place = self._loss()
        self._norms()
        if costs:
            self._bias_decay(costs)

    def _of_outputs(self) -> Any:
        """The matrix that gives f, point by point."""
        found: Any = sparse.lil_matrix((len(self.problem.rows) * self.outputs, self.rows.columns))
        identity = np.eye(self.outputs)
        for j in range(self.count):
            found[:, j * self.outputs : (j + 1) * self.outputs] = np.kron(self.active[:, j : j + 1], identity)
        if self.has_shift:
            found[:, self.shift : self.extra] = np.tile(identity, (len(self.problem.rows), 1))
        return sparse.csr_matrix(found)

    def _unit(self, columns: list[int], values: list[float]) -> Any:
        return sparse.csr_matrix((values, ([0] * len(columns), columns)), shape=(1, self.rows.columns))

    def _loss(self) -> int:
        f, y = self._of_outputs(), self.problem.targets
        if self.problem.margin:
            matrix = self._differences()
            return self.rows.add("nonnegative", -(matrix @ f), -np.ones(matrix.shape[0]))
        if not self.problem.is_loss:
            return self.rows.add("zero", f, y.ravel())
        if self.problem.kind == "squared":  # (T + 1/2, T - 1/2, y - f)
            self.cost[self.extra] = 1.0
            top = self._unit([self.extra], [-1.0])
            matrix = sparse.vstack([top, top, f])
            return self.rows.add("second-order", matrix, np.concatenate([[0.5, -0.5], y.ravel()]))
        return self._cross_entropy(f)

    def _differences(self) -> Any:
        """f_k - f_j for the class k of each point and each other j."""
        found: list[tuple[int, int, int]] = []
        for i, k in enumerate(self.problem.targets.argmax(axis=1)):
            found += [(i, int(k), j) for j in range(self.outputs) if j != k]
        self.pairs = found
        matrix: Any = sparse.lil_matrix((len(found), self.problem.targets.size))
        for row, (i, k, j) in enumerate(found):
            matrix[row, i * self.outputs + k], matrix[row, i * self.outputs + j] = 1.0, -1.0
        return sparse.csr_matrix(matrix)

    def _cross_entropy(self, f: Any) -> int:
        """sum_i s_i - f_ik, exp(f_ij - s_i) <= e_ij, sum_j e_ij <= 1."""
        points, many = self.problem.targets.shape
        self.cost[self.extra : self.extra + points] = 1.0
        self.cost -= np.asarray(f.T @ self.problem.targets.ravel()).ravel()
        powers = self.extra + points
        sums: Any = sparse.lil_matrix((points, self.rows.columns))
        for i in range(points):
            sums[i, powers + i * many : powers + (i + 1) * many] = 1.0
        self.rows.add("nonnegative", sums, np.ones(points))
        matrix: Any = sparse.lil_matrix((3 * points * many, self.rows.columns))
        matrix[0::3] = -f
        for q in range(points * many):
            matrix[3 * q, self.extra + q // many] = 1.0
            matrix[3 * q + 2, powers + q] = -1.0
        return self.rows.add("exponential", matrix, np.tile([0.0, 1.0, 0.0], points * many))

    def _norms(self) -> None:
        matrix: Any = sparse.lil_matrix((self.count * (1 + self.outputs), self.rows.columns))
        for j in range(self.count):
            matrix[j * (1 + self.outputs), self.norms + j] = -1.0
            for k in range(self.outputs):
                matrix[j * (1 + self.outputs) + 1 + k, j * self.outputs + k] = -1.0
        self.rows.add("second-order", matrix, np.zeros(matrix.shape[0]), 1 + self.outputs)

    def _bias_decay(self, decay: float) -> None:
        """(B + 1/2, B - 1/2, sqrt(mu_b) b)."""
        self.cost[self.bias_cost] = 1.0
        matrix: Any = sparse.lil_matrix((2 + self.outputs, self.rows.columns))
        matrix[0, self.bias_cost] = matrix[1, self.bias_cost] = -1.0
        for k in range(self.outputs):
            matrix[2 + k, self.shift + k] = -np.sqrt(decay)
        self.rows.add("second-order", matrix, np.array([0.5, -0.5, *np.zeros(self.outputs)]))

    def point(self, primal: Floats, dual: Floats, value: float) -> MasterPoint:
        """What the solver's vectors are of the problem."""
        problem, many = self.problem, self.outputs
        outputs = primal[: self.norms].reshape(self.count, many)
        shift = primal[self.shift : self.extra] if self.has_shift else None
        f = self.active @ outputs + (0.0 if shift is None else shift)
        if problem.is_loss:
            return MasterPoint(outputs, shift, problem.steepest(f), value)
        multipliers = np.zeros_like(problem.targets)
        if not problem.margin:
            multipliers = -dual[self.place : self.place + problem.targets.size].reshape(problem.targets.shape)
        else:
            for (i, k, j), z in zip(self.pairs, dual[self.place :], strict=False):
                multipliers[i, k] += z
                multipliers[i, j] -= z
        return MasterPoint(outputs, shift, multipliers, value)
