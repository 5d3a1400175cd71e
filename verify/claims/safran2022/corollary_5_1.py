"""Corollary 5.1 of arXiv:2205.09072, section 5.

    n >= C_0 (r log(1/epsilon) + log(1/delta)) / epsilon, L(theta(t_0)) < 1/n
        ==>  P(y N_theta*(x) <= 0) <= epsilon  with probability >= 1 - delta

with theta* the direction to which gradient flow converges, for data labelled by a teacher of width r.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from math import log
from random import Random

from solvers.training.stop_tests import any_of
from solvers.training.trajectory import Moment
from verify.claims.power import always
from verify.claims.records import Claim, Instance, Variant
from verify.claims.safran2022.learning import LINE, SURE, classifies, generalises, is_sampled
from verify.claims.safran2022.regions import EVALUATIONS, is_univariate
from verify.claims.theorems import run_alone
from verify.claims.trainings import at_rest, flowed, with_weights
from verify.strategies.line_starts import gaussian_network

__all__ = ["CLAIMS", "SMALL", "classified_sample"]

SMALL = Fraction(3, 10)
"""The deviation of all weights from which Corollary 5.1 gets to small losses."""


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


CLAIMS = (
    Claim(
        id="safran2022.cor5.1",
        source="arXiv:2205.09072, Corollary 5.1",
        statement="When n epsilon = C_0 (r log(1/epsilon) + log(1/delta)), gradient flow that classifies a sample has "
        "at most 32 r + 67 linear regions and an error of at most epsilon in the limit, with probability at least "
        "1 - delta.",
        setting=is_univariate,
        hypotheses={"sampled": is_sampled, "loss-below-1/n": classifies},
        conclusion=generalises,
        sharp={
            "sampled": "max-margin/safran2022-corollary-5-1-other-labels",
            "loss-below-1/n": "max-margin/safran2022-theorem-4-1-dead",
        },
        regime="C_0 = 1, delta = 1/4, r = 2, n = 8, 16 or 24 (epsilon 0.40, 0.26, 0.19); 16 neurons, from Gaussian "
        "weights of deviation 0.3 and the time at which the flow of the exponential loss classifies the sample on "
        "(starts from which it does not are drawn again); then the logistic loss, up to 20,000 gradients; the error "
        "where training ends, in rationals",
        quantity="error over epsilon",
        kind="chance",
        chance=SURE,
        trial=classified_sample,
        trains=True,
        examples=40,
        could_fail=always,
        variants=(
            Variant(
                name="hundredth",
                statement="The error is at most epsilon/100 in the limit, with probability 1.",
                conclusion=partial(generalises, share=0.01),
                chance=Fraction(1),
            ),
        ),
    ),
)

if __name__ == "__main__":
    run_alone(CLAIMS)
