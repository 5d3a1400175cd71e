"""Between exact networks and the arrays that are trained."""

from __future__ import annotations

import numpy as np

from solvers.arrays import Floats, Indices
from solvers.layers import Layers
from verify.checker.errors import InputError
from verify.numbers.counts import count
from verify.numbers.floats import to_float, to_floats, to_matrix
from verify.problem.network import Architecture, Network
from verify.problem.problem import Dataset

__all__ = ["layers_of", "network_of", "parameters_of", "rows_of", "targets_of"]


def layers_of(architecture: Architecture) -> Layers:
    """The layers as index arrays; theta is the parameters of all layers, one after the other."""
    places: list[Indices] = []
    count = 0
    for layer in architecture.layers:
        indices = [[-1 if index is None else count + index for index in row] for row in layer.places]
        places.append(np.array(indices, dtype=np.intp).reshape(layer.outputs, layer.columns))
        count += layer.parameter_count
    slopes = tuple(to_float(layer.slope) for layer in architecture.layers if layer.slope is not None)
    return Layers(tuple(places), slopes)


def rows_of(data: Dataset, architecture: Architecture) -> Floats:
    """The points, shape (n, columns), with a 1 appended where the first layer has a bias."""
    if data.dimension != architecture.inputs:
        taken = count(architecture.inputs, "input")
        raise InputError(
            f"the data have {count(data.dimension, 'column')}, but the network takes {taken}: give the columns that it "
            "was trained on"
        )
    try:
        rows = to_matrix(data.inputs)
    except OverflowError:
        raise InputError("the data have numbers beyond the range of floats: scale them first") from None
    return np.column_stack([rows, np.ones(len(rows))]) if architecture.bias else rows


def targets_of(data: Dataset) -> Floats:
    """The targets, shape (n,)."""
    return to_floats(data.targets)


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
