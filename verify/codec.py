"""Strict canonical JSON of frozen records, read and written by the type hints of their fields.

A class derived from `Record` is a frozen dataclass. Its fields are read by `reader(hint)` when it is made in Python and
when it comes from JSON alike: a rational is a `Fraction` or its canonical text ("2", "-1/3", never "+2", "2/4", "-0"),
a list or tuple becomes a tuple, an object or a tagged list a record. Unknown, missing or duplicate keys, floats, NaN,
booleans for integers, over-long numbers and deep nesting are refused with the place, such as
`trees[0].nodes[3].slopes[1]`. One JSON text stands for one value: records are equal when their SHA-256 are.
"""

# Values of any type come in:
# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false, reportUnknownMemberType=false

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from enum import Enum
from fractions import Fraction
from functools import cache, cached_property
from itertools import pairwise, repeat
from types import NoneType, UnionType
from typing import Annotated, Any, ClassVar, Literal, TypeAlias, Union, get_args, get_origin, get_type_hints
from typing import dataclass_transform as dataclass_like

from verify.errors import CertificateError, require

MAX_SIZE = 256 * 2**20
MAX_DEPTH = 16
MAX_DIGITS = 4000
"""The longest integer that is read or kept, in decimal digits (Python refuses text of more than 4300)."""

LIMIT = 10**MAX_DIGITS
_RATIONAL = re.compile(rf"-?(0|[1-9][0-9]{{,{MAX_DIGITS - 1}}})(/[1-9][0-9]{{,{MAX_DIGITS - 1}}})?")

Reader: TypeAlias = Callable[[Any], Any]
"""From a Python or JSON value to the value that is kept; raises CertificateError."""


@dataclass_like(frozen_default=True, field_specifiers=(field,))
class Record:
    """A frozen dataclass whose JSON is an object of its schema, kind and fields, or the list of their values."""

    SCHEMA: ClassVar[str] = ""
    KIND: ClassVar[str] = ""
    AS_LIST: ClassVar[bool] = False
    head: ClassVar[Mapping[str, str]]

    def __init_subclass__(cls) -> None:
        cls.head = {key: text for key, text in (("schema", cls.SCHEMA), ("kind", cls.KIND)) if text}
        dataclass(frozen=True, eq=False)(cls)

    def __post_init__(self) -> None:
        for name, read in _readers(type(self)).items():
            object.__setattr__(self, name, at(name, read, getattr(self, name)))

    def to_json(self) -> Any:
        """The record in canonical JSON."""
        members = {**self.head, **{name: _plain(getattr(self, name)) for name in _readers(type(self))}}
        return list(members.values()) if self.AS_LIST else members

    def canonical_text(self) -> str:
        """The one text that stands for this record."""
        return canonical_text(self.to_json())

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


def canonical_text(value: object) -> str:
    """The one JSON text of a value made of dicts, lists, text, integers, booleans and None."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(entry) for entry in value]
    if isinstance(value, Record):
        return value.to_json()
    return str(value) if isinstance(value, Fraction) else value.value if isinstance(value, Enum) else value


# ------------------------------------------------------------------------------------------------- text


def load_json(text: str) -> Any:
    """Strict JSON: no floats, no NaN, no -0, no duplicate keys, no integer over 4000 digits, no nesting over 16.

    Raises CertificateError. The depth is measured by a scan before the parser, which recurses, sees the text.
    """
    require(len(text) <= MAX_SIZE, "", f"is longer than {MAX_SIZE} characters")
    depth = 0
    for token in re.finditer(r'"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?\Z)|[\[{]|[\]}]', text, re.DOTALL):
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(token.group()[0], 0)
        require(depth <= MAX_DEPTH, f"character {token.start()}", f"is nested deeper than {MAX_DEPTH}")
    try:
        return json.loads(
            text, parse_int=_parse_int, parse_float=_refuse, parse_constant=_refuse, object_pairs_hook=_parse_object
        )
    except json.JSONDecodeError as error:
        raise CertificateError(f"line {error.lineno}, column {error.colno}", f"no JSON: {error.msg}") from None


def _parse_int(text: str) -> int:
    is_short = len(text.removeprefix("-")) <= MAX_DIGITS and text != "-0"
    require(is_short, f"the number {text:.20}", f"is not an integer of at most {MAX_DIGITS} digits")
    return int(text)


def _refuse(text: str) -> object:
    raise CertificateError(f"the number {text:.20}", "is not an integer; rationals are written as text, such as '-1/3'")


def _parse_object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        raise CertificateError(f"the key {max(keys, key=keys.count)!r:.60}", "occurs twice in one object")
    return found


# ------------------------------------------------------------------------------------------------- readers


def at_least(bound: int) -> Reader:
    """For `Annotated[int, ...]`: the number must not be less."""

    def check(value: int) -> int:
        require(value >= bound, "", f"must be at least {bound}")
        return value

    return check


def increasing(key: Callable[[Any], Any]) -> Reader:
    """For `Annotated[tuple[..., ...], ...]`: the keys of the entries must increase strictly."""

    def check(entries: tuple[Any, ...]) -> tuple[Any, ...]:
        for i, (one, other) in enumerate(pairwise(map(key, entries)), start=1):
            require(one < other, f"[{i}]", "must come in strictly increasing order")
        return entries

    return check


@cache
def reader(hint: Any) -> Reader:
    """What reads values of this type; for `Annotated[type, check]` the check gets what is read and returns it."""
    kind, parts = get_origin(hint) or hint, get_args(hint)
    if kind is Annotated:
        read, check = reader(parts[0]), parts[1]
        return lambda value: check(read(value))
    if kind is tuple:
        return _tuple([reader(part) for part in parts if part is not ...], any_length=... in parts)
    if kind in (Union, UnionType) or _constants(hint):
        return _choice(parts if kind in (Union, UnionType) else (hint,))
    return {str: _text, int: _integer, Fraction: _rational}.get(kind) or _record(kind)


@cache
def _readers(cls: type[Any]) -> dict[str, Reader]:
    hints = get_type_hints(cls, include_extras=True)
    return {field.name: reader(hints[field.name]) for field in fields(cls)}


def at(place: str, read: Reader, value: Any) -> Any:
    """`read(value)`, where an error names its place within this one."""
    try:
        return read(value)
    except CertificateError as error:
        raise error.within(place) from None


def _wrong(expected: str, value: object) -> CertificateError:
    return CertificateError("", f"must be {expected}, not {value!r:.60}")


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise _wrong("text", value)
    return str.__str__(value)  # plain text also for a subclass, whose == may lie


def _integer(value: object) -> int:
    if type(value) is not int:
        raise _wrong("an integer", value)
    require(-LIMIT < value < LIMIT, "", f"is too large, longer than {MAX_DIGITS} digits")
    return value


def _rational(value: object) -> Fraction:
    if isinstance(value, str) and _RATIONAL.fullmatch(value) and str(number := Fraction(value)) == value:
        return number
    if not isinstance(value, Fraction):
        raise _wrong(f"a rational in lowest terms of at most {MAX_DIGITS} digits, written as text", value)
    return Fraction(_integer(value.numerator), _integer(value.denominator))


def _constants(hint: Any) -> dict[Any, Any]:
    """None, booleans, the values of a Literal, or the members of an Enum, by what is written for them."""
    if isinstance(hint, type) and issubclass(hint, Enum):
        return {key: member for member in hint for key in (member.value, member)}
    values = {NoneType: (None,), bool: (False, True), Literal: get_args(hint)}.get(get_origin(hint) or hint, ())
    return {value: value for value in values}


def _choice(parts: tuple[Any, ...]) -> Reader:
    constants = {key: value for part in parts for key, value in _constants(part).items()}
    reads = [reader(part) for part in parts if not _constants(part)]
    names = ", ".join(str(key) for key in constants if not isinstance(key, Enum))

    def read_choice(value: Any) -> Any:
        if isinstance(value, str | bool | Enum | None) and value in constants:
            return constants[value]
        errors: list[CertificateError] = []
        for read in reads:
            try:
                return read(value)
            except CertificateError as error:
                errors.append(error)
        raise max(errors, key=lambda error: len(error.place), default=_wrong(f"one of {names}", value))

    return read_choice


def _tuple(reads: list[Reader], *, any_length: bool) -> Reader:
    def read_tuple(value: Any) -> tuple[Any, ...]:
        if not (isinstance(value, list | tuple) and (any_length or len(value) == len(reads))):
            raise _wrong("a list" if any_length else f"a list of {len(reads)}", value)
        pairs = zip(repeat(reads[0]) if any_length else reads, value, strict=False)
        return tuple(at(f"[{i}]", read, entry) for i, (read, entry) in enumerate(pairs))

    return read_tuple


def _record(cls: type[Record]) -> Reader:
    keys = [*cls.head, *_readers(cls)]
    form = f"[{', '.join(cls.head.get(key, key) for key in keys)}]" if cls.AS_LIST else "an object"

    def read_record(value: Any) -> Any:
        if isinstance(value, cls):
            return value
        if cls.AS_LIST and isinstance(value, list | tuple) and len(value) == len(keys):
            value = dict(zip(keys, value, strict=True))
        elif cls.AS_LIST or not isinstance(value, dict):
            raise _wrong(form, value)
        for key in keys:
            require(key in value, key, "is missing")
            require(key not in cls.head or value[key] == cls.head[key], key, f"must be {cls.head.get(key)!r}")
        for key in value:
            require(key in keys, "", f"has the unknown key {key!r:.60}")
        return cls(**{key: value[key] for key in keys if key not in cls.head})

    return read_record
