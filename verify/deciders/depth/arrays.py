"""Networks of any depth as arrays: theta is the parameters of all layers, one after the other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import accumulate, pairwise

import numpy as np

from solvers.arrays import Floats, Indices
from solvers.layers import Layers
from verify.checker.depth_states import matrices_of
from verify.checker.errors import InputError
from verify.checker.exact import dot
from verify.checker.statement import Rows
from verify.numbers.floats import to_float
from verify.problem.network import Architecture, Network

__all__ = ["activated", "layers_of", "network_of", "parameters_of", "shaped"]


def activated(network: Network, row: Sequence[Fraction], layers: int) -> tuple[Fraction, ...]:
    """What the first layers give at a lifted row, exactly."""
    values = tuple(row)
    pairs = zip(network.architecture.layers[:layers], matrices_of(network), strict=False)
    for layer, matrix in pairs:
        sums = (dot(weights, values) for weights in matrix)
        values = tuple(z if z > 0 or layer.slope is None else layer.slope * z for z in sums)
    return values


def layers_of(architecture: Architecture) -> Layers:
    """The layers as index arrays."""
    places: list[Indices] = []
    count = 0
    for layer in architecture.layers:
        indices = [[-1 if index is None else count + index for index in row] for row in layer.places]
        places.append(np.array(indices, dtype=np.intp).reshape(layer.outputs, layer.columns))
        count += layer.parameter_count
    slopes = tuple(to_float(layer.slope) for layer in architecture.layers if layer.slope is not None)
    return Layers(tuple(places), slopes)


def parameters_of(network: Network) -> Floats:
    """theta, rounded to floats."""
    try:
        return np.array([to_float(weight) for layer in network.parameters for weight in layer])
    except OverflowError:
        raise InputError("the network has weights beyond the range of floats: scale it first") from None


def network_of(architecture: Architecture, theta: Floats) -> Network:
    """The network with the exact values of these floats."""
    ends = np.cumsum([layer.parameter_count for layer in architecture.layers])[:-1]
    return Network(architecture, [part.tolist() for part in np.split(theta, ends)])


def shaped(architecture: Architecture, numbers: Iterable[Fraction]) -> Rows:
    """Exact numbers by layers."""
    flat = tuple(numbers)
    counts = [layer.parameter_count for layer in architecture.layers]
    return tuple(flat[a:b] for a, b in pairwise(accumulate(counts, initial=0)))
