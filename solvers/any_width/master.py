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

Of bundles the first constraint is of a whole one: its left side is summed over the rows of the bundle, which have one
slack and one multiplier.

The multipliers of the first constraints are the dual point lambda that pricing looks at (|lambda_i| <= penalty; of the
two within tolerances the difference).
Built for Clarabel directly: the loop calls it dozens of times. `solvers.programs.restricted` states the same program in
cvxpy; tests compare.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from solvers.arrays import Bits, Floats, Indices
from solvers.clock import poll
from solvers.instance import ProblemInstance, Status
from solvers.programs.cone_program import ConeProgram, ConeSolution, Variables

IDLE = 1e-4
"""Below this part of the room that its constraint has left a multiplier is 0 (both are about 1, scaled)."""


@dataclass(frozen=True, slots=True)
class Column:
    """An activation pattern: mask class, output sign, and which points count as on ((n,) bool).

    assumed (n,) bool, for max-margin: opposing points (those whose margin the neuron lowers) that are taken to lie on
    the side that `on` says, without their own variable t. That is a guess which shrinks the program;
    `violated_assumptions` says afterwards where it was wrong.
    cone: (point, side) with side x_i . u_j >= 0 as a constraint; these points agree with `on`, are `assumed`, and
    belong to the working set.
    """

    mask: int
    sign: int
    on: Bits
    assumed: Bits | None = None
    cone: tuple[tuple[int, int], ...] = ()

    def key(self, instance: ProblemInstance, points: Indices) -> tuple[int, int, bytes]:
        """Columns with equal keys are the same column of the master on these points."""
        if instance.slope == 1.0:
            return self.mask, 1, b""  # linear: every pattern and sign is the same program
        on = self.on[points]
        if instance.margin:
            on = on & (self.sign * instance.targets[points] > 0)
        return self.mask, self.sign, on.tobytes()

    def open_points(self, instance: ProblemInstance, points: Indices) -> Bits:
        """Which of `points` need a variable t: opposing, and on no assumed side."""
        if not instance.margin or instance.slope == 1.0:
            return np.zeros(len(points), bool)
        opposing = self.sign * instance.targets[points] < 0
        return opposing if self.assumed is None else opposing & ~self.assumed[points]

    def violated_assumptions(self, instance: ProblemInstance, points: Indices, direction: Floats) -> Indices:
        """The points of an assumed side on whose other side the solution `direction` lies."""
        if self.assumed is None:
            return np.zeros(0, np.intp)
        z = instance.rows[points] @ direction
        visible = np.abs(z) > 1e-7 * float(np.abs(z).max(initial=0.0))
        opposing = self.sign * instance.targets[points] < 0
        return points[opposing & self.assumed[points] & visible & ((z > 0) != self.on[points])]


@dataclass(frozen=True, slots=True)
class MasterSolution:
    """value: objective. multipliers (n,): zero off the working set. directions (J, D): u_j over all D columns.

    slack: sum of |xi|.   bias: of the output, where there is one.
    """

    status: Status
    value: float
    multipliers: Floats
    directions: Floats
    slack: float
    bias: float = 0.0


def solve_master(
    instance: ProblemInstance,
    required: Floats,
    columns: list[Column],
    points: Indices,
    penalty: float,
    *,
    tolerances: Floats | None = None,
    time_limit: float = np.inf,
) -> MasterSolution:
    """Solve the restricted master on the working set `points` (indices).

    required (n,): r_i > 0 in y_i f(x_i) >= r_i (max-margin: 1 in the module's text), f(x_i) = r_i (min-norm).
    tolerances (n,): t_i in |f(x_i) - r_i| <= t_i (min-norm); None: f(x_i) = r_i.
    """
    program = MasterProgram(instance, columns, points, penalty)
    program.ask_for_fit(required[points], None if tolerances is None else tolerances[points])
    found = program.solved(time_limit)
    multipliers, directions = np.zeros(len(instance.rows)), np.zeros((len(columns), instance.rows.shape[1]))
    if found.status is Status.FAILED:
        return MasterSolution(Status.FAILED, np.inf, multipliers, directions, np.inf)
    multipliers[points] = program.multipliers(found)
    for j, column in enumerate(columns):
        directions[j, instance.masks[column.mask]] = program.direction(found, j)
    slack = float(np.abs(found.of(program.slacks)).sum())
    return MasterSolution(found.status, found.value, multipliers, directions, slack)


class MasterProgram:
    """The master of the module's text as a cone program over `points`; its blocks:

    directions[j]: u_j, in the basis of its mask.   norms: of each u_j a bound.   slacks: xi, for min-norm xi then xi'.
    open_values[j]: t_ij for the points open_points[j].   fit: the first constraints, or the lower ones of two (upper);
    at each row that of its bundle.
    price: what the norms cost.
    """

    def __init__(
        self,
        instance: ProblemInstance,
        columns: list[Column],
        points: Indices,
        penalty: float,
        *,
        price: float = 1.0,
    ) -> None:
        rows = instance.rows[points]
        few = {mask: _few_columns(rows[:, instance.masks[mask]], instance) for mask in {c.mask for c in columns}}
        self.instance, self.columns, self.points, self.targets = instance, columns, points, instance.targets[points]
        self.rows = [few[column.mask][0] for column in columns]
        self.bases = [few[column.mask][1] for column in columns]
        self.open_points = [np.flatnonzero(column.open_points(instance, points)) for column in columns]
        self.cones = ConeProgram()
        self.directions = [self.cones.variables(rows.shape[1]) for rows in self.rows]
        self.norms = self.cones.variables(len(columns), cost=price)
        self.bundles = len(points) // instance.bundle
        self.slacks = self._slack_variables(penalty)
        self.open_values = [self.cones.variables(len(open_points)) for open_points in self.open_points]
        self.fit = self.upper = np.zeros(0, np.intp)

    def _slack_variables(self, penalty: float) -> Variables:
        return self.cones.variables(self.bundles * (1 if self.instance.margin else 2), cost=penalty)

    def ask_for_fit(self, required: Floats, tolerances: Floats | None) -> None:
        """The constraints on the outputs, still without the columns: room that the slacks have there."""
        cones, count = self.cones, self.bundles
        required = self._added(required)
        tolerances = None if tolerances is None else self._added(tolerances)
        if self.instance.margin:
            self.fit = cones.constraints("nonnegative", -required)
            cones.put_diagonal(self.fit, self.slacks, -1.0)
        elif tolerances is None:
            self.fit = cones.constraints("zero", required)
            cones.put_diagonal(self.fit, self.slacks[:count], 1.0)
            cones.put_diagonal(self.fit, self.slacks[count:], -1.0)
        else:
            self.fit = cones.constraints("nonnegative", tolerances - required)
            self.upper = cones.constraints("nonnegative", tolerances + required)
            cones.put_diagonal(self.fit, self.slacks[:count], -1.0)
            cones.put_diagonal(self.upper, self.slacks[count:], -1.0)
        self.fit, self.upper = (np.repeat(ends, self.instance.bundle) for ends in (self.fit, self.upper))

    def _added(self, numbers: Floats) -> Floats:
        """Over each bundle."""
        return numbers.reshape(self.bundles, -1).sum(axis=1)

    def solved(self, time_limit: float) -> ConeSolution:
        """The optimum, with all columns in."""
        add = self._add_helping_and_hurting if self.instance.margin else self._add_on_its_cone
        for j in range(len(self.columns)):
            poll()
            add(j)
            self._keep_in_cone(j)
        at_least_zero = self.cones.constraints("nonnegative", np.zeros(len(self.slacks)))
        self.cones.put_diagonal(at_least_zero, self.slacks, -1.0)
        for j in range(len(self.columns)):
            poll()
            self._bound_norm(j)
        return self.cones.solve(time_limit=time_limit)

    def _slopes(self, j: int) -> Floats:
        return np.where(self.columns[j].on[self.points], 1.0, self.instance.slope)

    def _add_helping_and_hurting(self, j: int) -> None:
        """Max-margin: slopes as the pattern has them, but a x.u + (1 - a) t at open points."""
        cones, x, u, t = self.cones, self.rows[j], self.directions[j], self.open_values[j]
        a, open_points, slopes = self.instance.slope, self.open_points[j], self._slopes(j)
        sides = self.columns[j].sign * self.targets
        helps, hurts = np.flatnonzero(sides > 0), np.flatnonzero(sides < 0)
        cones.put(self.fit[helps], u, -slopes[helps, None] * x[helps])
        fixed = np.where(np.isin(hurts, open_points), a, slopes[hurts])
        cones.put(self.fit[hurts], u, fixed[:, None] * x[hurts])
        cones.put_diagonal(self.fit[open_points], t, 1 - a)
        above = cones.constraints("nonnegative", np.zeros(len(t)))
        cones.put(above, u, x[open_points])
        cones.put_diagonal(above, t, -1.0)
        at_least_zero = cones.constraints("nonnegative", np.zeros(len(t)))
        cones.put_diagonal(at_least_zero, t, -1.0)

    def _add_on_its_cone(self, j: int) -> None:
        """Min-norm: the outputs of the column, which keeps the signs of its pattern."""
        cones, x, u, column = self.cones, self.rows[j], self.directions[j], self.columns[j]
        outputs = column.sign * self._slopes(j)[:, None] * x
        cones.put(self.fit, u, -outputs if len(self.upper) else outputs)
        cones.put(self.upper, u, outputs[: len(self.upper)])
        if self.instance.slope < 1:
            tau = np.where(column.on[self.points], 1.0, -1.0)
            on_cone = cones.constraints("nonnegative", np.zeros(len(self.points)))
            cones.put(on_cone, u, -tau[:, None] * x)

    def _keep_in_cone(self, j: int) -> None:
        """side x_i . u_j >= 0 where that is not said yet."""
        column, is_said = self.columns[j], not self.instance.margin and self.instance.slope < 1
        if not column.cone or is_said:
            return
        points, sides = (np.array(entries) for entries in zip(*column.cone, strict=True))
        inside = self.cones.constraints("nonnegative", np.zeros(len(points)))
        self.cones.put(inside, self.directions[j], -sides[:, None] * self.rows[j][np.searchsorted(self.points, points)])

    def _bound_norm(self, j: int) -> None:
        """||u_j|| <= its bound, over what counts in the norm: a free bias does not."""
        u, last = self.directions[j], self.instance.rows.shape[1] - 1
        counted = u[self.instance.masks[self.columns[j].mask] != last] if self.instance.free else u
        cone = self.cones.constraints("second-order", np.zeros(1 + len(counted)))
        self.cones.put_diagonal(cone[:1], self.norms[j : j + 1], -1.0)
        self.cones.put_diagonal(cone[1:], counted, -1.0)

    def multipliers(self, found: ConeSolution) -> Floats:
        """lambda at the points."""
        if self.instance.margin:
            return np.maximum(found.multipliers(self.fit), 0.0)
        if len(self.upper):
            return _active(found, self.fit) - _active(found, self.upper)
        return -found.multipliers(self.fit)

    def direction(self, found: ConeSolution, j: int) -> Floats:
        """u_j over the columns of its mask."""
        u, basis = found.of(self.directions[j]), self.bases[j]
        return u if basis is None else basis @ u


def _active(found: ConeSolution, bounds: Indices) -> Floats:
    """The multipliers of these bounds, 0 for what an interior point leaves of those whose bounds are not active."""
    z, room = found.multipliers(bounds), np.maximum(found.room(bounds), 0.0)
    return np.where(z > IDLE * room, np.maximum(z, 0.0), 0.0)


def _few_columns(rows: Floats, instance: ProblemInstance) -> tuple[Floats, Floats | None]:
    """The rows (P, D) in an orthonormal basis (D, P) of their span, in which every solution lies; as they are (None)
    where there are no fewer points than columns, or the columns do not all count in the norm.
    """
    if instance.free or len(rows) >= rows.shape[1]:
        return rows, None
    basis, triangle = np.linalg.qr(rows.T)
    return triangle.T, basis
