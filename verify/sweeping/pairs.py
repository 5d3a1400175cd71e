"""The networks of a sweep and their data, one pair after another: their names, and what is read under them."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import pickle
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import Any, cast, final

from verify.checker.codec import rational_text
from verify.checker.errors import InputError
from verify.files.reading import read_bytes
from verify.numbers.arguments import wrong
from verify.problem.problem import Dataset
from verify.readers.reading import Options, Reading

__all__ = ["Data", "Pair", "Reader", "listed_pairs", "names_of", "on_the_same", "pairs_of"]

_KEPT = 8
"""How many data sets are kept in memory, for the pairs that follow."""


@final
@dataclass(frozen=True, slots=True)
class Pair:
    """What a user gives: a network and its data, as `read` and `read_data` take them; a name, or None."""

    network: object
    data: object
    name: str | None = None


@final
@dataclass(frozen=True, slots=True)
class Data:
    """A data set that was read, its SHA-256, and its pickle for the workers."""

    data: Dataset
    sha256: str
    pickled: bytes


def pairs_of(given: object) -> Iterator[Pair]:
    """The pairs of an iterable of (network, data) or (network, X, y), or of a mapping from names to such; in turn."""
    remedy = "give pairs (network, data), or a mapping from names to such pairs"
    if isinstance(given, Mapping):
        for name, value in cast("Mapping[object, object]", given).items():
            yield Pair(*_two(value, f"pairs[{name!r:.40}]"), name=str(name))
        return
    if not isinstance(given, Iterable) or isinstance(given, str | bytes):
        raise wrong(given, "pairs", remedy)
    for place, value in enumerate(cast("Iterable[object]", given)):
        yield value if isinstance(value, Pair) else Pair(*_two(value, f"pairs[{place}]"))


def on_the_same(networks: object, data: object, y: object) -> Iterator[Pair]:
    """The pairs of several networks, in a list or a mapping from names to them, with one data set."""
    if data is None:
        raise InputError("y is given without data: give the points, X, before their targets, y")
    source = data if y is None else (data, y)
    if isinstance(networks, Mapping):
        named = cast("Mapping[object, object]", networks)
        return iter([Pair(network, source, name=str(name)) for name, network in named.items()])
    if isinstance(networks, str | bytes | PathLike) or not isinstance(networks, Iterable):
        raise wrong(networks, "the networks", "give a list of networks, or a mapping from names to networks")
    return (Pair(network, source) for network in cast("Iterable[object]", networks))


def listed_pairs(path: str) -> list[Pair]:
    """The pairs in a file: CSV with the columns network, data and maybe name, or a JSON list of such objects."""
    content = read_bytes(Path(path), remedy="list fewer networks")
    try:
        text = content.decode("utf-8-sig")
        match Path(path).suffix.lower():
            case ".csv":
                table = csv.DictReader(io.StringIO(text), strict=True, restval="")
                entries: list[Any] = [(f"line {table.line_num}", row) for row in table]
            case ".json":
                entries = [(f"entry {place}", value) for place, value in enumerate(json.loads(text))]
            case _:
                raise InputError(
                    f"{path}: lists of pairs are read from .csv and .json files: convert it to one of them"
                )
    except InputError:
        raise
    except (ValueError, TypeError, RecursionError, csv.Error) as error:
        raise InputError(f"{path} cannot be read as a list of pairs ({error}): see isoptimal sweep --help") from error
    if not entries:
        raise InputError(f"{path} lists no pairs: give a line for each, with the columns network and data")
    return [_listed(value, f"{path}, {place}") for place, value in entries]


def _listed(value: object, place: str) -> Pair:
    """One entry of a list: an object, or in JSON also [network, data]."""
    if isinstance(value, list):
        value = dict(zip(("network", "data", "name"), cast("list[object]", value), strict=False))
    named = cast("dict[str, object]", value) if isinstance(value, dict) else {}
    texts = [named.get(key) for key in ("network", "data")]
    if not all(isinstance(text, str) and text for text in texts):
        raise InputError(f"{place}: give a network and its data there, the paths of two files")
    if unknown := [key for key in named if key not in ("network", "data", "name")]:
        raise InputError(
            f"{place}: {unknown[0]!r:.40} is no column of a list of pairs, which has network, data and name"
        )
    name = named.get("name")
    return Pair(*texts, name=str(name) if name not in (None, "") else None)


@final
class Reader:
    """Reads networks and data, with the options of `read` and `read_data`; the last few data sets are kept."""

    def __init__(
        self, options: Options, target: str | None, classes: Sequence[object] | None, *, is_regression: bool
    ) -> None:
        self._options, self._target, self._classes = options, target, classes
        self._is_regression = is_regression
        self._kept: OrderedDict[object, tuple[object, Data]] = OrderedDict()

    def network(self, source: object) -> Reading:
        """The network, with what was chosen. Raises whatever reading it raises."""
        from verify.readers import read_with_notes

        return read_with_notes(source, keeps_scalings=True, **cast("dict[str, Any]", self._options.given()))

    def data(self, source: object, reading: Reading) -> Data:
        """The data set; with the classes of a classifier that knows them, scaled as the source of the network scales.

        Raises whatever reading it raises.
        """
        from verify.readers.given import as_the_network_sees, notes_of_scaling
        from verify.readers.known import data_for

        known = repr((reading.classes, reading.columns))
        key = (_text(source) or id(source), known, reading.inputs, reading.outputs)
        if key not in self._kept:
            found = data_for(
                reading,
                source,
                target=self._target,
                classes=self._classes,
                as_stored=True,
                is_regression=self._is_regression,
            ).data
            found = as_the_network_sees(found, reading).noted(notes_of_scaling(reading))
            pickled = pickle.dumps(found, protocol=pickle.HIGHEST_PROTOCOL)
            self._kept[key] = source, Data(found, _sha256(found), pickled)  # with the source its id is kept
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        self._kept.move_to_end(key)
        return self._kept[key][1]


def names_of(pair: Pair, place: int, reading: Reading | None, data: Data | None) -> tuple[str, str]:
    """What the table calls the network and its data: what the user calls them, paths as they were given, or hashes."""
    name = pair.name or _text(pair.network)
    if not name:
        name = f"network {place}" + ("" if reading is None else f" ({reading.network.sha256()[7:15]})")
    of_data = _text(pair.data) or ("data" if data is None else f"data {data.sha256[7:15]}")
    return _writable(name), _writable(of_data)


def _two(value: object, place: str) -> tuple[object, object]:
    if isinstance(value, tuple | list):
        match cast("tuple[object, ...]", value):
            case (network, data):
                return network, data
            case (network, points, targets):
                return network, (points, targets)
            case _:
                pass
    raise InputError(f"{place} is no pair: give (network, data) there, as audit takes them")


def _text(source: object) -> str:
    """A path as text, "" for anything else."""
    if isinstance(source, str | PathLike) and isinstance(text := fspath(cast("str | PathLike[str]", source)), str):
        return text
    return ""


def _writable(name: str) -> str:
    """A name of any bytes as text that can be written anywhere."""
    return name.encode("utf-8", "backslashreplace").decode()


def _sha256(data: Dataset) -> str:
    value = {
        "inputs": [[rational_text(entry) for entry in row] for row in data.inputs],
        "targets": [rational_text(target) for target in data.targets],
    }
    text = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"
