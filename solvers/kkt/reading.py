"""How nearly a two-layer network is Clarke-stationary for its max-margin or min-norm problem: a reading in floats.

A trained network stands at no kink exactly. It is read with several tolerances: each time every neuron is put exactly
on the kinks near which it is, by the shortest way, and the residual is that of the network so changed, with the best
multipliers and slopes (`solvers.kkt.residual`). The best reading counts, and it says which network it is about.

Depth 2 without sharing, masks allowed, both layers counted, biases (if any) as a column of ones that counts.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from solvers.arrays import Bits, Floats, Indices
from solvers.clock import poll
from solvers.instance import ProblemInstance
from solvers.kkt.residual import LocalModel, fit_multipliers
from solvers.layers import Layers

__all__ = ["Frame", "KinkReading", "kkt_reading"]


TOLERANCES: Final = (0.0, 1e-10, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3)
"""What counts as a kink when a network is read: |x.w| up to this part of ||x|| ||w||."""

EXACT: Final = 1e-13
"""|x.w| below this part of ||x|| ||w|| is 0 up to rounding."""

LEFT: Final = 0.9
"""A reading that leaves less than this part of a neuron is none."""


@dataclass(frozen=True, slots=True, eq=False)
class KinkReading:
    """A network with its neurons put on the kinks near which they are, and its residual.

    weights W (k, c), outgoing v (k,); max-margin: of margin 1.
    residual: ||theta - sum lambda_i h_i|| / ||theta||.   slack: sum lambda_i (q_i - 1) / ||theta||^2 (min-norm: 0).
    misfit: largest |f(x_i) - y_i| / max |y_i| (max-margin: 0; inf where a point is on the wrong side).
    near (k, n): where x_i.w_j = 0.   multipliers lambda (n,).   products (k, n): lambda_i g_ij at kinks, else 0.
    """

    weights: Floats
    outgoing: Floats
    residual: float
    slack: float
    misfit: float
    near: Bits
    multipliers: Floats
    products: Floats

    @property
    def worst(self) -> float:
        """The largest of residual, slack and misfit."""
        return max(self.residual, self.slack, self.misfit)

    @property
    def kinks(self) -> tuple[tuple[int, int], ...]:
        """(point, neuron) with x_i.w_j = 0, neurons that are zero left out."""
        return tuple((int(i), int(j)) for j, i in np.argwhere(self.near))


def kkt_reading(layers: Layers, rows: ArrayLike, targets: ArrayLike, theta: Floats, *, margin: bool) -> KinkReading:
    """How nearly theta is stationary; margin: max-margin (targets +-1) or min-norm.

    Raises ValueError for layers that are not of depth 2 without sharing.
    """
    frame = Frame.of(layers, rows, targets, margin=margin)
    return frame.unscaled(frame.read(*frame.split(theta)))


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """The problem in units in which rows and targets are near 1, powers of two; u' = u row_scale / height.

    instance: in these units.   seen (k, c): which weights there are.   classes (k,): the mask class of each neuron.
    """

    layers: Layers
    instance: ProblemInstance
    seen: Bits
    classes: Indices
    row_scale: float
    height: float

    @classmethod
    def of(cls, layers: Layers, rows: ArrayLike, targets: ArrayLike, *, margin: bool) -> Frame:
        """The frame of a problem; ValueError as in `kkt_reading`, and from `ProblemInstance`."""
        if len(layers.places) != 2:
            raise ValueError(f"networks of two layers can be read, and this one has {len(layers.places)}")
        used = np.concatenate([places[places >= 0] for places in layers.places])
        if len(np.unique(used)) < len(used) or (layers.places[1] < 0).any():
            raise ValueError("networks can be read whose parameters are not shared and whose neurons are all read")
        X, y = np.asarray(rows, float), np.asarray(targets, float)
        seen = layers.places[0] >= 0
        kinds, classes = np.unique(seen, axis=0, return_inverse=True)
        row_scale = _power_of_two(float(np.linalg.norm(X, axis=1).max(initial=0.0)))
        height = 1.0 if margin else _power_of_two(float(np.abs(y).max(initial=0.0)))
        masks = tuple(np.flatnonzero(kind) for kind in kinds)
        instance = ProblemInstance(X / row_scale, y / height, slope=layers.slopes[0], masks=masks, margin=margin)
        return cls(layers, instance, seen, classes.ravel(), row_scale, height)

    @property
    def _factor(self) -> float:
        return float(np.sqrt(self.row_scale / self.height))

    def split(self, theta: Floats) -> tuple[Floats, Floats]:
        """W and v in the frame's units, both scaled by the same factor."""
        weights, outgoing = self.layers.matrices(np.asarray(theta, float))
        return weights * self._factor, outgoing[0] * self._factor

    def joined(self, weights: Floats, outgoing: Floats) -> Floats:
        """theta of W and v in the frame's units."""
        theta = np.zeros(self.layers.size)
        theta[self.layers.places[0][self.seen]] = weights[self.seen] / self._factor
        theta[self.layers.places[1][0]] = outgoing / self._factor
        return theta

    def unscaled(self, reading: KinkReading) -> KinkReading:
        """The reading in the problem's own units."""
        return replace(
            reading,
            weights=reading.weights / self._factor,
            outgoing=reading.outgoing / self._factor,
            multipliers=reading.multipliers / self.row_scale,
            products=reading.products / self.row_scale,
        )

    def outputs(self, weights: Floats, outgoing: Floats) -> Floats:
        """f at the points, (n,)."""
        z = self.instance.rows @ weights.T
        return np.maximum(z, self.instance.slope * z) @ outgoing

    def reach(self, weights: Floats) -> Floats:
        """How large |x_i.w_j| could be, (k, n)."""
        return np.linalg.norm(weights, axis=1)[:, None] * np.sqrt(self.seen @ (self.instance.rows**2).T)

    def near(self, weights: Floats, tolerance: float) -> Bits:
        """Where |x_i.w_j| is at most this part of what it could be, (k, n)."""
        if self.instance.slope == 1:
            return np.zeros((len(weights), self.instance.points), bool)
        return np.abs(weights @ self.instance.rows.T) <= max(tolerance, EXACT) * self.reach(weights)

    def read(self, weights: Floats, outgoing: Floats, guess: Floats | None = None) -> KinkReading:
        """The best reading of W and v over the tolerances.

        guess (n,): rough multipliers; for min-norm their signs decide the branch at points with kinks
        (`docs/mathematics.md`, 4.2 "A linear system, also with kinks"). Without it, those of the conditions with free
        products.
        """
        best, tried = None, set()
        for tolerance in TOLERANCES:
            near = self.near(weights, tolerance)
            if near.tobytes() in tried:
                continue
            tried.add(near.tobytes())
            moved = self._on_kinks(weights, near)
            if moved is None:
                break
            reading = self._measured(moved, outgoing, near, guess)
            if best is None or reading.worst < best.worst:
                best = reading
        return self._measured(weights, outgoing, self.near(weights, EXACT), guess) if best is None else best

    def _on_kinks(self, weights: Floats, near: Bits) -> Floats | None:
        """Each neuron moved onto its kinks; None when one would hardly be left."""
        moved = weights.copy()
        for j in np.flatnonzero(near.any(axis=1) & weights.any(axis=1)):
            poll()
            rows = self.instance.rows[near[j]] * self.seen[j]
            for _ in range(2):  # the second time removes the rounding of the first
                moved[j] -= np.linalg.lstsq(rows, rows @ moved[j], rcond=1e-10)[0]
            if np.linalg.norm(moved[j]) < LEFT * np.linalg.norm(weights[j]):
                return None
        return moved

    def _measured(self, weights: Floats, outgoing: Floats, near: Bits, guess: Floats | None) -> KinkReading:
        """The residual of this network, brought to margin 1 first."""
        instance = self.instance
        f = self.outputs(weights, outgoing)
        slacks, misfit, nothing = np.zeros(instance.points), 0.0, np.zeros(near.shape)
        if instance.margin:
            least = float((instance.signs * f).min())
            if not least > 0:
                return KinkReading(weights, outgoing, np.inf, 0.0, np.inf, near, slacks, nothing)
            weights, outgoing = weights / np.sqrt(least), outgoing / np.sqrt(least)
            slacks = np.maximum(instance.signs * f / least - 1.0, 0.0)
        else:
            misfit = float(np.abs(f - instance.targets).max())
        norm = float((weights**2).sum() + (outgoing**2).sum())
        kinks = near & (weights.any(axis=1) | (outgoing != 0))[:, None]
        if not np.isfinite(norm) or norm == 0:
            return KinkReading(weights, outgoing, norm, 0.0, misfit, kinks, slacks, nothing)
        if guess is None:
            guess = slacks if instance.margin else self._unconstrained(weights, outgoing, kinks)
        fit = fit_multipliers(
            LocalModel(
                rows=instance.rows,
                signs=instance.signs,
                slope=instance.slope,
                weights=weights,
                outgoing=outgoing,
                on=(weights @ instance.rows.T > 0) & ~kinks,
                kink=kinks,
                counted=np.ones(instance.columns, bool),
                allowed=self.seen,
                slacks=slacks,
                norm=norm,
            ),
            1.0,
            free_signs=not instance.margin,
            negative=frozenset(np.flatnonzero(guess < 0).tolist()),
        )
        products = nothing
        for (i, j), product in fit.kink_products.items():
            products[j, i] = product
        return KinkReading(weights, outgoing, fit.epsilon, fit.delta, misfit, kinks, fit.multipliers, products)

    def _unconstrained(self, weights: Floats, outgoing: Floats, kinks: Bits) -> Floats:
        """The multipliers that fit best when the slopes at kinks may be anything."""
        rows = self.instance.rows
        z = weights @ rows.T
        slopes = np.where(kinks, 0.0, np.where(z > 0, 1.0, self.instance.slope))
        hidden = (outgoing[:, None] * slopes)[:, :, None] * rows * self.seen[:, None, :]  # (k, n, c)
        columns = np.concatenate([hidden.transpose(0, 2, 1).reshape(-1, len(rows)), slopes * z])
        neurons, points = np.nonzero(kinks)
        free = np.zeros((len(columns), len(neurons)))
        width = rows.shape[1]
        places = neurons[:, None] * width + np.arange(width)
        free[places, np.arange(len(neurons))[:, None]] = outgoing[neurons, None] * rows[points] * self.seen[neurons]
        theta = np.concatenate([weights.ravel(), outgoing])
        found = np.linalg.lstsq(np.hstack([columns, free]), theta, rcond=1e-9)[0]
        return np.asarray(found[: len(rows)], dtype=np.float64)


def _power_of_two(size: float) -> float:
    """The power of two in (size / 2, size]; 1 for 0."""
    return float(np.ldexp(0.5, np.frexp(size)[1])) if size > 0 else 1.0
