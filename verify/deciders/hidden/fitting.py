"""Whether any network with given output weights fits, where none is known: a search that does not ask for the shortest.

That depends on the signs of the output weights only. So it is the search of `solvers.own_width` with the signs decided,
each pair (mask, v) a mask class of its own, as only neurons with the same one may be exchanged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from solvers.arrays import Signs
from solvers.own_width.farkas import StateNothing
from solvers.own_width.search import search
from verify.checker.states import Nothing, Split
from verify.checker.width import InfeasibleWidth
from verify.deciders.exclusion import Exclusions
from verify.deciders.global_optimality.instance import as_instance
from verify.deciders.hidden.geometry import Geometry
from verify.numbers.floats import float_rows
from verify.problem.problem import Problem

__all__ = ["WhetherFits", "whether_fits"]


@dataclass(frozen=True, slots=True)
class WhetherFits:
    """nothing: the proof that no network fits, None without one.   sides: (k, n) of the live neurons of networks that
    fit.   nodes: states that were looked at.
    """

    nothing: InfeasibleWidth | None
    sides: tuple[Signs, ...]
    nodes: int


def whether_fits(geometry: Geometry, deadline: float | None, max_nodes: int) -> WhetherFits:
    """The answer, as far as the deadline and so many states allow."""
    problem, live = geometry.problem, geometry.live
    neurons = [(mask, v) for j, (mask, v) in enumerate(problem.neurons) if j in live and v is not None]
    kinds = list(dict.fromkeys(neurons))
    masks = [mask for mask, _ in kinds]
    exclusions = _ByKind(problem, masks)
    outcome = search(
        replace(as_instance(problem), masks=tuple(np.array(mask, int) for mask in masks)),
        [kinds.index(neuron) for neuron in neurons],
        deadline=deadline,
        max_nodes=max_nodes,
        excludes=exclusions.has,
        signs=[1 if v > 0 else -1 for _, v in neurons],
    )
    found = []
    for atoms in outcome.networks:
        values = atoms.directions @ float_rows(problem).T
        sides = np.full((len(neurons), len(problem.rows)), -1, np.int8)
        waiting = list(range(len(neurons)))
        for kind, row in zip(atoms.masks, values, strict=True):
            place = next(q for q in waiting if kinds[kind] == neurons[q])
            waiting.remove(place)
            sides[place] = np.where(row > 0, 1, -1)
        found.append(sides)
    return WhetherFits(_proof(geometry, outcome.tree, exclusions), tuple(found), outcome.nodes)


class _ByKind:
    """The exact leaves near guesses whose cases tell neurons apart by their output weights, which leaves do not.

    masks: of each kind of neurons.
    """

    def __init__(self, problem: Problem, masks: Sequence[tuple[int, ...]]) -> None:
        self.exact = Exclusions(problem)
        self.classes = [problem.mask_classes.index(mask) for mask in masks]
        self._known: dict[StateNothing, StateNothing] = {}

    def leaf(self, guess: StateNothing) -> Nothing | None:
        """The leaf near a guess; None where it leads to none."""
        if guess not in self._known:
            cases = [replace(case, mask=self.classes[case.mask]) for case in guess.cases]
            trees = dict(zip(reversed(cases), reversed(guess.trees), strict=True))  # the first of cases that are one
            distinct = tuple(dict.fromkeys(cases))
            self._known[guess] = StateNothing(distinct, guess.multipliers, tuple(trees[case] for case in distinct))
        return self.exact.leaf(self._known[guess])

    def has(self, guess: StateNothing) -> bool:
        """Whether there is one."""
        return self.leaf(guess) is not None


def _proof(geometry: Geometry, tree: tuple[object, ...], exclusions: _ByKind) -> InfeasibleWidth | None:
    nodes: list[Split | Nothing] = []
    for node in tree:
        if isinstance(node, tuple):
            nodes.append((geometry.live[node[0]], node[1]))
            continue
        leaf = exclusions.leaf(node) if isinstance(node, StateNothing) else None
        if leaf is None:
            return None
        nodes.append(leaf)
    return InfeasibleWidth(nodes=tuple(nodes)) if nodes else None
