"""States among given output weights that hold the pieces of the relaxed network above them at a cost below the goal.

Their own bound is below the goal too: they are split at once, by these pieces, without a bound of their own.

Source: `docs/mathematics.md`, 12.6 "The search at a width".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from solvers.arrays import Floats
from solvers.hidden.cases import WantedOutputs
from solvers.hidden.holding import least_cost, lying_in
from verify.deciders.hidden.branching import pair_between
from verify.deciders.hidden.forcing import ForcedChildren
from verify.deciders.hidden.nodes import SearchNode
from verify.deciders.hidden.states import NeuronState

__all__ = ["Held", "HeldPieces"]

IN_USE = 1e-6
"""A piece below this part of all is none."""

MOST_HELD = 8
"""States below one, at most, that are split by its pieces."""

BELOW = 0.999
"""A cost below this part of the goal is below it: the pieces are those of a solver."""


@dataclass(frozen=True, slots=True, eq=False)
class Held:
    """pieces: for each case of a state directions (P, r).   cost: what they cost there."""

    pieces: tuple[Floats, ...]
    cost: float


@dataclass(slots=True, eq=False)
class HeldPieces:
    """source: the state whose relaxed network they are.   pieces: for each of its cases.   unit: its bound per cost.
    count: the states that were split by them.
    """

    source: SearchNode
    pieces: tuple[Floats, ...]
    multipliers: Floats
    unit: float
    count: int = 0

    @classmethod
    def of(cls, node: SearchNode) -> HeldPieces | None:
        """Those of the relaxed network of the cells of a state; None where it has none."""
        if node.cells is None:
            return None
        found = held_in(node.state, node.state, node.cells.pieces)
        if found is None or found.cost <= 0:
            return None
        return cls(node, node.cells.pieces, node.cells.found.multipliers, node.cells.value / found.cost)

    def splits(self, node: SearchNode, forced: ForcedChildren, points: WantedOutputs, goal: float) -> bool:
        """Split a state below the source where it holds the pieces for less than the goal; whether it does."""
        found = held_in(self.source.state, node.state, self.pieces) if self.count < MOST_HELD else None
        if found is None or found.cost * self.unit >= BELOW * goal:
            return False
        owners = [node.state.case_of(j) for j in node.state.geometry.live]
        is_crowded = any(len(own) > owners.count(q) for q, own in enumerate(found.pieces))
        split = pair_between(node.state, found.pieces, self.multipliers) if is_crowded else None
        if split is None:
            return False
        self.count += 1
        node.split, node.is_bounded = split, True
        node.relaxed = node.inherited(points, self.source)
        node.children = forced.children(node, split)
        return True


def held_in(before: NeuronState, state: NeuronState, pieces: Sequence[Floats]) -> Held | None:
    """The pieces of the cases of a state in those of one below it, at the least cost; None where one has no place."""
    kinds = [(mask, sign) for mask, _, sign in state.cases]
    flat: list[Floats] = []
    sizes: list[float] = []
    rooms: list[list[bool]] = []
    least = IN_USE * sum(float(np.abs(own).sum()) for own in pieces)
    for (mask, _, sign), case, own in zip(before.cases, before.floats, pieces, strict=True):
        for u in own:
            if np.abs(u).sum() > least:
                flat.append(u)
                sizes.append(float(np.linalg.norm(u[: case.rows.shape[1]])))
                pairs = zip(kinds, state.floats, strict=True)
                rooms.append([kind == (mask, sign) and lying_in(u, other) for kind, other in pairs])
    places = np.array(rooms, bool).reshape(len(flat), len(kinds))
    if not flat or not places.any(axis=1).all():
        return None
    cost, shares = least_cost(np.array(sizes), places, np.array([case.weight for case in state.floats]))
    found = [[share * u for u, share in zip(flat, shares[:, q], strict=True) if share > 0] for q in range(len(kinds))]
    return Held(tuple(np.array(own) for own in found), cost)
