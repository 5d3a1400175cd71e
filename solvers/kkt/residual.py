"""How nearly a network satisfies the Clarke KKT conditions: the best multipliers and slopes, in floats.

With N = ||theta||^2, gradients h_i(g) of the (signed) outputs and slacks s_i = q_i - m:

    minimise  ||theta - sum_i lambda_i h_i(g_i)||^2 / N + rho^2 (sum_i lambda_i s_i / N)^2,   lambda >= 0, g_ij in [a,
    1] at kinks.

For a point with kinks the products lambda_i h_i(g) form the cone of the h_i at the ends of the intervals, so this is a
nonnegative least-squares problem; its columns (point, ends) are generated as they are needed, each constraint in a unit
of its own (a power of two, of about the size of its gradients), so that points may be of any sizes. Its residual z is
also the best separating direction: z . h_i(g) <= kappa s_i for all i and g, kappa = rho^2 sum lambda_i s_i / N.

Source: arXiv:1906.05890v4, Definition 2 (approximate KKT points); arXiv:2110.02732, Theorem 2.1.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from solvers.arrays import Bits, Floats, Indices
from solvers.clock import TimeIsUpError, poll, seconds_left
from solvers.programs.nonnegative import nonnegative_least_squares

__all__ = ["KktFit", "LocalModel", "OutputBias", "fit_multipliers", "no_multipliers"]

FIRST_COLUMNS = 200
COLUMNS_PER_ROUND = 100
VIOLATION = 1e-9
FLOPS = 1e9  # a second, at least, in products of matrices
MANY_ENTRIES = 200_000  # of a matrix that is made smaller before the search among its columns
MAX_ROUNDS = 200


@dataclass(frozen=True, slots=True)
class OutputBias:
    """An output bias b of a network with the least margin m (1 for min-norm), mu_b = 1, or 0 where it is free.

    value: b.   pull: mu_b b / m, which sum_i c_i is to be.   weight: sqrt(m / mu_b), or sqrt(m) where it is free: the
    entry of b in theta is weight times pull, and in every gradient the sign of the point times the weight.
    """

    value: float
    pull: float
    weight: float


@dataclass(frozen=True, slots=True)
class LocalModel:
    """A depth-2 network on its data, as arrays. Vectors have k c + k entries, and one more for an output bias.

    rows (n, c), signs (n,): y_i for max-margin, 1 for min-norm; slope a; weights (k, c), outgoing (k,);
    on, kink (k, n): the exact activation pattern; counted (c,): columns in the norm; allowed (k, c): not masked;
    slacks (n,): q_i - m >= 0 (zeros for min-norm); norm: N = ||theta||^2.
    trains_outputs: whether the outgoing weights are variables; else their part of every vector is 0.
    bias: None where there is no output bias.
    levels: what each equation theta_p = sum_i lambda_i h_ip is multiplied with, a vector; None for 1 (see `levelled`).
    """

    rows: Floats
    signs: Floats
    slope: float
    weights: Floats
    outgoing: Floats
    on: Bits
    kink: Bits
    counted: Bits
    allowed: Bits
    slacks: Floats
    norm: float
    levels: Floats | None = None
    trains_outputs: bool = True
    bias: OutputBias | None = None

    @property
    def size(self) -> int:
        """The length of vectors."""
        return self.weights.size + len(self.outgoing) + (self.bias is not None)

    def _of_bias(self, value: float) -> Floats:
        """What belongs to the output bias, where there is one."""
        return np.zeros(0) if self.bias is None else np.array([value])

    def levelled(self) -> LocalModel:
        """The same with equations of one size, powers of two, for weights and columns of very different sizes.

        What is left over is then measured otherwise than in epsilon: only that it is 0, or not, means the same.
        """
        units = self.units()
        heads = np.abs(self.outgoing)[:, None] * (np.abs(self.rows) / units[:, None]).max(axis=0, initial=0.0)
        tails = (np.abs(self.weights @ self.rows.T) / units).max(axis=1, initial=0.0)
        target = np.abs(self.parameters())
        weight = 0.0 if self.bias is None else self.bias.weight
        last = self._of_bias(float((weight * np.abs(self.signs) / units).max(initial=0.0)))
        found = np.concatenate([np.where(self.allowed, heads, 0.0).ravel(), tails, last]) / np.sqrt(self.norm)
        return replace(self, levels=1.0 / _powers_of_two(np.where(target > 0, target, found)))

    def parameters(self) -> Floats:
        """theta / sqrt N as one vector, 0 at a free bias."""
        w = np.where(self.counted[None, :], self.weights, 0.0)
        last = self._of_bias(0.0 if self.bias is None else self.bias.weight * self.bias.pull)
        return np.concatenate([w.ravel(), self._trained(self.outgoing), last]) / np.sqrt(self.norm)

    def scaling(self) -> Floats:
        """theta / sqrt N with the bias also when it is free: its product with h_i is 2 q_i / sqrt N for every point and
        slope (Euler), with twice an output bias; q_i / sqrt N where the outgoing weights are not trained.
        """
        last = self._of_bias(0.0 if self.bias is None else 2 * self.bias.value / self.bias.weight)
        return np.concatenate([self.weights.ravel(), self._trained(self.outgoing), last]) / np.sqrt(self.norm)

    def _trained(self, tails: Floats) -> Floats:
        """What belongs to the outgoing weights, where they are variables."""
        return tails if self.trains_outputs else np.zeros_like(tails)

    def gradient(self, point: int, ends: Bits) -> Floats:
        """h_i / sqrt N with slope 1 where `ends` (k,) and a elsewhere at the kinks of the point."""
        active = np.where(self.kink[:, point], ends, self.on[:, point])
        slopes = np.where(active, 1.0, self.slope)
        x = self.rows[point]
        w = np.where(self.allowed, (self.outgoing * slopes)[:, None] * x, 0.0)
        z = self.weights @ x
        v = np.where(self.kink[:, point], 0.0, np.where(self.on[:, point], z, self.slope * z))
        last = self._of_bias(0.0 if self.bias is None else self.bias.weight)
        return self.signs[point] * np.concatenate([w.ravel(), self._trained(v), last]) / np.sqrt(self.norm)

    def units(self) -> Floats:
        """For each point a power of two (n,), of about the largest entry of its column, h_i / sqrt N as levelled."""
        k, c = self.weights.shape
        levels = np.ones(self.size) if self.levels is None else self.levels
        pull = np.where(self.allowed, levels[: k * c].reshape(k, c) * np.abs(self.outgoing)[:, None], 0.0)
        heads = (np.abs(self.rows) * pull.max(axis=0, initial=0.0)).max(axis=1, initial=0.0)
        ends = levels[k * c : k * c + k, None]
        tails = self._trained((np.abs(self.weights @ self.rows.T) * ends).max(axis=0, initial=0.0))
        last = 0.0 if self.bias is None else self.bias.weight * float(levels[-1])
        return _powers_of_two(np.abs(self.signs) * np.maximum(np.maximum(heads, tails), last) / np.sqrt(self.norm))

    def best_ends(self, direction: Floats) -> tuple[Floats, Bits]:
        """sup over the kink slopes of direction . h_i for every point (n,), and the ends (k, n) that reach it."""
        k, c = self.weights.shape
        toward = np.where(self.allowed, direction[: k * c].reshape(k, c), 0.0)
        pull = (self.outgoing[:, None] * (toward @ self.rows.T)) * self.signs
        z = self.weights @ self.rows.T
        value = np.where(self.kink, 0.0, np.where(self.on, z, self.slope * z)) * self.signs
        ends = np.where(self.kink, pull > 0, self.on)
        gain = (np.where(ends, 1.0, self.slope) * pull).sum(axis=0) + direction[k * c : k * c + k] @ value
        if self.bias is not None:
            gain = gain + direction[-1] * self.bias.weight * self.signs
        return gain / np.sqrt(self.norm), ends


def _powers_of_two(sizes: Floats) -> Floats:
    """Above each size, by a factor of at most 2; 1 for 0 and what is no number."""
    is_one = ~np.isfinite(sizes) | (sizes == 0)
    return np.ldexp(1.0, np.where(is_one, 0, np.frexp(np.where(is_one, 1.0, sizes))[1]))


@dataclass(frozen=True, slots=True)
class KktFit:
    """multipliers (n,); kink_products {(point, neuron): lambda_i g_ij};
    residual: a vector in units of sqrt N, the separating direction (of a levelled model times its levels);
    epsilon = ||residual|| (of a levelled model: of its equations, in parts of their right sides);
    delta = sum lambda s / N, kappa (of the normalised problem);
    basis: the (point, ends) columns with positive weight, linearly independent, and their weights.
    """

    multipliers: Floats
    kink_products: dict[tuple[int, int], float]
    residual: Floats
    epsilon: float
    delta: float
    kappa: float
    basis: tuple[tuple[int, Bits, float], ...]


def fit_multipliers(
    model: LocalModel,
    rho: float,
    *,
    candidates: Indices | None = None,
    free_signs: bool = False,
    negative: frozenset[int] = frozenset(),
) -> KktFit:
    """The best multipliers for the weight `rho` on complementarity (see the module).

    candidates: the points that may have a multiplier (all by default).
    free_signs (min-norm): points without kinks may have multipliers of either sign; points with kinks have a negative
    one exactly when they are in `negative` (one call per sign branch).
    """
    points = np.arange(len(model.rows)) if candidates is None else candidates
    pool = _Pool(model, free_signs, negative)
    levels = 1.0 if model.levels is None else model.levels
    target, slack = model.parameters() * levels, model.slacks / model.norm
    for i in points[np.argsort((slack / pool.units)[points], kind="stable")[:FIRST_COLUMNS]]:
        for sign in (1, -1):
            pool.add(int(i), np.zeros(len(model.outgoing), bool), sign)
    weights, residual, delta = np.zeros(0), target, 0.0
    for _ in range(MAX_ROUNDS):
        poll()
        loose = pool.slacks(slack)
        stacked = pool.matrix(rho * loose)
        matrix = stacked[:-1]
        try:
            weights = nonnegative_least_squares(*_shortened(stacked, np.append(target, 0.0)))
        except RuntimeError:
            break
        residual, delta = target - matrix @ weights, float(loose @ weights)
        threshold = VIOLATION * max(1.0, float(np.linalg.norm(residual)))
        bound, toward = rho * rho * delta * slack, residual * levels
        if not sum(pool.extend(toward, bound, points, sign, threshold) for sign in (1, -1)):
            break
    multipliers, products, basis = pool.read(weights)
    epsilon = float(np.linalg.norm(residual)) / (1.0 if model.levels is None else float(np.linalg.norm(target)))
    return KktFit(multipliers, products, residual * levels, epsilon, delta, rho * rho * delta, basis)


def _shortened(matrix: Floats, goal: Floats) -> tuple[Floats, Floats]:
    """A least-squares problem with the same solutions, of hardly more rows than columns, where there are many more.

    With [A b] = Q R the rows of Q do not matter: ||A x - b|| = ||R (x, -1)||.
    """
    rows, columns = matrix.shape
    if rows * columns < MANY_ENTRIES or rows < 2 * columns:
        return matrix, goal
    if seconds_left() < 2 * rows * columns**2 / FLOPS:
        raise TimeIsUpError
    triangle = np.asarray(np.linalg.qr(np.column_stack([matrix, goal]), mode="r"))
    return triangle[:, :-1], triangle[:, -1]


def no_multipliers(model: LocalModel) -> KktFit:
    """The fit where no constraint is active."""
    residual = model.parameters()
    return KktFit(np.zeros(len(model.rows)), {}, residual, float(np.linalg.norm(residual)), 0.0, 0.0, ())


class _Pool:
    """The columns of the least-squares problem: (point, ends at its kinks, sign of its multiplier)."""

    def __init__(self, model: LocalModel, free_signs: bool, negative: frozenset[int]) -> None:
        self.model, self.free_signs, self.negative = model, free_signs, negative
        self.has_kink = (model.kink & (model.outgoing != 0)[:, None]).any(axis=0)
        self.units = model.units()
        self.columns: dict[tuple[int, int, bytes], tuple[int, Bits, int]] = {}
        self.gradients: list[Floats] = []

    def allows(self, point: int, sign: int) -> bool:
        """Whether the multiplier of the point may have this sign."""
        if not self.free_signs:
            return sign == 1
        return not self.has_kink[point] or sign == (-1 if point in self.negative else 1)

    def add(self, point: int, ends: Bits, sign: int) -> bool:
        """Add a column; False when it is there already or not allowed."""
        relevant = ends & self.model.kink[:, point]
        key = (point, sign, relevant.tobytes())
        if key in self.columns or not self.allows(point, sign):
            return False
        self.columns[key] = (point, relevant, sign)
        levels = 1.0 if self.model.levels is None else self.model.levels
        self.gradients.append(sign * self.model.gradient(point, relevant) * levels / self.units[point])
        return True

    def extend(self, residual: Floats, bound: Floats, points: Indices, sign: int, threshold: float) -> int:
        """Add the columns with sign * residual . h_i(g) above `bound`, the worst first; returns how many are new.

        threshold: by how much, in the units of the points.
        """
        if sign < 0 and not self.free_signs:
            return 0
        gain, ends = self.model.best_ends(sign * residual)
        excess = (gain - bound) / self.units
        order = points[np.argsort(-excess[points], kind="stable")[:COLUMNS_PER_ROUND]]
        return sum(self.add(int(i), ends[:, i], sign) for i in order if excess[i] > threshold)

    def matrix(self, last: Floats) -> Floats:
        """The columns in units of their points, and a last row (columns,); shape (size + 1, columns)."""
        columns = np.empty((len(self.gradients), self.model.size + 1))
        columns[:, -1] = last
        for column, gradient in zip(columns, self.gradients, strict=True):
            column[:-1] = gradient
        return columns.T

    def slacks(self, slack: Floats) -> Floats:
        """The slack of each column's point."""
        return (slack / self.units)[[point for point, _, _ in self.columns.values()]]

    def read(self, weights: Floats) -> tuple[Floats, dict[tuple[int, int], float], tuple[tuple[int, Bits, float], ...]]:
        """Multipliers, kink products and the columns in use."""
        multipliers = np.zeros(len(self.model.rows))
        products: dict[tuple[int, int], float] = {}
        basis: list[tuple[int, Bits, float]] = []
        for (point, ends, sign), weight in zip(self.columns.values(), weights, strict=False):
            if weight <= 0:
                continue
            amount = sign * float(weight) / float(self.units[point])
            multipliers[point] += amount
            basis.append((point, ends, amount))
            for j in np.flatnonzero(self.model.kink[:, point]):
                key = (point, int(j))
                products[key] = products.get(key, 0.0) + amount * (1.0 if ends[j] else self.model.slope)
        return multipliers, products, tuple(basis)
