"""What is shown on standard error while an audit, a training or a search runs, when that is a terminal."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from math import isfinite
from typing import TYPE_CHECKING, final

from verify.numbers.counts import count

if TYPE_CHECKING:
    from solvers.any_width.dual_cuts import Progress
    from solvers.training.trajectory import Moment
    from verify.claims import Instance
    from verify.search import Search

PATIENCE = 10.0
"""Seconds after which it is said how to stop."""

__all__ = ["shown_claims", "shown_progress", "shown_search", "shown_training", "shown_widths", "widths_text"]


@contextmanager
def shown_progress() -> Iterator[Callable[[Progress], None] | None]:
    """A line that keeps changing; yields what to call with each `Progress`, None when nobody is watching."""
    with _shown("auditing", "keeps what is proved") as (show, dots):
        yield None if show is None else lambda progress: show(progress_text(progress, dots))


@contextmanager
def shown_training() -> Iterator[Callable[[Moment], None] | None]:
    """The same for a training: yields what to call with each `Moment`."""
    with _shown("training", "keeps what was reached") as (show, _):
        yield None if show is None else lambda moment: show(moment_text(moment))


@contextmanager
def shown_widths() -> Iterator[Callable[[int, int, int, float, float], None] | None]:
    """The same for widths: yields what to call with the width, states, open states, and both ends of the bracket."""
    with _shown("searching", "keeps what is proved") as (show, _):
        yield None if show is None else lambda *found: show(widths_text(*found))


def widths_text(width: int, nodes: int, left: int, lower: float, upper: float) -> str:
    """One line about the states that were looked at."""
    least, most = (f"{end:.6g}" if isfinite(end) else "?" for end in (lower, upper))
    return f"{count(width, 'neuron')}: {count(nodes, 'state')}, {left} open, between about {least} and {most}"


@contextmanager
def shown_claims(total: int) -> Iterator[Callable[[int, Sequence[str]], None]]:
    """The same for claims: yields what to call with how many are done and with the ids of those that are running."""
    with _shown("claims") as (show, _):
        yield lambda done, running: show(claims_text(done, total, running)) if show else None


@contextmanager
def shown_search() -> Iterator[Callable[[Search, str], None] | None]:
    """The same for a search: yields what to call with what it has so far and where it looks."""
    with _shown("searching") as (show, _):
        yield None if show is None else lambda result, doing: show(search_text(result, doing))


@contextmanager
def _shown(what: str, kept: str | None = None) -> Iterator[tuple[Callable[[str], None] | None, str]]:
    """kept: what Ctrl-C keeps, for work that has --time-limit too; None where nothing is to be said of that."""
    from rich.console import Console

    console = Console(stderr=True)
    plain = console.options.ascii_only
    dots = "..." if plain else "…"
    if not console.is_terminal:
        yield None, dots
        return
    line = ProgressLine(what, kept)
    with console.status(line, spinner="line" if plain else "dots"):
        yield line.show, dots


@final
class ProgressLine:
    """What is being done, for how long, and after a while how to end it; drawn anew with each turn of the spinner."""

    def __init__(self, what: str, kept: str | None, clock: Callable[[], float] = time.monotonic) -> None:
        self._what, self._kept, self._clock = what, kept, clock
        self._began, self._news = clock(), ""

    def show(self, news: str) -> None:
        """Put these news at the end of the line."""
        self._news = news

    def __rich__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        elapsed = self._clock() - self._began
        text = f"{self._what}, {elapsed:.0f} s" + (f": {self._news}" if self._news else "")
        if self._kept is None or elapsed < PATIENCE:
            return text
        return f"{text} (Ctrl-C stops and {self._kept}, as --time-limit SECONDS does)"


def claims_text(done: int, total: int, running: Sequence[str]) -> str:
    """Such as "3 of 61 claims done, running: vardi2022.thm3.1, lai2026.lem3"; more than four are counted."""
    more = f" and {len(running) - 4} more" if len(running) > 4 else ""
    return f"{done} of {total} claims done, running: {', '.join(running[:4])}{more}"


def search_text(result: Search, doing: str) -> str:
    """Such as "341 instances, smallest: 2 points, 2 neurons, dimension 2, 14 digits; any problems"."""
    text = f"{result.tried} instances"
    if result.smallest is not None:
        text += f", smallest: {size_text(result.smallest.instance)}"
    if result.extremes:
        best = [f"{found.judgement.measured} (group {group})" for group, found in sorted(result.extremes.items())]
        text += f", {result.claim.quantity}: {', '.join(best)}"
    return f"{text}; {doing}"


def size_text(instance: Instance) -> str:
    """Such as "2 points, 1 neuron, dimension 2, 14 digits"."""
    points, neurons, dimension, digits = instance.size
    return f"{count(points, 'point')}, {count(neurons, 'neuron')}, dimension {dimension}, {digits} digits"


def moment_text(moment: Moment) -> str:
    """Such as "log of the loss -12.3, margin 0.0812, norm 4.1, 3 kinks held, 1,204 gradients"."""
    text = f"log of the loss {moment.log_loss:.4g}, margin {moment.margin:.4g}, norm {moment.norm:.3g}"
    if moment.held:
        text += f", {len(moment.held)} kink{'s' * (len(moment.held) > 1)} held"
    return f"{text}, {moment.evaluations:,} gradients"


def progress_text(progress: Progress, dots: str) -> str:
    """Such as "round 3, best possible about 4.93 … 4.95, gap 4.1e-3" (floats: nothing of it is proved yet).

    Of a search at one width as `widths_text`.
    """
    if progress.width is not None:
        return widths_text(progress.width, progress.round, progress.left, progress.lower, progress.upper)
    text = f"round {progress.round}"
    if isfinite(progress.upper):
        text += f", best possible about {progress.lower:.7g} {dots} {progress.upper:.7g}"
        if progress.lower > 0:
            text += f", gap {progress.upper / progress.lower - 1:.1e}"
    return text
