"""Reproduce a figure: compute, keep the numbers, draw, and say what agrees."""

from __future__ import annotations

import io
import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path

import numpy as np

from verify.checker.errors import InputError
from verify.files.writing import write_bytes, write_text
from verify.processes import noted_interrupts
from verify.reproduce.figures import figure, names
from verify.reproduce.spec import Check, Figure, NamedValues, Numbers, RunSize, plain

__all__ = ["Reproduction", "load", "reproduce"]

KINDS = ("png", "svg")


@dataclass(frozen=True)
class Reproduction:
    """A figure that was computed.   files: what was written.   seconds: of this run; stored results cost nothing."""

    figure: Figure
    size: RunSize
    numbers: Numbers
    checks: tuple[Check, ...]
    files: tuple[Path, ...]
    seconds: float

    @property
    def agrees(self) -> bool:
        """Whether every statement holds in these numbers."""
        return all(check.holds for check in self.checks)

    def __str__(self) -> str:
        found, size = self.figure, self.size
        lines = [f"{found.title} ({found.source})", f"The paper: {found.paper}"]
        if size == "smoke":
            lines.append("Smoke size: too small for the comparison to mean much")
        lines += [f"{check.word}: {check.statement}: {check.measured}" for check in self.checks]
        lines += [f"Seen: {line}" for line in found.notes(self.numbers)]
        lines += [f"Scaled down: {line}" for line in found.scaled(found.sizes[size])]
        lines += [f"Chosen here: {line}" for line in found.ours]
        return "\n".join([*lines, f"Written: {', '.join(str(path) for path in self.files)}"])


def reproduce(
    name: str,
    *,
    full: bool = False,
    smoke: bool = False,
    out: str | Path = "reproduced",
    progress: Callable[[str], None] | None = None,
) -> Reproduction:
    """Compute the figure `name` and write NAME.npz, NAME.json, NAME.png and NAME.svg into the folder `out`.

    full: the paper's size, which can take hours;   smoke: seconds, too small to show more than that it runs and which
    way things go;   by default a small faithful size, minutes at most.
    progress: called with one line whenever a part of the work is done.

    Results are kept in NAME.SIZE.parts.jsonl as they come; a run that was killed goes on from there, and one that had
    ended only draws again. `str` of the result says what agrees with the paper and what does not, measured.

    Raises InputError for an unknown name, and when the folder cannot be written; KeyboardInterrupt at Ctrl-C: the part
    that was running is not kept.
    """
    if full and smoke:
        raise InputError("a figure is computed in full or as a smoke test, not both")
    found = figure(name)
    if found is None:
        raise InputError(f"there is no figure {name!r}: there are {', '.join(names())}")
    size: RunSize = "full" if full else "smoke" if smoke else "default"
    folder = Path(out)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        began = time.monotonic()
        parts = _Parts(folder / f"{name}.{size}.parts.jsonl", found.sizes[size], progress)
        numbers = found.compute(found.sizes[size], parts)
        checks = tuple(found.checks(numbers))
        seconds = time.monotonic() - began
        files = _write(found, size, numbers, checks, folder)
    except OSError as error:
        raise InputError(f"{folder} cannot be written ({error.strerror or error}): choose another folder") from error
    return Reproduction(found, size, numbers, checks, files, seconds)


def load(folder: str | Path, name: str) -> Numbers:
    """The numbers of a figure that `reproduce` wrote."""
    place = Path(folder)
    with np.load(place / f"{name}.npz", allow_pickle=False) as arrays:
        return Numbers(dict(arrays), json.loads((place / f"{name}.json").read_text("utf-8"))["values"])


def _write(found: Figure, size: RunSize, numbers: Numbers, checks: tuple[Check, ...], folder: Path) -> tuple[Path, ...]:
    from verify.plots.files import write

    base = folder / found.name
    record = {
        "figure": found.name,
        "source": found.source,
        "size": size,
        "parameters": found.sizes[size],
        "checks": [asdict(check) for check in checks],
        "notes": found.notes(numbers),
        "values": numbers.values,
    }
    numbers_file, text_file = Path(f"{base}.npz"), Path(f"{base}.json")
    content = io.BytesIO()
    np.savez_compressed(content, **numbers.arrays)  # pyright: ignore[reportArgumentType]
    write_bytes(numbers_file, content.getvalue())
    write_text(text_file, json.dumps(plain(record), indent=1, ensure_ascii=False) + "\n")
    drawn = found.draw(numbers)
    pictures = [Path(f"{base}.{kind}") for kind in KINDS]
    for path in pictures:
        write(drawn, path, dpi=150)
    return (*pictures, numbers_file, text_file)


class _Parts:
    """Results by key in a file, one a line; those of another version or of other parameters do not count, nor does a
    last line cut short.
    """

    def __init__(self, path: Path, parameters: NamedValues, progress: Callable[[str], None] | None) -> None:
        self.path, self.progress = path, progress
        self.mark = json.dumps({"isoptimal": _version(), **plain(parameters)}, sort_keys=True)
        self.found: dict[str, NamedValues] = {}
        if path.exists():
            lines = path.read_text("utf-8").splitlines()
            entries = [entry for entry in map(_entry, lines) if entry is not None]
            if entries and entries[0].get("parameters") == self.mark:
                self.found = {entry["key"]: entry["value"] for entry in entries[1:]}
        if not self.found:
            path.write_text(json.dumps({"parameters": self.mark}) + "\n", "utf-8")

    def __call__(self, key: str, compute: Callable[[], NamedValues]) -> NamedValues:
        if key not in self.found:
            with noted_interrupts() as is_interrupted:
                value = plain(compute())
            if is_interrupted():  # a training that Ctrl-C cut short returns what it has: that is no result
                raise KeyboardInterrupt
            with self.path.open("a", encoding="utf-8") as file:
                file.write("\n" * (not _ends_whole(self.path)) + json.dumps({"key": key, "value": value}) + "\n")
            self.found[key] = value
        if self.progress is not None:
            self.progress(key)
        return self.found[key]


def _version() -> str:
    try:
        return metadata.version("isoptimal")
    except metadata.PackageNotFoundError:
        return "not installed"


def _entry(line: str) -> NamedValues | None:
    try:
        return json.loads(line)
    except ValueError:
        return None


def _ends_whole(path: Path) -> bool:
    with path.open("rb") as file:
        file.seek(0, 2)
        if not file.tell():
            return True
        file.seek(-1, 2)
        return file.read(1) == b"\n"
