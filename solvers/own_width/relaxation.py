"""The relaxed problem of one state: each neuron may be several, all in its own cone. Rounds of master and pricing.

Its value is a lower bound for all networks in the state; the multipliers are its proof (`docs/mathematics.md`, 12.1
"The bound of a state"). `solvers.any_width.master` is the master, with the cones of the cases.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from solvers.any_width.master import Column, MasterSolution, solve_master
from solvers.any_width.records import DualGuess
from solvers.arrays import Floats, Indices
from solvers.instance import Status
from solvers.own_width.pricing import CasePricing
from solvers.own_width.setting import Setting, placed
from solvers.own_width.states import StateCase
from solvers.pricing.tree import Leaf, Tree

__all__ = ["Piece", "Relaxation"]

PENALTIES = (1e2, 1e4, 1e6)  # for what is not fitted, in the scaled problem; raised where it binds and decides
ROUNDS = 40
FEW_COLUMNS = 40  # of a case: beyond these, columns that the master does not use are dropped ...
LESS = 1e-6  # ... where its value is less by this part than when that was done last: idle ones still bound multipliers
CLOSE = 0.02  # a bound within this part of the relaxed value is good enough to split the state ...
FAR = 0.9  # ... and so is any where the relaxed value is below this part of the goal
UNMET = 0.5  # of the relaxed value is paid for what is not fitted: nothing may fit
PRESSED = 1e-6  # a multiplier below this part of the largest is 0
IN_USE = 1e-7  # a direction below this part of the sum of all is 0


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """A direction (D,) in which the relaxed problem has a neuron, and its case."""

    case: StateCase
    direction: Floats


class Relaxation:
    """columns: of each case.   value: of the relaxed problem over them.   pieces: its directions.
    lower, multipliers: the best bound seen, not proved.   proof: of at least `setting.goal`; None where there is none.
    forced (n,): the points with multipliers in the last master.   beyond: directions at which a proof failed.
    """

    def __init__(self, setting: Setting, cases: Sequence[StateCase], columns: dict[StateCase, list[Column]]) -> None:
        self.setting, self.cases, self.columns = setting, tuple(cases), columns
        self.value, self.lower, self.slack, self.dropped_at = np.inf, 0.0, 0.0, np.inf
        self.multipliers = np.zeros(len(setting.problem.required))
        self.forced = np.zeros(len(setting.problem.required), bool)
        self.beta = 1.0
        self.pieces: list[Piece] = []
        self.beyond: list[Piece] = []
        self.proof: DualGuess | None = None
        setting.working.join(np.array(sorted({i for case in cases for i, _ in case.cone}), np.intp))

    def solve(self) -> None:
        """Rounds until the bound reaches the goal and is proved, or does not and the state is to be split."""
        penalty = 0
        for _ in range(ROUNDS):
            self.setting.poll()
            solution, columns = self._master(PENALTIES[penalty])
            if solution.status is Status.FAILED:
                return
            if self._grow(solution, columns):
                continue
            multipliers = self.setting.rounded(solution.multipliers, self.cases)
            reached = self.setting.problem.dual_value(multipliers)
            if reached <= 0:
                self.value = max(reached, 0.0)
                return
            goal = self.setting.goal
            limit = max(1.0, reached / goal) if goal > 0 else 1.0
            violators, beta = self._price(multipliers, limit)
            self._remember(multipliers, reached, beta)
            if not violators and reached >= goal:
                violators, self.proof = self.prove(multipliers, limit)
                if self.proof is not None:
                    return
            if not violators or not self._add(violators):
                if self._binds(solution, PENALTIES[penalty]) and penalty + 1 < len(PENALTIES):
                    penalty += 1
                    continue
                return
            if self._is_to_be_split(solution, goal, PENALTIES[penalty]):
                return

    @property
    def is_short_of_fitting(self) -> bool:
        """Whether most of the relaxed value is for what is not fitted."""
        return self.slack > UNMET * self.value

    def _master(self, penalty: float) -> tuple[MasterSolution, list[tuple[StateCase, Column]]]:
        problem = self.setting.problem
        columns = [(case, column) for case in self.cases for column in self.columns[case]]
        solution = solve_master(
            problem.instance,
            problem.required,
            [column for _, column in columns],
            self.setting.working.points,
            penalty,
            tolerances=problem.tolerances if problem.instance.tolerance else None,
        )
        if solution.status is not Status.FAILED:
            self.value, self.slack = solution.value, solution.slack * penalty
            pressure = np.abs(solution.multipliers)
            self.forced = pressure > PRESSED * pressure.max(initial=0.0)
            sizes = np.linalg.norm(solution.directions, axis=1)
            used = sizes > IN_USE * max(float(sizes.sum()), 1e-300)
            self.pieces = [
                Piece(case, u) for (case, _), u, keep in zip(columns, solution.directions, used, strict=True) if keep
            ]
            self._drop_idle(columns, used.tolist())
        return solution, columns

    def _drop_idle(self, columns: list[tuple[StateCase, Column]], used: list[bool]) -> None:
        if self.value > (1.0 - LESS) * self.dropped_at:
            return
        for case in self.cases:
            if len(self.columns[case]) > FEW_COLUMNS:
                self.dropped_at = self.value
                self.columns[case] = [
                    column for (where, column), keep in zip(columns, used, strict=True) if keep and where == case
                ]

    def _grow(self, solution: MasterSolution, columns: list[tuple[StateCase, Column]]) -> int:
        """How many points were taken in that the relaxed network misses."""
        working = self.setting.working
        if working.is_whole():
            return 0
        signs = np.array([column.sign for _, column in columns], np.int8)
        return working.grow(self.setting.problem.outputs(solution.directions, signs), self.setting.tol / 20)

    def _price(self, multipliers: Floats, limit: float) -> tuple[list[tuple[StateCase, Column]], float]:
        """Columns of directions beyond the limit, and the largest s h seen, at least 1."""
        coefficients = self.setting.problem.coefficients(multipliers)
        support = self._support(multipliers)
        found: list[tuple[StateCase, Column]] = []
        largest = 1.0
        for case in self.cases:
            seen = self.setting.problem.instance.masks[case.mask]
            if not len(seen):
                continue
            self.setting.poll()
            seeds = [piece.direction[seen] for piece in self.pieces if piece.case == case]
            pricing = CasePricing.of(self.setting.problem, case, coefficients, support)
            directions, values = pricing.maxima(np.array(seeds).reshape(len(seeds), len(seen)), self.setting.random)
            if not len(values):
                continue
            largest = max(largest, float(values[0]))
            beyond = directions[values > limit * (1.0 + self.setting.tol / 10)]
            found += [(case, self.setting.column(case, u)) for u in beyond]
        return found, largest

    def _support(self, multipliers: Floats) -> Indices:
        decided = {i for case in self.cases for i, _ in case.cone}
        return np.union1d(np.flatnonzero(multipliers), np.array(sorted(decided), np.intp)).astype(np.intp)

    def _remember(self, multipliers: Floats, reached: float, beta: float) -> None:
        if reached / beta > self.lower:
            self.lower, self.multipliers, self.beta = reached / beta, multipliers, beta

    def prove(
        self, multipliers: Floats, limit: float, deadline: float | None = None, *, truncate: bool = False
    ) -> tuple[list[tuple[StateCase, Column]], DualGuess | None]:
        """Trees for s h <= limit in each case, or columns of directions beyond it; neither where the trees are too
        large.
        """
        problem, support = self.setting.problem, self._support(multipliers)
        coefficients = problem.coefficients(multipliers)
        trees: list[Tree] = []
        found: list[tuple[StateCase, Column]] = []
        for case in self.cases:
            if not len(problem.instance.masks[case.mask]):
                trees.append(Tree([Leaf(np.zeros(len(support)))], 0.0, np.empty((0, 0)), 1))
                continue
            self.setting.poll()
            pricing = CasePricing.of(problem, case, coefficients, support)
            tree = pricing.tree(limit, deadline, truncate=truncate)
            found += [(case, self.setting.column(case, u)) for u in tree.violators]
            self.beyond += [self._piece(case, u) for u in tree.violators]
            trees.append(tree)
        bound = max((tree.bound for tree in trees), default=np.inf)
        if found or not np.isfinite(bound):
            return found, None
        bound = max(bound, limit * (1.0 - 1e-9)) if bound <= limit else bound
        lower = problem.dual_value(multipliers) / bound
        if lower < self.setting.goal * (1.0 - self.setting.tol / 8) and not truncate:
            return [], None
        return [], DualGuess(multipliers, bound, support, tuple(trees), lower)

    def _piece(self, case: StateCase, direction: Floats) -> Piece:
        """Of a direction over the columns that the mask sees."""
        whole = np.zeros(self.setting.problem.instance.rows.shape[1])
        whole[self.setting.problem.instance.masks[case.mask]] = direction
        return Piece(case, whole)

    def _add(self, violators: Iterable[tuple[StateCase, Column]]) -> int:
        added = 0
        points = self.setting.working.points
        instance = self.setting.problem.instance
        known = {case: {column.key(instance, points) for column in self.columns[case]} for case in self.cases}
        for case, column in violators:
            key = column.key(instance, points)
            if key not in known[case]:
                known[case].add(key)
                self.columns[case].append(column)
                added += 1
        return added

    def _binds(self, solution: MasterSolution, penalty: float) -> bool:
        """Whether slack is paid for, so that a larger penalty gives a larger bound."""
        return solution.slack * penalty > self.setting.tol / 20 * solution.value

    def _is_to_be_split(self, solution: MasterSolution, goal: float, penalty: float) -> bool:
        """Whether the relaxed value, an upper bound of what this state can prove, is below the goal, and well known."""
        if self._binds(solution, penalty) or solution.value >= goal:
            return False
        return self.lower >= (1.0 - CLOSE) * solution.value or solution.value < FAR * goal

    def inherited(self, case: StateCase) -> list[Column]:
        """The columns of this state that a case of a child can use."""
        decided = dict(case.cone)
        return [
            placed(column, case)
            for parent in self.cases
            if (parent.mask, parent.sign) == (case.mask, case.sign) and parent.contains(decided)
            for column in self.columns[parent]
        ]
