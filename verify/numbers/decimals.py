"""Rational numbers as short decimals: to the nearest, or outward where they bound something."""

from __future__ import annotations

from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
from math import ceil, floor

from verify.numbers.floats import LARGEST_FLOAT, to_float


def nearest(number: Fraction, digits: int = 7) -> str:
    """The decimal of so many digits that is nearest, without trailing zeros."""
    return _text(_rounded(number, digits, ROUND_HALF_EVEN).normalize())


def at_most(number: Fraction, digits: int = 7) -> str:
    """A decimal that is not below `number`."""
    return _text(_rounded(number, digits, ROUND_CEILING).normalize())


def at_least(number: Fraction, digits: int = 7) -> str:
    """A decimal that is not above `number`."""
    return _text(_rounded(number, digits, ROUND_FLOOR).normalize())


def small(number: Fraction, digits: int = 2) -> str:
    """A tolerance or a distance: not below `number`, and as a power of ten from 1e-2 on."""
    return _text(_rounded(number, digits, ROUND_CEILING).normalize(), -2)


def room(number: Fraction, digits: int = 2) -> str:
    """A distance up to which something holds: as `small`, but not above `number`."""
    return _text(_rounded(number, digits, ROUND_FLOOR).normalize(), -2)


def allowed(number: Fraction) -> str:
    """A tolerance that something keeps: as it was `asked`; one of more than six digits is rounded up."""
    return asked(number) or small(number, ASKED)


def denied(number: Fraction) -> str:
    """A tolerance that something breaks: as it was `asked`; one of more than six digits is rounded down."""
    return asked(number) or _text(_rounded(number, ASKED, ROUND_FLOOR).normalize(), -2)


def open_at(number: Fraction) -> str:
    """A tolerance of which neither is known: as it was `asked`, or else "about" and its nearest decimal."""
    return asked(number) or about(number, ASKED)


ASKED = 6  # digits of a tolerance that is told as it was given


def asked(number: Fraction, digits: int = ASKED, plain_above: int = -2) -> str | None:
    """The `shortest` decimal of a tolerance, where it has so few digits; None for other numbers.

    Of a double it stands for that double: 0.2 was given as the double of this name, which is a little more.
    """
    decimal = shortest(number)
    return None if decimal is None or len(decimal.as_tuple().digits) > digits else _text(decimal, plain_above)


def as_option(number: Fraction) -> str:
    """A tolerance as the command line takes it: its `shortest` decimal, else the fraction."""
    return asked(number, 17, -5) or str(number)


def shortest(number: Fraction) -> Decimal | None:
    """The decimal of at most 17 digits that is the number or, of a double, that reads back as it; None for others."""
    decimal = _rounded(number, 17, ROUND_HALF_EVEN)
    if Fraction(decimal) == number:
        return decimal.normalize()
    if abs(number) > LARGEST_FLOAT or Fraction(double := to_float(number)) != number:
        return None
    return Decimal(repr(double)).normalize()


def about(number: Fraction, digits: int = 7) -> str:
    """The number itself where it has so few digits; else "about" and its nearest decimal."""
    decimal = nearest(number, digits)
    return decimal if is_exactly(number, decimal) else f"about {decimal}"


def value(number: Fraction) -> str:
    """The number itself where that is short, with a decimal for a fraction such as 32/17; else its nearest decimal."""
    decimal = nearest(number)
    if is_exactly(number, decimal):
        return decimal
    exact = str(number) if abs(number.numerator) < 10**9 > number.denominator else ""
    return f"{exact} (about {decimal})" if 0 < len(exact) <= 9 else f"about {decimal}"


def kept(number: Fraction) -> str:
    """The `value` of a tolerance that something keeps: as it was `asked`, or else not below the number."""
    text = asked(number, 7, -5) or value(number)
    return at_most(number) if text.startswith("about ") else text


def broken(number: Fraction) -> str:
    """The `value` of a tolerance that something breaks: as it was `asked`, or else not above the number."""
    text = asked(number, 7, -5) or value(number)
    return at_least(number) if text.startswith("about ") else text


def is_exactly(number: Fraction, decimal: str) -> bool:
    """Whether a decimal is the number."""
    return Fraction(decimal) == number


def enclosure(lower: Fraction, upper: Fraction, digits: int = 10) -> tuple[str, str]:
    """Decimals low <= `lower` and high >= `upper`, of at most so many digits, cut where the two are known to differ."""
    top = _rounded(max(abs(lower), abs(upper)), 1, ROUND_CEILING).adjusted()
    low = high = exponent = 0
    for kept in range(digits, 3, -1):
        exponent = top - kept + 1
        unit = Fraction(10) ** exponent
        low, high = floor(lower / unit), ceil(upper / unit)
        if high - low <= 9:
            break
    ends = _scaled(low, exponent), _scaled(high, exponent)
    is_long = any(end.adjusted() >= LONG for end in ends)  # both in one way
    return _text(ends[0], is_long=is_long), _text(ends[1], is_long=is_long)


def _rounded(number: Fraction, digits: int, rounding: str) -> Decimal:
    context = Context(prec=digits, rounding=rounding, Emax=MAX_EMAX, Emin=MIN_EMIN, traps=[])
    return context.divide(Decimal(number.numerator), Decimal(number.denominator))


def _scaled(integer: int, exponent: int) -> Decimal:
    return Decimal((int(integer < 0), tuple(map(int, str(abs(integer)))), exponent))


LONG = 9  # digits before the point from which on a number is written as a power of ten


def _text(decimal: Decimal, plain_above: int = -5, *, is_long: bool = False) -> str:
    if not decimal:
        return "0"
    if plain_above < decimal.adjusted() < LONG and not is_long:
        return f"{decimal:f}"
    mantissa, _, exponent = f"{decimal:e}".partition("e")
    return f"{mantissa}e{int(exponent)}"
