"""Multipliers that proved other states, for a state that is not looked at yet: neurons that are exchanged make states
of the same cones again and again, and what is more than enough for one of them is often enough for others.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from solvers.any_width.records import DualGuess
from solvers.arrays import Floats
from solvers.own_width.pricing import INSIDE
from solvers.own_width.relaxation import Piece, Relaxation
from solvers.own_width.setting import Setting
from solvers.own_width.states import StateCase

__all__ = ["OtherProofs"]

MOST_DIRECTIONS, MOST_KNOWN = 2000, 200  # that are kept, the last ones
ATTEMPTS = 3  # of proofs for one state, by the multipliers that promise most


class OtherProofs:
    """multipliers: of proofs.   directions: at which a bound of theirs may fail, by mask class, of norm 1."""

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self.multipliers: list[Floats] = []
        self.directions: dict[int, list[Floats]] = {}

    def add(self, multipliers: Floats) -> None:
        """Keep these as well."""
        self.multipliers = [*self.multipliers, multipliers][-MOST_KNOWN:]

    def add_pieces(self, pieces: Sequence[Piece]) -> None:
        """Keep their directions."""
        for piece in pieces:
            self._add_direction(piece.case.mask, piece.direction)

    def _add_direction(self, mask: int, direction: Floats) -> None:
        counted = direction[:-1] if self.setting.problem.instance.free else direction
        if size := float(np.linalg.norm(counted)):
            self.directions[mask] = [*self.directions.get(mask, []), direction / size][-MOST_DIRECTIONS:]

    def proof(self, cases: Sequence[StateCase]) -> DualGuess | None:
        """The proof of the state of these cases that its bound reaches the goal; None where no multipliers have one."""
        goal = self.setting.goal
        if not self.multipliers or not np.isfinite(goal) or goal <= 0:
            return None
        values = np.array([self.setting.problem.dual_value(known) for known in self.multipliers])
        limits = values / goal
        largest = np.maximum.reduce([self._largest(case) for case in cases])
        promising = np.flatnonzero((values > 0) & (largest <= limits))
        order = promising[np.argsort((largest / limits)[promising], kind="stable")]
        found = (self.proof_by(self.multipliers[q], cases) for q in order[:ATTEMPTS])
        return next((proof for proof in found if proof is not None), None)

    def proof_by(self, multipliers: Floats, cases: Sequence[StateCase]) -> DualGuess | None:
        """The proof by these multipliers; None where they have none, and then it is kept at which directions."""
        relaxed = Relaxation(self.setting, cases, {case: [] for case in cases})
        limit = self.setting.problem.dual_value(multipliers) / self.setting.goal
        _, proof = relaxed.prove(multipliers, limit)
        if proof is None:
            self.add_pieces(relaxed.beyond)
        return proof

    def _largest(self, case: StateCase) -> Floats:
        """For each of the multipliers the largest s h(u) at the directions that are in the cone of the case."""
        problem = self.setting.problem
        found = np.zeros(len(self.multipliers))
        known = self.directions.get(case.mask)
        if not known:
            return found
        z = np.array(known) @ problem.instance.rows.T
        inside = np.ones(len(z), bool)
        for i, side in case.cone:
            inside &= side * z[:, i] >= -INSIDE * np.abs(z).max(axis=1)
        if not inside.any():
            return found
        outputs = np.maximum(z[inside], problem.instance.slope * z[inside])
        coefficients = np.array([problem.coefficients(known) for known in self.multipliers])
        return np.maximum((case.sign * outputs @ coefficients.T).max(axis=0), 0.0)
