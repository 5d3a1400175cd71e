"""What gradient flow learns of a labelled line: arXiv:2205.09072, Theorems 2.3 and 3.1 and Corollary 5.1, scaled.

They have one population, r = 2 switches on [-1, 1].
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from math import ceil, floor, log, log10, sqrt
from random import Random

import numpy as np

from solvers.training.losses import Loss
from solvers.training.stop_tests import any_of
from solvers.training.trajectory import Moment
from verify.claims.records import Instance, Judgement, Outcome, failed, held, undecided
from verify.claims.safran2022.populations import Population
from verify.claims.safran2022.regions import EVALUATIONS, limit_has_few_regions
from verify.claims.trainings import at_rest, ended, flowed, has_loss_below, trained, with_weights
from verify.strategies.line_starts import gaussian_network
from verify.training import parameters_of

__all__ = [
    "LINE",
    "SURE",
    "allowed_error",
    "classified_sample",
    "classifies",
    "generalises",
    "generalises_at",
    "is_sampled",
    "is_wide_enough",
    "is_wide_enough_to_the_limit",
    "reaches_small_loss",
    "wide_start",
]

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

SMALL = Fraction(3, 10)
"""The deviation of all weights from which Corollary 5.1 gets to small losses."""

ROOM: dict[Loss, float] = {"exponential": 0.05, "logistic": 0.3}
"""By which log L is smaller than log 1/(2n) where the flow stops: log(1 + x) >= 0.81 x for x <= 1/2, and the exact
bounds of the exponentials give some away."""

SHORT, MANY = 12, 16
"""Points of a sample for Theorem 3.1 and for Theorem 2.3."""


def is_sampled(instance: Instance) -> bool:
    """The points lie in [-1, 1] and have the labels of the population."""
    return LINE.has_labelled(instance.data)


# ---------------------------------------------------------------------------------------------- Theorems 2.3 and 3.1
def _width(*, to_the_limit: bool = False) -> int:
    """k >= 4 R^4 log(24 r / delta) / rho; to the limit: 2 and 48."""
    constant, tail = (WIDTH_TO_THE_LIMIT, 48) if to_the_limit else (WIDTH, 24)
    return ceil(constant * REACH**4 * log(tail * SWITCHES / UNSURE) / LINE.shortest)


def is_wide_enough(instance: Instance) -> bool:
    """The width of Theorem 3.1 with 4 for 6144."""
    return instance.network.width >= _width()


def is_wide_enough_to_the_limit(instance: Instance) -> bool:
    """The width of Theorem 2.3 with 2 for 6144."""
    return instance.network.width >= _width(to_the_limit=True)


def wide_start(random: Random, *, to_the_limit: bool = False) -> Instance:
    """A sample and a Gaussian network with the width and deviations of Theorem 3.1 (to the limit: 2.3), scaled."""
    points, constant = (MANY, HIDDEN_TO_THE_LIMIT) if to_the_limit else (SHORT, HIDDEN)
    width = _width(to_the_limit=to_the_limit)
    hidden = float(constant) * points**2 * float(LINE.densest) * REACH**3.5 * sqrt(SWITCHES * width)
    hidden = Fraction(ceil(1000 * hidden / float(UNSURE * LINE.shortest)), 1000)
    tail = 12 if to_the_limit else 6
    output = 1 / (4 * width * REACH * float(hidden) * log(tail * width / UNSURE))
    network = gaussian_network(random, width, hidden, _rounded_down(output))
    return Instance.posed(network, LINE.sample(random, points))


def _rounded_down(number: float) -> Fraction:
    """Two digits."""
    unit = Fraction(10) ** (floor(log10(number)) - 1)
    return floor(number / unit) * unit


def reaches_small_loss(instance: Instance) -> Judgement:
    """Gradient flow of both losses gets to L <= 1/(2n); where it stops the exponential one is bounded exactly.

    Measured: how far the weights moved, relative to their norm; the larger of the two.
    """
    n, start, furthest = len(instance.data), parameters_of(instance.network), Fraction(0)
    for loss, room in ROOM.items():
        goal = -log(2 * n) - room

        def small_enough(moment: Moment, goal: float = goal) -> str | None:
            return "the loss is small enough" if moment.log_loss <= goal else None

        rest = at_rest(instance)
        run = flowed(instance, loss=loss, stop=any_of(small_enough, rest), evaluations=EVALUATIONS)
        moved = float(np.linalg.norm(run.theta - start) / np.linalg.norm(start))
        furthest = max(furthest, Fraction(moved))
        if not has_loss_below(with_weights(instance, run.theta), Fraction(1, 2)):
            is_over = rest.is_over or run.status == "converged"
            return failed(run.reason) if is_over else undecided(f"{run.status}: {run.reason}")
    return held("a loss below 1/(2n) is reached", measured=furthest)


# -------------------------------------------------------------------------------------- Corollary 5.1 and Theorem 2.3
def allowed_error(points: int, tail: int) -> float:
    """The epsilon with n epsilon = r log(1/epsilon) + log(tail/delta), that is with C_0 = 1."""
    low, high = 1e-9, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        is_more = points * middle >= SWITCHES * log(1 / middle) + log(tail / UNSURE)
        low, high = (low, middle) if is_more else (middle, high)
    return high


def classified_sample(random: Random) -> Instance:
    """A sample of 8, 16 or 24 points, and where a Gaussian network of 16 neurons is when the flow has classified it.

    Networks from which it does not get there are drawn again.
    """
    data = LINE.sample(random, random.choice((8, 16, 24)))
    goal = -log(len(data)) - 0.5

    def small_enough(moment: Moment) -> str | None:
        return "the loss is small enough" if moment.log_loss <= goal else None

    while True:
        start = Instance.posed(gaussian_network(random, 16, SMALL, SMALL), data)
        test = any_of(small_enough, at_rest(start))
        found = with_weights(start, flowed(start, loss="exponential", stop=test, evaluations=EVALUATIONS).theta)
        if classifies(found):
            return found


def classifies(instance: Instance) -> bool:
    """n times the exponential loss is below 1, the logistic one below log 2."""
    return has_loss_below(instance, Fraction(69, 100))


def generalises(instance: Instance, tail: int = 1) -> Judgement:
    """Gradient flow ends near a KKT point of few regions, and the error there is at most epsilon(n), exactly.

    Measured: the error over epsilon(n).
    """
    few = limit_has_few_regions(instance)
    if few.outcome is not Outcome.HELD:
        return few
    end = ended(instance, trained(instance, evaluations=EVALUATIONS))
    error, allowed = LINE.error(end.network), allowed_error(len(instance.data), tail)
    text = f"error {float(error):.3g} after {len(instance.data)} points, {allowed:.3g} allowed; {few.reason}"
    part = error / Fraction(allowed)
    return held(text, measured=part) if part <= 1 else failed(text, measured=part)


generalises_at = partial(generalises, tail=2)
"""With log(2/delta), as in Theorem 2.3; misclassified points in the end fail it."""
