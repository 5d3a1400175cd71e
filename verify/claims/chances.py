"""Confidence intervals of probabilities."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor

from verify.numbers.floats import to_float

__all__ = ["CONFIDENCE", "clopper_pearson", "interval_text", "refuting_failures"]

CONFIDENCE = Fraction(99, 100)
"""Of the intervals of claims about probabilities."""


def clopper_pearson(successes: int, trials: int, confidence: Fraction = CONFIDENCE) -> tuple[float, float]:
    """The exact two-sided interval: each end is exceeded with probability at most (1 - confidence) / 2.

    Holds for every true probability, as it inverts the binomial tests. Source: Clopper, Pearson 1934.
    """
    from scipy.stats import beta

    tail = to_float(1 - confidence) / 2
    low = 0.0 if successes == 0 else float(beta.ppf(tail, successes, trials - successes + 1))
    high = 1.0 if successes == trials else float(beta.ppf(1 - tail, successes + 1, trials - successes))
    return low, high


def interval_text(low: float, high: float) -> str:
    """Both ends to three places, rounded outwards."""
    return f"[{floor(1000 * Fraction(low)) / 1000:.3f}, {ceil(1000 * Fraction(high)) / 1000:.3f}]"


def refuting_failures(trials: int, chance: Fraction) -> int | None:
    """The least number of failures among so many trials whose interval is below `chance`; None where not even all."""
    least = to_float(chance)
    refuting = (number for number in range(trials + 1) if clopper_pearson(trials - number, trials)[1] < least)
    return next(refuting, None)
