"""The files of the corpus: where they are, the rules that hold for a case beyond its form, and how one is written."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TypeVar, cast

from verify.checker.codec import load_json
from verify.checker.errors import InputError
from verify.files.reading import read_bytes
from verify.problem.network import Network
from verify.problem.problem import Problem
from verify.readers import cases
from verify.readers.cases import Case
from verify.readers.json_files import parse

__all__ = ["case_text", "find", "locate", "read_canonical", "read_strictly", "strict_case"]

_T = TypeVar("_T", Problem, Network)


def find(path: str | Path | None = None) -> Path:
    """Where the cases are: `path`, or the corpus inside the installed package or at the top of the checkout.

    Raises InputError when they are not there.
    """
    if path is not None:
        if Path(path).exists():
            return Path(path)
        raise InputError(f"{path} does not exist: give a folder with cases, or none for the cases that come along")
    package = Path(__file__).parents[1]
    for folder in (package / "cases", package.parent / "cases"):
        if (folder / "schema.json").is_file():
            return folder
    raise InputError(f"{package / 'cases'} does not hold the cases that come along: give the folder that does")


def locate(root: Path) -> tuple[list[Path], list[Path]]:
    """The case files and the folders of rejected items below `root`, sorted. Raises InputError when there are none."""
    if not root.is_dir():
        return [root], []
    rejected = sorted(meta.parent for meta in root.rglob("meta.json"))
    files = [file for file in sorted(root.rglob("case.json")) if file.parent not in rejected]
    if not files and not rejected:
        raise InputError(f"{root} holds no case: a case is a folder with a case.json, as cases/README.md says")
    return files, rejected


def read_strictly(file: Path) -> Case:
    """The case in a file, held to the rules of the corpus too. Raises InputError."""
    return strict_case(read_bytes(file), str(file))


def strict_case(content: bytes, place: str) -> Case:
    """The case in the bytes of a file. The rules are those of `cases/schema.json`. Raises InputError naming `place`."""
    case, value = cases.read_case(content, place), parse(content, place)
    if not (case.comment.strip() and case.source.strip()):
        raise InputError(f"{place} says nothing in its comment or source: write what it shows, and where it is from")
    if any("\ud800" <= letter <= "\udfff" for letter in case.comment + case.source):
        raise InputError(f"{place} has half a character, a lone surrogate, in its comment or source: mend it")
    if unknown := [flag for flag in case.flags if flag not in _flags()]:
        raise InputError(f"{place} has the flag {unknown[0]!r:.60}: take those that cases/README.md explains")
    if not case.flags or len(set(case.flags)) < len(case.flags):
        raise InputError(f"{place} has no flag, or one twice: give at least one, and each once")
    for name in ("problem", "network"):
        part = cast("dict[str, object]", value[name])
        given = (part.get(key) for key in ("slope", "inputs", "targets", "W", "v", "b", "b2"))
        if not all(number is None or isinstance(number, str) for entry in given for number in _leaves(entry)):
            raise InputError(f'{place}: {name} has a number that is not text: write every number as text, such as "1"')
    return case


def _leaves(value: object) -> Iterator[object]:
    if isinstance(value, list):
        for entry in cast("list[object]", value):
            yield from _leaves(entry)
    else:
        yield value


@cache
def _flags() -> frozenset[str]:
    schema = json.loads((find() / "schema.json").read_text(encoding="utf-8"))
    return frozenset(schema["$defs"]["flag"]["enum"])


def read_canonical(kind: type[_T], file: Path) -> _T:
    """The problem or network in a canonical file. Raises OSError or ValueError."""
    return kind.from_json(load_json(file.read_text(encoding="utf-8")))


def case_text(value: dict[str, object]) -> str:
    """A case file as it is stored: a line for each member of the case, of its problem, network and expectations."""
    parts = [f"  {json.dumps(name)}: {_member_text(entry)}" for name, entry in value.items()]
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _member_text(value: object) -> str:
    if not isinstance(value, dict) or not value:
        return json.dumps(value, ensure_ascii=False)
    members = cast("dict[str, object]", value).items()
    lines = [f"    {json.dumps(name)}: {json.dumps(entry, ensure_ascii=False)}" for name, entry in members]
    return "{\n" + ",\n".join(lines) + "\n  }"
