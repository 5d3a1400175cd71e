"""Data sets in memory -> the arrays X and y: pairs, tables, data sets of PyTorch and scikit-learn, mappings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from verify.checker.errors import InputError
from verify.numbers.array_like import is_table, package
from verify.numbers.counts import count
from verify.readers.columns import check_last
from verify.readers.shorthand import DATA_NAMES

REMEDY = "give the points and the targets, X and y, a Dataset, or the path of a .npz, .csv or .json file"

Arrays = dict[str, object]


def arrays_of(source: object, target: str | None) -> tuple[Arrays, tuple[str, ...]] | None:
    """X and y by name, and notes; None for what holds no data set.

    target: the column of a table that holds the targets, by default the last one.
    """
    if is_table(source):
        return _of_table(source, target)
    if isinstance(source, Mapping):
        named = cast("Mapping[object, object]", source)
        arrays = dict(zip(map(str, named), named.values(), strict=True))
        if {"data", "target"} <= set(arrays) and not set(DATA_NAMES) & set(arrays):  # a Bunch of scikit-learn
            return dict(zip(DATA_NAMES, (arrays["data"], arrays["target"]), strict=True)), ()
        return arrays, ()
    if isinstance(source, tuple | list):
        pair = cast("tuple[object, ...] | list[object]", source)
        if len(pair) != 2:
            raise InputError(f"data has {count(len(pair), 'entry', 'entries')}: {REMEDY}")
        return dict(zip(DATA_NAMES, pair, strict=True)), ()
    if package(source) == "torch":
        return _of_torch(source)
    return None


def _of_table(table: Any, target: str | None) -> tuple[Arrays, tuple[str, ...]]:
    names = list(table.columns)
    if len(set(names)) < len(names):
        raise InputError("the table has two columns of one name: rename one of them")
    if len(names) < 2:
        raise InputError("the table has one column: it needs one for the targets and one for each coordinate")
    if target is None:
        check_last([str(name) for name in names], "the table")
    chosen = names[-1] if target is None else next((name for name in names if str(name) == target), None)
    if chosen is None:
        shown = ", ".join(f"{name!s:.40}" for name in names[:8]) + (", ..." if len(names) > 8 else "")
        raise InputError(f"the table has no column {target!r:.60}: its columns are {shown}")
    others = [name for name in names if name is not chosen]
    notes = () if target is not None else (f"the target is the last column of the table, {chosen!s:.60}",)
    return dict(zip(DATA_NAMES, (table[others], table[chosen]), strict=True)), notes


def _of_torch(source: Any) -> tuple[Arrays, tuple[str, ...]] | None:
    """A data set that can be indexed, or the loader of one, whose order says nothing."""
    kinds = {f"{kind.__module__}.{kind.__name__}" for kind in type(source).__mro__}
    if "torch.utils.data.dataloader.DataLoader" in kinds:
        source = source.dataset
        kinds = {f"{kind.__module__}.{kind.__name__}" for kind in type(source).__mro__}
    if "torch.utils.data.dataset.Dataset" not in kinds:
        return None
    try:
        points = [source[i] for i in range(len(source))]
    except (TypeError, NotImplementedError):
        raise InputError(
            "a data set that can only be iterated is not read: give its points and targets, X and y"
        ) from None
    if not points or any(not isinstance(point, tuple | list) or len(point) != 2 for point in points):
        raise InputError("a data set of PyTorch must hold pairs of a point and its target: give X and y")
    return dict(zip(DATA_NAMES, ([x for x, _ in points], [y for _, y in points]), strict=True)), ()
