"""The best network with given output weights: branch and bound over the sides of the preactivations, with a proof.

A node is a state; its bound is that of `solvers.hidden.relaxation`, its children decide one more side, of a neuron and
of all that can be exchanged with it. The best node first; networks are found by walks between choices of sides. The
tree of the nodes is a certificate at any moment: open nodes are leaves with what is proved of them.

Source: `docs/mathematics.md`, 12.1 "The bound of a state" and 12.2 "One rule for exchanging neurons".
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import count as counter

import numpy as np

from solvers.hidden.inner_cells import MOST_CELLS, by_cells
from solvers.hidden.relaxation import excluded, relaxed
from solvers.instance import SearchStatus
from verify.checker.states import HiddenDual, Split
from verify.checker.width import InfeasibleWidth, LowerBoundWidth
from verify.deciders.hidden.branching import chosen_pair, pair_between, sides_of_pieces, sides_of_relaxed
from verify.deciders.hidden.excluding import excluding_leaf
from verify.deciders.hidden.fitting import whether_fits
from verify.deciders.hidden.forcing import ForcedChildren
from verify.deciders.hidden.holding import HeldPieces
from verify.deciders.hidden.leaves import BITS, StateLeaf, celled_leaf, rounded_leaf, unfitted_leaf, zero_leaf
from verify.deciders.hidden.networks import KnownNetworks
from verify.deciders.hidden.nodes import HiddenOutcome, SearchNode, regrown, written_tree
from verify.deciders.hidden.other_leaves import OtherLeaves
from verify.deciders.hidden.states import NeuronState
from verify.deciders.time_limits import TimeIsUpError, is_late, poll, share
from verify.numbers.floats import float_near
from verify.problem.network import Network
from verify.problem.problem import Problem

__all__ = ["HiddenSearch"]

MOST_NODES = 2000
LEAST_NODES, MOST_WORK = 60, 200_000
"""Nodes after which the search ends: fewer where a state has many pairs of neurons and points."""

MOST_PAIRS = 4000
"""Points times live neurons beyond which no state is bounded."""

SHARPENING = 120
"""States that are looked at besides, to make a bound within the tolerance equal to the best objective."""

FITTING_SHARE = 0.6
"""Of the time, for the question whether anything fits, where no network is known."""

FEW_CELLS = 12
"""In which the cones of a state are cut for a bound as long as no network is known: it only says where to branch."""

MOST_BLUNT = 3
"""Bounds by cells that are nearly the best objective and could not be made equal to it: then no more are tried."""

HUGE = 1e8
"""Units of the objective beyond which it is asked whether anything fits in a state."""

NEARLY = 1e-7
"""A bound this near to the best objective may be made equal to it."""


def _poll(deadline: float | None) -> None:
    if is_late(deadline):
        raise TimeIsUpError


@dataclass
class HiddenSearch:
    """tol: the relative gap at which the search ends; 0: until the bound is the best objective, where that is found.

    networks: those that are known: the first that fits is to be beaten.   deadline: a moment of `solvers.clock.now()`.
    max_nodes: states that are looked at, at most.   on_progress: as of `solvers.own_width.search.search`.
    earlier: an accepted proof of the problem: leaves that prove enough stay as they are, at the others it goes on.
    sharpens: whether a bound within the tolerance is made equal to the best objective, if that takes few states more.
    """

    problem: Problem
    networks: Iterable[Network] = ()
    tol: Fraction = Fraction(1, 10**6)
    deadline: float | None = None
    on_progress: Callable[[int, int, float, float], None] | None = None
    max_nodes: int | None = None
    earlier: LowerBoundWidth | None = None
    sharpens: bool = True

    def __post_init__(self) -> None:
        self.known = KnownNetworks(self.problem, self.networks)
        self.geometry, self.points = self.known.geometry, self.known.points
        self.forced, self.others = ForcedChildren(self.geometry), OtherLeaves(self.points)
        self.nodes, self.sharpening, self.blunt, self._has_stalled = 0, 0, 0, False
        pairs = len(self.geometry.live) * len(self.problem.rows)
        most = min(MOST_NODES, max(LEAST_NODES, MOST_WORK // max(pairs, 1)))
        self.most_nodes = most if self.max_nodes is None else min(self.max_nodes, most)

    # ------------------------------------------------------------------------------------------------ nodes

    def run(self) -> HiddenOutcome:
        """The search, until the gap is small enough, nothing is left, or the time ends."""
        if len(self.geometry.live) * len(self.problem.rows) > MOST_PAIRS:
            return self._outcome(None, SearchStatus.LARGE, 0)
        if self.known.upper == 0:
            root = self._node({})
            root.leaf = zero_leaf(root.state.cases)
            return self._outcome(root, SearchStatus.OPTIMAL, 0)
        if not self.geometry.live:
            root = self._node({})
            root.leaf = unfitted_leaf(self.problem)
            return self._outcome(root, SearchStatus.OPTIMAL, 0)
        if (cut := self.known.started(self.deadline)) is not None:
            return self._cut_short(cut)
        root = SearchNode(NeuronState(self.geometry, {}))
        if (nothing := self._without_networks()) is not None:
            return HiddenOutcome(nothing=nothing, status=SearchStatus.INFEASIBLE, nodes=self.nodes, left=0)
        if self.known.upper == 0:
            root.leaf = zero_leaf(root.state.cases)
            return self._outcome(root, SearchStatus.OPTIMAL, 0)
        order = counter()
        waiting: list[tuple[float, int, SearchNode]] = []
        status = SearchStatus.OPTIMAL
        try:
            for node in self._open_nodes(root):
                heapq.heappush(waiting, (node.bound, next(order), node))
            while waiting and status is SearchStatus.OPTIMAL:
                poll()
                status = self._step(waiting, order)
            if status is SearchStatus.OPTIMAL:
                closed_after = self.nodes
                if self.sharpens:
                    self._sharpen(root)
                self.sharpening = self.nodes - closed_after
                status = SearchStatus.STALLED if self._has_stalled else status
        except (KeyboardInterrupt, TimeIsUpError) as cut:
            status = SearchStatus.TIME if isinstance(cut, TimeIsUpError) else SearchStatus.INTERRUPTED
        return self._outcome(root, status, len(waiting))

    def _without_networks(self) -> InfeasibleWidth | None:
        """The proof that nothing fits, or a network that does, where none was found by walks; maybe neither."""
        if self.known.upper is not None or self.earlier is not None or self.points.slope == 1:
            return None
        found = whether_fits(self.geometry, share(self.deadline, FITTING_SHARE), self.most_nodes)
        self.nodes += found.nodes
        for sides in found.sides:
            self.known.walk_from(sides)
        return found.nothing

    def _cut_short(self, status: SearchStatus) -> HiddenOutcome:
        """The networks that are known, and what bounds all sides at once, if there is time for that."""
        root = None
        with suppress(TimeIsUpError):
            root = self._node({})
        return self._outcome(root, status, 0 if root is None else 1)

    def _step(self, waiting: list[tuple[float, int, SearchNode]], order: Iterator[int]) -> SearchStatus:
        """Look at the node of the least bound; OPTIMAL while there is no reason to stop."""
        if is_late(self.deadline) or self.nodes > self.most_nodes:
            return SearchStatus.TIME if is_late(self.deadline) else SearchStatus.NODES
        _, _, node = waiting[0]
        if self.on_progress is not None:
            self.on_progress(self.nodes, len(waiting), min(node.bound, self.known.least), self.known.least)
        if not node.is_bounded and not self._is_enough(node, self.tol):
            self._bound(node)
        is_done = self._is_closed(node) or not self._branch(node)
        heapq.heappop(waiting)
        self._has_stalled = self._has_stalled or (is_done and not self._is_closed(node))
        for end in node.open_ends() * bool(node.children):
            heapq.heappush(waiting, (end.bound, next(order), end))
        return SearchStatus.OPTIMAL

    def _sharpen(self, root: SearchNode) -> None:
        """Leaves that prove the best objective within the tolerance only are split until they prove it, if few do."""
        waiting, upper = [root], self.known.upper
        blunt: list[SearchNode] = []
        while waiting and upper is not None:
            node = waiting.pop()
            waiting += node.children
            is_sharp = node.leaf is not None and (node.leaf.value is None or node.leaf.value >= upper)
            if not node.children and not is_sharp:
                blunt.append(node)
        limit, tol = self.nodes + SHARPENING, self.tol
        limit = limit if self.max_nodes is None else min(limit, self.max_nodes)
        self.tol = Fraction(0)
        for node in blunt:
            if self.known.is_long or not self._is_sharpened(node, limit):
                break
        self.tol = tol

    def _is_sharpened(self, node: SearchNode, limit: int) -> bool:
        """Whether each leaf below the node proves the best objective now; else it is a leaf as before."""
        waiting, leaf = [node], node.leaf
        while waiting:
            here = waiting.pop()
            is_over = self.nodes > limit or is_late(self.deadline)
            if here is not node and (here.children or self._is_closed(here)):
                waiting += here.children
                continue
            if is_over or not self._branch(here):
                node.children, node.leaf = (), leaf
                return False
            waiting += here.children
        return True

    def _open_nodes(self, root: SearchNode) -> list[SearchNode]:
        """The states to begin with: the root, or those below it in which an earlier proof proves too little."""
        if self.earlier is None:
            self._bound(root)
            return [root]
        return [node for node in regrown(root, self.earlier, self.geometry) if not self._is_enough(node, self.tol)]

    def _node(self, known: Mapping[Split, int]) -> SearchNode:
        node = SearchNode(NeuronState(self.geometry, known))
        self._bound(node)
        return node

    def _bound(self, node: SearchNode, parent: SearchNode | None = None) -> None:
        """Look at a state: its relaxed problem, and whether nothing fits in it."""
        self.nodes += 1
        node.is_bounded, state = True, node.state
        if not state.floats:
            return
        found, is_worse = relaxed(self.points, state.floats), False
        if parent is not None and parent.relaxed is not None:
            before = node.inherited(self.points, parent)
            is_worse = before is not None and (found is None or found.value < before.value * (1 - NEARLY))
            found = before if is_worse else found
            is_worse = is_worse or found is None or found.value < parent.bound * (1 - NEARLY)
        node.relaxed = found
        is_huge = is_worse or found is None or found.value > HUGE * state.unit
        if is_huge or (found is not None and found.value > 3 * self.known.least):
            vertex = excluded(self.points, state.floats)
            node.improve(None if vertex is None else excluding_leaf(self.geometry, state.cases, *vertex))

    def _is_closed(self, node: SearchNode) -> bool:
        """Whether the node has a leaf that is good enough; makes one where its floats say that there is one."""
        if node.leaf is not None and (node.leaf.value is None or (node.is_kept and self._is_enough(node, self.tol))):
            return True
        upper = self.known.upper
        if upper is None or node.relaxed is None:
            return False
        if self._has_tight_leaf(node, upper):
            return True
        if node.relaxed.value * (1 + float_near(self.tol)) < self.known.least * (1 - NEARLY):
            return False
        node.improve(self._rounded(node))
        is_done = node.leaf is not None and node.leaf.value is not None and node.leaf.value * (1 + self.tol) >= upper
        if is_done:
            self.others.add(node.relaxed.multipliers)
        return is_done

    def _rounded(self, node: SearchNode) -> StateLeaf | None:
        if node.relaxed is None:
            return None
        return rounded_leaf(self.geometry, node.state.cases, node.relaxed, node.state.terms)

    def _has_tight_leaf(self, node: SearchNode, upper: Fraction) -> bool:
        """Whether the best network's own multipliers prove its objective in this state."""
        champion = self.known.champion
        leaf = None if champion is None else self.known.leaf_of(node.state, *champion)
        if champion is None or leaf is None or leaf.value is None or leaf.value < upper:
            return False
        short = self.known.leaf_of(node.state, *champion, BITS) if self.tol and self.known.is_long else None
        is_enough = short is not None and short.value is not None and short.value * (1 + self.tol) >= upper
        node.leaf = short if is_enough else leaf
        return True

    # --------------------------------------------------------------------------------------------- branching

    def _branch(self, node: SearchNode) -> bool:
        """Split the node; False where nothing is left to decide."""
        if not node.is_bounded:
            self._bound(node)
        self._dive(node)
        if self._is_closed(node) or self._is_closed_by_cells(node):
            return True
        cells = node.cells
        between = None if cells is None else pair_between(node.state, cells.pieces, cells.found.multipliers)
        split = between or chosen_pair(self.known, node.state, node.relaxed)
        if split is None:
            return self._settle(node)
        node.split = split
        node.children = self.forced.children(node, split)
        held = HeldPieces.of(node) if self.tol else None
        waiting = node.open_ends()
        for end in waiting:  # which gets longer
            if self._is_closed_by_others(end):
                continue
            if held and held.splits(end, self.forced, self.points, self.known.least):
                waiting += end.open_ends()
            else:
                self._bound(end, node)
        return True

    def _is_closed_by_others(self, node: SearchNode) -> bool:
        """Whether multipliers of the best network, or of other states, prove this one within the tolerance."""
        upper = self.known.upper
        if upper is None or not self.tol or not node.state.floats:
            return False
        if not self._has_tight_leaf(node, upper):
            goal = self.known.least / (1 + float_near(self.tol) / 2)
            leaf = celled_leaf(self.geometry, node.state.cases, self.others.cells(node.state, goal))
            if leaf is None or leaf.value is None or leaf.value * (1 + self.tol) < upper:
                return False
            node.leaf = leaf
        node.is_kept = True
        return True

    def _is_closed_by_cells(self, node: SearchNode) -> bool:
        """Whether the node has a leaf that is good enough when the cones of its cases are cut into cells."""
        if node.relaxed is None or self.points.slope == 1 or (self.tol == 0 and self.blunt >= MOST_BLUNT):
            return False
        least = self.known.least
        node.add_support(() if self.known.champion is None else self.known.champion[0].multipliers)
        support, wait = np.array(sorted(node.support), np.intp), partial(_poll, self.deadline)
        goal = least / (1 + float_near(self.tol) / 2) if self.tol else float("inf")
        most = FEW_CELLS if self.known.upper is None else MOST_CELLS
        before, state = node.trees_before(most), node.state
        node.cells = by_cells(self.points, state.floats, state.cell, support, goal, wait, most, before)
        if node.cells is None:
            return False
        if self.tol == 0 and node.cells.value > least * (1 - NEARLY):
            node.improve(self.known.sharp_leaf(node.state, node.cells, wait))
            self.blunt += not self._is_enough(node)
        if self.tol == 0:
            return self._is_enough(node)
        self.known.walk_from(sides_of_pieces(node.state, node.cells), node.state.fixed())
        if node.cells.value * (1 + float_near(self.tol)) >= self.known.least:
            node.improve(celled_leaf(self.geometry, node.state.cases, node.cells))
        is_done = self._is_enough(node, self.tol)
        if is_done:
            self.others.add(node.cells.found.multipliers)
        return is_done

    def _settle(self, node: SearchNode) -> bool:
        """A state in which all is decided: its exact optimum has multipliers that prove it."""
        sides = node.state.fixed()
        sides = np.where(sides == 0, -1, sides).astype(np.int8)
        found = self.known.solve(sides)
        if found is not None:
            network = found.network(self.known.shape)
            if network is not None:
                self.known.take(network)
            node.improve(self.known.leaf_of(node.state, found, self.known.pattern(found)))
        if node.leaf is None or node.is_kept:
            vertex = excluded(self.points, node.state.floats)
            node.improve(None if vertex is None else excluding_leaf(self.geometry, node.state.cases, *vertex))
        if node.leaf is None or node.is_kept:
            node.improve(self._rounded(node))
        leaf, upper = node.leaf, self.known.upper
        if leaf is None:
            return False
        return leaf.value is None or (upper is not None and leaf.value * (1 + self.tol) >= upper)

    def _dive(self, node: SearchNode) -> None:
        """A walk from the directions of the relaxation."""
        if node.relaxed is None or self.points.slope == 1:
            return
        self.known.walk_from(sides_of_relaxed(self.known, node.state, node.relaxed), node.state.fixed())

    # --------------------------------------------------------------------------------------------- the proof

    def _outcome(self, root: SearchNode | None, status: SearchStatus, left: int) -> HiddenOutcome:
        networks = tuple(network for _, network in self.known.found)
        nodes, leaves = ([], []) if root is None else written_tree(root, self._is_enough, self._make_leaf)
        lower = nothing = None
        if nodes:
            if all(value is None for value in leaves):
                nothing = InfeasibleWidth(nodes=tuple(node for node in nodes if not isinstance(node, HiddenDual)))
                status = SearchStatus.INFEASIBLE
            else:
                values = [value for value in (*leaves, self.known.upper) if value is not None]
                least = min(values)
                lower = LowerBoundWidth(nodes=tuple(nodes), bracket=(least, None))
        return HiddenOutcome(
            lower=lower,
            nothing=nothing,
            networks=networks,
            status=status,
            nodes=self.nodes,
            left=left,
            sharpening=self.sharpening,
        )

    def _make_leaf(self, node: SearchNode) -> None:
        if node.is_bounded and (node.leaf is None or node.is_kept):
            node.improve(celled_leaf(self.geometry, node.state.cases, node.cells))
            node.improve(self._rounded(node))

    def _is_enough(self, node: SearchNode, tol: Fraction = Fraction(0)) -> bool:
        """Whether the leaf that a node has proves the best objective that is known, within the tolerance."""
        leaf, upper = node.leaf, self.known.upper
        if leaf is None or leaf.value is None:
            return leaf is not None
        return upper is not None and leaf.value * (1 + tol) >= upper
