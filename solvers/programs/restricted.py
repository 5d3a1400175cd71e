"""The activation-pattern-restricted convex programs, in cvxpy (`docs/mathematics.md`, 3.2 "The program of a pattern").

For columns C = (mask class, output sign s, pattern tau over the points), with a_iC = 1 where tau = 1 and a elsewhere:

    min sum_C |u_C|   s.t.   y_i sum_C s_C a_iC x_i.u_C >= 1  (min-norm: sum_C s_C a_iC x_i.u_C = y_i),
                             tau_iC x_i.u_C >= 0  (x_i.u_C = 0 where tau_iC = 0)

|u| leaves the bias column out when the bias is free, so that u = (0, b) costs nothing. The stationarity condition fixes
the signs of all multipliers here, whatever the modelling layer's own convention: for u_C != 0

    u_C / |u_C| = s_C sum_i c_i a_iC x_i + sum_i nu_iC tau_iC x_i,   c_i = lambda_i y_i (min-norm: lambda_i),

with lambda >= 0 for max-margin, nu >= 0 (a free nu_iC x_i where tau_iC = 0), and the value is sum lambda_i (min-norm:
sum lambda_i y_i).

This is the reference: slow, independent of `solvers.pricing.tree` and `solvers.any_width.master`, and used to
cross-check them. `solvers.programs.restricted_cones` gives the same program to the solver without a modelling layer.
Source: Pilanci & Ergen, arXiv:2002.10553, equation (8), written here without skip variables.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
from scipy import sparse

from solvers.arrays import Floats, Indices, Signs
from solvers.clock import real_seconds_left
from solvers.instance import ProblemInstance, Solution, Status
from solvers.programs.arrangements import cell_blocks
from solvers.programs.linear import solve_lp
from solvers.shared_state import one_at_a_time, without_warnings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import cvxpy

ACCURACY: Final = 1e-9
"""Feasibility and relative gap asked of the solver, on the scaled program."""

ACCEPTED: Final = 1e-6
"""A point is called optimal when its scaled residuals and its relative duality gap are below this."""

NOTHING: Final = 1e-7
"""A scaled value below this is 0: only zero targets, and targets that a free bias fits alone, cost so little."""

LARGEST: Final = 5_000_000
"""Entries of the cone constraints up to which doubtful infeasibility is asked again as a dense linear program."""

DEAD: Final = 1e-6
"""A column whose norm is below this times the largest is zero."""


class NeuronFamily(NamedTuple):
    """A family of neurons that may be merged: mask class, output sign +-1, and the signs of x_i.u (0: on the kink)."""

    mask: int
    output: int
    pattern: Signs


def restricted_program(instance: ProblemInstance, columns: Sequence[NeuronFamily]) -> Solution:
    """Solve the program over `columns`.

    primal: U, shape (len(columns), c), zero where a mask hides a column; dual: lambda, shape (n,); cone_dual: nu, shape
    (len(columns), n), zero where the point is hidden by the mask. Signs as in the module's text.
    Scaled first, so that the result follows every rescaling of the points and of min-norm targets. Status INFEASIBLE is
    the solver's word; a program that is bounded below by 0 is never called unbounded.
    """
    return in_scale(instance, columns, _solve)


def in_scale(
    instance: ProblemInstance, columns: Sequence[NeuronFamily], solve: Callable[[ScaledProgram], Solution]
) -> Solution:
    """What `solve` says of the scaled program, in the units of the instance; without columns it is not asked."""
    if not columns:
        return _without_columns(instance)
    scaled = ScaledProgram.of(instance, columns)
    solution = solve(scaled)
    return scaled.restore(solution) if solution.is_usable else solution


def solve_all_cells(instance: ProblemInstance) -> Solution:
    """The optimum over all widths, by listing every cell of every mask class with both output signs.

    primal: U, shape (number of columns, c); dual: lambda, shape (n,). For small problems: the number of columns is
    4 sum_{j < c} C(n - 1, j) per mask class. With a free bias the value is the infimum, attained by a network or not.
    """
    return restricted_program(instance, list(all_columns(instance)))


def all_columns(instance: ProblemInstance) -> Iterator[NeuronFamily]:
    """Every (mask class, sign, cell) that can contribute to an output: ReLU cells without an ON point cannot."""
    for mask in range(len(instance.masks)):
        for block, _ in cell_blocks(instance.masked_rows(mask)):
            for pattern in block:
                if instance.slope > 0 or (pattern > 0).any():
                    yield NeuronFamily(mask, 1, pattern)
                    yield NeuronFamily(mask, -1, pattern)


def _without_columns(instance: ProblemInstance) -> Solution:
    empty = np.zeros((0, instance.columns))
    if instance.margin or instance.targets.any():
        return Solution.without_point(Status.INFEASIBLE, "no columns")
    return Solution(
        Status.OPTIMAL, 0.0, primal=empty, dual=np.zeros(instance.points), cone_dual=np.zeros((0, instance.points))
    )


@dataclass(frozen=True, slots=True, eq=False)
class ScaledProgram:
    """The program in units in which numbers are near 1: rows x D^-1, u' = D u, targets / height.

    D = (scale, .., scale, bias scale), powers of two. shown (K, c): what a column's mask shows; counted (K, c): what
    its norm counts, hidden entries included, which makes them 0; slopes (K, n): s_C a_iC; sizes (K, n): |masked x_i|.
    """

    scale: float
    stretch: Floats
    height: float
    rows: Floats
    targets: Floats
    margin: bool
    signs: Floats
    patterns: Signs
    slopes: Floats
    shown: Floats
    counted: Floats
    sizes: Floats

    @classmethod
    def of(cls, instance: ProblemInstance, columns: Sequence[NeuronFamily]) -> ScaledProgram:
        """The program over these columns."""
        body = instance.rows[:, :-1] if instance.free else instance.rows
        scale = _power_of_two(np.linalg.norm(body, axis=1).max())
        stretch = np.full(instance.columns, scale)
        if instance.free:
            stretch[-1] = _power_of_two(np.abs(instance.rows[:, -1]).max())
        height = 1.0 if instance.margin else _power_of_two(np.abs(instance.targets).max())
        rows = instance.rows / stretch
        classes = np.zeros((len(instance.masks), instance.columns))
        for place, mask in enumerate(instance.masks):
            classes[place, mask] = 1.0
        members = [column.mask for column in columns]
        shown = classes[members]
        counted = np.ones_like(shown)
        if instance.free:
            counted[:, -1] -= shown[:, -1]
        patterns = np.array([column.pattern for column in columns], dtype=np.int8)
        outputs = np.array([[column.output] for column in columns], dtype=np.float64)
        return cls(
            scale=scale,
            stretch=stretch,
            height=height,
            rows=rows,
            targets=instance.targets / height,
            margin=instance.margin,
            signs=instance.signs,
            patterns=patterns,
            slopes=np.where(patterns > 0, 1.0, instance.slope) * outputs,
            shown=shown,
            counted=counted,
            sizes=np.sqrt(classes @ (rows**2).T)[members],
        )

    def matrix(self, places: tuple[Indices, ...], values: Floats) -> sparse.csr_matrix:
        """One row per place (column k, point i): value times the masked x_i, at the variables of column k."""
        k, i = places
        width = self.rows.shape[1]
        entries = values[:, None] * self.rows[i] * self.shown[k]
        at = k[:, None] * width + np.arange(width)
        indptr = np.arange(0, entries.size + 1, width)
        return sparse.csr_matrix((entries.ravel(), at.ravel(), indptr), shape=(len(k), self.shown.size))

    def cones(self) -> tuple[Indices, ...]:
        """The places (column, point) off the kinks, of points that a column's mask shows."""
        return np.nonzero((self.patterns != 0) & (self.sizes > 0))

    def kinks(self) -> tuple[Indices, ...]:
        """The places (column, point) on the kinks, of points that a column's mask shows."""
        return np.nonzero((self.patterns == 0) & (self.sizes > 0))

    def fit(self) -> Floats:
        """The outputs (n, K c) as a matrix over the variables."""
        return (self.slopes.T[:, :, None] * self.rows[:, None, :] * self.shown).reshape(len(self.rows), -1)

    def inside(self, cones: tuple[Indices, ...]) -> sparse.csr_matrix:
        """The rows tau x_i.u / |x_i| at these places."""
        return self.matrix(cones, self.patterns[cones] / self.sizes[cones])

    def on_kinks(self, kinks: tuple[Indices, ...]) -> sparse.csr_matrix:
        """The rows x_i.u / |x_i| at these places."""
        return self.matrix(kinks, 1 / self.sizes[kinks])

    def restore(self, solution: Solution) -> Solution:
        """The same solution in the original units."""
        return replace(
            solution,
            value=solution.value * self.height / self.scale,
            primal=solution.primal * self.height / self.stretch,
            dual=solution.dual / self.scale,
            cone_dual=solution.cone_dual / self.scale,
        )


@one_at_a_time
def _solve(scaled: ScaledProgram) -> Solution:
    import cvxpy as cp

    count, points = scaled.slopes.shape
    cones, kinks = scaled.cones(), scaled.kinks()
    directions = cp.Variable(scaled.shown.shape)
    flat = cp.vec(directions, order="C")
    output = sparse.csr_matrix(scaled.fit()) @ flat
    fit = cp.NonNeg(cp.multiply(scaled.signs, output) - 1) if scaled.margin else cp.Zero(output - scaled.targets)
    inside = cp.NonNeg(scaled.inside(cones) @ flat)
    on_kinks = cp.Zero(scaled.on_kinks(kinks) @ flat)
    constraints = [fit, *([inside] if cones[0].size else []), *([on_kinks] if kinks[0].size else [])]
    counted = directions if scaled.counted.all() else cp.multiply(scaled.counted, directions)
    problem = cp.Problem(cp.Minimize(cp.sum(cp.norm(counted, 2, axis=1))), constraints)

    status, message = _run(problem)
    if message == "infeasible_inaccurate":
        status = asked_again(scaled, cones)
    if status not in (Status.OPTIMAL, Status.INACCURATE):
        return Solution.without_point(status, message)
    nu = np.zeros((2, count, points))
    if cones[0].size:
        nu[0][cones] = np.maximum(np.asarray(inside.dual_value), 0.0) / scaled.sizes[cones]
    if kinks[0].size:
        nu[1][kinks] = np.asarray(on_kinks.dual_value) / scaled.sizes[kinks]
    primal, dual = np.asarray(directions.value) * scaled.shown, np.ravel(np.asarray(fit.dual_value))
    if not scaled.margin and dual @ scaled.targets < 0:
        dual = -dual
    turned = [nu[0] + turn * nu[1] for turn in (1.0, -1.0)]
    return judged(
        scaled, status, message, primal, dual, min(turned, key=lambda own: _excess(scaled, primal, dual, own))
    )


def _excess(scaled: ScaledProgram, primal: Floats, dual: Floats, nu: Floats) -> float:
    """By how much these multipliers violate the stationarity condition, whose sign at kinks cvxpy does not say."""
    norms = np.linalg.norm(primal * scaled.counted, axis=1)
    live = norms > DEAD * norms.max(initial=0.0)
    along = np.where(scaled.patterns == 0, 1, scaled.patterns)
    pull = ((scaled.slopes * dual * scaled.signs + nu * along) @ scaled.rows) * scaled.shown
    rest = np.linalg.norm(primal * scaled.counted / np.where(live, norms, 1.0)[:, None] - pull, axis=1)
    return float(np.where(live, rest, np.linalg.norm(pull, axis=1) - 1).max())


def asked_again(scaled: ScaledProgram, cones: tuple[Indices, ...]) -> Status:
    """INFEASIBLE if the linear constraints without kinks are, by another solver; else FAILED."""
    fit = scaled.fit()
    if len(cones[0]) * fit.shape[1] > LARGEST:
        return Status.FAILED
    above = -scaled.inside(cones).toarray()
    least = np.zeros(len(above))
    free = np.tile([-np.inf, np.inf], (fit.shape[1], 1))
    cost = np.zeros(fit.shape[1])
    if scaled.margin:
        above, least = np.vstack([above, -fit * scaled.signs[:, None]]), np.append(least, -np.ones(len(fit)))
        found = solve_lp(cost, above, least, bounds=free)
    else:
        found = solve_lp(cost, above, least, fit, scaled.targets, free)
    return Status.INFEASIBLE if found.status is Status.INFEASIBLE else Status.FAILED


def _run(problem: cvxpy.Problem) -> tuple[Status, str]:
    """Ask for `ACCURACY`, then for less."""
    import cvxpy as cp

    status, message = Status.FAILED, ""
    for accuracy in (ACCURACY, 100 * ACCURACY):
        limit = {} if np.isinf(seconds := real_seconds_left()) else {"time_limit": max(seconds, 0.1)}
        try:
            with without_warnings():  # cvxpy warns of inaccurate solutions, which the status says
                problem.solve(
                    solver=cp.CLARABEL, tol_feas=accuracy, tol_gap_abs=accuracy, tol_gap_rel=accuracy, **limit
                )
        except cp.SolverError as error:
            status, message = Status.FAILED, str(error)
            continue
        message = str(problem.status)
        status = _STATUS.get(message, Status.FAILED)
        if status in (Status.OPTIMAL, Status.INFEASIBLE):
            break
    return status, message


def judged(scaled: ScaledProgram, status: Status, message: str, primal: Floats, dual: Floats, nu: Floats) -> Solution:
    """The solution, OPTIMAL only if residuals and gap confirm the solver's word; all signs as in the module's text."""
    gains = np.ones_like(dual) if scaled.margin else scaled.targets
    if scaled.margin:
        dual = np.maximum(dual, 0.0)
    value = float(np.linalg.norm(primal * scaled.counted, axis=1).sum())
    if value < NOTHING:
        value, dual = 0.0, np.zeros_like(dual)

    output = (scaled.slopes * (primal @ scaled.rows.T)).sum(axis=0)
    misfit = float(np.max(1 - scaled.signs * output if scaled.margin else np.abs(output - scaled.targets)))
    gap = abs(value - dual @ gains) / max(value, 1.0)
    if status is Status.OPTIMAL and max(gap, misfit) > ACCEPTED:
        status, message = Status.INACCURATE, f"{message}, but relative gap {gap:.1e} and misfit {misfit:.1e}"
    return Solution(status, value, primal=primal, dual=dual, cone_dual=nu, message=message)


def _power_of_two(size: float) -> float:
    """The power of two in (size / 2, size]; 1 for 0."""
    return float(np.ldexp(0.5, np.frexp(size)[1])) if size > 0 else 1.0


_STATUS: Final = {
    "optimal": Status.OPTIMAL,
    "optimal_inaccurate": Status.INACCURATE,
    "infeasible": Status.INFEASIBLE,
    "infeasible_inaccurate": Status.FAILED,
    "unbounded": Status.FAILED,
    "unbounded_inaccurate": Status.FAILED,
}
"""What cvxpy's words count for; sum |u| >= 0, so that `unbounded` is always wrong."""
