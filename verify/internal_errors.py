"""Where an error that is nobody's input came about."""

from __future__ import annotations

import traceback
from pathlib import Path

__all__ = ["ROOT", "own_place"]

ROOT = Path(__file__).resolve().parent.parent
"""What holds the packages `verify` and `solvers`."""


def own_place(error: BaseException) -> str:
    """The innermost line of `verify` or `solvers` on the way to the error, such as "verify/auditing/record.py, line
    12".
    """
    place = "an unknown place"
    for frame in traceback.extract_tb(error.__traceback__):
        path = Path(frame.filename).resolve()
        if path.is_relative_to(ROOT / "verify") or path.is_relative_to(ROOT / "solvers"):
            place = f"{path.relative_to(ROOT)}, line {frame.lineno}"
    return place
