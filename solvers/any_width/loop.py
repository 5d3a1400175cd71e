"""The rounds of master and pricing: `solvers.any_width.dual_cuts` says how they fit together."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from solvers.any_width.ascents import Ascents
from solvers.any_width.candidates import Candidates
from solvers.any_width.columns import ColumnPool
from solvers.any_width.endings import SEARCH_SHARE, prove_reached, searched, time_left
from solvers.any_width.master import Column, MasterSolution, solve_master
from solvers.any_width.proving import Prover
from solvers.any_width.records import Atoms, Progress, SearchOutcome
from solvers.any_width.scaling import scaled
from solvers.any_width.working_set import WorkingSet
from solvers.arrays import Floats
from solvers.clock import now
from solvers.instance import ProblemInstance, SearchStatus, Status

FIRST_PENALTY = 100.0  # in the scaled problem, where rows and targets are about 1
MAX_PENALTY = 1e10
OWN_ROUNDS = 20


class Loop:
    """One search, of an instance whose free bias some mask sees. is_part: the instance is some points of another."""

    def __init__(
        self,
        instance: ProblemInstance,
        tol: float,
        deadline: float | None,
        on_progress: Callable[[Progress], None] | None,
        seed: int,
        *,
        is_part: bool = False,
    ) -> None:
        self.problem = scaled(instance)
        self.tol, self.deadline, self.on_progress = tol, deadline, on_progress
        random = np.random.default_rng(seed)
        self.began = now()
        self.working = WorkingSet(self.problem, random)
        self.pool = ColumnPool(self.problem.instance, self.working)
        self.ascents = Ascents(self.problem, self.pool, tol, random)
        self.candidates = Candidates(self.problem)
        is_whole = is_part or instance.bundle > 1
        self.prover = Prover(self.problem, tol, deadline, None if is_whole else _solve_part)
        self.history: list[Progress] = []
        self.own: Atoms | None = None

    def run(self, start: list[Column], further: list[Column], multipliers: Floats | None) -> SearchOutcome:
        """The search and the proof of what it reached; arguments as of `solvers.any_width.dual_cuts.solve`."""
        search = partial(self._search, start, further, multipliers)
        status = searched(search, self.began, self.deadline, self._begin_late)
        if status is not SearchStatus.OPTIMAL:
            prove_reached(status, self.deadline, self.prover.prove_best)
        proof = self.prover.proof
        return SearchOutcome(
            status,
            proof and self.problem.unscaled_proof(proof),
            tuple(self.problem.unscaled(atoms) for atoms in self.candidates.networks[:3]),
            self.own and self.problem.unscaled(self.own),
            tuple(self.history),
            tuple(self.problem.unscaled_proof(coarse) for coarse in self.prover.coarser),
        )

    def _begin_late(self) -> None:
        if self.prover.best.lower <= 0:
            self._begin(late=True)  # for their dual point: a bound that is quickly found

    def _search(self, start: list[Column], further: list[Column], multipliers: Floats | None) -> SearchStatus:
        """Rounds until the bracket is closed or nothing helps; what is found on the way is kept."""
        if self.problem.instance.free:
            self.prover.prove_steepest(self.working.points, self.ascents.rounded)
        self.pool.add(start)
        if len(self.pool):
            self._solve_own()
        if multipliers is not None:
            self._begin_at(self.problem.scaled_multipliers(multipliers))
        self.pool.add([*further, *self._begin()])
        return self._rounds()

    def _begin_at(self, multipliers: Floats) -> None:
        """Take over a dual point: its support joins the working set, its violators the columns."""
        self.working.join(np.flatnonzero(multipliers))
        rounded = self.ascents.rounded(multipliers)
        columns, beta = self.ascents.columns(rounded, 1.0 - 1e-3)
        self.prover.remember(rounded, beta)
        self.pool.add(columns)

    def _solve_own(self) -> None:
        """The best network with the given columns only, on as many points as it takes."""
        columns = list(self.pool.columns.values())
        for _ in range(OWN_ROUNDS):
            solution = self._master(columns, MAX_PENALTY**0.5)
            if solution.status is Status.FAILED or self._late(0.3):
                break
            self.candidates.record(solution, columns)
            if not self._add_points(solution, columns):
                self._keep_near(solution, columns)
                break
        self.own = self.candidates.best

    def _keep_near(self, solution: MasterSolution, columns: list[Column]) -> None:
        """Go on with what matters to the best network of the given columns: the columns in use, the points near."""
        self.working.keep_near(self.candidates.outputs(solution, columns), solution.multipliers)
        sizes = np.linalg.norm(solution.directions, axis=1)
        self.pool.keep_only(c for c, size in zip(columns, sizes, strict=True) if size > 1e-7 * sizes.sum())

    def _rounds(self) -> SearchStatus:
        """Master, pricing, what both add, until the bracket is closed; a penalty that binds is raised."""
        penalty = FIRST_PENALTY
        stalls = 0
        while True:
            self.pool.round += 1
            if self._late():
                return SearchStatus.TIME
            keys, columns = list(self.pool.columns), list(self.pool.columns.values())
            solution = self._master(self.pool.for_master(), penalty)
            if solution.status is Status.FAILED:
                return SearchStatus.TIME if self._late() else SearchStatus.STALLED
            self.pool.mark_used(keys, solution)
            self.candidates.record(solution, columns)
            grown = self.pool.release_violated(keys, solution) or self._add_points(solution, columns)
            multipliers = self.ascents.rounded(solution.multipliers)
            new, beta = self.ascents.at_solution(multipliers, solution, columns)
            self.prover.remember(multipliers, beta)
            self._report()
            added = self.pool.add(new)
            waits = grown or (added and self.pool.round % 4)
            if not waits and self._penalty_binds(solution, penalty):
                if penalty >= MAX_PENALTY:
                    return SearchStatus.STALLED
                penalty *= 10
                continue
            if not added or self.candidates.gap(self.prover.best.lower) <= self.tol / 2:
                added += self.pool.add(self._settle(multipliers))
                if self.prover.proof is not None and self.candidates.gap(self.prover.proof.lower) <= self.tol:
                    self._report()
                    return SearchStatus.OPTIMAL
            if added or grown:
                stalls = 0
                continue
            stalls += 1
            if stalls > 2 or self._late():
                return SearchStatus.TIME if self._late() else SearchStatus.STALLED
            added = self.pool.add(self.ascents.columns(multipliers, 1.0 - 1e-3, starts=1000)[0])
            if not added:
                return SearchStatus.STALLED

    def _penalty_binds(self, solution: MasterSolution, penalty: float) -> bool:
        """Whether slack is paid for because a multiplier has reached the penalty, not by the solver's inaccuracy."""
        paid = solution.slack * penalty > self.tol / 20 * solution.value
        return paid and float(np.abs(solution.multipliers).max()) > 0.1 * penalty

    def _late(self, share: float = SEARCH_SHARE) -> bool:
        if self.deadline is None:
            return False
        return now() > self.began + share * (self.deadline - self.began)

    def _report(self) -> None:
        progress = Progress(
            self.pool.round,
            self.prover.best.lower * self.problem.unit,
            self.candidates.upper * self.problem.unit,
            len(self.pool),
            len(self.working.points),
            now() - self.began,
        )
        self.history.append(progress)
        if self.on_progress is not None:
            self.on_progress(progress)

    # -- what a round asks of its parts ----------------------------------------------------------------------------

    def _begin(self, *, late: bool = False) -> list[Column]:
        """Columns to begin with; the first dual point is remembered."""
        columns, multipliers, beta = self.ascents.first(late=late)
        self.prover.remember(multipliers, beta)
        return columns

    def _master(self, columns: list[Column], penalty: float) -> MasterSolution:
        problem = self.problem
        return solve_master(
            problem.instance,
            problem.required,
            columns,
            self.working.points,
            penalty,
            tolerances=problem.tolerances if problem.instance.tolerance else None,
            time_limit=time_left(self.deadline),
        )

    def _add_points(self, solution: MasterSolution, columns: list[Column]) -> int:
        """Take in the points that the master's network misses most; how many."""
        if self.working.is_whole():
            return 0
        added = self.working.grow(self.candidates.outputs(solution, columns), self.tol / 20)
        if added:
            self.pool.renew_keys()
        return added

    def _settle(self, multipliers: Floats) -> list[Column]:
        """Try to prove the best dual point, then the latest; the columns that violate a point are returned.

        The first estimate of beta comes from local ascents, which may miss the maximum: a point that the proof does not
        bear out is dropped.
        """
        found: list[Column] = []
        points = [self.prover.best.multipliers] if self.candidates.gap(self.prover.best.lower) <= self.tol / 2 else []
        if not points or not np.array_equal(points[0], multipliers):
            points.append(multipliers)
        for point in points:
            columns, seen = self.ascents.columns(point, 1.0 + self.tol / 10)
            if any(column not in self.pool for column in columns):
                proof = None
                found += columns
            else:
                proof, columns, _ = self.prover.prove(point, max(seen, 1.0) * (1.0 + self.tol / 4), max_violators=40)
                found += columns
            if proof is not None:
                self.prover.keep(proof)
            borne_out = proof is not None and proof.lower >= self.prover.best.lower * (1.0 - self.tol)
            cut_off = proof is None and not columns  # by the deadline: the point stands
            if np.array_equal(point, self.prover.best.multipliers) and not borne_out and not cut_off:
                self.prover.drop_best()
            if self.prover.proof is not None and self.candidates.gap(self.prover.proof.lower) <= self.tol:
                return []
        return found


def _solve_part(part: ProblemInstance, tol: float, limit: float) -> SearchOutcome:
    """The outcome for some of the points of an instance."""
    return Loop(part, tol, limit, None, 0, is_part=True).run([], [], None)
