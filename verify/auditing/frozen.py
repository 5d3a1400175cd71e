"""First layers that are not trained, of a network that is read: what they give is the data of the question about the
others. Those of a model of a framework are left out in reading it, its biases as they are (`verify.readers.bodies`).
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from verify.checker.errors import InputError
from verify.deciders.depth.arrays import activated
from verify.problem.network import Architecture, Layer, Network
from verify.problem.problem import Dataset
from verify.readers.bodies import check_frozen, note_on_frozen
from verify.readers.given import Given
from verify.readers.reading import frozen_given

__all__ = ["features", "frozen_at", "head"]


def frozen_at(found: Given, layers: object) -> Given:
    """The network without its first layers, on what these give at the points. Raises InputError.

    Everything that is said is about the rest: its own norm, its own widths, the features as inputs.
    """
    layers = frozen_given(layers)
    if not layers or found.is_frozen:
        return found
    network, depth = found.network, found.network.architecture.depth
    check_frozen(layers, depth)
    if len(network.parameters) > depth:
        raise InputError(
            f"frozen is {layers}, and the network has an output bias, which is asked of two trained layers"
        )
    data = found.data.mapped(inputs=features(network, found.data, layers)).placed(None)
    kept = head(network, layers)
    exact = kept if network.is_exact else kept.as_from_floats()
    return replace(found, is_model=True, network=exact, data=data, notes=(*found.notes, note_on_frozen(layers, data)))


def head(network: Network, layers: int) -> Network:
    """The network of the layers after the first ones."""
    shape = network.architecture.layers[layers:]
    return Network(Architecture(map(Layer.of, shape)), network.parameters[layers:])


def features(network: Network, data: Dataset, layers: int) -> list[tuple[Fraction, ...]]:
    """What the first layers give at each point, exactly."""
    bias = network.architecture.bias
    rows = [(*x, Fraction(1)) if bias else x for x in data.inputs]
    return [activated(network, row, layers) for row in rows]
