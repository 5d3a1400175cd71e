"""The shape of a point, which the filters of a convolution need: of data as they are given, before they are read."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from verify.files.reading import read_bytes
from verify.problem.problem import Dataset
from verify.readers import data_objects

__all__ = ["shape_of_points"]


def shape_of_points(source: object, y: object = None) -> tuple[int, ...] | None:
    """The shape of a point of what `read_data` takes, where that is an array of numbers; None where it is not known."""
    if isinstance(source, Dataset):
        return (source.dimension,)
    if isinstance(source, str | PathLike):
        path = Path(source)
        if path.suffix.lower() != ".npz":
            return None
        from verify.readers import npz

        points = npz.arrays_in(read_bytes(path), str(path)).get("X")
    elif y is not None:
        points = source
    elif (found := data_objects.arrays_of(source, None)) is not None:
        points = found[0].get("X")
    else:
        return None
    from verify.readers import named_arrays

    return named_arrays.points_shape(points)
