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

    @classmethod
    def dense(cls, sizes: Sequence[int], *, slope: object = 0, bias: bool = False) -> Architecture:
        """Fully connected layers: sizes (inputs, units of each hidden layer, ..., 1).

        slope: of every activation, or a list of one for each hidden layer.   bias: of the first layer.

            Architecture.dense([2, 16, 16, 1])
        """
        counts = _sizes(sizes)
        slopes = _slopes(slope, len(counts) - 2)
        return cls(
            Layer(inputs=before, outputs=after, slope=a, bias=bias and not i)
            for i, (before, after, a) in enumerate(zip(counts[:-1], counts[1:], (*slopes, None), strict=True))
        )

    @classmethod
    def diagonal(cls, inputs: int, *, depth: int, slope: object = 1) -> Architecture:
        """f(x) = sum_c v_c s(u_c ... s(w_c x_c)): one weight for each coordinate in each of `depth` layers.

        slope: of every activation, or a list of one for each hidden layer; by default they are linear.
        """
        size, layers = _count(inputs, "inputs"), _count(depth, "depth")
        places = [[column if column == row else None for column in range(size)] for row in range(size)]
        hidden = [Layer(inputs=size, outputs=size, slope=a, entries=places) for a in _slopes(slope, layers - 1)]
        return cls((*hidden, Layer(inputs=size, outputs=1, slope=None)))

    @classmethod
    def convolution(
        cls, kernel: int, *, patches: int, channels: int = 1, pool: str = "none", stride: int = 1, slope: object = 0
    ) -> Architecture:
        """Depth 2: `channels` filters of `kernel` weights, each at `patches` places of one row of inputs.

        Patch p is the inputs p stride, ..., p stride + kernel - 1; patches of a stride of at least `kernel` are
        disjoint. pool: "none", an output weight for each channel and place; "sum", one for each channel. An average is
        a sum of inputs that are divided by the number of patches.

            Architecture.convolution(3, patches=8, channels=4, pool="sum")
        """
        size, many, filters, step = (
            _count(number, name)
            for number, name in ((kernel, "kernel"), (patches, "patches"), (channels, "channels"), (stride, "stride"))
        )
        if pool not in ("none", "sum"):
            raise InputError(f'pool is {pool!r:.60}: it must be "none" or "sum"')
        inputs = (many - 1) * step + size
        rows: list[list[int | None]] = []
        for c in range(filters):
            for p in range(many):
                rows.append([None] * inputs)
                rows[-1][p * step : p * step + size] = range(c * size, (c + 1) * size)
        last = [[c for c in range(filters) for _ in range(many)]] if pool == "sum" else None
        hidden = Layer(inputs=inputs, outputs=len(rows), slope=rational(slope, "slope"), entries=rows)
        return cls((hidden, Layer(inputs=len(rows), outputs=1, slope=None, entries=last)))

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
        return self.described()

    def described(self, *, with_output_bias: bool = False) -> str:
        """The `description`, of networks that have an output bias besides."""
        hidden, parameters = self.layers[:-1], count(self.parameter_count + with_output_bias, "parameter")
        kinds = ["biases"] * self.bias + ["an output bias"] * with_output_bias
        biases = f" with {' and '.join(kinds)}" if kinds else ""
        if not hidden:
            return f"Linear network without hidden neurons ({parameters})"
        slopes = {layer.slope for layer in hidden if layer.slope is not None}
        name = " and ".join(sorted(map(_activation, slopes)))
        masked, shared = "Masked network" if self.has_masks else "Network", " with shared weights"
        kind = masked + (shared if self.has_sharing else "")
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


def _count(number: object, name: str) -> int:
    if type(number) is not int or number < 1:
        raise InputError(f"{name} is {number!r:.60}: it must be a whole number of at least 1")
    return number


def _sizes(sizes: object) -> list[int]:
    remedy = "give the inputs, the units of each hidden layer and 1, such as [2, 16, 16, 1]"
    found = [_count(size, f"sizes[{i}]") for i, size in enumerate(items_of(sizes, "sizes", remedy))]
    if len(found) < 2:
        raise InputError(f"sizes has {count(len(found), 'number')}: {remedy}")
    return found


def _slopes(slope: object, hidden: int) -> tuple[Fraction, ...]:
    """One for each hidden layer."""
    if not isinstance(slope, list | tuple):
        return (rational(slope, "slope"),) * hidden
    found = [rational(value, f"slope[{i}]") for i, value in enumerate(cast("Sequence[object]", slope))]
    if len(found) != hidden:
        given = count(len(found), "number")
        raise InputError(f"slope has {given}, and the network has {count(hidden, 'hidden layer')}: give one for each")
    return tuple(found)


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
