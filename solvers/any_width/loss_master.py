"""The restricted master where a convex loss stands in the place of constraints (`solvers.any_width.convex_losses`).

A column is (mask class, sign, signs of x_i . u_j at all points), with its cone constraints, as for min-norm:

    min sum_i l(r_i) + price sum_j ||u_j||   s.t.   sum_j s_j g_ij x_i . u_j + side_i r_i = y_i,   tau_ij x_i . u_j >= 0

with side_i = y_i for labels, 1 else. l is the infimal convolution of what its dual is the sum of:

    l(r) = min p^2 / (2 curvature) + high e+ - low e-   s.t.   p + z + e+ - e- = r,  |z| <= tube,  e+, e- >= 0

so that every network of these patterns is feasible, and the multipliers of the first constraints are c. An output bias
is one more variable, with its cost where it is not free. The logistic loss, with high log(1 + e^(r - 1)) = high t, is

    a + b <= 1,   a >= e^-t,   b >= e^(r - 1 - t)

and its c are those of the outputs, as it has one slope at each. What the solver leaves of precision there, a second
program makes up for: the same with the quadratic that the loss is near the outputs of the first.
"""

from __future__ import annotations

import numpy as np

from solvers.any_width.convex_losses import DecayInstance, sigmoid
from solvers.any_width.master import Column, MasterProgram, MasterSolution
from solvers.arrays import Floats
from solvers.instance import Status
from solvers.programs.cone_program import ConeSolution, Variables

__all__ = ["solve_loss_master"]

AT_AN_END = 1e-6
"""Multipliers this near to an end, or to 0, relative to what lies between, are taken to be there."""


def solve_loss_master(instance: DecayInstance, columns: list[Column], *, time_limit: float = np.inf) -> MasterSolution:
    """The best network of these columns, and c at all points, admissible."""
    program = _LossProgram(instance, columns)
    found = program.solved(time_limit)
    data, loss = instance.data, instance.loss
    if loss.is_logistic and found.status is not Status.FAILED:
        finer = _LossProgram(instance, columns, found.of(program.rests))
        again = finer.solved(time_limit)
        if again.status is not Status.FAILED:
            program, found = finer, again
    directions = np.zeros((len(columns), data.columns))
    if found.status is Status.FAILED:
        return MasterSolution(Status.FAILED, np.inf, np.zeros(data.points), directions, np.inf)
    for j, column in enumerate(columns):
        directions[j, data.masks[column.mask]] = program.direction(found, j)
    c = loss.admissible(data.targets, -found.multipliers(program.fit))
    bias = float(found.of(program.bias).sum())
    if loss.is_logistic:
        c = loss.slopes(data.targets, data.targets * (1.0 - found.of(program.rests)))
    return MasterSolution(found.status, found.value, _at_ends(instance, c), directions, 0.0, bias)


def _at_ends(instance: DecayInstance, c: Floats) -> Floats:
    """c with what an interior point leaves of it near an end moved there."""
    sides = instance.loss.sides(instance.data.targets)
    bounded = sides * c
    for end in (0.0, instance.loss.low, instance.loss.high):
        if np.isfinite(end):
            near = np.abs(bounded - end) <= AT_AN_END * max(float(np.abs(bounded).max(initial=0.0)), abs(end))
            bounded = np.where(near, end, bounded)
    return sides * bounded


class _LossProgram(MasterProgram):
    """The master of the module's text over all points; its further blocks:

    slacks: e+ for all points, then e-, each only where its end is finite.   bent: p.   within: z.

    near: r of outputs near which the logistic loss is taken to be quadratic.
    """

    def __init__(self, instance: DecayInstance, columns: list[Column], near: Floats | None = None) -> None:
        self.loss, self.of_bias, self.near = instance.loss, instance.bias, near
        super().__init__(instance.data, columns, np.arange(instance.data.points), 0.0, price=instance.price)
        self._ask_for_little_loss()

    def _slack_variables(self, penalty: float) -> Variables:  # noqa: ARG002 (each end has its own)
        count, loss = len(self.points) * (not self.loss.is_logistic), self.loss
        self.over = self.cones.variables(count if np.isfinite(loss.high) else 0, cost=loss.high)
        self.under = self.cones.variables(count if np.isfinite(loss.low) else 0, cost=-loss.low)
        return np.concatenate([self.over, self.under])

    def _ask_for_little_loss(self) -> None:
        """The first constraints, still without the columns, and what r is made of."""
        cones, count, loss = self.cones, len(self.points), self.loss
        sides = loss.sides(self.targets)
        self.fit = cones.constraints("zero", self.targets)
        for part, sign in ((self.over, 1.0), (self.under, -1.0)):
            cones.put_diagonal(self.fit[: len(part)], part, sign * sides[: len(part)])
        if loss.curvature:
            bent, most = cones.variables(count), cones.variables(1, cost=1.0)
            cones.put_diagonal(self.fit, bent, sides)
            cone = cones.constraints("second-order", np.concatenate([[0.5], np.zeros(count), [-0.5]]))
            cones.put_diagonal(cone[[0, -1]], np.concatenate([most, most]), -1.0)
            cones.put_diagonal(cone[1:-1], bent, -1.0 / np.sqrt(loss.curvature))
        if loss.is_logistic:
            self.rests = cones.variables(count, cost=0.0 if self.near is None else loss.high * sigmoid(self.near - 1.0))
            cones.put_diagonal(self.fit, self.rests, sides)
            self._ask_for_little_logistic_loss() if self.near is None else self._ask_for_little_beside(self.near)
        self.bias = cones.variables(0 if self.of_bias is None else 1)
        if self.of_bias is not None:
            cones.put(self.fit, self.bias, np.ones((count, 1)))
        if self.of_bias:
            most = cones.variables(1, cost=1.0)
            cone = cones.constraints("second-order", np.array([0.5, 0.0, -0.5]))
            cones.put_diagonal(cone[[0, -1]], np.concatenate([most, most]), -1.0)
            cones.put_diagonal(cone[1:-1], self.bias, -np.sqrt(self.of_bias))
        if loss.tube:
            within = cones.variables(count)
            cones.put_diagonal(self.fit, within, sides)
            for sign in (1.0, -1.0):
                bounds = cones.constraints("nonnegative", np.full(count, loss.tube))
                cones.put_diagonal(bounds, within, sign)

    def _ask_for_little_logistic_loss(self) -> None:
        cones, count = self.cones, len(self.points)
        losses = cones.variables(count, cost=self.loss.high)
        room = cones.constraints("nonnegative", np.ones(count))
        for shift in (0.0, -1.0):
            part = cones.variables(count)
            cones.put_diagonal(room, part, 1.0)
            cone = cones.constraints("exponential", np.tile([shift, 1.0, 0.0], count))
            cones.put_diagonal(cone[0::3], losses, 1.0)
            cones.put_diagonal(cone[2::3], part, -1.0)
            if shift:
                cones.put_diagonal(cone[0::3], self.rests, -1.0)

    def _ask_for_little_beside(self, near: Floats) -> None:
        """slope r + 1/2 bend (r - near)^2, the derivatives of the loss at `near`, but for a constant."""
        cones, share = self.cones, sigmoid(near - 1.0)
        bends = np.sqrt(self.loss.high * share * (1.0 - share))
        most = cones.variables(1, cost=1.0)
        cone = cones.constraints("second-order", np.concatenate([[0.5], -bends * near, [-0.5]]))
        cones.put_diagonal(cone[[0, -1]], np.concatenate([most, most]), -1.0)
        cones.put_diagonal(cone[1:-1], self.rests, -bends)

    def multipliers(self, found: ConeSolution) -> Floats:
        """c at the points."""
        return -found.multipliers(self.fit)
