"""The outer loop: the best value that networks of any width can reach, bracketed by a network and a dual point.

    master over a few columns and points  ->  primal network (upper bound), multipliers lambda
    pricing at lambda                     ->  columns that the master lacks; none: a proof tree (lower bound)

The dual point lambda / beta is feasible as soon as |h(u)| <= beta ||u|| for all u, whatever the master was; so the loop
may stop at any time with the best bracket so far. Values are floats: `verify.deciders.rounding` and the checker make
them exact.
Source: arXiv:2110.02732 section 2 states the max-margin problem; the dual is derived in
`docs/mathematics.md`, 5.1 "Weak duality".
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from solvers.any_width.master import Column, MasterSolution, solve_master
from solvers.clock import TimeIsUpError, now, poll, seconds_left, until
from solvers.instance import Instance, Status
from solvers.pricing.tree import UNBOUNDED, Leaf, Tree, ascend, bound_tree, crossings, evaluate, sweep_angles

Array = NDArray[np.float64]

SURE = 0.1  # a hurt point is taken to stay on its side of a column beyond this part of sum_c |x_c u_c| ...
LARGE_MASTER = 15_000  # ... in masters with more pairs of a column and a point than this
ALL_POINTS = 150  # a working set of all points up to this many
POINTS_PER_ROUND = 50
NEAR_POINTS = 60  # besides those with multipliers, after the given columns were solved on all points
COLUMNS_PER_ROUND = 24  # per mask class and sign
KEEP_COLUMNS = 100  # beyond this, columns unused for `IDLE_ROUNDS` rounds are dropped
IDLE_ROUNDS = 3
FEWEST_BITS, MOST_BITS = 20, 40  # of the multipliers: short ones make small certificates, and are exact as floats
SUPPORT_TOLERANCE = 1e-9  # multipliers below this part of the largest are set to zero
FIRST_PENALTY = 100.0  # in the scaled problem, where rows and targets are about 1
OWN_ROUNDS = 20
STARTS, LATE_STARTS = 160, 8  # of local ascents, beside the rows themselves; when no time is left
FIRST_SUPPORT, LATE_SUPPORT = 40, 20  # points with a multiplier in the first dual point
MAX_PENALTY = 1e10
COARSE_TO_FINE = (2.0, 1.0, 0.5, 0.1, 0.02, 4e-3, 8e-4, 1.6e-4, 3e-5)
MUCH_LARGER = 4  # times as many nodes: the smaller proof is kept as well
INTERRUPTED_SECONDS = 1.5  # for the proof of what was reached, after Ctrl-C ...
SEARCH_SHARE = 0.8  # of the time; the rest is for the proof
STALLED_SECONDS = 20.0  # ... and when the search stalls without a deadline
FEW_POINTS, MORE_POINTS = 10, 1.25  # proofs over the heaviest points only: of how many first, and how many times more
FEW_TOLERANCE = 4e-3  # their own gap: what the points that are left out cost is more
ALL_SHARE, FEW_SHARE = 0.35, 0.9  # of the time for a proof: when they begin, and when they end


@dataclass(frozen=True, slots=True)
class Atoms:
    """A network in the directions u_j = |v_j| w_j: directions (J, D), signs, masks (J,), value sum ||u_j||."""

    directions: Array
    signs: NDArray[np.int8]
    masks: NDArray[np.intp]
    value: float


@dataclass(frozen=True, slots=True)
class Progress:
    """One round: brackets of the optimal value (the lower one not yet proved), sizes, seconds since the start."""

    round: int
    lower: float
    upper: float
    columns: int
    points: int
    seconds: float


@dataclass(frozen=True, slots=True)
class DualProof:
    """multipliers (n,), beta, a closed tree per (mask class, sign +, -) over the support; lower: the value proved."""

    multipliers: Array
    beta: float
    support: NDArray[np.intp]
    trees: tuple[Tree, ...]
    lower: float

    @property
    def size(self) -> int:
        """The number of nodes."""
        return sum(len(tree.nodes or ()) for tree in self.trees)


@dataclass(frozen=True, slots=True)
class Outcome:
    """status: "optimal", "time", "interrupted" or "stalled". candidates: networks, best value first; own: the best
    network with the columns it was started from only; all in the instance's own scale. history: one `Progress` a round.
    coarser: proofs of less, with smaller trees, the least first, for when no time is left to make `proof` exact.
    """

    status: str
    proof: DualProof | None
    candidates: tuple[Atoms, ...]
    own: Atoms | None
    history: tuple[Progress, ...]
    coarser: tuple[DualProof, ...] = ()


def solve(
    instance: Instance,
    start: Iterable[Column] = (),
    *,
    multipliers: Array | None = None,
    further: Iterable[Column] = (),
    tol: float = 1e-6,
    deadline: float | None = None,
    on_progress: Callable[[Progress], None] | None = None,
    seed: int = 0,
) -> Outcome:
    """Bracket the optimum of the any-width problem to a relative gap `tol`; see the module.

    start: the columns of the network in question, solved on their own first (`Outcome.own`).
    multipliers (n,), further: a dual point and columns to begin with, from an earlier search.
    deadline: clock.now() at which to stop; about a fifth of the remaining time is kept for the proof.
    Ctrl-C ends the loop the same way (a second one is passed on).
    """
    loop = _Loop(_without_unseen_bias(instance), tol, deadline, on_progress, seed)
    return loop.run(list(start), list(further), multipliers)


def _without_unseen_bias(instance: Instance) -> Instance:
    """The instance without its free bias where every mask hides it: multipliers need not balance then."""
    last = instance.rows.shape[1] - 1
    if not instance.free or any(last in seen for seen in instance.masks):
        return instance
    rows = instance.rows.copy()
    rows[:, last] = 0.0
    return replace(instance, rows=rows, free=False)


def _scales(instance: Instance) -> tuple[Array, float]:
    """Powers of two (n,) that bring every row near norm 1, and one for the required outputs.

    s(x.u) is homogeneous in x, so a point may be scaled with what is required of it; a free bias needs one scale for
    all.
    """
    body = instance.rows[:, :-1] if instance.free else instance.rows
    sizes = np.abs(body).max(axis=1, initial=0.0)
    sizes[sizes == 0] = sizes.max(initial=0.0) or 1.0
    if instance.free:
        sizes[:] = sizes.max()
    scales = 2.0 ** -np.round(np.log2(sizes))
    sides = 1.0 if instance.margin else np.maximum(np.abs(instance.targets) - instance.tolerance, 0.0)
    required = np.abs((scales if not instance.free else 1.0) * sides)
    return scales, 2.0 ** -np.round(np.log2(float(np.max(required)) or 1.0))


def multiplier_bits(tol: float) -> int:
    """Multipliers are multiples of 2^-bits of the largest one: as short as the relative gap `tol` allows."""
    return int(np.clip(np.ceil(-np.log2(tol)) + 12, FEWEST_BITS, MOST_BITS))


class _Loop:
    def __init__(
        self,
        instance: Instance,
        tol: float,
        deadline: float | None,
        on_progress: Callable[[Progress], None] | None,
        seed: int,
        *,
        is_part: bool = False,
    ) -> None:
        self.given, self.is_part = instance, is_part
        self.row_scales, self.target_scale = _scales(instance)
        rows = instance.rows * self.row_scales[:, None]
        sides = np.ones(len(rows)) if instance.margin else instance.targets
        if instance.free:
            rows[:, -1] = instance.rows[:, -1]
            self.unit = float(self.row_scales[0]) / self.target_scale  # (s x, 1).(w, b) = (x, 1).(s w, b)
            self.required = sides * self.target_scale
            self.tolerances = np.full(len(rows), instance.tolerance * self.target_scale)
        else:
            self.unit = 1.0 / self.target_scale
            self.required = sides * self.row_scales * self.target_scale
            self.tolerances = instance.tolerance * self.row_scales * self.target_scale
        self.instance = replace(instance, rows=rows)
        self.tol, self.deadline, self.on_progress = tol, deadline, on_progress
        self.random = np.random.default_rng(seed)
        self.began = now()
        self.columns: dict[tuple[int, int, bytes], Column] = {}
        self.last_used: dict[tuple[int, int, bytes], int] = {}
        self.history: list[Progress] = []
        self.round = 0
        self.best_dual: tuple[float, Array, float] = (0.0, np.zeros(len(rows)), 1.0)  # lower, lambda, beta
        self.proof: DualProof | None = None
        self.coarser: list[DualProof] = []
        self.candidates: list[Atoms] = []
        self.own: Atoms | None = None
        n = len(rows)
        if n <= ALL_POINTS or not instance.margin:
            self.points = np.arange(n)
        else:
            self.points = np.sort(self.random.choice(n, ALL_POINTS, replace=False))

    def run(self, start: list[Column], further: list[Column], multipliers: Array | None) -> Outcome:
        search_end = None if self.deadline is None else self.began + SEARCH_SHARE * (self.deadline - self.began)
        try:
            with until(search_end):
                status = self._search(start, further, multipliers)
        except TimeIsUpError:
            status = "time"
            if self.best_dual[0] <= 0:
                self._first_columns(late=True)  # for their dual point: a bound that is quickly found
        except KeyboardInterrupt:
            status = "interrupted"
        if status != "optimal":
            left = STALLED_SECONDS if self.deadline is None else max(seconds_left(self.deadline), 0.2)
            self._prove_best(left if status != "interrupted" else INTERRUPTED_SECONDS)
        self.candidates.sort(key=lambda atoms: atoms.value)
        return Outcome(
            status,
            self.proof and self._unscaled_proof(self.proof),
            tuple(self._unscaled(atoms) for atoms in self.candidates[:3]),
            self.own and self._unscaled(self.own),
            tuple(self.history),
            tuple(self._unscaled_proof(proof) for proof in self.coarser),
        )

    def _search(self, start: list[Column], further: list[Column], multipliers: Array | None) -> str:
        """Rounds until the bracket is closed or nothing helps; what is found on the way is kept."""
        if self.instance.free:
            self._prove_steepest()
        self._add(start)
        if self.columns:
            self._solve_own()
        if multipliers is not None:
            self._begin_at(multipliers / self.row_scales)
        self._add([*further, *self._first_columns()])
        return self._rounds()

    # -- the loop -------------------------------------------------------------------------------------------------

    def _begin_at(self, multipliers: Array) -> None:
        """Take over a dual point: its support joins the working set, its violators the columns."""
        support = np.flatnonzero(multipliers)
        self.points = np.union1d(self.points, support)
        rounded = self._rounded(multipliers)
        columns, beta = self._ascents(rounded, 1.0 - 1e-3)
        self._remember(rounded, beta)
        self._add(columns)

    def _solve_own(self) -> None:
        """The best network with the given columns only, on as many points as it takes."""
        columns = list(self.columns.values())
        for _ in range(OWN_ROUNDS):
            solution = self._master(columns, MAX_PENALTY**0.5)
            if solution.status is Status.FAILED or self._late(0.3):
                break
            self._record(solution, columns)
            if not self._add_points(solution, columns):
                self._keep_near(solution, columns)
                break
        self.own = min(self.candidates, key=lambda atoms: atoms.value, default=None)

    def _keep_near(self, solution: MasterSolution, columns: list[Column]) -> None:
        """Go on with what matters to the best network of the given columns: the columns in use, the points with
        multipliers, and of the others the `NEAR_POINTS` with the least margins.
        """
        if len(self.points) < len(self.instance.rows):
            outputs = self._outputs(solution.directions, np.array([c.sign for c in columns], np.int8))
            margins = self.instance.targets * outputs / self.required
            held = solution.multipliers > 1e-6 * solution.multipliers.max(initial=0.0)
            margins[held] = -np.inf
            self.points = np.sort(np.argsort(margins, kind="stable")[: NEAR_POINTS + int(held.sum())])
        sizes = np.linalg.norm(solution.directions, axis=1)
        used = [c for c, size in zip(columns, sizes, strict=True) if size > 1e-7 * sizes.sum()]
        self.columns, self.last_used = {}, {}
        self._add(used)

    def _rounds(self) -> str:
        penalty = FIRST_PENALTY
        stalls = 0
        while True:
            self.round += 1
            if self._late():
                return "time"
            keys, columns = list(self.columns), list(self.columns.values())
            solution = self._solve(columns, penalty)
            if solution.status is Status.FAILED:
                return "time" if self._late() else "stalled"
            self._mark_used(keys, solution)
            self._record(solution, columns)
            grown = self._doubt(keys, solution) or self._add_points(solution, columns)
            multipliers = self._rounded(solution.multipliers)
            new, beta = self._price(multipliers, solution, columns)
            self._remember(multipliers, beta)
            self._report()
            added = self._add(new)
            waits = grown or (added and self.round % 4)
            if not waits and self._penalty_binds(solution, penalty):
                if penalty >= MAX_PENALTY:
                    return "stalled"
                penalty *= 10
                continue
            if not added or self._gap(self.best_dual[0]) <= self.tol / 2:
                added += self._add(self._settle(multipliers))
                if self.proof is not None and self._gap(self.proof.lower) <= self.tol:
                    self._report()
                    return "optimal"
            if added or grown:
                stalls = 0
                continue
            stalls += 1
            if stalls > 2 or self._late():
                return "time" if self._late() else "stalled"
            added = self._add(self._random_columns(multipliers))
            if not added:
                return "stalled"

    def _penalty_binds(self, solution: MasterSolution, penalty: float) -> bool:
        """Whether slack is paid for because a multiplier has reached the penalty, not by the solver's inaccuracy."""
        paid = solution.slack * penalty > self.tol / 20 * solution.value
        return paid and float(np.abs(solution.multipliers).max()) > 0.1 * penalty

    def _late(self, share: float = SEARCH_SHARE) -> bool:
        if self.deadline is None:
            return False
        return now() > self.began + share * (self.deadline - self.began)

    def _time_left(self) -> float:
        return np.inf if self.deadline is None else max(SEARCH_SHARE * (self.deadline - now()), 0.1)

    def _gap(self, lower: float) -> float:
        upper = min((atoms.value for atoms in self.candidates), default=np.inf)
        return upper / lower - 1.0 if lower > 0 else np.inf

    def _report(self) -> None:
        upper = min((atoms.value for atoms in self.candidates), default=np.inf)
        progress = Progress(
            self.round,
            self.best_dual[0] * self.unit,
            upper * self.unit,
            len(self.columns),
            len(self.points),
            now() - self.began,
        )
        self.history.append(progress)
        if self.on_progress is not None:
            self.on_progress(progress)

    # -- columns and points ---------------------------------------------------------------------------------------

    def _add(self, columns: Iterable[Column]) -> int:
        before = len(self.columns)
        for column in columns:
            key = column.key(self.instance, self.points)
            if key not in self.columns:
                self.columns[key] = column
                self.last_used[key] = self.round
        return len(self.columns) - before

    def _column(self, mask: int, sign: int, direction: Array) -> Column:
        """The column whose pattern the direction (over the mask's columns) has; on the boundary: on."""
        z = self.instance.rows[:, self.instance.masks[mask]] @ direction
        size = np.abs(self.instance.rows[:, self.instance.masks[mask]]) @ np.abs(direction)
        return Column(mask, sign, z > -1e-11 * float(np.abs(z).max(initial=0.0)), np.abs(z) > SURE * size)

    def _mark_used(self, keys: list[tuple[int, int, bytes]], solution: MasterSolution) -> None:
        sizes = np.linalg.norm(solution.directions, axis=1)
        for key, size in zip(keys, sizes, strict=True):
            if size > 1e-7 * sizes.sum():
                self.last_used[key] = self.round
        if len(self.columns) > KEEP_COLUMNS:
            for key in keys:
                if self.last_used[key] < self.round - IDLE_ROUNDS:
                    del self.columns[key], self.last_used[key]

    def _doubt(self, keys: list[tuple[int, int, bytes]], solution: MasterSolution) -> int:
        """Give back their variables to points whose side was guessed wrong; how many there were."""
        found = 0
        if len(keys) * len(self.points) <= LARGE_MASTER:
            return found
        sizes = np.linalg.norm(solution.directions, axis=1)
        for key, direction, size in zip(keys, solution.directions, sizes, strict=True):
            column = self.columns.get(key)
            if column is None or column.sure is None or size <= 1e-9 * sizes.sum():
                continue
            wrong = column.doubts(self.instance, self.points, direction)
            if len(wrong):
                sure = column.sure.copy()
                sure[wrong] = False
                self.columns[key] = replace(column, sure=sure)
                found += len(wrong)
        return found

    def _solve(self, columns: list[Column], penalty: float) -> MasterSolution:
        if len(columns) * len(self.points) <= LARGE_MASTER:
            columns = [replace(column, sure=None) for column in columns]
        return self._master(columns, penalty)

    def _master(self, columns: list[Column], penalty: float) -> MasterSolution:
        tolerances = self.tolerances if self.instance.tolerance else None
        return solve_master(
            self.instance,
            self.required,
            columns,
            self.points,
            penalty,
            tolerances=tolerances,
            time_limit=self._time_left(),
        )

    def _record(self, solution: MasterSolution, columns: list[Column]) -> None:
        """The master's network as a candidate, its value measured on all points (max-margin)."""
        instance = self.instance
        body = solution.directions[:, :-1] if instance.free else solution.directions
        norms = np.linalg.norm(body, axis=1)
        whole = np.linalg.norm(solution.directions, axis=1)
        keep = whole > 1e-10 * max(float(whole.sum()), 1e-300)
        if not keep.any():
            return
        directions, signs = solution.directions[keep], np.array([c.sign for c in columns], np.int8)[keep]
        masks = np.array([c.mask for c in columns], np.intp)[keep]
        value = float(norms[keep].sum())
        outputs = self._outputs(directions, signs)
        if instance.margin:
            margin = float((instance.targets * outputs / self.required).min())
            if margin <= 0:
                return
            directions, value = directions / margin, value / margin
        elif float((np.abs(outputs - self.required) - self.tolerances).max()) > 1e-6:
            return
        self.candidates.append(Atoms(directions, signs, masks, value))
        self.candidates.sort(key=lambda atoms: atoms.value)
        del self.candidates[4:]

    def _outputs(self, directions: Array, signs: NDArray[np.int8]) -> Array:
        z = self.instance.rows @ directions.T
        return np.maximum(z, self.instance.slope * z) @ signs.astype(float)

    def _add_points(self, solution: MasterSolution, columns: list[Column]) -> int:
        if len(self.points) == len(self.instance.rows):
            return 0
        outputs = self._outputs(solution.directions, np.array([c.sign for c in columns], np.int8))
        margins = self.instance.targets * outputs / self.required
        margins[self.points] = np.inf
        worst = np.argsort(margins)[:POINTS_PER_ROUND]
        worst = worst[margins[worst] < 1.0 - self.tol / 20]
        if len(worst):
            old = list(self.columns.items())
            self.points = np.sort(np.concatenate([self.points, worst]))
            used = {key: self.last_used[key] for key, _ in old}
            self.columns, self.last_used = {}, {}
            for key, column in old:
                new_key = column.key(self.instance, self.points)
                self.columns[new_key] = column
                self.last_used[new_key] = used[key]
        return len(worst)

    def _first_columns(self, *, late: bool = False) -> list[Column]:
        instance = self.instance
        columns = []
        for mask, seen in enumerate(instance.masks):
            if not len(seen):
                continue  # a neuron that sees nothing is 0
            starts = self.random.standard_normal((8, len(seen)))
            rows = instance.rows[:, seen]
            chosen = self.random.choice(len(rows), min(8, len(rows)), replace=False)
            for sign in (1, -1):
                everything = Column(mask, sign, np.ones(len(rows), bool))
                columns.append(everything)
                if instance.free:
                    columns.append(Column(mask, sign, np.zeros(len(rows), bool)))
                columns += [self._column(mask, sign, u) for u in np.concatenate([starts, rows[chosen], -rows[chosen]])]
        most = LATE_SUPPORT if late else FIRST_SUPPORT
        few = self.points if len(self.points) <= most else self.random.choice(self.points, most, False)
        weights = np.zeros(len(self.required))
        beyond = np.sign(self.required) * np.maximum(np.abs(self.required) - self.tolerances, 0.0)
        weights[few] = beyond[few] / max(float(np.abs(beyond).sum()), 1e-300)
        multipliers = self._rounded(weights)
        found, beta = self._ascents(multipliers, 0.0, late=late)
        self._remember(multipliers, beta)
        return columns + found

    def _random_columns(self, multipliers: Array) -> list[Column]:
        found, _ = self._ascents(multipliers, 1.0 - 1e-3, starts=1000)
        return found

    # -- the dual side --------------------------------------------------------------------------------------------

    def _rounded(self, multipliers: Array) -> Array:
        """Multipliers on a dyadic grid, tiny ones zero; with a free bias their signed sum is exactly zero."""
        largest = float(np.abs(multipliers).max(initial=0.0))
        if largest <= 0:
            return np.zeros_like(multipliers)
        quantum = 2.0 ** (np.floor(np.log2(largest)) - multiplier_bits(self.tol))
        rounded = np.round(multipliers / quantum) * quantum
        rounded[np.abs(multipliers) < SUPPORT_TOLERANCE * largest] = 0.0
        if self.instance.free:
            y = self.instance.targets if self.instance.margin else np.ones(len(rounded))
            surplus = float(rounded @ y)
            order = np.argsort(-np.abs(rounded))
            for i in order:
                if (
                    rounded[i] != 0
                    and np.sign(rounded[i] * y[i]) == np.sign(surplus)
                    and abs(rounded[i]) > abs(surplus)
                ):
                    rounded[i] -= surplus * y[i]
                    break
            else:
                if surplus != 0:
                    return np.zeros_like(multipliers)
        return rounded

    def _coefficients(self, multipliers: Array) -> Array:
        return multipliers * self.instance.targets if self.instance.margin else multipliers

    def _is_free(self, seen: NDArray[np.intp]) -> bool:
        """Whether the mask's last column is a free bias; a mask may hide it."""
        return self.instance.free and len(seen) > 0 and int(seen[-1]) == self.instance.rows.shape[1] - 1

    def _dual_value(self, multipliers: Array) -> float:
        return float(multipliers @ self.required) - float(np.abs(multipliers) @ self.tolerances)

    def _price(self, multipliers: Array, solution: MasterSolution, columns: list[Column]) -> tuple[list[Column], float]:
        """Columns that violate |h| <= 1 at lambda, and the largest |h| seen."""
        seeds: dict[int, list[Array]] = {}
        for column, direction in zip(columns, solution.directions, strict=True):
            if np.any(direction):
                seeds.setdefault(column.mask, []).append(direction)
        return self._ascents(multipliers, 1.0 + self.tol / 10, seeds=seeds)

    def _ascents(
        self,
        multipliers: Array,
        threshold: float,
        *,
        starts: int = STARTS,
        seeds: dict[int, list[Array]] | None = None,
        late: bool = False,
    ) -> tuple[list[Column], float]:
        """Columns with |h| above the threshold, and the largest |h| seen. late: from few starts, as no time is left."""
        instance = self.instance
        support = np.flatnonzero(multipliers)
        largest = 0.0
        columns: list[Column] = []
        if not len(support):
            return columns, largest
        starts, compiled = (LATE_STARTS, False) if late else (starts, None)
        weights = self._coefficients(multipliers)[support]
        for mask, seen in enumerate(instance.masks):
            if not len(seen):
                continue
            rows = instance.rows[np.ix_(support, seen)]
            for sign in (1, -1):
                poll()
                if len(seen) <= 2 and not self._is_free(seen):
                    directions, values = sweep_angles(rows, sign * weights, instance.slope)
                else:
                    first = [
                        self.random.standard_normal((starts, len(seen))),
                        crossings(rows, starts, self.random),
                        rows,
                        -rows,
                    ]
                    if seeds and mask in seeds:
                        first.append(np.array(seeds[mask])[:, seen])
                    directions, values = ascend(
                        rows,
                        sign * weights,
                        instance.slope,
                        np.concatenate(first),
                        free=self._is_free(seen),
                        compiled=compiled,
                    )
                largest = max(largest, float(values[0]))
                taken: set[tuple[int, int, bytes]] = set()
                for direction in directions[values > threshold]:
                    column = self._column(mask, sign, direction)
                    key = column.key(instance, self.points)
                    if key not in taken:
                        taken.add(key)
                        columns.append(column)
                    if len(taken) >= COLUMNS_PER_ROUND:
                        break
        return columns, largest

    def _remember(self, multipliers: Array, beta: float) -> None:
        value = self._dual_value(multipliers)
        if beta > 0 and value / max(beta, 1e-300) > self.best_dual[0]:
            self.best_dual = (value / beta, multipliers, beta)

    def _settle(self, multipliers: Array) -> list[Column]:
        """Try to prove the best dual point, then the latest; the columns that violate a point are returned.

        The first estimate of beta comes from local ascents, which may miss the maximum: a point that the proof does not
        bear out is dropped.
        """
        found: list[Column] = []
        points = [self.best_dual[1]] if self._gap(self.best_dual[0]) <= self.tol / 2 else []
        if not points or not np.array_equal(points[0], multipliers):
            points.append(multipliers)
        for point in points:
            columns, seen = self._ascents(point, 1.0 + self.tol / 10)
            if any(column.key(self.instance, self.points) not in self.columns for column in columns):
                proof = None
                found += columns
            else:
                proof, columns, _ = self._prove(point, max(seen, 1.0) * (1.0 + self.tol / 4), max_violators=40)
                found += columns
            if proof is not None:
                self._keep(proof)
            borne_out = proof is not None and proof.lower >= self.best_dual[0] * (1.0 - self.tol)
            cut_off = proof is None and not columns  # by the deadline: the point stands
            if np.array_equal(point, self.best_dual[1]) and not borne_out and not cut_off:
                kept = self.proof
                self.best_dual = (0.0, point, 1.0) if kept is None else (kept.lower, kept.multipliers, kept.beta)
            if self.proof is not None and self._gap(self.proof.lower) <= self.tol:
                return []
        return found

    def _keep(self, proof: DualProof) -> None:
        if self.proof is None or proof.lower > self.proof.lower:
            if self.proof is not None and proof.size > MUCH_LARGER * self.proof.size:
                self.coarser.append(self.proof)
            self.proof = proof

    def _prove(
        self,
        multipliers: Array,
        beta: float,
        *,
        deadline: float | None = None,
        truncate: bool = False,
        max_violators: int = 1,
    ) -> tuple[DualProof | None, list[Column], float]:
        """Trees for |h| <= beta at lambda; or columns that violate it, and the largest |h| among them."""
        instance = self.instance
        support = np.flatnonzero(multipliers)
        value = self._dual_value(multipliers)
        if not len(support) or value <= 0:
            return None, [], beta
        weights = self._coefficients(multipliers)[support]
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
                    free=self._is_free(seen),
                    deadline=deadline if deadline is not None else self.deadline,
                    truncate=truncate,
                    max_violators=max_violators,
                )
                if len(tree.violators):
                    violators += [self._column(mask, sign, u) for u in tree.violators]
                    reached = evaluate(rows, sign * weights, instance.slope, tree.violators)
                    largest = max(largest, float(reached.max()))
                    if truncate:
                        return None, violators, largest
                trees.append(tree)
        bound = max(tree.bound for tree in trees)
        # 0: the data cannot be fitted, which is for the exact test to say; UNBOUNDED: a chord without a range
        if violators or not 0 < bound < UNBOUNDED / 1e6:
            return None, violators, largest
        return DualProof(multipliers, bound, support, tuple(trees), value / bound), [], largest

    def _prove_steepest(self) -> None:
        """A first bound for a free bias, where others take long: f is as steep as the steepest pair of points asks for.

        With c = (1, -1) / ||x_i - x_j|| at that pair, |h(u)| <= ||u||, and the dual value is the steepness.
        """
        chosen = self.points if len(self.points) <= ALL_POINTS else self.points[:ALL_POINTS]
        heads, goals = self.instance.rows[chosen, :-1], self.required[chosen]
        if self.instance.margin:
            goals = goals * self.instance.targets[chosen]
        apart = np.linalg.norm(heads[:, None] - heads[None], axis=2)
        room = np.add.outer(self.tolerances[chosen], self.tolerances[chosen])
        steepness = (np.subtract.outer(goals, goals) - room) / np.where(apart > 0, apart, np.inf)
        i, j = np.unravel_index(np.argmax(steepness), steepness.shape)
        if steepness[i, j] <= 0:
            return
        multipliers = np.zeros(len(self.required))
        multipliers[chosen[[i, j]]] = 1.0 / apart[i, j]
        multipliers[chosen[j]] *= 1.0 if self.instance.margin else -1.0
        rounded = self._rounded(multipliers)
        proof, _, _ = self._prove(rounded, 1.0 + self.tol, max_violators=1)
        if proof is not None:
            self._keep(proof)
            self._remember(rounded, proof.beta)

    def _prove_best(self, seconds: float) -> None:
        """After an early end: prove the best dual point; where its tree is too large, one over few points."""
        began = now()
        slacks = [slack for slack in COARSE_TO_FINE if slack > self.tol / 4] + [self.tol / 4]
        if self.is_part:
            self._prove_coarse_to_fine(slacks, began + seconds)
            return
        self._prove_coarse_to_fine(slacks, began + ALL_SHARE * seconds)
        if slacks and now() < began + FEW_SHARE * seconds:
            self._prove_few(began + FEW_SHARE * seconds)
        self._prove_coarse_to_fine(slacks, began + seconds)

    def _prove_coarse_to_fine(self, slacks: list[float], limit: float) -> None:
        """Prove the best dual point, with a coarse beta first, then finer ones while time is left; what is done, or
        would not be better than the proof there is, leaves `slacks`.

        A coarse tree is small; where even that takes too long, the open cones become leaves as they are.
        """
        lower, multipliers, beta = self.best_dual
        while lower > 0 and slacks and (self.proof is None or now() < limit):
            target = beta * (1.0 + slacks[0])
            if self.proof is not None and self._dual_value(multipliers) <= self.proof.lower * target:
                slacks.pop(0)
                continue
            proof, _, largest = self._prove(multipliers, target, deadline=limit, truncate=True)
            if proof is None and largest > target:
                beta = largest
                continue
            if proof is None:
                return
            self._keep(proof)
            if proof.beta > target:
                return
            slacks.pop(0)

    def _prove_few(self, limit: float) -> None:
        """Solve the problem of the heaviest points of the best dual point, of more and more of them; then of those that
        hold the optimum there and those that its network misses most.

        The optimum of few points is at most that of all; a tree over few is so much smaller that it proves more.
        """
        weights = np.abs(self.best_dual[1]) * self.row_scales
        heaviest = np.argsort(-weights, kind="stable")[: np.count_nonzero(weights)]
        count, chosen = FEW_POINTS, heaviest[:FEW_POINTS]
        while 0 < len(chosen) < len(weights) and now() < limit:
            chosen = np.sort(chosen)
            part = replace(self.given, rows=self.given.rows[chosen], targets=self.given.targets[chosen])
            found = _Loop(part, max(self.tol, FEW_TOLERANCE), limit, None, 0, is_part=True).run([], [], None)
            for proof in (*found.coarser, found.proof):
                if proof is not None:
                    self._keep(self._of_part(proof, chosen))
            if found.status == "interrupted":
                raise KeyboardInterrupt
            count = math.ceil(MORE_POINTS * count)
            chosen = heaviest[:count] if count < len(heaviest) else self._held_and_missed(found, chosen, count)

    def _held_and_missed(self, found: Outcome, chosen: NDArray[np.intp], count: int) -> NDArray[np.intp]:
        """Up to `count` points: those with multipliers in this part's proof, and those its network misses most; none
        where it misses none.
        """
        if not found.candidates or found.proof is None:
            return np.zeros(0, np.intp)
        given, atoms = self.given, found.candidates[0]
        z = given.rows @ atoms.directions.T
        outputs = np.maximum(z, given.slope * z) @ atoms.signs.astype(float)
        missed = 1.0 - given.targets * outputs if given.margin else np.abs(outputs - given.targets) - given.tolerance
        missed[chosen] = 0.0
        held = chosen[found.proof.support]
        worst = np.argsort(-missed, kind="stable")[: max(count - len(held), 1)]
        worst = worst[missed[worst] > 0.0]
        return np.union1d(held, worst) if len(worst) else worst

    def _of_part(self, proof: DualProof, chosen: NDArray[np.intp]) -> DualProof:
        """A proof over some of the given points as one over all, scaled."""
        multipliers = np.zeros(len(self.given.rows))
        multipliers[chosen] = proof.multipliers
        whole = replace(proof, multipliers=multipliers, support=chosen[proof.support])
        return _rescaled(whole, 1.0 / self.row_scales, 1.0 / self.unit)

    # -- back to the given scale ----------------------------------------------------------------------------------

    def _unscaled(self, atoms: Atoms) -> Atoms:
        directions = atoms.directions / self.target_scale
        if self.instance.free:
            directions[:, :-1] *= self.row_scales[0]
        return replace(atoms, directions=directions, value=atoms.value * self.unit)

    def _unscaled_proof(self, proof: DualProof) -> DualProof:
        return _rescaled(proof, self.row_scales, self.unit)


def _rescaled(proof: DualProof, row_scales: Array, unit: float) -> DualProof:
    """Multipliers and slopes scale with the rows, range multipliers with their quotients: powers of two."""
    scales = row_scales[proof.support]

    def rescaled(leaf: Leaf) -> Leaf:
        ranges = {
            i: tuple({k: m * float(scales[k] / scales[i]) for k, m in side.items()} for side in sides)
            for i, sides in leaf.ranges.items()
        }
        return Leaf(leaf.slopes * scales, ranges)

    trees = tuple(
        replace(tree, nodes=[node if isinstance(node, int) else rescaled(node) for node in tree.nodes or []])
        for tree in proof.trees
    )
    return replace(proof, multipliers=proof.multipliers * row_scales, trees=trees, lower=proof.lower * unit)
