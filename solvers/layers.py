"""A homogeneous network as arrays: its outputs, gradients and second derivatives at given slopes of its activations.

    f(x) = A_m s_(m-1)(A_(m-1) ... s_1(A_1 x)),   s_l(z) = max(z, a_l z)

theta is one vector; `places` says which of its entries stands where in each matrix, so that sharing, masks, diagonal
and convolutional layers are all of one kind. With the slopes g of the activations given, one for each point and unit, f
is a polynomial in theta, linear in every matrix; at a kink, where a slope may be any number in [a, 1], all values are
the same and only derivatives differ. All derivatives below are of this polynomial.

Every function takes rows of shape (n, columns): the points, with a 1 appended where the first layer has a bias.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np

from solvers.arrays import Floats, Indices

__all__ = ["Layers", "Pattern", "two_layers"]


Pattern: TypeAlias = Sequence[Floats]
"""The slopes of the activations: for each layer but the last an array of shape (n, outputs of the layer)."""


@dataclass(frozen=True)
class Layers:
    """The layers of a network without its parameters.

    places: for each layer an array of shape (outputs, columns): the index in theta of the weight there, -1 for none.
    slopes: a_l for each layer but the last, which has one output and no activation.
    """

    places: tuple[Indices, ...]
    slopes: tuple[float, ...]

    @cached_property
    def size(self) -> int:
        """The number of parameters N."""
        return 1 + max(int(places.max(initial=-1)) for places in self.places)

    @cached_property
    def _is_dense(self) -> bool:
        return np.array_equal(np.concatenate([places.ravel() for places in self.places]), np.arange(self.size))

    def matrices(self, theta: Floats) -> list[Floats]:
        """The weight matrices A_1, ..., A_m, with 0 where there is no weight."""
        if self._is_dense:
            return [theta[places[0, 0] : places[-1, -1] + 1].reshape(places.shape) for places in self.places]
        padded = np.append(theta, 0.0)
        return [padded[places] for places in self.places]

    def preactivations(self, theta: Floats, rows: Floats) -> list[Floats]:
        """z_l for each layer, shape (n, outputs); those of the last are the outputs f(x_i), shape (n, 1)."""
        values, state = [], rows
        for matrix, slope in zip(self.matrices(theta), (*self.slopes, 1.0), strict=True):
            z = state @ matrix.T
            values.append(z)
            state = np.maximum(z, slope * z)
        return values

    def inputs(self, theta: Floats, rows: Floats) -> list[Floats]:
        """The inputs of each layer: the rows, then the activations."""
        hidden = zip(self.preactivations(theta, rows), self.slopes, strict=False)
        return [rows, *(np.maximum(z, slope * z) for z, slope in hidden)]

    def outputs(self, theta: Floats, rows: Floats) -> Floats:
        """f(x_i), shape (n,)."""
        return self.preactivations(theta, rows)[-1][:, 0]

    def pattern(self, preactivations: Sequence[Floats]) -> list[Floats]:
        """The slopes at these preactivations: 1 where z > 0, a where z < 0, and (1 + a) / 2 where z = 0."""
        pairs = zip(preactivations, self.slopes, strict=False)
        return [(1 + slope) / 2 + (1 - slope) / 2 * np.sign(z) for z, slope in pairs]

    def preactivations_at(self, theta: Floats, rows: Floats, pattern: Pattern) -> list[Floats]:
        """As `preactivations`, of the polynomial with these slopes: on both sides of a kink the same."""
        matrices = self.matrices(theta)
        states = self._states(matrices, rows, pattern)
        return [state @ matrix.T for matrix, state in zip(matrices, states, strict=True)]

    def gradient(self, theta: Floats, rows: Floats, pattern: Pattern, pull: Floats) -> Floats:
        """The gradient of sum_i pull_i f(x_i) by theta, shape (N,)."""
        return self.pulled(theta, rows, pattern, lambda _: pull)[1]

    def pulled(
        self, theta: Floats, rows: Floats, pattern: Pattern, pull: Callable[[Floats], Floats]
    ) -> tuple[Floats, Floats]:
        """The outputs f(x_i) at these slopes, and the gradient of sum_i c_i f(x_i) with c = pull(outputs)."""
        matrices = self.matrices(theta)
        states = self._states(matrices, rows, pattern)
        outputs = (states[-1] @ matrices[-1].T)[:, 0]
        backs = self._backs(matrices, pattern, pull(outputs)[:, None])
        return outputs, self._collected([back.T @ state for back, state in zip(backs, states, strict=True)])

    def jacobian(self, theta: Floats, rows: Floats, pattern: Pattern) -> Floats:
        """The gradients of f(x_i) by theta, shape (n, N)."""
        passes = self._passes(self.matrices(theta), rows, pattern, np.ones((len(rows), 1)))
        return self._collected([back[:, :, None] * state[:, None, :] for back, state in passes])

    def hessian_product(
        self, theta: Floats, rows: Floats, pattern: Pattern, pull: Floats, directions: Floats
    ) -> Floats:
        """The second derivative of sum_i pull_i f(x_i) by theta, times each direction; (m, N) in, (m, N) out."""
        matrices, passes = self.matrices(theta), self._passes(self.matrices(theta), rows, pattern, pull[:, None])
        padded = np.concatenate([directions, np.zeros((len(directions), 1))], axis=1)
        changes = [padded[:, places] for places in self.places]
        states = [np.zeros((len(directions), *rows.shape))]  # the changes of the layers' inputs
        for (_, state), slopes, matrix, change in zip(passes, pattern, matrices, changes, strict=False):
            states.append(slopes * (states[-1] @ matrix.T + state @ change.swapaxes(1, 2)))
        back_change = np.zeros((len(directions), len(rows), 1))
        blocks: list[Floats] = []
        for l in reversed(range(len(matrices))):
            back, state = passes[l]
            blocks.append(back_change.swapaxes(1, 2) @ state + back.T @ states[l])
            if l:
                back_change = pattern[l - 1] * (back_change @ matrices[l] + back @ changes[l])
        return self._collected(list(reversed(blocks)))

    def hessian(self, theta: Floats, rows: Floats, pattern: Pattern, pull: Floats) -> Floats:
        """The second derivative of sum_i pull_i f(x_i) by theta, shape (N, N)."""
        if len(self.places) != 2:
            return self.hessian_product(theta, rows, pattern, pull, np.eye(self.size))
        mixed = (pattern[0] * pull[:, None]).T @ rows  # by v_j and w_jk; the others are 0
        first, second = self.places
        here = (first >= 0) & (second[0] >= 0)[:, None]
        places = first[here], np.broadcast_to(second[0][:, None], first.shape)[here]
        result = np.zeros((self.size, self.size))
        np.add.at(result, places, mixed[here])
        np.add.at(result, places[::-1], mixed[here])
        return result

    def by_activations(self, theta: Floats, points: int, pattern: Pattern) -> list[Floats]:
        """The derivatives of f(x_i) by s_l(z) for each hidden layer, point and unit, (n, outputs of the layer)."""
        matrices = self.matrices(theta)
        backs = self._backs(matrices, pattern, np.ones((points, 1)))
        return [back @ matrix for back, matrix in zip(backs[1:], matrices[1:], strict=True)]

    def unit_gradient(
        self, theta: Floats, rows: Floats, pattern: Pattern, layer: int, point: int, unit: int
    ) -> tuple[Floats, float]:
        """Of a hidden unit at a point: the gradient of its preactivation z by theta, the derivative of f by s(z)."""
        matrices = self.matrices(theta)
        row, slopes = rows[point : point + 1], [g[point : point + 1] for g in pattern]
        onwards = np.ones((1, 1))
        for l in reversed(range(layer + 1, len(matrices))):
            onwards = onwards @ matrices[l]
            if l > layer + 1:
                onwards = onwards * slopes[l - 1]
        start = np.zeros((1, matrices[layer].shape[0]))
        start[0, unit] = 1.0
        passes = self._passes(matrices[: layer + 1], row, slopes[:layer], start)
        blocks = [back.T @ state for back, state in passes]
        blocks += [np.zeros(places.shape) for places in self.places[layer + 1 :]]
        return self._collected(blocks), float(onwards[0, unit])

    def _passes(
        self, matrices: Sequence[Floats], rows: Floats, pattern: Pattern, seed: Floats
    ) -> list[tuple[Floats, Floats]]:
        """For each layer the derivatives by its preactivations, `seed` at the last, and its inputs."""
        backs = self._backs(matrices, pattern, seed)
        return list(zip(backs, self._states(matrices, rows, pattern), strict=True))

    def _states(self, matrices: Sequence[Floats], rows: Floats, pattern: Pattern) -> list[Floats]:
        """The inputs of each layer."""
        states = [rows]
        for matrix, slopes in zip(matrices[:-1], pattern, strict=True):
            states.append(slopes * (states[-1] @ matrix.T))
        return states

    def _backs(self, matrices: Sequence[Floats], pattern: Pattern, seed: Floats) -> list[Floats]:
        """The derivatives by each layer's preactivations, `seed` at the last."""
        backs = [seed]
        for matrix, slopes in zip(reversed(matrices[1:]), reversed(list(pattern)), strict=True):
            backs.append(slopes * (backs[-1] @ matrix))
        return backs[::-1]

    def _collected(self, blocks: Sequence[Floats]) -> Floats:
        """Derivatives by the matrices' entries, shape (..., outputs, columns), gathered by parameter, (..., N)."""
        flat = np.concatenate([block.reshape(*block.shape[:-2], -1) for block in blocks], axis=-1)
        if self._is_dense:
            return flat
        indices = np.concatenate([places.ravel() for places in self.places])
        result = np.zeros((*flat.shape[:-1], self.size + 1))  # the last one takes what stands where there is no weight
        np.add.at(result.T, indices, flat.T)
        return result[..., :-1]


def two_layers(columns: int, width: int, slope: float) -> Layers:
    """The dense network of depth 2; theta is W, row by row, then v."""
    first = np.arange(width * columns).reshape(width, columns)
    return Layers((first, width * columns + np.arange(width)[None, :]), (slope,))
