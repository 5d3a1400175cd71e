"""The one place where searches read the time, and the moment at which what a thread is doing has to end.

A search that keeps the best of what it has looks at `is_late`; an inner loop without anything to keep calls `poll`, and
whoever began the step catches `TimeIsUpError`. Deadlines are moments of `now()`, seconds; None is no limit.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

__all__ = ["TimeIsUpError", "is_late", "now", "poll", "reading", "seconds_left", "share", "until"]

_read: ContextVar[Callable[[], float]] = ContextVar("_read", default=time.monotonic)
_end: ContextVar[float | None] = ContextVar("_end", default=None)


class TimeIsUpError(Exception):
    """The moment has come at which the step was to end."""


def now() -> float:
    """Seconds since some moment."""
    return _read.get()()


def is_late(deadline: float | None) -> bool:
    """Whether the deadline has passed, or the end of the step that this thread is in."""
    end = _end.get()
    if deadline is None and end is None:
        return False
    time = now()
    return (deadline is not None and time > deadline) or (end is not None and time > end)


def seconds_left(deadline: float | None = None) -> float:
    """How long the step that this thread is in may still take, at least 0; infinite without a limit."""
    ends = [end for end in (_end.get(), deadline) if end is not None]
    return max(min(ends) - now(), 0.0) if ends else math.inf


def poll(needed: float = 0.0) -> None:
    """Raise TimeIsUpError when the step that this thread is in has to end, or has less than `needed` seconds left."""
    if is_late(None) or (needed > 0 and seconds_left() < needed):
        raise TimeIsUpError


def share(deadline: float | None, part: float) -> float | None:
    """The moment at which this part of the time that is left is used up."""
    if deadline is None:
        return None
    time = now()
    return time + part * max(deadline - time, 0.0)


@contextmanager
def until(deadline: float | None) -> Iterator[None]:
    """A step of this thread that has to end at the deadline, or when the one around it does."""
    before = _end.get()
    ends = [end for end in (before, deadline) if end is not None]
    token = _end.set(min(ends, default=None))
    try:
        yield
    finally:
        _end.reset(token)


@contextmanager
def reading(clock: Callable[[], float]) -> Iterator[None]:
    """Let this thread read another clock: processor time, or one that a test advances."""
    token = _read.set(clock)
    try:
        yield
    finally:
        _read.reset(token)
