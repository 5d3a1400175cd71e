"""Linear programs: a thin layer over HiGHS (in scipy) whose words are not taken on trust."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from solvers.arrays import Floats
from solvers.clock import real_seconds_left, spend
from solvers.instance import ProblemInstance, Solution, Status
from solvers.shared_state import without_warnings

if TYPE_CHECKING:
    from collections.abc import Iterable

TOLERANCE: Final = 1e-9
"""Primal and dual feasibility asked of HiGHS, on rows whose largest entry is about 1."""

SECONDS, SECONDS_PER_ENTRY = 2e-3, 1e-6
"""Of one program, about, and for each entry of its matrix besides."""

_Matrix = Floats | sparse.csr_array

DISPROVED: Final = 1e-6
"""A solver's `unbounded` or `infeasible` counts when the gain of a unit ray, or the least violation, exceeds this."""


def solve_lp(
    cost: ArrayLike,
    a_ub: ArrayLike | sparse.csr_array | None = None,
    b_ub: ArrayLike | None = None,
    a_eq: ArrayLike | sparse.csr_array | None = None,
    b_eq: ArrayLike | None = None,
    bounds: ArrayLike | None = None,
) -> Solution:
    """Minimise cost.x subject to a_ub x <= b_ub, a_eq x = b_eq and bounds, shape (n, 2) (default: x >= 0).

    A matrix may be sparse, and is kept so.

    primal: x, shape (n,), a vertex when there is one. dual: shape (rows of a_ub,), >= 0, and cone_dual: shape (rows of
    a_eq,): with them cost + a_ub^T dual + a_eq^T cone_dual, the gradient of the Lagrangian, is 0 where x is strictly
    between its bounds. support: those columns, which at a vertex are basic.
    INFEASIBLE and UNBOUNDED are returned only when a second program confirms them, else FAILED.
    """
    program = _Linear(cost, a_ub, b_ub, a_eq, b_eq, bounds)
    solution = program.solve()
    confirmed = {Status.INFEASIBLE: program.is_infeasible, Status.UNBOUNDED: program.has_ray}.get(solution.status)
    if confirmed is not None and not confirmed():
        return Solution.without_point(Status.FAILED, f"{solution.message}, not confirmed")
    return solution


class _Linear:
    """A linear program with rows and cost divided by powers of two near their largest entries."""

    def __init__(
        self,
        cost: ArrayLike,
        a_ub: ArrayLike | sparse.csr_array | None,
        b_ub: ArrayLike | None,
        a_eq: ArrayLike | sparse.csr_array | None,
        b_eq: ArrayLike | None,
        bounds: ArrayLike | None,
    ) -> None:
        cost = np.asarray(cost, dtype=np.float64)
        self.cost_scale = float(_scale(np.abs(cost).max(initial=0.0)))
        self.cost = cost / self.cost_scale
        self.upper, self.limits, self.upper_scale = _rows(a_ub, b_ub, cost.size)
        self.equal, self.values, self.equal_scale = _rows(a_eq, b_eq, cost.size)
        free = [(0.0, np.inf)] * cost.size
        self.box = np.array(free if bounds is None else bounds, dtype=np.float64).reshape(cost.size, 2)

    def solve(self) -> Solution:
        if (self.box[:, 0] > self.box[:, 1]).any():
            return Solution.without_point(Status.INFEASIBLE, "a lower bound above its upper bound")
        solution = _highs(self.cost, self.upper, self.limits, self.equal, self.values, self.box)
        if not solution.is_usable:
            return solution
        return replace(
            solution,
            value=solution.value * self.cost_scale,
            dual=solution.dual * self.cost_scale / self.upper_scale,
            cone_dual=solution.cone_dual * self.cost_scale / self.equal_scale,
        )

    def has_ray(self) -> bool:
        """Whether a direction of norm 1 (largest entry) lowers the cost for ever."""
        box = np.where(np.isfinite(self.box), 0.0, np.array([-1.0, 1.0]))
        ray = _highs(self.cost, self.upper, np.zeros_like(self.limits), self.equal, np.zeros_like(self.values), box)
        return ray.status is Status.OPTIMAL and ray.value < -DISPROVED

    def is_infeasible(self) -> bool:
        """Whether the least possible largest violation of a row is clearly positive."""
        if (self.box[:, 0] > self.box[:, 1]).any():
            return True
        rows = stacked(self.upper, self.equal, -self.equal)
        sides = np.concatenate([self.limits, self.values, -self.values])
        if not len(sides):
            return False
        size = len(self.cost)
        least = _highs(
            np.append(np.zeros(size), 1.0),
            _beside(rows, -np.ones((len(sides), 1))),
            sides,
            np.zeros((0, size + 1)),
            np.zeros(0),
            np.vstack([self.box, [0.0, np.inf]]),
        )
        return least.status is Status.OPTIMAL and least.value > DISPROVED * max(1.0, float(np.abs(sides).max()))


def stacked(*blocks: _Matrix) -> _Matrix:
    """The blocks below each other; sparse where one of them is."""
    dense = [block for block in blocks if isinstance(block, np.ndarray)]
    if len(dense) == len(blocks):
        return np.vstack(dense)
    return sparse.csr_array(sparse.vstack([sparse.csr_array(block) for block in blocks]))


def _beside(left: _Matrix, right: Floats) -> _Matrix:
    is_sparse = isinstance(left, sparse.csr_array)
    return sparse.csr_array(sparse.hstack([left, right])) if is_sparse else np.hstack([left, right])


def _rows(
    matrix: ArrayLike | sparse.csr_array | None, sides: ArrayLike | None, size: int
) -> tuple[_Matrix, Floats, Floats]:
    """Rows and right sides divided by a scale, and that scale."""
    if matrix is None or sides is None:
        return np.zeros((0, size)), np.zeros(0), np.zeros(0)
    if isinstance(matrix, sparse.csr_array):
        largest = np.zeros(np.size(sides))
        np.maximum.at(largest, matrix.tocoo().row, np.abs(matrix.tocoo().data))
        scale = _scale(largest)
        entries = sparse.csr_array(sparse.diags(1.0 / scale) @ matrix)
        return entries, np.asarray(sides, dtype=np.float64).ravel() / scale, scale
    rows = np.asarray(matrix, dtype=np.float64).reshape(-1, size)
    scale = _scale(np.abs(rows).max(axis=1, initial=0.0))
    return rows / scale[:, None], np.asarray(sides, dtype=np.float64).ravel() / scale, scale


def _entries(matrix: _Matrix) -> int:
    return matrix.nnz if isinstance(matrix, sparse.csr_array) else matrix.size


def _scale(sizes: ArrayLike) -> Floats:
    """Powers of two in (size / 2, size]; 1 for 0."""
    return np.where(np.asarray(sizes) > 0, np.ldexp(0.5, np.frexp(sizes)[1]), 1.0)


def _highs(cost: Floats, upper: _Matrix, limits: Floats, equal: _Matrix, values: Floats, box: Floats) -> Solution:
    """Minimise cost.x, upper x <= limits, equal x = values, x in box (n, 2); multipliers as in `solve_lp`."""
    from scipy.optimize import linprog  # slow to import, and few audits need it

    left = {} if math.isinf(seconds := real_seconds_left()) else {"time_limit": max(seconds, 0.1)}
    options = {**left, "primal_feasibility_tolerance": TOLERANCE, "dual_feasibility_tolerance": TOLERANCE}
    spend(SECONDS + SECONDS_PER_ENTRY * (_entries(upper) + _entries(equal)))
    for presolve in (True, False):
        with without_warnings():
            found = linprog(
                cost, upper, limits, equal, values, box, method="highs", options={**options, "presolve": presolve}
            )
        if found.status in _STATUS:
            break
    status = _STATUS.get(found.status, Status.FAILED)
    if status is not Status.OPTIMAL:
        return Solution.without_point(status, found.message)
    room = np.minimum(found.x - box[:, 0], box[:, 1] - found.x)
    return Solution(
        status,
        float(found.fun),
        primal=np.array(found.x),
        dual=np.maximum(-found.ineqlin.marginals, 0.0),
        cone_dual=-found.eqlin.marginals,
        support=np.flatnonzero(room > TOLERANCE * np.maximum(1.0, np.abs(found.x))),
        message=found.message,
    )


_STATUS: Final = {0: Status.OPTIMAL, 2: Status.INFEASIBLE, 3: Status.UNBOUNDED}
"""scipy's words; the others mean that nothing was decided."""


def infeasibility_multipliers(
    instance: ProblemInstance, lines: Iterable[tuple[ArrayLike, ArrayLike]], *, adds_up: bool = False
) -> Floats | None:
    """Multipliers lambda, shape (n,), under which no network of any width fits, or None when none were found.

    With c_i = lambda_i y_i (min-norm: lambda_i) they satisfy, up to rounding, sum_i c_i x_i = 0 on the columns of every
    mask class and sum_i c_i |t_i| = 0 on every line: so sum_i c_i sigma_a(x_i.u) vanishes for all u, while lambda >= 0
    with a positive sum (min-norm: sum lambda_i y_i > t sum |lambda_i|, t the tolerance). A vertex of that set, so that
    few multipliers are nonzero.

    adds_up: whether sum_i c_i = 0 as well, for networks with an output bias.
    lines: pairs (indices, abs_t): the points x_i = t_i r on one line, once for every mask class; ignored when a = 1.
    Source: `docs/mathematics.md`, 5.5 "Infeasibility": sigma_a(z) = (1 + a)/2 z + (1 - a)/2 |z|, and |x.u| on
    distinct lines are linearly independent.
    """
    sizes = np.linalg.norm(instance.rows, axis=1)
    units = np.where(sizes > 0, sizes, 1.0)
    blocks = [instance.masked_rows(mask).T for mask in range(len(instance.masks))]
    if instance.slope < 1:
        for indices, lengths in lines:
            line = np.zeros((1, instance.points))
            line[0, np.asarray(indices, dtype=np.intp)] = np.abs(np.asarray(lengths, dtype=np.float64))
            blocks.append(line)
    if adds_up:
        blocks.append(np.ones((1, instance.points)))
    equations = np.vstack(blocks) * (instance.signs / units)
    equations = equations[np.abs(equations).any(axis=1)]
    if instance.margin:
        gains, lowest = np.ones(instance.points), 0.0
    else:
        gains, lowest = instance.targets / units / _largest(instance.targets / units), -np.inf
    if instance.tolerance:  # lambda = p - q with p, q >= 0
        room = instance.tolerance / units / _largest(instance.targets / units)
        gains, lowest = np.concatenate([gains - room, -gains - room]), 0.0
        equations = np.hstack([equations, -equations])
    zeros, bounds = np.zeros(len(equations)), [(lowest, np.inf)] * len(gains)
    solution = solve_lp(-gains, gains[None, :], [1.0], equations, zeros, bounds)
    if not solution.is_usable or solution.value > -0.5:
        return None
    found = solution.primal
    if instance.tolerance:
        found = found[: instance.points] - found[instance.points :]
    return found / units


def _largest(values: Floats) -> float:
    return float(np.abs(values).max()) or 1.0
