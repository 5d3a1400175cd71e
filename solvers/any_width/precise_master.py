"""The dual of the restricted master in many decimal digits, for data that double precision cannot tell apart.

For columns j (sign, mask, pattern) with p_j = A_j lambda + N_j nu_j, over the columns of the rows:

    max sum_i r_i lambda_i   s.t.   ||p_j|| <= 1,  |lambda_i| <= box,
    max-margin: lambda >= 0, 0 <= nu_jk <= (1 - a) lambda_i(k);      min-norm: nu >= 0.

The u_j of the primal are the multipliers of the norms. A primal-dual interior-point method with Nesterov and Todd's
scaling and Mehrotra's corrector (L. Vandenberghe, The CVXOPT linear and quadratic cone program solvers, 2010, sections
4 to 7), in arrays of `decimal.Decimal`. The nu_j of a column occur in no other one and are eliminated block by block.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np

from solvers.arrays import Indices
from solvers.clock import is_late
from solvers.programs.precise_cones import (
    ConeScaling,
    Numbers,
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
TINY = Decimal("1e-300")


@dataclass(frozen=True, slots=True)
class Block:
    """A column: on_lambda (D, n), on_nu (D, T), and the point of each nu (T,)."""

    on_lambda: Numbers
    on_nu: Numbers
    points: Indices


@dataclass(frozen=True, slots=True)
class Optimum:
    """multipliers (n,), and per block u_j (D,); gap: relative, with the residuals."""

    multipliers: Numbers
    directions: list[Numbers]
    value: Decimal
    gap: Decimal
    is_boxed: bool


def maximise(
    required: Numbers,
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
        try:
            program.step(state)
        except ArithmeticError:
            return program.optimum(state, gap) if gap < accuracy.sqrt() else None
    return None


@dataclass(slots=True)
class _State:
    """x = (lambda, nu flat); slacks s and multipliers z of the linear rows (R,) and of the norms, (J, D + 1) each."""

    lam: Numbers
    nu: Numbers
    s: Numbers
    z: Numbers
    cone_s: list[Numbers]
    cone_z: list[Numbers]


class _PreciseProgram:
    def __init__(
        self,
        required: Numbers,
        blocks: Sequence[Block],
        *,
        margin: bool,
        slope: Decimal,
        box: Decimal,
        scale: Decimal,
    ) -> None:
        self.scale = scale
        self.required, self.blocks, self.box, self.margin, self.slope = required, blocks, box, margin, slope
        n, sizes = len(required), [len(block.points) for block in blocks]
        self.starts = np.concatenate([[0], np.cumsum(sizes)]).astype(int)
        total = int(self.starts[-1])
        owners = np.concatenate([block.points for block in blocks]).astype(int) if total else np.zeros(0, int)
        every, all_nu = np.arange(n), np.arange(total)
        # linear rows: h - (on_lambda lambda[at] + on_nu nu[nu_at]) >= 0
        parts: list[tuple[Decimal, Any, Decimal, Any, Decimal]] = [
            (Decimal(1), every, Decimal(0), None, box),
            (Decimal(-1), every, Decimal(0), None, box),
        ]
        if margin:
            parts[1] = (Decimal(-1), every, Decimal(0), None, Decimal(0))
        if total:
            parts.append((Decimal(0), owners, Decimal(-1), all_nu, Decimal(0)))
            if margin:
                parts.append((slope - 1, owners, Decimal(1), all_nu, Decimal(0)))
        self.at = np.concatenate([at for _, at, _, _, _ in parts])
        self.nu_at = np.concatenate([np.zeros(len(at), int) if q is None else q for _, at, _, q, _ in parts])
        self.on_lam = np.concatenate([np.full(len(at), c, object) for c, at, _, _, _ in parts])
        self.on_nu = np.concatenate([np.full(len(at), c, object) for _, at, c, _, _ in parts])
        self.h = np.concatenate([np.full(len(at), h, object) for _, at, _, _, h in parts])
        self.has_nu = total > 0
        self.degree = len(self.at) + len(blocks)

    # -- the linear maps ------------------------------------------------------------------------------------------

    def rows(self, lam: Numbers, nu: Numbers) -> Numbers:
        value = self.on_lam * lam[self.at]
        return value + self.on_nu * nu[self.nu_at] if self.has_nu else value

    def cones(self, lam: Numbers, nu: Numbers) -> list[Numbers]:
        """-(0, p_j)."""
        found = []
        for j, block in enumerate(self.blocks):
            p = block.on_lambda @ lam
            if len(block.points):
                p = p + block.on_nu @ nu[self.starts[j] : self.starts[j + 1]]
            found.append(joined(Decimal(0), -p))
        return found

    def transposed(self, z: Numbers, cone_z: list[Numbers]) -> tuple[Numbers, Numbers]:
        lam, nu = zeros(len(self.required)), zeros(int(self.starts[-1]))
        np.add.at(lam, self.at, self.on_lam * z)
        if self.has_nu:
            np.add.at(nu, self.nu_at, self.on_nu * z)
        for j, block in enumerate(self.blocks):
            lam = lam - block.on_lambda.T @ cone_z[j][1:]
            if len(block.points):
                nu[self.starts[j] : self.starts[j + 1]] -= block.on_nu.T @ cone_z[j][1:]
        return lam, nu

    # -- the method -----------------------------------------------------------------------------------------------

    def start(self) -> _State:
        """Strictly inside on the side of x, and centred: z = mu / s."""
        n, total = len(self.required), int(self.starts[-1])
        lam = np.array([max(abs(r), TINY) for r in self.required], object) if self.margin else zeros(n)
        nu = zeros(total)
        if total:
            owners = np.concatenate([block.points for block in self.blocks]).astype(int)
            nu = lam[owners] * (1 - self.slope) / 2 if self.margin else zeros(total) + max(map(abs, self.required))
        largest = max(cone[1:] @ cone[1:] for cone in self.cones(lam, nu)).sqrt()
        factor = 1 / (2 * largest) if largest else Decimal(1)
        factor = min(factor, self.box / (2 * max(map(abs, lam)))) if any(lam) else factor
        lam, nu = lam * factor, nu * factor
        s = self.h - self.rows(lam, nu)
        cone_s = [joined(Decimal(1), -cone[1:]) for cone in self.cones(lam, nu)]
        mu = self.scale
        cone_z = []
        for cone in cone_s:
            inverse = -cone
            inverse[0] = cone[0]
            cone_z.append(mu * inverse / determinant(cone))
        return _State(lam, nu, s, mu / s, cone_s, cone_z)

    def residuals(self, state: _State) -> tuple[Numbers, Numbers, Numbers, list[Numbers]]:
        """Of G'z + c = 0 in lambda and nu; of s + G x = h in the linear rows and the cones."""
        lam, nu = self.transposed(state.z, state.cone_z)
        cones = self.cones(state.lam, state.nu)
        unit = [joined(Decimal(1), zeros(len(s) - 1)) for s in state.cone_s]
        return (
            lam - self.required,
            nu,
            state.s + self.rows(state.lam, state.nu) - self.h,
            [s + c - e for s, c, e in zip(state.cone_s, cones, unit, strict=True)],
        )

    def gap(self, state: _State) -> Decimal:
        lam, nu, rows, cones = self.residuals(state)
        value = self.required @ state.lam
        inner = state.s @ state.z + sum((s @ z for s, z in zip(state.cone_s, state.cone_z, strict=True)), Decimal(0))
        unit = max(abs(value), Decimal(1))
        primal = max(map(abs, [*lam, *nu]), default=Decimal(0)) / max(map(abs, self.required))
        dual = max(map(abs, [*rows, *(x for cone in cones for x in cone)]))
        return max(inner / unit, primal, dual)

    def optimum(self, state: _State, gap: Decimal) -> Optimum:
        largest = max(map(abs, state.lam))
        return Optimum(
            state.lam, [-z[1:] for z in state.cone_z], self.required @ state.lam, gap, largest * 2 > self.box
        )

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
        state.lam, state.nu = state.lam + alpha * second.lam, state.nu + alpha * second.nu
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
    lam: Numbers
    nu: Numbers
    s: Numbers
    z: Numbers
    cone_s: list[Numbers]
    cone_z: list[Numbers]
    scaled_s: Numbers
    scaled_z: Numbers
    cone_scaled_s: list[Numbers]
    cone_scaled_z: list[Numbers]


class _System:
    """G' W^-2 G, factored: its blocks in lambda and in the nu of each column."""

    def __init__(self, program: _PreciseProgram, w: Numbers, point: Numbers, scalings: list[ConeScaling]) -> None:
        self.program, self.w, self.point, self.scalings = program, w, point, scalings
        weights = 1 / (w * w)
        n = len(program.required)
        whole = zeros(n, n)
        diagonal = zeros(n)
        np.add.at(diagonal, program.at, program.on_lam * program.on_lam * weights)
        whole[np.arange(n), np.arange(n)] = diagonal
        total = int(program.starts[-1])
        on_nu, cross = zeros(total), zeros(total)
        if total:
            np.add.at(on_nu, program.nu_at, program.on_nu * program.on_nu * weights)
            np.add.at(cross, program.nu_at, program.on_lam * program.on_nu * weights)
        self.factors: list[Numbers | None] = []
        self.links: list[Numbers] = []
        for j, block in enumerate(program.blocks):
            inner = scalings[j].inverse_square
            left = inner @ block.on_lambda
            whole = whole + block.on_lambda.T @ left
            size = len(block.points)
            if not size:
                self.factors.append(None)
                self.links.append(zeros(0, n))
                continue
            part = slice(program.starts[j], program.starts[j + 1])
            link = block.on_nu.T @ left
            link[np.arange(size), block.points] += cross[part]
            own = block.on_nu.T @ (inner @ block.on_nu)
            own[np.arange(size), np.arange(size)] += on_nu[part]
            factor = cholesky(own)
            self.factors.append(factor)
            self.links.append(link)
            half = forward(factor, link)
            whole = whole - half.T @ half
        self.whole = cholesky(whole)

    def solve(
        self,
        residuals: tuple[Numbers, Numbers, Numbers, list[Numbers]],
        share: Decimal,
        right: Numbers,
        cone_right: list[Numbers],
    ) -> _Step:
        """The step that removes `share` of the residuals and has lambda o (W^-1 ds + W dz) = right."""
        program, w = self.program, self.w
        of_lam, of_nu, of_rows, of_cones = residuals
        target = right / self.point
        cone_target = [q.quotient(r) for q, r in zip(self.scalings, cone_right, strict=True)]
        b = -share * of_rows - w * target
        cone_b = [-share * r - q.times(t) for q, r, t in zip(self.scalings, of_cones, cone_target, strict=True)]
        weighted = b / (w * w)
        cone_weighted = [q.divide_twice(r) for q, r in zip(self.scalings, cone_b, strict=True)]
        lam, nu = program.transposed(weighted, cone_weighted)
        lam, nu = self._reduced(lam - share * of_lam, nu - share * of_nu)
        z = program.rows(lam, nu) / (w * w) - weighted
        cone_z = [
            q.divide_twice(c) - r for q, c, r in zip(self.scalings, program.cones(lam, nu), cone_weighted, strict=True)
        ]
        scaled_z = w * z
        cone_scaled_z = [q.times(r) for q, r in zip(self.scalings, cone_z, strict=True)]
        scaled_s = target - scaled_z
        cone_scaled_s = [t - r for t, r in zip(cone_target, cone_scaled_z, strict=True)]
        cone_s = [q.times(r) for q, r in zip(self.scalings, cone_scaled_s, strict=True)]
        return _Step(lam, nu, w * scaled_s, z, cone_s, cone_z, scaled_s, scaled_z, cone_scaled_s, cone_scaled_z)

    def _reduced(self, lam: Numbers, nu: Numbers) -> tuple[Numbers, Numbers]:
        """The solution with the right-hand side (lam, nu)."""
        program = self.program
        rest = lam
        for j, factor in enumerate(self.factors):
            if factor is not None:
                own = nu[program.starts[j] : program.starts[j + 1]]
                rest = rest - self.links[j].T @ backward(factor, forward(factor, own))
        found = backward(self.whole, forward(self.whole, rest))
        inner = nu.copy()
        for j, factor in enumerate(self.factors):
            if factor is not None:
                part = slice(program.starts[j], program.starts[j + 1])
                inner[part] = backward(factor, forward(factor, nu[part] - self.links[j] @ found))
        return found, inner
