"""Phrases that occur in several places of a report."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

PER_CENT = "\u00a0%"
SMALL = Fraction(1, 10**4)
"""Relative amounts below this are written as they are, larger ones in per cent."""


def points(indices: Sequence[int]) -> str:
    """Such as "points 0, 2 and 4", counted from 0, and the first few of many."""
    return f"{named(indices, 'point')} (counting from 0)"


def named(indices: Sequence[int], name: str) -> str:
    """Such as "points 0, 2 and 4", and the first few of many."""
    if len(indices) == 1:
        return f"{name} {indices[0]}"
    if len(indices) > 8:
        return f"{name}s {', '.join(map(str, indices[:6]))}, …"
    return f"{name}s {', '.join(map(str, indices[:-1]))} and {indices[-1]}"


def amount(relative: Fraction, rounded: Callable[[Fraction, int], str]) -> str:
    """A relative amount, rounded by `at_least` or `at_most`."""
    return rounded(relative, 2) if relative < SMALL else f"{rounded(100 * relative, 3)}{PER_CENT}"
