"""Networks as users make them: from numbers of any kind, with shapes that are explained; the records that are checked.

`Network` is the record of `verify.checker.statement` with a constructor that converts what it is given and raises
InputError, and with what is convenient beyond proofs, such as f(x) at one input. Its `Architecture` of `Layer`s is
that of `verify.problem.architecture`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import copy
from fractions import Fraction
from os import PathLike
from typing import TYPE_CHECKING, Any, cast, final

from verify.checker import statement
from verify.checker.codec import reader
from verify.checker.errors import InputError, ShapeError
from verify.checker.exact import dot
from verify.numbers.arguments import a_flag, a_path, instance_of
from verify.numbers.counts import count
from verify.numbers.decimals import nearest
from verify.numbers.values import array, as_input_error, is_exact_input, line, vector
from verify.problem.architecture import Architecture, Layer, neuron_lists
from verify.shown import as_html, as_text
from verify.surroundings import Surroundings

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Architecture", "Layer", "Network"]

MOST_ROWS, MOST_COLUMNS = 20, 8  # of the table that print shows of a network


def _entries(values: Sequence[object]) -> str:
    return count(len(values), "entry", "entries")


@final
class Network(statement.Network):
    """An architecture with its exact parameters: for each layer as many numbers of any kind as it has parameters."""

    architecture: Architecture

    def __init__(self, architecture: statement.Architecture, parameters: Iterable[Iterable[object]]) -> None:
        given = [array(layer, f"parameters[{i}]") for i, layer in enumerate(array(parameters, "parameters"))]
        instance_of(
            statement.Architecture, architecture, "architecture", "give an Architecture, or use Network.two_layer"
        )
        shape = architecture if isinstance(architecture, Architecture) else Architecture(architecture.layers)
        counts = [layer.parameter_count for layer in shape.layers]
        is_biased = len(counts) == 2 and [len(layer) for layer in given] == [*counts, 1]
        if [len(layer) for layer in given] != counts and not is_biased:
            found = ", ".join(str(len(layer)) for layer in given)
            held = count(len(given[0]), "number") if len(given) == 1 else f"{found or 'no'} numbers"
            raise ShapeError(f"parameters has {held}; the layers need {', '.join(map(str, counts))}")
        with as_input_error():
            super().__init__(shape, tuple(vector(layer, f"parameters[{i}]") for i, layer in enumerate(given)))
        self.__dict__["_is_exact"] = all(is_exact_input(value) for layer in given for value in layer)

    @classmethod
    def of(cls, network: statement.Network) -> Network:
        """The same network, of this class."""
        return network if isinstance(network, cls) else cls(network.architecture, network.parameters)

    @property
    def is_exact(self) -> bool:
        """Whether every number was given exactly; False when one was a float (kept as its dyadic value)."""
        return self.__dict__["_is_exact"]

    def as_from_floats(self) -> Network:
        """The same network, as one whose numbers were computed from floats: `is_exact` is False."""
        found = copy(self)
        found.__dict__["_is_exact"] = False
        return found

    def rounded(self) -> Network:
        """The network of the doubles nearest to each weight and slope: what `to_torch` and an .npz hold.

        Equal to this one when nothing is lost. Raises InputError for numbers beyond the range of floats.
        """
        from verify.writers import double

        layers = [
            Layer(
                inputs=layer.inputs,
                outputs=layer.outputs,
                slope=None if layer.slope is None else double(layer.slope, "the slope"),
                bias=layer.bias,
                entries=layer.entries,
            )
            for layer in self.architecture.layers
        ]
        weights = [
            [double(weight, f"parameters[{i}][{j}]") for j, weight in enumerate(layer)]
            for i, layer in enumerate(self.parameters)
        ]
        return Network(Architecture(layers), weights).placed(self.surroundings)

    def to_arrays(self, *, exact: bool = False) -> dict[str, NDArray[Any]]:
        """The arrays W (neurons, inputs), v (neurons,), b (neurons,) if there are biases, and slope, of depth 2.

        Doubles, the nearest to each number; with `exact` arrays of `Fraction`. `rounded()` is the network of the
        doubles. Raises InputError for other networks.
        """
        from verify.writers import arrays_of

        return arrays_of(self, exact=a_flag(exact, "exact"))

    def to_torch(self) -> Any:
        """A module of PyTorch: an `nn.Sequential` in double precision, of the weights of `rounded()`.

        Raises InputError for masks and shared weights, which Linear layers do not hold, and without PyTorch.
        """
        from verify.writers.torch_modules import module_of

        return module_of(self)

    def to_sklearn(self, classes: Sequence[object] | None = None) -> Any:
        """A fitted estimator of scikit-learn of the weights of `rounded()`: an `MLPRegressor` that predicts f(x).

        classes: the negative and the positive label, by default those that it was read with; then an `MLPClassifier`
        that predicts the second where f(x) > 0. Scalers that it was read with stand around it, in a `Pipeline` that
        takes raw points and a `TransformedTargetRegressor` that predicts in the units of the targets.
        Raises InputError for a leaky ReLU, masks and shared weights, and without scikit-learn.
        """
        from verify.writers.sklearn_estimators import estimator_of

        return estimator_of(self, classes, self.surroundings)

    def save(self, path: str | PathLike[str]) -> Network:
        """Write the network for `read`, and return the one that the file holds.

        .json is exact, of any network. .npz, .pt, .safetensors, .onnx and .skops hold doubles: `rounded()` is what they
        hold, which need not be optimal, or fit, where this network is. .pt, and .safetensors of more than two layers,
        hold no slope, and .skops holds `to_sklearn()`: biases that are 0, and scalers, classes and columns if they are
        known. Raises InputError, OSError.
        """
        from verify.writers import write

        file = a_path(path, "path")
        write(self, file, self.surroundings)
        return self if file.suffix.lower() == ".json" else self.rounded()

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader chose on the way, a sentence each; a report says them. Neither compared nor written."""
        return self.__dict__.get("_notes", ())

    def noted(self, notes: Iterable[str]) -> Network:
        """The same network with these notes as well."""
        found = copy(self)
        found.__dict__["_notes"] = tuple(dict.fromkeys((*self.notes, *notes)))
        return found

    @property
    def surroundings(self) -> Surroundings | None:
        """The scalers, classes and columns that it was read with, which `to_sklearn` puts around it; None for none."""
        return self.__dict__.get("_surroundings")

    def placed(self, surroundings: Surroundings | None) -> Network:
        """The same network with these surroundings. They are neither compared nor written into any file but .skops."""
        found = copy(self)
        found.__dict__["_surroundings"] = surroundings
        return found

    @property
    def width(self) -> int:
        """The number of neurons in the widest hidden layer."""
        return self.architecture.width

    @property
    def depth(self) -> int:
        """The number of layers with weights."""
        return len(self.architecture.layers)

    @classmethod
    def two_layer(
        cls,
        W: object,
        v: object,
        *,
        b: object = None,
        b2: object = None,
        slope: object = 0,
        masks: Iterable[Iterable[int]] | None = None,
    ) -> Network:
        """f(x) = b2 + sum_j v_j max(z_j, slope z_j), z_j = W_j.x + b_j.

        W: shape (k, d).   v: length k.   b: length k, or None for no bias.   Lists, arrays or tensors of numbers.
        b2: an output bias, which only losses with weight decay take; None for none.
        masks: for each neuron the columns that it sees (the bias is column d); W must be 0 at the others.
        """
        rows = [array(row, f"W[{j}]") for j, row in enumerate(array(W, "W"))]
        if not rows or len({len(row) for row in rows}) > 1 or not rows[0]:
            raise ShapeError("W must be a matrix: one row of weights, all of the same length, for each neuron")
        width, inputs = len(rows), len(rows[0])
        outgoing, biases = line(v, "v"), None if b is None else line(b, "b")
        for name, values in (("v", outgoing), ("b", biases)):
            if values is not None and len(values) != width:
                hint = ": if W was stored as (inputs, neurons), give W.T" if len(values) == inputs else ""
                raise ShapeError(
                    f"{name} has {_entries(values)}, but W has {count(width, 'row')} (one for each neuron){hint}"
                )
        weights = [vector(row, f"W[{j}]") for j, row in enumerate(rows)]
        if biases is not None:
            weights = [(*row, bias) for row, bias in zip(weights, vector(biases, "b"), strict=True)]
        kept = None if masks is None else cast("tuple[tuple[int, ...], ...]", neuron_lists(masks, "masks"))
        if kept is not None and len(kept) != width:
            raise ShapeError(f"masks has {_entries(kept)}, but W has {count(width, 'row')} (one for each neuron)")
        shape = Architecture.two_layer(inputs, width, slope=slope, bias=b is not None, masks=kept)
        for j, (row, mask) in enumerate(zip(weights, shape.masks, strict=True)):
            if any(weight and column not in mask for column, weight in enumerate(row)):
                raise InputError(f"W[{j}] has a weight at a column that masks[{j}] hides; set it to 0")
        hidden = [row[column] for row, mask in zip(weights, shape.masks, strict=True) for column in mask]
        more = [] if b2 is None else [b2]
        network = cls(shape, (hidden, vector(outgoing, "v"), *([vector(more, "b2")] if more else [])))
        given = [*outgoing, *(biases or ()), *more, *(value for row in rows for value in row)]
        network.__dict__["_is_exact"] = all(map(is_exact_input, given))
        return network

    @property
    def description(self) -> str:
        """Such as "Network of 12 ReLU neurons with biases and an output bias (49 parameters)"."""
        return self.architecture.described(with_output_bias=len(self.parameters) > len(self.architecture.layers))

    def __repr__(self) -> str:
        return f"<Network: {self.description}, {count(self.architecture.inputs, 'input')}>"

    def __str__(self) -> str:
        return as_text(self.description, *self._table())

    def _repr_html_(self) -> str:
        return as_html(self.description, *self._table())

    def _table(self) -> tuple[list[str], list[list[str]], list[str]]:
        """The neurons of a two-layer network, a row each: head, the first rows, what is left out."""
        if not self.architecture.is_two_layer:
            return [], [], []
        inputs = self.architecture.inputs
        weights = [f"w{column}" for column in range(min(inputs, MOST_COLUMNS))]
        skipped = ["…"] if inputs > MOST_COLUMNS else []
        head = ["neuron", *weights, *skipped, *(["bias"] if self.architecture.bias else []), "v"]
        constant = self.output_bias_neurons
        rows = [
            [
                f"{j} (output bias)" if j in constant else str(j),
                *(nearest(weight, 5) for weight in row[: len(weights)]),
                *skipped,
                *(nearest(bias, 5) for bias in row[inputs:]),
                nearest(v, 5),
            ]
            for j, (row, v) in enumerate(zip(self.hidden_weights[:MOST_ROWS], self.output_weights, strict=False))
        ]
        more = [f"… {self.width - len(rows)} more neurons"] if self.width > len(rows) else []
        return head, rows, [*more, "weights rounded to 5 digits; exact in .hidden_weights and .output_weights"]

    @property
    def output_bias_neurons(self) -> tuple[int, ...]:
        """Neurons that stand for a bias on the output: without weights, and with a positive bias (two layers only)."""
        if not (self.architecture.is_two_layer and self.architecture.bias):
            return ()
        pairs = enumerate(zip(self.hidden_weights, self.output_weights, strict=True))
        return tuple(j for j, ((*weights, bias), v) in pairs if bias > 0 and v and not any(weights))

    def preactivations(self, row: Sequence[Fraction]) -> tuple[Fraction, ...]:
        """w_j.x for each neuron of the first layer, at a lifted row (with the appended 1 when there is a bias)."""
        columns = self.architecture.layers[0].columns
        if len(array(row, "row")) != columns:
            raise ShapeError(f"the row has {_entries(row)}, but the first layer has {count(columns, 'column')}")
        return tuple(dot(weights, row) for weights in self.hidden_weights)

    def __call__(self, x: Iterable[object]) -> Fraction:
        """f(x), exactly, at one input (without the appended 1)."""
        point = vector(x, "x")
        values = self.preactivations((*point, Fraction(1)) if self.architecture.layers[0].bias else point)
        for layer, following, parameters in zip(
            self.architecture.layers, self.architecture.layers[1:], self.parameters[1:], strict=False
        ):
            slope = cast("Fraction", layer.slope)
            active = [value if value > 0 else slope * value for value in values]
            values = tuple(dot(weights, active) for weights in following.matrix(parameters))
        return values[0] + self.output_bias

    @classmethod
    def from_json(cls, value: object, place: str = "network") -> Network:
        """The network that canonical JSON describes; InputError names the place of a fault."""
        with as_input_error(place, value):
            return cls.of(reader(statement.Network)(value))
