"""A curve as a folder of folders, one for each width, each with the problem and what proves its row."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Sequence
from pathlib import Path

from verify.files.writing import replace_folder
from verify.numbers.arguments import a_path
from verify.widths.point import WidthPoint

__all__ = ["save_rows"]

OF_A_WIDTH = re.compile(r"width-[1-9][0-9]*")


def save_rows(points: Sequence[WidthPoint], folder: str | Path) -> list[str]:
    """Write the certificates of each width into `folder`/width-1 and so on, and remove those of wider ones that an
    earlier curve left there, which may be about other data. The folders written. Raises OSError.
    """
    place, written = a_path(folder, "folder"), list[str]()
    for point in points:
        own = place / f"width-{point.width}"
        files = {"problem.json": _json(point.problem.to_json())}
        files |= {f"{proof.KIND}.json": _json(proof.to_json()) for proof in point.certificates}
        replace_folder(own, files, _is_ours, "problem.json")
        written.append(str(own))
    for other in place.iterdir():
        if str(other) not in written and _is_of_a_curve(other):
            shutil.rmtree(other)
    return written


def _is_of_a_curve(place: Path) -> bool:
    """Whether it is such a folder, and holds nothing else."""
    if not OF_A_WIDTH.fullmatch(place.name) or place.is_symlink() or not (place / "problem.json").is_file():
        return False
    return all(entry.is_file() and _is_ours(entry.name) for entry in place.iterdir())


def _is_ours(name: str) -> bool:
    return name.endswith(".json")


def _json(value: object) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode() + b"\n"
