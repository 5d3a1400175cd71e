"""The one place where searches read the time, and the moment at which what a thread is doing has to end.

A search that keeps the best of what it has looks at `is_late`; an inner loop without anything to keep calls `poll`, and
whoever began the step catches `TimeIsUpError`. Deadlines are moments of `now()`, seconds; None is no limit.

A search that nobody gave a limit, and that would not end by itself, has one of work, inside `by_work`: there `now`
counts what `spend` was told, about the seconds that it takes, so that what is found is the same on a busy machine.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

__all__ = [
    "TimeIsUpError",
    "by_work",
    "elapsed",
    "is_late",
    "now",
    "poll",
    "reading",
    "real_seconds_left",
    "seconds_left",
    "share",
    "spend",
    "until",
    "watched",
]


@dataclass(slots=True)
class _CountedWork:
    """spent: seconds of work.   end: of the step around it, on the clock that is read outside."""

    end: float | None
    spent: float = 0.0


_read: ContextVar[Callable[[], float]] = ContextVar("_read", default=time.monotonic)
_end: ContextVar[float | None] = ContextVar("_end", default=None)
_work: ContextVar[_CountedWork | None] = ContextVar("_work", default=None)
_watch: ContextVar[set[bool] | None] = ContextVar("_watch", default=None)


class TimeIsUpError(Exception):
    """The moment has come at which the step was to end."""


def now() -> float:
    """Seconds since some moment; inside `by_work` seconds of work."""
    work = _work.get()
    return elapsed() if work is None else work.spent


def elapsed() -> float:
    """Seconds since some moment, inside `by_work` too: only to be shown."""
    return _read.get()()


def is_late(deadline: float | None) -> bool:
    """Whether the deadline has passed, or the end of the step that this thread is in."""
    is_over = _is_over(deadline)
    if is_over:
        _notice()
    return is_over


def _is_over(deadline: float | None) -> bool:
    end, work = _end.get(), _work.get()
    if work is not None and work.end is not None and elapsed() > work.end:
        return True
    if deadline is None and end is None:
        return False
    time = now()
    return (deadline is not None and time > deadline) or (end is not None and time > end)


def _notice() -> None:
    """For who watches."""
    watch = _watch.get()
    if watch is not None:
        watch.add(True)


def seconds_left(deadline: float | None = None) -> float:
    """How long the step that this thread is in may still take, at least 0; infinite without a limit."""
    ends = [end for end in (_end.get(), deadline) if end is not None]
    left = max(min(ends) - now(), 0.0) if ends else math.inf
    work = _work.get()
    return left if work is None or work.end is None else min(left, max(work.end - elapsed(), 0.0))


def real_seconds_left(most: float = math.inf) -> float:
    """`seconds_left`, at most so many, for solvers that read a clock of their own; infinite where work is counted."""
    work = _work.get()
    if work is None:
        return min(most, seconds_left())
    return math.inf if work.end is None else max(work.end - elapsed(), 0.0)


def spend(seconds: float) -> None:
    """Count work that takes about so long on an idle machine: it must be the same whenever the same is done."""
    work = _work.get()
    if work is not None:
        work.spent += seconds


def poll(needed: float = 0.0) -> None:
    """Raise TimeIsUpError when the step that this thread is in has to end, or has less than `needed` seconds left."""
    if is_late(None) or (needed > 0 and seconds_left() < needed):
        _notice()
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
def by_work() -> Iterator[None]:
    """Count work in place of time, for this thread; the end of the step around it stays what it is."""
    if _work.get() is not None:
        yield
        return
    tokens = _work.set(_CountedWork(_end.get())), _end.set(None)
    try:
        yield
    finally:
        _work.reset(tokens[0])
        _end.reset(tokens[1])


@contextmanager
def watched() -> Iterator[Callable[[], bool]]:
    """Yields what says whether anything in this thread was found to be late since, and so was cut short."""
    seen: set[bool] = set()
    token = _watch.set(seen)
    try:
        yield lambda: bool(seen)
    finally:
        _watch.reset(token)


@contextmanager
def reading(clock: Callable[[], float]) -> Iterator[None]:
    """Let this thread read another clock: processor time, or one that a test advances."""
    token = _read.set(clock)
    try:
        yield
    finally:
        _read.reset(token)
