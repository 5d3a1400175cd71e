"""`.safetensors` files: an 8-byte length, a JSON header, and the bytes of the tensors, one after the other.

The format is read here and not by the library of that name, whose numpy side has no bfloat16: every float is the exact
number that its bits say. A header that does not describe the bytes which follow it, each once, is refused.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from math import prod
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from verify.checker.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["load"]

MOST_HEADER = 100_000_000  # bytes, as the format says
_LENGTH = 8  # bytes of the length of the header

_TYPES = {
    "F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2",
    "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "<i1", "U64": "<u8", "U32": "<u4", "U16": "<u2", "U8": "<u1",
}  # fmt: skip


def load(content: bytes, place: str) -> dict[str, NDArray[Any]]:
    """The tensors of a file by name, with their exact values. Raises InputError."""
    length = int.from_bytes(content[:_LENGTH], "little")
    if len(content) < _LENGTH or not 2 <= length <= min(MOST_HEADER, len(content) - _LENGTH):
        raise _damaged(place, "the length of its header is not that of the file")
    header = _header(content[_LENGTH : _LENGTH + length], place)
    buffer = content[_LENGTH + length :]
    tensors: dict[str, NDArray[Any]] = {}
    ends: list[tuple[int, int]] = []
    for name, entry in header.items():
        if name != "__metadata__":
            tensors[name], span = _tensor(entry, buffer, f"{place}: {name:.60}")
            ends.append(span)
    position = 0
    for begin, end in sorted(ends):
        if begin != position:
            raise _damaged(place, f"byte {position} of its tensors belongs to none of them, or to two")
        position = end
    if position != len(buffer):
        raise _damaged(place, f"its tensors take {position} bytes, but {len(buffer)} follow the header")
    return tensors


def _header(text: bytes, place: str) -> dict[str, object]:
    def members(pairs: list[tuple[str, object]]) -> dict[str, object]:
        if len(found := dict(pairs)) < len(pairs):
            raise _damaged(place, "its header holds a name twice")
        return found

    try:
        header: object = json.loads(text.decode("utf-8"), object_pairs_hook=members)
    except InputError:
        raise
    except (ValueError, RecursionError) as error:
        raise _damaged(place, "its header is not JSON") from error
    if not isinstance(header, dict):
        raise _damaged(place, "its header is no JSON object")
    return cast("dict[str, object]", header)


def _tensor(entry: object, buffer: bytes, place: str) -> tuple[NDArray[Any], tuple[int, int]]:
    """A tensor, and where its bytes begin and end."""
    if not isinstance(entry, Mapping):
        raise _damaged(place, "its entry in the header is no JSON object")
    described = cast("Mapping[str, object]", entry)
    kind, shape, span = (described.get(name) for name in ("dtype", "shape", "data_offsets"))
    if not _are_sizes(shape) or not _are_sizes(span) or len(cast("list[int]", span)) != 2:
        raise _damaged(place, "its shape and data_offsets must be lists of integers of at least 0")
    begin, end = cast("list[int]", span)
    if not isinstance(kind, str) or kind not in _TYPES:
        raise InputError(
            f"{place} has the type {kind!s:.20}, which is not read: store it as F64, F32, F16, BF16 or integers"
        )
    stored = np.dtype(_TYPES[kind])
    if not begin <= end <= len(buffer) or end - begin != prod(cast("list[int]", shape)) * stored.itemsize:
        raise _damaged(place, "its data_offsets are not those of a tensor of its type and shape in this file")
    array: NDArray[Any] = np.frombuffer(buffer[begin:end], dtype=stored).reshape(cast("list[int]", shape))
    if kind == "BF16":  # the upper half of a single
        array = (array.astype(np.uint32) << 16).view(np.float32)
    return array, (begin, end)


def _are_sizes(value: object) -> bool:
    """Whether it is a list of integers that a size or an offset can be."""
    if not isinstance(value, list) or len(entries := cast("list[object]", value)) > 8:
        return False
    return all(type(entry) is int and 0 <= entry < 1 << 48 for entry in entries)


def _damaged(place: str, why: str) -> InputError:
    return InputError(f"{place} is damaged or no safetensors file ({why}): write it again")
