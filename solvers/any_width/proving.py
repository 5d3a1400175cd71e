"""Proofs of dual points: closed trees over all points with a multiplier, or over few of them where all are too many."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from solvers.any_width.columns import column_of
from solvers.any_width.master import Column
from solvers.any_width.records import DualGuess, SearchOutcome
from solvers.any_width.scaling import Scaled
from solvers.any_width.working_set import ALL_POINTS
from solvers.arrays import Floats, Indices
from solvers.clock import now, poll
from solvers.instance import ProblemInstance, SearchStatus
from solvers.pricing.dual_function import evaluate
from solvers.pricing.search import bound_tree
from solvers.pricing.tree import UNBOUNDED, Leaf, Tree

COARSE_TO_FINE = (2.0, 1.0, 0.5, 0.1, 0.02, 4e-3, 8e-4, 1.6e-4, 3e-5)
MUCH_LARGER = 4  # times as many nodes: the smaller proof is kept as well
FEW_POINTS, MORE_POINTS = 10, 1.25  # proofs over the heaviest points only: of how many first, and how many times more
FEW_TOLERANCE = 4e-3  # their own gap: what the points that are left out cost is more
ALL_SHARE, FEW_SHARE = 0.35, 0.9  # of the time for a proof: when they begin, and when they end


@dataclass(frozen=True, slots=True, eq=False)
class DualPoint:
    """multipliers (n,), beta: the largest |h(u)| / ||u|| there, as far as known; lower: the bound that follows."""

    lower: float
    multipliers: Floats
    beta: float


class Prover:
    """best: the dual point with the largest bound, not yet proved. proof: the best proof; coarser: of less, smaller.

    solve_part: the outcome for some of the points to a gap, until a time of the clock; None: no proofs over few points.
    """

    def __init__(
        self,
        problem: Scaled,
        tol: float,
        deadline: float | None,
        solve_part: Callable[[ProblemInstance, float, float], SearchOutcome] | None,
    ) -> None:
        self.problem, self.tol, self.deadline, self.solve_part = problem, tol, deadline, solve_part
        self.best = DualPoint(0.0, np.zeros(len(problem.required)), 1.0)
        self.proof: DualGuess | None = None
        self.coarser: list[DualGuess] = []

    def remember(self, multipliers: Floats, beta: float) -> None:
        """Take this dual point as the best where its bound is larger."""
        value = self.problem.dual_value(multipliers)
        if beta > 0 and value / max(beta, 1e-300) > self.best.lower:
            self.best = DualPoint(value / beta, multipliers, beta)

    def drop_best(self) -> None:
        """Go back to what is proved: the best dual point was not borne out."""
        kept = self.proof
        self.best = (
            DualPoint(0.0, self.best.multipliers, 1.0)
            if kept is None
            else DualPoint(kept.lower, kept.multipliers, kept.beta)
        )

    def keep(self, proof: DualGuess) -> None:
        """Take this proof where it proves more."""
        if self.proof is None or proof.lower > self.proof.lower:
            if self.proof is not None and proof.size > MUCH_LARGER * self.proof.size:
                self.coarser.append(self.proof)
            self.proof = proof

    def prove(
        self,
        multipliers: Floats,
        beta: float,
        *,
        deadline: float | None = None,
        truncate: bool = False,
        max_violators: int = 1,
    ) -> tuple[DualGuess | None, list[Column], float]:
        """Trees for |h| <= beta at lambda; or columns that violate it, and the largest |h| among them."""
        problem, instance = self.problem, self.problem.instance
        support = np.flatnonzero(multipliers)
        value = problem.dual_value(multipliers)
        if not len(support) or value <= 0:
            return None, [], beta
        weights = problem.coefficients(multipliers)[support]
        trees: list[Tree] = []
        violators: list[Column] = []
        largest = beta
        for mask, seen in enumerate(instance.masks):
            if not len(seen):
                nothing = Tree([Leaf(np.zeros(len(support)))], 0.0, np.empty((0, 0)), 1)
                trees += [nothing, nothing]
                continue
            rows = instance.rows[np.ix_(support, seen)]
            for sign in (1, -1):
                poll()
                tree = bound_tree(
                    rows,
                    sign * weights,
                    instance.slope,
                    beta,
                    free=problem.is_free(seen),
                    deadline=deadline if deadline is not None else self.deadline,
                    truncate=truncate,
                    max_violators=max_violators,
                )
                if len(tree.violators):
                    violators += [column_of(instance, mask, sign, u) for u in tree.violators]
                    reached = evaluate(rows, sign * weights, instance.slope, tree.violators)
                    largest = max(largest, float(reached.max()))
                    if truncate:
                        return None, violators, largest
                trees.append(tree)
        bound = max(tree.bound for tree in trees)
        # 0: the data cannot be fitted, which is for the exact test to say; UNBOUNDED: a chord without a range
        if violators or not 0 < bound < UNBOUNDED / 1e6:
            return None, violators, largest
        return DualGuess(multipliers, bound, support, tuple(trees), value / bound), [], largest

    def prove_steepest(self, points: Indices, rounded: Callable[[Floats], Floats]) -> None:
        """A first bound for a free bias, where others take long: f is as steep as the steepest pair of points asks for.

        With c = (1, -1) / ||x_i - x_j|| at that pair, |h(u)| <= ||u||, and the dual value is the steepness.
        """
        problem, margin = self.problem, self.problem.instance.margin
        chosen = points if len(points) <= ALL_POINTS else points[:ALL_POINTS]
        heads, goals = problem.instance.rows[chosen, :-1], problem.required[chosen]
        if margin:
            goals = goals * problem.instance.targets[chosen]
        apart = np.linalg.norm(heads[:, None] - heads[None], axis=2)
        room = np.add.outer(problem.tolerances[chosen], problem.tolerances[chosen])
        steepness = (np.subtract.outer(goals, goals) - room) / np.where(apart > 0, apart, np.inf)
        i, j = np.unravel_index(np.argmax(steepness), steepness.shape)
        if steepness[i, j] <= 0:
            return
        multipliers = np.zeros(len(problem.required))
        multipliers[chosen[[i, j]]] = 1.0 / apart[i, j]
        multipliers[chosen[j]] *= 1.0 if margin else -1.0
        on_grid = rounded(multipliers)
        proof, _, _ = self.prove(on_grid, 1.0 + self.tol, max_violators=1)
        if proof is not None:
            self.keep(proof)
            self.remember(on_grid, proof.beta)

    def prove_best(self, seconds: float) -> None:
        """After an early end: prove the best dual point; where its tree is too large, one over few points."""
        began = now()
        slacks = [slack for slack in COARSE_TO_FINE if slack > self.tol / 4] + [self.tol / 4]
        if self.solve_part is None:
            self._prove_coarse_to_fine(slacks, began + seconds)
            return
        self._prove_coarse_to_fine(slacks, began + ALL_SHARE * seconds)
        if slacks and now() < began + FEW_SHARE * seconds:
            self.prove_few(began + FEW_SHARE * seconds)
        self._prove_coarse_to_fine(slacks, began + seconds)

    def _prove_coarse_to_fine(self, slacks: list[float], limit: float) -> None:
        """Prove the best dual point, with a coarse beta first, then finer ones while time is left; what is done, or
        would not be better than the proof there is, leaves `slacks`.

        A coarse tree is small; where even that takes too long, the open cones become leaves as they are.
        """
        lower, multipliers, beta = self.best.lower, self.best.multipliers, self.best.beta
        while lower > 0 and slacks and (self.proof is None or now() < limit):
            target = beta * (1.0 + slacks[0])
            if self.proof is not None and self.problem.dual_value(multipliers) <= self.proof.lower * target:
                slacks.pop(0)
                continue
            proof, _, largest = self.prove(multipliers, target, deadline=limit, truncate=True)
            if proof is None and largest > target:
                beta = largest
                continue
            if proof is None:
                return
            self.keep(proof)
            if proof.beta > target:
                return
            slacks.pop(0)

    def prove_few(self, limit: float) -> None:
        """Solve the problem of the heaviest points of the best dual point, of more and more of them; then of those that
        hold the optimum there and those that its network misses most.

        The optimum of few points is at most that of all; a tree over few is so much smaller that it proves more.
        """
        given = self.problem.given
        weights = np.abs(self.best.multipliers) * self.problem.row_scales
        heaviest = np.argsort(-weights, kind="stable")[: np.count_nonzero(weights)]
        count, chosen = FEW_POINTS, heaviest[:FEW_POINTS]
        while self.solve_part is not None and 0 < len(chosen) < len(weights) and now() < limit:
            chosen = np.sort(chosen)
            part = replace(given, rows=given.rows[chosen], targets=given.targets[chosen])
            found = self.solve_part(part, max(self.tol, FEW_TOLERANCE), limit)
            for proof in (*found.coarser, found.proof):
                if proof is not None:
                    self.keep(self.problem.of_part(proof, chosen))
            if found.status is SearchStatus.INTERRUPTED:
                raise KeyboardInterrupt
            count = math.ceil(MORE_POINTS * count)
            chosen = heaviest[:count] if count < len(heaviest) else self._held_and_missed(found, chosen, count)

    def _held_and_missed(self, found: SearchOutcome, chosen: Indices, count: int) -> Indices:
        """Up to `count` points: those with multipliers in this part's proof, and those its network misses most; none
        where it misses none.
        """
        if not found.candidates or found.proof is None:
            return np.zeros(0, np.intp)
        given, atoms = self.problem.given, found.candidates[0]
        z = given.rows @ atoms.directions.T
        outputs = np.maximum(z, given.slope * z) @ atoms.signs.astype(float)
        missed = 1.0 - given.signs * outputs if given.margin else np.abs(outputs - given.targets) - given.tolerance
        missed[chosen] = 0.0
        held = chosen[found.proof.support]
        worst = np.argsort(-missed, kind="stable")[: max(count - len(held), 1)]
        worst = worst[missed[worst] > 0.0]
        return np.union1d(held, worst) if len(worst) else worst
