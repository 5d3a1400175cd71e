"""A problem with several outputs as arrays, and what its losses and its dual function are worth.

    F = sum_i l(y_i, f(x_i)) + 1/2 (mu_w ||W||^2 + mu_v ||V||^2 + mu_b ||b||^2),   f(x) = sum_j V_j s(w_j.x) + b

Source: `docs/vector.md`, 1 "The problems".
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from solvers.arrays import Floats

__all__ = ["VectorInstance", "activated"]


def activated(values: Floats, slope: float) -> Floats:
    """s(z) = max(z, a z)."""
    return np.maximum(values, slope * values)


@dataclass(frozen=True, slots=True, eq=False)
class VectorInstance:
    """rows: lifted points, shape (n, c).   targets: y_i, shape (n, K), unit vectors for classes.   slope: a.

    is_free: whether the last coordinate of the rows, 1, is met by hidden biases that do not count in the norm.
    kind: of the loss, "squared" or "cross-entropy", "" where constraints are to be met: f(x_i) = y_i, or with `margin`
    that the output of the class is larger than the others by 1.   decays: mu_w, mu_v.   output_bias: mu_b, 0 for a
    free output bias, None for none.
    """

    rows: Floats
    targets: Floats
    slope: float
    kind: str
    decays: tuple[float, float]
    output_bias: float | None
    margin: bool = False
    is_free: bool = False

    @property
    def is_loss(self) -> bool:
        """Whether every network has an objective; else constraints have to be met."""
        return self.kind != ""

    @property
    def price(self) -> float:
        """m = sqrt(mu_w mu_v)."""
        return float(np.sqrt(self.decays[0] * self.decays[1]))

    @property
    def counted(self) -> int:
        """How many columns of the hidden layer count in the norm."""
        return self.rows.shape[1] - self.is_free

    def unit(self, vectors: Floats) -> Floats:
        """The vectors (B, c) over their norms, those of norm 0 left out."""
        sizes = np.linalg.norm(vectors[:, : self.counted], axis=1)
        return vectors[sizes > 0] / sizes[sizes > 0, None]

    def outputs(self, hidden: Floats, output: Floats, shift: Floats | None) -> Floats:
        """f(x_i), shape (n, K), of w_j (width, c), V_j as rows (width, K) and b (K,)."""
        found = activated(self.rows @ hidden.T, self.slope) @ output
        return found if shift is None else found + shift

    def loss(self, outputs: Floats) -> float:
        """The sum of the losses; 0 for constraints."""
        if self.kind == "squared":
            return float(0.5 * ((self.targets - outputs) ** 2).sum())
        if self.kind == "cross-entropy":
            top = outputs.max(axis=1, keepdims=True)
            sums = np.log(np.exp(outputs - top).sum(axis=1)) + top[:, 0]
            return float((sums - (self.targets * outputs).sum(axis=1)).sum())
        return 0.0

    def steepest(self, outputs: Floats) -> Floats:
        """C_i = -grad l(y_i, f_i), shape (n, K), of a loss."""
        if self.kind == "squared":
            return self.targets - outputs
        powers = np.exp(outputs - outputs.max(axis=1, keepdims=True))
        return self.targets - powers / powers.sum(axis=1, keepdims=True)

    def vector(self, multipliers: Floats, directions: Floats) -> Floats:
        """H(u) for each of the directions (B, c), shape (B, K)."""
        return activated(directions @ self.rows.T, self.slope) @ multipliers

    def objective(self, hidden: Floats, output: Floats, shift: Floats | None) -> float:
        """F, of a loss."""
        mu_w, mu_v = self.decays
        decay = mu_w * float((hidden[:, : self.counted] ** 2).sum()) + mu_v * float((output**2).sum())
        decay += 0.0 if shift is None or not self.output_bias else self.output_bias * float((shift**2).sum())
        return self.loss(self.outputs(hidden, output, shift)) + decay / 2

    def gradient(self, hidden: Floats, output: Floats, shift: Floats | None) -> tuple[Floats, Floats, Floats | None]:
        """The gradient of F in each of the three, with slope a at kinks."""
        mu_w, mu_v = self.decays
        values = self.rows @ hidden.T
        c = self.steepest(self.outputs(hidden, output, shift))
        slopes = np.where(values > 0, 1.0, self.slope)
        decay = np.where(np.arange(hidden.shape[1]) < self.counted, mu_w, 0.0)
        of_hidden = decay * hidden - (slopes * (c @ output.T)).T @ self.rows
        of_output = mu_v * output - activated(values, self.slope).T @ c
        of_shift = None if shift is None else (self.output_bias or 0.0) * shift - c.sum(axis=0)
        return of_hidden, of_output, of_shift
