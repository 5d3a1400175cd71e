"""Deadlines: moments of `solvers.clock.now()` after which a search stops, None for no limit."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from solvers.clock import TimeIsUpError, by_work, elapsed, is_late, now, poll, seconds_left, share, until, watched

__all__ = [
    "TimeIsUpError",
    "by_work",
    "elapsed",
    "is_late",
    "now",
    "poll",
    "seconds_left",
    "share",
    "until",
    "watched",
    "within",
]

_T = TypeVar("_T")


def within(deadline: float | None, do: Callable[[], _T]) -> _T | None:
    """What `do` returns; None when the time that it has ends first, though the step around it may go on."""
    try:
        with until(deadline):
            return do()
    except TimeIsUpError:
        poll()
        return None
