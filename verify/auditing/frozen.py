"""First layers that are not trained: what they give, exactly, is the data of the question about the others."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from verify.checker.errors import InputError
from verify.deciders.depth.arrays import activated
from verify.numbers.arguments import wrong
from verify.numbers.counts import count
from verify.problem.network import Architecture, Layer, Network
from verify.problem.phrases import FROZEN
from verify.problem.problem import Dataset
from verify.readers.given import Given

__all__ = ["features", "frozen_at", "head"]


def frozen_at(found: Given, layers: object) -> Given:
    """The network without its first layers, on what these give at the points. Raises InputError.

    Everything that is said is about the rest: its own norm, its own widths, the features as inputs.
    """
    remedy = "give the number of first layers that are not trained, such as 1"
    if isinstance(layers, bool) or not isinstance(layers, int):
        raise wrong(layers, "frozen", remedy)
    if layers < 0:
        raise InputError(f"frozen is {layers}: {remedy}")
    if not layers:
        return found
    network, depth = found.network, found.network.architecture.depth
    if layers >= depth:
        rest = "of which at least the last is asked about" if depth > 1 else "which is what is asked about"
        raise InputError(f"frozen is {layers}, but the network has {count(depth, 'layer')}, {rest}")
    if len(network.parameters) > depth:
        raise InputError(
            f"frozen is {layers}, and the network has an output bias, which is asked of two trained layers"
        )
    data = found.data.mapped(inputs=features(network, found.data, layers)).placed(None)
    first = "the first layer is" if layers == 1 else f"the first {layers} layers are"
    gives = "it gives" if layers == 1 else "they give"
    note = f"{first}{FROZEN}{gives}, {count(data.dimension, 'feature')} for each point"
    kept = head(network, layers)
    exact = kept if network.is_exact else kept.as_from_floats()
    return replace(found, network=exact, data=data, notes=(*found.notes, note))


def head(network: Network, layers: int) -> Network:
    """The network of the layers after the first ones."""
    shape = network.architecture.layers[layers:]
    return Network(Architecture(map(Layer.of, shape)), network.parameters[layers:])


def features(network: Network, data: Dataset, layers: int) -> list[tuple[Fraction, ...]]:
    """What the first layers give at each point, exactly."""
    bias = network.architecture.bias
    rows = [(*x, Fraction(1)) if bias else x for x in data.inputs]
    return [activated(network, row, layers) for row in rows]
