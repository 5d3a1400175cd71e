"""Columns by name: data whose columns have names, in the order of those that a network was trained on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from shlex import quote
from typing import TYPE_CHECKING, Any, cast

from verify.checker.errors import InputError
from verify.numbers.array_like import is_table, plain
from verify.numbers.values import rational
from verify.readers.labels import MISSING
from verify.readers.shorthand import DATA_NAMES

if TYPE_CHECKING:
    from verify.problem.problem import Dataset

__all__ = ["arranged", "check_entries", "check_last", "column_names", "in_order", "ordered"]

TRAINED_ON = "the network was trained on"
FITTED_ON = "the scaler was fitted on"
TARGETS = ("class", "label", "labels", "target", "targets", "y")
"""What columns of targets are called; beside an x, y is a coordinate."""

OTHER_ORDER = f"the columns are taken in the order that {TRAINED_ON}"


def in_order(
    found: Sequence[str], wanted: Sequence[str], place: str, whose: str = TRAINED_ON
) -> tuple[list[int], tuple[str, ...]]:
    """The places in `found` of the columns `wanted`, in their order, and a note if that is another order.

    whose: what knows the columns that are wanted, with a verb.   Raises InputError unless both are the same names.
    """
    names = [name.strip() for name in wanted]
    places = {name.strip(): j for j, name in enumerate(found)}
    missing = [name for name in names if name not in places]
    others = [name for name in places if name not in names]
    if missing or others or len(found) != len(names):
        what = [f"without the {_listed('column', missing)}"] if missing else []
        what += [f"with the {_listed('column', others)} that it does not know"] if others else []
        raise InputError(
            f"{place}: {whose} the {_listed('column', names)}, and the data come "
            f"{' and '.join(what) or 'with a name twice'}: give exactly these columns and the target"
        )
    order = [places[name] for name in names]
    if order == sorted(order):
        return order, ()
    shown = ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")
    return order, (f"{place}: {OTHER_ORDER.replace(TRAINED_ON, whose)}, {shown}",)


def arranged(
    data: Dataset, wanted: Sequence[str], place: str, whose: str = TRAINED_ON
) -> tuple[Dataset, tuple[str, ...]]:
    """The data, whose columns have names, with these in the wanted order, and a note if that is another order.

    Data without names are taken as they are.   Raises InputError unless both are the same names.
    """
    around = data.surroundings
    if around is None or around.columns is None:
        return data, ()
    order, notes = in_order(around.columns, wanted, place, whose)
    if not notes:
        return data, ()
    inputs = around.inputs
    if inputs is not None and len(inputs[0]) == len(order):
        factors, offsets = (tuple(part[j] for j in order) for part in inputs)
        inputs = factors, offsets
    moved = data.mapped(inputs=[[row[j] for j in order] for row in data.inputs])
    return moved.placed(replace(around, inputs=inputs, columns=tuple(around.columns[j] for j in order))), notes


def ordered(arrays: dict[str, object], columns: Sequence[str]) -> tuple[dict[str, object], tuple[str, ...]]:
    """X and y by name, and a note; of a table X, the columns in that order."""
    table = arrays.get(DATA_NAMES[0])
    if not is_table(table):
        return arrays, ()
    names = column_names(table)
    if names is None:  # numbers are places, and scikit-learn takes them as these
        return arrays, ()
    order, notes = in_order(names, columns, "X")
    return {**arrays, DATA_NAMES[0]: cast("Any", table)[[names[j] for j in order]]}, notes


def check_last(names: Sequence[str], place: str) -> None:
    """Refuse to take the last column for the target where another one is called so, and the last one is not."""
    plain_names = [name.strip().lower() for name in names]
    are_targets = TARGETS[:-1] if "x" in plain_names else TARGETS
    called = [name for name, text in zip(names, plain_names, strict=True) if text in are_targets]
    if called and names[-1] not in called:
        raise InputError(
            f"{place}: the target would be the last column, {names[-1]!r:.60}, and there is a column {called[0]!r}: "
            f"say which it is with --target {called[0]} (target={called[0]!r}) or --target {quote(names[-1])}"
        )


def column_names(table: object) -> list[str] | None:
    """The names of the columns of a table, if they are names."""
    names = list(cast("Any", table).columns) if is_table(table) else []
    return names if names and all(isinstance(name, str) for name in names) else None


def check_entries(table: object) -> None:
    """Raise InputError, with the name of the column, for the first entry of a table that is missing or no number."""
    if not is_table(table):
        return
    for name in cast("Any", table).columns:
        values = plain(cast("Any", table)[name], f"column {name!r:.40}")
        for i, value in enumerate(values if isinstance(values, list) else ()):
            where = f"column {name!r:.40}, row {i}"
            if value is None or str(value).strip().lower() in (*MISSING, "<na>", "nat"):
                raise InputError(f"{where}: the value is missing: leave that row out, or fill the value in")
            if isinstance(value, str) and not _is_number(value):
                raise InputError(f"{where} is the text {value!r:.40}: leave that column out, or write it in numbers")


def _is_number(text: str) -> bool:
    try:
        rational(text, "")
    except InputError:
        return False
    return True


def _listed(what: str, names: Sequence[str]) -> str:
    shown = ", ".join(f"{name!r:.40}" for name in names[:8]) + (", ..." if len(names) > 8 else "")
    return f"{what if len(names) == 1 else what + 's'} {shown}"
