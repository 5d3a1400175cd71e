"""What all threads of a process share: Python's warnings, and the counter from which cvxpy names its variables.

`warnings.catch_warnings` alone restores what it found: of two threads that overlap, the later one finds the filters of
the earlier one, and leaves them behind for ever. Two threads that count at once may give one program two variables of
one name.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import wraps
from threading import RLock
from typing import ParamSpec, TypeVar

__all__ = ["noted_warnings", "one_at_a_time", "without_warnings"]

_P = ParamSpec("_P")
_T = TypeVar("_T")

_LOCK = RLock()
_inside: list[ExitStack] = []
"""One entry for each thread that is inside; the first one undoes what was changed, when the last one leaves."""


@contextmanager
def without_warnings() -> Iterator[None]:
    """No warnings of this process are shown or raised while any thread is inside."""
    with _LOCK:
        if not _inside:
            undo = ExitStack()
            undo.enter_context(warnings.catch_warnings())
            warnings.simplefilter("ignore")
            _inside.append(undo)
        else:
            _inside.append(_inside[0])
    try:
        yield
    finally:
        with _LOCK:
            undo = _inside.pop()
            if not _inside:
                undo.close()


@contextmanager
def noted_warnings() -> Iterator[list[warnings.WarningMessage]]:
    """The warnings raised inside, by whichever thread; others that switch them on or off wait meanwhile."""
    with _LOCK, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield caught


_PROGRAMS = RLock()


def one_at_a_time(function: Callable[_P, _T]) -> Callable[_P, _T]:
    """`function`, which writes and solves a cvxpy program, in one thread at a time."""

    @wraps(function)
    def alone(*args: _P.args, **kwargs: _P.kwargs) -> _T:
        with _PROGRAMS:
            return function(*args, **kwargs)

    return alone
