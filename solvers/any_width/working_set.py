"""The points that the master looks at: some first, and those that its network misses."""

from __future__ import annotations

import numpy as np

from solvers.any_width.scaling import Scaled
from solvers.arrays import Floats, Indices

ALL_POINTS = 150  # a working set of all points up to this many
POINTS_PER_ROUND = 50
NEAR_POINTS = 60  # besides those with multipliers, after the given columns were solved on all points


class WorkingSet:
    """points: increasing indices. Multipliers off them are 0; min-norm has all points, as none has room to spare."""

    def __init__(self, problem: Scaled, random: np.random.Generator) -> None:
        self.problem = problem
        n = len(problem.required)
        self.points: Indices
        if n <= ALL_POINTS or not problem.instance.margin:
            self.points = np.arange(n)
        else:
            self.points = problem.instance.whole(np.sort(random.choice(n, ALL_POINTS, replace=False)))

    def is_whole(self) -> bool:
        """Whether no point is left out."""
        return len(self.points) == len(self.problem.required)

    def join(self, others: Indices) -> None:
        """Take in these points."""
        self.points = np.union1d(self.points, others)

    def grow(self, outputs: Floats, room: float) -> int:
        """Take in the points with the least margins below 1 - room at these outputs (n,); how many."""
        if self.is_whole():
            return 0
        margins = self._margins(outputs)
        margins[self.points] = np.inf
        worst = np.argsort(margins)[:POINTS_PER_ROUND]
        worst = worst[margins[worst] < 1.0 - room]
        if len(worst):
            self.points = self.problem.instance.whole(np.sort(np.concatenate([self.points, worst])))
        return len(worst)

    def keep_near(self, outputs: Floats, multipliers: Floats) -> None:
        """Only the points with multipliers, and of the others the `NEAR_POINTS` with the least margins."""
        if self.is_whole():
            return
        margins = self._margins(outputs)
        held = multipliers > 1e-6 * multipliers.max(initial=0.0)
        margins[held] = -np.inf
        near = np.sort(np.argsort(margins, kind="stable")[: NEAR_POINTS + int(held.sum())])
        self.points = self.problem.instance.whole(near)

    def _margins(self, outputs: Floats) -> Floats:
        return self.problem.instance.targets * outputs / self.problem.required
