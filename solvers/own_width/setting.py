"""What all states of a search share: the scaled problem, the neurons, the goal, the points that the master looks at."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from solvers.any_width.ascents import on_grid
from solvers.any_width.master import Column
from solvers.any_width.scaling import Scaled
from solvers.any_width.working_set import WorkingSet
from solvers.arrays import Floats
from solvers.clock import TimeIsUpError, is_late, poll
from solvers.own_width.states import StateCase

__all__ = ["Setting"]

EDGE = 1e-11  # a point counts as on up to this part of the largest x_i . u


class Setting:
    """masks: mask class of each neuron.   upper: the least objective known, of the scaled problem.

    tol: the relative gap that is asked for; half of it is kept for making the proof exact.
    """

    def __init__(
        self, problem: Scaled, masks: Sequence[int], tol: float, deadline: float | None, random: np.random.Generator
    ) -> None:
        self.problem, self.masks, self.tol, self.deadline, self.random = problem, tuple(masks), tol, deadline, random
        self.working = WorkingSet(problem, random)
        self.upper = np.inf

    @property
    def goal(self) -> float:
        """What a bound has to reach."""
        return self.upper / (1.0 + self.tol / 2)

    def poll(self) -> None:
        """Raise TimeIsUpError after the deadline."""
        poll()
        if is_late(self.deadline):
            raise TimeIsUpError

    def rounded(self, multipliers: Floats, cases: Sequence[StateCase]) -> Floats:
        """Multipliers on a dyadic grid, balanced where a free bias needs that in one of the cases."""
        rounded = on_grid(self.problem, multipliers, self.tol, balance=False)
        if not self.problem.instance.free:
            return rounded
        total = float(self.problem.coefficients(rounded).sum())
        if any(self._leans(case, total) for case in cases):
            return on_grid(self.problem, multipliers, self.tol, balance=True)
        return rounded

    def _leans(self, case: StateCase, total: float) -> bool:
        """Whether s h grows without end along the free bias in the cone of the case, sum c_i = `total`."""
        if not self.problem.is_free(self.problem.instance.masks[case.mask]):
            return False
        sides = {side for _, side in case.cone}
        up, down = case.sign * total, -self.problem.instance.slope * case.sign * total
        return (up > 0 and -1 not in sides) or (down > 0 and 1 not in sides)

    def column(self, case: StateCase, direction: Floats) -> Column:
        """The column of the case whose pattern the direction (over the mask's columns) has; on the boundary: on."""
        instance = self.problem.instance
        z = instance.rows[:, instance.masks[case.mask]] @ direction
        on = z > -EDGE * float(np.abs(z).max(initial=0.0))
        return placed(Column(case.mask, case.sign, on), case)


def placed(column: Column, case: StateCase) -> Column:
    """The column with the sides that are decided in a case."""
    on = column.on.copy()
    assumed = np.zeros(len(on), bool)
    for i, side in case.cone:
        on[i], assumed[i] = side > 0, True
    return Column(column.mask, column.sign, on, assumed if case.cone else None, case.cone)
