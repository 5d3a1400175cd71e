"""The dual of the restricted master in many decimal digits, for data that double precision cannot tell apart.

For columns j (sign, mask, pattern) with p_j = A_j lambda + N_j nu_j, over the columns of the rows:

    max sum_i r_i lambda_i   s.t.   ||p_j|| <= 1,  |lambda_i| <= box,
    max-margin: lambda >= 0, 0 <= nu_jk <= (1 - a) lambda_i(k);      min-norm: nu >= 0.

The u_j of the primal are the multipliers of the norms. A primal-dual interior-point method with Nesterov and Todd's
scaling and Mehrotra's corrector (L. Vandenberghe, The CVXOPT linear and quadratic cone program solvers, 2010, sections
4 to 7), in arrays of `decimal.Decimal`. The nu_j of a column occur in no other one and are eliminated block by block.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

import numpy as np

from solvers.arrays import Indices
from solvers.clock import is_late, spend
from solvers.programs.cone_program import Places
from solvers.programs.precise_cones import (
    ConeScaling,
    Decimals,
    backward,
    cholesky,
    determinant,
    forward,
    joined,
    product,
    roots,
    to_boundary,
    zeros,
)

MOST_STEPS = 200
SECONDS = 2e-5  # of a step, for each variable and point
TINY = Decimal("1e-300")


@dataclass(frozen=True, slots=True)
class Block:
    """A column: on_lambda (D, n), on_nu (D, T), and the point of each nu (T,)."""

    on_lambda: Decimals
    on_nu: Decimals
    points: Indices


@dataclass(frozen=True, slots=True)
class Optimum:
    """multipliers (n,), and per block u_j (D,); gap: relative, with the residuals."""

    multipliers: Decimals
    directions: list[Decimals]
    value: Decimal
    gap: Decimal
    is_boxed: bool


def maximise(
    required: Decimals,
    blocks: Sequence[Block],
    *,
    margin: bool,
    slope: Decimal,
    box: Decimal,
    scale: Decimal,
    accuracy: Decimal,
    deadline: float | None = None,
) -> Optimum | None:
    """The optimum to a relative `accuracy` in the precision of the current decimal context; None where it stalls.

    scale: about the optimal value; where it is far off, it takes more steps.
    """
    program = _PreciseProgram(required, blocks, margin=margin, slope=slope, box=box, scale=scale)
    state = program.start()
    for _ in range(MOST_STEPS):
        if is_late(deadline):
            return None
        gap = program.gap(state)
        if gap < accuracy:
            return program.optimum(state, gap)
        spend(SECONDS * program.variables.count * len(required))
        try:
            program.step(state)
        except ArithmeticError:
            return program.optimum(state, gap) if gap < accuracy.sqrt() else None
    return None


@dataclass(slots=True)
class _State:
    """x: all variables; slacks s and multipliers z of the linear constraints (R,) and of the norms, (J, D + 1) each."""

    x: Decimals
    s: Decimals
    z: Decimals
    cone_s: list[Decimals]
    cone_z: list[Decimals]


class _PreciseProgram:
    """Its blocks are named as `solvers.programs.cone_program` does it:

    variables    lam (n,), and nus[j] (T_j,) of each column
    constraints  lam <= box (upper), lam >= 0 or -box (lower); nus[j] >= 0 (above[j]), and for max-margin
                 nus[j] <= (1 - a) lam at the column's points (below[j])
    """

    def __init__(
        self,
        required: Decimals,
        blocks: Sequence[Block],
        *,
        margin: bool,
        slope: Decimal,
        box: Decimal,
        scale: Decimal,
    ) -> None:
        self.scale = scale
        self.required, self.blocks, self.box, self.margin, self.slope = required, blocks, box, margin, slope
        sizes = [len(block.points) for block in blocks]
        self.variables, constraints = Places(), Places()
        self.lam = self.variables.block(len(required))
        self.nus = [self.variables.block(size) for size in sizes]
        self.upper, self.lower = constraints.block(len(required)), constraints.block(len(required))
        self.above = [constraints.block(size) for size in sizes]
        self.below = [constraints.block(size if margin else 0) for size in sizes]
        self.right = zeros(constraints.count)
        self.right[self.upper] = box
        if not margin:
            self.right[self.lower] = box
        self.degree = constraints.count + len(blocks)

    # -- the linear maps ------------------------------------------------------------------------------------------

    def rows(self, x: Decimals) -> Decimals:
        """What has to be at most `right`."""
        value = zeros(len(self.right))
        value[self.upper], value[self.lower] = +x[self.lam], -x[self.lam]
        for block, nu, above, below in self._of_columns():
            value[above] = -x[nu]
            if len(below):
                value[below] = (self.slope - 1) * x[self.lam[block.points]] + x[nu]
        return value

    def cones(self, x: Decimals) -> list[Decimals]:
        """-(0, p_j)."""
        found = []
        for block, nu in zip(self.blocks, self.nus, strict=True):
            p = block.on_lambda @ x[self.lam]
            if len(nu):
                p = p + block.on_nu @ x[nu]
            found.append(joined(Decimal(0), -p))
        return found

    def transposed(self, z: Decimals, cone_z: list[Decimals]) -> Decimals:
        """The transposes of `rows` and `cones`, added."""
        found = zeros(self.variables.count)
        found[self.lam] = z[self.upper] - z[self.lower]
        for block, nu, above, below in self._of_columns():
            found[nu] = -z[above]
            if len(below):
                found[self.lam[block.points]] += (self.slope - 1) * z[below]
                found[nu] += z[below]
        for block, nu, cone in zip(self.blocks, self.nus, cone_z, strict=True):
            found[self.lam] -= block.on_lambda.T @ cone[1:]
            if len(nu):
                found[nu] -= block.on_nu.T @ cone[1:]
        return found

    def weighted_squares(self, weights: Decimals) -> tuple[Decimals, list[Decimals]]:
        """The transpose of `rows` by the weights times `rows`: its diagonal over all variables, and for each column its
        entries between nu_jk and lambda at the point of that.
        """
        diagonal = zeros(self.variables.count)
        diagonal[self.lam] = weights[self.upper] + weights[self.lower]
        cross = [zeros(len(nu)) for nu in self.nus]
        for j, (block, nu, above, below) in enumerate(self._of_columns()):
            diagonal[nu] = +weights[above]
            if len(below):
                factor = self.slope - 1
                diagonal[self.lam[block.points]] += factor * factor * weights[below]
                diagonal[nu] += weights[below]
                cross[j] = factor * weights[below]
        return diagonal, cross

    def _of_columns(self) -> Iterator[tuple[Block, Indices, Indices, Indices]]:
        """Each column with its nu and the constraints on that."""
        return zip(self.blocks, self.nus, self.above, self.below, strict=True)

    # -- the method -----------------------------------------------------------------------------------------------

    def start(self) -> _State:
        """Strictly inside on the side of x, and centred: z = mu / s."""
        x = zeros(self.variables.count)
        if self.margin:
            x[self.lam] = [max(abs(r), TINY) for r in self.required]
        for block, nu in zip(self.blocks, self.nus, strict=True):
            x[nu] = x[self.lam[block.points]] * (1 - self.slope) / 2 if self.margin else max(map(abs, self.required))
        largest = max(cone[1:] @ cone[1:] for cone in self.cones(x)).sqrt()
        factor = 1 / (2 * largest) if largest else Decimal(1)
        lam = x[self.lam]
        factor = min(factor, self.box / (2 * max(map(abs, lam)))) if any(lam) else factor
        x = x * factor
        s = self.right - self.rows(x)
        cone_s = [joined(Decimal(1), -cone[1:]) for cone in self.cones(x)]
        mu = self.scale
        cone_z = []
        for cone in cone_s:
            inverse = -cone
            inverse[0] = cone[0]
            cone_z.append(mu * inverse / determinant(cone))
        return _State(x, s, mu / s, cone_s, cone_z)

    def residuals(self, state: _State) -> tuple[Decimals, Decimals, list[Decimals]]:
        """Of G'z + c = 0 in the variables; of s + G x = h in the linear constraints and the cones."""
        of_x = self.transposed(state.z, state.cone_z)
        of_x[self.lam] -= self.required
        cones = self.cones(state.x)
        unit = [joined(Decimal(1), zeros(len(s) - 1)) for s in state.cone_s]
        return (
            of_x,
            state.s + self.rows(state.x) - self.right,
            [s + c - e for s, c, e in zip(state.cone_s, cones, unit, strict=True)],
        )

    def gap(self, state: _State) -> Decimal:
        of_x, rows, cones = self.residuals(state)
        value = self.required @ state.x[self.lam]
        inner = state.s @ state.z + sum((s @ z for s, z in zip(state.cone_s, state.cone_z, strict=True)), Decimal(0))
        unit = max(abs(value), Decimal(1))
        primal = max(map(abs, of_x), default=Decimal(0)) / max(map(abs, self.required))
        dual = max(map(abs, [*rows, *(x for cone in cones for x in cone)]))
        return max(inner / unit, primal, dual)

    def optimum(self, state: _State, gap: Decimal) -> Optimum:
        lam = state.x[self.lam]
        largest = max(map(abs, lam))
        return Optimum(lam, [-z[1:] for z in state.cone_z], self.required @ lam, gap, largest * 2 > self.box)

    def step(self, state: _State) -> None:
        """One predictor and corrector step, in place."""
        scalings = [ConeScaling(s, z) for s, z in zip(state.cone_s, state.cone_z, strict=True)]
        w = roots(state.s / state.z)
        point = roots(state.s * state.z)
        system = _System(self, w, point, scalings)
        residuals = self.residuals(state)
        inner = point @ point + sum((q.point @ q.point for q in scalings), Decimal(0))
        mu = inner / self.degree
        right = -point * point
        cone_right = [-product(q.point, q.point) for q in scalings]
        first = system.solve(residuals, Decimal(1), right, cone_right)
        alpha = min(self._longest(state, first), Decimal(1))
        sigma = (1 - alpha) ** 3
        right = right - first.scaled_s * first.scaled_z + sigma * mu
        for q, (ds, dz) in enumerate(zip(first.cone_scaled_s, first.cone_scaled_z, strict=True)):
            cone_right[q] = cone_right[q] - product(ds, dz)
            cone_right[q][0] += sigma * mu
        second = system.solve(residuals, 1 - sigma, right, cone_right)
        alpha = min(self._longest(state, second) * Decimal("0.99"), Decimal(1))
        state.x = state.x + alpha * second.x
        state.s, state.z = state.s + alpha * second.s, state.z + alpha * second.z
        for j in range(len(self.blocks)):
            state.cone_s[j] = state.cone_s[j] + alpha * second.cone_s[j]
            state.cone_z[j] = state.cone_z[j] + alpha * second.cone_z[j]

    def _longest(self, state: _State, step: _Step) -> Decimal:
        longest = Decimal(2)
        for values, changes in ((state.s, step.s), (state.z, step.z)):
            for value, change in zip(values, changes, strict=True):
                if change < 0:
                    longest = min(longest, -value / change)
        for values, changes in ((state.cone_s, step.cone_s), (state.cone_z, step.cone_z)):
            for value, change in zip(values, changes, strict=True):
                longest = min(longest, to_boundary(value, change))
        return longest


@dataclass(slots=True)
class _Step:
    x: Decimals
    s: Decimals
    z: Decimals
    cone_s: list[Decimals]
    cone_z: list[Decimals]
    scaled_s: Decimals
    scaled_z: Decimals
    cone_scaled_s: list[Decimals]
    cone_scaled_z: list[Decimals]


class _System:
    """G' W^-2 G, factored: its blocks in lambda and in the nu of each column."""

    def __init__(self, program: _PreciseProgram, w: Decimals, point: Decimals, scalings: list[ConeScaling]) -> None:
        self.program, self.w, self.point, self.scalings = program, w, point, scalings
        n = len(program.lam)
        diagonal, cross = program.weighted_squares(1 / (w * w))
        whole = zeros(n, n)
        whole[np.arange(n), np.arange(n)] = diagonal[program.lam]
        self.factors: list[Decimals | None] = []
        self.links: list[Decimals] = []
        for j, (block, nu) in enumerate(zip(program.blocks, program.nus, strict=True)):
            inner = scalings[j].inverse_square
            left = inner @ block.on_lambda
            whole = whole + block.on_lambda.T @ left
            size = len(nu)
            if not size:
                self.factors.append(None)
                self.links.append(zeros(0, n))
                continue
            link = block.on_nu.T @ left
            link[np.arange(size), block.points] += cross[j]
            own = block.on_nu.T @ (inner @ block.on_nu)
            own[np.arange(size), np.arange(size)] += diagonal[nu]
            factor = cholesky(own)
            self.factors.append(factor)
            self.links.append(link)
            half = forward(factor, link)
            whole = whole - half.T @ half
        self.whole = cholesky(whole)

    def solve(
        self,
        residuals: tuple[Decimals, Decimals, list[Decimals]],
        share: Decimal,
        right: Decimals,
        cone_right: list[Decimals],
    ) -> _Step:
        """The step that removes `share` of the residuals and has lambda o (W^-1 ds + W dz) = right."""
        program, w = self.program, self.w
        of_x, of_rows, of_cones = residuals
        target = right / self.point
        cone_target = [q.quotient(r) for q, r in zip(self.scalings, cone_right, strict=True)]
        b = -share * of_rows - w * target
        cone_b = [-share * r - q.times(t) for q, r, t in zip(self.scalings, of_cones, cone_target, strict=True)]
        weighted = b / (w * w)
        cone_weighted = [q.divide_twice(r) for q, r in zip(self.scalings, cone_b, strict=True)]
        x = self._reduced(program.transposed(weighted, cone_weighted) - share * of_x)
        z = program.rows(x) / (w * w) - weighted
        cone_z = [q.divide_twice(c) - r for q, c, r in zip(self.scalings, program.cones(x), cone_weighted, strict=True)]
        scaled_z = w * z
        cone_scaled_z = [q.times(r) for q, r in zip(self.scalings, cone_z, strict=True)]
        scaled_s = target - scaled_z
        cone_scaled_s = [t - r for t, r in zip(cone_target, cone_scaled_z, strict=True)]
        cone_s = [q.times(r) for q, r in zip(self.scalings, cone_scaled_s, strict=True)]
        return _Step(x, w * scaled_s, z, cone_s, cone_z, scaled_s, scaled_z, cone_scaled_s, cone_scaled_z)

    def _reduced(self, right: Decimals) -> Decimals:
        """The solution with this right-hand side."""
        program, found = self.program, right.copy()
        rest = right[program.lam]
        for nu, factor, link in zip(program.nus, self.factors, self.links, strict=True):
            if factor is not None:
                rest = rest - link.T @ backward(factor, forward(factor, right[nu]))
        found[program.lam] = lam = backward(self.whole, forward(self.whole, rest))
        for nu, factor, link in zip(program.nus, self.factors, self.links, strict=True):
            if factor is not None:
                found[nu] = backward(factor, forward(factor, right[nu] - link @ lam))
        return found
