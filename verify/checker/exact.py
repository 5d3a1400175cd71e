"""Exact arithmetic: on rationals, as integers over one denominator, and in Q(t), t one real algebraic number.

Roots are rounded outward. Q(t) is an ordered field, for numbers such as 8/sqrt(17): t is *the* root of an integer
polynomial P in an interval [low, high], 0 <= low < high. P has different signs at the ends, and bounds of P' on the
interval exclude 0, so there is exactly one root and it is simple. An element is a polynomial in t with rational
coefficients, of lower degree than P.

Signs. The element without coefficients is 0. As t > 0, each power is monotone, so an interval around t, of a width of
2^-BITS of the given one, encloses every other element. When 0 is inside, the element is refused with CertificateError,
never misjudged: it is too close to 0, or 0 in disguise, which happens only when P is reducible.
"""

from collections.abc import Iterable, Sequence
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import lru_cache, reduce, total_ordering
from itertools import count, zip_longest
from math import isqrt, lcm, prod
from operator import mul
from typing import TYPE_CHECKING, TypeAlias, cast

from verify.checker.codec import Record, rational_text
from verify.checker.errors import CertificateError, InputError, require

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


def is_rational(number: object) -> bool:
    """Whether this is a rational number, not an algebraic one that is typed like it."""
    return isinstance(number, int | Fraction)


def squared_norm(numbers: Iterable[Fraction]) -> Fraction:
    """The sum of squares."""
    (integers,), denominator = common_integers([numbers])
    return sum(map(mul, integers, integers)) * Fraction(1, denominator**2)


def sqrt_lower(number: Fraction, bits: int = 40) -> Fraction:
    """A rational r >= 0 with r*r <= number, relative error at most 2^-bits; exact for squares."""
    return number / sqrt_upper(number, bits + 2) if number else number


def sqrt_upper(number: Fraction, bits: int = 40) -> Fraction:
    """A rational r with r*r >= number, relative error at most 2^-bits; exact for squares of rationals.

    Of an irrational number it is larger by so much that both can be told apart.
    """
    square = number.upper() * (1 + Fraction(1, 4**bits)) if isinstance(number, Algebraic) else number
    if square < 0:
        raise InputError("the square root of a negative number is asked for")
    p, q = square.numerator, square.denominator
    root = Fraction(isqrt(p), isqrt(q))
    shift = bits + 2 + (q.bit_length() - p.bit_length()) // 2
    return root if root * root == square else (isqrt(int(square * Fraction(4) ** shift)) + 1) * Fraction(2) ** -shift


def root_ends(number: Fraction, degree: int, bits: int = 64) -> tuple[Fraction, Fraction]:
    """Rationals l, u >= 0 with l^degree <= number <= u^degree, u - l at most 2^-bits of them; equal for powers."""
    p, q = number.numerator, number.denominator
    root = Fraction(_whole_root(p, degree), _whole_root(q, degree))
    if root**degree == number:
        return root, root
    unit = Fraction(2) ** ((p.bit_length() - q.bit_length()) // degree - bits - 1)
    low = _whole_root(int(number / unit**degree), degree)
    return low * unit, (low + 1) * unit


def _whole_root(number: int, degree: int) -> int:
    """The greatest integer whose power is at most the number, by Newton's method from above."""
    root, smaller = 0, 1 << (number.bit_length() // degree + 1)
    while number and not 0 < root <= smaller:
        root = smaller
        smaller = ((degree - 1) * root + number // root ** (degree - 1)) // degree
    return root


def value_text(number: Fraction) -> str:
    """A number within a sentence: its canonical text when short, else an enclosure rounded outward to six digits."""
    if not is_rational(number) or number.numerator.bit_length() + number.denominator.bit_length() <= 120:
        return str(number)
    ways = (Context(prec=6, rounding=way, Emax=MAX_EMAX, Emin=MIN_EMIN) for way in (ROUND_FLOOR, ROUND_CEILING))
    low, high = (way.divide(Decimal(number.numerator), Decimal(number.denominator)) for way in ways)
    return f"a number between {low} and {high}"


# ------------------------------------------------------------------------------------------------- algebraic numbers

MAX_DEGREE = 16
LIMIT = 10**100
BITS = 768
"""The interval around t is narrowed to 2^-BITS of its width."""

_Polynomial: TypeAlias = Sequence[Fraction]  # from low to high
_ZERO, _ONE = Fraction(0), Fraction(1)


def _sum(p: _Polynomial, q: _Polynomial, factor: Fraction = _ONE) -> list[Fraction]:
    """p + factor q, without leading zeros."""
    result = [a + factor * b for a, b in zip_longest(p, q, fillvalue=_ZERO)]
    while result and not result[-1]:
        result.pop()
    return result


def _bounds(p: Sequence[Fraction | int], low: Fraction, high: Fraction) -> tuple[Fraction, Fraction]:
    """Bounds of p on [low, high], 0 <= low; both are its value where the ends are equal."""
    least = sum((c * (low if c > 0 else high) ** k for k, c in enumerate(p)), _ZERO)
    return least, sum((c * (high if c > 0 else low) ** k for k, c in enumerate(p)), _ZERO)


class Field(Record):
    """Q(t), t the root of `polynomial`, coefficients from low to high, in `interval`."""

    polynomial: tuple[int, ...]
    interval: tuple[Fraction, Fraction]

    def __post_init__(self) -> None:
        super().__post_init__()
        low, high = self.interval
        is_polynomial = 3 <= len(self.polynomial) <= MAX_DEGREE + 1 and self.polynomial[-1] != 0
        require(is_polynomial, "polynomial", f"must have a degree from 2 to {MAX_DEGREE}")
        numbers = *self.polynomial, high.numerator, low.denominator, high.denominator
        require(max(map(abs, numbers)) < LIMIT, "", "has a number of more than 100 digits")
        require(0 <= low < high, "interval", "must be [low, high] with 0 <= low < high")
        least, greatest = _bounds([k * c for k, c in enumerate(self.polynomial)][1:], low, high)
        is_root = _value(self, low) * _value(self, high) < 0 < max(least, -greatest)
        require(is_root, "interval", "must be so narrow that bounds show the polynomial to have one root in it")

    def enclosure(self, p: _Polynomial) -> tuple[Fraction, Fraction]:
        """Bounds of p(t), p without leading zeros: (0, 0) without coefficients, else excluding 0."""
        ((numbers,), unit), (lows, highs, whole) = common_integers([p]), _powers(self)
        terms = [(c, *((z, y) if c > 0 else (y, z))) for c, z, y in zip(numbers, lows, highs, strict=False)]
        least, greatest = sum(c * end for c, end, _ in terms), sum(c * end for c, _, end in terms)
        require(not p or not least <= 0 <= greatest, "", f"holds two numbers that {BITS} bits cannot tell apart")
        return Fraction(least, unit * whole), Fraction(greatest, unit * whole)

    def number(self, p: _Polynomial) -> Fraction:
        """p(t): a `Fraction` where no powers of t are left, else an `Algebraic`."""
        rest = _sum(p, [])
        while (shift := len(rest) - len(self.polynomial)) >= 0:
            modulus = [*[_ZERO] * shift, *map(Fraction, self.polynomial)]
            rest = _sum(rest, modulus, -rest[-1] / self.polynomial[-1])
        return sum(rest, _ZERO) if len(rest) < 2 else cast("Fraction", Algebraic(self, tuple(rest)))


def _value(field: Field, t: Fraction) -> int:
    """P(t) times the denominator of t to the degree of P: no sum of fractions."""
    powers = zip(field.polynomial, count(), reversed(range(len(field.polynomial))))
    return sum(c * t.numerator**k * t.denominator**rest for c, k, rest in powers)


@lru_cache(maxsize=16)
def _powers(field: Field) -> tuple[list[int], list[int], int]:
    """Integers, below and above, that enclose 1, t, t^2, ... (as many as an element has) over the third result."""
    ends = _around(field)
    powers = [[end**k for k in range(len(field.polynomial) - 1)] for end in ends]
    (lows, highs), whole = common_integers(powers)
    return lows, highs, whole


def _around(field: Field) -> tuple[Fraction, Fraction]:
    """An interval around t of at most 2^-BITS of the given width.

    P is monotone, so the sign of P at any point says on which side of it t is. The points are the two of a grid, of 2,
    4, 16, ... steps as long as that succeeds, between which the chord of P is 0. A grid of 2 steps halves always.

    Source: J. Abbott, Quadratic interval refinement for real roots (2006).
    """
    low, high = field.interval
    rises, narrow, steps = _value(field, high) > 0, (high - low) / 2**BITS, 2
    while high - low > narrow:
        below, above = (Fraction(_value(field, t), t.denominator ** len(field.polynomial[1:])) for t in (low, high))
        start, step = low, (high - low) / steps
        k = min(int(steps * (below / (below - above))), steps - 1)
        for t in (start + k * step, start + (k + 1) * step):
            low, high = (low, min(t, high)) if (_value(field, t) > 0) == rises else (max(t, low), high)
        steps = steps**2 if high - low <= step else max(isqrt(steps), 2)
    return low, high


@total_ordering
class Algebraic(Record):
    """A number given by powers of t.   coefficients: of 1, t, t^2, ..., the last one not 0.

    Mixes with int, `Fraction` and its own field. Division is by rationals only: nothing in a proof needs more.
    """

    field: Field
    coefficients: tuple[Fraction, ...]

    def __post_init__(self) -> None:
        super().__post_init__()
        is_reduced = 1 < len(self.coefficients) < len(self.field.polynomial) and self.coefficients[-1] != 0
        require(is_reduced, "coefficients", "must be at least 2, fewer than those of the polynomial, the last not 0")

    def _read(self, other: object) -> _Polynomial:
        if isinstance(other, Algebraic):
            require(other.field == self.field, "", "combines numbers of different fields")
            return other.coefficients
        if not isinstance(other, int | Fraction):
            raise TypeError(f"{other!r:.60} is no exact number")
        return _sum([Fraction(other)], [])

    def _minus(self, other: object) -> tuple[Fraction, Fraction]:
        """Bounds of the difference, (0, 0) or without 0."""
        return self.field.enclosure(_sum(self.coefficients, self._read(other), -_ONE))

    def __add__(self, other: object) -> Fraction:
        return self.field.number(_sum(self.coefficients, self._read(other)))

    def __mul__(self, other: object) -> Fraction:
        terms = ([*[_ZERO] * k, *(c * factor for c in self.coefficients)] for k, factor in enumerate(self._read(other)))
        return self.field.number(reduce(_sum, terms, []))

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self) -> Fraction:
        return self * -1

    def __sub__(self, other: Fraction) -> Fraction:
        return self + other * -1

    def __rsub__(self, other: Fraction) -> Fraction:
        return self * -1 + other

    def __truediv__(self, other: Fraction) -> Fraction:
        return self * (_ONE / other)

    def __rtruediv__(self, other: object) -> Fraction:
        raise CertificateError("", "divides by an irrational number; scale the numbers so that it becomes 1")

    def __pow__(self, exponent: int) -> Fraction:
        return prod([cast("Fraction", self)] * exponent, start=_ONE)

    def __abs__(self) -> Fraction:
        return max(cast("Fraction", self), -self)

    def __bool__(self) -> bool:
        return self != 0

    def __eq__(self, other: object) -> bool:
        if isinstance(other, int | Fraction) or (isinstance(other, Algebraic) and other.field == self.field):
            return self._minus(other) == (0, 0)
        return NotImplemented

    def __lt__(self, other: object) -> bool:
        return self._minus(other)[1] < 0

    def __hash__(self) -> int:
        return hash(self.coefficients)  # equal numbers of one field have equal coefficients, or cannot be compared

    def upper(self) -> Fraction:
        """A rational at least this number, and very close."""
        return self._minus(0)[1]

    def __float__(self) -> float:
        """For displays and searches; no proof uses it."""
        return float(self._minus(0)[0])

    def __str__(self) -> str:
        (low, high), zero = self.field.interval, _text(self.field.polynomial)
        return f"{_text(self.coefficients)} with {zero} = 0 and t between {low} and {high}"


def _text(p: Sequence[Fraction | int]) -> str:
    terms = ((rational_text(Fraction(c)), k) for k, c in enumerate(p) if c)
    return " + ".join(f"{c} {f't^{k}' if k > 1 else 't'}" if k else c for c, k in terms)


if TYPE_CHECKING:
    Number: TypeAlias = Fraction
    Whole: TypeAlias = int
else:
    Number = Fraction | Algebraic
    Whole = int | Algebraic
"""What certificates hold: numbers, and numerators where a denominator is common, which may be algebraic as well.

To the type checker they are a `Fraction` and an int, whose operators they have: proofs treat all of them alike.
"""
