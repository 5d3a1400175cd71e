"""How nearly a network is stationary for a loss with weight decay: the best multipliers and slopes, in floats.

With M = mu_w ||W||^2 + mu_v ||v||^2, multipliers c_i = side_i d_i and Clarke slopes g_ij at kinks:

    minimise  ||r_w||^2 / mu_w + ||r_v||^2 / mu_v    where    sum_i phi_i(d_i) <= delta M,    least_i <= d_i <= most_i
    r_w = mu_w w_j - v_j sum_i c_i g_ij x_i,    r_v = mu_v v_j - sum_i c_i s(w_j.x_i)

phi_i(d) = lean_i (d - best_i) + bend_i / 2 (d - best_i)^2 is what d is away from the subgradients of the loss. With
p_ij = d_i g_ij between a d_i and d_i this is a convex program where no d_i changes its sign; where one may, at a point
with kinks, the sign is that of the program with the convex hull in the place of these p.

Source: `docs/mathematics.md`, 14.4 "Stationary points of a loss".
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from solvers.arrays import Bits, Floats
from solvers.instance import Status
from solvers.programs.interior_point import Cone, solve_cone_program

__all__ = ["LossFit", "LossModel", "fit_losses"]

ROOM = 1e-12
"""A multiplier that may not move by more than this part of what it may be is fixed."""


@dataclass(frozen=True, slots=True)
class LossModel:
    """A depth-2 network on its data, with a loss, as arrays.

    rows (n, c); slope a; weights (k, c), outgoing (k,); on, kink (k, n): the exact pattern; counted (c,): columns in
    the norm; allowed (k, c): not masked; hidden, output: mu_w and mu_v; size: M > 0.
    of_bias, bias_pull: of an output bias b what its residual mu_b b - sum c_i is divided by, and mu_b b; of_bias is
    None where there is none.
    side, best, least, most, lean, bend (n,): of the multipliers, see the module; least <= 0, most may be infinite.
    """

    rows: Floats
    slope: float
    weights: Floats
    outgoing: Floats
    on: Bits
    kink: Bits
    counted: Bits
    allowed: Bits
    hidden: float
    output: float
    size: float
    side: Floats
    best: Floats
    least: Floats
    most: Floats
    lean: Floats
    bend: Floats
    of_bias: float | None = None
    bias_pull: float = 0.0

    @property
    def has_kinks(self) -> Bits:
        """The points (n,) at which a neuron with an outgoing weight has its kink."""
        return (self.kink & (self.outgoing != 0)[:, None]).any(axis=0)


@dataclass(frozen=True, slots=True)
class LossFit:
    """multipliers (n,): c_i; kink_products {(point, neuron): c_i g_ij}; epsilon: the weighted norm of r over sqrt M;
    direction (k c + k,), with an output bias one more: r_w / mu_w, r_v / mu_v, that of b, over sqrt M, which separates.
    """

    multipliers: Floats
    kink_products: dict[tuple[int, int], float]
    direction: Floats
    epsilon: float


def fit_losses(model: LossModel, delta: float) -> LossFit | None:
    """The multipliers and slopes of least residual where sum phi_i <= delta M; None where the program failed."""
    program = _Program(model, delta)
    found = program.solved()
    if found is not None and program.has_hulls:
        program = _Program(_decided(model, program.multipliers(found)), delta)
        found = program.solved()
    return None if found is None else program.read(found)


def _decided(model: LossModel, d: Floats) -> LossModel:
    """The same with multipliers >= 0 at the points with kinks, the sides turned where d < 0."""
    turned = np.where(model.has_kinks & (d < 0), -1.0, 1.0)
    most = np.where(turned < 0, -model.least, model.most)
    least = np.where(model.has_kinks, 0.0, model.least)
    return replace(
        model, side=model.side * turned, best=model.best * turned, lean=model.lean * turned, most=most, least=least
    )


class _Program:
    """The variables: d of the points that are free, then p of the kinks, then the norm."""

    def __init__(self, model: LossModel, delta: float) -> None:
        self.model, self.delta = model, delta
        unit, lean = delta * model.size, np.abs(model.lean)
        bent, leaning = model.bend > 0, lean > 0
        reach = np.where(leaning, unit / np.where(leaning, lean, 1.0), np.inf)
        reach = np.where(bent, np.sqrt(2 * unit / np.where(bent, model.bend, 1.0)), reach)
        room = np.minimum(reach, model.most - model.least)
        self.free = np.flatnonzero(room > ROOM * np.maximum(np.abs(model.best), 1e-300))
        self.has_hulls = bool((model.has_kinks & (model.least < 0))[self.free].any())
        moves = model.kink & (model.outgoing != 0)[:, None]
        self.kinks = [(int(i), int(j)) for j, i in np.argwhere(moves)]
        self.places = {int(i): q for q, i in enumerate(self.free)}
        self.width = len(self.free) + len(self.kinks)
        self.matrix, self.start = self._residual()

    def _residual(self) -> tuple[Floats, Floats]:
        """r over its decays' roots and sqrt M, as matrix x + start; shape (k c + k, width)."""
        model = self.model
        k, c = model.weights.shape
        matrix, start = np.zeros((k * c + k, self.width)), np.zeros(k * c + k)
        heads, tails = np.sqrt(model.hidden * model.size), np.sqrt(model.output * model.size)
        slopes = np.where(model.kink, 0.0, np.where(model.on, 1.0, model.slope))
        z = model.weights @ model.rows.T
        values = np.where(model.kink, 0.0, np.where(model.on, z, model.slope * z))
        own = np.where(model.counted[None, :], model.hidden * model.weights, 0.0)
        fixed = np.where(np.isin(np.arange(len(model.rows)), self.free), 0.0, model.side * model.best)
        pulled = np.where(model.allowed, own - model.outgoing[:, None] * ((slopes * fixed) @ model.rows), 0.0)
        start[: k * c] = pulled.ravel() / heads
        start[k * c :] = (model.output * model.outgoing - values @ fixed) / tails
        for q, i in enumerate(self.free):
            column = model.side[i] * (model.outgoing * slopes[:, i])[:, None] * model.rows[i]
            matrix[: k * c, q] = -np.where(model.allowed, column, 0.0).ravel() / heads
            matrix[k * c :, q] = -model.side[i] * values[:, i] / tails
        for q, (i, j) in enumerate(self.kinks, len(self.free)):
            column = model.side[i] * model.outgoing[j] * np.where(model.allowed[j], model.rows[i], 0.0)
            matrix[j * c : (j + 1) * c, q] = -column / heads
        if model.of_bias is not None:
            row, unit = np.zeros((1, self.width)), np.sqrt(model.of_bias * model.size)
            row[0, : len(self.free)] = -model.side[self.free] / unit
            matrix, start = np.vstack([matrix, row]), np.append(start, (model.bias_pull - fixed.sum()) / unit)
        return matrix, start

    def solved(self) -> Floats | None:
        """The variables d and p; None where the program failed."""
        width = self.width
        if not width:
            return np.zeros(0)
        blocks: list[Floats] = []
        right: list[Floats] = []
        for row, bound in self._inequalities():
            blocks.append(row)
            right.append(bound)
        lines = np.concatenate(blocks)
        cones: list[tuple[Cone, int]] = [("nonnegative", len(lines))]
        closeness, limits = self._closeness()
        if len(closeness):
            cones.append(("second-order", len(closeness)))
        radius = np.zeros((1, width + 1))
        radius[0, -1] = -1.0
        norm = np.vstack([radius, np.hstack([-self.matrix, np.zeros((len(self.matrix), 1))])])
        cones.append(("second-order", len(norm)))
        cost = np.zeros(width + 1)
        cost[-1] = 1.0
        solution = solve_cone_program(
            cost,
            np.concatenate([lines, closeness, norm]),
            np.concatenate([*right, limits, [0.0], self.start]),
            cones,
        )
        return None if solution.status is Status.FAILED or solution.primal is None else solution.primal[:width]

    def _inequalities(self) -> list[tuple[Floats, Floats]]:
        """0 <= d <= most, a d <= p <= d, and sum phi <= delta M where no phi is bent."""
        model, width, slope = self.model, self.width, self.model.slope
        found: list[tuple[Floats, Floats]] = []

        def add(terms: dict[int, float], bound: float) -> None:
            row = np.zeros((1, width + 1))
            for place, value in terms.items():
                row[0, place] = value
            found.append((row, np.array([bound])))

        for q, i in enumerate(self.free):
            add({q: -1.0}, -float(model.least[i]))
            if np.isfinite(model.most[i]):
                add({q: 1.0}, float(model.most[i]))
        for q, (i, _) in enumerate(self.kinks, len(self.free)):
            if i in self.places and model.least[i] < 0:
                middle, wide = (1 + slope) / 2, (1 - slope) / 2 * max(float(model.most[i]), -float(model.least[i]))
                add({q: 1.0, self.places[i]: -middle}, wide)
                add({q: -1.0, self.places[i]: middle}, wide)
            elif i in self.places:
                add({q: 1.0, self.places[i]: -1.0}, 0.0)
                add({q: -1.0, self.places[i]: slope}, 0.0)
            else:
                add({q: 1.0}, float(model.best[i]))
                add({q: -1.0}, -slope * float(model.best[i]))
        leans = {q: float(model.lean[i]) for q, i in enumerate(self.free)}
        if self.delta > 0 and len(self.free) and not model.bend[self.free].any():
            unit = self.delta * model.size
            above = float(model.lean[self.free] @ model.best[self.free])
            add({q: lean / unit for q, lean in leans.items()}, 1.0 + above / unit)
        return found

    def _closeness(self) -> tuple[Floats, Floats]:
        """sum phi <= delta M as ||(2 y, u - 1)|| <= u + 1, y the bends and u what the leans leave, over delta M."""
        model, free = self.model, self.free
        if self.delta <= 0 or not len(free) or not model.bend[free].any():
            return np.zeros((0, self.width + 1)), np.zeros(0)
        unit = self.delta * model.size
        bends = np.sqrt(model.bend[free] / (2 * unit))
        rows, limits = np.zeros((len(free) + 2, self.width + 1)), np.zeros(len(free) + 2)
        leans = model.lean[free] / unit
        rows[0, : len(free)] = rows[1, : len(free)] = leans
        left = 1.0 + float(leans @ model.best[free])
        limits[0], limits[1] = left + 1.0, left - 1.0
        rows[2:, : len(free)] = -2 * np.diag(bends)
        limits[2:] = -2 * bends * model.best[free]
        return rows, limits

    def multipliers(self, found: Floats) -> Floats:
        """d of all points, within their bounds."""
        d = self.model.best.copy()
        d[self.free] = np.clip(found[: len(self.free)], self.model.least[self.free], self.model.most[self.free])
        return d

    def read(self, found: Floats) -> LossFit:
        """The fit that these variables are, cut to their bounds."""
        model, d = self.model, self.multipliers(found)
        products: dict[tuple[int, int], float] = {}
        exact = np.concatenate([d[self.free], np.zeros(len(self.kinks))])
        for q, (i, j) in enumerate(self.kinks, len(self.free)):
            low, high = sorted((model.slope * d[i], d[i]))
            exact[q] = min(max(float(found[q]), low), high)
            products[i, j] = float(model.side[i] * exact[q])
        residual = self.matrix @ exact + self.start
        k, c = model.weights.shape
        of_bias = [] if model.of_bias is None else [model.of_bias]
        units = np.concatenate([np.full(k * c, model.hidden), np.full(k, model.output), of_bias])
        return LossFit(model.side * d, products, residual / np.sqrt(units), float(np.linalg.norm(residual)))
