"""Files of networks, as their libraries store them. Within `read_once` each is opened once, however often it is asked.

An audit asks first whether a network has several outputs, then reads it, and where it is asked what it was trained for
looks at the object itself: a pickle, whose code runs, is to be loaded once for all of that.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from os import PathLike, fspath
from pathlib import Path
from typing import TypeAlias, cast

from verify.checker.errors import InputError
from verify.files.reading import check_there, read_bytes
from verify.readers.refusals import OTHER_FILES
from verify.readers.table import by_suffix, suffixes

__all__ = ["loaded", "object_of", "read_once"]

Loaded: TypeAlias = tuple[object, tuple[str, ...]]

_EXPORT = "store W, v and, if there are hidden biases, b with numpy.savez, and read the .npz"

_KEPT: ContextVar[dict[tuple[str, bool], Loaded] | None] = ContextVar("kept", default=None)


@contextmanager
def read_once() -> Iterator[None]:
    """Keep what files hold for as long as this lasts; within another one nothing changes."""
    if _KEPT.get() is not None:
        yield
        return
    token = _KEPT.set({})
    try:
        yield
    finally:
        _KEPT.reset(token)


def loaded(path: Path, *, trust_pickle: bool) -> Loaded:
    """What the file of a network holds, and notes. Raises InputError."""
    kept = _KEPT.get()
    key = str(path), trust_pickle
    if kept is not None and key in kept:
        return kept[key]
    suffix = path.suffix.lower()
    row = by_suffix(suffix)
    if suffix == ".csv":
        raise InputError(f"{path}: a CSV file holds data, not a network: give the network first, then the data")
    if suffix in OTHER_FILES:
        check_there(path)
        raise InputError(f"{path}: {OTHER_FILES[suffix]}")
    if row is None:
        check_there(path)
        raise InputError(f"{path}: networks are read from {suffixes()}: {_EXPORT}")
    found, notes = row.loaded(read_bytes(path), str(path), trust_pickle=trust_pickle)
    if kept is not None:
        kept[key] = found, notes
    return found, notes


def object_of(source: object, *, trust_pickle: bool = False) -> object:
    """The object that a file of a network holds, None for a file that holds none; what is no path as it is."""
    if not isinstance(source, str | PathLike):
        return source
    path = Path(fspath(cast("str | PathLike[str]", source)))
    return None if by_suffix(path.suffix.lower()) is None else loaded(path, trust_pickle=trust_pickle)[0]
