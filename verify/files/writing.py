"""Files and folders written wholly or not at all: beside their place first, then renamed.

Two programs that write to one place leave the work of one of them, and a program that is killed leaves what was there.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

__all__ = ["replace_folder", "write_bytes", "write_text"]

ATTEMPTS = 20  # to put a folder where other programs put theirs at the same time


def write_text(path: str | Path, text: str) -> None:
    """Write the text as UTF-8. Raises OSError."""
    write_bytes(path, text.encode("utf-8"))


def write_bytes(path: str | Path, content: bytes) -> None:
    """Write the content. Pipes and devices, which cannot be replaced, are written to as they are. Raises OSError."""
    place = Path(os.path.realpath(path))  # a link stays one
    if place.exists() and not place.is_file():
        place.write_bytes(content)
        return
    beside = _beside(place)
    try:
        beside.write_bytes(content)
        if place.exists():
            shutil.copymode(place, beside)
        beside.replace(place)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error
    finally:
        beside.unlink(missing_ok=True)


def replace_folder(folder: Path, files: Mapping[str, bytes], is_ours: Callable[[str], bool], last: str) -> None:
    """Make `folder` hold these files, in place of all earlier ones whose names are ours. Raises OSError.

    A folder that is new, or holds nothing else, is put there as a whole. Where that is not possible (other files are in
    it, it cannot be renamed), `last` is removed first and written last: until then the folder is none of ours.
    """
    place = Path(os.path.realpath(folder))
    place.parent.mkdir(parents=True, exist_ok=True)
    if not (_holds_others(place, is_ours) or not os.access(place.parent, os.W_OK) or os.path.ismount(place)):
        beside = _beside(place)
        try:
            beside.mkdir()
            for name, content in files.items():
                (beside / name).write_bytes(content)
            if _exchanged(beside, place, is_ours):
                return
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(folder)) from error
        finally:
            shutil.rmtree(beside, ignore_errors=True)
    place.mkdir(exist_ok=True)
    (place / last).unlink(missing_ok=True)
    for entry in place.iterdir():
        if is_ours(entry.name):
            entry.unlink(missing_ok=True)
    for name, content in files.items():
        if name != last:
            write_bytes(place / name, content)
    write_bytes(place / last, files[last])


def _exchanged(beside: Path, place: Path, is_ours: Callable[[str], bool]) -> bool:
    """Whether the new folder took the place of the old one; others may be doing the same."""
    for _ in range(ATTEMPTS):
        with suppress(FileNotFoundError):
            old = _beside(place)
            if _holds_others(place, is_ours):
                return False
            try:
                place.rename(old)
                shutil.rmtree(old, ignore_errors=True)
            except FileNotFoundError:
                pass  # nothing was there
            except OSError:  # a working folder of somebody, another file system
                return False
        with suppress(OSError):
            beside.rename(place)
            return True
    return False


def _holds_others(place: Path, is_ours: Callable[[str], bool]) -> bool:
    return place.exists() and not (place.is_dir() and all(is_ours(entry.name) for entry in place.iterdir()))


def _beside(place: Path) -> Path:
    return place.with_name(f".{place.name[:100]}.{uuid4().hex}.writing")
