"""The ordered field Q(t), t one real algebraic number: exact arithmetic and signs, for numbers such as 8/sqrt(17).

t is *the* root of an integer polynomial P in an interval [low, high], 0 <= low < high: P has different signs at the
ends, and bounds of P' on the interval exclude 0, so there is exactly one root and it is simple. An element is a
polynomial in t with rational coefficients, of lower degree than P.

Signs. The element without coefficients is 0. As t > 0, each power is monotone, so an interval around t encloses every
other element, and it is narrowed until 0 is outside. When P is irreducible, that comes to an end; P may be reducible,
and then an element that is 0 in disguise is refused with CertificateError, like one that is too close to 0, never
misjudged.
"""

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache, reduce, total_ordering
from itertools import zip_longest
from math import prod
from typing import TYPE_CHECKING, TypeAlias, cast

from verify.codec import Record
from verify.errors import CertificateError, require

MAX_DEGREE = 16
MAX_COEFFICIENT = 10**100
MAX_BITS = 2048
"""How often the interval around t is halved at most."""

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
        is_polynomial = 3 <= len(self.polynomial) <= MAX_DEGREE + 1 and self.polynomial[-1] != 0
        is_short = is_polynomial and max(map(abs, self.polynomial)) < MAX_COEFFICIENT
        require(is_short, "polynomial", f"must have a degree from 2 to {MAX_DEGREE}, and at most 100 digits in each")
        require(0 <= self.interval[0] < self.interval[1], "interval", "must be [low, high] with 0 <= low < high")
        longest = max(max(end.numerator, end.denominator) for end in self.interval)
        require(longest < MAX_COEFFICIENT**3, "interval", "must have at most 300 digits in each number")
        least, greatest = _bounds([k * c for k, c in enumerate(self.polynomial)][1:], *self.interval)
        is_root = (least > 0 or greatest < 0) and self._is_root_above(self.interval[0])
        require(is_root, "interval", "must be so narrow that bounds show the polynomial to have one root in it")

    def _is_root_above(self, low: Fraction) -> bool:
        """Whether P has different signs at `low` and at the upper end of the interval."""
        high = self.interval[1]
        return _bounds(self.polynomial, low, low)[0] * _bounds(self.polynomial, high, high)[0] < 0

    def enclosure(self, p: _Polynomial, bits: int = 0) -> tuple[Fraction, Fraction]:
        """Bounds of p(t), p without leading zeros: (0, 0) without coefficients, else excluding 0.

        Their relative distance is at most 2^-bits.
        """
        around = _around(self)
        least, greatest = _bounds(p, *around)
        while p and (least <= 0 <= greatest or (greatest - least) * 2**bits > max(least, -greatest)):
            low, high = around
            is_wide = (high - low) * 2**MAX_BITS > self.interval[1] - self.interval[0]
            require(is_wide, "", f"holds two numbers that cannot be told apart by {MAX_BITS} bits")
            for _ in range(32):
                middle = (low + high) / 2
                low, high = (middle, high) if self._is_root_above(middle) else (low, middle)
            around[:] = low, high
            least, greatest = _bounds(p, low, high)
        return least, greatest

    def number(self, p: _Polynomial) -> Fraction:
        """p(t): a `Fraction` where no powers of t are left, else an `Algebraic`."""
        rest = _sum(p, [])
        while (shift := len(rest) - len(self.polynomial)) >= 0:
            modulus = [*[_ZERO] * shift, *map(Fraction, self.polynomial)]
            rest = _sum(rest, modulus, -rest[-1] / self.polynomial[-1])
        return sum(rest, _ZERO) if len(rest) < 2 else cast("Fraction", Algebraic(self, tuple(rest)))


@lru_cache(maxsize=16)
def _around(field: Field) -> list[Fraction]:
    """The interval around t, as narrow as it was needed."""
    return list(field.interval)


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

    def __add__(self, other: object) -> Fraction:
        return self.field.number(_sum(self.coefficients, self._read(other)))

    def __mul__(self, other: object) -> Fraction:
        terms = ([*[_ZERO] * k, *(c * factor for c in self.coefficients)] for k, factor in enumerate(self._read(other)))
        return self.field.number(reduce(_sum, terms, []))

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self) -> Fraction:
        return self * -1

    def __sub__(self, other: object) -> Fraction:
        return self.field.number(_sum(self.coefficients, self._read(other), -_ONE))

    def __rsub__(self, other: object) -> Fraction:
        return -(self - other)

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
            return self.field.enclosure(_sum(self.coefficients, self._read(other), -_ONE)) == (0, 0)
        return NotImplemented

    def __lt__(self, other: object) -> bool:
        return self.field.enclosure(_sum(self.coefficients, self._read(other), -_ONE))[1] < 0

    def __hash__(self) -> int:
        return hash(self.coefficients)  # equal numbers of one field have equal coefficients, or cannot be compared

    def upper(self, bits: int) -> Fraction:
        """A rational at least this number, relative error at most 2^-bits."""
        return self.field.enclosure(self.coefficients, bits)[1]

    def __float__(self) -> float:
        """For displays and searches; no proof uses it."""
        return float(self.field.enclosure(self.coefficients, 60)[0])

    def __str__(self) -> str:
        (low, high), zero = self.field.interval, _text(self.field.polynomial)
        return f"{_text(self.coefficients)} with {zero} = 0 and t between {low} and {high}"


def _text(p: Sequence[Fraction | int]) -> str:
    return " + ".join(f"{c} {f't^{k}' if k > 1 else 't'}" if k else str(c) for k, c in enumerate(p) if c)


if TYPE_CHECKING:
    Number: TypeAlias = Fraction
    Whole: TypeAlias = int
else:
    Number = Fraction | Algebraic
    Whole = int | Algebraic
"""What certificates hold: numbers, and numerators where a denominator is common, which may be algebraic as well.

To the type checker they are a `Fraction` and an int, whose operators they have: proofs treat all of them alike.
"""
