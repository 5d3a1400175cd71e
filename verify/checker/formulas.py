r"""Formulas such as 8/sqrt(17), as text or LaTeX, compared with the exact numbers that they stand for.

A formula holds integers, + - * / ** ^, brackets, sqrt, and in LaTeX \frac, \sqrt, \sqrt[4]; or it is "the root of P
near d" with a polynomial P in x. It is evaluated in intervals that enclose its value, and has to agree with the number
to `BITS` bits: no proof of equality, but no other number that people would write comes so near.
"""

import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import TypeAlias

from verify.checker.codec import rational_text
from verify.checker.errors import CertificateError, require
from verify.checker.exact import Algebraic, Number, sqrt_lower, sqrt_upper

BITS = 200
DEEPEST, HIGHEST = 20, 16  # brackets in brackets, and exponents
LONGEST, LARGEST = 4000, 2**15  # characters of a formula, and bits of the numbers in it
DIGITS = Fraction(1, 10**11)  # a decimal of 12 digits is as near as this, relative to the number

_Interval: TypeAlias = tuple[Fraction, Fraction]

_TOKEN = re.compile(r"\s*([0-9]{1,4000}|\*\*|\\?sqrt|\\(?:frac|cdot|left|right)|[-+*/^()\[\]{}x])")
_SAME = {"**": "^", "\\sqrt": "sqrt", "{": "(", "}": ")", "\\cdot": "*"}
_DECIMAL = re.compile(r"-?[0-9]{1,40}(\.[0-9]{1,40})?(e[-+]?[0-9]{1,4})?")
_ROOTS = (
    re.compile(r"the root of (?P<of>.*) near (?P<near>\S+)"),
    re.compile(r"\\text\{the root of \} (?P<of>.*) \\text\{ near \} (?P<near>\S+)"),
)
_ONE = Fraction(1)


def is_decimal_of(text: str, number: Number) -> bool:
    """Whether the text is a decimal that is the number to 12 digits."""
    low, _ = _enclosed(number)
    return _DECIMAL.fullmatch(text) is not None and abs(Fraction(text) - low) <= abs(low) * DIGITS


def is_formula_of(text: str, number: Number) -> bool:
    """Whether the text is a formula whose value agrees with the number to `BITS` bits."""
    given = _enclosed(number)
    if given[0] == given[1] and text == rational_text(given[0]):
        return True
    try:
        for pattern in _ROOTS:
            if (root := pattern.fullmatch(text)) is not None:
                return is_decimal_of(root["near"], number) and _is_same(_Formula(root["of"], given).value(), (0, 0))
        return _is_same(_Formula(text, None).value(), given)
    except CertificateError:
        return False


KINDS: Mapping[str, Callable[[str, Number], bool]] = {
    "text": is_formula_of,
    "latex": is_formula_of,
    "decimal": is_decimal_of,
}
"""How a number is written for people, and whether what is written is the number."""


def _enclosed(number: Number) -> _Interval:
    return number.field.enclosure(number.coefficients) if isinstance(number, Algebraic) else (number, number)


def _is_same(found: _Interval, given: tuple[Fraction | int, Fraction | int]) -> bool:
    """Whether the intervals meet, and the one found is narrow."""
    width = (1 + abs(found[1])) / 2**BITS
    return found[0] <= given[1] and given[0] <= found[1] and found[1] - found[0] <= width


class _Formula:
    """A text that is read from left to right; x is the interval that stands for x."""

    def __init__(self, text: str, x: _Interval | None) -> None:
        self.tokens: list[str] = []
        require(len(text) <= LONGEST, "", f"is longer than {LONGEST} characters")
        self.x, self.depth, place = x, 0, 0
        text = text.rstrip()
        while place < len(text):
            part = _TOKEN.match(text, place)
            if part is None:
                raise CertificateError("", "is no formula")
            place = part.end()
            if part[1] not in ("\\left", "\\right"):
                self.tokens.append(_SAME.get(part[1], part[1]))
        self.tokens.reverse()

    def value(self) -> _Interval:
        found = self._sum()
        require(not self.tokens, "", "is no formula")
        return found

    def _takes(self, *wanted: str) -> str:
        """The next part, taken where it is one of those wanted; else ""."""
        return self.tokens.pop() if self.tokens and self.tokens[-1] in wanted else ""

    def _sum(self) -> _Interval:
        sign = self._takes("+", "-")
        low, high = self._product()
        total = (-high, -low) if sign == "-" else (low, high)
        while sign := self._takes("+", "-"):
            low, high = self._product()
            total = _sized((total[0] - high, total[1] - low) if sign == "-" else (total[0] + low, total[1] + high))
        return total

    def _product(self) -> _Interval:
        """Factors with *, / or, as in LaTeX, nothing between them."""
        total = self._power()
        while self.tokens and self.tokens[-1] not in "+-)]":
            total = _over(total, self._power()) if self._takes("/") else _times(total, self._factor())
        return total

    def _factor(self) -> _Interval:
        self._takes("*")
        return self._power()

    def _power(self) -> _Interval:
        base = self._base()
        if not self._takes("^"):
            return base
        self.depth += 1
        require(self.depth <= DEEPEST, "", "has too many powers of powers")
        found = _power(base, self._power())
        self.depth -= 1
        return found

    def _base(self) -> _Interval:
        require(bool(self.tokens), "", "is no formula")
        part = self.tokens.pop()
        if part.isdigit():
            return Fraction(int(part)), Fraction(int(part))
        if part == "x" and self.x is not None:
            return self.x
        if part == "sqrt":
            order = self._group("]") if self._takes("[") else (Fraction(2), Fraction(2))
            return _power(self._bracket(), _over((_ONE, _ONE), order))
        if part == "\\frac":
            above = self._bracket()
            return _over(above, self._bracket())
        require(part == "(", "", "is no formula")
        return self._group(")")

    def _bracket(self) -> _Interval:
        require(self._takes("(") != "", "", "is no formula")
        return self._group(")")

    def _group(self, end: str) -> _Interval:
        self.depth += 1
        require(self.depth <= DEEPEST, "", "has too many brackets in brackets")
        found = self._sum()
        require(self._takes(end) != "", "", "is no formula")
        self.depth -= 1
        return found


def _sized(found: _Interval) -> _Interval:
    """The interval itself: a formula of numbers that would take long to calculate with is none."""
    bits = max(max(end.numerator.bit_length(), end.denominator.bit_length()) for end in found)
    require(bits <= LARGEST, "", f"has numbers of more than {LARGEST} bits")
    return found


def _times(a: _Interval, b: _Interval) -> _Interval:
    products = [p * q for p in a for q in b]
    return _sized((min(products), max(products)))


def _over(a: _Interval, b: _Interval) -> _Interval:
    require(not b[0] <= 0 <= b[1], "", "divides by 0")
    return _times(a, (1 / b[1], 1 / b[0]))


def _power(base: _Interval, exponent: _Interval) -> _Interval:
    """base to p/q, |p| up to `HIGHEST`, q a power of 2 up to that."""
    p, q = exponent[0].as_integer_ratio()
    is_known = exponent[0] == exponent[1] and 0 < abs(p) <= HIGHEST and q in (1, 2, 4, 8, 16)
    require(is_known, "", "has an unknown exponent")
    for _ in range(q.bit_length() - 1):
        require(base[0] >= 0, "", "has the root of a negative number")
        base = sqrt_lower(base[0], 2 * BITS), sqrt_upper(base[1], 2 * BITS)
    found = (_ONE, _ONE)
    for _ in range(abs(p)):
        found = _times(found, base)
    return found if p > 0 else _over((_ONE, _ONE), found)
