"""One measured line, and the table of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from benchmarks.measuring import Measurement

HEAD = (
    "job",
    "instance",
    "runs",
    "median s",
    "CPU s",
    "× reference",
    "certified gap",
    "rival",
    "ratio",
    "goal",
    "notes",
)

LEGEND = """*median s* is wall time, *CPU s* processor time of the same runs; where they differ, the machine was shared.
*× reference* is the median of wall time over that of a fixed computation run before and after each run.
*certified gap* is upper/lower − 1 of a bracket whose ends the checker accepted within the measured time."""


@dataclass(frozen=True, slots=True)
class Row:
    """time: of the job itself.   gap: the certified relative gap reached, None where the job has none.

    rival: who does the same work, and its seconds.   ratio: how many times faster we are (text: it may be a bound).
    goal: what the project asks for.
    """

    job: str
    instance: str
    time: Measurement | None = None
    gap: float | None = None
    rival: str = ""
    ratio: str = ""
    goal: str = ""
    note: str = ""

    @property
    def summary(self) -> str:
        """The line for a terminal."""
        return ", ".join(filter(None, [self.instance, *self._figures(), self.rival, self.ratio, self.note]))

    def cells(self) -> list[str]:
        """The cells of the table, in the order of `HEAD`."""
        time = self.time
        measured = ["", "", "", ""]
        if time is not None:
            measured = [str(time.runs), seconds(time.seconds), seconds(time.processor), f"{time.references:.3g}"]
        gap = "" if self.gap is None else f"{self.gap:.1e}"
        return [self.job, self.instance, *measured, gap, self.rival, self.ratio, self.goal, self.note]

    def _figures(self) -> list[str]:
        found = [] if self.time is None else [f"{seconds(self.time.seconds)} s (CPU {seconds(self.time.processor)} s)"]
        return found if self.gap is None else [*found, f"gap {self.gap:.1e}"]


def seconds(value: float) -> str:
    """Seconds with three digits."""
    return f"{value:.3g}" if value < 1000 else f"{value:.0f}"


def faster(ours: Measurement, theirs: Measurement) -> str:
    """The ratio of medians."""
    return f"{theirs.seconds / ours.seconds:.3g}×"


def markdown(about: Iterable[str], rows: Iterable[Row]) -> str:
    """The whole text: what it was measured on, and the table."""
    lines = [
        "# Benchmarks",
        "",
        *(line for text in [*about, LEGEND] for line in (text, "")),
        "| " + " | ".join(HEAD) + " |",
        "|" + "---|" * len(HEAD),
        *("| " + " | ".join(cell.replace("|", "\\|") for cell in row.cells()) + " |" for row in rows),
    ]
    return "\n".join(lines) + "\n"
