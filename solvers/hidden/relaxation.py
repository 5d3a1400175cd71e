"""The best multipliers of a state of the neurons, when each case has one linear bound: a program of second-order cones.

A case q is a cone and a sign s; it stands for neurons with sum v_j^2 = V_q. With c_i = lambda_i y_i (max-margin) or
lambda_i, e_i = (1 - a) s c_i and slopes t_i, one for each point,

    s h(u) <= p.u + R ||u||,  p = sum (s a c_i + t_i) x_i,   R = sum max(t_i l_i, (e_i - t_i) r_i) over undecided points

on the cone, where t_i >= e_i at points that are on, t_i <= 0 at those that are off and -l_i ||u|| <= x_i.u <= r_i
||u||. With a free bias ||u|| = ||w||, and where b cannot run off to infinity along h, |b| <= B ||w|| is enough: the
points are counted from a midpoint, ||p_w|| + B |p_b| is in the place of ||p||, and ||x_i|| + B is a range of x_i. On
cones in which no point is off b can grow: there s sum c_i <= 0 is asked, and s a sum c_i >= 0 where none is on.
Every network in the state then costs at least D^2 / (2 sum V_q (||p_q|| + R_q)^2), D the dual value. As this
does not change with the size of lambda, the sum is made least for D = 1, by a program that is bounded, and feasible
unless constants fit, which a free bias makes for nothing; where nothing in the state fits it may be 0.

Source: `docs/mathematics.md`, 12.1 "The bound of a state" and 5.4 "A free bias".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from solvers.arrays import Bits, Floats, Indices, Signs
from solvers.hidden.cases import FloatCase, WantedOutputs
from solvers.instance import Status
from solvers.programs.interior_point import Cone, solve_cone_program
from solvers.programs.linear import solve_lp

__all__ = ["Relaxed", "evaluated", "excluded", "inherited", "open_pairs", "relaxed"]

BOXES = (1e2, 1e4)
"""No multiplier is larger, in units in which D = 1 and the largest target is 1: the next one where the first binds."""

BINDS = 0.5
"""Of a box: a multiplier above this part may be held back by it."""


TAKEN_BACK = 1e-6
"""Of a bound: so much less than what the program says, and the signs of the multipliers are kept."""


@dataclass(frozen=True, slots=True, eq=False)
class Relaxed:
    """value: the bound.   multipliers (n,).   slopes (q, n): t.   offsets (q, n): the terms of R.

    directions: p of each case, in its coordinates.   sizes (q,): ||p|| + R.
    weights (q,), pieces: what each of them has to do with the bound, and the neuron of a relaxed network there, with
    its free bias; of a program's solution only.   endless (q,): biases of neurons (0, b) there, which cost nothing.
    """

    value: float
    multipliers: Floats
    slopes: Floats
    offsets: Floats
    directions: tuple[Floats, ...]
    sizes: Floats
    weights: Floats = field(default_factory=lambda: np.zeros(0))
    pieces: tuple[Floats, ...] = ()
    endless: Floats = field(default_factory=lambda: np.zeros(0))


class _StateProgram:
    """The variables: lambda (n), |lambda| with a tolerance (n), t (q n), R (q n), |p_b| (q), sizes (q), the least one.

    owners (q,): cases with the same one have one size, the first one's, and count once.
    signs (n,): of the multipliers, where they are to be kept. Then slopes of undecided points are between 0 and e_i;
    else they may lie outside where a range is short, which `_split` takes back.
    """

    def __init__(
        self,
        points: WantedOutputs,
        cases: Sequence[FloatCase],
        owners: Indices | None = None,
        signs: Signs | None = None,
    ) -> None:
        self.points, self.cases, self.signs = points, cases, signs
        self.owners = np.arange(len(cases)) if owners is None else owners
        self.counted = int(self.owners.max(initial=-1)) + 1
        self.n, self.q = len(points.targets), len(cases)
        self.is_bent = points.slope < 1
        pairs = self.n * self.q if self.is_bent else 0
        self.moduli = self.n
        self.slopes = self.n + (self.n if points.tolerance else 0)
        self.offsets = self.slopes + pairs
        self.levers = self.offsets + pairs
        self.sizes = self.levers + self.q
        self.width = self.sizes + self.counted + 1
        self.blocks: list[Floats] = []
        self.right: list[Floats] = []
        self.cones: list[tuple[Cone, int]] = []
        self.height = 0
        self.lever_rows: dict[int, int] = {}
        self.ends: list[tuple[int, int, int]] = []  # row, case, and 1 where b may not grow, -1 where not fall

    def add(self, kind: Cone, block: Floats, right: Floats | float = 0.0) -> None:
        """Rows `right - block x` in a cone."""
        if len(block):
            self.blocks.append(block)
            self.right.append(np.broadcast_to(np.asarray(right, np.float64), (len(block),)).copy())
            self.cones.append((kind, len(block)))
            self.height += len(block)

    def excess(self, q: int) -> Floats:
        """e as rows (n, width)."""
        found = np.zeros((self.n, self.width))
        found[np.arange(self.n), np.arange(self.n)] = (1 - self.points.slope) * self.cases[q].sign * self.points.factors
        return found

    def slope(self, q: int) -> Floats:
        """t as rows (n, width)."""
        found = np.zeros((self.n, self.width))
        if self.is_bent:
            found[np.arange(self.n), self.slopes + q * self.n + np.arange(self.n)] = 1.0
        return found

    def offset(self, q: int) -> Floats:
        """The terms of R as rows (n, width)."""
        found = np.zeros((self.n, self.width))
        if self.is_bent:
            found[np.arange(self.n), self.offsets + q * self.n + np.arange(self.n)] = 1.0
        return found

    def factors(self, q: int) -> Floats:
        """What p is a combination of the points with, as rows (n, width)."""
        found = self.slope(q)
        found[np.arange(self.n), np.arange(self.n)] = self.points.slope * self.cases[q].sign * self.points.factors
        return found

    def state(self, *, with_offsets: bool) -> None:
        """What the multipliers and the slopes of each case have to be."""
        points, n = self.points, self.n
        dual = np.zeros((1, self.width))
        dual[0, :n] = 1.0 if points.margin else points.targets
        if points.tolerance:
            dual[0, self.moduli : self.moduli + n] = -points.tolerance
            either = np.zeros((2 * n, self.width))
            either[:n, :n], either[n:, :n] = np.eye(n), -np.eye(n)
            either[:n, self.moduli : self.moduli + n] = either[n:, self.moduli : self.moduli + n] = -np.eye(n)
            self.add("nonnegative", either)
        self.add("zero", dual, 1.0)
        if points.margin:
            self.add("nonnegative", -np.eye(n, self.width))
        elif self.signs is not None:
            self.add("nonnegative", -self.signs[:, None] * np.eye(n, self.width))
        for q, case in enumerate(self.cases):
            excess, slope, offset = self.excess(q), self.slope(q), self.offset(q)
            if self.is_bent:
                self._sides(case, excess, slope, offset, with_offsets=with_offsets)
            if case.free is not None:
                self._along_bias(q, case, case.free[None] @ self.factors(q), has_lever=with_offsets)

    def _along_bias(self, q: int, case: FloatCase, part: Floats, *, has_lever: bool) -> None:
        """What p may have along a free bias, and that h does not grow along it."""
        if case.bias is None or not has_lever:
            self.add("zero", part)
            return
        lever, total = np.zeros((1, self.width)), np.zeros((1, self.width))
        lever[0, self.levers + q] = 1.0
        self.lever_rows[q] = self.height
        self.add("nonnegative", np.vstack([part - lever, -part - lever]))
        if self.owners[q] in self.owners[:q]:
            return
        total[0, : self.n] = case.sign * self.points.factors
        for end, is_open in ((1, case.bias.rises), (-1, case.bias.falls and self.points.slope > 0)):
            if is_open:
                self.ends.append((self.height, q, end))
                self.add("nonnegative", end * total)

    def read_pieces(self, dual: Floats, width: float) -> tuple[Floats, tuple[Floats, ...], Floats]:
        """`weights`, `pieces` and `endless` of a solution.   width: the size of the points."""
        weights, endless, pieces, start = np.zeros(self.q), np.zeros(self.q), list[Floats](), self.first_size
        for q, case in enumerate(self.cases):
            end = start + 1 + case.rows.shape[1]
            weights[q] = max(float(dual[start]), 0.0)
            at = self.lever_rows.get(q)
            bias = 0.0 if at is None else width * float(dual[at] - dual[at + 1])
            pieces.append(-dual[start + 1 : end] if case.free is None else np.append(-dual[start + 1 : end], bias))
            start = end
        for row, q, end in self.ends:
            endless[q] += end * width * max(float(dual[row]), 0.0)
        slope = self.points.slope or 1.0
        return weights, tuple(pieces), np.where(endless < 0, endless / slope, endless)

    def _sides(self, case: FloatCase, excess: Floats, slope: Floats, offset: Floats, *, with_offsets: bool) -> None:
        on, off, opened = case.cone > 0, case.cone < 0, case.cone == 0
        self.add("nonnegative", (excess - slope)[on])
        self.add("nonnegative", slope[off])
        has_range = opened & np.isfinite(case.left) & np.isfinite(case.right) & with_offsets
        is_nothing = (case.left == 0) & (case.right == 0)  # x_i = 0 for these neurons: any slope is as good
        closed = opened & ~has_range & ~is_nothing
        self.add("nonnegative", np.vstack([slope[closed], (excess - slope)[closed]]))
        left, right = case.left[has_range, None], case.right[has_range, None]
        self.add("nonnegative", left * slope[has_range] - offset[has_range])
        self.add("nonnegative", right * (excess - slope)[has_range] - offset[has_range])
        self.add("nonnegative", -offset[has_range])
        self.add("zero", offset[~has_range])
        if self.signs is not None:
            above = case.sign * self.points.factors * self.signs > 0
            up, down = has_range & above, has_range & ~above
            self.add("nonnegative", np.vstack([-slope[up], (slope - excess)[up]]))
            self.add("nonnegative", np.vstack([slope[down], (excess - slope)[down]]))

    def sizes_least(self, most: float) -> None:
        """The root of sum V size^2 is to be least, and no multiplier larger than `most`."""
        whole = np.zeros((1 + self.counted, self.width))
        whole[0, -1] = -1.0
        self.first_size = self.height
        for q, case in enumerate(self.cases):
            size = np.zeros((1, self.width))
            size[0, self.sizes + self.owners[q]] = -1.0
            if case.bias is not None:
                size[0, self.levers + q] = case.bias.reach
            self.add("second-order", np.vstack([size + self.offset(q).sum(axis=0), -(case.rows.T @ self.factors(q))]))
            whole[1 + self.owners[q], self.sizes + self.owners[q]] = -np.sqrt(case.weight)
        self.add("second-order", whole)
        box = np.zeros((2 * self.n, self.width))
        box[: self.n, : self.n], box[self.n :, : self.n] = np.eye(self.n), -np.eye(self.n)
        self.add("nonnegative", box, most)


def relaxed(points: WantedOutputs, cases: Sequence[FloatCase], owners: Indices | None = None) -> Relaxed | None:
    """The best bound of the state; None where the solver fails, or the dual value cannot be positive there.

    owners (q,): for each of the cases the place of the case, from 0, of which it is a cell; by default each its own.
    """
    best: Relaxed | None = None
    for most in BOXES:
        found, is_held = _within(points, cases, owners, most)
        best = found if best is None or (found is not None and found.value > best.value) else best
        if not is_held:
            break
    return best


def _within(
    points: WantedOutputs, cases: Sequence[FloatCase], owners: Indices | None, most: float
) -> tuple[Relaxed | None, bool]:
    """The best bound with multipliers in a box, and whether the box may hold one back."""
    found = _solved(points, cases, owners, np.ones(len(points.targets), np.int8) if points.margin else None, most)
    if found is None or found[0].value >= (1 - TAKEN_BACK) * found[1]:
        return (None, False) if found is None else (found[0], found[2])
    signs = np.where(found[0].multipliers < 0, -1, 1).astype(np.int8)
    again = _solved(points, cases, owners, signs, most)
    chosen = found if again is None or again[0].value < found[0].value else again
    return chosen[0], chosen[2]


def _solved(
    points: WantedOutputs, cases: Sequence[FloatCase], owners: Indices | None, signs: Signs | None, most: float
) -> tuple[Relaxed, float, bool] | None:
    """The bound, what the program says that it is, and whether a multiplier is near the end `most` of its box; None
    where the solver fails, or there is none.
    """
    height, width = _units(points, cases)
    scaled, inner = _scaled(points, cases, height, width)
    program = _StateProgram(scaled, inner, owners, signs)
    program.state(with_offsets=True)
    program.sizes_least(most)
    cost = np.zeros(program.width)
    cost[-1] = 1.0
    found = solve_cone_program(cost, np.concatenate(program.blocks), np.concatenate(program.right), program.cones)
    if found.status is Status.FAILED or not found.primal.size:
        return None
    multipliers, slopes = _split(program.points, program.cases, *_read(program, found.primal))
    state = evaluated(points, cases, multipliers, slopes, owners)
    if state is None:
        return None
    weights, pieces, endless = program.read_pieces(found.dual, width)
    said = (height / width) ** 2 / (2 * max(found.value, 1e-150) ** 2)
    is_held = float(np.abs(found.primal[: program.n]).max(initial=0.0)) > BINDS * most
    return replace(state, weights=weights, pieces=pieces, endless=endless), said, is_held


def inherited(
    points: WantedOutputs, cases: Sequence[FloatCase], found: Relaxed, owners: Sequence[int]
) -> Relaxed | None:
    """What the multipliers and slopes of a state prove in one in which more is decided.

    owners: for each case the place of the one before from which it comes.
    """
    return evaluated(points, cases, *_split(points, cases, found.multipliers, found.slopes[list(owners)]))


def evaluated(
    points: WantedOutputs,
    cases: Sequence[FloatCase],
    multipliers: Floats,
    slopes: Floats,
    owners: Indices | None = None,
) -> Relaxed | None:
    """The bound that these multipliers and slopes give.   owners: as of `relaxed`."""
    found: list[Floats] = []
    offsets, sizes = np.zeros_like(slopes), np.zeros(len(cases))
    for q, case in enumerate(cases):
        coefficients = case.sign * multipliers * points.factors
        excess = (1 - points.slope) * coefficients
        chords = (case.cone == 0) & (excess > 0) & (points.slope < 1)
        with np.errstate(invalid="ignore"):
            terms = np.maximum(slopes[q] * case.left, (excess - slopes[q]) * case.right)
        offsets[q] = np.where(chords, np.nan_to_num(terms, nan=0.0, posinf=0.0), 0.0)
        found.append(case.rows.T @ (points.slope * coefficients + slopes[q]))
        sizes[q] = float(np.linalg.norm(found[-1])) + float(offsets[q].sum())
        if case.free is not None and case.bias is not None:
            sizes[q] += case.bias.reach * abs(float(case.free @ (points.slope * coefficients + slopes[q])))
    dual = points.dual_value(multipliers)
    largest: dict[int, float] = {}  # of each case, weight size^2
    for q, owner in enumerate(range(len(cases)) if owners is None else owners.tolist()):
        largest[owner] = max(largest.get(owner, 0.0), cases[q].weight * float(sizes[q]) ** 2)
    whole = 2 * sum(largest.values())
    if dual <= 0:
        return None
    value = float("inf") if whole <= 0 else dual * dual / whole
    return Relaxed(value, multipliers, slopes, offsets, tuple(found), sizes)


def excluded(points: WantedOutputs, cases: Sequence[FloatCase]) -> tuple[Floats, Floats] | None:
    """Multipliers and slopes with D = 1 and p = 0, R = 0 in every case, a vertex; None where there are none."""
    scaled, inner = _scaled(points, cases, *_units(points, cases))
    program = _StateProgram(scaled, inner)
    program.state(with_offsets=False)
    for q, case in enumerate(inner):
        program.add("zero", case.rows.T @ program.factors(q))
    equal = np.concatenate([np.full(size, kind == "zero") for kind, size in program.cones])
    matrix, right = np.concatenate(program.blocks), np.concatenate(program.right)
    width = program.sizes
    both = np.hstack([matrix[:, :width], -matrix[:, :width]])
    solved = solve_lp(np.ones(2 * width), both[~equal], right[~equal], both[equal], right[equal])
    if not solved.is_usable:
        return None
    found = np.zeros(program.width)
    found[:width] = solved.primal[:width] - solved.primal[width:]
    return _split(program.points, program.cases, *_read(program, found))


def _units(points: WantedOutputs, cases: Sequence[FloatCase]) -> tuple[float, float]:
    """The size of the targets, and of the points."""
    height = 1.0 if points.margin else float(np.abs(points.targets).max(initial=0.0)) or 1.0
    width = max((float(np.abs(case.rows).max(initial=0.0)) for case in cases), default=1.0) or 1.0
    return height, width


def _scaled(
    points: WantedOutputs, cases: Sequence[FloatCase], height: float, width: float
) -> tuple[WantedOutputs, list[FloatCase]]:
    """The same with targets and points of size 1."""
    targets = points.targets if points.margin else points.targets / height
    inner = [
        replace(
            case,
            rows=case.rows / width,
            left=case.left / width,
            right=case.right / width,
            bias=None if case.bias is None else replace(case.bias, reach=case.bias.reach / width),
        )
        for case in cases
    ]
    return WantedOutputs(targets, points.margin, points.tolerance / height, points.slope), inner


def _read(program: _StateProgram, found: Floats) -> tuple[Floats, Floats]:
    """The multipliers and slopes (q, n) of a solution."""
    slopes = np.zeros((program.q, program.n))
    if program.is_bent:
        slopes = found[program.slopes :][: program.q * program.n].reshape(program.q, program.n)
    return found[: program.n].copy(), slopes


def _split(
    points: WantedOutputs, cases: Sequence[FloatCase], multipliers: Floats, slopes: Floats
) -> tuple[Floats, Floats]:
    """Admissible multipliers, and the slopes nearest to these that each side allows."""
    if points.margin:
        multipliers = np.maximum(multipliers, 0.0)
    found = np.zeros_like(slopes)
    for q, case in enumerate(cases if points.slope < 1 else ()):
        raw, excess = slopes[q], (1 - points.slope) * case.sign * multipliers * points.factors
        inside = np.clip(raw, np.minimum(excess, 0.0), np.maximum(excess, 0.0))
        found[q] = np.where(
            case.cone > 0, np.maximum(raw, excess), np.where(case.cone < 0, np.minimum(raw, 0.0), inside)
        )
    return multipliers, found


def open_pairs(points: WantedOutputs, case: FloatCase, multipliers: Floats) -> Bits:
    """The undecided points (n,) of a case at which the bound is not exact: where c_i s is positive."""
    return (case.cone == 0) & (case.sign * multipliers * points.factors > 0) & (points.slope < 1)
