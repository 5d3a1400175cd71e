"""Arguments of the wrong kind: one sentence that names the argument and says what to give, never a bare TypeError."""

from __future__ import annotations

import re
from collections.abc import Iterable
from fractions import Fraction
from os import PathLike, fspath
from pathlib import Path
from typing import TypeVar, cast

from verify.checker.errors import InputError
from verify.numbers.decimals import nearest

__all__ = ["a_decimal", "a_flag", "a_path", "a_time_limit", "a_tolerance", "instance_of", "is_decimal", "items_of"]

_T = TypeVar("_T")
MOST_TOLERANCE = 10**9
SHOWN = 60  # characters of what was given

_TEXT = re.compile(
    r"-?([0-9]{1,40}(\.[0-9]{0,40})?|\.[0-9]{1,40})([eE][+-]?[0-9]{1,2})?|-?[0-9]{1,40}/[1-9][0-9]{0,39}"
)
"""Short enough that writing the number out takes no time."""


def instance_of(kind: type[_T], value: object, name: str, remedy: str) -> _T:
    """`value`, when it is of that kind."""
    if not isinstance(value, kind):
        raise wrong(value, name, remedy)
    return value


def items_of(value: object, name: str, remedy: str) -> list[object]:
    """The entries of an iterable that is no text."""
    if isinstance(value, Iterable) and not isinstance(value, str | bytes):
        try:
            return list(cast("Iterable[object]", value))
        except TypeError:  # numpy arrays of dimension 0 are iterable by name only
            pass
    raise wrong(value, name, remedy)


def a_path(value: object, name: str) -> Path:
    """`value`, when it can be a path."""
    if isinstance(value, str | PathLike) and isinstance(text := fspath(cast("str | PathLike[str]", value)), str):
        return Path(text)
    raise wrong(value, name, "give a path, as text or a pathlib.Path")


def a_flag(value: object, name: str) -> bool:
    """`value`, when it is True or False (also of numpy); any other value would be one of them by accident."""
    if isinstance(value, bool) or type(value).__name__ in ("bool", "bool_"):
        return bool(value)
    raise wrong(value, name, "give True or False")


def a_time_limit(value: object, name: str = "time_limit") -> float | None:
    """Seconds, at least 0; None for no limit."""
    if value is None:
        return None
    try:
        seconds = -1.0 if isinstance(value, str | bytes | bool) else float(cast("float", value))
    except (TypeError, ValueError, OverflowError):
        seconds = -1.0
    if not seconds >= 0:
        raise InputError(f"{name} is {value!r:.60}: give seconds, a number of at least 0, or None for no limit")
    return seconds


def is_decimal(text: str) -> bool:
    """Whether a text is a decimal or a fraction of few digits, such as "0.01", "1e-6" or "1/3"."""
    return _TEXT.fullmatch(text.strip()) is not None


def a_decimal(text: str, name: str) -> Fraction:
    """The number that a text is, exactly."""
    if not is_decimal(text):
        raise InputError(
            f"{name} is {text!r:.60}: give a decimal or a fraction, such as 0.01 or 1/3, of at most 40 digits and "
            "two of an exponent"
        )
    return Fraction(text.strip())


def a_tolerance(value: object, name: str) -> Fraction:
    """The tolerance, exactly; a double means the decimal that it prints, as on the command line."""
    if isinstance(value, str) and any(map(str.isdigit, value)):
        value = a_decimal(value, name)
    try:
        number = cast("Fraction", repr(float(value)) if isinstance(value, float) else value)
        tolerance = Fraction(number)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{name} is {value!r:.60}; give a number of at least 0, such as 1e-6") from None
    if not 0 <= tolerance <= MOST_TOLERANCE:
        told = text if len(text := str(value)) <= SHOWN else f"{nearest(tolerance, 6)} (rounded)"
        raise InputError(f"{name} is {told}; it must be at least 0, and at most {MOST_TOLERANCE}")
    return tolerance


def wrong(value: object, name: str, remedy: str) -> InputError:
    """The error for an argument of the wrong kind."""
    kind = "None" if value is None else f"of type {type(value).__name__}"
    return InputError(f"{name} is {kind}: {remedy}")
