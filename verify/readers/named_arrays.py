"""Named arrays as the networks and the data that they are, from an archive or in memory.

A network holds W (k, d), v (k,) and, if it has them, b (k,), b2 and slope (one number each); data hold X (n, d)
and y (n,); v, b and y may also be matrices of one row or one column. Integers and floats of any width are taken as the
exact numbers that they store. In memory the numbers may also be `Fraction`s, and the arrays what
`verify.numbers.array_like` knows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from verify.checker.errors import InputError, ShapeError
from verify.numbers.array_like import plain
from verify.numbers.counts import count
from verify.numbers.values import Number, rational
from verify.problem.problem import Dataset
from verify.readers.chains import Chain, LinearLayer
from verify.readers.labels import classed_targets, signed_targets, text_labels
from verify.readers.reading import DataReading, naming
from verify.readers.shorthand import DATA_NAMES, NETWORK_NAMES, Shorthand, check_names

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]


def network_of(arrays: Mapping[str, object], place: str) -> Shorthand | Chain:
    """The network that named arrays describe; a chain when v has a row for each of several outputs."""
    check_names(arrays, NETWORK_NAMES, ("W", "v"), place)
    found = {name: array_of(arrays[name], f"{place}: {name}") for name in NETWORK_NAMES if name in arrays}
    W, v = found["W"], found["v"]
    is_one_neuron = W.ndim == 2 and len(W) == 1 and v.ndim == 2 and v.shape[1] == 1 < v.shape[0]
    if (v.ndim == 2 and 1 not in v.shape) or is_one_neuron:
        return _several_outputs(found, place)
    return Shorthand(
        W=_matrix(W, f"{place}: W", "neurons, inputs").tolist(),
        v=_vector(v, f"{place}: v", "neurons").tolist(),
        b=_vector(found["b"], f"{place}: b", "neurons").tolist() if "b" in found else None,
        b2=_scalar(found["b2"], f"{place}: b2") if "b2" in found else 0,
        slope=_scalar(found["slope"], f"{place}: slope") if "slope" in found else None,
        has_b2="b2" in found,
    )


def _several_outputs(found: Mapping[str, Array], place: str) -> Chain:
    """With v (outputs, neurons) and b2 (outputs,)."""
    W, v, b, b2 = (found.get(name) for name in ("W", "v", "b", "b2"))
    slope = _scalar(found["slope"], f"{place}: slope") if "slope" in found else None
    layers: list[LinearLayer] = []
    for name, weights, bias_name, bias in (("W", W, "b", b), ("v", v, "b2", b2)):
        rows = _matrix(cast("Array", weights), f"{place}: {name}", "outputs, inputs").tolist()
        shift = None if bias is None else _vector(bias, f"{place}: {bias_name}", "outputs").tolist()
        if shift is not None and len(shift) != len(rows):
            raise ShapeError(
                f"{place}: {name} has {count(len(rows), 'row')} but {bias_name} has "
                f"{count(len(shift), 'entry', 'entries')}: give one bias for each"
            )
        layers.append(LinearLayer(weights=rows, bias=shift, weights_name=name, bias_name=bias_name))
    return Chain(
        layers=tuple(layers),
        slopes=None if slope is None else (slope,),
        remedy="train without it, or ",
        is_relu=True,
    )


def data_of(
    arrays: Mapping[str, object], place: str, *, as_stored: bool = False, classes: Sequence[object] | None = None
) -> DataReading:
    """The data set that named arrays describe.

    classes: the negative and the positive label; without them labels 0 and 1 become -1 and 1 unless `as_stored`.
    """
    check_names(arrays, DATA_NAMES, DATA_NAMES, place)
    y = _raw(arrays["y"], f"{place}: y")
    if y.ndim == 2 and 1 not in y.shape:
        if np.shape(cast("Any", arrays["X"])) == (len(y),):
            raise ShapeError(
                f"{place}: X has one number for each point and y has shape {y.shape}: give the points first, X, and "
                "then their targets, y"
            )
        raise ShapeError(
            f"{place}: y has shape {y.shape}: give one target for each point, not one column for each class"
        )
    notes: tuple[str, ...] = ()
    if classes is not None:
        labels = (y.astype(str) if y.dtype.kind == "S" else y).ravel().tolist()
        signed, notes = classed_targets(labels, classes, f"{place}: y")
        y = np.asarray(signed)
    elif y.size and (y.dtype.kind == "b" or (y.dtype.kind == "O" and _are_truth_values(y))):
        y, notes = y.astype(int), (f"{place}: y holds the labels True and False: they are read as 1 and 0",)
    elif y.dtype.kind in "US" or (y.dtype.kind == "O" and _are_names(y)):
        raise text_labels(y.astype(str).ravel().tolist(), f"{place}: y")
    X, shape_notes = _in_rows(array_of(arrays["X"], f"{place}: X"), f"{place}: X")
    X = _matrix(X, f"{place}: X", "points, inputs")
    notes = (*notes, *shape_notes)
    y = _vector(array_of(y, f"{place}: y"), f"{place}: y", "points")
    if len(X) != len(y):
        sizes = f"X has {count(len(X), 'point')} but y has {count(len(y), 'target')}"
        turned = ", or X.T if each column of X is a point" if X.shape[1] == len(y) else ""
        raise ShapeError(f"{place}: {sizes}: give one target for each point{turned}")
    targets: Sequence[Number] = y.tolist()
    if not as_stored and classes is None:
        targets, signed_notes = signed_targets(targets, f"{place}: y")
        notes = (*notes, *signed_notes)
    with naming(place):
        return DataReading(Dataset(X.tolist(), targets), notes)


def _in_rows(array: Array, place: str) -> tuple[Array, tuple[str, ...]]:
    """Points of several axes as rows of features, in the order in which `Flatten` of PyTorch lays them out."""
    if array.ndim <= 2:
        return array, ()
    features = array.reshape(len(array), -1)
    note = (
        f"{place}: points of shape {_shape(array.shape[1:])} are taken as rows of {features.shape[1]} numbers, in the "
        "order of their axes: of (channels, length) channel by channel"
    )
    return features, (note,)


def points_shape(value: object) -> tuple[int, ...] | None:
    """The shape of a point in X; None where X is no array of numbers."""
    try:
        found = np.shape(cast("Any", value)) if hasattr(value, "shape") else _raw(value, "X").shape
    except InputError:
        return None
    return tuple(map(int, found[1:])) or None


def _raw(value: object, place: str) -> Array:
    if isinstance(value, bytes):
        raise InputError(f"{place} is not an array: write it with numpy.savez")
    if isinstance(value, np.ndarray) and not value.dtype.type.__module__.startswith("ml_dtypes"):
        return value
    numbers = plain(value, place)
    shape = getattr(value, "shape", ())
    if isinstance(shape, tuple) and 0 in shape:  # which lists of its rows no longer have
        return np.empty(cast("tuple[int, ...]", shape), dtype=object)
    try:
        return np.array(numbers, dtype=object)  # an integer beside a float stays one
    except ValueError as error:  # rows of arrays whose shapes differ
        raise InputError(f"{place} cannot be made an array: give rows of equal length") from error


def _are_names(labels: Array) -> bool:
    """Whether there is a label that is the name of a class, and no number."""
    return any(isinstance(label, str) and any(map(str.isalpha, label)) for label in labels.flat)


def _are_truth_values(labels: Array) -> bool:
    return all(isinstance(label, bool | np.bool_) for label in labels.flat)


def array_of(value: object, place: str) -> Array:
    """The finite real numbers in an array, a tensor or lists, as they are, of any shape. Raises InputError."""
    array = _raw(value, place)
    match array.dtype.kind:
        case "f" | "i" | "u":
            pass
        case "O":
            return _entries_of(array, place)
        case "c":
            raise InputError(f"{place} is complex: store real numbers")
        case "b":
            raise InputError(f"{place} is an array of booleans: store the numbers 0 and 1, with astype(int)")
        case "U" | "S":
            raise InputError(f"{place} is text: store numbers, with astype(float)")
        case _:
            raise InputError(f"{place} has the type {array.dtype}: store numbers, with astype(float)")
    _check_size(array, place)
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        at = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        where = f"{place}[{', '.join(map(str, at))}]" if at else place
        raise _not_finite(array[at], where)
    return array


def _entries_of(array: Array, place: str) -> Array:
    """The array, when each of its entries is a number; text such as "1/3" as the number."""
    _check_size(array, place)
    numbers = np.empty(array.shape, dtype=object)
    for at, value in np.ndenumerate(array):
        where = f"{place}[{', '.join(map(str, at))}]" if at else place
        if isinstance(value, list):
            raise InputError(f"{place} cannot be made an array: give rows of equal length")
        if isinstance(value, float) and not isfinite(value):
            raise _not_finite(value, where)
        number = _exact_text(value, where) if isinstance(value, str) else rational(value, where)
        numbers[at] = number if isinstance(value, str) else value
    return numbers


def _exact_text(text: str, place: str) -> Number:
    try:
        return rational(text, place)
    except InputError:
        remedy = "give numbers, as astype(float) makes of an array, or exact text such as '151' or '-1/3'"
        raise InputError(f"{place} is the text {text!r:.60}: {remedy}") from None


def _check_size(array: Array, place: str) -> None:
    if array.size == 0:
        raise InputError(f"{place} is empty (shape {array.shape}): there must be at least one number")


def _not_finite(value: object, place: str) -> InputError:
    return InputError(f"{place} is {value}: every number must be finite, so remove or repair that entry")


def _matrix(array: Array, place: str, axes: str) -> Array:
    if array.ndim != 2:
        remedy = "use reshape(-1, 1), or reshape(1, -1) for one row" if array.ndim == 1 else "store a matrix"
        raise ShapeError(f"{place} has shape {_shape(array.shape)} and must be ({axes}): {remedy}")
    return array


def _vector(array: Array, place: str, axis: str) -> Array:
    if array.ndim == 2 and 1 in array.shape:
        return array.reshape(-1)
    if array.ndim != 1:
        raise ShapeError(f"{place} has shape {_shape(array.shape)} and must be ({axis},): store it with reshape(-1)")
    return array


def _scalar(array: Array, place: str) -> int | float:
    if array.size != 1:
        raise ShapeError(f"{place} has shape {_shape(array.shape)} and must be one number: store one number")
    return array.item()


def _shape(shape: Sequence[int]) -> str:
    return f"({', '.join(map(str, shape))}{',' if len(shape) == 1 else ''})"
