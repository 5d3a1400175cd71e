"""Which side is decided next in a search among given output weights, and of which neurons at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from solvers.arrays import Floats, Signs
from solvers.hidden.cases import FloatCase
from solvers.hidden.inner_cells import ByCells
from solvers.hidden.relaxation import Relaxed, open_pairs
from verify.checker.states import Split
from verify.deciders.hidden.networks import KnownNetworks
from verify.deciders.hidden.states import NeuronState
from verify.numbers.floats import float_near
from verify.problem.problem import Problem

__all__ = ["chosen_pair", "decided", "pair_between", "sides_of_pieces", "sides_of_relaxed"]

BOTH_SIDES = 1e-6
"""Less than this part of all |x_i.u| on one side is not on both."""


def decided(problem: Problem, known: Mapping[Split, int], split: Split) -> tuple[dict[Split, int], dict[Split, int]]:
    """What is known on the left of a split, and on the right: there of all neurons that can be exchanged with its."""
    own = [(kind, {i: side for (m, i), side in known.items() if m == j}) for j, kind in enumerate(problem.neurons)]
    alike = [j for j, all_of_it in enumerate(own) if all_of_it == own[split[0]]]
    return {**known, split: 1}, {**known, **{(m, split[1]): -1 for m in alike}}


def chosen_pair(networks: KnownNetworks, state: NeuronState, found: Relaxed | None) -> Split | None:
    """The undecided pair that costs the bound most; where none does, any; None where all is decided."""
    points = networks.points
    if points.slope == 1:
        return None
    if found is None:
        return _any_pair(networks, state, found)
    best, most = None, 0.0
    for q, case in enumerate(state.floats):
        opened = open_pairs(points, case, found.multipliers)
        terms = np.where(opened, np.nan_to_num(found.offsets[q]), 0.0) * np.sqrt(case.weight)
        i = int(np.argmax(terms)) if len(terms) else 0
        if len(terms) and terms[i] > most * (1 + 1e-9):
            best, most = (state.neuron_of(q), i), float(terms[i])
    scale = max((float(np.abs(case.rows).max(initial=0.0)) for case in state.floats), default=1.0)
    if best is not None and most > 1e-10 * scale * float(np.abs(found.multipliers).max()):
        return best
    return _any_pair(networks, state, found)


def pair_between(state: NeuronState, held: Sequence[Floats], multipliers: Floats) -> Split | None:
    """The undecided pair where the pieces of a case lie most on both sides: |c_i| min(sum of x_i.u on one, the other).

    Of a case with more pieces than neurons, else of any with more than one; None where there is none.
    """
    owners = [state.case_of(j) for j in state.geometry.live]
    importance = np.abs(multipliers)
    for least in (1, 0):
        crowded = [q for q, pieces in enumerate(held) if len(pieces) > max(owners.count(q) * least, 1)]
        for weights in (importance, np.ones_like(importance)):
            found = [(*_most_between(state.floats[q], held[q], weights), q) for q in crowded]
            best = max(found, default=(0.0, 0, 0))
            if best[0] > 0:
                return state.neuron_of(best[2]), best[1]
    return None


def _most_between(case: FloatCase, pieces: Floats, weights: Floats) -> tuple[float, int]:
    """The most that lies on both sides of an undecided point of a case, and the point."""
    z = pieces @ case.lifted.T
    on, off = np.maximum(z, 0.0).sum(axis=0), np.maximum(-z, 0.0).sum(axis=0)
    lesser = np.minimum(on, off)
    found = np.where((case.cone == 0) & (lesser > BOTH_SIDES * (on + off)), lesser * weights, 0.0)
    return float(found.max(initial=0.0)), int(np.argmax(found))


def sides_of_pieces(state: NeuronState, cells: ByCells) -> Signs:
    """Sides (k, n) of the live neurons: of the pieces of their case, the longest first, where there are enough."""
    live, fixed = state.geometry.live, state.fixed()
    sides = fixed.copy()
    taken: dict[int, int] = {}
    for row, j in enumerate(live):
        q = state.case_of(j)
        pieces, case = cells.pieces[q], state.floats[q]
        lengths = np.linalg.norm(pieces[:, : case.rows.shape[1]], axis=1) if len(pieces) else np.zeros(0)
        order = np.argsort(-lengths, kind="stable")
        place = taken.get(q, 0)
        taken[q] = place + 1
        values = np.zeros(len(case.cone))
        if len(pieces):
            values = case.lifted @ pieces[order[min(place, len(order) - 1)]]
        sides[row] = np.where(fixed[row] != 0, fixed[row], np.where(values > 0, 1, -1))
    return sides


def sides_of_relaxed(networks: KnownNetworks, state: NeuronState, found: Relaxed) -> Signs:
    """Sides (k, n) of the live neurons: of the direction of their case in a relaxed problem."""
    fixed = state.fixed()
    sides = np.empty_like(fixed)
    for row, j in enumerate(networks.geometry.live):
        q = state.case_of(j)
        values = state.floats[q].rows @ found.directions[q]
        if (free := networks.neurons.free[row]) is not None:
            values = values - np.median(values) * free
        sides[row] = np.where(fixed[row] != 0, fixed[row], np.where(values > 0, 1, -1))
    return sides


def _any_pair(networks: KnownNetworks, state: NeuronState, found: Relaxed | None) -> Split | None:
    """An undecided pair, of a neuron and a point that it may serve first, the most important point first."""
    rows, geometry = networks.problem.rows, networks.geometry
    importance = np.zeros(len(rows)) if found is None else np.abs(found.multipliers)
    choices: list[tuple[float, float, tuple[int, int]]] = []
    for j in geometry.live:
        serves = np.sign(networks.points.targets) == np.sign(float_near(geometry.outgoing[j]))
        for i, row in enumerate(rows):
            if (j, i) not in state.known and any(row[c] for c in geometry.masks[j]):
                choices.append((-float(serves[i]), -float(importance[i]), (j, i)))
    return min(choices)[2] if choices else None
