"""Instances as case files: a counterexample is offered in the form in which the corpus keeps it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from verify.claims.records import Instance
from verify.corpus.case_files import case_text, find, read_strictly
from verify.corpus.case_values import case_value
from verify.files.writing import write_bytes

__all__ = ["as_case", "read_instance", "write_case"]


def as_case(instance: Instance, *, comment: str, source: str, flags: Sequence[str] = ("counterexample",)) -> str:
    """The text of a case file; it expects nothing yet: `isoptimal regress DIR --add` decides it."""
    return case_text(case_value(instance.problem, instance.network, comment=comment, source=source, flags=flags))


def write_case(
    instance: Instance,
    folder: str | Path,
    name: str,
    *,
    comment: str,
    source: str,
    flags: Sequence[str] = ("counterexample",),
) -> Path:
    """Write the case file NAME.json into a folder that is made when it is not there."""
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    plain = "".join(c if c.isascii() and c.isalnum() else " " for c in name.lower())
    slug = "-".join(plain.split()) or "case"
    file = place / f"{slug}.json"
    text = as_case(instance, comment=comment, source=source, flags=flags)
    write_bytes(file, text.encode("utf-8", "backslashreplace"))
    return file


def read_instance(path: str | Path) -> Instance:
    """The instance in a case of the corpus, named as a path below cases/, or in a case file. Raises InputError."""
    file = Path(path)
    if not file.is_file():
        file = find() / path / "case.json"
    return Instance.of(read_strictly(file))
