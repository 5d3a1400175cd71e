"""What Ctrl-C or the time limit left out of an audit, so that no answer is silently less than it could be."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar, final

from verify.time_limits import TimeIsUpError, until

__all__ = ["INTERRUPTED", "LATE", "LeftOut"]

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
