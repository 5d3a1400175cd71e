"""Folders of certificates that commands are given: decided by the checker, each line with the path of its file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from verify.checker.decision import Decision, Line
from verify.checker.errors import InputError
from verify.checker.folder import decide_folder, relaxed_folder

__all__ = ["decided"]


def decided(given: str, *, bare: bool = False) -> Decision:
    """The folder, and the one beside that says what the network does fit, decided; InputError for no such folder."""
    folder = Path(given)
    if not folder.is_dir():
        what = "is a file" if folder.exists() else "does not exist"
        raise InputError(f"{folder} {what}: give a folder that isoptimal audit --certificates wrote")
    found = decide_folder(folder, bare=bare)
    found.lines = list(_placed(folder, found.lines))
    if found.relaxed is not None:
        found.relaxed.lines = list(_placed(relaxed_folder(folder), found.relaxed.lines))
    return found


def _placed(folder: Path, lines: list[Line]) -> Iterator[Line]:
    """The lines with the path of each file."""
    for line in lines:
        yield replace(line, file=str(folder / line.file))
