"""Which neurons of a network make up which direction of a point."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from solvers.arrays import Floats, Indices
from solvers.kkt.pattern_polish import FloatNeurons
from verify.deciders.rounding import dyadic
from verify.deciders.witnesses import norms

__all__ = ["assign", "shares"]


def assign(p: Floats, signs: Indices, masks: Indices, neurons: FloatNeurons) -> Indices:
    """For each neuron the direction of its sign and mask at the smallest angle, below a right one; -1: none.

    A direction that no neuron is near gets the smallest neuron of its mask that is not needed elsewhere.
    """
    sizes = norms(neurons.u)
    units = neurons.u / np.where(sizes > 0, sizes, 1.0)[:, None]
    cosines = units @ (p / norms(p)[:, None]).T
    alike = neurons.masks[:, None] == masks
    cosines = np.where(alike & (neurons.signs[:, None] == signs), cosines, -1.0)
    owners = np.where(cosines.max(axis=1) > 0, cosines.argmax(axis=1), -1)
    for place in range(len(p)):
        if place in owners:
            continue
        needed = np.array([q >= 0 and (owners == q).sum() == 1 for q in owners])
        spare = np.flatnonzero(alike[:, place] & ~needed)
        if spare.size:
            owners[spare[np.argmin(sizes[spare])]] = place
    return owners


def shares(owners: Indices, neurons: FloatNeurons, count: int, flips: Indices) -> list[dict[int, Fraction]]:
    """For each direction the parts of its neurons, by their sizes, of sum exactly 1; negative where flips is -1."""
    sizes = np.maximum(norms(neurons.u), 1e-300)
    found: list[dict[int, Fraction]] = []
    for place in range(count):
        mine = np.flatnonzero(owners == place)
        total = sizes[mine].sum() if mine.size else 1.0
        parts = {int(j): max(dyadic(float(sizes[j] / total), 40), Fraction(1, 2**60)) for j in mine}
        if parts:
            largest = max(parts, key=lambda j: parts[j])
            parts[largest] += 1 - sum(parts.values())
        found.append({j: part * int(flips[j]) for j, part in parts.items()})
    return found
