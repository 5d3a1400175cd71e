"""Where results are written: checked before the work, so that none is done in vain and nothing is overwritten."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path

from verify.checker.derived import is_of_audit
from verify.checker.errors import InputError
from verify.files.reading import read_bytes

__all__ = ["check_case_folder", "check_file", "check_folder", "check_folder_of_folders", "check_page", "check_picture"]


def check_file(path: str, inputs: Iterable[str], folder: str | None) -> None:
    """Refuse a file that could not be written, that is one of the inputs, or that lies among the certificates."""
    file = Path(path)
    if folder is not None and file.absolute().parent == Path(folder).absolute():
        raise InputError(f"{path} lies among the certificates, which hold an audit.json anyway: give another place")
    if file.is_dir():
        raise InputError(f"{path} is a folder: give the name of a file to write")
    for given in inputs:
        if file.exists() and Path(given).exists() and file.samefile(given):
            raise InputError(f"{path} is an input, which would be overwritten: give another file to write")
    _check_parent(file, path)
    if file.exists() and not os.access(file, os.W_OK):
        raise InputError(f"{path} cannot be written: check its permissions, or give another file")


def check_picture(path: str) -> None:
    """Refuse a picture whose format is not known from its name."""
    if Path(path).suffix.lower() not in (".png", ".pdf", ".svg"):
        raise InputError(f"{path} does not say what kind of picture it is: end its name in .png, .pdf or .svg")


def check_page(path: str, inputs: Iterable[str], folder: str | None, others: Iterable[str]) -> None:
    """Refuse an HTML page that could not be written, has another name than a page, or that of another result."""
    if Path(path).suffix.lower() not in (".html", ".htm"):
        raise InputError(f"{path} is to be a page for a browser: end its name in .html")
    check_file(path, inputs, folder)
    if any(Path(path).resolve() == Path(other).resolve() for other in others):
        raise InputError(f"{path} is to be written twice: give every file a name of its own")


def check_folder_of_folders(path: str) -> None:
    """Refuse a folder into which none could be written."""
    folder = Path(path)
    if not folder.exists():
        _check_parent(folder, path)
        return
    if not folder.is_dir():
        raise InputError(f"{path} is a file: give the name of a folder for the certificates")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise InputError(f"{path} cannot be written: check its permissions, or give another folder")


def check_folder(path: str) -> None:
    """Refuse a folder that could not be written, or that holds anything but an earlier audit."""
    check_folder_of_folders(path)
    folder = Path(path)
    if not folder.exists():
        return
    strange = sorted(entry.name for entry in folder.iterdir() if not is_of_audit(entry.name))
    if strange or (any(folder.iterdir()) and not _is_audit(folder / "audit.json")):
        other = f"holds {strange[0]}" if strange else "is not empty and holds no audit"
        raise InputError(f"{path} {other}: give a new folder, an empty one, or one with an earlier audit to replace")


def check_case_folder(path: str | None) -> None:
    """Refuse a folder for case files, made with its parents when it is not there, into which none could be written."""
    if path is None:
        return
    place = Path(path).absolute()
    while not place.exists() and place != place.parent:
        place = place.parent
    if not place.is_dir() or not os.access(place, os.W_OK | os.X_OK):
        raise InputError(f"--cases {path} is not a folder that can be written: name one, or one that can be made")


def _check_parent(place: Path, path: str) -> None:
    parent = place.parent
    if not parent.is_dir():
        raise InputError(f"{path} cannot be written, because {parent} is not a folder: make it first")
    if not os.access(parent, os.W_OK | os.X_OK):
        raise InputError(f"{path} cannot be written, because {parent} is not writable: give another place")


def _is_audit(file: Path) -> bool:
    try:
        return json.loads(read_bytes(file)).get("schema") in ("audit-1", "vector-audit-1")
    except (OSError, ValueError, AttributeError):
        return False
