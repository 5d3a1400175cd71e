"""The shapes of networks as users give them: layers with slopes of any kind, masks as columns that a neuron sees.

`Layer` and `Architecture` are the records of `verify.checker.statement` with constructors that convert what they are
given and raise InputError, and with what is said of a shape.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import cast, final

from verify.checker import statement
from verify.checker.errors import InputError, ShapeError
from verify.numbers.arguments import instance_of, items_of
from verify.numbers.counts import count
from verify.numbers.decimals import nearest
from verify.numbers.values import as_input_error, rational

__all__ = ["Architecture", "Layer", "neuron_lists"]


@final
class Layer(statement.Layer):
    """One linear map and the activation after it; fields as in `verify.checker.statement.Layer`, slope a number of any
    kind.
    """

    def __init__(
        self, *, inputs: int, outputs: int, slope: object, bias: bool = False,
        entries: Iterable[Iterable[int | None]] | None = None,
    ) -> None:  # fmt: skip
        number = None if slope is None else rational(slope, "slope")
        rows = None if entries is None else neuron_lists(entries, "entries")
        places = cast("tuple[tuple[int | None, ...], ...] | None", rows)
        with as_input_error("layer"):
            super().__init__(inputs=inputs, outputs=outputs, slope=number, bias=bias, entries=places)

    def __repr__(self) -> str:
        slope = "no activation" if self.slope is None else _activation(self.slope)
        bias, masked = " with biases" if self.bias else "", "" if self.entries is None else ", masked or shared"
        return f"<Layer: {count(self.inputs, 'input')}, {count(self.outputs, 'output')}{bias}, {slope}{masked}>"

    @classmethod
    def of(cls, layer: statement.Layer) -> Layer:
        """The same layer, of this class."""
        return cls(**{name: getattr(layer, name) for name in ("inputs", "outputs", "slope", "bias", "entries")})


@final
class Architecture(statement.Architecture):
    """The layers of a network, from the input to the one output; at least one, and only the last without activation."""

    layers: tuple[Layer, ...]

    def __init__(self, layers: Iterable[statement.Layer]) -> None:
        given = [
            instance_of(statement.Layer, layer, f"layers[{i}]", "give a list of at least one Layer")
            for i, layer in enumerate(items_of(layers, "layers", "give a list of at least one Layer"))
        ]
        if not given:
            raise ShapeError("an architecture is a list of at least one Layer")
        with as_input_error():
            super().__init__(tuple(layer if isinstance(layer, Layer) else Layer.of(layer) for layer in given))

    @classmethod
    def two_layer(
        cls,
        inputs: int,
        width: int,
        *,
        slope: object = 0,
        bias: bool = False,
        masks: Iterable[Iterable[int]] | None = None,
    ) -> Architecture:
        """Depth 2 without sharing: `masks` lists, for each neuron, the columns that it sees (the bias is the last)."""
        hidden = Layer(inputs=inputs, outputs=width, slope=rational(slope, "slope"), bias=bias)
        if masks is not None:
            entries = _numbered(masks, hidden.columns)
            hidden = Layer(inputs=inputs, outputs=width, slope=hidden.slope, bias=bias, entries=entries)
        return cls((hidden, Layer(inputs=width, outputs=1, slope=None)))

    def with_width_of(self, masks: Sequence[Iterable[int]]) -> Architecture:
        """The two-layer architecture with this one's inputs, slope and bias, and one neuron for each mask."""
        return Architecture.two_layer(self.inputs, len(masks), slope=self.slope, bias=self.bias, masks=masks)

    @property
    def inputs(self) -> int:
        """The dimension of the data, the appended 1 not counted."""
        return self.layers[0].inputs

    @property
    def width(self) -> int:
        """The number of neurons in the widest hidden layer (0 for depth 1)."""
        return max((layer.outputs for layer in self.layers[:-1]), default=0)

    @property
    def depth(self) -> int:
        """The number of layers with weights."""
        return len(self.layers)

    @property
    def bias(self) -> bool:
        """Whether the first layer has a bias."""
        return self.layers[0].bias

    @property
    def parameter_count(self) -> int:
        """The number of parameters of all layers."""
        return sum(layer.parameter_count for layer in self.layers)

    @property
    def has_sharing(self) -> bool:
        """Whether two places of a layer hold one parameter."""
        return any(layer.has_sharing for layer in self.layers)

    @property
    def has_masks(self) -> bool:
        """Whether a place of a layer holds no parameter."""
        return any(entry is None for layer in self.layers for row in layer.entries or () for entry in row)

    @property
    def description(self) -> str:
        """Such as "Network of 12 ReLU neurons with biases (48 parameters)"."""
        hidden, parameters = self.layers[:-1], count(self.parameter_count, "parameter")
        if not hidden:
            return f"Linear network without hidden neurons ({parameters})"
        slopes = {layer.slope for layer in hidden if layer.slope is not None}
        name = " and ".join(sorted(map(_activation, slopes)))
        masked, shared = "Masked network" if self.has_masks else "Network", " with shared weights"
        kind = masked + (shared if self.has_sharing else "")
        biases = " with biases" if self.bias else ""
        if len(hidden) == 1:
            return f"{kind} of {count(self.width, f'{name} neuron')}{biases} ({parameters})"
        widths = " and ".join(str(layer.outputs) for layer in hidden)
        return f"{kind} of depth {self.depth}, {widths} {name} neurons{biases} ({parameters})"

    def __repr__(self) -> str:
        return f"<Architecture: {self.description}, {count(self.inputs, 'input')}>"

    def limits(self) -> str | None:
        """Why not all that is decided of depth 2 without sharing is decided of it; None where it is of that shape."""
        if self.is_two_layer:
            return None
        if self.depth != 2:
            return (
                f"it has {count(self.depth - 1, 'hidden layer')}, and not one"
                if self.depth > 1
                else "it has no hidden layer"
            )
        if self.has_sharing:
            return "it shares weights"
        return "its output layer is not dense"


def _activation(slope: Fraction) -> str:
    if slope in (0, 1):
        return "linear" if slope else "ReLU"
    told = next((text for digits in (4, 17) if (text := nearest(slope, digits)) not in ("0", "1")), str(slope))
    return f"leaky ReLU (slope {told})"


def neuron_lists(values: object, name: str) -> tuple[tuple[object, ...], ...]:
    """A list for each neuron as tuples; InputError says at which place there is none."""
    remedy = "give a list of lists, one for each neuron"
    rows = enumerate(items_of(values, name, remedy))
    return tuple(tuple(items_of(row, f"{name}[{i}]", "give a list there, one for each neuron")) for i, row in rows)


def _numbered(masks: Iterable[Iterable[int]], columns: int) -> tuple[tuple[int | None, ...], ...]:
    rows: list[tuple[int | None, ...]] = []
    count = 0
    for place, mask in enumerate(neuron_lists(masks, "masks")):
        seen = {column for column in range(columns) if column in mask}
        if not all(column in range(columns) for column in mask):
            raise InputError(f"masks[{place}] names a column outside 0 ... {columns - 1}")
        numbers = iter(range(count, count + len(seen)))
        rows.append(tuple(next(numbers) if column in seen else None for column in range(columns)))
        count += len(seen)
    return tuple(rows)
