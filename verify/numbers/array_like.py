"""Tensors, arrays and tables of any library as Python's own numbers, exactly: here, and only here, they are converted.

A value is known by what it can do and by the package of its class, so that no library is imported for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, cast

from verify.checker.errors import InputError

__all__ = ["is_table", "package", "plain"]

_OWN = (int, float, Fraction, str, bytes, complex, Mapping)
"""What is never an array."""


def plain(value: object, place: str = "value") -> Any:
    """The numbers in `value`: nested lists of Python's for an array, one for a scalar; all else as it is.

    Tensors of PyTorch (of any float type, on any device, with or without a gradient), TensorFlow and JAX, arrays of
    numpy, sparse matrices of scipy, tables and columns of pandas and polars, and lists and tuples of such. No number
    is rounded: bfloat16 and half are exact as floats, and no integer becomes a float beside one.

    Raises InputError naming `place` when there are no numbers in it, as in a tensor on the meta device.
    """
    if value is None or isinstance(value, _OWN):
        return value
    if isinstance(value, list | tuple):
        entries = cast("list[object] | tuple[object, ...]", value)
        return [entry if type(entry) in _OWN else plain(entry, place) for entry in entries]
    try:
        return _converted(value)
    except Exception as error:  # the conversion runs the code of the library
        said = " ".join(str(error).split())[:80]
        raise InputError(
            f"{place} holds no numbers that can be read ({said}): give a dense array or tensor, or lists of numbers"
        ) from error


def package(value: object) -> str:
    """The package of the class of an object, or of one that it derives from: "torch", "pandas", ...; "" for Python's.

    The parts of numpy and of the standard library are not told apart from Python.
    """
    roots = (kind.__module__.partition(".")[0] for kind in type(value).__mro__)
    return next((root for root in roots if root in _PACKAGES), "")


def is_table(value: object) -> bool:
    """Whether it has named columns, as a DataFrame has."""
    return package(value) in ("pandas", "polars") and getattr(value, "columns", None) is not None


_PACKAGES = ("torch", "tensorflow", "jax", "jaxlib", "pandas", "polars", "scipy", "ml_dtypes", "sklearn", "keras")


def _converted(value: Any) -> Any:
    match package(value):
        case "torch":
            value = _dense_tensor(value)
        case "tensorflow" | "keras" if isinstance(numbers := _method(value, "numpy"), Callable):
            value = numbers()
        case "pandas" if isinstance(_method(value, "to_numpy"), Callable):
            value = value.to_numpy(dtype=object)  # a column of integers stays one beside a column of floats
        case "polars":
            value = value.to_numpy()
        case "scipy" if isinstance(dense := _method(value, "toarray"), Callable):
            value = dense()
        case "ml_dtypes":
            return float(value)
        case _:
            pass
    if not isinstance(listed := _method(value, "tolist"), Callable):
        if _method(value, "__array__") is None or isinstance(value, type):
            return value
        import numpy as np

        listed = np.asarray(value).tolist
    found = listed()
    return plain(found) if isinstance(found, list) and package(value) != "torch" else found


def _dense_tensor(tensor: Any) -> Any:
    if getattr(tensor, "is_quantized", False):
        tensor = tensor.dequantize()
    return tensor.to_dense() if getattr(tensor, "is_sparse", False) else tensor


def _method(value: object, name: str) -> Any:
    return getattr(value, name, None)
