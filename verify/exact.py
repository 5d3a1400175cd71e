"""Exact arithmetic on rationals: integers over one denominator, roots rounded outward, numbers within a sentence."""

from collections.abc import Iterable, Sequence
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from math import gcd, isqrt, lcm
from operator import mul
from typing import Any, cast

from verify.errors import InputError

MAX_BITS = 2**28
"""The most bits that numbers over one denominator may take together."""


def dot(a: Iterable[Fraction], b: Iterable[Fraction]) -> Fraction:
    """The scalar product."""
    return sum(map(mul, a, b), Fraction(0))


def common_integers(rows: Iterable[Iterable[Fraction]]) -> tuple[list[list[int]], int]:
    """Integer rows and one denominator, with `rows == integers / denominator` and the least such denominator.

    Rows with an algebraic number come back as they are, over 1: from there on it counts like an integer.
    Raises InputError when the denominators have so little in common that the integers would not be handled in time.
    """
    kept = [tuple(row) for row in rows]
    if not all(is_rational(number) for row in kept for number in row):
        return cast("list[list[int]]", list(map(list, kept))), 1
    count, denominator = sum(map(len, kept)), 1
    for q in {number.denominator for row in kept for number in row}:
        denominator = lcm(denominator, q)
        if denominator.bit_length() * count > MAX_BITS:
            raise InputError(f"{count} numbers have a common denominator of over {MAX_BITS // count} bits; round them")
    return [[q.numerator * (denominator // q.denominator) for q in row] for row in kept], denominator


def quotient(number: int, denominator: int) -> Fraction:
    """The exact quotient, also of what `common_integers` lets count like an integer."""
    return Fraction(number, denominator) if is_rational(number) else cast("Fraction", number) / denominator


def is_rational(number: object) -> bool:
    """Whether this is a rational number, not an algebraic one that is typed like it."""
    return isinstance(number, int | Fraction)


def squared_norm(numbers: Iterable[Fraction]) -> Fraction:
    """The sum of squares."""
    (integers,), denominator = common_integers([numbers])
    return quotient(sum(map(mul, integers, integers)), denominator * denominator)


def primitive(integers: Sequence[int]) -> tuple[tuple[int, ...], int]:
    """The line that an integer vector spans: `(r, t)` with `integers == ±t r`, r primitive with first nonzero positive.

    Two vectors lie on one line exactly when their r agree; t >= 0, and t = 0 only for the zero vector.
    """
    size = gcd(*integers)
    sign = -1 if next(filter(None, integers), 1) < 0 else 1
    return tuple(sign * z // (size or 1) for z in integers), size


def sqrt_lower(number: Fraction, bits: int = 40) -> Fraction:
    """A rational r >= 0 with r*r <= number, relative error at most 2^-bits; exact for squares."""
    return number / sqrt_upper(number, bits + 2) if number else number


def sqrt_upper(number: Fraction, bits: int = 40) -> Fraction:
    """A rational r with r*r >= number, relative error at most 2^-bits; exact for squares."""
    if number < 0:
        raise InputError("the square root of a negative number is asked for")
    if not is_rational(number):
        return sqrt_upper(cast("Any", number).upper(bits + 2), bits + 1)
    p, q = number.numerator, number.denominator
    if isqrt(p) ** 2 == p and isqrt(q) ** 2 == q:
        return Fraction(isqrt(p), isqrt(q))
    shift = bits + 1 + (q.bit_length() - p.bit_length()) // 2
    scaled = (p << 2 * shift) // q if shift > 0 else p // (q << -2 * shift)
    return (isqrt(scaled) + 1) * Fraction(2) ** -shift


def value_text(number: Fraction) -> str:
    """A number within a sentence: its canonical text when short, else an enclosure rounded outward to six digits."""
    if not is_rational(number):
        return str(number)
    p, q = number.numerator, number.denominator
    if p.bit_length() + q.bit_length() <= 120:
        return str(number)
    ways = (Context(prec=6, rounding=way, Emax=MAX_EMAX, Emin=MIN_EMIN) for way in (ROUND_FLOOR, ROUND_CEILING))
    low, high = (way.divide(Decimal(p), Decimal(q)) for way in ways)
    return f"a number between {low} and {high}"
