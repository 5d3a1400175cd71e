"""Ctrl-C and the time limit: what they left out of an audit, and how Ctrl-C leaves nothing half done.

No answer is silently less than it could be.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TypeVar, final

from verify.deciders.time_limits import TimeIsUpError, until

__all__ = ["INTERRUPTED", "LATE", "CtrlC", "LeftOut"]

INTERRUPTED = "the search was interrupted"
LATE = "the time limit was reached"

_T = TypeVar("_T")


@final
class LeftOut:
    """The steps of an audit that were cut short or not begun.

    is_interrupted: whether Ctrl-C was the reason of one of them.
    """

    def __init__(self) -> None:
        self._steps: dict[str, list[str]] = {INTERRUPTED: [], LATE: []}

    @property
    def is_interrupted(self) -> bool:
        """Whether Ctrl-C cut a step short."""
        return bool(self._steps[INTERRUPTED])

    def add(self, step: str, reason: str = INTERRUPTED) -> None:
        """Note that a step, a noun such as "the diagnosis", was left out for one of the two reasons."""
        if step not in self._steps[reason]:
            self._steps[reason].append(step)

    def withdraw(self, step: str, reason: str) -> None:
        """Forget that a step was left out for this reason: it was taken up again, and ended otherwise."""
        if step in self._steps[reason]:
            self._steps[reason].remove(step)

    def has(self, step: str) -> bool:
        """Whether the step was left out."""
        return any(step in steps for steps in self._steps.values())

    def attempt(
        self, step: str, do: Callable[[], _T], otherwise: Callable[[str], _T], deadline: float | None = None
    ) -> _T:
        """What `do` returns; at Ctrl-C, or when the deadline ends it, the step is noted, and `otherwise` says what is
        known without it, for this reason.
        """
        try:
            with until(deadline):
                return do()
        except KeyboardInterrupt:
            reason = INTERRUPTED
        except TimeIsUpError:
            reason = LATE
        self.add(step, reason)
        return otherwise(reason)

    def notes(self) -> Iterator[str]:
        """One sentence for each reason, naming the steps."""
        for reason, by in ((INTERRUPTED, "interrupted;"), (LATE, "for want of time")):
            if self._steps[reason]:
                yield f"{by} cut short or left out: {', '.join(self._steps[reason])}"


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
