"""The best value of a loss with weight decay over networks of any width, bracketed by a network and a dual point.

    master over a few columns  ->  primal network (upper bound), c
    pricing at c               ->  columns that the master lacks; none: a proof tree (lower bound)

as `solvers.any_width.dual_cuts` does it for problems with constraints. Every network is feasible here, so that the zero
network and c at its outputs are where the search begins.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial

import numpy as np

from solvers.any_width.ascents import Ascents, multiplier_bits
from solvers.any_width.candidates import signs_of
from solvers.any_width.columns import ColumnPool, column_of
from solvers.any_width.constants import best_constant
from solvers.any_width.convex_losses import DecayInstance, scaled_decay
from solvers.any_width.endings import prove_reached, searched, time_left
from solvers.any_width.loss_master import solve_loss_master
from solvers.any_width.master import Column, MasterSolution
from solvers.any_width.records import Atoms, DualGuess, Progress, SearchOutcome
from solvers.any_width.working_set import WorkingSet
from solvers.arrays import Floats
from solvers.clock import now, poll
from solvers.instance import SearchStatus, Status
from solvers.pricing.dual_function import evaluate
from solvers.pricing.search import bound_tree
from solvers.pricing.tree import UNBOUNDED, Leaf, Tree

__all__ = ["solve_loss"]

COARSE_TO_FINE = (1.0, 0.2, 0.05, 0.01, 2e-3, 4e-4, 1e-4, 2e-5)  # how far above the largest |h| a late proof may be
MOST = 4  # networks that are kept
OWN_SHARE = 0.3  # of the time, for the network's own neurons
OWN_ROUNDS = 6  # in which the given network's neurons may go to cells beside theirs
AT_THE_EDGE = 1e-6  # of a cell, relative to the size of a preactivation
NARROWER, PATIENCE = 0.99, 60  # by which part the gap has to shrink within so many rounds
TOO_MANY = 40  # columns, from which on those without a part are dropped where the loss is smooth


def solve_loss(
    given: DecayInstance,
    start: Iterable[Column] = (),
    *,
    multipliers: Floats | None = None,
    further: Iterable[Column] = (),
    tol: float = 1e-6,
    deadline: float | None = None,
    on_progress: Callable[[Progress], None] | None = None,
    seed: int = 0,
) -> SearchOutcome:
    """Bracket the optimum to a relative gap `tol`; the arguments are those of `solvers.any_width.dual_cuts.solve`.

    multipliers (n,): for each point c_i, times y_i for labels. Those of the outcome's proof are so as well.
    """
    search = _LossSearch(given, tol, deadline, on_progress, seed)
    return search.run(list(start), list(further), multipliers)


class _LossSearch:
    def __init__(
        self,
        given: DecayInstance,
        tol: float,
        deadline: float | None,
        on_progress: Callable[[Progress], None] | None,
        seed: int,
    ) -> None:
        self.scaled = scaled_decay(given)
        self.problem = self.scaled.instance
        self.tol, self.deadline, self.on_progress, self.began = tol, deadline, on_progress, now()
        random, frame = np.random.default_rng(seed), self.scaled.frame
        self.pool = ColumnPool(frame.instance, WorkingSet(frame, random))
        self.ascents = Ascents(frame, self.pool, tol, random)
        self.networks: list[Atoms] = []
        self.best: tuple[float, Floats, float] | None = None  # bound, c, the largest |h| seen there
        self.proof: DualGuess | None = None
        self.coarser: list[DualGuess] = []
        self.own: Atoms | None = None
        self.history: list[Progress] = []

    def run(self, start: list[Column], further: list[Column], multipliers: Floats | None) -> SearchOutcome:
        """The search, and the proof of what it reached."""
        status = searched(partial(self._search, start, further, multipliers), self.began, self.deadline)
        if status is not SearchStatus.OPTIMAL:
            prove_reached(status, self.deadline, self._prove_late)
        unscaled = self.scaled.unscaled
        return SearchOutcome(
            status,
            self.proof and self.scaled.unscaled_proof(self.proof),
            tuple(map(unscaled, self.networks[:3])),
            self.own and unscaled(self.own),
            tuple(self.history),
            tuple(map(self.scaled.unscaled_proof, self.coarser)),
        )

    # -- the rounds ------------------------------------------------------------------------------------------------

    def _search(self, start: list[Column], further: list[Column], multipliers: Floats | None) -> SearchStatus:
        targets, loss = self.problem.data.targets, self.problem.loss
        self._record(self.problem.nothing)
        points = [loss.slopes(targets, np.zeros(len(targets)))]
        if self.problem.bias is not None:
            alone = replace(self.problem.nothing, bias=best_constant(self.problem))
            self._record(replace(alone, value=self.problem.value_of(alone)))
            points.append(loss.slopes(targets, np.full(len(targets), alone.bias)))
        if multipliers is not None:
            steep = self.scaled.values / self.scaled.outputs
            points.append(loss.admissible(targets, multipliers * loss.sides(targets) / steep))
        columns = [*further, *self._constants()]
        for point in map(self._rounded, points):
            new, largest = self._violators(point, {})
            self._remember(point, largest)
            columns += new
        self.pool.add(start)
        if len(self.pool):
            self._solve_own()
        self.pool.add(columns)
        return self._rounds()

    def _constants(self) -> list[Column]:
        """With a free bias, columns of constants, so that c of every master has the sum 0."""
        data = self.problem.data
        return [
            Column(mask, sign, np.full(data.points, side > 0))
            for mask, seen in enumerate(data.masks)
            if self.scaled.frame.is_free(seen)
            for sign in (1, -1)
            for side in ((1, -1) if data.slope else (1,))
        ]

    def _solve_own(self) -> None:
        """The best network of the given columns, and of those beside them that it leads to.

        Of all these columns those in use are kept for the search over all widths.
        """
        columns = list(self.pool.columns.values())
        for _ in range(OWN_ROUNDS):
            solution = solve_loss_master(self.problem, columns, time_limit=time_left(self.deadline))
            if solution.status is Status.FAILED or self._is_past(OWN_SHARE):
                return
            before = self.own
            self.own = self._record(self._atoms(solution, columns))
            if before is not None and self.own.value >= before.value * (1.0 - self.tol / 10):
                self.own = before
                return
            sizes = np.linalg.norm(solution.directions, axis=1)
            used = sizes > 1e-7 * sizes.sum()
            self.pool.keep_only(column for column, is_used in zip(columns, used, strict=True) if is_used)
            beside = [
                self._crossed(column, u, solution) for column, u in zip(columns, solution.directions, strict=True)
            ]
            self.pool.add(column for column, is_used in zip(beside, used, strict=True) if is_used)
            if all(self.pool.key(one) == self.pool.key(other) for one, other in zip(beside, columns, strict=True)):
                return
            columns = beside

    def _crossed(self, column: Column, direction: Floats, solution: MasterSolution) -> Column:
        """The column beside the edge at which this neuron stands, on whose other side the objective falls; or itself.

        At an edge x_i . u = 0 the sides are told by the gradient of the objective: u moves along s sum c_i a_i x_i.
        """
        data = self.problem.data
        z = data.rows @ direction
        sizes = np.linalg.norm(data.rows, axis=1) * np.linalg.norm(direction)
        edge = np.abs(z) <= AT_THE_EDGE * sizes
        if not edge.any() or not np.any(direction):
            return column
        slopes = np.where(column.on, 1.0, data.slope)
        pull = np.zeros(data.columns)
        seen = data.masks[column.mask]
        pull[seen] = column.sign * (solution.multipliers * slopes) @ data.rows[:, seen]
        on = np.where(
            edge,
            data.rows @ (pull - self.problem.price * direction / max(np.linalg.norm(direction), 1e-300)) > 0,
            column.on,
        )
        return replace(column, on=on)

    def _rounds(self) -> SearchStatus:
        """Master, pricing, what it adds, until the bracket is closed, or for long no narrower."""
        narrowest, since = np.inf, 0
        while True:
            self.pool.round += 1
            if self._gap() < NARROWER * narrowest:
                narrowest, since = self._gap(), self.pool.round
            if self.pool.round > since + PATIENCE:
                return SearchStatus.STALLED
            poll()
            columns = list(self.pool.columns.values())
            if not columns and self.problem.bias is None:
                return self._settled()
            solution = solve_loss_master(self.problem, columns, time_limit=time_left(self.deadline))
            if solution.status is Status.FAILED:
                return SearchStatus.STALLED
            self._record(self._atoms(solution, columns))
            seeds: dict[int, list[Floats]] = {}
            for column, direction in zip(columns, solution.directions, strict=True):
                if np.any(direction):
                    seeds.setdefault(column.mask, []).append(direction)
            c = self._rounded(solution.multipliers)
            new, largest = self._violators(c, seeds)
            self._remember(c, largest)
            self._report()
            added = self.pool.add(new)
            self._drop_idle(columns, solution)
            if added and self._gap() > self.tol / 2:
                continue
            ended = self._settled()
            if ended is SearchStatus.OPTIMAL or not (added or len(self.pool) > len(columns)):
                return ended

    def _drop_idle(self, columns: list[Column], solution: MasterSolution) -> None:
        """Leave out columns without a part where there are many; not for a loss of corners, where that may cycle."""
        if len(self.pool) <= TOO_MANY or not self.problem.loss.is_smooth:
            return
        sizes = np.linalg.norm(solution.directions, axis=1)
        idle = {self.pool.key(c) for c, size in zip(columns, sizes, strict=True) if size <= 1e-7 * sizes.sum()}
        for key in idle:
            self.pool.columns.pop(key, None)
            self.pool.last_used.pop(key, None)

    def _settled(self) -> SearchStatus:
        """OPTIMAL where a proof of the best dual point closes the bracket; violators that it meets become columns."""
        if self.best is None:
            return SearchStatus.STALLED
        _, c, largest = self.best
        proof, violators, seen = self._prove(c, max(largest, self.problem.price) * (1.0 + self.tol / 20), None)
        if proof is None:
            self.best = (self.problem.bound(c, seen), c, seen)
            self.pool.add(violators)
            if self.proof is not None and self.proof.lower > self.best[0]:
                self.best = self.proof.lower, self.proof.multipliers, self.proof.beta
            return SearchStatus.STALLED
        self._keep(proof)
        self._report()
        return SearchStatus.OPTIMAL if self._gap(proof.lower) <= self.tol else SearchStatus.STALLED

    # -- its parts -------------------------------------------------------------------------------------------------

    def _atoms(self, solution: MasterSolution, columns: list[Column]) -> Atoms:
        sizes = np.linalg.norm(solution.directions, axis=1)
        keep = sizes > 1e-9 * max(float(sizes.sum()), 1e-300)
        masks = np.array([column.mask for column in columns], np.intp)
        atoms = Atoms(solution.directions[keep], signs_of(columns)[keep], masks[keep], 0.0, solution.bias)
        return replace(atoms, value=self.problem.value_of(atoms))

    def _record(self, atoms: Atoms) -> Atoms:
        self.networks = sorted([*self.networks, atoms], key=lambda one: one.value)[:MOST]
        return atoms

    def _rounded(self, c: Floats) -> Floats:
        """c on a dyadic grid and admissible; with a free bias, hidden or of the output, its sum is exactly zero."""
        largest = float(np.abs(c).max(initial=0.0))
        if largest <= 0:
            return np.zeros_like(c)
        quantum = 2.0 ** (np.floor(np.log2(largest)) - multiplier_bits(self.tol) - 4)
        rounded = np.trunc(c / quantum) * quantum
        ends = np.isin(np.abs(c), np.abs([self.problem.loss.low, self.problem.loss.high]))
        rounded = np.where(ends, c, rounded)
        free = self.problem.data.free and any(self.scaled.frame.is_free(seen) for seen in self.problem.data.masks)
        return _balanced(rounded) if free or self.problem.bias == 0 else rounded

    def _violators(self, c: Floats, seeds: dict[int, list[Floats]]) -> tuple[list[Column], float]:
        """Columns with |h| above the price, and the largest |h| seen."""
        return self.ascents.columns(c, self.problem.price * (1.0 + self.tol / 10), seeds=seeds or None)

    def _remember(self, c: Floats, largest: float) -> None:
        bound = self.problem.bound(c, largest)
        if self.best is None or bound > self.best[0]:
            self.best = bound, c, largest

    def _gap(self, lower: float | None = None) -> float:
        """The relative gap to a lower bound, by default that of the best dual point."""
        known = (self.best[0] if self.best else 0.0) if lower is None else lower
        upper = self.networks[0].value
        return upper / known - 1.0 if known > 0 else float(upper > 0) * np.inf if upper > 0 else 0.0

    def _keep(self, proof: DualGuess) -> None:
        if self.proof is None or proof.lower > self.proof.lower:
            if self.proof is not None:
                self.coarser = [self.proof]
            self.proof = proof

    def _is_past(self, share: float) -> bool:
        """Whether this share of the time is gone, where there is a limit."""
        return self.deadline is not None and now() > self.began + share * (self.deadline - self.began)

    def _report(self) -> None:
        best = self.best[0] if self.best else 0.0
        lower, upper = best * self.scaled.values, self.networks[0].value * self.scaled.values
        n = self.problem.data.points
        progress = Progress(self.pool.round, lower, upper, len(self.pool), n, now() - self.began)
        self.history.append(progress)
        if self.on_progress is not None:
            self.on_progress(progress)

    # -- proofs ----------------------------------------------------------------------------------------------------

    def _prove(
        self, c: Floats, beta: float, deadline: float | None, *, truncate: bool = False
    ) -> tuple[DualGuess | None, list[Column], float]:
        """Trees for |h| <= beta at c; or columns that violate it, and the largest |h| among them."""
        data = self.problem.data
        support = np.flatnonzero(c)
        trees: list[Tree] = []
        violators: list[Column] = []
        largest = beta
        for mask, seen in enumerate(data.masks):
            rows = data.rows[np.ix_(support, seen)]
            for sign in (1, -1):
                poll()
                if not len(seen):
                    trees.append(Tree([Leaf(np.zeros(len(support)))], 0.0, np.empty((0, 0)), 1))
                    continue
                tree = bound_tree(
                    rows,
                    sign * c[support],
                    data.slope,
                    beta,
                    free=self.scaled.frame.is_free(seen),
                    deadline=self.deadline if deadline is None else deadline,
                    truncate=truncate,
                    max_violators=40,
                )
                if len(tree.violators):
                    violators += [column_of(data, mask, sign, u) for u in tree.violators]
                    reached = evaluate(rows, sign * c[support], data.slope, tree.violators)
                    largest = max(largest, float(reached.max()))
                trees.append(tree)
        bound = max((tree.bound for tree in trees), default=0.0)
        if violators or not bound < UNBOUNDED / 1e6:
            return None, violators, largest
        above = max(bound, self.problem.price)
        return DualGuess(c, above, support, tuple(trees), self.problem.bound(c, above)), [], largest

    def _without_ascents(self) -> tuple[Floats, float]:
        """c of the network without neurons, and sum_i |c_i| ||x_i||, which no |h(u)| / ||u|| is above."""
        data = self.problem.data
        body = data.rows[:, :-1] if data.free else data.rows
        c = self._rounded(self.problem.loss.slopes(data.targets, np.zeros(data.points)))
        return c, float(np.abs(c) @ np.linalg.norm(body, axis=1))

    def _prove_late(self, seconds: float) -> None:
        """After an early end: prove the best dual point, coarsely first, then more finely while time is left."""
        limit = now() + seconds
        if self.best is None:
            self._remember(*self._without_ascents())
        for slack in COARSE_TO_FINE:
            if self.best is None or (self.proof is not None and now() >= limit):
                return
            _, c, largest = self.best
            target = max(largest, self.problem.price) * (1.0 + slack)
            if self.proof is not None and self.problem.bound(c, target) <= self.proof.lower:
                continue
            proof, _, seen = self._prove(c, target, limit, truncate=True)
            if proof is None:
                self.best = self.problem.bound(c, seen), c, seen
                continue
            self._keep(proof)
            if proof.beta > target:
                return


def _balanced(rounded: Floats) -> Floats:
    """Numbers on a grid, made to have the sum 0: what is too much is taken from the largest that can give it."""
    surplus = float(rounded.sum())
    if surplus == 0:
        return rounded
    able = np.flatnonzero(rounded * surplus > surplus**2)
    if not len(able):
        return np.zeros_like(rounded)
    chosen = able[np.argmax(np.abs(rounded[able]))]
    rounded = rounded.copy()
    rounded[chosen] -= surplus
    return rounded
