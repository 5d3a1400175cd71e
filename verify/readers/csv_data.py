"""Data in a comma-separated text file: one line of column names, then one line of numbers for each point.

A cell that is written as an integer is that integer; a decimal (0.1, 1e-3) means the double nearest to it, which is
what numpy and pandas make of it and what the network was trained on. For other exact numbers use a `.json` file.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from math import isfinite
from shlex import quote

from verify.checker.errors import InputError
from verify.numbers.counts import count
from verify.numbers.values import Number
from verify.problem.problem import Dataset
from verify.readers.columns import check_last, in_order
from verify.readers.labels import MISSING, are_names, classed_targets, signed_targets, text_labels
from verify.readers.reading import DataReading, named, naming

_INTEGER = re.compile(r"[+-]?[0-9]{1,4000}")
_DECIMAL = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_INFINITE = {"inf", "infinity"}


def read_data(
    content: bytes,
    place: str,
    *,
    target: str | None = None,
    as_stored: bool = False,
    classes: Sequence[object] | None = None,
    columns: Sequence[str] | None = None,
) -> DataReading:
    """The data set in the bytes of a CSV file.

    target: the name of the target column, by default the last one.
    classes: the negative and the positive label; without them labels 0 and 1 become -1 and 1 unless `as_stored`.
    columns: the names of the inputs in the order that the network takes them.

    Raises InputError naming line and column.
    """
    header, rows = _table(content, place)
    column = _target_column(header, target, place)
    name = f"{place}: the target column {header[column]!r}"
    if target is None:
        name += " (the last one; --target NAME takes another)"
    labels = [cells[column].strip() for _, cells in rows]
    notes: tuple[str, ...] = ()
    if classes is not None:
        signed, notes = classed_targets(labels, classes, f"{place}: column {header[column]!r}")
        for (_, cells), sign in zip(rows, signed, strict=True):
            cells[column] = str(sign)
    elif are_names(labels) and not any(_is_number(label) or label.lower() in MISSING | _INFINITE for label in labels):
        raise text_labels(labels, name)
    numbers = [
        [
            _number(cell, f"{place}: line {line}, column {header[j]!r}", None if j == column or target else header[j])
            for j, cell in enumerate(cells)
        ]
        for line, cells in rows
    ]
    targets: Sequence[Number] = [row[column] for row in numbers]
    places, order = [j for j in range(len(header)) if j != column], ()
    if columns is not None:
        found, order = in_order([header[j] for j in places], columns, place)
        places = [places[j] for j in found]
    inputs = [[row[j] for j in places] for row in numbers]
    if not as_stored and classes is None:
        targets, notes = signed_targets(targets, f"{place}: column {header[column]!r}")
    if target is None:
        notes = (f"{place}: the target is the last column, {header[column]!r}", *notes)
    notes = (*notes, *order)
    with naming(place):
        return DataReading(named(Dataset(inputs, targets), columns=[header[j] for j in places]), notes)


def _table(content: bytes, place: str) -> tuple[list[str], list[tuple[int, list[str]]]]:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{place} is not UTF-8 text (byte {error.start}): save it as UTF-8") from error
    if "\0" in text:
        raise InputError(f"{place} is not text (it holds a zero byte): save it as comma-separated UTF-8 text")
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        lines = [(reader.line_num, cells) for cells in reader if cells]
    except csv.Error as error:
        raise InputError(f"{place}: line {reader.line_num} is not comma-separated text ({error}): mend it") from error
    if not lines:
        raise InputError(f"{place} is empty: it needs a line of column names, then one line for each point")
    (_, first), rows = lines[0], lines[1:]
    header = [name.strip() for name in first]
    _check_header(header, place)
    if not rows:
        raise InputError(f"{place} holds no point: below the column names it needs one line for each point")
    for line, cells in rows:
        if len(cells) != len(header):
            raise InputError(
                f"{place}: line {line} has {count(len(cells), 'cell')}, and there are {len(header)} column names: "
                "give one cell for each column"
            )
    return header, rows


def _check_header(header: list[str], place: str) -> None:
    if all(_is_number(name) for name in header):
        raise InputError(f"{place}: line 1 holds numbers, not column names: put a line of column names above them")
    if len(header) == 1:
        remedy = (
            "separate columns by commas" if re.search(r"[;\t ]", header[0]) else "give an input and a target column"
        )
        raise InputError(f"{place} has one column only, {header[0]!r:.60}: {remedy}")
    if "" in header:
        raise InputError(
            f"{place}: column {header.index('') + 1} has no name: name it, or leave it out "
            "(pandas writes its index unless to_csv(index=False))"
        )
    seen: set[str] = set()
    for name in header:
        if name in seen:
            raise InputError(f"{place}: two columns are called {name!r:.60}: rename one")
        seen.add(name)


def _target_column(header: list[str], target: str | None, place: str) -> int:
    if target is None:
        check_last(header, place)
        return len(header) - 1
    if target not in header:
        names = ", ".join(header[:8]) + (", ..." if len(header) > 8 else "")
        raise InputError(f"{place} has no column {target!r:.60} for the target: its columns are {names}")
    return header.index(target)


def _is_number(cell: str) -> bool:
    return bool(_DECIMAL.fullmatch(cell.strip()))


def _number(cell: str, place: str, name: str | None) -> Number:
    """The number in a cell. name: the name of its column, where that might have been meant as the target."""
    text = cell.strip()
    if _INTEGER.fullmatch(text):
        return int(text)
    if _DECIMAL.fullmatch(text):
        if isfinite(number := float(text)):
            return number
        raise InputError(f"{place}: {text:.40} is too large for a double: rescale the column")
    if text.lower() in MISSING:
        raise InputError(f"{place}: {text!r} is a missing value: leave that line out, or fill the value in")
    if text.lower().lstrip("+-") in _INFINITE:
        raise InputError(f"{place}: {text!r} is not finite: leave that line out, or repair the value")
    remedy = (
        "write a decimal, or use a .json file for exact fractions"
        if "/" in text
        else "write a number, or drop the column"
        if name is None
        else f"write a number, drop the column, or, if it is the target, pass --target {quote(name)} (target={name!r})"
    )
    raise InputError(f"{place}: {text[:40]!r} is not a number: {remedy}")
