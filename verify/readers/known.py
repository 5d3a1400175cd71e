"""Data for a source of a network that knows its own columns and classes, as fitted estimators of scikit-learn do."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from verify.checker.errors import InputError
from verify.problem.problem import Dataset
from verify.readers import read_data_with_notes
from verify.readers.labels import TextLabelsError, UnknownLabelError, label_key
from verify.readers.reading import DataReading, Reading, named

__all__ = ["TARGETS_ARE_NUMBERS", "data_for"]

TARGETS_ARE_NUMBERS = "and the targets are numbers: they are read as -1 and 1"
_SIGNS = ({-1, 1}, {0, 1})


def data_for(
    reading: Reading | None,
    data: object,
    y: object = None,
    *,
    target: str | None = None,
    classes: Sequence[object] | None = None,
    as_stored: bool = False,
    is_regression: bool = False,
) -> DataReading:
    """The data, not scaled yet, with the columns in the order and the labels of the classes that the network knows.

    reading: of the network; None for one that knows nothing.
    classes, target, as_stored: of `read_data`.   is_regression: the targets are amounts, and no labels of classes.

    Raises InputError for columns and labels that the network does not know. Labels -1 and 1, or 0 and 1, always stand
    for the negative and the positive class.
    """
    options: dict[str, Any] = {"target": target, "columns": None if reading is None else reading.columns}
    if reading is None or reading.classes is None or is_regression or isinstance(data, Dataset):
        found = read_data_with_notes(data, y, as_stored=as_stored, classes=classes, **options)
        return _with_classes(found, classes)
    known = _shown(reading.classes)
    if classes is not None:
        found = read_data_with_notes(data, y, classes=classes, **options)
        if _keys(classes) != _keys(reading.classes) and not _are_signs(classes, reading.classes):
            raise InputError(
                f"the classes given are {_shown(classes)}, and the network was trained on {known}: give these, or "
                "audit a network of the classes given"
            )
        own = {label_key(label): label for label in reading.classes}
        return _with_classes(found, [own.get(label_key(label), label) for label in classes])
    try:
        return _with_classes(read_data_with_notes(data, y, classes=reading.classes, **options), reading.classes)
    except UnknownLabelError as error:
        refusal = InputError(
            f"{error.place} is {error.label!s:.40}, and the network was trained on the classes {known}: leave the "
            "points of other classes out, or write its two classes as -1 and 1"
        )
    try:
        found = read_data_with_notes(data, y, as_stored=as_stored, **options)
    except TextLabelsError:
        raise refusal from None
    if not _are_signs(found.data.targets, reading.classes):
        raise refusal
    note = f"the network was trained on the classes {known}, {TARGETS_ARE_NUMBERS}"
    named_so = named(found.data, classes=reading.classes)
    return DataReading(named_so, (*found.notes, note))


def _with_classes(found: DataReading, classes: Sequence[object] | None) -> DataReading:
    if classes is None:
        return replace(found, classes=None)
    return replace(found, data=named(found.data, classes=classes), classes=tuple(classes))


def _are_signs(labels: Iterable[object], known: Sequence[object]) -> bool:
    """Whether labels -1 and 1, or 0 and 1, may stand for the classes, none of which is called so otherwise."""
    found, names = _keys(labels), _keys(known)
    return any(found <= signs for signs in _SIGNS) and (names in _SIGNS or names.isdisjoint(found))


def _keys(labels: Iterable[object]) -> set[object]:
    return set(map(label_key, labels))


def _shown(classes: Sequence[object]) -> str:
    return " and ".join(f"{name!s:.40}" for name in classes)
