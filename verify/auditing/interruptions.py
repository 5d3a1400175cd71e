"""Ctrl-C during work that must not be left half done."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import final

__all__ = ["CtrlC"]


@final
class CtrlC:
    """Ctrl-C during work that has parts which must not be left half done.

    Python raises KeyboardInterrupt between any two instructions: in a transaction that was just begun, with a lock that
    was just taken, or in a finalizer, where it is printed and lost. While this is `noticed`, it waits for the end of a
    part that is `held`, and is raised there also when it was lost before. Another Ctrl-C waits for nothing.
    """

    def __init__(self) -> None:
        self._count = self._held = 0
        self._is_due = False

    @contextmanager
    def noticed(self) -> Iterator[None]:
        """While this handles Ctrl-C: in the main thread, and where nobody else handles it."""
        is_ours = threading.current_thread() is threading.main_thread()
        if not is_ours or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
            yield
            return
        signal.signal(signal.SIGINT, self._note)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    @contextmanager
    def held(self) -> Iterator[None]:
        """A part at the end of which, and not before, KeyboardInterrupt is raised."""
        self._held += 1
        try:
            yield
        finally:
            self._held -= 1
        if self._is_due and not self._held:
            self._is_due = False
            raise KeyboardInterrupt

    def answered(self) -> None:
        """Its KeyboardInterrupt was caught, and is not raised again."""
        self._is_due = False

    def _note(self, number: int, frame: FrameType | None) -> None:
        self._count += 1
        self._is_due = True
        if not self._held or self._count > 1:
            signal.default_int_handler(number, frame)
