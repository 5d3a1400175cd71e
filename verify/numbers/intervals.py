"""Two proved ends of a number: exact as `Fraction`s, shown as decimals that enclose them."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

from verify.numbers.decimals import at_least, at_most, enclosure

__all__ = ["Interval"]


WIDE = Fraction(1, 1000)
"""Relative width from which each end is shown with digits of its own."""


class Interval(NamedTuple):
    """lower <= upper, a pair; printed as "[4.93672035, 4.93672039]", rounded outwards, whatever the digits behind."""

    lower: Fraction
    upper: Fraction

    def __repr__(self) -> str:
        if self.upper - self.lower > WIDE * max(abs(self.lower), abs(self.upper)):
            return f"[{at_least(self.lower, 6)}, {at_most(self.upper, 6)}]"
        low, high = enclosure(self.lower, self.upper)
        if low == high and "." in low and "e" not in low:  # both ends are this one short number
            low = high = low.rstrip("0").rstrip(".")
        return f"[{low}, {high}]"

    __str__ = __repr__

    @classmethod
    def of(cls, ends: tuple[Fraction, Fraction] | None) -> Interval | None:
        """The same ends as an interval."""
        return None if ends is None else cls(*ends)
