"""Deadlines: moments of `time.monotonic()` after which a search stops, None for no limit."""

from __future__ import annotations

import time

__all__ = ["is_late", "share"]


def is_late(deadline: float | None) -> bool:
    """Whether the deadline has passed."""
    return deadline is not None and time.monotonic() > deadline


def share(deadline: float | None, part: float) -> float | None:
    """The moment at which this part of the time that is left is used up."""
    if deadline is None:
        return None
    now = time.monotonic()
    return now + part * max(deadline - now, 0.0)
