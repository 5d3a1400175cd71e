"""The states of a search among given output weights as nodes of its tree, and what the search hands over."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from solvers.hidden.cases import WantedOutputs
from solvers.hidden.inner_cells import ByCells, ConeCell
from solvers.hidden.relaxation import Relaxed, inherited
from solvers.instance import SearchStatus
from verify.checker.dual_trees import Dual
from verify.checker.states import HiddenDual, Nothing, Split, bound_of
from verify.checker.width import InfeasibleWidth, LowerBoundWidth
from verify.deciders.hidden.branching import decided
from verify.deciders.hidden.geometry import Geometry
from verify.deciders.hidden.leaves import StateLeaf, zero_leaf
from verify.deciders.hidden.states import NeuronState
from verify.deciders.time_limits import poll
from verify.numbers.floats import float_near
from verify.problem.network import Network

__all__ = ["HiddenOutcome", "SearchNode", "regrown", "worth_of", "written_tree"]

IN_USE = 1e-7
"""A multiplier below this part of the largest is 0."""


@dataclass(slots=True)
class SearchNode:
    """A state of the search, with what is known of it.

    is_kept: whether the leaf is one of an earlier proof.   is_bounded: whether the state was looked at.
    support: points that have multipliers here or before.   floor: what is proved of the state before.
    parent: the state before, whose cells are those to begin with.
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
    parent: SearchNode | None = None

    def trees_before(self, most: int) -> list[Sequence[int | ConeCell]] | None:
        """For each case the cells of the case that it was cut from, where a state before has some, and not too many."""
        before = self.parent
        while before is not None and before.cells is None:
            before = before.parent
        if before is None or before.cells is None or sum(map(len, before.cells.trees)) > most:
            return None
        places = {self.state.case_of(j): before.state.case_of(j) for j in self.state.geometry.live}
        return [before.cells.trees[places[q]] for q in range(len(self.state.cases))]

    def inherited(self, points: WantedOutputs, before: SearchNode) -> Relaxed | None:
        """What the multipliers and slopes of a state before prove in this one."""
        if before.relaxed is None:
            return None
        owners = [before.state.case_of(self.state.neuron_of(q)) for q in range(len(self.state.floats))]
        return inherited(points, self.state.floats, before.relaxed, owners)

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

    def open_ends(self) -> list[SearchNode]:
        """The nodes below, or this one, that have no children, without those in which nothing fits."""
        if self.children:
            return [end for child in self.children for end in child.open_ends()]
        return [] if self.leaf is not None and self.leaf.value is None else [self]

    def add_support(self, others: Iterable[int]) -> None:
        """Let the points that have multipliers or are decided here, and these others, have multipliers."""
        sizes = np.zeros(0) if self.relaxed is None else np.abs(self.relaxed.multipliers)
        own = set(map(int, np.flatnonzero(sizes > IN_USE * sizes.max(initial=0.0))))
        own.update(i for _, i in self.state.known if i is not None)
        self.support = self.support | own | set(others)

    def improve(self, leaf: StateLeaf | None) -> None:
        """Take this leaf where it proves more than the one there is."""
        if leaf is None:
            return
        own = self.leaf
        if own is None or (own.value is not None and (leaf.value is None or leaf.value > own.value)):
            self.leaf, self.is_kept = leaf, False


def regrown(root: SearchNode, earlier: LowerBoundWidth, geometry: Geometry) -> list[SearchNode]:
    """The tree of an accepted certificate below the root: its leaves, each with what is proved of it."""
    problem, waiting, found = geometry.problem, [root], list[SearchNode]()
    for given in earlier.nodes:
        poll()
        node = waiting.pop()
        if isinstance(given, tuple):
            both = [SearchNode(NeuronState(geometry, known)) for known in decided(problem, node.state.known, given)]
            node.split, node.children = given, tuple(both)
            waiting += reversed(both)
            continue
        value = None if isinstance(given, Nothing) else bound_of(problem, given, node.state.cases)
        if not isinstance(given, Dual):
            node.leaf, node.is_kept = StateLeaf(given, value), True
        found.append(node)
    return found


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


def written_tree(
    root: SearchNode, is_enough: Callable[[SearchNode], bool], make_leaf: Callable[[SearchNode], None]
) -> tuple[list[Split | HiddenDual | Nothing], list[Fraction | None]]:
    """The tree in pre-order, and what its leaves prove; a node whose children prove no more than it does is a leaf.

    is_enough: whether the leaf that a node has proves all that is asked.   make_leaf: gives a node one, if it can.
    """
    values: list[Fraction | None] = []
    found: list[Split | HiddenDual | Nothing] = []
    waiting, worth = [root], worth_of(root)
    while waiting:
        node = waiting.pop()
        below = min((worth[id(child)] for child in node.children), default=0.0)
        is_worth = node.own > below
        if node.split is not None and not is_enough(node) and is_worth:
            make_leaf(node)
            is_worth = node.leaf is not None and node.own > below
        if node.split is not None and not is_enough(node) and not is_worth:
            found.append(node.split)
            waiting += reversed(node.children)
            continue
        make_leaf(node)
        leaf = node.leaf or zero_leaf(node.state.cases)
        found.append(leaf.node)
        values.append(leaf.value)
    return found, values


@dataclass(frozen=True, slots=True, kw_only=True)
class HiddenOutcome:
    """lower: the proof of the least objective, None without one.   nothing: the proof that nothing fits.

    networks: those found that fit, the best first.   nodes, left: how many states there were, and were left open.
    sharpening: how many of these states were looked at to make a bound within the tolerance equal to the objective.
    """

    lower: LowerBoundWidth | None = None
    nothing: InfeasibleWidth | None = None
    networks: tuple[Network, ...] = ()
    status: SearchStatus
    nodes: int
    left: int
    sharpening: int = 0
