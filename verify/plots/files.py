"""Figures as files: the kind by the suffix, and the same bytes each time."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

from verify.checker.errors import InputError
from verify.files.writing import write_bytes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["check_path", "image", "write"]

_DATES: dict[str, dict[str, None]] = {"png": {"Software": None}, "pdf": {"CreationDate": None}, "svg": {"Date": None}}
_DPI = 100


def check_path(path: Path) -> Path:
    """`path`, if a picture can be written there as far as its name says; else InputError."""
    if path.suffix.lower().removeprefix(".") not in _DATES:
        raise InputError(f"{path}: pictures are written as .png, .pdf or .svg: give a name that ends so")
    if path.is_dir():
        raise InputError(f"{path} is a folder: give the name of a file")
    return path


def image(figure: Figure, kind: str, *, dpi: int = _DPI) -> bytes:
    """The figure as the bytes of a png, pdf or svg file.   dpi: pixels an inch of a png."""
    from matplotlib import rc_context

    content = io.BytesIO()
    with rc_context({"svg.hashsalt": "isoptimal"}):
        figure.savefig(content, format=kind, dpi=dpi if kind == "png" else 300, metadata=_DATES[kind])
    return content.getvalue()


def write(figure: Figure, path: Path, *, dpi: int = _DPI) -> None:
    """Write the figure; InputError when that is not possible."""
    content = image(figure, path.suffix.lower().removeprefix("."), dpi=dpi)
    try:
        write_bytes(path, content)
    except OSError as error:
        raise InputError(f"{path} cannot be written ({error.strerror or error}): check the folder") from error
