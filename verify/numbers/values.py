"""Numbers as users give them, exactly: ints, floats by their dyadic value, `Fraction`s, canonical text, and arrays.

Nothing rounds. What comes out is canonical and goes into the records of `verify.checker.statement`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from numbers import Rational
from operator import index
from typing import Protocol, SupportsIndex, cast, runtime_checkable

from verify.checker.codec import LIMIT, MAX_DIGITS, reader
from verify.checker.errors import CertificateError, InputError, ShapeError
from verify.numbers.array_like import plain
from verify.numbers.counts import count

__all__ = ["Number", "array", "as_input_error", "is_exact_input", "line", "parse_rational", "rational", "vector"]

Number = int | float | Fraction
"""A finite number; exact types are exact, a float is the dyadic number that its bits say."""

_FORM = re.compile(
    r"[+-]?([0-9]{1,40}(\.[0-9]{0,40})?|\.[0-9]{1,40})([eE][+-]?[0-9]{1,2})?|[+-]?[0-9]{1,40}/0*[1-9][0-9]{0,39}"
)
"""Decimals and fractions of a length that can be written out."""


@runtime_checkable
class _SupportsRatio(Protocol):
    def as_integer_ratio(self) -> tuple[int, int]: ...


def rational(value: object, place: str = "value") -> Fraction:
    """The exact value of a number: an int, a `Fraction`, a float (its dyadic value), a scalar of any library, or text.

    Raises InputError naming `place` for anything else: bool, complex, NaN, infinity, other text, other objects.
    """
    if isinstance(value, str):
        return parse_rational(value, place)
    number = _ratio(value)
    if number is None:
        number = _ratio(given := plain(value, place))
        if number is None:
            raise _no_number(given, place)
    if not (-LIMIT < number.numerator < LIMIT and number.denominator < LIMIT):
        raise InputError(f"{place} has more than {MAX_DIGITS} digits; round it to a shorter number")
    return number


def _ratio(value: object) -> Fraction | None:
    try:
        if type(value) is Fraction:
            return value
        if isinstance(value, bool):
            return None
        if isinstance(value, (int, float, Fraction)):
            return Fraction(value)
        if isinstance(value, _SupportsRatio):
            return Fraction(*value.as_integer_ratio())
        return Fraction(index(cast("SupportsIndex", value)))
    except (TypeError, ValueError, OverflowError):
        return None


def _no_number(value: object, place: str) -> InputError:
    """What a value is that is no number, and what to give."""
    kind = type(value).__name__
    if isinstance(value, list | tuple):
        entries = count(len(cast("list[object]", value)), "entry", "entries")
        return InputError(f"{place} is a list of {entries} where one number is needed: give one number")
    if isinstance(value, bool):
        return InputError(f"{place} is {value}, a truth value: give the number 1 or 0")
    if value is None or kind in ("NAType", "NaTType"):
        return InputError(f"{place} is {value!r}, and a number is missing there: fill it in, or leave that point out")
    if isinstance(value, float | complex):
        return InputError(
            f"{place} is {value!r:.60}, not a finite real number; "
            "give an int, a finite float, a Fraction, or text such as '-1/3'"
        )
    return InputError(
        f"{place} is of type {kind:.40}, which is no number: give an int, a finite float, a Fraction, text such as "
        "'-1/3', or an array or tensor of numbers"
    )


def parse_rational(text: str, place: str = "value") -> Fraction:
    """The rational that `text` writes in canonical form: "2", "-1/3"; never "+2", "02", "2/1", "2/4", "-0", "0.5"."""
    try:
        return reader(Fraction)(text)
    except CertificateError:
        raise InputError(
            f"{place} is {text!r:.60}, not a rational in canonical form such as '2' or '-1/3' "
            f"(lowest terms, at most {MAX_DIGITS} digits){_remedy(text)}"
        ) from None


def _remedy(value: object) -> str:
    """What to write instead of a number whose form is not canonical: "0.5" is 1/2, "2/4" too; "" for anything else."""
    text = str(value).strip() if isinstance(value, str | int) and not isinstance(value, bool) else ""
    return f": write '{Fraction(text)}'" if _FORM.fullmatch(text) else ""


def is_exact_input(value: object) -> bool:
    """Whether a number is given exactly (an int, a Fraction, text), not as a float."""
    return isinstance(value, str | Rational)


def vector(values: object, place: str = "value") -> tuple[Fraction, ...]:
    """`values`, an iterable of numbers, as rationals; errors name the entry."""
    return tuple(rational(value, f"{place}[{i}]") for i, value in enumerate(array(values, place)))


def array(values: object, place: str = "value") -> list[object]:
    """The entries of an iterable of numbers or rows, so that the caller can name them in errors."""
    given = plain(values, place)
    if isinstance(given, Iterable) and not isinstance(given, str | bytes | dict):
        return list(cast("Iterable[object]", given))
    shown = (
        f"{given!r:.60}"
        if isinstance(given, str | bytes | int | float | Fraction | None)
        else f"a {type(given).__name__}"
    )
    raise ShapeError(f"{place} is {shown}; give a list of numbers there")


def line(values: object, place: str = "value") -> list[object]:
    """The entries of a vector, which may be stored as a matrix of one column or of one row."""
    entries = array(values, place)
    if len(entries) == 1 and isinstance(row := entries[0], list | tuple):
        return list(cast("list[object]", row))
    if entries and all(isinstance(entry, list | tuple) and len(cast("list[object]", entry)) == 1 for entry in entries):
        return [cast("list[object]", entry)[0] for entry in entries]
    return entries


@contextmanager
def as_input_error(place: str = "", value: object = None) -> Iterator[None]:
    """Turn a CertificateError, of records in canonical form, into the InputError of what the user gave at `place`.

    value: the JSON that was read; a number in it that is not canonical is named with what to write instead.
    """
    try:
        yield
    except CertificateError as error:
        remedy = _remedy(_entry(value, error.place)) if "rational" in error.reason else ""
        raise InputError(f"{error.within(place) if place else error}{remedy}") from None


def _entry(value: object, place: str) -> object:
    """What stands at a place such as "parameters[0][1]"; None where there is nothing."""
    for name, index_ in re.findall(r"(\w+)|\[(\d+)\]", place):
        key = name or int(index_)
        try:
            value = cast("dict[object, object]", value)[key]
        except (TypeError, KeyError, IndexError):
            return None
    return value
