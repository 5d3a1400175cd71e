"""The states of a search among given output weights as nodes of its tree, and what the search hands over."""

from __future__ import annotations

from dataclasses import dataclass

from solvers.hidden.relaxation import Relaxed
from solvers.instance import SearchStatus
from verify.checker.states import Split
from verify.checker.width import InfeasibleWidth, LowerBoundWidth
from verify.deciders.hidden.leaves import StateLeaf
from verify.deciders.hidden.states import NeuronState
from verify.numbers.floats import float_near
from verify.problem.network import Network

__all__ = ["HiddenOutcome", "SearchNode"]


@dataclass(slots=True)
class SearchNode:
    """A state of the search, with what is known of it.

    is_kept: whether the leaf is one of an earlier proof.   is_bounded: whether the state was looked at.
    """

    state: NeuronState
    relaxed: Relaxed | None = None
    leaf: StateLeaf | None = None
    is_kept: bool = False
    is_bounded: bool = False
    split: Split | None = None
    children: tuple[SearchNode, ...] = ()

    @property
    def bound(self) -> float:
        """What floats say that it proves."""
        if self.leaf is not None:
            return float("inf") if self.leaf.value is None else float_near(self.leaf.value)
        return 0.0 if self.relaxed is None else self.relaxed.value

    def improve(self, leaf: StateLeaf | None) -> None:
        """Take this leaf where it proves more than the one there is."""
        if leaf is None:
            return
        own = self.leaf
        if own is None or (own.value is not None and (leaf.value is None or leaf.value > own.value)):
            self.leaf, self.is_kept = leaf, False


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
