"""Descent to a KKT point from any network: a smooth penalty that is sharpened step by step, with kinks held on the way.

    max-margin  1/2 ||theta||^2 + C / beta sum_i log(1 + exp(beta (1 - y_i f(x_i))))
    min-norm    1/2 ||theta||^2 + C beta / 2 sum_i (f(x_i) - y_i)^2

As beta grows their minima become KKT points, up to 1 / beta, of every problem whose multipliers are below C. Neurons
slide along kinks on the way: where the boundary of one comes to rest on a point, a smooth method stalls. Such a neuron
is held there (x_i.w_j = 0) and the others go on, until the slope that its stationarity asks for leaves the Clarke
interval [a, 1]; then it is let go on the side to which it pushes.

Heuristic: nothing is promised about where it ends; the caller measures that.

Source: `docs/mathematics.md`, 10.3 "Polishing and descent".
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import numpy as np

from solvers.arrays import Bits, Floats
from solvers.clock import is_late, poll
from solvers.instance import ProblemInstance

__all__ = ["SHARPEST", "AnnealingState"]


SHARPEST: Final = 1e7
"""The last beta; beyond it the penalty is too stiff for L-BFGS in doubles."""

HELD: Final = 1e-4
"""|x.w| below this part of ||x|| ||w|| is a kink."""

LIVE: Final = 1e-3
"""A neuron smaller than this part of the largest is not held."""

CARRIED: Final = 1e-6
"""A point whose multiplier is below this part of the largest holds no neuron."""

OUTSIDE: Final = 1e-3
"""A slope this far outside [a, 1] lets its neuron go."""

ITERATIONS: Final = 2000
"""Of L-BFGS at one beta."""

PASSING: Final = 1000
"""The same while annealing, where the next beta goes on anyway."""


@dataclass(eq=False)
class AnnealingState:
    """The state: weights W (k, c), outgoing v (k,), which kinks are held (k, n).

    seen (k, c): the columns that each neuron sees. ceiling: C. deadline: of `clock.now()`.
    """

    instance: ProblemInstance
    seen: Bits
    W: Floats
    v: Floats
    ceiling: float
    deadline: float | None = None
    held: Bits = field(init=False)

    def __post_init__(self) -> None:
        self.held = np.zeros((len(self.W), self.instance.points), bool)

    @property
    def is_late(self) -> bool:
        """Whether the deadline has passed."""
        return is_late(self.deadline)

    def outputs(self) -> tuple[Floats, Floats]:
        """Activations (n, k) and f (n,)."""
        z = self.instance.rows @ self.W.T
        h = np.maximum(z, self.instance.slope * z)
        h[self.held.T] = 0.0
        return h, h @ self.v

    def penalty(self, f: Floats, beta: float) -> tuple[float, Floats]:
        """The penalty and minus its derivative by f: an estimate of c_i, the multiplier times its factor."""
        if not self.instance.margin:
            rest = self.instance.targets - f
            return beta * self.ceiling / 2 * float(rest @ rest), beta * self.ceiling * rest
        signs = self.instance.signs
        s = beta * (1 - signs * f)
        value = self.ceiling / beta * float(np.logaddexp(0, s).sum())
        return value, self.ceiling * signs * np.exp(-np.logaddexp(0, -s))

    def descend(self, beta: float, iterations: int = ITERATIONS, progress: float = 0.0) -> None:
        """L-BFGS at one beta, the held kinks kept; it ends when the value falls by less than this part of it."""
        from scipy.optimize import minimize

        k, c = self.W.shape
        rows, a = self.instance.rows, self.instance.slope
        bases = [(j, _span(rows[self.held[j]] * self.seen[j])) for j in np.flatnonzero(self.held.any(axis=1))]

        def projected(W: Floats) -> Floats:
            W = W * self.seen
            for j, basis in bases:
                W[j] -= basis.T @ (basis @ W[j])
            return W

        def value(theta: Floats) -> tuple[float, Floats]:
            self.W, self.v = projected(theta[: k * c].reshape(k, c)), theta[k * c :].copy()
            h, f = self.outputs()
            penalty, pull = self.penalty(f, beta)
            slopes = np.where(h > 0, 1.0, a)
            gradient = self.W - projected(((pull[:, None] * slopes) * self.v).T @ rows)
            size = float((self.W**2).sum() + (self.v**2).sum())
            return size / 2 + penalty, np.concatenate([gradient.ravel(), self.v - h.T @ pull])

        def watch(_: Floats) -> None:
            if self.is_late:
                raise StopIteration

        options = {"maxiter": iterations, "maxcor": 60, "ftol": progress, "gtol": 1e-12, "maxfun": 10**5}
        start = np.concatenate([self.W.ravel(), self.v])
        found = minimize(value, start, jac=True, method="L-BFGS-B", callback=watch, options=options)
        value(found.x)

    def anneal(self, last: float, steps: int) -> None:
        """Descend at beta = 1, ..., last, no new kinks held on the way."""
        for beta in np.geomspace(1.0, last, steps):
            if not self.is_late:
                self.descend(float(beta), PASSING, 1e-11)

    def multipliers(self, beta: float) -> Floats:
        """The estimate of lambda (n,) that the penalty gives."""
        return self.penalty(self.outputs()[1], beta)[1] / self.instance.signs

    def hold_and_release(self, beta: float) -> bool:
        """Hold the neurons that came to rest on points, let go those whose slope is outside; whether any changed."""
        rows, a = self.instance.rows, self.instance.slope
        before = self.held.copy()
        _, f = self.outputs()
        _, pull = self.penalty(f, beta)
        sizes = np.linalg.norm(self.W, axis=1)
        live = (sizes > LIVE * sizes.max()) & (self.v != 0)
        reach = sizes[:, None] * np.sqrt(self.seen @ (rows**2).T)
        near = (np.abs(self.W @ rows.T) <= HELD * reach) & (reach > 0) & (np.abs(pull) > CARRIED * np.abs(pull).max())
        self.held = (self.held | near) & live[:, None]
        for j in np.flatnonzero(self.held.any(axis=1)):
            poll()
            at = np.flatnonzero(self.held[j])
            seen = rows * self.seen[j]
            slopes = np.where(rows @ self.W[j] > 0, 1.0, a)
            slopes[at] = 0.0
            rest = self.W[j] / self.v[j] - (pull * slopes) @ seen
            wanted = np.linalg.lstsq((pull[at, None] * seen[at]).T, rest, rcond=None)[0]
            for i, slope in zip(at, wanted, strict=True):
                if a - OUTSIDE <= slope <= 1 + OUTSIDE:
                    continue
                self.held[j, i] = False
                side = np.sign(slope - a) * np.sign(self.v[j] * pull[i])
                self.W[j] += side * 2 * HELD * sizes[j] * seen[i] / np.linalg.norm(seen[i])
        return bool((before != self.held).any())


def _span(rows: Floats) -> Floats:
    """An orthonormal basis of the span of the rows."""
    _, values, right = np.linalg.svd(rows, full_matrices=False)
    return right[values > 1e-12 * values[0]]
