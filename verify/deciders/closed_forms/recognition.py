"""Real numbers of many digits -> exact numbers of one field Q(t) of small degree, by integer relations (PSLQ).

A relation counts when its coefficients have together at most half the digits of the numbers: chance does not produce
that. What is found is proved afterwards, by the checker; what is not found is said not to be found.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import log10

from verify.checker.errors import CertificateError
from verify.checker.exact import Algebraic, Field
from verify.deciders.closed_forms.polishing import DIGITS, ManyDigits
from verify.deciders.time_limits import poll

__all__ = ["MOST_DEGREE", "in_digits", "recognise", "root_in_digits"]

MOST_DEGREE = 8
MOST_STEPS = 20_000  # of PSLQ


def recognise(numbers: Sequence[ManyDigits]) -> list[Fraction] | None:
    """The numbers as elements of one field, rationals where they all are; None when none of degree <= 8 is found."""
    from mpmath import mp

    with mp.workdps(DIGITS - 20):
        field = _Growing()
        for value in numbers:
            if not field.takes(value):
                return None
        return field.settled(numbers)


def in_digits(number: Fraction) -> ManyDigits:
    """An exact number to as many digits as `recognise` takes."""
    from mpmath import mp

    with mp.workdps(DIGITS + 20):
        if isinstance(number, Algebraic):
            number = number.field.enclosure(number.coefficients)[0]
        return mp.mpf(number.numerator) / number.denominator


def root_in_digits(number: Fraction) -> ManyDigits:
    """Its square root."""
    from mpmath import mp

    with mp.workdps(DIGITS + 20):
        return mp.sqrt(in_digits(number))


class _Growing:
    """The field of the numbers so far: its generator t > 0 and the integer polynomial of t, from low to high."""

    def __init__(self) -> None:
        self.generator: ManyDigits | None = None
        self.polynomial: list[int] = [0, 1]
        self.known: list[ManyDigits] = []

    def takes(self, value: ManyDigits) -> bool:
        """Make the field large enough for `value`; False when that is not found to be possible."""
        if any(abs(abs(value) - abs(other)) < 10.0 ** -(DIGITS // 2) for other in self.known):
            return True
        self.known.append(value)
        if self.coordinates(value) is not None:
            return True
        if 2 * (len(self.polynomial) - 1) > MOST_DEGREE:
            return False
        for candidate in self._candidates(value):
            polynomial = _minimal_polynomial(candidate)
            if polynomial is None:
                return False
            if len(polynomial) - 1 >= 2 * (len(self.polynomial) - 1):  # the degree of a field over a smaller one
                before = self.generator, self.polynomial
                self.generator, self.polynomial = _simplified(candidate, polynomial)
                if all(self.coordinates(other) is not None for other in self.known):
                    return True
                self.generator, self.polynomial = before
        return False

    def _candidates(self, value: ManyDigits) -> list[ManyDigits]:
        """Numbers that may generate the field with the value."""
        return [value] if self.generator is None else [value, *(self.generator + k * value for k in (1, 2, -1))]

    def coordinates(self, value: ManyDigits) -> list[Fraction] | None:
        """`value` as a polynomial in the generator."""
        degree = len(self.polynomial) - 1
        powers = [1] if self.generator is None else [self.generator**k for k in range(degree)]
        found = _relation([value, *powers])
        if found is None or not found[0]:
            return None
        return [Fraction(-c, found[0]) for c in found[1:]]

    def settled(self, numbers: Sequence[ManyDigits]) -> list[Fraction] | None:
        """The numbers in the field, with an interval for its generator."""
        found = [self.coordinates(value) for value in numbers]
        if self.generator is None:
            return [p[0] for p in found if p]
        field = _with_interval(self.polynomial, self.generator)
        return None if field is None else [field.number(p) for p in found if p]


def _relation(numbers: Sequence[ManyDigits | int]) -> list[int] | None:
    """Integers, not all 0, with sum c_k x_k = 0 and too few digits for a coincidence."""
    from mpmath import mp

    if abs(numbers[0]) < 10.0 ** -(DIGITS // 2):
        return [1, *[0] * (len(numbers) - 1)]
    most = 10 ** (DIGITS // (2 * len(numbers)))
    found = mp.pslq(numbers, maxcoeff=most, maxsteps=MOST_STEPS)
    if found is None or sum(log10(abs(c)) for c in found if c) > DIGITS / 2:
        return None
    return [int(c) for c in found]


def _minimal_polynomial(value: ManyDigits) -> list[int] | None:
    from mpmath import mp
    from sympy import Poly, Symbol, factor_list

    for degree in (1, 2, 4, MOST_DEGREE):
        poll()
        found = _relation([value**k for k in range(degree + 1)])
        if found is not None:
            x = Symbol("x")
            factors = factor_list(Poly(found[::-1], x))[1]
            choices = [[int(c) for c in reversed(factor.all_coeffs())] for factor, _ in factors]
            return min(choices, key=lambda p: abs(mp.polyval(p[::-1], value)))
    return None


def _simplified(value: ManyDigits, polynomial: list[int]) -> tuple[ManyDigits, list[int]]:
    """A simpler generator of the same field: the root of an integer for degree 2 and for roots, else positive only."""
    from mpmath import mp

    degree = len(polynomial) - 1
    if degree == 2:
        radicand = polynomial[1] ** 2 - 4 * polynomial[0] * polynomial[2]
    elif not any(polynomial[1:-1]):
        radicand = -polynomial[0] * polynomial[-1] ** (degree - 1)
    else:
        sign = 1 if value > 0 else -1
        return abs(value), [c * sign**k for k, c in enumerate(polynomial)]
    radicand = _without_powers(radicand, degree)
    return mp.root(radicand, degree), [-radicand, *[0] * (degree - 1), 1]


def _without_powers(radicand: int, degree: int) -> int:
    """The radicand without factors that are powers of this degree."""
    from sympy import factorint

    result = 1
    for prime, exponent in factorint(radicand).items():
        result *= prime ** (exponent % degree)
    return result


def _with_interval(polynomial: Sequence[int], root: ManyDigits) -> Field | None:
    from mpmath import mp

    for bits in range(0, 400, 2):
        low = Fraction(int(mp.floor(root * 2**bits)), 2**bits)
        try:
            return Field(tuple(polynomial), (low, low + Fraction(1, 2**bits)))
        except CertificateError:
            continue
    return None
