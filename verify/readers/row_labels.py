"""Row labels of pandas: whether the rows of points and of targets belong together as they stand."""

from __future__ import annotations

from typing import Any

from verify.checker.errors import InputError
from verify.numbers.array_like import package

__all__ = ["BY_ROW", "check_rows"]


BY_ROW = "points are counted from 0 in the order of the rows of X, as X.iloc does, and not by their labels"
"""What is said where the labels of the rows would name other points."""


def check_rows(X: object, y: object) -> tuple[str, ...]:
    """A note on points and targets whose rows are taken and counted as they stand, though labelled otherwise.

    Of objects of pandas only, others have no row labels. Raises InputError for labels that differ: the same ones in
    another order, or others. Labels 0, 1, ... that pandas gives by default say nothing of the rows, unless the other
    object has the same ones in another order.
    """
    first, second = _labels(X), _labels(y)
    if first is None or second is None or len(first) != len(second) or first.equals(second):
        return () if first is None or _is_default(first) or list(first) == list(range(len(first))) else (BY_ROW,)
    found = f"X begins with {_beginning(first)}, y with {_beginning(second)}"
    remedy = "give y.loc[X.index], or, where the rows go together as they stand, X.to_numpy() and y.to_numpy()"
    if sorted(map(repr, first)) == sorted(map(repr, second)):
        raise InputError(f"the rows of X and y have the same labels in different orders ({found}): {remedy}")
    if not (_is_default(first) or _is_default(second)):
        raise InputError(f"the rows of X and y have different labels ({found}): {remedy}")
    return (f"the rows of X and y have different labels ({found}): they were taken in the order in which they stand",)


def _labels(value: Any) -> Any:
    """The index of a table or a series of pandas."""
    index = getattr(value, "index", None)
    return index if package(value) == "pandas" and hasattr(index, "equals") else None


def _is_default(index: Any) -> bool:
    return type(index).__name__ == "RangeIndex" and (index.start, index.step) == (0, 1)


def _beginning(index: Any) -> str:
    return ", ".join(f"{label!s:.20}" for label in index[:3]) + (", ..." if len(index) > 3 else "")
