"""How a search over all widths shares its time with the proof of what it reached."""

from __future__ import annotations

import math
from collections.abc import Callable

from solvers.clock import TimeIsUpError, by_work, now, seconds_left, until
from solvers.instance import SearchStatus

__all__ = ["SEARCH_SHARE", "prove_reached", "searched", "time_left"]

SEARCH_SHARE = 0.8  # of the time; the rest is for the proof
INTERRUPTED_SECONDS = 1.5  # for the proof of what was reached, after Ctrl-C ...
STALLED_WORK = 20.0  # ... and seconds of work when the search stalls without a deadline


def searched(
    search: Callable[[], SearchStatus], began: float, deadline: float | None, late: Callable[[], object] | None = None
) -> SearchStatus:
    """How the search ended, in its share of the time.   late: called where the end of that cut it short."""
    try:
        with until(None if deadline is None else began + SEARCH_SHARE * (deadline - began)):
            return search()
    except TimeIsUpError:
        if late is not None:
            late()
        return SearchStatus.TIME
    except KeyboardInterrupt:
        return SearchStatus.INTERRUPTED


def time_left(deadline: float | None) -> float:
    """Seconds of the search's share of what is left, for a solver that is given a limit; infinite without one."""
    return math.inf if deadline is None else max(SEARCH_SHARE * (deadline - now()), 0.1)


def prove_reached(status: SearchStatus, deadline: float | None, prove: Callable[[float], object]) -> None:
    """Let `prove` have the seconds that there are for the proof of what a search reached that ended so."""
    if status is SearchStatus.INTERRUPTED:
        prove(INTERRUPTED_SECONDS)
    elif deadline is not None:
        prove(max(seconds_left(deadline), 0.2))
    else:
        with by_work():
            prove(STALLED_WORK)
