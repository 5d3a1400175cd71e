"""Networks: their architecture (shape, mask, sharing, slope, bias of each layer) and their exact parameters.

f(x) = A_m s_(m-1)(A_(m-1) ... s_1(A_1 x)) with s_l(z) = max(z, a_l z) entry by entry, 0 <= a_l <= 1 (ReLU 0, linear 1).
A bias is the last column of A_1, met by a coordinate 1 appended to x.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar, cast, final

from verify.errors import InputError, ShapeError
from verify.exact import (
    array,
    canonical_text,
    dot,
    is_exact_input,
    members,
    parse_rational,
    rational,
    sha256,
    texts,
    vector,
    vector_from_json,
)

__all__ = ["Architecture", "Layer", "Network"]

MAX_WEIGHTS = 10**7
"""The most weights of a layer: a few characters must not stand for more than memory holds."""

Rows = tuple[tuple[Fraction, ...], ...]


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """One linear map and the activation after it.

    slope: a in [0, 1], None for the output layer.   bias: whether a last column stands for the bias.
    entries: shape (outputs, inputs + bias), the index of the parameter at each place, None where there is no weight.
    Two places with one index share it; the indices are 0, 1, 2, ... without gaps. `entries=None` is dense, row by row.
    """

    inputs: int
    outputs: int
    slope: Fraction | None
    bias: bool = False
    entries: tuple[tuple[int | None, ...], ...] | None = None

    def __post_init__(self) -> None:
        if not (_is_natural(self.inputs) and _is_natural(self.outputs) and isinstance(cast("object", self.bias), bool)):
            raise ShapeError("a layer needs whole numbers of inputs and outputs, at least 1, and bias True or False")
        if self.entries is None and self.outputs * self.columns > MAX_WEIGHTS:
            raise InputError(
                f"a layer of {self.outputs} neurons has more than {MAX_WEIGHTS} weights; that is not handled"
            )
        if self.slope is not None:
            object.__setattr__(self, "slope", rational(self.slope, "slope"))
            if not 0 <= self.slope <= 1:
                raise InputError(f"slope is {self.slope}; it must lie between 0 (ReLU) and 1 (linear)")
        if self.entries is not None:
            entries = tuple(tuple(row) for row in self.entries)
            _check_entries(entries, self.outputs, self.columns)
            object.__setattr__(self, "entries", None if entries == self._dense() else entries)

    @property
    def columns(self) -> int:
        """The number of columns of the weight matrix, the bias included."""
        return self.inputs + self.bias

    @property
    def places(self) -> tuple[tuple[int | None, ...], ...]:
        """The entries, also of a dense layer."""
        return self._dense() if self.entries is None else self.entries

    @property
    def parameter_count(self) -> int:
        """The number of parameters, each shared one counted once."""
        if self.entries is None:
            return self.outputs * self.columns
        return len({index for row in self.entries for index in row if index is not None})

    @property
    def has_sharing(self) -> bool:
        """Whether two places hold one parameter."""
        entries = self.entries or ()
        return sum(index is not None for row in entries for index in row) > self.parameter_count

    def matrix(self, parameters: Sequence[Fraction]) -> Rows:
        """The weight matrix, shape (outputs, columns), with 0 where there is no weight."""
        if self.entries is None:
            return tuple(tuple(parameters[r * self.columns : (r + 1) * self.columns]) for r in range(self.outputs))
        zero = Fraction(0)
        return tuple(tuple(zero if i is None else parameters[i] for i in row) for row in self.entries)

    def _dense(self) -> tuple[tuple[int, ...], ...]:
        return tuple(tuple(range(r * self.columns, (r + 1) * self.columns)) for r in range(self.outputs))

    def to_json(self) -> dict[str, object]:
        """The layer in canonical JSON."""
        return {
            "inputs": self.inputs,
            "outputs": self.outputs,
            "slope": None if self.slope is None else str(self.slope),
            "bias": self.bias,
            "entries": None if self.entries is None else [list(row) for row in self.entries],
        }

    @classmethod
    def from_json(cls, value: object, place: str = "layer") -> "Layer":
        """The layer that canonical JSON describes; InputError names the place of a fault."""
        given = members(value, place, ("inputs", "outputs", "slope", "bias", "entries"))
        slope, entries = given["slope"], given["entries"]
        if not (slope is None or isinstance(slope, str)):
            raise InputError(f"{place}.slope must be text or null")
        rows = None
        if entries is not None:
            rows = [array(row, f"{place}.entries[{r}]") for r, row in enumerate(array(entries, f"{place}.entries"))]
        try:
            return cls(
                inputs=cast("int", given["inputs"]),
                outputs=cast("int", given["outputs"]),
                slope=None if slope is None else parse_rational(slope, "slope"),
                bias=cast("bool", given["bias"]),
                entries=None if rows is None else tuple(tuple(cast("list[int | None]", row)) for row in rows),
            )
        except InputError as error:
            raise type(error)(f"{place}: {error}") from None


def _is_natural(value: object) -> bool:
    return type(value) is int and value >= 1


def _check_entries(entries: tuple[tuple[object, ...], ...], outputs: int, columns: int) -> None:
    if len(entries) != outputs or any(len(row) != columns for row in entries):
        raise ShapeError(f"entries must have {outputs} rows of {columns}")
    used = [index for row in entries for index in row if index is not None]
    if not all(type(index) is int for index in used) or set(used) != set(range(len(set(used)))):
        raise InputError("entries must be parameter indices 0, 1, 2, ... without gaps, None where there is no weight")


@final
@dataclass(frozen=True, slots=True)
class Architecture:
    """The layers of a network, from the input to the one output; at least one, and only the last without activation."""

    layers: tuple[Layer, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "layers", tuple(self.layers))
        if not self.layers or not all(isinstance(cast("object", layer), Layer) for layer in self.layers):
            raise ShapeError("an architecture is a list of at least one Layer")
        for place, (layer, following) in enumerate(zip(self.layers, self.layers[1:], strict=False)):
            if layer.outputs != following.inputs:
                raise ShapeError(f"layer {place} has {layer.outputs} outputs, but the next {following.inputs} inputs")
            if layer.slope is None:
                raise InputError(f"layer {place} needs the slope of its activation (0 for ReLU, 1 for none)")
            if following.bias:
                raise InputError(f"layer {place + 1} has a bias; only the first layer may have one (homogeneity)")
        if self.layers[-1].outputs != 1 or self.layers[-1].slope is not None:
            raise ShapeError("the last layer must have one output and no activation (slope None)")

    @classmethod
    def two_layer(
        cls,
        inputs: int,
        width: int,
        *,
        slope: object = 0,
        bias: bool = False,
        masks: Iterable[Iterable[int]] | None = None,
    ) -> "Architecture":
        """Depth 2 without sharing: `masks` lists, for each neuron, the columns that it sees (the bias is the last)."""
        entries = None if masks is None else _numbered(masks, inputs + bias)
        hidden = Layer(inputs=inputs, outputs=width, slope=rational(slope, "slope"), bias=bias, entries=entries)
        return cls((hidden, Layer(inputs=width, outputs=1, slope=None)))

    def with_width_of(self, masks: Sequence[Iterable[int]]) -> "Architecture":
        """The two-layer architecture with this one's inputs, slope and bias, and one neuron for each mask."""
        return Architecture.two_layer(self.inputs, len(masks), slope=self.slope, bias=self.bias, masks=masks)

    @property
    def inputs(self) -> int:
        """The dimension of the data, the appended 1 not counted."""
        return self.layers[0].inputs

    @property
    def depth(self) -> int:
        """The number of layers with weights."""
        return len(self.layers)

    @property
    def width(self) -> int:
        """The number of neurons in the widest hidden layer (0 for depth 1)."""
        return max((layer.outputs for layer in self.layers[:-1]), default=0)

    @property
    def slope(self) -> Fraction:
        """The slope of the first activation (1 for depth 1, which has none)."""
        slope = self.layers[0].slope
        return Fraction(1) if slope is None else slope

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
    def masks(self) -> tuple[tuple[int, ...], ...]:
        """The columns that each neuron of the first layer sees, increasing."""
        rows = self.layers[0].places
        return tuple(tuple(c for c, index in enumerate(row) if index is not None) for row in rows)

    @property
    def mask_classes(self) -> tuple[tuple[int, ...], ...]:
        """The distinct masks, sorted."""
        return tuple(sorted(set(self.masks)))

    def limits(self) -> str | None:
        """Why questions beyond "does it fit" are not decided yet; None for depth 2 without sharing."""
        if self.depth != 2:
            return f"only depth 2 is decided yet, and this network has depth {self.depth}"
        if self.has_sharing:
            return "networks that share weights are not decided yet"
        if self.layers[1].entries is not None:
            return "an output layer that is not dense is not decided yet"
        return None

    def to_json(self) -> dict[str, object]:
        """The architecture in canonical JSON."""
        return {"layers": [layer.to_json() for layer in self.layers]}

    @classmethod
    def from_json(cls, value: object, place: str = "architecture") -> "Architecture":
        """The architecture that canonical JSON describes; InputError names the place of a fault."""
        layers = array(members(value, place, ("layers",))["layers"], f"{place}.layers")
        return cls(tuple(Layer.from_json(layer, f"{place}.layers[{i}]") for i, layer in enumerate(layers)))


def _numbered(masks: Iterable[Iterable[int]], columns: int) -> tuple[tuple[int | None, ...], ...]:
    rows: list[tuple[int | None, ...]] = []
    count = 0
    for place, mask in enumerate(masks):
        seen = set(mask)
        if not seen <= set(range(columns)):
            raise InputError(f"masks[{place}] names a column outside 0 ... {columns - 1}")
        numbers = iter(range(count, count + len(seen)))
        rows.append(tuple(next(numbers) if column in seen else None for column in range(columns)))
        count += len(seen)
    return tuple(rows)


@final
@dataclass(frozen=True, slots=True, init=False)
class Network:
    """An architecture with its exact parameters.

    parameters: for each layer as many numbers as it has parameters.
    is_exact: whether every number was given exactly; False when one was a float (it is then kept as its dyadic value).
    """

    SCHEMA: ClassVar = "network-1"

    architecture: Architecture
    parameters: Rows
    is_exact: bool = field(compare=False)

    def __init__(self, architecture: Architecture, parameters: Iterable[Iterable[object]]) -> None:
        given = [array(layer, f"parameters[{i}]") for i, layer in enumerate(array(parameters, "parameters"))]
        counts = [layer.parameter_count for layer in architecture.layers]
        if [len(layer) for layer in given] != counts:
            found = ", ".join(str(len(layer)) for layer in given)
            raise ShapeError(f"parameters has {found or 'no'} numbers; the layers need {', '.join(map(str, counts))}")
        object.__setattr__(self, "architecture", architecture)
        object.__setattr__(
            self, "parameters", tuple(vector(layer, f"parameters[{i}]") for i, layer in enumerate(given))
        )
        object.__setattr__(self, "is_exact", all(is_exact_input(value) for layer in given for value in layer))

    @classmethod
    def two_layer(
        cls,
        W: Iterable[Iterable[object]],
        v: Iterable[object],
        *,
        b: Iterable[object] | None = None,
        slope: object = 0,
        masks: Iterable[Iterable[int]] | None = None,
    ) -> "Network":
        """f(x) = sum_j v_j max(z_j, slope z_j), z_j = W_j.x + b_j.

        W: shape (k, d).   v: length k.   b: length k, or None for no bias.
        masks: for each neuron the columns that it sees (the bias is column d); W must be 0 at the others.
        """
        rows = [array(row, f"W[{j}]") for j, row in enumerate(array(W, "W"))]
        if not rows or len({len(row) for row in rows}) > 1 or not rows[0]:
            raise ShapeError("W must be a matrix: one row of weights, all of the same length, for each neuron")
        width, inputs = len(rows), len(rows[0])
        outgoing, biases = array(v, "v"), None if b is None else array(b, "b")
        for name, values in (("v", outgoing), ("b", biases)):
            if values is not None and len(values) != width:
                raise ShapeError(f"{name} has {len(values)} entries, but W has {width} rows (one for each neuron)")
        weights = [vector(row, f"W[{j}]") for j, row in enumerate(rows)]
        if biases is not None:
            weights = [(*row, bias) for row, bias in zip(weights, vector(biases, "b"), strict=True)]
        kept = None if masks is None else [tuple(mask) for mask in masks]
        if kept is not None and len(kept) != width:
            raise ShapeError(f"masks has {len(kept)} entries, but W has {width} rows (one for each neuron)")
        shape = Architecture.two_layer(inputs, width, slope=slope, bias=b is not None, masks=kept)
        for j, (row, mask) in enumerate(zip(weights, shape.masks, strict=True)):
            if any(weight and column not in mask for column, weight in enumerate(row)):
                raise InputError(f"W[{j}] has a weight at a column that masks[{j}] hides; set it to 0")
        hidden = [row[column] for row, mask in zip(weights, shape.masks, strict=True) for column in mask]
        network = cls(shape, (hidden, vector(outgoing, "v")))
        given = [*outgoing, *(biases or ()), *(value for row in rows for value in row)]
        object.__setattr__(network, "is_exact", all(map(is_exact_input, given)))
        return network

    @property
    def hidden_weights(self) -> Rows:
        """The rows of the first layer, the bias in the last column, 0 where a mask hides the column."""
        return self.architecture.layers[0].matrix(self.parameters[0])

    @property
    def output_weights(self) -> tuple[Fraction, ...]:
        """The row of the last layer."""
        return self.architecture.layers[-1].matrix(self.parameters[-1])[0]

    @property
    def width(self) -> int:
        """The number of neurons in the widest hidden layer."""
        return self.architecture.width

    @property
    def depth(self) -> int:
        """The number of layers with weights."""
        return self.architecture.depth

    def preactivations(self, row: Sequence[Fraction]) -> tuple[Fraction, ...]:
        """w_j.x for each neuron of the first layer, at a lifted row (with the appended 1 when there is a bias)."""
        columns = self.architecture.layers[0].columns
        if len(row) != columns:
            raise ShapeError(f"the row has {len(row)} entries, but the first layer has {columns} columns")
        return tuple(dot(weights, row) for weights in self.hidden_weights)

    def __call__(self, x: Iterable[object]) -> Fraction:
        """f(x), exactly, at one input (without the appended 1)."""
        point = vector(x, "x")
        values = self.preactivations((*point, Fraction(1)) if self.architecture.bias else point)
        for layer, following, parameters in zip(
            self.architecture.layers, self.architecture.layers[1:], self.parameters[1:], strict=False
        ):
            slope = cast("Fraction", layer.slope)
            active = [value if value > 0 else slope * value for value in values]
            values = tuple(dot(weights, active) for weights in following.matrix(parameters))
        return values[0]

    def to_json(self) -> dict[str, object]:
        """The network in canonical JSON."""
        return {
            "schema": self.SCHEMA,
            "architecture": self.architecture.to_json(),
            "parameters": [texts(layer) for layer in self.parameters],
        }

    @classmethod
    def from_json(cls, value: object, place: str = "network") -> "Network":
        """The network that canonical JSON describes; InputError names the place of a fault."""
        given = members(value, place, ("schema", "architecture", "parameters"))
        if given["schema"] != cls.SCHEMA:
            raise InputError(f"{place}.schema must be {cls.SCHEMA!r}")
        layers = array(given["parameters"], f"{place}.parameters")
        parameters = [vector_from_json(layer, f"{place}.parameters[{i}]") for i, layer in enumerate(layers)]
        return cls(Architecture.from_json(given["architecture"], f"{place}.architecture"), parameters)

    def canonical_text(self) -> str:
        """The one text that stands for this network."""
        return canonical_text(self.to_json())

    def sha256(self) -> str:
        """The SHA-256 of the canonical text."""
        return sha256(self.canonical_text())
