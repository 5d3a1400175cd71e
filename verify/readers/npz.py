"""`.npz` archives of `numpy.savez`: the named arrays in them, as `verify.readers.named_arrays` reads them.

Nothing is unpickled.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from verify.checker.errors import InputError
from verify.readers import parameters, torch_files
from verify.readers.chains import Chain
from verify.readers.named_arrays import data_of, network_of
from verify.readers.reading import DataReading
from verify.readers.shorthand import Shorthand

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]


def load_network(content: bytes, place: str) -> Shorthand | Chain | dict[str, object] | list[object]:
    """The network in the bytes of an archive; or a state dict, a tree or a list of parameters, as in memory."""
    arrays = arrays_in(content, place)
    if "W" not in arrays and (torch_files.is_state(arrays) or parameters.is_tree(arrays)):
        return arrays
    if arrays and all(name == f"arr_{i}" for i, name in enumerate(arrays)):  # numpy.savez without names
        return list(arrays.values())
    return network_of(arrays, place)


def read_data(
    content: bytes, place: str, *, as_stored: bool = False, classes: Sequence[object] | None = None
) -> DataReading:
    """The data set in the bytes of an archive."""
    return data_of(arrays_in(content, place), place, as_stored=as_stored, classes=classes)


def arrays_in(content: bytes, place: str) -> dict[str, object]:
    """The arrays in the bytes of an archive, by name. Raises InputError."""
    if content.startswith(b"\x93NUMPY"):
        raise InputError(f"{place} is a single array: write the named arrays with numpy.savez")
    if not content.startswith(b"PK"):
        raise InputError(f"{place} is not an .npz archive: write it with numpy.savez")
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as archive:
            names: list[str] = archive.files
            if len(set(names)) < len(names):
                raise InputError(f"{place} holds two arrays of one name: write it again with numpy.savez")
            return {name: _member(archive, name, place) for name in names}
    except InputError:
        raise
    except Exception as error:  # a damaged archive can fail anywhere in zipfile, zlib and numpy
        raise InputError(f"{place} is damaged or cut short: write it again with numpy.savez") from error


def _member(archive: Any, name: str, place: str) -> object:
    try:
        return archive[name]
    except ValueError as error:
        if "allow_pickle" in str(error):
            raise _objects(f"{place}: {name}") from error
        raise


def _objects(place: str) -> InputError:
    return InputError(f"{place} is an array of Python objects: convert it to numbers first, with astype(float)")
