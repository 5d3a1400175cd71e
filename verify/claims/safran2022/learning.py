"""Samples of one labelled line, and starts for them: a population of r = 2 switches on [-1, 1], scaled constants."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor, log, log10, sqrt
from random import Random

from verify.claims.records import Instance, Judgement, Outcome, failed, held
from verify.claims.safran2022.populations import Population
from verify.claims.safran2022.regions import EVALUATIONS, limit_has_few_regions
from verify.claims.trainings import ended, has_loss_below, trained
from verify.numbers.floats import to_float
from verify.strategies.line_starts import gaussian_network

__all__ = ["LINE", "SURE", "allowed_error", "classifies", "generalises", "is_sampled", "needed_width", "wide_start"]

LINE = Population(
    pieces=((Fraction(-1), Fraction(0), Fraction(3, 4)), (Fraction(0), Fraction(1), Fraction(1, 4))),
    switches=(Fraction(-1, 3), Fraction(1, 3)),
)


SWITCHES = len(LINE.switches)


REACH = 1
"""R."""


SURE = Fraction(3, 4)
"""1 - delta."""


UNSURE = 1 - SURE


WIDTH, HIDDEN = 4, Fraction(1, 100)
"""In place of 6144 and 4200 in Theorem 3.1."""


WIDTH_TO_THE_LIMIT, HIDDEN_TO_THE_LIMIT = 2, Fraction(1, 8000)
"""In place of 6144 and 8400 in Theorem 2.3: the norm has to grow far beyond its start before the limit is seen."""


SHORT, MANY = 12, 16
"""Points of a sample for Theorem 3.1 and for Theorem 2.3."""


def is_sampled(instance: Instance) -> bool:
    """The points lie in [-1, 1] and have the labels of the population."""
    return LINE.has_labelled(instance.data)


def needed_width(*, to_the_limit: bool = False) -> int:
    """k >= 4 R^4 log(24 r / delta) / rho; to the limit: 2 and 48."""
    constant, tail = (WIDTH_TO_THE_LIMIT, 48) if to_the_limit else (WIDTH, 24)
    return ceil(constant * REACH**4 * log(tail * SWITCHES / UNSURE) / LINE.shortest)


def wide_start(random: Random, *, to_the_limit: bool = False) -> Instance:
    """A sample and a Gaussian network with the width and deviations of Theorem 3.1 (to the limit: 2.3), scaled."""
    points, constant = (MANY, HIDDEN_TO_THE_LIMIT) if to_the_limit else (SHORT, HIDDEN)
    width = needed_width(to_the_limit=to_the_limit)
    hidden = to_float(constant) * points**2 * to_float(LINE.densest) * REACH**3.5 * sqrt(SWITCHES * width)
    hidden = Fraction(ceil(1000 * hidden / to_float(UNSURE * LINE.shortest)), 1000)
    tail = 12 if to_the_limit else 6
    output = 1 / (4 * width * REACH * to_float(hidden) * log(tail * width / UNSURE))
    network = gaussian_network(random, width, hidden, _rounded_down(output))
    return Instance.posed(network, LINE.sample(random, points))


def _rounded_down(number: float) -> Fraction:
    """Two digits."""
    unit = Fraction(10) ** (floor(log10(number)) - 1)
    return floor(number / unit) * unit


def allowed_error(points: int, tail: int) -> float:
    """The epsilon with n epsilon = r log(1/epsilon) + log(tail/delta), that is with C_0 = 1."""
    low, high = 1e-9, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        is_more = points * middle >= SWITCHES * log(1 / middle) + log(tail / UNSURE)
        low, high = (low, middle) if is_more else (middle, high)
    return high


def classifies(instance: Instance) -> bool:
    """n times the exponential loss is below 1, the logistic one below log 2."""
    return has_loss_below(instance, Fraction(69, 100))


def generalises(instance: Instance, tail: int = 1, share: float = 1.0) -> Judgement:
    """Gradient flow ends near a KKT point of few regions, and the error there is at most epsilon(n), exactly.

    Measured: the error over epsilon(n). share: of epsilon(n), in its place.
    """
    few = limit_has_few_regions(instance)
    if few.outcome is not Outcome.HELD:
        return few
    end = ended(instance, trained(instance, evaluations=EVALUATIONS))
    error, allowed = LINE.error(end.network), share * allowed_error(len(instance.data), tail)
    text = f"error {to_float(error):.3g} after {len(instance.data)} points, {allowed:.3g} allowed; {few.reason}"
    part = error / Fraction(allowed)
    return held(text, measured=part) if part <= 1 else failed(text, measured=part)
