"""What a flow of all weights conserves: for each hidden unit, its outgoing weights' squares minus its incoming ones'.

    sum_r A_(l+1)[r, j]^2 - sum_k A_l[j, k]^2   (depth 2: v_j^2 - ||w_j||^2)

Integrators conserve it only to their tolerance. Rescaling a unit, (t w_j, v_j / t), changes no output, so it is put
right exactly after each step. Only units all of whose weights move and stand nowhere else have such an invariant.

Source: arXiv:1806.00900, Theorem 2.1.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from solvers.arrays import Bits, Floats
from solvers.layers import Layers

__all__ = ["Balance"]

SWEEPS = 6  # over the layers, whose corrections touch each other


class Balance:
    """The invariants of a network whose parameters `trained` (N,) move."""

    def __init__(self, layers: Layers, trained: Bits) -> None:
        self._layers = layers
        places = np.concatenate([p.ravel() for p in layers.places])
        uses = np.bincount(places[places >= 0], minlength=layers.size)
        is_fine = np.append((uses == 1) & trained, True)  # the last stands for "no weight"
        self.units = [is_fine[into].all(axis=1) & is_fine[out].all(axis=0) for into, out in pairwise(layers.places)]

    def values(self, theta: Floats) -> list[Floats]:
        """The invariant of each unit of each hidden layer (of the others a number that changes)."""
        squares = [self._squares(theta, l) for l in range(len(self.units))]
        return [out - into for into, out in squares]

    def restored(self, theta: Floats, values: list[Floats]) -> Floats:
        """Theta with the invariants put right by rescaling units; no output changes."""
        theta = np.array(theta)
        for _ in range(SWEEPS if len(self.units) > 1 else 1):
            for l, units in enumerate(self.units):
                p, q = self._squares(theta, l)
                b, root = values[l], np.sqrt(values[l] ** 2 + 4 * p * q)
                with np.errstate(divide="ignore", invalid="ignore"):
                    square = np.where(b > 0, 2 * q / (root + b), (root - b) / (2 * p))  # q / r - p r = b at r = t^2
                    alone = np.where(p == 0, q / b, -b / p)  # w_j = 0 or v_j = 0: the other one has to make up b
                    square = np.where((p > 0) & (q > 0), square, alone)
                is_fine = units & (p + q > 0) & np.isfinite(square) & (square > 0)
                self._scale(theta, l, np.sqrt(np.where(is_fine, square, 1.0)))
        return theta

    def _scale(self, theta: Floats, l: int, factor: Floats) -> None:
        into, out = self._layers.places[l], self._layers.places[l + 1]
        rows, columns = np.broadcast_to(factor[:, None], into.shape), np.broadcast_to(factor[None, :], out.shape)
        theta[into[into >= 0]] *= rows[into >= 0]
        theta[out[out >= 0]] /= columns[out >= 0]

    def _squares(self, theta: Floats, l: int) -> tuple[Floats, Floats]:
        """Of each unit of a layer: the sum of squares of its incoming and of its outgoing weights."""
        padded = np.append(theta, 0.0) ** 2
        return padded[self._layers.places[l]].sum(axis=1), padded[self._layers.places[l + 1]].sum(axis=0)
