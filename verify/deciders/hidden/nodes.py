"""The states of a search among given output weights as nodes of its tree, and what the search hands over."""

from __future__ import annotations

from dataclasses import dataclass

from solvers.hidden.inner_cells import ByCells
from solvers.hidden.relaxation import Relaxed
from solvers.instance import SearchStatus
from verify.checker.states import Split
from verify.checker.width import InfeasibleWidth, LowerBoundWidth
from verify.deciders.hidden.leaves import StateLeaf
from verify.deciders.hidden.states import NeuronState
from verify.numbers.floats import float_near
from verify.problem.network import Network

__all__ = ["HiddenOutcome", "SearchNode", "worth_of"]


@dataclass(slots=True)
class SearchNode:
    """A state of the search, with what is known of it.

    is_kept: whether the leaf is one of an earlier proof.   is_bounded: whether the state was looked at.
    support: points that have multipliers here or before.   floor: what is proved of the state before.
    """

    state: NeuronState
    relaxed: Relaxed | None = None
    leaf: StateLeaf | None = None
    is_kept: bool = False
    is_bounded: bool = False
    split: Split | None = None
    children: tuple[SearchNode, ...] = ()
    cells: ByCells | None = None
    support: frozenset[int] = frozenset()
    floor: float = 0.0

    @property
    def own(self) -> float:
        """What floats say that it proves by itself."""
        if self.leaf is not None:
            return float("inf") if self.leaf.value is None else float_near(self.leaf.value)
        found = 0.0 if self.relaxed is None else self.relaxed.value
        return found if self.cells is None else max(found, self.cells.value)

    @property
    def bound(self) -> float:
        """The same, or what the state before it proves where that is more."""
        return max(self.own, self.floor)

    def improve(self, leaf: StateLeaf | None) -> None:
        """Take this leaf where it proves more than the one there is."""
        if leaf is None:
            return
        own = self.leaf
        if own is None or (own.value is not None and (leaf.value is None or leaf.value > own.value)):
            self.leaf, self.is_kept = leaf, False


def worth_of(root: SearchNode) -> dict[int, float]:
    """By the identity of each node what the tree below it proves, or the node by itself where that is more."""
    waiting, order = [root], list[SearchNode]()
    while waiting:
        order.append(waiting.pop())
        waiting += order[-1].children
    worth: dict[int, float] = {}
    for node in reversed(order):
        below = min((worth[id(child)] for child in node.children), default=0.0)
        worth[id(node)] = max(node.own, below)
    return worth


@dataclass(frozen=True, slots=True, kw_only=True)
class HiddenOutcome:
    """lower: the proof of the least objective, None without one.   nothing: the proof that nothing fits.

    networks: those found that fit, the best first.   nodes, left: how many states there were, and were left open.
    """

    lower: LowerBoundWidth | None
    nothing: InfeasibleWidth | None
    networks: tuple[Network, ...]
    status: SearchStatus
    nodes: int
    left: int
