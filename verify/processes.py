"""Processes side by side: how many, started with one thread each, and how one of them ended."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

__all__ = ["available_cores", "how_it_ended", "started_alone"]

_THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
_ONE_AT_A_TIME = Lock()


def available_cores() -> int:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


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
