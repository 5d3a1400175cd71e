"""Linear layers in a row, x -> A_m s(... s(A_1 x + b_1) ...) + b_m, as a framework stores them, -> `Network`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import isfinite
from typing import final

from verify.counts import count
from verify.errors import InputError, ShapeError
from verify.network import Architecture, Layer, Network
from verify.readers.reading import Reading
from verify.readers.shorthand import Number, Shorthand, check_output_bias, settled_slope, two_layer


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class LinearLayer:
    """One linear map: weights, one row for each output, and bias, one number for each output, or None.

    weights_name, bias_name: what the framework calls them, for messages.
    """

    weights: Sequence[Sequence[Number]]
    bias: Sequence[Number] | None
    weights_name: str
    bias_name: str

    @property
    def shape(self) -> tuple[int, int]:
        """(outputs, inputs)."""
        return len(self.weights), len(self.weights[0])


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Chain:
    """Linear layers from the input to the output.

    slopes: of the activation after each layer but the last; None when the source does not hold the activations.
    remedy: how to train without an output bias, for messages.   notes: what has to be said about the reading.
    """

    layers: tuple[LinearLayer, ...]
    slopes: tuple[Number, ...] | None
    remedy: str
    notes: tuple[str, ...] = ()


def chained(stored: Chain, place: str, *, slope: object = None, output_bias: str = "refuse") -> Reading:
    """The network that `stored` describes; `place` is what messages call the source.

    slope: what the user says it is, for every hidden layer; must agree with a stored one, and is needed without one.
    output_bias: what to do with biases after the first layer that are not 0: "refuse", or "neuron" to carry them by one
        more hidden neuron in each hidden layer: the same function, another norm.

    Raises InputError.
    """
    for layer in stored.layers:
        _check_numbers(layer, place)
    _check_shapes(stored.layers, place)
    slopes = _slopes(stored, place, slope)
    check_output_bias(output_bias)
    if output_bias == "refuse":
        _refuse_later_biases(stored, place)
    if len(stored.layers) == 2:
        reading = _two_layer(stored.layers, slopes[0], place)
    else:
        reading = _deep(stored.layers, slopes)
    return Reading(reading.network, (*stored.notes, *reading.notes))


def _check_numbers(layer: LinearLayer, place: str) -> None:
    for name, rows in ((layer.weights_name, layer.weights), (layer.bias_name, [layer.bias or ()])):
        for r, row in enumerate(rows):
            for c, number in enumerate(row):
                if not isinstance(number, int | Fraction) and not (isinstance(number, float) and isfinite(number)):
                    at = f"{r}, {c}" if name == layer.weights_name else f"{c}"
                    raise InputError(
                        f"{place}: {name}[{at}] is {number}: every number must be real and finite, so train again "
                        "with a smaller step, or repair that entry"
                    )


def _check_shapes(layers: Sequence[LinearLayer], place: str) -> None:
    for layer, following in pairwise(layers):
        if layer.shape[0] != following.shape[1]:
            raise ShapeError(
                f"{place}: {layer.weights_name} gives {count(layer.shape[0], 'output')} but {following.weights_name} "
                f"takes {count(following.shape[1], 'input')}: give the layers in the order in which they are applied"
            )
    if (outputs := layers[-1].shape[0]) != 1:
        raise ShapeError(
            f"{place}: the last layer ({layers[-1].weights_name}) has {outputs} outputs, as for a softmax over classes "
            "or several targets, and its weights count in the norm one by one: train a network with one output "
            "(two classes need one logit only)"
        )


def _slopes(stored: Chain, place: str, given: object) -> tuple[Fraction, ...]:
    hidden = len(stored.layers) - 1
    if stored.slopes is not None:
        return tuple(settled_slope(own, given, place)[0] for own in stored.slopes)
    if given is None and hidden:
        raise InputError(
            f"{place} holds weights but no activation (ReLU, leaky ReLU and none look alike in it): pass the slope, 0 "
            "for ReLU (--slope 0), or read the module itself"
        )
    return (settled_slope(None, given, place)[0],) * hidden if hidden else ()


def _refuse_later_biases(stored: Chain, place: str) -> None:
    for layer in stored.layers[1:]:
        if (number := next((bias for bias in layer.bias or () if bias), None)) is not None:
            is_last = layer is stored.layers[-1]
            raise InputError(
                f"{place}: the {'output bias' if is_last else 'bias of a later layer'} {layer.bias_name} is not 0 (it "
                f"holds {number}), and a network with one is not homogeneous: {stored.remedy}pass --output-bias neuron "
                '(output_bias="neuron"), which carries it by a hidden neuron'
            )


def _two_layer(layers: Sequence[LinearLayer], slope: Fraction, place: str) -> Reading:
    hidden, output = layers
    (b2,) = output.bias or (0,)
    return two_layer(
        Shorthand(W=hidden.weights, v=output.weights[0], b=hidden.bias, b2=b2, slope=slope), place, output_bias="neuron"
    )


def _deep(layers: Sequence[LinearLayer], slopes: Sequence[Fraction]) -> Reading:
    """Depth 1, or 3 and more: a bias after the first layer is a weight of a neuron that is 1 in each hidden layer."""
    first, *later = layers
    carried = [layer.bias_name for layer in later if any(layer.bias or ())]
    rows: list[list[list[Number]]] = [[list(row) for row in layer.weights] for layer in layers]
    has_bias = first.bias is not None or bool(carried)
    if has_bias:
        rows[0] = [[*row, bias] for row, bias in zip(rows[0], first.bias or [0] * len(rows[0]), strict=True)]
    if carried:
        rows[0].append([*[0] * first.shape[1], 1])
        for i, layer in enumerate(later, start=1):
            rows[i] = [[*row, bias] for row, bias in zip(rows[i], layer.bias or [0] * len(rows[i]), strict=True)]
            if layer is not layers[-1]:
                rows[i].append([*[0] * layer.shape[1], 1])
    shape = Architecture(
        tuple(
            Layer(
                inputs=len(matrix[0]) - (has_bias and not i), outputs=len(matrix), slope=slope, bias=has_bias and not i
            )
            for i, (matrix, slope) in enumerate(zip(rows, (*slopes, None), strict=True))
        )
    )
    network = Network(shape, [[number for row in matrix for number in row] for matrix in rows])
    if not carried:
        return Reading(network)
    note = (
        f"{', '.join(carried)} became the weights of one more neuron in each hidden layer, which is always 1: the "
        "function is the same, the norm is not the one that was trained"
    )
    return Reading(network, (note,))
