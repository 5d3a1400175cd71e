"""Networks of any depth of linear maps as sources store them, with the weights that they share."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import final

from verify.checker.errors import InputError
from verify.numbers.values import Number
from verify.problem.network import Architecture, Layer, Network
from verify.readers.linear_layer import LinearLayer
from verify.readers.reading import Reading

__all__ = ["deep"]


def deep(layers: Sequence[LinearLayer], slopes: Sequence[Fraction], place: str) -> Reading:
    """Any depth: a bias after the first layer is a weight of a neuron that is 1 in each hidden layer.

    Raises InputError where places that share a weight have come to hold different numbers.
    """
    first, *later = layers
    carried = [layer.bias_name for layer in later if any(layer.bias or ())]
    tables = [_Table(layer, place) for layer in layers]
    if first.bias is not None or carried:
        tables[0].add_biases(first)
    if carried:
        tables[0].add_row(Fraction(1))
        for table, layer in zip(tables[1:], later, strict=True):
            table.add_biases(layer)
            if layer is not layers[-1]:
                table.add_row(Fraction(1))
    has_bias = first.bias is not None or bool(carried)
    shape = Architecture(
        [
            table.layer(slope, bias=has_bias and not i)
            for i, (table, slope) in enumerate(zip(tables, (*slopes, None), strict=True))
        ]
    )
    network = Network(shape, [table.parameters for table in tables])
    if not carried:
        return Reading(network)
    note = (
        f"{', '.join(carried)} became the weights of one more neuron in each hidden layer, which is always 1: the "
        "function is the same, the norm is not the one that was trained"
    )
    return Reading(network, (note,))


@final
class _Table:
    """The numbers of a layer with what each place is called: places of one name hold one parameter, None holds none."""

    def __init__(self, layer: LinearLayer, place: str) -> None:
        self.place, self.name = place, layer.weights_name
        self.rows: list[list[Number]] = [list(row) for row in layer.weights]
        self.names: list[list[object]] = [
            [(r, c) for c in range(len(row))] for r, row in enumerate(self.rows)
        ] if layer.entries is None else [list(row) for row in layer.entries]  # fmt: skip

    def add_biases(self, layer: LinearLayer) -> None:
        """A last column of the biases."""
        biases = layer.bias or [0] * len(self.rows)
        owners = range(len(self.rows)) if layer.bias_entries is None else layer.bias_entries
        for row, names, bias, owner in zip(self.rows, self.names, biases, owners, strict=True):
            row.append(bias)
            names.append(("bias", owner))

    def add_row(self, last: Number) -> None:
        """A neuron that sees the last column alone."""
        columns = len(self.rows[0])
        self.rows.append([*[0] * (columns - 1), last])
        self.names.append([("constant", c) for c in range(columns)])

    def layer(self, slope: Fraction | None, *, bias: bool) -> Layer:
        """The layer; its parameters are counted in the order in which they are met, row by row."""
        numbers = {name: i for i, name in enumerate(self._met())}
        entries = [[None if name is None else numbers[name] for name in row] for row in self.names]
        inputs = len(self.rows[0]) - bias
        return Layer(inputs=inputs, outputs=len(self.rows), slope=slope, bias=bias, entries=entries)

    @property
    def parameters(self) -> list[Number]:
        """The number that is called so at all its places."""
        return list(self._met().values())

    def _met(self) -> dict[object, Number]:
        found: dict[object, Number] = {}
        for row, names in zip(self.rows, self.names, strict=True):
            for value, name in zip(row, names, strict=True):
                if name is not None and found.setdefault(name, value) != value:
                    raise InputError(
                        f"{self.place}: what scales or shifts beside {self.name} makes the weights differ that it "
                        "shares between places: train without that"
                    )
        return found
