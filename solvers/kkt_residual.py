"""How nearly a network satisfies the Clarke KKT conditions: the best multipliers and slopes, in floats.

With N = ||theta||^2, gradients h_i(g) of the (signed) outputs and slacks s_i = q_i - m:

    minimise  ||theta - sum_i lambda_i h_i(g_i)||^2 / N + rho^2 (sum_i lambda_i s_i / N)^2,   lambda >= 0, g_ij in [a, 1] at kinks.

For a point with kinks the products lambda_i h_i(g) form the cone of the h_i at the ends of the intervals, so this is a
nonnegative least-squares problem; its columns (point, ends) are generated as they are needed. Its residual z is also the
best separating direction: z . h_i(g) <= kappa s_i for all i and g, kappa = rho^2 sum lambda_i s_i / N.

Source: arXiv:1906.05890v4, Definition 2 (approximate KKT points); arXiv:2110.02732, Theorem 2.1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["KktFit", "LocalModel", "fit_multipliers"]

Array = NDArray[np.float64]
FIRST_COLUMNS = 200
COLUMNS_PER_ROUND = 100
VIOLATION = 1e-9


@dataclass(frozen=True, slots=True)
class LocalModel:
    """A depth-2 network on its data, as arrays.

    rows (n, c), signs (n,): y_i for max-margin, 1 for min-norm; slope a; weights (k, c), outgoing (k,);
    on, kink (k, n): the exact activation pattern; counted (c,): columns in the norm; allowed (k, c): not masked;
    slacks (n,): q_i - m >= 0 (zeros for min-norm); norm: N = ||theta||^2.
    """

    rows: Array
    signs: Array
    slope: float
    weights: Array
    outgoing: Array
    on: NDArray[np.bool_]
    kink: NDArray[np.bool_]
    counted: NDArray[np.bool_]
    allowed: NDArray[np.bool_]
    slacks: Array
    norm: float

    def parameters(self) -> Array:
        """theta / sqrt N as one vector (k c + k,), 0 at a free bias."""
        w = np.where(self.counted[None, :], self.weights, 0.0)
        return np.concatenate([w.ravel(), self.outgoing]) / np.sqrt(self.norm)

    def scaling(self) -> Array:
        """theta / sqrt N with the bias also when it is free: its product with h_i is 2 q_i / sqrt N for every point and slope (Euler)."""
        return np.concatenate([self.weights.ravel(), self.outgoing]) / np.sqrt(self.norm)

    def gradient(self, point: int, ends: NDArray[np.bool_]) -> Array:
        """h_i / sqrt N with slope 1 where `ends` (k,) and a elsewhere at the kinks of the point."""
        active = np.where(self.kink[:, point], ends, self.on[:, point])
        slopes = np.where(active, 1.0, self.slope)
        x = self.rows[point]
        w = np.where(self.allowed, (self.outgoing * slopes)[:, None] * x, 0.0)
        z = self.weights @ x
        v = np.where(self.kink[:, point], 0.0, np.where(self.on[:, point], z, self.slope * z))
        return self.signs[point] * np.concatenate([w.ravel(), v]) / np.sqrt(self.norm)

    def best_ends(self, direction: Array) -> tuple[Array, NDArray[np.bool_]]:
        """sup over the kink slopes of direction . h_i for every point (n,), and the ends (k, n) that reach it."""
        k, c = self.weights.shape
        toward = np.where(self.allowed, direction[: k * c].reshape(k, c), 0.0)
        pull = (self.outgoing[:, None] * (toward @ self.rows.T)) * self.signs
        z = self.weights @ self.rows.T
        value = np.where(self.kink, 0.0, np.where(self.on, z, self.slope * z)) * self.signs
        ends = np.where(self.kink, pull > 0, self.on)
        gain = (np.where(ends, 1.0, self.slope) * pull).sum(axis=0) + direction[k * c :] @ value
        return gain / np.sqrt(self.norm), ends


@dataclass(frozen=True, slots=True)
class KktFit:
    """multipliers (n,); kink_products {(point, neuron): lambda_i g_ij}; residual (k c + k,) in units of sqrt N;
    epsilon = ||residual||, delta = sum lambda s / N, kappa (of the normalised problem);
    basis: the (point, ends) columns with positive weight, linearly independent, and their weights.
    """

    multipliers: Array
    kink_products: dict[tuple[int, int], float]
    residual: Array
    epsilon: float
    delta: float
    kappa: float
    basis: tuple[tuple[int, NDArray[np.bool_], float], ...]


def fit_multipliers(
    model: LocalModel,
    rho: float,
    *,
    candidates: NDArray[np.intp] | None = None,
    free_signs: bool = False,
    negative: frozenset[int] = frozenset(),
) -> KktFit:
    """The best multipliers for the weight `rho` on complementarity (see the module).

    candidates: the points that may have a multiplier (all by default).
    free_signs (min-norm): points without kinks may have multipliers of either sign; points with kinks have a negative one
    exactly when they are in `negative` (one call per sign branch).
    """
    from scipy.optimize import nnls

    n = len(model.rows)
    allowed_points = np.arange(n) if candidates is None else candidates
    has_kink = (model.kink & (model.outgoing != 0)[:, None]).any(axis=0)
    target = model.parameters()
    slack = model.slacks / model.norm
    first = allowed_points[np.argsort(slack[allowed_points], kind="stable")[:FIRST_COLUMNS]]
    columns: dict[tuple[int, int, bytes], tuple[int, NDArray[np.bool_], int]] = {}

    def add(point: int, ends: NDArray[np.bool_], sign: int) -> bool:
        relevant = ends & model.kink[:, point]
        key = (point, sign, relevant.tobytes())
        if key in columns:
            return False
        columns[key] = (point, relevant, sign)
        return True

    def signs_of(point: int) -> tuple[int, ...]:
        if not free_signs:
            return (1,)
        if has_kink[point]:
            return (-1,) if point in negative else (1,)
        return (1, -1)

    nothing = np.zeros(len(model.outgoing), bool)
    for i in first:
        for sign in signs_of(int(i)):
            add(int(i), nothing, sign)
    weights, matrix, residual, delta = np.zeros(0), np.zeros((len(target), 0)), target, 0.0
    for _ in range(200):
        chosen = list(columns.values())
        matrix = np.array([sign * model.gradient(i, ends) for i, ends, sign in chosen]).T
        extra = rho * np.array([slack[i] for i, _, _ in chosen])
        try:
            weights, _ = nnls(np.vstack([matrix, extra]), np.append(target, 0.0), maxiter=20 * len(chosen) + 1000)
        except RuntimeError:
            break
        residual = target - matrix @ weights
        delta = float(extra @ weights) / rho if rho > 0 else float(np.array([slack[i] for i, _, _ in chosen]) @ weights)
        kappa = rho * rho * delta
        added = 0
        for sign in (1, -1) if free_signs else (1,):
            gain, ends = model.best_ends(sign * residual)
            excess = gain - kappa * slack
            order = allowed_points[np.argsort(-excess[allowed_points], kind="stable")[:COLUMNS_PER_ROUND]]
            for i in order:
                if excess[i] > VIOLATION * max(1.0, float(np.linalg.norm(residual))) and sign in signs_of(int(i)):
                    added += add(int(i), ends[:, i], sign)
        if not added:
            break
    multipliers = np.zeros(n)
    products: dict[tuple[int, int], float] = {}
    basis = []
    for (i, ends, sign), weight in zip(list(columns.values())[: len(weights)], weights, strict=True):
        if weight <= 0:
            continue
        multipliers[i] += sign * weight
        basis.append((i, ends, sign * float(weight)))
        for j in np.flatnonzero(model.kink[:, i]):
            key = (i, int(j))
            products[key] = products.get(key, 0.0) + sign * float(weight) * (1.0 if ends[j] else model.slope)
    return KktFit(
        multipliers, products, residual, float(np.linalg.norm(residual)), delta, rho * rho * delta, tuple(basis)
    )
