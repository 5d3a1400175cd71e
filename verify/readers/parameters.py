"""Parameters without the code that applies them: trees of arrays (Flax, Haiku) and lists (Keras, JAX). No imports.

A tree is a nested mapping whose innermost names are those of a framework: `kernel` and `bias` of Flax, `w` and `b` of
Haiku; kernels are (inputs, neurons). A list holds arrays, as `get_weights()` of Keras returns them, or one pair,
`(W, b)`, or mapping for each layer; its matrices are (inputs, neurons) or (neurons, inputs), as their shapes say.

Neither holds an activation, so the slope has to be given.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, cast, final

from verify.checker.errors import InputError, ShapeError
from verify.readers.chains import Chain, LinearLayer
from verify.readers.named_arrays import array_of
from verify.readers.refusals import CONVOLVED, NORMALISED
from verify.readers.torch_files import in_order

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

__all__ = ["dense", "flat", "is_list", "is_tree", "numbers", "read_list", "read_tree"]

REMEDY = "train without it (use_bias=False), or "

_WEIGHTS, _BIASES = ("kernel", "w", "W", "weight", "weights"), ("bias", "b", "biases")
_STATISTICS = ("batch_stats", "mean", "var", "scale")


# ---------------------------------------------------------------------------------------------------- trees


def flat(tree: Mapping[str, object], start: str = "") -> dict[str, object]:
    """The leaves of a nested mapping, by their names from the root, joined by dots."""
    leaves: dict[str, object] = {}
    for name, value in tree.items():
        here = f"{start}{name}".replace("/", ".")
        if isinstance(value, Mapping):
            leaves |= flat(cast("Mapping[str, object]", value), f"{here}.")
        else:
            leaves[here] = value
    return leaves


def is_tree(source: Mapping[str, object]) -> bool:
    """Whether a mapping holds weights by the names of Flax or Haiku, below the names of their layers."""
    names = [name.rpartition(".") for name in flat(source)]
    return any(last == "kernel" or (bool(start) and last in _WEIGHTS) for start, _, last in names)


def read_tree(source: Mapping[str, object], place: str) -> Chain:
    """The layers in a tree of parameters. Raises InputError."""
    notes: tuple[str, ...] = ()
    params = source.get("params")
    if isinstance(params, Mapping) and params:
        others = [name for name, value in source.items() if name != "params" and value not in ({}, (), None)]
        if statistics := [name for name in others if name in _STATISTICS]:
            raise InputError(f"{place}: {NORMALISED.format(f'a normalisation ({statistics[0]})')}")
        if others:
            notes = (f"{place} holds {', '.join(others)[:80]} beside params, of which nothing is read",)
        source = cast("Mapping[str, object]", params)
    leaves = flat(source)
    layers: dict[str, dict[str, object]] = {}
    for name, value in leaves.items():
        layer, _, last = name.rpartition(".")
        if last in _STATISTICS:
            raise InputError(f"{place}: {NORMALISED.format(f'a normalisation ({name:.60})')}")
        if last not in (*_WEIGHTS, *_BIASES):
            raise InputError(
                f"{place}: {name:.60} is neither the kernel nor the bias of a dense layer, which are read alone: "
                "leave it out if it does not change the outputs"
            )
        layers.setdefault(layer, {})["weights" if last in _WEIGHTS else "bias"] = value
    found = {name: _tree_layer(name, entries, place) for name, entries in layers.items()}
    order, more = in_order(found, place)
    return Chain(layers=tuple(found[name] for name in order), slopes=None, remedy=REMEDY, notes=(*notes, *more))


def _tree_layer(name: str, entries: Mapping[str, object], place: str) -> LinearLayer:
    start = f"{name}." if name else ""
    if "weights" not in entries:
        raise InputError(f"{place}: {start}bias has no kernel beside it: give the whole tree of parameters")
    bias = entries.get("bias")
    return dense(entries["weights"], bias, (f"{start}kernel", f"{start}bias"), place)


def dense(kernel: object, bias: object, names: tuple[str, str], place: str) -> LinearLayer:
    """The layer with a kernel of shape (inputs, neurons), and a bias of shape (neurons,) or None."""
    weights = numbers(kernel, f"{place}: {names[0]}")
    if weights.ndim > 2:
        raise InputError(f"{place}: {CONVOLVED.format(f'{names[0]}, of {weights.ndim} dimensions,')}")
    if weights.ndim < 2:
        raise ShapeError(f"{place}: {names[0]} has shape {weights.shape} and must be (inputs, neurons): give a matrix")
    values = None if bias is None else numbers(bias, f"{place}: {names[1]}")
    if values is not None and values.shape != weights.shape[1:]:
        raise ShapeError(
            f"{place}: {names[1]} has shape {values.shape}, but {names[0]} has shape {weights.shape} (inputs, "
            "neurons): give one bias for each neuron"
        )
    return LinearLayer(
        weights=weights.T.tolist(),
        bias=None if values is None else values.tolist(),
        weights_name=names[0],
        bias_name=names[1],
    )


def numbers(value: object, place: str) -> Array:
    """An array of numpy, JAX, PyTorch or of lists, as numbers of numpy that hold the same values."""
    return array_of(value, place)


# ---------------------------------------------------------------------------------------------------- lists


@final
@dataclass(frozen=True, slots=True)
class _Given:
    """The arrays of a layer as given, its layout not known yet; a vector of output weights is (neurons, 1)."""

    weights: Array
    bias: Array | None
    at: str
    is_vector: bool = False

    def kernel(self, *, inputs_first: bool) -> Array:
        """The matrix with one column for each neuron, if that is its layout."""
        return self.weights if inputs_first or self.is_vector else self.weights.T


def is_list(source: object) -> bool:
    """Whether something is a list of arrays, or of a pair or mapping of arrays for each layer."""
    if not isinstance(source, list | tuple) or not (items := cast("Sequence[object]", source)):
        return False
    inner = [entry for item in items for entry in _entries(item)]
    shapes = [getattr(entry, "shape", None) for entry in inner if entry is not None]
    return bool(shapes) and None not in shapes and any(len(shape) >= 2 for shape in shapes if shape is not None)


def read_list(source: Sequence[object], place: str) -> Chain:
    """The layers in a list of arrays, pairs or mappings. Raises InputError."""
    if all(hasattr(item, "shape") for item in source):
        layers, is_pair = _layers_of([numbers(item, f"{place}: entry {i}") for i, item in enumerate(source)], place)
    else:
        layers, is_pair = [_layer_of(item, f"{place}: layer {i}", i) for i, item in enumerate(source)], False
    if deep := next((layer for layer in layers if layer.weights.ndim > 2), None):
        raise InputError(f"{place}: {CONVOLVED.format(f'{deep.at}, of {deep.weights.ndim} dimensions,')}")
    tensors = any(hasattr(entry, "detach") for item in source for entry in _entries(item))
    own = [layout for layout in (True, False) if _fit(layers, inputs_first=layout)]
    own = [layout for layout in own if layers[-1].kernel(inputs_first=layout).shape[1] == 1] or own
    preferred = not (tensors or is_pair)  # the layout of PyTorch, and of W and v here, is (neurons, inputs)
    if not own:
        shapes = ", ".join(str(layer.weights.shape) for layer in layers)
        raise ShapeError(
            f"{place}: the layers cannot be applied one after the other (matrices of shapes {shapes}): give the "
            "matrices, each with its bias after it, in the order in which they are applied"
        )
    inputs_first = preferred if preferred in own else own[0]
    notes: tuple[str, ...] = ()
    if len(own) == 2:
        meant, other = ("(inputs, neurons)", "(neurons, inputs)")[:: 1 if inputs_first else -1]
        notes = (f"{place}: its matrices fit both as {meant} and as {other}: they are read as {meant}",)
    chain = tuple(
        dense(layer.kernel(inputs_first=inputs_first), layer.bias, (layer.at, f"{layer.at}, bias"), place)
        for layer in layers
    )
    return Chain(layers=chain, slopes=None, remedy=REMEDY, notes=notes)


def _entries(item: object) -> Iterable[object]:
    if isinstance(item, Mapping):
        return list(cast("Mapping[str, object]", item).values())
    return cast("Iterable[object]", item) if isinstance(item, list | tuple) else [item]


def _layers_of(arrays: Sequence[Array], place: str) -> tuple[list[_Given], bool]:
    """Matrices, each with the vector that follows it; and whether they are W, b, v, b2 with a vector v."""
    matrices = [i for i, array in enumerate(arrays) if array.ndim >= 2]
    if matrices == [0] and 2 <= len(arrays) <= 4:
        vectors = [array.reshape(-1) for array in arrays[1:]]
        has_output_bias = len(vectors) == 3 or (len(vectors) == 2 and vectors[0].size > vectors[1].size == 1)
        *bias, v = vectors[: len(vectors) - has_output_bias]
        output = _Given(v.reshape(-1, 1), vectors[-1] if has_output_bias else None, "v", is_vector=True)
        return [_Given(arrays[0], bias[0] if bias else None, "W"), output], True
    layers: list[_Given] = []
    for i, array in enumerate(arrays):
        if array.ndim >= 2:
            layers.append(_Given(array, None, f"entry {i}"))
        elif layers and layers[-1].bias is None:
            layers[-1] = _Given(layers[-1].weights, array.reshape(-1), layers[-1].at)
        else:
            raise ShapeError(f"{place}: entry {i} has shape {array.shape}: give matrices, each with its bias after it")
    return layers, False


def _layer_of(item: object, place: str, i: int) -> _Given:
    """A pair (W, b), a mapping of two arrays, or a matrix alone."""
    if isinstance(item, Mapping):
        names = [name for name in cast("Mapping[object, object]", item) if name not in (*_WEIGHTS, *_BIASES)]
        if names:
            raise InputError(
                f"{place}: {names[0]!s:.60} is neither the weights nor the bias of a dense layer, which are read "
                f"alone: {', '.join(_WEIGHTS)} and {', '.join(_BIASES)} are the names of those"
            )
    arrays = [numbers(entry, place) for entry in _entries(item) if entry is not None]
    arrays.sort(key=lambda array: -array.ndim)
    if not 1 <= len(arrays) <= 2 or arrays[0].ndim < 2 or any(array.ndim > 1 for array in arrays[1:]):
        raise ShapeError(f"{place} must hold a matrix and, if it has one, a bias: give (W, b) for each layer")
    return _Given(arrays[0], arrays[1].reshape(-1) if len(arrays) == 2 else None, f"layer {i}")


def _fit(layers: Sequence[_Given], *, inputs_first: bool) -> bool:
    """Whether the matrices, in that layout, can be applied one after the other."""
    shapes = [layer.kernel(inputs_first=inputs_first).shape for layer in layers]
    biases = all(
        layer.bias is None or layer.bias.shape == shape[1:] for layer, shape in zip(layers, shapes, strict=True)
    )
    return biases and all(shape[1] == following[0] for shape, following in pairwise(shapes))
