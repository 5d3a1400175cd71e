"""Multipliers that proved other states, for a state with given output weights that is not looked at yet.

Neurons that are exchanged make states of nearly the same cones again and again. With fixed multipliers the bound of a
case is the largest s h(u) in its cone, with a tree that proves it (`solvers.pricing`): no program is solved.
"""

from __future__ import annotations

import numpy as np

from solvers.arrays import Floats
from solvers.hidden.cases import FloatCase, WantedOutputs
from solvers.hidden.inner_cells import ByCells, ConeCell
from solvers.hidden.relaxation import evaluated
from solvers.own_width.pricing import INSIDE, CasePricing
from solvers.pricing.tree import Leaf
from verify.deciders.hidden.states import NeuronState

__all__ = ["OtherLeaves"]

MOST_KNOWN, MOST_DIRECTIONS = 200, 2000  # that are kept, the last ones
ATTEMPTS = 3  # of trees for one state, by the multipliers that promise most
LEAST = 1e-9  # of the largest size of a case is left for one whose size is 0


class OtherLeaves:
    """multipliers: of leaves.   directions: at which bounds of theirs were large, by the columns that are seen."""

    def __init__(self, points: WantedOutputs) -> None:
        self.points = points
        self.multipliers: list[Floats] = []
        self.directions: dict[tuple[int, ...], list[Floats]] = {}
        self.random = np.random.default_rng(0)

    def add(self, multipliers: Floats) -> None:
        """Keep the multipliers of a leaf."""
        if not any(np.array_equal(multipliers, known) for known in self.multipliers):
            self.multipliers = [*self.multipliers, multipliers][-MOST_KNOWN:]

    def cells(self, state: NeuronState, goal: float) -> ByCells | None:
        """A bound of the state that reaches the goal, by cells; None where no multipliers have one."""
        cases, masks = state.floats, [mask for mask, _, _ in state.cases]
        if not self.multipliers or goal <= 0 or any(case.free is not None for case in cases):
            return None
        weights = np.array([case.weight for case in cases])
        duals = np.array([self.points.dual_value(known) for known in self.multipliers])
        sizes = np.array([self._largest(mask, case) for mask, case in zip(masks, cases, strict=True)])
        with np.errstate(divide="ignore"):
            promised = np.where(duals > 0, duals**2 / (2 * (weights @ sizes**2)), 0.0)
        order = np.argsort(-promised, kind="stable")[:ATTEMPTS]
        for multipliers in [self.multipliers[q] for q in order if promised[q] >= goal]:
            if (found := self._cells(state, masks, multipliers, goal)) is not None:
                return found
        return None

    def _largest(self, mask: tuple[int, ...], case: FloatCase) -> Floats:
        """For each of the multipliers the largest s h(u) at the known directions in a cone."""
        known = self.directions.get(mask)
        if not known:
            return np.zeros(len(self.multipliers))
        z = np.array(known) @ case.rows.T
        decided = np.flatnonzero(case.cone)
        inside = (z[:, decided] * case.cone[decided] >= -INSIDE * np.abs(z).max(axis=1)[:, None]).all(axis=1)
        outputs = np.maximum(z[inside], self.points.slope * z[inside])
        coefficients = np.array(self.multipliers) * self.points.factors * case.sign
        return (outputs @ coefficients.T).max(axis=0, initial=0.0)

    def _cells(
        self, state: NeuronState, masks: list[tuple[int, ...]], multipliers: Floats, goal: float
    ) -> ByCells | None:
        cases, slope = state.floats, self.points.slope
        decided = {int(i) for case in cases for i in np.flatnonzero(case.cone)}
        support = np.array(sorted(decided.union(np.flatnonzero(multipliers).tolist())), np.intp)
        pricings: list[CasePricing] = []
        sizes = np.zeros(len(cases))
        for q, (mask, case) in enumerate(zip(masks, cases, strict=True)):
            weights = (case.sign * multipliers * self.points.factors)[support]
            pricing = CasePricing(support, case.rows[support], weights, case.cone[support], slope, is_free=False)
            pricings.append(pricing)
            directions, values = pricing.maxima(np.empty((0, case.rows.shape[1])), self.random)
            if len(values):
                sizes[q] = np.maximum(values[0], 0.0)
                own = directions[0] / np.linalg.norm(directions[0])
                self.directions[mask] = [*self.directions.get(mask, []), own][-MOST_DIRECTIONS:]
        sizes = np.maximum(sizes, LEAST * sizes.max())
        whole = 2 * (np.array([case.weight for case in cases]) @ sizes**2)
        dual = self.points.dual_value(multipliers)
        if dual <= 0 or whole <= 0 or dual**2 / whole < goal:
            return None
        limits = sizes * np.sqrt(dual**2 / whole / goal)
        trees: list[tuple[int | ConeCell, ...]] = []
        slopes: list[Floats] = []
        for q, (pricing, limit) in enumerate(zip(pricings, limits.tolist(), strict=True)):
            tree = pricing.tree(limit, None)
            if tree.nodes is None:
                return None
            trees.append(_written(state, q, pricing, tree.nodes, len(multipliers), slopes))
        flat = [node for tree in trees for node in tree if isinstance(node, ConeCell)]
        owners = np.repeat(np.arange(len(trees)), [sum(isinstance(x, ConeCell) for x in tree) for tree in trees])
        found = evaluated(self.points, [cell.floats for cell in flat], multipliers, np.array(slopes), owners)
        if found is None:
            return None
        return ByCells(found.value, found, tuple(trees), (np.empty((0, 0)),) * len(cases))


def _written(
    state: NeuronState, q: int, pricing: CasePricing, nodes: list[int | Leaf], points: int, slopes: list[Floats]
) -> tuple[int | ConeCell, ...]:
    """A tree with its cells; the slopes of these are added."""
    written: list[int | ConeCell] = []
    waiting: list[dict[int, int]] = [{}]
    for node in nodes:
        sides = waiting.pop()
        if isinstance(node, Leaf):
            own = np.zeros(points)
            own[pricing.support] = node.slopes
            slopes.append(own)
            written.append(state.cell(q, sides))
            continue
        point = int(pricing.support[node])
        waiting += [{**sides, point: -1}, {**sides, point: 1}]
        written.append(point)
    return tuple(written)
