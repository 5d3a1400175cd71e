"""Neurons with w_j = 0 and v_j != 0: whether they stay there, and in which direction they leave.

At w_j = 0 all kinks of the neuron meet. A small w_j = r u grows at the rate v_j h(u), h(u) = sum_i c_i s(u.x_i): 0
attracts when v_j h(u) < 0 for all u; a neuron with v_j^2 > ||w_j||^2 can come there in finite time, and then rests.
It leaves when v_j h(u) > 0 for some u. Neurons that share their weights come there and leave together.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from solvers.arrays import Floats, Indices
from solvers.layers import Layers

__all__ = ["Bundle", "bundles", "direction_out"]


ROUNDS = 50  # of the ascent on the sphere
GROWTH = 1e-12  # in units of the sum of all terms: no growth below this


@dataclass(frozen=True)
class Bundle:
    """Neurons of the first layer with common weights: `weights` the indices of these, `out` those of their outgoing."""

    units: Indices
    weights: Indices
    out: Indices
    _places: Indices  # (units, columns), into `weights`; their number where there is none

    def seen(self, rows: Floats) -> Floats:
        """What each unit sees of each point, by the weights; (units * n, weights): z is the product with them."""
        result = np.zeros((len(self.units), len(rows), len(self.weights) + 1))
        for unit, line in enumerate(self._places):
            np.add.at(result[unit].T, line, rows.T)
        return result[:, :, :-1].reshape(-1, len(self.weights))


def bundles(layers: Layers) -> list[Bundle]:
    """The neurons of a depth-2 network, those that share weights together."""
    into, out = layers.places[0], layers.places[1][0]
    owner = np.arange(len(into))
    for _ in range(len(into)):
        least = np.full(layers.size, len(into))
        for unit, line in enumerate(into):
            np.minimum.at(least, line[line >= 0], owner[unit])
        new = np.array([min([owner[j], *least[line[line >= 0]]]) for j, line in enumerate(into)], dtype=np.intp)
        if np.array_equal(new, owner):
            break
        owner = new
    result: list[Bundle] = []
    for first in np.unique(owner):
        units = np.flatnonzero(owner == first)
        weights = np.unique(into[units][into[units] >= 0])
        outgoing = np.unique(out[units][out[units] >= 0])
        if len(weights) and len(outgoing):
            places = np.where(into[units] >= 0, np.searchsorted(weights, into[units]), len(weights))
            result.append(Bundle(units, weights, outgoing, places))
    return result


def direction_out(seen: Floats, slope: float, pulls: Floats) -> Floats | None:
    """A unit vector u with sum_k pulls_k s(seen_k.u) > 0, nearly a local maximum; None if none is found.

    Looks along the seen_k, against them, and along their weighted sum, and climbs from the best of these: a growing
    direction that is nowhere near can be missed.
    """
    lengths = np.linalg.norm(seen, axis=1)
    units = seen[lengths > 0] / lengths[lengths > 0, None]
    mean = pulls @ seen
    size = float(np.linalg.norm(mean))
    starts = np.concatenate([units, -units, [mean / size] if size else np.zeros((0, seen.shape[1]))])
    if not len(starts):
        return None

    def heights(directions: Floats) -> Floats:
        z = directions @ seen.T
        return np.maximum(z, slope * z) @ pulls

    values = heights(starts)
    u, best = starts[int(values.argmax())], float(values.max())
    for _ in range(ROUNDS):
        z = seen @ u
        step = (np.where(z > 0, 1.0, np.where(z < 0, slope, (1 + slope) / 2)) * pulls) @ seen
        length = float(np.linalg.norm(step))
        value = float(heights((step / length)[None, :])[0]) if length else -np.inf
        if value <= best:
            break
        u, best = step / length, value
    return u if best > GROWTH * float(np.abs(pulls) @ lengths) else None
