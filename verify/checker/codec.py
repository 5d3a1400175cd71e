"""Strict canonical JSON of frozen records, read and written by the type hints of their fields.

A class derived from `Record` is a frozen dataclass. Its fields are read by `reader(hint)` when it is made in Python and
when it comes from JSON alike: a rational is a `Fraction` or its canonical text ("2", "-1/3", never "+2", "2/4", "-0"),
a list or tuple becomes a tuple, an object a record. Unknown, missing or duplicate keys, floats, NaN,
booleans for integers and over-long numbers are refused with the place, such as `trees[0].nodes[3].slopes[1]`. Depth is
bounded: by the parser, which stops at Python's limit, and then by the hints, which do not refer to themselves.
One JSON text stands for one value: records are equal when their SHA-256 are.
"""

# Values of any type come in:
# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false, reportUnknownMemberType=false

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from enum import StrEnum
from fractions import Fraction
from functools import cache, cached_property, partial
from itertools import pairwise
from math import gcd
from types import NoneType, UnionType
from typing import Annotated, Any, ClassVar, Literal, NoReturn, TypeAlias, Union, get_args, get_origin, get_type_hints
from typing import dataclass_transform as dataclass_like

from verify.checker.errors import CertificateError, require

MAX_SIZE = 256 * 2**20
MAX_DIGITS = 20_000
"""The longest numerator or denominator of a rational that is read or kept, in decimal digits."""

MAX_WHOLE_DIGITS = 4000
"""The same of an integer of JSON, and of what Python converts at once (it refuses more than 4300 digits)."""

MAX_LONG_DIGITS = 2**24
"""How many digits the integers of more than MAX_WHOLE_DIGITS may have together in one JSON text.

Reading one takes a time that grows with the square of its length, so that a text full of them would take minutes.
"""

LIMIT, WHOLE_LIMIT = 10**MAX_DIGITS, 10**MAX_WHOLE_DIGITS
_LONG = re.compile(rf"(?<![0-9u\\])[0-9u\\]{{{MAX_WHOLE_DIGITS + 1},}}")  # \u0037 is a digit as well
_RATIONAL = re.compile(rf"-?(0|[1-9][0-9]{{,{MAX_DIGITS - 1}}})(/[1-9][0-9]{{,{MAX_DIGITS - 1}}})?")

Reader: TypeAlias = Callable[[Any], Any]
"""From a Python or JSON value to the value that is kept; raises CertificateError."""


@dataclass_like(frozen_default=True, field_specifiers=(field,))
class Record:
    """A frozen dataclass whose JSON is an object of its schema, kind and fields."""

    SCHEMA: ClassVar[str] = ""
    KIND: ClassVar[str] = ""
    OMITTED: ClassVar[tuple[str, ...]] = ()
    """The fields that the canonical text leaves out, and only then, where they have their default."""
    head: ClassVar[Mapping[str, str]]

    def __init_subclass__(cls) -> None:
        head = {key: text for key, text in (("schema", cls.SCHEMA), ("kind", cls.KIND)) if text}
        if getattr(cls, "head", None) != head:
            cls.head = head
        dataclass(frozen=True, eq=False)(cls)

    def __post_init__(self) -> None:
        for name, read in _readers(type(self)).items():
            object.__setattr__(self, name, at(name, read, getattr(self, name)))

    def members(self) -> dict[str, Any]:
        """The schema, kind and fields by name, without those that are left out."""
        found = {name: getattr(self, name) for name in _readers(type(self))}
        kept = {
            name: value for name, value in found.items() if name not in self.OMITTED or value != _default(self, name)
        }
        return {**self.head, **kept}

    def canonical_text(self) -> str:
        """The one JSON text that stands for this record."""
        return json.dumps(self, sort_keys=True, separators=(",", ":"), default=_plain)

    def to_json(self) -> Any:
        """The record in plain lists and dicts."""
        return json.loads(self.canonical_text())

    def sha256(self) -> str:
        """The SHA-256 of the canonical text, as "sha256:<hex>"."""
        return self._digest

    @cached_property
    def _digest(self) -> str:
        return "sha256:" + hashlib.sha256(self.canonical_text().encode()).hexdigest()

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Record) and self.sha256() == other.sha256())

    def __hash__(self) -> int:
        return hash(self.sha256())


def _default(record: Record | type[Record], name: str) -> Any:
    """The default of a field; dataclasses keep it as an attribute of the class."""
    return getattr(record if isinstance(record, type) else type(record), name)


def _plain(value: Record | Fraction) -> object:
    return value.members() if isinstance(value, Record) else rational_text(value)


def rational_text(number: Fraction) -> str:
    """The canonical text of a number: for a rational of any length what `str` says of short ones."""
    numerator, denominator = _digits(number.numerator), _digits(number.denominator)
    return numerator if denominator == "1" else f"{numerator}/{denominator}"


def rational_of(text: str) -> Fraction:
    """The number that `rational_text` wrote."""
    return Fraction(*map(_from_digits, text.split("/")))


def _digits(whole: int) -> str:
    """The decimal digits of an integer: `str`, in pieces of a length that Python writes."""
    if -WHOLE_LIMIT < whole < WHOLE_LIMIT:
        return str(whole)
    rest, pieces = abs(whole), list[str]()
    while rest >= WHOLE_LIMIT:
        rest, piece = divmod(rest, WHOLE_LIMIT)
        pieces.append(str(piece).zfill(MAX_WHOLE_DIGITS))
    return "".join(["-" if whole < 0 else "", str(rest), *reversed(pieces)])


def _from_digits(text: str) -> int:
    """The integer of decimal digits, maybe after a minus sign: `int`, in pieces of a length that Python reads."""
    digits = text.removeprefix("-")
    first = len(digits) % MAX_WHOLE_DIGITS
    number = int(digits[:first] or "0")
    for start in range(first, len(digits), MAX_WHOLE_DIGITS):
        number = number * WHOLE_LIMIT + int(digits[start : start + MAX_WHOLE_DIGITS])
    return -number if text.startswith("-") else number


# ------------------------------------------------------------------------------------------------- text


def load_json(text: str, *, allow_floats: bool = False) -> Any:
    """Strict JSON: no floats, no NaN, no -0, no duplicate keys, no integer over 4000 digits; else CertificateError.

    The digits of long numbers within texts are counted here, before anything converts them: at most MAX_LONG_DIGITS.

    allow_floats: of a text that holds hints beside what is exact.
    """
    require(len(text) <= MAX_SIZE, "", f"is longer than {MAX_SIZE} characters")
    long = sum(found.end() - found.start() for found in _LONG.finditer(text))
    few = f"its numbers of more than {MAX_WHOLE_DIGITS} digits may have {MAX_LONG_DIGITS} digits together"
    require(long <= MAX_LONG_DIGITS, "", f"has too many long numbers: {few}")
    try:
        return json.loads(
            text,
            parse_int=_whole,
            parse_float=float if allow_floats else _refuse,
            parse_constant=_refuse,
            object_pairs_hook=_object,
        )
    except (json.JSONDecodeError, RecursionError) as error:
        raise CertificateError("", f"is no JSON: {error}") from None


def _whole(text: str) -> int:
    return int(text) if len(text.removeprefix("-")) <= MAX_WHOLE_DIGITS and text != "-0" else _refuse(text)


def _refuse(text: str) -> NoReturn:
    reason = f"is not an integer of at most {MAX_WHOLE_DIGITS} digits; rationals are written as text, such as '-1/3'"
    raise CertificateError(f"the number {text:.20}", reason)


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    require(len(found) == len(pairs), f"the object of {', '.join(found)!r:.60}", "has a key twice")
    return found


# ------------------------------------------------------------------------------------------------- readers


def not_negative(value: int | Fraction) -> None:
    """A check for `Annotated[..., ...]`."""
    require(value >= 0, "", "must be at least 0")


def positive(value: int | Fraction) -> None:
    """A check for `Annotated[..., ...]`."""
    require(value > 0, "", "must be positive")


def increasing(entries: tuple[tuple[Any, ...], ...]) -> None:
    """A check for `Annotated[tuple[tuple[..., ...], ...], ...]`: of all but the last number of each entry."""
    for i, (one, other) in enumerate(pairwise(entries), start=1):
        require(one[:-1] < other[:-1], f"[{i}]", "must come in strictly increasing order")


def ascending(entries: tuple[int, ...]) -> None:
    """A check for `Annotated[tuple[int, ...], ...]`."""
    for i, (one, other) in enumerate(pairwise(entries), start=1):
        require(one < other, f"[{i}]", "must come in strictly increasing order")


@cache
def reader(hint: Any) -> Reader:
    """What reads values of this type; for `Annotated[type, check]` the check sees what is read."""
    kind, parts = get_origin(hint) or hint, get_args(hint)
    if kind is Annotated:
        return partial(_checked, reader(parts[0]), parts[1])
    if kind is tuple:
        return partial(_tuple, [reader(part) for part in parts if part is not ...], ... in parts)
    if kind in (Union, UnionType):
        return partial(_union, [reader(part) for part in parts])
    constants = {NoneType: [None], bool: [False, True], Literal: parts}.get(kind)
    if constants or issubclass(kind, StrEnum):
        return partial(_constant, {value: value for value in constants or kind})
    return {str: _text, int: _integer, Fraction: _rational}.get(kind) or partial(_record, kind)


@cache
def _readers(cls: type[Any]) -> dict[str, Reader]:
    hints = get_type_hints(cls, include_extras=True)
    return {field.name: reader(hints[field.name]) for field in fields(cls)}


def at(place: str, read: Callable[..., Any], *values: Any) -> Any:
    """`read(*values)`, where an error names its place within this one."""
    try:
        return read(*values)
    except CertificateError as error:
        raise error.within(place) from None


def _wrong(expected: str, value: object) -> CertificateError:
    found = f"{value!r:.60}" if isinstance(value, str | bool | None) else type(value).__name__
    return CertificateError("", f"must be {expected}, not {found}")


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise _wrong("text", value)
    return str.__str__(value)  # plain text also for a subclass, whose == may lie


def _integer(value: object) -> int:
    if type(value) is not int or not -WHOLE_LIMIT < value < WHOLE_LIMIT:
        raise _wrong(f"an integer of at most {MAX_WHOLE_DIGITS} digits", value)
    return value


def _rational(value: object) -> Fraction:
    if isinstance(value, Fraction):
        above, below = value.numerator, value.denominator
        if type(above) is int and type(below) is int and -LIMIT < above < LIMIT and 0 < below < LIMIT:
            is_plain = type(value) is Fraction and gcd(above, below) == 1
            return value if is_plain else Fraction(above, below)
    elif isinstance(value, str) and _RATIONAL.fullmatch(value):
        numerator, _, denominator = str.__str__(value).partition("/")
        number = Fraction(_from_digits(numerator), below := _from_digits(denominator or "1"))
        if number.denominator == below and numerator != "-0" and denominator != "1":
            return number
    raise _wrong(f"a rational in lowest terms of at most {MAX_DIGITS} digits, written as text", value)


def _constant(known: Mapping[Any, Any], value: object) -> Any:
    if isinstance(value, str | bool | None) and value in known:
        return known[value]
    raise _wrong(f"one of {', '.join(map(str, known))}", value)


def _checked(read: Reader, check: Reader, value: object) -> Any:
    found = read(value)
    check(found)
    return found


def _union(reads: Iterable[Reader], value: object) -> Any:
    errors: list[CertificateError] = []
    for read in reads:
        try:
            return read(value)
        except CertificateError as error:
            errors.append(error)
    raise max(errors, key=lambda error: len(error.place))


def _tuple(reads: Sequence[Reader], any_length: bool, value: Any) -> tuple[Any, ...]:
    if not isinstance(value, list | tuple) or (len(value) != len(reads) and not any_length):
        raise _wrong("a list" if any_length else f"a list of {len(reads)}", value)
    pairs = zip([*reads] * len(value) if any_length else reads, value, strict=True)
    return tuple(at(f"[{i}]", read, entry) for i, (read, entry) in enumerate(pairs))


def _record(cls: type[Record], value: Any) -> Any:
    if type(value) is cls:
        return value
    members = value.members() if isinstance(value, cls) else value  # a subclass may say more: it is made anew
    if not isinstance(members, dict):
        raise _wrong("an object", value)
    names = [*cls.head, *_readers(cls)]
    for key in members:
        require(key in names, "", f"has the unknown key {key!r:.60}")
    for key in names:
        require(key in members or key in cls.OMITTED, key, "is missing")
    for key, text in cls.head.items():
        require(members[key] == text, key, f"must be {text!r}")
    record = cls(**{key: members[key] for key in names if key in members and key not in cls.head})
    for key in cls.OMITTED:
        is_left_out = key not in members or getattr(record, key) != _default(cls, key)
        require(is_left_out, key, f"must be left out where it is {_default(cls, key)}")
    return record
