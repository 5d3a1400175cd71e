"""Is an exact KKT point a local optimum? Every choice of sides at its ties is decided; a dual point or a descent.

One dual point is tried for all choices at once; where there is none, the choices are split, so that the proof is a tree
whose leaves have dual points of their own; a single choice without one has a direction of descent.

Source: `docs/mathematics.md`, 7.1 "The criterion"; the points are those of arXiv:2110.02732, section 4.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial

from verify.checker.dual_trees import Dual
from verify.checker.local import Local, NotLocal
from verify.checker.objectives import is_exact
from verify.checker.states import HiddenDual
from verify.deciders.local_optimality.choices import SIGN, Choice, KKTNeighbourhood
from verify.deciders.local_optimality.descent import descent, segment
from verify.deciders.local_optimality.duals import common_dual
from verify.deciders.local_optimality.hidden_descent import hidden_descent
from verify.deciders.local_optimality.multipliers import multiplier_dimension
from verify.deciders.local_optimality.proofs import leaf
from verify.deciders.proposal import Proposal, certified
from verify.deciders.simplified import without_copies
from verify.deciders.time_limits import is_late
from verify.deciders.witnesses import distance
from verify.problem.members import trains_all
from verify.problem.network import Network
from verify.problem.phrases import named
from verify.problem.problem import Problem

__all__ = ["local_optimality", "multiplier_dimension"]

ROUNDED = "no network that is written down is proved a local optimum of a loss whose values are irrational, and rounded"

MOST_NODES = 4000
"""Nodes of the tree of choices after which the question stays open."""

MOST_CELLS = 3000
"""Cells of all neurons together beyond which they are not listed."""


def local_optimality(problem: Problem, network: Network, given: Network, *, deadline: float | None = None) -> Proposal:
    """Whether `network`, an exact KKT point (the given one or near it), is a local optimum.

    deadline: a moment of `solvers.clock.now()` after which the question stays open.
    Sound. Complete for depth 2 without sharing up to `MOST_NODES`, rounding in degenerate programs and neurons with a
    free bias but without weights.
    """
    search = partial(_searched, network=network, given=given, deadline=deadline)
    return without_copies(problem, given, search) if problem.asks_fit else search(problem)


def _searched(problem: Problem, network: Network, given: Network, deadline: float | None) -> Proposal:
    """`local_optimality`, with the points as they are."""
    sizes = [sum(1 for row in problem.rows if any(row[c] for c in mask)) for mask in network.architecture.masks]
    pairs = zip(network.output_weights, network.hidden_weights, strict=True)
    zero = [not v if trains_all(problem.trained) else bool(v) and not any(w) for v, w in pairs]
    if any(
        is_zero and _cells(size, len(mask)) > MOST_CELLS
        for size, is_zero, mask in zip(sizes, zero, network.architecture.masks, strict=True)
    ):
        return Proposal(reason="a neuron without weights can move into too many cells")
    search = _ChoiceSearch(KKTNeighbourhood(problem, network), given, deadline)
    if sum(map(len, search.nearby.cells)) > MOST_CELLS:
        return Proposal(reason="the neurons can move into too many cells")
    return search.run()


def _cells(points: int, dimension: int) -> int:
    from solvers.programs.arrangements import generic_count

    return generic_count(points, max(dimension, 1)) if points else 1


@dataclass
class _ChoiceSearch:
    nearby: KKTNeighbourhood
    given: Network
    deadline: float | None
    nodes: list[tuple[int, int | None] | Dual | HiddenDual] = field(default_factory=list)

    def run(self) -> Proposal:
        """Every choice is looked at: one that stays open leaves the question open only if no other has a descent."""
        pending: list[dict[Choice, int]] = [{}]
        visited, is_open = 0, False
        why = f"more than {MOST_NODES} choices of sides would have to be decided"
        while pending:
            visited += 1
            if visited > MOST_NODES:
                return Proposal(reason=why)
            if is_late(self.deadline):
                return Proposal(reason="the time limit was reached among the choices of sides")
            path = pending.pop()
            cases = self.nearby.cases(path)
            dual = common_dual(self.nearby, cases)
            node = None if dual is None else leaf(self.nearby, cases, dual)
            if node is not None:
                self.nodes.append(node)
                continue
            choice = self.nearby.next_choice(path)
            if choice is None:
                search = descent if self.nearby.is_whole else hidden_descent
                proof = search(self.nearby, self.given, path)
                if proof is not None:
                    return self._refuted(proof)
                is_open = True
                why = "at one choice of sides neither multipliers nor a descent could be made exact"
                continue
            j, i = choice
            self.nodes.append((j, None if i == SIGN else i))
            pending += [{**path, choice: -1}, {**path, choice: 1}]
        return Proposal(reason=why) if is_open else self._proved()

    def _refuted(self, proof: NotLocal) -> Proposal:
        _, moves = segment(self.nearby.problem, self.nearby.network, proof)
        movers = [j for j, row in enumerate(moves) if any(row)]
        end = Network(self.nearby.network.architecture, proof.end)
        moved = [named(movers, "neuron")] if movers else []
        moved += ["the output bias"] * (end.output_bias != self.nearby.network.output_bias)
        reason = f"better networks lie arbitrarily near: move {' and '.join(moved)}"
        return Proposal(certificate=proof, reason=reason)

    def _proved(self) -> Proposal:
        subject = self.nearby.network
        moved = subject is not self.given
        proof = Local(
            nodes=tuple(self.nodes),
            subject=subject.parameters if moved else None,
            moved=distance(subject, self.given),
        )
        if certified(self.nearby.problem, self.given, proof) is None:
            what = "the multipliers of all choices were found, but their proof was refused"
            return Proposal(reason=what if is_exact(self.nearby.problem.goal) else ROUNDED)
        count = sum(isinstance(node, Dual | HiddenDual) for node in self.nodes)
        how = "one set of multipliers serves" if count == 1 else f"{count} sets of multipliers serve"
        if self.nearby.has_ties:
            reason = f"{how} every way in which neurons can cross the data points that they touch"
        else:
            reason = f"no neuron can cross a kink at a data point, and {how} every network nearby"
        return Proposal(certificate=proof, reason=reason)
