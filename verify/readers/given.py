"""What a user gives, a network and data of any kind, -> `Network`, `Dataset` and notes: the one way in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast, final

from verify.errors import InputError
from verify.network import Network
from verify.problem import Dataset
from verify.readers import read_data_with_notes, read_with_notes
from verify.readers.reading import DataReading, Options

__all__ = ["Given", "given"]


@final
@dataclass(frozen=True, slots=True)
class Given:
    """A network and data, and one sentence for each choice that was made in reading them."""

    network: Network
    data: Dataset
    notes: tuple[str, ...]


def given(
    network: object,
    data: object,
    y: object = None,
    *,
    options: Options | None = None,
    target: str | None = None,
    classes: Sequence[object] | None = None,
    as_stored: bool = True,
    is_regression: bool = False,
) -> Given:
    """The network and the data, for whatever `read` and `read_data` take.

    y: the targets, when `data` holds the points alone.
    options: of `read`.   target, classes, as_stored: of `read_data`. A classifier that knows its two classes is asked
    for them, unless `is_regression`.

    Raises InputError.
    """
    if isinstance(data, Network) or isinstance(network, Dataset):
        raise InputError("the data stand where the network is expected: give the network first, then the data")
    chosen = {} if options is None else cast("dict[str, Any]", options.given())
    reading = read_with_notes(network, **chosen)
    points = None
    if reading.classes is not None and classes is None and not is_regression:
        points = _classed(data, y, target, reading.classes)
    if points is None:
        points = read_data_with_notes(data, y, target=target, as_stored=as_stored, classes=classes)
    return Given(reading.network, points.data, tuple(dict.fromkeys((*reading.notes, *points.notes))))


def _classed(data: object, y: object, target: str | None, classes: Sequence[object]) -> DataReading | None:
    """The data with the labels of a classifier; None when they hold others, or numbers already."""
    if isinstance(data, Dataset):
        return None
    try:
        return read_data_with_notes(data, y, target=target, classes=classes)
    except InputError:
        return None
