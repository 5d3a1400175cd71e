"""Processes side by side: how many, started with one thread each, and how one of them ended."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock
from types import FrameType

__all__ = ["available_cores", "how_it_ended", "noted_interrupts", "started_alone"]

_THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
_ONE_AT_A_TIME = Lock()


def available_cores() -> int:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@contextmanager
def noted_interrupts() -> Iterator[Callable[[], bool]]:
    """Yields what says whether Ctrl-C was pressed, also where its KeyboardInterrupt was caught."""
    seen: list[int] = []
    if threading.current_thread() is not threading.main_thread():  # others cannot handle signals
        yield lambda: False
        return

    def note(number: int, frame: FrameType | None) -> None:
        seen.append(number)
        signal.default_int_handler(number, frame)

    before = signal.signal(signal.SIGINT, note)
    try:
        yield lambda: bool(seen)
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def started_alone() -> Iterator[None]:
    """A process that starts within has one thread for linear algebra, and Ctrl-C is for its parent only."""
    with _ONE_AT_A_TIME:  # the environment is that of all threads
        missing = [name for name in _THREADS if name not in os.environ]
        os.environ.update(dict.fromkeys(missing, "1"))
        masks = hasattr(signal, "pthread_sigmask")
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT}) if masks else None
        try:
            yield
        finally:
            for name in missing:
                del os.environ[name]
            if before is not None:
                signal.pthread_sigmask(signal.SIG_SETMASK, before)


def how_it_ended(code: int) -> str:
    """The exit code of a process in words: the signal that ended it, by its name."""
    if code >= 0:
        return f"exit code {code}"
    try:
        return f"signal {signal.Signals(-code).name}"
    except ValueError:
        return f"signal {-code}"
