"""Theorem 3.1 of arXiv:2205.09072, section 3.

    k >= 6144 R^4 log(24 r / delta) / rho,   sigma_h >= 4200 n^2 C R^3.5 sqrt(r k) / (delta rho),
    sigma_o <= 1 / (4 k R sigma_h log(6 k / delta))
        ==>  with probability >= 1 - delta  L(theta(t_0)) <= 1/(2n)  at some time t_0

for data of density at most C on [-R, R] labelled by a teacher of width r, with intervals of one label of length rho
at least.
"""

from __future__ import annotations

from fractions import Fraction
from math import log

import numpy as np

from solvers.training.losses import Loss
from solvers.training.stop_tests import any_of
from solvers.training.trajectory import Moment, TrainingStatus
from verify.claims.power import always
from verify.claims.records import Claim, Instance, Judgement, Variant, failed, held, undecided
from verify.claims.safran2022.learning import LINE, SHORT, SURE, is_sampled, needed_width, wide_start
from verify.claims.safran2022.regions import EVALUATIONS, is_univariate
from verify.claims.theorems import run_alone
from verify.claims.trainings import at_rest, flowed, has_loss_below, with_weights
from verify.strategies.line_starts import gaussian_network
from verify.training import parameters_of

__all__ = ["CLAIMS", "ROOM", "is_wide_enough", "reaches_small_loss"]

ROOM: dict[Loss, float] = {"exponential": 0.05, "logistic": 0.3}
"""By which log L is smaller than log 1/(2n) where the flow stops: log(1 + x) >= 0.81 x for x <= 1/2, and the exact
bounds of the exponentials give some away."""


def is_wide_enough(instance: Instance) -> bool:
    """The width of Theorem 3.1 with 4 for 6144."""
    return instance.network.width >= needed_width()


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
            is_over = rest.is_over or run.status is TrainingStatus.CONVERGED
            return failed(run.reason) if is_over else undecided(f"{run.status}: {run.reason}")
    return held("a loss below 1/(2n) is reached", measured=furthest)


CLAIMS = (
    Claim(
        id="safran2022.thm3.1",
        source="arXiv:2205.09072, Theorem 3.1",
        statement="With enough width and large hidden weights gradient flow reaches a loss of 1/(2n), with probability "
        "at least 1 - delta.",
        setting=is_univariate,
        hypotheses={"sampled": is_sampled, "wide": is_wide_enough},
        conclusion=reaches_small_loss,
        sharp={
            "sampled": "max-margin/safran2022-theorem-3-1-two-labels",
            "wide": "max-margin/safran2022-theorem-4-1-dead",
        },
        regime="delta = 1/4, r = 2, R = 1, n = 12; density 3/4 on [-1, 0] and 1/4 on [0, 1]; 4 for 6144 in the width "
        "(32 neurons), 1/100 for 4200 in sigma_h, sigma_o as stated; both losses",
        quantity="way of the weights over their norm",
        kind="chance",
        chance=SURE,
        trial=wide_start,
        trains=True,
        examples=100,
        could_fail=always,
        variants=(
            Variant(
                name="one-neuron",
                statement="One neuron is enough, with probability 1.",
                dropped=("wide",),
                trial=lambda random: Instance.posed(
                    gaussian_network(random, 1, Fraction(1), Fraction(1)), LINE.sample(random, SHORT)
                ),
                chance=Fraction(1),
            ),
        ),
    ),
)

if __name__ == "__main__":
    run_alone(CLAIMS)
