"""The time that an audit has, Ctrl-C, and the steps that either of them cut short or left out.

No answer is silently less than it could be.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from typing import TypeVar, final

from verify.deciders.finding import Finding, Verdict
from verify.deciders.time_limits import TimeIsUpError, is_late, now, share, until
from verify.problem.phrases import FOR_WANT_OF_TIME

__all__ = ["INTERRUPTED", "LATE", "Clock"]

INTERRUPTED = "the search was interrupted"
LATE = "the time limit was reached"

GRACE_SHARE, GRACE_SECONDS = 0.03, 0.25
"""What a short step may take beyond a time limit: this part of the limit and these seconds."""

CLOSING_LOOKS = 4
"""What is left to do after a search takes about so many times as long as one exact look at the data."""

IMPORTED_LATE = ("scipy.linalg", "scipy.optimize")
"""Imported where it is needed first; with a time limit before the clock starts, as that is no work of a step."""

LEAST_SECONDS = 0.5
"""For another audit within this one."""

_T = TypeVar("_T")


@final
class Clock:
    """began: the moment at which it was made.   seconds: the time limit, None for none.   deadline: when that ends.

    is_interrupted: whether Ctrl-C cut a step short.
    """

    def __init__(self, seconds: float | None = None) -> None:
        if seconds is not None:
            for module in IMPORTED_LATE:
                import_module(module)
        self.began = now()
        self.seconds = seconds
        self.deadline = None if seconds is None else self.began + seconds
        self._closing = 0.0
        self._steps: dict[str, list[str]] = {INTERRUPTED: [], LATE: []}

    @property
    def is_interrupted(self) -> bool:
        """Whether Ctrl-C cut a step short."""
        return bool(self._steps[INTERRUPTED])

    @property
    def is_late(self) -> bool:
        """Whether the deadline has passed, or the end of the step that this thread is in."""
        return is_late(self.deadline)

    def share(self, part: float) -> float | None:
        """The moment at which this part of the time that is left is used up."""
        return share(self.deadline, part)

    def before(self, kept: float) -> float | None:
        """The moment at which a share `kept` of the time limit is left, and more where exact looks take longer."""
        if self.deadline is None or self.seconds is None:
            return None
        return self.deadline - max(kept * self.seconds, self._closing)

    def expect(self, look: float) -> None:
        """Keep time for the ends of searches: one exact look at the data took so many seconds."""
        self._closing = CLOSING_LOOKS * look

    def with_grace(self, end: float | None) -> float | None:
        """The end of a step that is short and comes late: also after a search that took all the time, a little."""
        if end is None or self.seconds is None:
            return None
        return max(end, now() + GRACE_SHARE * self.seconds + GRACE_SECONDS)

    def left(self, kept: float = 0.0) -> float | None:
        """For another audit: the seconds until a share `kept` of the limit is left, half a second at least."""
        end = self.before(kept)
        return None if end is None else max(end - now(), LEAST_SECONDS)

    def add(self, step: str, reason: str = INTERRUPTED) -> None:
        """Note that a step, a noun such as "the diagnosis", was left out for one of the two reasons."""
        if step not in self._steps[reason]:
            self._steps[reason].append(step)

    def add_where_open(self, late: Iterable[str], findings: Iterable[Finding]) -> None:
        """Note the steps that noticed that their time was over, where a question is open that they might have answered
        and nothing else says that time was short.
        """
        is_open = any(finding.verdict is Verdict.UNDECIDED for finding in findings)
        if self.seconds is not None and is_open and not self._steps[LATE]:
            for step in late:
                self.add(step, LATE)

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
        for reason, by in ((INTERRUPTED, "interrupted;"), (LATE, FOR_WANT_OF_TIME)):
            if self._steps[reason]:
                yield f"{by} cut short or left out: {', '.join(self._steps[reason])}"
