"""The bound of many cones at once, minimised over the slopes by coordinate descent: the arrays are over the cones, the
loop over the points (`solvers.pricing.tree` states the bound).
"""

from __future__ import annotations

import numpy as np

from solvers.arrays import Bits, Floats
from solvers.clock import spend
from solvers.pricing.dual_function import size

BIAS_SWEEPS = 3  # sweeps with a free bias, for each one without: the multiplier of the bias is found on the way
SECONDS, SECONDS_PER_ENTRY = 1e-5, 1e-8  # of one point in one sweep, and for each entry of all p; twice with a bias
STIFFNESS = 4.0  # of the bias coordinate of p in the method of multipliers, relative to the others


class SlopeDescent:
    """Coordinate descent on ||p||^2 / (2 beta) + R over the slope variables, for a batch of nodes.

    With a free bias on ||p_w||^2 / (2 beta) + |p_b| + R; for |p_b| the method of multipliers takes a function with the
    derivative clip(stiffness p_b + theta, -1, 1), where theta, the bias at which the bound is largest, becomes that
    derivative after each sweep.
    """

    def __init__(self, rows: Floats, coefficients: Floats, slope: float, *, free: bool, beta: float) -> None:
        self.rows, self.coefficients, self.slope, self.free = rows, coefficients, slope, free
        self.beta: float | Floats = beta  # or one for each node
        self.slope_jumps = (1.0 - slope) * coefficients
        self.linear_part = slope * (coefficients @ rows)
        self.curvature = np.maximum((rows**2).sum(axis=1), 1e-300)
        self.positive = self.slope_jumps > 0

    def descend(
        self,
        t: Floats,
        low: Floats,
        high: Floats,
        chord: Bits,
        left: Floats,
        right: Floats,
        sweeps: int,
        theta: Floats | None = None,
    ) -> Floats:
        """Improve t (B, S) in place, and theta (B,); return p (B, D). chord (B, S): undecided with c_i > 0."""
        e, beta = self.slope_jumps, self.beta
        bias: Floats = np.zeros(len(t)) if theta is None else theta
        vectors = self.linear_part + t @ self.rows
        loose = np.flatnonzero(((low < high) | (t != low)).any(axis=0)).tolist()  # the others stay where they are
        for _ in range(sweeps * (BIAS_SWEEPS if self.free else 1)):
            largest = 0.0
            spend((1 + self.free) * len(loose) * (SECONDS + SECONDS_PER_ENTRY * vectors.size))
            for i in loose:
                ti = t[:, i]
                ci = chord[:, i]
                if self.positive[i] and ci.any():
                    l, r = left[:, i], right[:, i]
                    kink = e[i] * r / (l + r)
                    above = ti + self._step(vectors, bias, i, beta * l)
                    below = ti + self._step(vectors, bias, i, -beta * r)
                    new = np.where(above > kink, above, np.minimum(below, kink))
                    if not ci.all():
                        new = np.where(ci, new, ti + self._step(vectors, bias, i, 0.0))
                else:
                    new = ti + self._step(vectors, bias, i, 0.0)
                new = np.minimum(np.maximum(new, low[:, i]), high[:, i])
                step = new - ti
                t[:, i] = new
                vectors += step[:, None] * self.rows[i]
                largest = max(largest, float(np.abs(step).max(initial=0.0)) * self.curvature[i] ** 0.5)
            if self.free:
                moved = np.clip(bias + (STIFFNESS / beta) * vectors[:, -1], -1.0, 1.0)
                largest = max(largest, float(np.max(beta)) * float(np.abs(moved - bias).max(initial=0.0)))
                bias[:] = moved
            if largest <= 1e-10 * float(np.max(beta)):
                break
        return self.linear_part + t @ self.rows

    def _step(self, p: Floats, theta: Floats, i: int, pull: Floats | float) -> Floats:
        """The step of t_i to where beta times the derivative along row i, plus `pull`, is 0."""
        row, curvature = self.rows[i], self.curvature[i]
        if not self.free:
            return -(p @ row + pull) / curvature
        one, head = row[-1], max(curvature - row[-1] ** 2, 1e-300)
        gradient = p[:, :-1] @ row[:-1] + pull
        inner = -(gradient + one * (STIFFNESS * p[:, -1] + self.beta * theta)) / (head + STIFFNESS * one * one)
        slope = STIFFNESS * (p[:, -1] + one * inner) + self.beta * theta
        far = -(gradient + one * self.beta * np.sign(slope)) / head
        return np.where(np.abs(slope) <= self.beta, inner, far)

    def offsets(self, t: Floats, chord: Bits, left: Floats, right: Floats) -> Floats:
        """R (B,): the sum of the chords' offsets."""
        each = np.maximum(t * left, (self.slope_jumps - t) * right)
        return np.where(chord, each, 0.0).sum(axis=1)

    def size(self, p: Floats) -> Floats:
        """||p||, with a free bias ||p_w|| + |p_b|."""
        return size(p, free=self.free)
