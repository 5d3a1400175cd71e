"""The best networks that the masters have given."""

from __future__ import annotations

import numpy as np

from solvers.any_width.master import Column, MasterSolution
from solvers.any_width.records import Atoms
from solvers.any_width.scaling import Scaled
from solvers.arrays import Floats

MOST = 4  # networks that are kept


def signs_of(columns: list[Column]) -> np.ndarray[tuple[int], np.dtype[np.int8]]:
    """The output signs of these columns, (J,)."""
    return np.array([column.sign for column in columns], np.int8)


class Candidates:
    """networks: of the scaled problem, at most `MOST`, the best value first."""

    def __init__(self, problem: Scaled) -> None:
        self.problem = problem
        self.networks: list[Atoms] = []

    @property
    def upper(self) -> float:
        """The least value; infinite where there is no network."""
        return min((atoms.value for atoms in self.networks), default=np.inf)

    @property
    def best(self) -> Atoms | None:
        """The network with the least value."""
        return min(self.networks, key=lambda atoms: atoms.value, default=None)

    def gap(self, lower: float) -> float:
        """The relative gap to this lower bound."""
        return self.upper / lower - 1.0 if lower > 0 else np.inf

    def outputs(self, solution: MasterSolution, columns: list[Column]) -> Floats:
        """f of the master's network at all points, (n,)."""
        return self.problem.outputs(solution.directions, signs_of(columns))

    def record(self, solution: MasterSolution, columns: list[Column]) -> None:
        """The master's network as a candidate, its value measured on all points (max-margin)."""
        instance, required = self.problem.instance, self.problem.required
        body = solution.directions[:, :-1] if instance.free else solution.directions
        norms = np.linalg.norm(body, axis=1)
        whole = np.linalg.norm(solution.directions, axis=1)
        keep = whole > 1e-10 * max(float(whole.sum()), 1e-300)
        if not keep.any():
            return
        directions, signs = solution.directions[keep], signs_of(columns)[keep]
        masks = np.array([c.mask for c in columns], np.intp)[keep]
        value = float(norms[keep].sum())
        outputs = self.problem.outputs(directions, signs)
        if instance.margin:
            margin = float((instance.targets * outputs / required).min())
            if margin <= 0:
                return
            directions, value = directions / margin, value / margin
        elif float((np.abs(outputs - required) - self.problem.tolerances).max()) > 1e-6:
            return
        self.networks.append(Atoms(directions, signs, masks, value))
        self.networks.sort(key=lambda atoms: atoms.value)
        del self.networks[MOST:]
