"""The bytes of a file that the user gives: a regular one, of a size that is fit to be read."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

from verify.checker.errors import InputError

__all__ = ["MOST_BYTES", "check_there", "read_bytes"]

MOST_BYTES = 1 << 30
"""The most bytes of a file, and of what an archive holds when it is unpacked."""


def _check_no_folder(path: Path) -> None:
    """Raises InputError for a folder, which is given where a file in it is meant."""
    if path.is_dir():
        raise InputError(f"{path} is a folder: give the file")


def check_there(path: Path) -> None:
    """Raises InputError for a folder, and for a path where there is nothing: before a file is refused for its name."""
    _check_no_folder(path)
    try:
        is_missing = not path.exists()
    except (OSError, ValueError):  # a name that no file can have is refused where it is read
        return
    if is_missing:
        raise InputError(f"{path} does not exist: check the path")


def read_bytes(path: Path, most: int = MOST_BYTES, *, remedy: str = "audit fewer points") -> bytes:
    """The content of the file; InputError says why it is not read.

    remedy: what to do about a file of more than `most` bytes.

    Pipes and devices may block or never end, and a small archive can unpack to any size: both are refused unread.
    """
    try:
        _check_no_folder(path)
        if path.exists() and not path.is_file():
            raise InputError(f"{path} is a pipe or a device, not a regular file: write its content to a file first")
        with path.open("rb") as file:
            content = file.read(most + 1)
    except FileNotFoundError as error:
        raise InputError(f"{path} does not exist: check the path") from error
    except (OSError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        why = getattr(error, "strerror", None) or error
        raise InputError(f"{path} cannot be read ({why}): check its permissions") from error
    if len(content) > most:
        raise InputError(f"{path} is larger than {_size(most)}: {remedy}")
    if _unpacked_size(content) > most:
        raise InputError(f"{path} unpacks to more than {_size(most)}: {remedy}")
    return content


def _unpacked_size(content: bytes) -> int:
    """What the members of a zip archive (.npz, .pt, .skops) say they unpack to; 0 for other files and damaged ones."""
    if not content.startswith(b"PK"):
        return 0
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return sum(member.file_size for member in archive.infolist())
    except Exception:  # noqa: BLE001 (a damaged archive can fail anywhere; its reader says so)
        return 0


def _size(number: int) -> str:
    return f"{number >> 30} GiB" if number >= 1 << 30 else f"{number} bytes"
