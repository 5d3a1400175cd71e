"""`.json` files: the names of the `.npz` with every number exact, and the canonical `network-1` and `problem-1`.

A number is an integer or canonical text such as "1/3". A JSON float is refused: whether 0.1 means one tenth or the
double nearest to it is for the user to say. A network may also hold `masks`: for each neuron the columns that it sees
(column d is the bias).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import cast

from verify.checker.codec import MAX_DIGITS, rational_of
from verify.checker.errors import InputError, ShapeError
from verify.numbers.counts import count
from verify.numbers.values import Number, rational
from verify.problem.network import Network
from verify.problem.problem import Dataset, Problem
from verify.readers.labels import are_names, classed_targets, signed_targets, text_labels
from verify.readers.reading import DataReading, naming
from verify.readers.shorthand import DATA_NAMES, NETWORK_NAMES, Shorthand, check_names

_ALONE = {
    "case-1": "a case file, which holds its own network and data: give it alone",
    "certificate-1": "a certificate: check it with isoptimal check",
}


class _FloatText(str):
    """The text of a JSON number with a point or an exponent, or of NaN or Infinity, which JSON does not have."""

    __slots__ = ()


def read_network(content: bytes, place: str) -> Shorthand | Network:
    """The network in the bytes of a JSON file, in the shorthand or in canonical form."""
    value = parse(content, place)
    match value.get("schema"):
        case None:
            return network_of(value, place)
        case "network-1":
            with naming(place):
                return Network.from_json(value)
        case "problem-1":
            raise InputError(f"{place} holds a problem, not a network: give the network first, then the data")
        case schema:
            raise _other_schema(schema, place)


def read_data(
    content: bytes, place: str, *, as_stored: bool = False, classes: Sequence[object] | None = None
) -> DataReading:
    """The data set in the bytes of a JSON file, in the shorthand or from a canonical problem."""
    value = parse(content, place)
    match value.get("schema"):
        case None:
            return data_of(value, place, as_stored=as_stored, classes=classes)
        case "problem-1":
            if classes is not None:
                raise InputError(f"{place} holds a problem, whose targets are numbers: leave the classes out")
            with naming(place):
                problem = Problem.from_json(value)
            note = f"{place} holds a problem: only its data are read, its goal and bias have to be given again"
            return DataReading(problem.data, (note,))
        case "network-1":
            raise InputError(f"{place} holds a network, not data")
        case schema:
            raise _other_schema(schema, place)


def network_of(value: Mapping[str, object], place: str) -> Shorthand:
    """The network that a JSON object in the shorthand describes."""
    check_names(value, (*NETWORK_NAMES, "masks"), ("W", "v"), place)
    given = {name: entry for name, entry in value.items() if entry is not None}
    return Shorthand(
        W=matrix(value["W"], f"{place}: W"),
        v=vector(value["v"], f"{place}: v"),
        b=vector(given["b"], f"{place}: b") if "b" in given else None,
        b2=number(given["b2"], f"{place}: b2") if "b2" in given else 0,
        slope=number(given["slope"], f"{place}: slope") if "slope" in given else None,
        masks=_masks(given["masks"], f"{place}: masks") if "masks" in given else None,
        has_b2="b2" in given,
    )


def data_of(
    value: Mapping[str, object], place: str, *, as_stored: bool = False, classes: Sequence[object] | None = None
) -> DataReading:
    """The data set that a JSON object in the shorthand describes.

    classes: the negative and the positive label; without them labels 0 and 1 become -1 and 1 unless `as_stored`.
    """
    check_names(value, DATA_NAMES, DATA_NAMES, place)
    X = matrix(value["X"], f"{place}: X")
    stored = _list(value["y"], f"{place}: y", "numbers")
    notes: tuple[str, ...] = ()
    if classes is not None:
        signed, notes = classed_targets(stored, classes, f"{place}: y")
        stored = list[object](signed)
    names = [entry for entry in stored if isinstance(entry, str) and not isinstance(entry, _FloatText)]
    if len(names) == len(stored) and are_names(names):
        raise text_labels(names, f"{place}: y")
    y: Sequence[Number] = vector(stored, f"{place}: y")
    if len(X) != len(y):
        sizes = f"X has {count(len(X), 'point')} but y has {count(len(y), 'target')}"
        raise ShapeError(f"{place}: {sizes}: give one target for each point")
    if not as_stored and classes is None:
        y, notes = signed_targets(y, f"{place}: y")
    with naming(place):
        return DataReading(Dataset(X, y), notes)


def parse(content: bytes, place: str) -> dict[str, object]:
    """The object in a JSON file; duplicate names, over-long integers and excessive depth are refused."""

    def integer(text: str) -> int:
        if len(text.lstrip("-")) > MAX_DIGITS:
            raise InputError(f"{place} holds an integer of {len(text)} digits: round it to at most {MAX_DIGITS}")
        return rational_of(text).numerator

    def members(pairs: list[tuple[str, object]]) -> dict[str, object]:
        found = dict(pairs)
        if len(found) < len(pairs):
            twice = Counter(name for name, _ in pairs).most_common(1)[0][0]
            raise InputError(f"{place} holds the name {twice!r:.60} twice in one object: leave one")
        return found

    try:
        value: object = json.loads(
            content.decode("utf-8-sig"),
            parse_int=integer,
            parse_float=_FloatText,
            parse_constant=_FloatText,
            object_pairs_hook=members,
        )
    except UnicodeDecodeError as error:
        raise InputError(f"{place} is not UTF-8 text (byte {error.start}): save it as UTF-8") from error
    except json.JSONDecodeError as error:
        raise InputError(
            f"{place} is not JSON (line {error.lineno}, {error.msg[:1].lower()}{error.msg[1:]}): mend it"
        ) from error
    except RecursionError as error:
        raise InputError(f"{place} is nested too deeply: a file holds at most rows of numbers") from error
    if not isinstance(value, dict):
        raise InputError(f'{place} must hold a JSON object with names and values, such as {{"W": ..., "v": ...}}')
    return cast("dict[str, object]", value)


def number(value: object, place: str) -> Number:
    """An exact number: an integer, or canonical text."""
    match value:
        case _FloatText() if value.lstrip("-") in ("NaN", "Infinity"):
            raise InputError(f"{place} is {value}: every number must be finite, so remove or repair that entry")
        case _FloatText():
            exact = f'"{Fraction(value)}"' if len(value) <= 12 and "e" not in value.lower() else 'text such as "1/10"'
            raise InputError(f"{place} is {value:.40}, a JSON float: write {exact}, or use .npz for the nearest double")
        case bool() | None:
            raise InputError(f'{place} is {json.dumps(value)}: write an integer, or text such as "1/3"')
        case int():
            return value
        case str():
            return rational(value, place)
        case _:
            raise ShapeError(f'{place} is a list or an object: write an integer there, or text such as "1/3"')


def vector(value: object, place: str) -> list[Number]:
    """A list of exact numbers, not empty."""
    return [number(entry, f"{place}[{i}]") for i, entry in enumerate(_list(value, place, "numbers"))]


def matrix(value: object, place: str) -> list[list[Number]]:
    """A list of equally long rows of exact numbers, not empty."""
    rows = [vector(row, f"{place}[{i}]") for i, row in enumerate(_list(value, place, "rows of numbers"))]
    for i, row in enumerate(rows):
        if len(row) != len(rows[0]):
            sizes = f"{place}[{i}] has {count(len(row), 'entry', 'entries')}, and the first row has {len(rows[0])}"
            raise ShapeError(f"{sizes}: give rows of one length")
    return rows


def _masks(value: object, place: str) -> list[list[int]]:
    masks: list[list[int]] = []
    for j, row in enumerate(_list(value, place, "lists of columns")):
        columns = _list(row, f"{place}[{j}]", "columns")
        if not all(type(column) is int for column in columns):
            raise InputError(f"{place}[{j}] must list the columns that neuron {j} sees: write them as integers from 0")
        masks.append(cast("list[int]", columns))
    return masks


def _list(value: object, place: str, content: str) -> list[object]:
    if not isinstance(value, list):
        raise ShapeError(f"{place} must be a list of {content}: put it in square brackets")
    if not value:
        raise InputError(f"{place} is empty: there must be at least one entry")
    return cast("list[object]", value)


def _other_schema(schema: object, place: str) -> InputError:
    if isinstance(schema, str) and schema in _ALONE:
        return InputError(f"{place} is {_ALONE[schema]}")
    return InputError(f"{place} has the schema {schema!r:.40}: leave the schema out, or write a network-1 or problem-1")
