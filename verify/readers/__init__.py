"""Readers: files and objects in memory -> `Network`, `Dataset`, case. One module per source, imported when needed.

Every fault of the input raises InputError: one sentence that names the place (file, array, row, column) and the remedy.
"""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, cast

from verify.errors import InputError
from verify.network import Network
from verify.problem import Dataset
from verify.readers.reading import DataReading, Reading
from verify.readers.shorthand import Shorthand, check_slope, two_layer

if TYPE_CHECKING:
    from verify.readers.cases import Case

__all__ = ["DataReading", "Reading", "read", "read_case", "read_data", "read_data_with_notes", "read_with_notes"]

_MAX_BYTES = 1 << 30
_IN_MEMORY = "the arrays given"
_EXPORT = "store W, v and, if there are hidden biases, b with numpy.savez, and read the .npz"

_FILES_TO_COME = {
    ".pt": "PyTorch", ".pth": "PyTorch", ".ckpt": "PyTorch", ".safetensors": "safetensors", ".onnx": "ONNX",
    ".skops": "scikit-learn", ".joblib": "scikit-learn", ".pkl": "pickle", ".pickle": "pickle", ".msgpack": "Flax",
}  # fmt: skip
_OBJECTS_TO_COME = {
    "torch": "PyTorch",
    "sklearn": "scikit-learn",
    "flax": "Flax",
    "jax": "JAX",
    "onnx": "ONNX",
    "keras": "Keras",
}


def read(source: object, *, slope: object = None, output_bias: str = "refuse") -> Network:
    """The network in `source`: a path (`.npz`, `.json`), a mapping of arrays W, v, b, b2, slope, or a `Network`.

    slope: the slope of the activation (0 ReLU, 1 linear), a number or text; must agree with the file's if it has one.
    output_bias: "refuse", or "neuron" to turn an output bias that is not 0 into one more hidden neuron.

    Raises InputError.
    """
    return read_with_notes(source, slope=slope, output_bias=output_bias).network


def read_with_notes(source: object, *, slope: object = None, output_bias: str = "refuse") -> Reading:
    """As `read`, with a sentence for each choice made: a slope assumed, an output bias turned into a neuron."""
    place, found = _stored_network(source)
    if isinstance(found, Network):
        check_slope(slope, found, place)
        return Reading(found)
    return two_layer(found, place, slope=slope, output_bias=output_bias)


def read_data(source: object, *, target: str | None = None, as_stored: bool = False) -> Dataset:
    """The data set in `source`: a path (`.npz`, `.csv`, `.json`), a mapping of arrays X, y, or a `Dataset`.

    target: the name of the target column of a CSV file, by default the last one.
    as_stored: leave the labels 0 and 1 as they are; else they become -1 and 1 (never in a `Dataset`, which is kept).

    Raises InputError.
    """
    return read_data_with_notes(source, target=target, as_stored=as_stored).data


def read_data_with_notes(source: object, *, target: str | None = None, as_stored: bool = False) -> DataReading:
    """As `read_data`, with a sentence for each choice that was made: a target column assumed, labels mapped."""
    if isinstance(source, Dataset):
        return DataReading(source)
    if isinstance(source, Mapping):
        from verify.readers import npz

        return npz.data_of(cast("Mapping[str, object]", source), _IN_MEMORY, as_stored=as_stored)
    path = _path(source, "data")
    suffix = path.suffix.lower()
    if target is not None and suffix != ".csv":
        raise InputError(
            f"{path}: the target {target!r:.60} is the name of a CSV column: leave --target out for this file"
        )
    match suffix:
        case ".npz":
            from verify.readers import npz

            return npz.read_data(_content(path), str(path), as_stored=as_stored)
        case ".csv":
            from verify.readers import csv_data

            return csv_data.read_data(_content(path), str(path), target=target, as_stored=as_stored)
        case ".json":
            from verify.readers import json_files

            return json_files.read_data(_content(path), str(path), as_stored=as_stored)
        case _:
            raise InputError(f"{path}: data are read from .npz, .csv or .json files: convert it to one of them")


def read_case(source: object) -> Case:
    """The case in a `case-1` file. Raises InputError."""
    from verify.readers import cases

    path = _path(source, "a case")
    return cases.read_case(_content(path), str(path))


def _stored_network(source: object) -> tuple[str, Network | Shorthand]:
    if isinstance(source, Network):
        return "the network given", source
    if isinstance(source, Mapping):
        from verify.readers import npz

        return _IN_MEMORY, npz.network_of(_named(cast("Mapping[object, object]", source)), _IN_MEMORY)
    path = _path(source, "a network")
    match path.suffix.lower():
        case ".npz":
            from verify.readers import npz

            return str(path), npz.read_network(_content(path), str(path))
        case ".json":
            from verify.readers import json_files

            return str(path), json_files.read_network(_content(path), str(path))
        case ".csv":
            raise InputError(f"{path}: a CSV file holds data, not a network: give the network first, then the data")
        case suffix if suffix in _FILES_TO_COME:
            raise InputError(f"{path}: {_FILES_TO_COME[suffix]} files are not supported yet: {_EXPORT}")
        case _:
            raise InputError(f"{path}: networks are read from .npz or .json files: {_EXPORT}")


def _named(source: Mapping[object, object]) -> Mapping[str, object]:
    names = [str(name) for name in source]
    if any(name.endswith(".weight") for name in names):
        raise InputError(
            f"a state dict of PyTorch is not supported yet, and it does not hold the activation: {_EXPORT}"
        )
    return dict(zip(names, source.values(), strict=True))


def _path(source: object, what: str) -> Path:
    if isinstance(source, str | PathLike) and isinstance(name := fspath(cast("str | PathLike[str]", source)), str):
        return Path(name)
    for kind in type(source).__mro__:
        if (package := kind.__module__.partition(".")[0]) in _OBJECTS_TO_COME:
            raise InputError(f"{_OBJECTS_TO_COME[package]} objects are not supported yet: {_EXPORT}")
    raise InputError(f"{what} cannot be read from an object of type {type(source).__name__}: give the path of a file")


def _content(path: Path) -> bytes:
    try:
        if path.is_dir():
            raise InputError(f"{path} is a folder: give the file")
        if path.is_file() and path.stat().st_size > _MAX_BYTES:
            raise InputError(f"{path} is larger than 1 GiB: audit fewer points")
        return path.read_bytes()
    except FileNotFoundError as error:
        raise InputError(f"{path} does not exist: check the path") from error
    except (OSError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(
            f"{path} cannot be read ({getattr(error, 'strerror', None) or error}): check its permissions"
        ) from error
