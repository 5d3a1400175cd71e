"""What is shown on standard error while an audit runs, when that is a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import isfinite
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from solvers.dual_cuts import Progress

__all__ = ["shown_progress"]


@contextmanager
def shown_progress() -> Iterator[Callable[[Progress], None] | None]:
    """A line that keeps changing; yields what to call with each `Progress`, None when nobody is watching."""
    from rich.console import Console

    console = Console(stderr=True)
    if not console.is_terminal:
        yield None
        return
    plain = console.options.ascii_only
    with console.status("auditing", spinner="line" if plain else "dots") as status:
        yield lambda progress: status.update(progress_text(progress, "..." if plain else "…"))


def progress_text(progress: Progress, dots: str) -> str:
    """Such as "round 3, best possible about 4.93 … 4.95, gap 4.1e-3, 2 s" (floats: nothing of it is proved yet)."""
    text = f"round {progress.round}"
    if isfinite(progress.upper):
        text += f", best possible about {progress.lower:.7g} {dots} {progress.upper:.7g}"
        if progress.lower > 0:
            text += f", gap {progress.upper / progress.lower - 1:.1e}"
    return f"{text}, {progress.seconds:.0f} s"
