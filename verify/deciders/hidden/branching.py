"""Which side is decided next in a search among given output weights, and of which neurons at once."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from solvers.hidden.relaxation import Relaxed, open_pairs
from verify.checker.states import Split
from verify.deciders.hidden.networks import KnownNetworks
from verify.deciders.hidden.states import NeuronState
from verify.numbers.floats import float_near
from verify.problem.problem import Problem

__all__ = ["alike", "chosen_pair"]


def alike(problem: Problem, known: Mapping[Split, int], neuron: int) -> list[int]:
    """The neurons that can be exchanged with one in a state."""
    own = [(kind, {i: side for (m, i), side in known.items() if m == j}) for j, kind in enumerate(problem.neurons)]
    return [j for j, all_of_it in enumerate(own) if all_of_it == own[neuron]]


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
