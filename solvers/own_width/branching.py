"""Where a state is split: what keeps its relaxed problem from being a network of the width."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from solvers.arrays import Floats
from solvers.own_width.holding import held
from solvers.own_width.relaxation import Piece
from solvers.own_width.setting import Setting
from solvers.own_width.states import DecidedSplits, Split, StateCase, cases_of

__all__ = ["split_of"]

NOTHING = 1e-7
"""A side that holds less than this part of |x_i . u| over all pieces of a case is not there."""


def split_of(setting: Setting, known: DecidedSplits, pieces: Sequence[Piece], multipliers: Floats) -> Split | None:
    """The split of a state; None where everything is decided.

    Output signs first, where pieces have both. Then the side of the point, at a case with more pieces than neurons,
    where the pieces on both sides weigh most, |c_i| min(sum x_i . u on one side, on the other). Else any side on which
    pieces differ, else one that is open, of the largest multiplier.
    """
    neurons = cases_of(setting.masks, known)
    pieces = held(setting.problem.instance.rows, pieces, neurons) or pieces
    of_case = {case: np.array([p.direction for p in pieces if p.case == case]) for case in neurons}
    crowded = _crowded(neurons, of_case)
    for case in crowded or neurons:
        j = neurons[case][0]
        other = StateCase(case.mask, -case.sign, case.cone)
        if (j, None) not in known and len(of_case[case]) and len(of_case.get(other, ())):
            return j, None
    weights = np.abs(multipliers)
    for chosen in (crowded, list(neurons)):
        for factor in (weights, np.ones_like(weights)):
            if (found := _widest(setting, neurons, known, chosen, of_case, factor)) is not None:
                return found
    return _any(setting, known, weights)


def _crowded(neurons: dict[StateCase, list[int]], pieces: dict[StateCase, Floats]) -> list[StateCase]:
    """Cases with more pieces than neurons; a neuron with an open sign counts where it is needed."""
    found: list[StateCase] = []
    for case, own in neurons.items():
        other = StateCase(case.mask, -case.sign, case.cone)
        taken = len(pieces[other]) if neurons.get(other) == own else 0
        if len(pieces[case]) and len(pieces[case]) + taken > len(own):
            found.append(case)
    return found


def _widest(
    setting: Setting,
    neurons: dict[StateCase, list[int]],
    known: DecidedSplits,
    cases: Sequence[StateCase],
    pieces: dict[StateCase, Floats],
    weights: Floats,
) -> Split | None:
    rows = setting.problem.instance.rows
    best, found = 0.0, None
    for case in cases:
        if not len(pieces[case]):
            continue
        j = neurons[case][0]
        z = pieces[case] @ rows.T
        on, off = np.maximum(z, 0.0).sum(axis=0), np.maximum(-z, 0.0).sum(axis=0)
        lesser = np.where(np.minimum(on, off) > NOTHING * (on + off), np.minimum(on, off), 0.0) * weights
        for i, _ in case.cone:
            lesser[i] = 0.0
        point = int(np.argmax(lesser))
        if lesser[point] > best and (j, point) not in known:
            best, found = float(lesser[point]), (j, point)
    return found


def _any(setting: Setting, known: DecidedSplits, weights: Floats) -> Split | None:
    for j in range(len(setting.masks)):
        if (j, None) not in known:
            return j, None
    order = np.argsort(-weights, kind="stable")
    return next(((j, int(i)) for i in order for j in range(len(setting.masks)) if (j, int(i)) not in known), None)
