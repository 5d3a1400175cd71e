"""The children of a split in a search among given output weights, with all that some point leaves no choice about.

Source: `docs/mathematics.md`, 12.6 "The search at a width".
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import numpy as np

from solvers.own_width.forced import Serving
from verify.checker.dual_trees import Bound
from verify.checker.states import Nothing, Split
from verify.deciders.hidden.branching import decided
from verify.deciders.hidden.geometry import Geometry
from verify.deciders.hidden.leaves import accepted
from verify.deciders.hidden.nodes import SearchNode
from verify.deciders.hidden.states import NeuronState
from verify.problem.members import has_margin

__all__ = ["ForcedChildren"]

MOST_POINTS = 24
"""At which that is looked at, those of the largest multipliers."""


class ForcedChildren:
    """serving: what the outputs ask of the neurons; their signs are those of the output weights."""

    def __init__(self, geometry: Geometry) -> None:
        self.geometry, self.problem = geometry, geometry.problem
        problem = self.problem
        self.signs: dict[Split, int] = {(j, None): _sign(v) for j, v in enumerate(geometry.outgoing)}
        able = [[any(row[c] for c in mask) for row in problem.rows] for mask in geometry.masks]
        eps = problem.fit_tolerance
        wanted = [0 if problem.architecture.slope or abs(y) <= eps else _sign(y) for y in problem.targets]
        self.serving = Serving(np.array(able, bool), np.array(wanted, np.int8), self._children)

    def _children(self, known: Mapping[Split, int], split: Split) -> tuple[dict[Split, int], dict[Split, int]]:
        return decided(self.problem, known, split)

    def children(self, node: SearchNode, split: Split) -> tuple[SearchNode, SearchNode]:
        """Left and right; where one of them leaves no choice, with what is below it."""
        sizes = np.abs(node.relaxed.multipliers) if node.relaxed is not None else np.zeros(len(self.problem.targets))
        order = np.argsort(-sizes, kind="stable")[:MOST_POINTS]
        points = [int(i) for i in order if i in node.support or sizes[i] > 0]
        found = self._split(node, split, node.bound)
        for child in found:
            self._grow(child, points)
        return found

    def _split(self, node: SearchNode, split: Split, floor: float) -> tuple[SearchNode, SearchNode]:
        left, right = (
            SearchNode(NeuronState(self.geometry, known), support=node.support, floor=floor, parent=node)
            for known in decided(self.problem, node.state.known, split)
        )
        return left, right

    def _grow(self, node: SearchNode, points: list[int]) -> None:
        if self._is_unserved(node):
            return
        for split, side in self.serving.steps({**self.signs, **node.state.known}, points):
            children = self._split(node, split, node.floor)
            if not self._is_unserved(children[1 if side > 0 else 0]):
                return
            node.split, node.children = split, children
            node = children[0 if side > 0 else 1]

    def _is_unserved(self, node: SearchNode) -> bool:
        """Whether some point has no neuron in the state, which then has a leaf."""
        point = self.serving.unserved({**self.signs, **node.state.known})
        if point is None:
            return False
        multiplier = Fraction(1 if has_margin(self.problem.goal) else _sign(self.problem.targets[point]))
        trees = ((Bound((0,)),),) * len(node.state.cases)
        node.improve(accepted(self.problem, Nothing(((point, multiplier),), 1, trees), node.state.cases))
        return node.leaf is not None and node.leaf.value is None


def _sign(number: Fraction) -> int:
    return (number > 0) - (number < 0)
