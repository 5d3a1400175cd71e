"""Readers: files and objects in memory -> `Network`, `Dataset`, case. One module per source, imported when needed.

Frameworks are imported only for their own files and objects.

Every fault of the input raises InputError: one sentence that names the place (file, array, row, column) and the remedy.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, cast, final

from verify.checker.errors import InputError
from verify.files.reading import check_there, read_bytes
from verify.numbers.arguments import a_flag, instance_of, items_of
from verify.numbers.array_like import is_table, package
from verify.problem.network import Network
from verify.problem.problem import Dataset
from verify.readers import data_objects
from verify.readers.chains import Chain, chained
from verify.readers.columns import arranged, check_entries, column_names, ordered
from verify.readers.loading import loaded
from verify.readers.reading import DataReading, Options, Reading, named, shape_given, word_of
from verify.readers.refusals import ITS_PARAMETERS
from verify.readers.row_labels import check_rows
from verify.readers.scalings import Scaling
from verify.readers.shorthand import Shorthand, check_output_bias, check_slope, two_layer
from verify.readers.table import Stored, by_package

if TYPE_CHECKING:
    from verify.readers.cases import Case

__all__ = [
    "DataReading",
    "Reading",
    "read",
    "read_case",
    "read_data",
    "read_data_with_notes",
    "read_with_notes",
]


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class _Known:
    """What a source of a network knows of its data: the negative and the positive class, the names of the columns.

    every: all classes, in the order of the outputs, where there are three or more.
    """

    classes: tuple[object, object] | None = None
    every: tuple[object, ...] | None = None
    columns: tuple[str, ...] | None = None


_IN_MEMORY = "the arrays given"


def read(
    source: object,
    *,
    slope: object = None,
    output_bias: str = "refuse",
    two_logits: str = "refuse",
    fold: bool = False,
    trust_pickle: bool = False,
    input_shape: Sequence[int] | None = None,
) -> Network:
    """The network in `source`, which is one of

    - a module of PyTorch (any float type, the slope from its LeakyReLU), or a state dict, which needs `slope`;
    - a fitted `MLPClassifier` of two classes or `MLPRegressor` of one target of scikit-learn, a pipeline or search of
      one, whose scalers `fold` puts into the weights (`audit(pipeline, X, y)` scales the data instead);
    - a model of Keras or ONNX; a tree of parameters of Flax, a list of arrays or of pairs, which need `slope`;
    - a mapping of arrays W, v and, if it has them, b, b2, slope; or a `Network`;
    - a path: `.npz`, `.json`, `.pt`, `.pth`, `.ckpt`, `.safetensors`, `.onnx`, `.keras`, `.skops`, `.pkl`, `.joblib`.

    slope: the slope of the activation (0 ReLU, 1 linear), a number or text; must agree with the source's if it has one.
    output_bias: "refuse", or "neuron" to turn an output bias that is not 0 into one more hidden neuron. scikit-learn
        always has one.
    two_logits: "refuse", or "difference" to read the second of two outputs minus the first: the same classes by another
        network with another norm. Class 1 is the positive one.
    fold: put layers that scale and shift (a batch normalisation in eval mode, constants in forward) into the weights
        beside them: the same function, another norm.
    trust_pickle: load pickles, and `.pt` files that hold more than tensors, although that runs any code in the file.
    input_shape: of a point, such as (channels, length), for the convolutions of a module (`audit` knows its data's).

    Raises InputError; one that more options mend names them all, in the call or the command to give.
    """
    return read_with_notes(
        source, slope=slope, output_bias=output_bias, two_logits=two_logits, fold=fold, trust_pickle=trust_pickle,
        input_shape=input_shape,
    ).network  # fmt: skip


def read_with_notes(
    source: object,
    *,
    slope: object = None,
    output_bias: str = "refuse",
    two_logits: str = "refuse",
    fold: bool = False,
    trust_pickle: bool = False,
    input_shape: Sequence[int] | None = None,
    frozen: int = 0,
    keeps_scalings: bool = False,
) -> Reading:
    """As `read`, with a sentence for each choice made: a slope assumed, an output bias turned into a neuron.

    frozen: tell apart the first layers of a model of a framework, for a caller who computes what they give.
    keeps_scalings: leave scalers out of the network, unless `fold`, and say them in the reading: for a caller who
    scales the data and the targets.
    """
    options = Options(
        slope=slope, output_bias=output_bias, two_logits=two_logits, fold=fold, trust_pickle=trust_pickle,
        input_shape=None if input_shape is None else shape_given(input_shape), frozen=frozen,
    )  # fmt: skip
    place, found, notes, known = _stored_network(source, options)
    word = word_of(source)
    match found:
        case Network():
            check_slope(slope, found, place)
            reading = _with_surroundings(found, place, fold=fold)
        case Shorthand():
            check_output_bias(found, place, options, word)
            reading = two_layer(found, place, slope=slope, output_bias=output_bias)
        case Chain():
            reading = chained(found, place, options, word, keeps_scalings=keeps_scalings)
    said = tuple(dict.fromkeys((*reading.network.notes, *notes, *reading.notes)))
    network = reading.network.noted(said) if said else reading.network
    return replace(reading, network=network, notes=said, classes=known.classes, columns=known.columns)


def _with_surroundings(network: Network, place: str, *, fold: bool) -> Reading:
    """A network that was read before, with the scalers that it was read with."""
    around = network.surroundings
    if around is None or not around.is_scaled:
        return Reading(network)
    if fold:
        raise InputError(
            f"{place} comes with a scaler that is not folded: read its source with fold, or leave fold out"
        )
    ends = (None if end is None else Scaling(*end) for end in (around.inputs, around.outputs))
    return Reading(network, inputs=next(ends), outputs=next(ends))


def read_data(
    source: object,
    y: object = None,
    *,
    target: str | None = None,
    as_stored: bool = False,
    classes: Sequence[object] | None = None,
    standardise: object = None,
) -> Dataset:
    """The data set in `source`, which is one of

    - a path: `.npz`, `.csv`, `.json`;
    - the points X, with the targets in `y`; or the pair (X, y), or a mapping of both: lists, arrays, tensors, tables;
    - a table (DataFrame), one of whose columns is the target;
    - a data set or a loader of PyTorch of pairs of a point and its target; a Bunch of scikit-learn; a `Dataset`.

    target: the name of the target column of a CSV file or a table, by default the last one.
    as_stored: leave the labels 0 and 1 as they are; else they become -1 and 1 (never in a `Dataset`, which is kept).
    classes: the negative and the positive label, numbers or text; they become -1 and 1. With scikit-learn

        read_data(X, y, classes=classifier.classes_)

    standardise: put every point into the coordinates (x - mean) / scale, exactly: a fitted scaler of scikit-learn, the
    arrays mean and scale or the path of a file with them, or "data" for the data's own mean and standard deviation.

    Raises InputError.
    """
    return read_data_with_notes(
        source, y, target=target, as_stored=as_stored, classes=classes, standardise=standardise
    ).data


def read_data_with_notes(
    source: object,
    y: object = None,
    *,
    target: str | None = None,
    as_stored: bool = False,
    classes: Sequence[object] | None = None,
    standardise: object = None,
    trust_pickle: bool = False,
    columns: Sequence[str] | None = None,
) -> DataReading:
    """As `read_data`, with a sentence for each choice that was made: a target column assumed, labels mapped.

    columns: the names of the inputs in the order that the network takes them, for tables and CSV files.

    trust_pickle: load a scaler from a pickle, which runs any code in it.
    """
    reading = _data(
        _paired(source, y), target, as_stored=a_flag(as_stored, "as_stored"), classes=classes, columns=columns
    )
    if standardise is not None:
        from verify.readers.standardising import standardised

        reading = standardised(reading, standardise, trust_pickle=trust_pickle, columns=columns)
    said = tuple(dict.fromkeys((*reading.data.notes, *reading.notes)))
    points = reading.data.noted(said) if said else reading.data
    return DataReading(points if classes is None else named(points, classes=classes), said)


def _paired(source: object, y: object) -> object:
    if y is None:
        return source
    if isinstance(source, str | PathLike | Dataset):
        what = "a Dataset" if isinstance(source, Dataset) else f"the file {source!s:.200}"
        raise InputError(f"{what} holds its targets, and y is given as well: leave y out, or give X and y")
    if isinstance(y, str):
        raise InputError(f"y is the text {y!r:.60}: give the targets, or the name of a column as target={y!r:.60}")
    return (source, y)


def _data(
    source: object,
    target: str | None,
    *,
    as_stored: bool,
    classes: Sequence[object] | None = None,
    columns: Sequence[str] | None = None,
) -> DataReading:
    if target is not None:
        instance_of(str, target, "target", "give the name of a column")
        if not (isinstance(source, str | PathLike) or is_table(source)):
            raise InputError(
                f"the target {target!r:.60} is the name of a column of a CSV file or a table: leave it out for arrays"
            )
    if classes is not None:
        remedy = "classes must be two different labels, the negative and the positive one, such as ('no', 'yes')"
        classes = items_of(classes, "classes", remedy)
    if isinstance(source, Dataset):
        if classes is not None:
            raise InputError("a Dataset holds numbers already: leave the classes out, or give the arrays (X, y)")
        return DataReading(source) if columns is None else DataReading(*arranged(source, columns, "the Dataset"))
    if (found := data_objects.arrays_of(source, target)) is not None:
        arrays, order = (found[0], ()) if columns is None else ordered(found[0], columns)
        reading = _of_arrays(arrays, as_stored=as_stored, classes=classes)
        return DataReading(reading.data, (*found[1], *order, *reading.notes))
    if not isinstance(source, str | PathLike):
        kind = type(source).__name__
        raise InputError(f"data cannot be read from an object of type {kind}: {data_objects.REMEDY}")
    path = _path(source, "data")
    suffix = path.suffix.lower()
    if target is not None and suffix != ".csv":
        raise InputError(
            f"{path}: the target {target!r:.60} is the name of a CSV column: leave --target out for this file"
        )
    match suffix:
        case ".npz":
            from verify.readers import npz

            return npz.read_data(read_bytes(path), str(path), as_stored=as_stored, classes=classes)
        case ".csv":
            from verify.readers import csv_data

            return csv_data.read_data(
                read_bytes(path), str(path), target=target, as_stored=as_stored, classes=classes, columns=columns
            )
        case ".json":
            from verify.readers import json_files

            return json_files.read_data(read_bytes(path), str(path), as_stored=as_stored, classes=classes)
        case _:
            check_there(path)
            raise InputError(
                f"{path}: data are read from .npz, .csv or .json files: write a table as .csv, "
                "arrays with numpy.savez('data.npz', X=X, y=y)"
            )


def _of_arrays(arrays: data_objects.Arrays, *, as_stored: bool, classes: Sequence[object] | None) -> DataReading:
    from verify.readers import named_arrays

    rows = check_rows(arrays.get("X"), arrays.get("y"))
    try:
        reading = named_arrays.data_of(arrays, _IN_MEMORY, as_stored=as_stored, classes=classes)
    except InputError:
        check_entries(arrays.get("X"))  # says it by the name of the column
        raise
    names = column_names(arrays.get("X"))
    points = reading.data if names is None else named(reading.data, columns=names)
    return DataReading(points, (*rows, *reading.notes))


def read_case(source: object) -> Case:
    """The case in a `case-1` file. Raises InputError."""
    from verify.readers import cases

    path = _path(source, "a case")
    return cases.read_case(read_bytes(path), str(path))


@final
@dataclass(frozen=True, slots=True)
class StoredNetwork:
    """What messages call the source, the network as it is stored there, and notes.

    classes: all of a classifier of three or more, in the order of its outputs.   columns: the names of the inputs,
    where they are known.
    """

    place: str
    found: Stored
    notes: tuple[str, ...]
    classes: tuple[object, ...] | None = None
    columns: tuple[str, ...] | None = None


def stored_network(source: object, options: Options) -> StoredNetwork:
    """The network as it is stored. Raises InputError."""
    place, found, notes, known = _stored_network(source, options)
    return StoredNetwork(place, found, notes, known.every, known.columns)


def _stored_network(source: object, options: Options) -> tuple[str, Stored, tuple[str, ...], _Known]:
    """What messages call the source, what is stored there, notes, and what it knows of its data."""
    if not isinstance(source, str | PathLike):
        return (*_in_memory(source, None, options), (), _known_to(source))
    path = _path(source, "a network")
    place, (found, notes) = str(path), loaded(path, trust_pickle=options.trust_pickle)
    if isinstance(found, Stored):
        return place, found, notes, _Known()
    return (*_in_memory(found, place, options), notes, _known_to(found))


def _in_memory(source: object, place: str | None, options: Options) -> tuple[str, Stored]:
    """The network in an object; `place` is the file that it came from."""
    if isinstance(source, Network):
        return place or "the network given", source
    if isinstance(source, Mapping):
        from verify.readers import named_arrays, parameters, torch_files

        named = cast("Mapping[object, object]", source)
        state = dict(zip(map(str, named), named.values(), strict=True))
        if torch_files.is_state(state):
            place = place or "the state dict given"
            return place, torch_files.read_state(state, place)
        if parameters.is_tree(state):
            place = place or "the tree of parameters given"
            return place, parameters.read_tree(state, place)
        return place or _IN_MEMORY, named_arrays.network_of(state, place or _IN_MEMORY)
    if isinstance(source, list | tuple) and {package(entry) for entry in cast("list[object]", source)} == {"torch"}:
        from verify.readers import torch_tensors

        return place or _IN_MEMORY, torch_tensors.read_tensors(cast("list[object]", source), place or _IN_MEMORY)
    here = place or f"the {type(source).__name__} given"
    if isinstance(source, list | tuple):
        from verify.readers import parameters

        if parameters.is_list(layers := cast("Sequence[object]", source)):
            return here, parameters.read_list(layers, here)
    if (row := by_package(type(source))) is not None:
        return here, row.stored(source, here, options.input_shape)
    packages = {kind.__module__.partition(".")[0] for kind in type(source).__mro__}
    if remedies := [remedy for package, remedy in ITS_PARAMETERS.items() if package in packages]:
        raise InputError(f"{here}: what it applies cannot be seen from outside: give {remedies[0]}, with the slope")
    where = f"{place}: " if place else ""
    raise InputError(
        f"{where}a network cannot be read from an object of type {type(source).__name__}: give a model of "
        "PyTorch, scikit-learn, Keras or ONNX, arrays W and v, the arrays of its layers in a list or a dictionary, or "
        "the path of a file"
    )


def _known_to(source: object) -> _Known:
    """What a fitted estimator of scikit-learn knows, or a network that was read with what its source knew."""
    if isinstance(source, Network) and (around := source.surroundings) is not None:
        return _Known(classes=around.classes, columns=around.columns if around.asks_columns else None)
    if package(source) != "sklearn":
        return _Known()
    from verify.readers import sklearn_pipelines

    labels = getattr(source, "classes_", None)
    classes = [] if labels is None else cast("list[object]", list(labels))
    return _Known(
        classes=(classes[0], classes[1]) if len(classes) == 2 else None,
        every=tuple(classes) if len(classes) > 2 else None,
        columns=sklearn_pipelines.names_of(source),
    )


def _path(source: object, what: str) -> Path:
    if isinstance(source, str | PathLike) and isinstance(name := fspath(cast("str | PathLike[str]", source)), str):
        return Path(name)
    raise InputError(f"{what} cannot be read from an object of type {type(source).__name__}: give the path of a file")


def __dir__() -> list[str]:
    return sorted(__all__)
