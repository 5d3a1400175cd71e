"""Least squares with sign constraints: the multipliers of approximate stationarity."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import qr_delete, solve_triangular  # pyright: ignore[reportAttributeAccessIssue]

from solvers.instance import Floats, Solution, Status
from solvers.shared_state import one_at_a_time, without_warnings

GRADIENT: Final = 1e-13
"""The search ends when no unit column has a gradient above this times the norm of the target."""

INDEPENDENT: Final = 1e-10
"""A unit column closer than this to the span of the columns in use does not join them."""

ACCURACY: Final = 1e-10
"""Feasibility and gap asked of the interior-point solver, on unit columns and a unit target."""


def nonnegative_least_squares(
    matrix: ArrayLike, target: ArrayLike, linear: ArrayLike | None = None, free: ArrayLike | None = None
) -> Floats:
    """Minimise 1/2 |target - matrix z|^2 + linear.z over z >= 0, with z_j of either sign where free_j; returns z.

    matrix: H, shape (p, n); target: shape (p,); linear: shape (n,), >= 0 and 0 on free columns (default 0);
    free: shape (n,) booleans (default none). The columns in use are linearly independent, so that n may exceed p.

    Active set by single exchanges, on a QR factorisation that is updated column by column: the result is exact to
    rounding and sparse. Always returns a feasible z, also when the exchanges stop at their limit (3 n).
    Source: Lawson & Hanson, Solving Least Squares Problems (1974), chapter 23; linear term and free columns added.
    """
    full = np.asarray(matrix, dtype=np.float64)
    goal = np.asarray(target, dtype=np.float64)
    height = float(np.linalg.norm(goal))
    sizes = np.linalg.norm(full, axis=0)
    usable = sizes > 0
    result = np.zeros(full.shape[1])
    if height == 0 or not usable.any():
        return result
    slack = np.zeros(full.shape[1]) if linear is None else np.asarray(linear, dtype=np.float64)
    unsigned = np.zeros(full.shape[1], dtype=bool) if free is None else np.asarray(free, dtype=bool)
    units = full[:, usable] / sizes[usable]
    z = _active_set(units, goal / height, slack[usable] / sizes[usable] / height, unsigned[usable])
    result[usable] = z * height / sizes[usable]
    return result


def _active_set(units: Floats, goal: Floats, slack: Floats, unsigned: NDArray[np.bool_]) -> Floats:
    count = units.shape[1]
    z = np.zeros(count)
    used = _Used(units, goal, slack)
    for j in np.flatnonzero(unsigned):
        used.add(int(j))
    z[used.members] = used.solve()
    barred = np.zeros(count, dtype=bool)
    for _ in range(3 * count):
        gradient = units.T @ (goal - units @ z) - slack
        gradient[used.members] = -np.inf
        gradient[barred | unsigned] = -np.inf
        entering = int(np.argmax(gradient))
        if not gradient[entering] > GRADIENT:
            break
        if not used.add(entering) and not _exchange(used, z, unsigned, entering):
            barred[entering] = True
            continue
        _step_to_optimum(used, z, unsigned, barred, entering)
    return z


def _exchange(used: _Used, z: Floats, unsigned: NDArray[np.bool_], entering: int) -> bool:
    """Let a column enter that depends on those in use: matrix z stays and linear.z falls until one of them leaves.

    False when none can leave or the entering column depends on what remains: its gradient was rounding.
    """
    members = np.array(used.members, dtype=np.intp)
    weights = used.coordinates(entering)
    shrinking = (weights > INDEPENDENT) & ~unsigned[members]
    if not shrinking.any():
        return False
    lengths = np.where(shrinking, z[members] / np.where(shrinking, weights, 1.0), np.inf)
    leaving = int(np.argmin(lengths))
    used.drop(int(members[leaving]))
    if not used.add(entering):
        used.add(int(members[leaving]))
        return False
    moved = z[members] - lengths[leaving] * weights
    z[members] = np.where(unsigned[members], moved, np.maximum(moved, 0.0))
    z[members[leaving]] = 0.0
    z[entering] = lengths[leaving]
    return True


def _step_to_optimum(
    used: _Used, z: Floats, unsigned: NDArray[np.bool_], barred: NDArray[np.bool_], entering: int
) -> None:
    """Move z to the least-squares point of the columns in use, dropping each column that reaches 0 on the way."""
    while True:
        members = np.array(used.members, dtype=np.intp)
        aim = used.solve()
        blocked = (aim <= 0) & ~unsigned[members]
        if not blocked.any():
            z[members] = aim
            barred[:] = False
            return
        if aim[members == entering] <= 0 and z[entering] == 0:
            used.drop(entering)
            barred[entering] = True  # its gradient was rounding
            return
        here = z[members]
        lengths = np.where(blocked, here / np.where(here > aim, here - aim, 1.0), np.inf)
        z[members] = here + lengths.min() * (aim - here)
        for j in members[blocked & (lengths <= lengths.min())]:
            z[j] = 0.0
            used.drop(int(j))


class _Used:
    """The columns in use with their QR factorisation."""

    def __init__(self, units: Floats, goal: Floats, slack: Floats) -> None:
        self.units, self.goal, self.slack = units, goal, slack
        self.members: list[int] = []
        self.q = np.zeros((len(goal), 0))
        self.r = np.zeros((0, 0))

    def add(self, column: int) -> bool:
        """Take a column in, unless it depends on those in use."""
        vector = self.units[:, column]
        along = self.q.T @ vector
        rest = vector - self.q @ along
        again = self.q.T @ rest
        rest -= self.q @ again
        size = float(np.linalg.norm(rest))
        if size <= INDEPENDENT:
            return False
        k = len(self.members)
        r = np.zeros((k + 1, k + 1))
        r[:k, :k], r[:k, k], r[k, k] = self.r, along + again, size
        self.q, self.r = np.column_stack([self.q, rest / size]), r
        self.members.append(column)
        return True

    def coordinates(self, column: int) -> Floats:
        """The combination of the columns in use that is nearest to this one."""
        return solve_triangular(self.r, self.q.T @ self.units[:, column]) if self.members else np.zeros(0)

    def drop(self, column: int) -> None:
        """Take a column out."""
        place = self.members.index(column)
        q, r = qr_delete(self.q, self.r, place, which="col")
        self.members.pop(place)
        self.q, self.r = q[:, : len(self.members)], r[: len(self.members)]

    def solve(self) -> Floats:
        """The unconstrained optimum on the columns in use: R^T R z = H^T target - linear."""
        if not self.members:
            return np.zeros(0)
        shift = solve_triangular(self.r, self.slack[self.members], trans=1)
        return solve_triangular(self.r, self.q.T @ self.goal - shift)


@one_at_a_time
def constrained_least_squares(
    matrix: ArrayLike, target: ArrayLike, linear: ArrayLike | None = None, rows: ArrayLike | None = None
) -> Solution:
    """Minimise 1/2 |target - matrix z|^2 + linear.z subject to rows z >= 0 (cvxpy, Clarabel).

    For coupled variables: multipliers with their kink products, a lambda_i <= mu_ij <= lambda_i. matrix: (p, n); rows:
    (m, n). primal: z, shape (n,); dual: shape (m,), >= 0. Interior-point accuracy: round and repair what comes back.
    """
    import cvxpy as cp

    full = np.asarray(matrix, dtype=np.float64)
    goal = np.asarray(target, dtype=np.float64)
    slack = np.zeros(full.shape[1]) if linear is None else np.asarray(linear, dtype=np.float64)
    cone = np.zeros((0, full.shape[1])) if rows is None else np.asarray(rows, dtype=np.float64)
    height = _positive(np.linalg.norm(goal))
    sizes = _positive(np.linalg.norm(full, axis=0))
    lengths = _positive(np.linalg.norm(cone / sizes, axis=1))

    variable = cp.Variable(full.shape[1])
    loss = 0.5 * cp.sum_squares(goal / height - (full / sizes) @ variable) + (slack / sizes / height) @ variable
    inside = cp.NonNeg((cone / sizes / lengths[:, None]) @ variable)
    problem = cp.Problem(cp.Minimize(loss), [inside] if len(cone) else [])
    try:
        with without_warnings():  # cvxpy warns of inaccurate solutions, which the status says
            problem.solve(solver=cp.CLARABEL, tol_feas=ACCURACY, tol_gap_abs=ACCURACY, tol_gap_rel=ACCURACY)
    except cp.SolverError as error:
        return Solution.without_point(Status.FAILED, str(error))
    message = str(problem.status)
    if message not in ("optimal", "optimal_inaccurate"):
        return Solution.without_point(Status.FAILED, message)
    z = np.asarray(variable.value) * height / sizes
    return Solution(
        Status.OPTIMAL if message == "optimal" else Status.INACCURATE,
        float(0.5 * np.sum((goal - full @ z) ** 2) + slack @ z),
        primal=z,
        dual=np.maximum(np.asarray(inside.dual_value), 0.0) * height / lengths if len(cone) else np.zeros(0),
        message=message,
    )


def _positive(sizes: ArrayLike) -> Floats:
    """The sizes, with 1 for 0."""
    values = np.asarray(sizes, dtype=np.float64)
    return np.where(values > 0, values, 1.0)
