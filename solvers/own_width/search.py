"""Branch and bound over the states of the neurons of a width, the state with the least bound first.

    relaxed problem of a state  ->  bound with a proof (the state is a leaf), or a split; and networks of the width

A state whose bound reaches the goal, the best objective known over 1 + tol / 2, is done. At a deadline what is open
becomes a leaf with its own multipliers, so that the tree is whole and proves the least of their bounds.
Source: `docs/mathematics.md`, 12 "Own width, and only the hidden layer trained".
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Sequence
from itertools import count
from typing import TypeAlias

import numpy as np

from solvers.any_width.master import Column
from solvers.any_width.records import DualGuess
from solvers.any_width.scaling import Scaled, scaled, without_unseen_bias
from solvers.clock import TimeIsUpError, share
from solvers.instance import ProblemInstance, SearchStatus
from solvers.own_width.branching import split_of
from solvers.own_width.copies import followed, original
from solvers.own_width.farkas import StateNothing, excluding
from solvers.own_width.forced import Serving
from solvers.own_width.holding import held, is_crowded
from solvers.own_width.incumbents import Incumbents, Neuron
from solvers.own_width.inner_trees import excluding_by_cells
from solvers.own_width.nodes import WidthNode, upwards, walk
from solvers.own_width.other_proofs import OtherProofs
from solvers.own_width.records import KeptLeaf, StateProof, WidthOutcome
from solvers.own_width.relaxation import Relaxation
from solvers.own_width.setting import Setting, placed
from solvers.own_width.states import DecidedSplits, Split, StateCase, cases_of, children_of

__all__ = ["search"]

SEARCH_SHARE = 0.75
"""Of the time; the rest is for proofs of what is left open."""

_Found: TypeAlias = Split | StateProof | StateNothing | KeptLeaf

MOST_FORCED = 24
"""Points at which decisions that leave no choice are made after a split, those of the largest multipliers."""

MOST_HELD = 8
"""Splits below a state, at most, that are made from its relaxed problem."""

ATTEMPTS, SOURCES = 4, 3
"""Proofs of one state that is left open, each of less, and of how many states the multipliers are tried."""


def search(
    instance: ProblemInstance,
    masks: Sequence[int],
    start: Iterable[Sequence[Neuron]] = (),
    *,
    upper: float = np.inf,
    earlier: Sequence[Split | KeptLeaf] = (),
    tol: float = 1e-6,
    deadline: float | None = None,
    on_progress: Callable[[int, int, float, float], None] | None = None,
    max_nodes: int | None = None,
    seed: int = 0,
    excludes: Callable[[StateNothing], bool] = lambda _: True,
    signs: Sequence[int] = (),
) -> WidthOutcome:
    """The best objective over networks with neurons of these mask classes, bracketed to a relative gap `tol`.

    start: networks of at most that width, as their neurons with directions u_j = |v_j| w_j.   upper: an objective that
    one of the width is known to have.   earlier: the tree of an earlier search: leaves that prove enough stay as they
    are, at the others it goes on.   max_nodes: states that are looked at, at most.
    on_progress: called after each state with the number of states, of open ones, and both ends of the bracket.
    excludes: whether that nothing fits in a state can be proved so; a state for which it cannot is searched on.
    signs: of the output weights, where they are given: neurons of one mask class then have the same one, and it is only
    asked whether a network fits: the first one ends the search, without a tree.
    Ctrl-C and the deadline end the search alike, with what is proved then.
    """
    known = without_unseen_bias(instance)
    with np.errstate(all="ignore"):
        states = _StateSearch(known, masks, tol, deadline, on_progress, max_nodes, seed, excludes, signs)
        return states.run(start, upper, earlier)


class _StateSearch:
    def __init__(
        self,
        instance: ProblemInstance,
        masks: Sequence[int],
        tol: float,
        deadline: float | None,
        on_progress: Callable[[int, int, float, float], None] | None,
        max_nodes: int | None,
        seed: int,
        excludes: Callable[[StateNothing], bool],
        signs: Sequence[int],
    ) -> None:
        self.problem: Scaled = scaled(instance)
        random = np.random.default_rng(seed)
        self.deadline, self.on_progress, self.max_nodes, self.excludes = deadline, on_progress, max_nodes, excludes
        self.setting = Setting(self.problem, masks, tol, share(deadline, SEARCH_SHARE), random)
        self.incumbents = Incumbents(self.setting)
        self.others = OtherProofs(self.setting)
        self.heap: list[tuple[float, int, WidthNode]] = []
        self.order = count()
        self.serving = _serving(self.setting)
        self.given: DecidedSplits = {(j, None): sign for j, sign in enumerate(signs)}
        self.nodes = 0
        self.stuck: list[WidthNode] = []

    def run(
        self, start: Iterable[Sequence[Neuron]], upper: float, earlier: Sequence[Split | KeptLeaf] = ()
    ) -> WidthOutcome:
        """The search, then proofs of what it left open."""
        self.setting.upper = upper / self.problem.unit
        root = WidthNode(self.given, 0.0, self._first_columns(self.given))
        self._regrow(root, earlier)
        try:
            for neurons in start:
                self.incumbents.descend([self._scaled(neuron) for neuron in neurons])
            if not self.given:
                self.incumbents.from_starts()
            status = self._search()
        except TimeIsUpError:
            status = SearchStatus.TIME
        except KeyboardInterrupt:
            status = SearchStatus.INTERRUPTED
        left = sum(node.is_cut and node.proof is None for node in walk(root))
        self.setting.deadline = self.deadline
        try:
            tree = () if self._is_answered else self._proved(root)
        except TimeIsUpError:
            tree = ()
        least = np.inf if tree else 0.0
        kept = [node.bound / self.problem.unit for node in tree if isinstance(node, KeptLeaf)]
        proved = [node.dual.lower for node in tree if isinstance(node, StateProof)]
        lower = min((*proved, *kept), default=least)
        problem = self.problem
        return WidthOutcome(
            status,
            tuple(self._unscaled(node) for node in tree),
            lower * problem.unit,
            tuple(problem.unscaled(atoms) for atoms in self.incumbents.networks),
            self.nodes,
            left,
        )

    @property
    def _is_answered(self) -> bool:
        """Whether it is only asked whether a network fits, and one does."""
        return len(self.given) > 0 and len(self.incumbents.networks) > 0

    def _scaled(self, neuron: Neuron) -> Neuron:
        """A neuron of the given instance in the units of the scaled one."""
        mask, sign, direction = neuron
        u = direction * self.problem.target_scale
        if self.problem.instance.free:
            u = u.copy()
            u[:-1] /= self.problem.row_scales[0]
        return mask, sign, u

    def _unscaled(self, node: _Found) -> _Found:
        return StateProof(node.cases, self.problem.unscaled_proof(node.dual)) if isinstance(node, StateProof) else node

    def _regrow(self, root: WidthNode, earlier: Sequence[Split | KeptLeaf]) -> None:
        """The tree of an earlier search below the root; what proves too little is open."""
        waiting = [root]
        for found in earlier:
            node = waiting.pop()
            if isinstance(found, KeptLeaf):
                node.kept, node.bound = found, found.bound / self.problem.unit
                node.proof = found if node.bound >= self.setting.goal or np.isinf(node.bound) else None
                if node.proof is None:
                    self._push(node)
                continue
            node.split = found
            left, right = (
                WidthNode(known, 0.0, self._first_columns(known), parent=node)
                for known in children_of(self.setting.masks, node.known, found)
            )
            node.children = (left, right)
            waiting += [right, left]
        for node in waiting:
            self._push(node)

    def _push(self, node: WidthNode) -> None:
        heapq.heappush(self.heap, (node.bound, next(self.order), node))

    def _first_columns(self, known: DecidedSplits) -> dict[StateCase, list[Column]]:
        """All on, and for a free bias all off; the rows themselves as directions."""
        instance, found = self.problem.instance, dict[StateCase, list[Column]]()
        for case in cases_of(self.setting.masks, known):
            seen, n = instance.masks[case.mask], len(instance.rows)
            columns = [Column(case.mask, case.sign, np.ones(n, bool))] if len(seen) else []
            if self.problem.is_free(seen):
                columns.append(Column(case.mask, case.sign, np.zeros(n, bool)))
            found[case] = [placed(column, case) for column in columns]
        return found

    def _search(self) -> SearchStatus:
        """States from the heap until none is below the goal."""
        while self.heap and not self._is_answered:
            if self.max_nodes is not None and self.nodes >= self.max_nodes:
                return SearchStatus.NODES
            _, _, node = heapq.heappop(self.heap)
            try:
                if not self._is_copied(node):
                    self._look_at(node)
            except BaseException:
                self._push(node)
                raise
            if self.on_progress is not None:
                unit, open_nodes = self.problem.unit, [entry[2] for entry in self.heap]
                lower = min((entry.bound for entry in open_nodes), default=self.setting.goal)
                self.on_progress(self.nodes, len(open_nodes), lower * unit, self.setting.upper * unit)
        return SearchStatus.STALLED if self.stuck else SearchStatus.OPTIMAL

    def _is_copied(self, node: WidthNode) -> bool:
        """Whether the state lies in another one, neurons exchanged, and is proved, split, or waits as that one."""
        masks = self.setting.masks
        if (found := original(masks, node)) is None:
            return False
        cases = list(cases_of(masks, node.known))
        if not self._is_unserved(node):
            node.proof = self.others.proof(cases)
        if node.proof is not None:
            return True
        end, node.split = followed(masks, node, found)
        if node.split is not None:
            node.children, node.is_copied = self._split(node, node.split), True
            for child in node.children:
                child.columns = self._first_columns(child.known)
                self._push(child)
        elif isinstance(end.proof, DualGuess):
            node.proof = self.others.proof_by(end.proof.multipliers, cases)
        elif end.proof is None and end not in self.stuck:
            node.bound = max(node.bound, end.bound)
            self._push(node)  # after that one
            return True
        return node.proof is not None or node.split is not None

    def _look_at(self, node: WidthNode) -> None:
        setting = self.setting
        cases = cases_of(setting.masks, node.known)
        nothing = excluding(self.problem, list(cases)) if np.isinf(setting.upper) else None
        if nothing is not None and self.excludes(nothing):
            self.nodes += 1
            node.proof, node.columns = nothing, {}
            return
        if (known := self.others.proof(list(cases))) is not None:
            node.proof, node.columns = known, {}
            return
        columns = {case: list(node.columns.get(case, ())) for case in cases}
        node.relaxed = relaxed = Relaxation(setting, list(cases), columns)
        relaxed.solve()
        self.nodes += 1
        node.bound = max(node.bound, relaxed.lower)
        if relaxed.proof is None:
            self.incumbents.from_pieces([(p.case.mask, p.case.sign, p.direction) for p in relaxed.pieces])
            if relaxed.value >= setting.goal * (1.0 - setting.tol):  # which has come down
                relaxed.solve()
        node.proof = relaxed.proof or self._excluded(relaxed)
        self.others.add_pieces([*relaxed.pieces, *relaxed.beyond])
        if node.proof is not None:
            node.columns = {}
            if relaxed.proof is not None:
                self.others.add(relaxed.proof.multipliers)
            return
        self._branch(node, relaxed)

    def _branch(self, node: WidthNode, relaxed: Relaxation) -> None:
        """Split the state, and what is below it as long as that holds the pieces of its relaxed problem."""
        masks, rows = self.setting.masks, self.problem.instance.rows
        pressure = np.where(relaxed.forced, np.abs(relaxed.multipliers), 0.0)
        points = [int(i) for i in np.argsort(-pressure, kind="stable")[:MOST_FORCED] if relaxed.forced[i]]
        waiting, splits = [node], 0
        while waiting:
            here = waiting.pop(0)
            cases = cases_of(masks, here.known)
            pieces = None if splits >= MOST_HELD else held(rows, relaxed.pieces, cases)
            if here is not node and (pieces is None or not is_crowded(pieces, cases)):
                here.columns = {case: relaxed.inherited(case) for case in cases}
                self._push(here)
                continue
            here.split = split_of(self.setting, here.known, relaxed.pieces, relaxed.multipliers)
            here.columns = {}
            if here.split is None:
                self.stuck.append(here)
                continue
            splits += 1
            here.children = self._split(here, here.split)
            waiting += [end for child in here.children if (end := self._forced(child, points)) is not None]

    def _split(self, node: WidthNode, split: Split) -> tuple[WidthNode, WidthNode]:
        left, right = children_of(self.setting.masks, node.known, split)
        return WidthNode(left, node.bound, {}, parent=node), WidthNode(right, node.bound, {}, parent=node)

    def _forced(self, node: WidthNode, points: Sequence[int]) -> WidthNode | None:
        """The state that is left of one when all that leaves no choice is decided at these points; None: nothing is."""
        if self._is_unserved(node):
            return None
        for split, side in self.serving.steps(node.known, points):
            children = self._split(node, split)
            if not self._is_unserved(children[1 if side > 0 else 0]):
                return node
            node.split, node.children = split, children
            node = children[0 if side > 0 else 1]
        return node

    def _is_unserved(self, node: WidthNode) -> bool:
        """Whether no neuron can serve some point in the state, which is then excluded by its multiplier."""
        point = self.serving.unserved(node.known)
        if point is None:
            return False
        problem, cases = self.problem, tuple(cases_of(self.setting.masks, node.known))
        multipliers = np.zeros(len(problem.required))
        multipliers[point] = 1.0 if problem.instance.margin else self.serving.wanted[point]
        guess = StateNothing(cases, multipliers, ((np.zeros(len(multipliers)),),) * len(cases))
        node.proof = guess if self.excludes(guess) else None
        return node.proof is not None

    def _excluded(self, relaxed: Relaxation) -> StateNothing | None:
        """The proof that nothing fits in a state, where that is in question and its relaxed problem does not either."""
        if np.isfinite(self.setting.upper) or not relaxed.is_short_of_fitting:
            return None
        points = np.flatnonzero(relaxed.forced).astype(np.intp)
        found = excluding_by_cells(self.problem, relaxed.cases, points, self.setting.poll)
        return found if found is not None and self.excludes(found) else None

    # -- what is left open ------------------------------------------------------------------------------------------

    def _proved(self, root: WidthNode) -> tuple[_Found, ...]:
        """The tree in pre-order with a proof at each leaf; nothing where one of them has none."""
        found: list[_Found] = []
        for node in walk(root):
            if not node.is_cut and node.split is not None:
                found.append(node.split)
                continue
            cases = tuple(cases_of(self.setting.masks, node.known))
            proof = node.proof or self._proof_of(node, cases) or node.kept
            if proof is None:
                return ()
            found.append(proof if isinstance(proof, StateNothing | KeptLeaf) else StateProof(cases, proof))
        return tuple(found)

    def _proof_of(self, node: WidthNode, cases: Sequence[StateCase]) -> DualGuess | None:
        """A proof for a state that is left open, of the best multipliers of it and of the states in which it lies."""
        masks, above = self.setting.masks, list(upwards(node))
        if (found := original(masks, node)) is not None:
            above += upwards(followed(masks, node, found)[0])
        known = [before.relaxed for before in above if before.relaxed is not None]
        for source in sorted(known, key=lambda relaxed: -relaxed.lower)[:SOURCES]:
            if source.lower > 0 and (proof := self._proof_by(source, cases)) is not None:
                return proof
        return None

    def _proof_by(self, source: Relaxation, cases: Sequence[StateCase]) -> DualGuess | None:
        relaxed = Relaxation(self.setting, cases, {case: [] for case in cases})
        limit = source.beta
        for _ in range(ATTEMPTS):
            limit *= 1.0 + self.setting.tol / 4
            violators, proof = relaxed.prove(source.multipliers, limit, share(self.deadline, 0.5), truncate=True)
            if proof is not None or not violators:
                return proof
            limit *= 1.01
        return None


def _serving(setting: Setting) -> Serving:
    """What the outputs ask of the neurons of a search."""
    instance, masks = setting.problem.instance, setting.masks
    able = [instance.rows[:, instance.masks[mask]].any(axis=1) for mask in masks]
    wanted = np.sign(instance.targets) * (np.abs(setting.problem.required) > setting.problem.tolerances)
    wanted = np.zeros(len(wanted), np.int8) if instance.slope else wanted.astype(np.int8)
    return Serving(np.array(able), wanted, lambda known, split: children_of(masks, known, split))
