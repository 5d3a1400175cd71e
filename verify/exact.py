"""Exact numbers and their canonical text: the arithmetic that the proofs use.

Numbers enter as `Fraction`s, floats by their exact dyadic value; nothing here rounds except the named bounds, and they
round outward. Canonical JSON has one text per value, so that equal objects have equal SHA-256.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import gcd, isqrt, lcm
from numbers import Rational
from operator import index, mul
from typing import Protocol, SupportsIndex, cast, runtime_checkable

from verify.errors import InputError, ShapeError

__all__ = [
    "LIMIT", "MAX_DIGITS", "array", "canonical_text", "common_integers", "dot", "enclosure_text", "is_exact_input",
    "members", "parse_rational", "primitive", "rational", "rational_text", "sha256", "sqrt_lower", "sqrt_upper",
    "squared_norm", "texts", "vector", "vector_from_json",
]  # fmt: skip

MAX_DIGITS = 4000
"""The longest integer that is read or kept, in decimal digits (Python refuses text of more than 4300)."""

LIMIT = 10**MAX_DIGITS
_RATIONAL = re.compile(r"-?(0|[1-9][0-9]*)(/[1-9][0-9]*)?", re.ASCII)


@runtime_checkable
class _SupportsRatio(Protocol):
    def as_integer_ratio(self) -> tuple[int, int]: ...


def rational(value: object, place: str = "value") -> Fraction:
    """The exact value of a number: an int, a `Fraction`, a float (its dyadic value), a numpy scalar or canonical text.

    Raises InputError naming `place` for anything else: bool, complex, NaN, infinity, other text, other objects.
    """
    if isinstance(value, str):
        return parse_rational(value, place)
    number = _ratio(value)
    if number is None:
        raise InputError(
            f"{place} is {value!r:.60}, not a finite real number; "
            "give an int, a finite float, a Fraction, or text such as '-1/3'"
        )
    if not (-LIMIT < number.numerator < LIMIT and number.denominator < LIMIT):
        raise InputError(f"{place} has more than {MAX_DIGITS} digits; round it to a shorter number")
    return number


def _ratio(value: object) -> Fraction | None:
    try:
        if isinstance(value, bool):
            return None
        if isinstance(value, int | float | Fraction):
            return Fraction(value)
        if isinstance(value, _SupportsRatio):
            return Fraction(*value.as_integer_ratio())
        return Fraction(index(cast("SupportsIndex", value)))
    except (TypeError, ValueError, OverflowError):
        return None


def parse_rational(text: str, place: str = "value") -> Fraction:
    """The rational that `text` writes in canonical form: "2", "-1/3"; never "+2", "02", "2/1", "2/4", "-0", "0.5"."""
    if all(len(part) <= MAX_DIGITS for part in text.removeprefix("-").split("/")) and _RATIONAL.fullmatch(text):
        number = Fraction(text)
        if str(number) == text:
            return number
    raise InputError(
        f"{place} is {text!r:.60}, not a rational in canonical form such as '2' or '-1/3' "
        f"(lowest terms, at most {MAX_DIGITS} digits)"
    )


def rational_text(number: Fraction) -> str:
    """The canonical text of a rational: `parse_rational` reads it back."""
    return str(number)


def is_exact_input(value: object) -> bool:
    """Whether a number is given exactly (an int, a Fraction, text), not as a float."""
    return isinstance(value, str | Rational)


def vector(values: object, place: str = "value") -> tuple[Fraction, ...]:
    """`values`, an iterable of numbers, as rationals; errors name the entry."""
    return tuple(rational(value, f"{place}[{i}]") for i, value in enumerate(array(values, place)))


def array(values: object, place: str = "value") -> list[object]:
    """The entries of an iterable of numbers or rows, so that the caller can name them in errors."""
    if isinstance(values, Iterable) and not isinstance(values, str | bytes | dict):
        try:
            return list(cast("Iterable[object]", values))
        except TypeError:  # numpy arrays of dimension 0 are iterable by name only
            pass
    raise ShapeError(f"{place} is {values!r:.60}; give a list of numbers there")


def texts(numbers: Iterable[Fraction]) -> list[str]:
    """A vector as JSON: canonical texts."""
    return [str(number) for number in numbers]


def vector_from_json(values: object, place: str = "value") -> tuple[Fraction, ...]:
    """The vector whose JSON is `values`: a list of canonical texts and nothing else."""
    if not isinstance(values, list):
        raise InputError(f"{place} is {values!r:.60}; a list of rationals, written as text, belongs there")
    numbers: list[Fraction] = []
    for i, text in enumerate(cast("list[object]", values)):
        if not isinstance(text, str):
            raise InputError(f"{place}[{i}] is {text!r:.60}; rationals are written as text, such as '-1/3'")
        numbers.append(parse_rational(text, f"{place}[{i}]"))
    return tuple(numbers)


def dot(a: Iterable[Fraction], b: Iterable[Fraction]) -> Fraction:
    """The scalar product."""
    return sum(map(mul, a, b), Fraction(0))


def common_integers(rows: Iterable[Iterable[Fraction]]) -> tuple[list[list[int]], int]:
    """Integer rows and one denominator, with `rows == integers / denominator` and the least such denominator."""
    kept = [tuple(row) for row in rows]
    denominator = lcm(*{number.denominator for row in kept for number in row})
    return [[q.numerator * (denominator // q.denominator) for q in row] for row in kept], denominator


def squared_norm(numbers: Iterable[Fraction]) -> Fraction:
    """The sum of squares."""
    (integers,), denominator = common_integers([numbers])
    return Fraction(sum(map(mul, integers, integers)), denominator * denominator)


def primitive(integers: Sequence[int]) -> tuple[tuple[int, ...], int]:
    """The line that an integer vector spans: `(r, t)` with `integers == ±t r`, r primitive with first nonzero positive.

    Two vectors lie on one line exactly when their r agree; t >= 0, and t = 0 only for the zero vector.
    """
    size = gcd(*integers)
    if size == 0:
        return tuple(integers), 0
    sign = 1 if next(filter(None, integers)) > 0 else -1
    return tuple(sign * z // size for z in integers), size


def sqrt_lower(number: Fraction, bits: int = 40) -> Fraction:
    """A rational r >= 0 with r*r <= number, relative error at most 2^-bits; exact for squares."""
    return _sqrt(number, bits, 0)


def sqrt_upper(number: Fraction, bits: int = 40) -> Fraction:
    """A rational r with r*r >= number, relative error at most 2^-bits; exact for squares."""
    return _sqrt(number, bits, 1)


def _sqrt(number: Fraction, bits: int, excess: int) -> Fraction:
    if number < 0:
        raise InputError("the square root of a negative number is asked for")
    p, q = number.numerator, number.denominator
    if isqrt(p) ** 2 == p and isqrt(q) ** 2 == q:
        return Fraction(isqrt(p), isqrt(q))
    shift = bits + 1 + (q.bit_length() - p.bit_length()) // 2
    scaled = (p << 2 * shift) // q if shift > 0 else p // (q << -2 * shift)
    return (isqrt(scaled) + excess) * Fraction(2) ** -shift


def enclosure_text(number: Fraction, digits: int = 6) -> str:
    """The rational itself when its text is short, else "between 1.94028 and 1.94029", rounded outward."""
    limit = 10**40
    if -limit < number.numerator < limit and number.denominator < limit and len(str(number)) <= 40:
        return str(number)
    p, q = abs(number.numerator), number.denominator
    exponent = (p.bit_length() - q.bit_length()) * 30103 // 100000 - 1  # at most the decimal exponent of p / q
    while p >= q * Fraction(10) ** (exponent + 1):
        exponent += 1
    least = p * Fraction(10) ** (digits - 1 - exponent) // q
    low, high = (_decimal(number < 0, least + step, exponent - digits + 1) for step in (0, 1))
    return f"between {high} and {low}" if number < 0 else f"between {low} and {high}"


def _decimal(is_negative: bool, integer: int, exponent: int) -> str:  # integer * 10^exponent
    digits = str(integer)
    leading = len(digits) - 1 + exponent
    if not -5 <= leading <= 15:
        text = f"{digits[0]}.{digits[1:]}e{leading}"
    elif exponent >= 0:
        text = digits + "0" * exponent
    else:
        padded = digits.rjust(1 - exponent, "0")
        text = f"{padded[:exponent]}.{padded[exponent:]}"
    return "-" + text if is_negative else text


def canonical_text(value: object) -> str:
    """The one JSON text of a value made of dicts, lists, text, integers, booleans and None."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def sha256(text: str) -> str:
    """The SHA-256 of a text, as "sha256:<hex>"."""
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def members(value: object, place: str, keys: Iterable[str]) -> dict[str, object]:
    """`value` as a JSON object that has exactly these keys."""
    if not isinstance(value, dict):
        raise InputError(f"{place} must be a JSON object, not {value!r:.60}")
    found = cast("dict[str, object]", value)
    expected = set(keys)
    if missing := sorted(expected - found.keys()):
        raise InputError(f"{place} lacks the key {missing[0]!r}")
    if unknown := sorted(found.keys() - expected):
        raise InputError(f"{place} has the unknown key {unknown[0]!r:.60}")
    return found
