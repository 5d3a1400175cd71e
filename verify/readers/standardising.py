"""`standardise`: the data in the coordinates that the network saw, (x - mean) / scale, computed in rationals.

The norm that training weighs is that of the network in those coordinates, so the data are moved and not the network.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import sqrt
from os import PathLike
from pathlib import Path
from typing import TypeAlias, cast

from verify.checker.errors import InputError
from verify.files.reading import check_there, read_bytes
from verify.numbers.floats import to_float
from verify.numbers.values import Number
from verify.problem.problem import Dataset
from verify.readers.columns import FITTED_ON, arranged, in_order
from verify.readers.reading import DataReading
from verify.readers.scalings import Scaling, scaled_inputs

__all__ = ["standardised"]

_REMEDY = (
    "give a fitted scaler of scikit-learn or a pipeline that begins with one, the arrays mean and scale, the path of a "
    ".npz, .json or .skops file, or "
    '"data" for the mean and the standard deviation of the data'
)
STANDARDISED = "the points are standardised exactly by"
"""How the note begins that says by what."""

_NAMES = ("mean", "scale")


def standardised(
    points: DataReading, given: object, *, trust_pickle: bool = False, columns: Sequence[str] | None = None
) -> DataReading:
    """The data with every point scaled, exactly, and a note that says by what.

    given: a fitted scaler of scikit-learn, or a pipeline or search with one before its network; a mapping of the arrays
    mean and scale, or the pair of them; the path of a .npz, .json, .skops or (with trust_pickle) .pkl file of one of
    these; "data" for the data's
    own mean and standard deviation, rounded to doubles. InputError says what is wrong with it.
    columns: the order in which the network takes the columns, where it knows that. Else columns with names are taken in
    the order of a scaler that knows their names; other names are refused.
    """
    names: tuple[str, ...] | None = None
    if isinstance(given, str) and given == "data":
        scaling, what = _own(points.data), "their own means and standard deviations, rounded to doubles"
    elif isinstance(given, str | PathLike):
        path = Path(cast("str | PathLike[str]", given))
        (scaling, names), what = _in_file(path, trust_pickle=trust_pickle), f"{path}"
    else:
        (scaling, names), what = _in_memory(given, "standardise"), f"the {type(given).__name__} given"
    place, data, order = f"standardise ({what})", points.data, ()
    if names is not None and columns is None:
        data, order = arranged(data, names, place, FITTED_ON)
    elif names is not None and (have := data.surroundings) is not None and have.columns is not None:
        order_of_names, _ = in_order(have.columns, names, place, FITTED_ON)
        scaling = scaling.of_columns([order_of_names.index(j) for j in range(len(names))], place)
    note = f"{STANDARDISED} {what}: the question is about the network and the data in these coordinates"
    return DataReading(scaled_inputs(data, scaling, place), (*points.notes, *order, note))


def _own(data: Dataset) -> Scaling:
    """Mean and population standard deviation of each column; 1 for that of a column that is constant."""
    columns = list(zip(*data.inputs, strict=True))
    means = [sum(column, Fraction(0)) / len(column) for column in columns]
    squares = [
        sum(((x - mean) ** 2 for x in column), Fraction(0)) / len(column)
        for column, mean in zip(columns, means, strict=True)
    ]
    try:
        scales = [sqrt(square) or 1.0 for square in squares]
        return Scaling.standardising([to_float(mean) for mean in means], scales, "standardise")
    except OverflowError:
        raise InputError('standardise="data": the data are beyond the range of floats: scale them first') from None


_Named: TypeAlias = tuple[Scaling, tuple[str, ...] | None]
"""A scaling, and the names of the columns that it was fitted on, where it knows them."""


def _in_file(path: Path, *, trust_pickle: bool) -> _Named:
    place = str(path)
    match path.suffix.lower():
        case ".npz":
            from verify.readers import npz

            return _of_arrays(npz.arrays_in(read_bytes(path), place), place), None
        case ".json":
            from verify.readers import json_files

            value = json_files.parse(read_bytes(path), place)
            _check_names(value, place)
            mean, scale = (json_files.vector(value[name], f"{place}: {name}") for name in _NAMES)
            return Scaling.standardising(mean, scale, place), None
        case ".skops":
            from verify.readers import sklearn_estimators

            return _in_memory(sklearn_estimators.load_skops(read_bytes(path), place), place)
        case ".pkl" | ".pickle" | ".joblib":
            from verify.readers import pickles

            return _in_memory(pickles.load(read_bytes(path), place, trust_pickle=trust_pickle)[0], place)
        case _:
            if path.suffix:
                check_there(path)
            raise InputError(f"standardise is {place!r:.60}: {_REMEDY}")


def _in_memory(given: object, place: str) -> _Named:
    from verify.readers import sklearn_pipelines

    if isinstance(given, Mapping):
        named = cast("Mapping[object, object]", given)
        return _of_arrays(dict(zip(map(str, named), named.values(), strict=True)), place), None
    if isinstance(given, tuple) and len(pair := cast("tuple[object, ...]", given)) == 2:
        return _of_arrays(dict(zip(_NAMES, pair, strict=True)), place), None
    names = sklearn_pipelines.names_of(given)
    if not sklearn_pipelines.is_scaler(given):
        around = sklearn_pipelines.unwrapped(given, place)
        if around.inputs is None:
            raise InputError(f"{place} is of type {type(given).__name__}: {_REMEDY}")
        if around.outputs is not None:
            raise InputError(
                f"{place} scales the targets as well as the points, and standardise is for points alone: give the "
                "points and the targets as it scales them"
            )
        return around.inputs, names
    scaling = sklearn_pipelines.scaling_of(given, place)
    return Scaling.of(place=place) if scaling is None else scaling, names


def _of_arrays(arrays: Mapping[str, object], place: str) -> Scaling:
    from verify.readers.named_arrays import array_of

    _check_names(arrays, place)
    mean, scale = (
        cast("list[Number]", array_of(arrays[name], f"{place}: {name}").reshape(-1).tolist()) for name in _NAMES
    )
    return Scaling.standardising(mean, scale, place)


def _check_names(found: Mapping[str, object], place: str) -> None:
    if set(found) != set(_NAMES):
        held = ", ".join(f"{name:.40}" for name in list(found)[:6]) or "nothing"
        raise InputError(f"{place} must hold mean and scale, one number a column of each, and it holds {held}")
