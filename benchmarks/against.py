"""Audits of the networks in `examples`, by another revision and by this checkout, in turn and in fresh processes.

    python -m benchmarks --against REVISION                      # the table on standard output
    python -m benchmarks --against REVISION --examples moons-200 iris/

A run is `isoptimal audit NETWORK DATA` as a user types it: imports, kernels and the report are part of it.
"""

from __future__ import annotations

import importlib.util
import io
import json
import os
import resource
import statistics
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from types import ModuleType

import numpy as np

ROOT = Path(__file__).parent.parent
EXAMPLES = ROOT / "examples"
LIMIT = 120.0
"""Seconds of an audit, after which it ends with what it has."""

QUESTIONS = {
    "fits": "fits", "stationary": "stationary", "local_optimum": "local", "global_optimum": "own width",
    "global_any_width": "any width",
}  # fmt: skip
OPEN, NONE = "undecided", "nothing"
WIDER = Fraction(1, 10**6)
"""A bracket whose relative width is larger by no more than this, the tolerance of an audit, is not wider."""


@dataclass(frozen=True, slots=True)
class Example:
    """name: of the network below `examples`.   arguments: of the command, behind `audit`."""

    name: str
    arguments: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """processor: seconds of the process.   memory: its peak, MB.   verdicts: of the questions; empty: it gave no audit.

    bracket: of the best possible objective.
    """

    processor: float
    memory: float
    verdicts: dict[str, str]
    bracket: tuple[Fraction, Fraction] | None

    @property
    def width(self) -> Fraction | None:
        """Of the bracket, relative to its lower end; None where it has none."""
        if self.bracket is None or self.bracket[0] <= 0:
            return None
        return self.bracket[1] / self.bracket[0] - 1


def compare(revision: str, names: Sequence[str], repeat: int) -> Iterator[str]:
    """The lines of the table, each as soon as it is known, and what all of them say together."""
    with tempfile.TemporaryDirectory() as place:
        before = extracted(revision, Path(place) / "before")
        yield from compared(before, revision, names, repeat)


def compared(before: Path, revision: str, names: Sequence[str], repeat: int) -> Iterator[str]:
    """The same with the files of the revision in a folder."""
    with tempfile.TemporaryDirectory() as place:
        yield f"Audits of the examples, limit {LIMIT:g} s: {revision} -> this checkout; CPU seconds of whole processes."
        yield ""
        yield "| network | before, CPU s | now, CPU s | times | peak MB, before -> now | verdicts |"
        yield "|---|---|---|---|---|---|"
        ratios: list[float] = []
        lost: list[str] = []
        most = 0.0
        for example in examples(Path(place), names):
            both: tuple[list[Answer], list[Answer]] = ([], [])
            for _ in range(repeat):
                for root, found in zip((before, ROOT), both, strict=True):
                    found.append(answer(root, example, Path(place) / "audit.json"))
            old, new = map(middle, both)
            ratios += [old.processor / new.processor] if old.verdicts else []
            most = max(most, new.memory)
            change = list(changes(old, new))
            lost += [example.name] if any(is_loss for _, is_loss in change) else []
            told = "; ".join(text for text, _ in change) or "the same"
            yield (
                f"| {example.name} | {old.processor:.1f} | {new.processor:.1f} | {old.processor / new.processor:.1f} | "
                f"{old.memory:.0f} -> {new.memory:.0f} | {told if old.verdicts else 'no audit before'} |"
            )
        yield ""
        if ratios:
            yield f"Median of {len(ratios)} that both audit: {statistics.median(ratios):.2f} times as fast."
        yield f"Peak of an audit now: {most:.0f} MB."
        yield f"Verdicts lost or brackets wider: {', '.join(lost) or 'none'}."


def extracted(revision: str, folder: Path) -> Path:
    """The files of a revision, in a folder."""
    told = subprocess.run(["git", "-C", str(ROOT), "archive", revision], capture_output=True, check=False)
    if told.returncode:
        raise SystemExit(f"no revision {revision}: {told.stderr.decode().strip()}")
    with tarfile.open(fileobj=io.BytesIO(told.stdout)) as archive:
        archive.extractall(folder, filter="data")
    return folder


def examples(place: Path, names: Sequence[str]) -> Iterator[Example]:
    """Those whose name contains one of the names, or all."""
    for path in sorted([*EXAMPLES.glob("*/*.npz"), *EXAMPLES.glob("*/*.json")]):
        name = str(path.relative_to(EXAMPLES).with_suffix(""))
        if path.stem.split(".")[-1] == "data" or not any(part in name for part in names or ("",)):
            continue
        if (arguments := _arguments(path, place)) is not None:
            yield Example(name, (str(path), *arguments))


def answer(root: Path, example: Example, out: Path) -> Answer:
    """One audit by the checkout in a folder."""
    out.unlink(missing_ok=True)
    limits = ("--time-limit", f"{LIMIT:g}", "--json", str(out))
    command = [sys.executable, "-m", "verify", "audit", *example.arguments, *limits]
    variables = {**os.environ, "PYTHONPATH": str(root), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    with subprocess.Popen(
        command, cwd=root, env=variables, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    return read_answer(out, used)


def read_answer(out: Path, used: resource.struct_rusage) -> Answer:
    """What the JSON of an audit says; an answer without verdicts where there is none."""
    processor, memory = used.ru_utime + used.ru_stime, used.ru_maxrss / 1024
    if not out.is_file():
        return Answer(processor, memory, {}, None)
    told = json.loads(out.read_text("utf-8"))
    verdicts = {name: told["findings"][name]["verdict"] for name in QUESTIONS if name in told["findings"]}
    ends = told["bracket"]
    bracket = None if ends is None or None in ends else (Fraction(ends[0]), Fraction(ends[1]))
    return Answer(processor, memory, verdicts, bracket)


def middle(answers: Sequence[Answer]) -> Answer:
    """The one of median processor time."""
    return sorted(answers, key=lambda one: one.processor)[len(answers) // 2]


def changes(old: Answer, new: Answer) -> Iterator[tuple[str, bool]]:
    """What is another answer now, and whether that is a loss: of a decided verdict, or of a narrower bracket."""
    for name, told in QUESTIONS.items():
        before, now = old.verdicts.get(name, OPEN), new.verdicts.get(name, NONE)
        if before != now and old.verdicts:
            yield f"{told}: {before} -> {now}", before != OPEN
    if old.width is not None and (new.width is None or new.width > old.width + WIDER):
        wide = "none" if new.width is None else f"{float(new.width):.2g}"
        yield f"bracket {float(old.width):.2g} -> {wide} wide", True


def _arguments(path: Path, place: Path) -> list[str] | None:
    """The data and options of a stored network, as its page has them; None where there is no data for it."""
    if path.parent.name == "regularised":
        training, decay, _ = path.stem.split("-")
        table = _module("regularised")
        data = place / f"{training}.npz"
        if not data.is_file():
            rows, targets = table.TRAININGS[training].made()
            np.savez(data, X=rows, y=targets)
        return [str(data), "--loss", table.TRAININGS[training].loss, "--decay", decay]
    if path.parent.name == "trainings":
        arrays = np.load(path)
        options = [] if "W" in arrays else ["--slope", "0"]
        if "2.weight" in arrays and arrays["2.weight"].shape[0] == 2:
            options += ["--two-logits", "difference"]
        data = path.parent / f"{_module('trainings').DATA[path.stem]}.data.npz"
        return [str(data), "--output-bias", "neuron", *options]
    data = path.parent / "data.npz"
    return [str(data)] if data.is_file() else None


def _module(name: str) -> ModuleType:
    """A script of `examples`."""
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
        if spec is None or spec.loader is None:
            raise SystemExit(f"{EXAMPLES / name}.py cannot be read")
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
    return sys.modules[name]
