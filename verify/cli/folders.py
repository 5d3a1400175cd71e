"""Folders of certificates that commands are given: decided by the checker, each line with the path of its file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from verify.checker.errors import InputError
from verify.checker.folder import AUDIT, Decision, Line, decide_folder, relaxed_folder

__all__ = ["decided"]


def decided(given: str, *, bare: bool = False) -> Decision:
    """The folder, and the one beside that says what the network does fit, decided; InputError for no such folder."""
    folder = Path(given)
    if not folder.is_dir():
        what = "is a file" if folder.exists() else "does not exist"
        raise InputError(f"{folder} {what}: give a folder that isoptimal audit --certificates wrote")
    found = decide_folder(folder, bare=bare)
    beside = relaxed_folder(folder)
    found.lines = list(_placed(folder, found.lines, None if beside.is_dir() else beside))
    if found.relaxed is not None:
        found.relaxed.lines = list(_placed(beside, found.relaxed.lines, None))
    return found


def _placed(folder: Path, lines: list[Line], missing: Path | None) -> Iterator[Line]:
    """The lines with the path of each file.   missing: the folder beside, where it is none."""
    for line in lines:
        text = line.text
        if missing is not None and line.file == AUDIT and str(missing) in text and not line.is_accepted:
            text = (
                f"tells what the network does fit, which {missing} is to prove, and there is no such folder: move it "
                "back to its place, or audit again"
            )
        yield replace(line, file=str(folder / line.file), text=text)
