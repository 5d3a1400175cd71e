"""The restricted master: the convex program over a few activation patterns (columns) and a working set of points.

max-margin. A column is (mask class, sign s, the set of points on which it counts as on). For a point that the neuron
helps (s y_i > 0) any choice of slope in {a, 1} bounds s_a from below, so no cone constraint is needed; for one that it
hurts, s_a is convex and enters as it is, by t_ij >= x_i . u_j. So every feasible point of the master is a feasible
network:

    min sum_j ||u_j|| + penalty sum_i xi_i
    s.t. sum_{j: s_j = y_i} g_ij x_i . u_j - sum_{j: s_j = -y_i} (a x_i . u_j + (1 - a) t_ij) + xi_i >= 1,
         t_ij >= x_i . u_j,  t_ij >= 0,  xi_i >= 0.

min-norm. A column is (mask class, sign, signs of x_i . u_j at all points), with its cone constraints:

    min sum_j ||u_j|| + penalty sum_i |xi_i|
    s.t. sum_j s_j g_ij x_i . u_j + xi_i = y_i,  tau_ij x_i . u_j >= 0.

Within tolerances t_i the first constraint becomes two, >= y_i - t_i with + xi_i and <= y_i + t_i with - xi'_i.

The multipliers of the first constraints are the dual point lambda that pricing looks at (|lambda_i| <= penalty; of the
two within tolerances the difference).
Built for Clarabel directly: the loop calls it dozens of times. `solvers.programs.restricted` states the same program in
cvxpy; tests
compare.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from solvers.clock import poll
from solvers.instance import Instance, Status
from solvers.programs.interior_point import Cone, solve_cone_program

Array = NDArray[np.float64]

IDLE = 1e-4
"""Below this part of the room that its constraint has left a multiplier is 0 (both are about 1, scaled)."""


@dataclass(frozen=True, slots=True)
class Column:
    """An activation pattern: mask class, output sign, and which points count as on ((n,) bool).

    sure (n,) bool, for max-margin: points that the neuron hurts and whose side is taken as `on` says, without their own
    variable t. That is a guess which shrinks the program; `doubts` says afterwards where it was wrong.
    """

    mask: int
    sign: int
    on: NDArray[np.bool_]
    sure: NDArray[np.bool_] | None = None

    def key(self, instance: Instance, points: NDArray[np.intp]) -> tuple[int, int, bytes]:
        """Columns with equal keys are the same column of the master on these points."""
        if instance.slope == 1.0:
            return self.mask, 1, b""  # linear: every pattern and sign is the same program
        on = self.on[points]
        if instance.margin:
            on = on & (self.sign * instance.targets[points] > 0)
        return self.mask, self.sign, on.tobytes()

    def open_points(self, instance: Instance, points: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Which of `points` need a variable t: hurt, and not sure."""
        if not instance.margin or instance.slope == 1.0:
            return np.zeros(len(points), bool)
        hurt = self.sign * instance.targets[points] < 0
        return hurt if self.sure is None else hurt & ~self.sure[points]

    def doubts(self, instance: Instance, points: NDArray[np.intp], direction: Array) -> NDArray[np.intp]:
        """The sure points on whose other side the solution `direction` lies."""
        if self.sure is None:
            return np.zeros(0, np.intp)
        z = instance.rows[points] @ direction
        visible = np.abs(z) > 1e-7 * float(np.abs(z).max(initial=0.0))
        hurt = self.sign * instance.targets[points] < 0
        return points[hurt & self.sure[points] & visible & ((z > 0) != self.on[points])]


@dataclass(frozen=True, slots=True)
class MasterSolution:
    """value: objective. multipliers (n,): zero off the working set. directions (J, D): u_j over all D columns.

    slack: sum of |xi|.
    """

    status: Status
    value: float
    multipliers: Array
    directions: Array
    slack: float


def solve_master(
    instance: Instance,
    required: Array,
    columns: list[Column],
    points: NDArray[np.intp],
    penalty: float,
    *,
    tolerances: Array | None = None,
    time_limit: float = 60.0,
) -> MasterSolution:
    """Solve the restricted master on the working set `points` (indices).

    required (n,): r_i > 0 in y_i f(x_i) >= r_i (max-margin: 1 in the module's text), f(x_i) = r_i (min-norm).
    tolerances (n,): t_i in |f(x_i) - r_i| <= t_i (min-norm); None: f(x_i) = r_i.
    """
    rows, targets, a = instance.rows[points], instance.targets[points], instance.slope
    count, width = len(points), len(columns)
    masks = [instance.masks[column.mask] for column in columns]
    seen = {mask: _few_columns(rows[:, instance.masks[mask]], instance) for mask in {c.mask for c in columns}}
    sizes = np.array([seen[column.mask][0].shape[1] for column in columns], int)
    starts = np.concatenate([[0], np.cumsum(sizes)])[:-1] if width else np.zeros(0, int)
    n_u = int(sizes.sum())
    at_r = n_u
    at_xi = at_r + width
    n_xi = count if instance.margin else 2 * count
    at_t = at_xi + n_xi
    hurt = [np.flatnonzero(column.open_points(instance, points)) for column in columns]
    t_starts = at_t + np.concatenate([[0], np.cumsum([len(h) for h in hurt])])[:-1] if width else np.zeros(0, int)
    total = at_t + int(sum(len(h) for h in hurt))

    data: list[Array] = []
    row_index: list[NDArray[np.intp]] = []
    column_index: list[NDArray[np.intp]] = []

    def put(block: Array, at_row: NDArray[np.intp], at_column: NDArray[np.intp]) -> None:
        r, c = np.meshgrid(at_row, at_column, indexing="ij")
        data.append(np.asarray(block, float).ravel())
        row_index.append(r.ravel())
        column_index.append(c.ravel())

    def put_each(values: Array, at_row: NDArray[np.intp], at_column: NDArray[np.intp]) -> None:
        data.append(np.asarray(values, float).ravel())
        row_index.append(at_row)
        column_index.append(at_column)

    every = np.arange(count)
    fit_rows = every  # the first `count` rows are the fit constraints
    uppers = count + every if tolerances is not None else every[:0]  # f(x_i) <= r_i + t_i
    next_row = count + len(uppers)
    for j, column in enumerate(columns):
        poll()
        x = seen[column.mask][0]
        u = starts[j] + np.arange(sizes[j])
        slopes = np.where(column.on[points], 1.0, a)
        if instance.margin:
            helps = np.flatnonzero(column.sign * targets > 0)
            put(-slopes[helps, None] * x[helps], helps, u)
            against = np.flatnonzero(column.sign * targets < 0)
            fixed = np.where(np.isin(against, hurt[j]), a, slopes[against])
            put(fixed[:, None] * x[against], against, u)
            if len(hurt[j]):
                t = t_starts[j] + np.arange(len(hurt[j]))
                put_each(np.full(len(t), 1 - a), hurt[j], t)
                at = next_row + np.arange(len(t))
                put(x[hurt[j]], at, u)
                put_each(-np.ones(len(t)), at, t)
                put_each(-np.ones(len(t)), at + len(t), t)
                next_row += 2 * len(t)
        else:
            block = column.sign * slopes[:, None] * x
            put(-block if len(uppers) else block, every, u)
            put(block[: len(uppers)], uppers, u)
            if a < 1:
                tau = np.where(column.on[points], 1.0, -1.0)
                put(-tau[:, None] * x, next_row + every, u)
                next_row += count
    are_bounds = instance.margin or len(uppers) > 0
    put_each(-np.ones(count) if are_bounds else np.ones(count), fit_rows, at_xi + every)
    if not instance.margin:
        put_each(-np.ones(count), uppers if len(uppers) else fit_rows, at_xi + count + every)
    xi_rows = next_row + np.arange(n_xi)
    put_each(-np.ones(n_xi), xi_rows, at_xi + np.arange(n_xi))
    next_row += n_xi
    linear_rows = next_row
    cones: list[tuple[Cone, int]] = (
        [("nonnegative", linear_rows)] if are_bounds else [("zero", count), ("nonnegative", linear_rows - count)]
    )
    last = instance.rows.shape[1] - 1
    for j in range(width):
        poll()
        counted = np.flatnonzero(masks[j] != last) if instance.free else np.arange(sizes[j])
        put_each(np.array([-1.0]), np.array([next_row]), np.array([at_r + j]))
        put_each(-np.ones(len(counted)), next_row + 1 + np.arange(len(counted)), starts[j] + counted)
        next_row += 1 + len(counted)
        cones.append(("second-order", 1 + len(counted)))
    matrix = sparse.csc_matrix(
        (np.concatenate(data), (np.concatenate(row_index), np.concatenate(column_index))), shape=(next_row, total)
    )
    right = np.zeros(next_row)
    right[:count] = -required[points] if instance.margin else required[points]
    if tolerances is not None:
        right[:count] = tolerances[points] - required[points]
        right[uppers] = tolerances[points] + required[points]
    cost = np.zeros(total)
    cost[at_r : at_r + width] = 1.0
    cost[at_xi : at_xi + n_xi] = penalty
    solution = solve_cone_program(cost, matrix, right, cones, time_limit=time_limit)
    multipliers = np.zeros(len(instance.rows))
    directions = np.zeros((width, instance.rows.shape[1]))
    if solution.status is Status.FAILED:
        return MasterSolution(Status.FAILED, np.inf, multipliers, directions, np.inf)
    x, z = solution.primal, solution.dual
    multipliers[points] = np.maximum(z[:count], 0.0) if instance.margin else -z[:count]
    if tolerances is not None:
        multipliers[points] = _active(z[:count], z[uppers], matrix @ x, right, uppers)
    for j in range(width):
        basis, u = seen[columns[j].mask][1], x[starts[j] : starts[j] + sizes[j]]
        directions[j, masks[j]] = u if basis is None else basis @ u
    slack = float(np.abs(x[at_xi:at_t]).sum())
    return MasterSolution(solution.status, solution.value, multipliers, directions, slack)


def _active(lower: Array, upper: Array, values: Array, right: Array, uppers: NDArray[np.intp]) -> Array:
    """The multipliers of the lower constraints minus those of the upper ones, 0 for what an interior point leaves of
    multipliers whose constraints are not active.
    """
    room = np.maximum(right - values, 0.0)
    pairs = ((lower, room[: len(lower)]), (upper, room[uppers]))
    kept = [np.where(z > IDLE * free, np.maximum(z, 0.0), 0.0) for z, free in pairs]
    return kept[0] - kept[1]


def _few_columns(rows: Array, instance: Instance) -> tuple[Array, Array | None]:
    """The rows (P, D) in an orthonormal basis (D, P) of their span, in which every solution lies; as they are (None)
    where there are no fewer points than columns, or the columns do not all count in the norm.
    """
    if instance.free or len(rows) >= rows.shape[1]:
        return rows, None
    basis, triangle = np.linalg.qr(rows.T)
    return triangle.T, basis
