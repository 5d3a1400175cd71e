"""Beside Theorem 3.1 of arXiv:2205.09072, section 3: fewer neurons than points, and gradient descent.

Under the conditions of Theorem 3.1, with probability >= 1 - delta

    L(theta(t_0)) <= 1/(2n) at some t_0 where k is much below n (Remark 2.1)
    gradient descent reaches 1/(2n) as well (Remark 2.2 and the footnote to the theorem)

The proof's Polyak-Lojasiewicz condition, |grad L|^2 >= mu L near the start, is no claim here: its mu stands in an
appendix that we do not have, and on these draws |grad L|^2 / L falls to 10^-6 to 10^-2 of its value at the start.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from math import log
from random import Random

from solvers.arrays import Floats
from solvers.training.descent.gradient_descent import gradient_descent
from verify.claims.power import always
from verify.claims.records import Claim, Instance, Judgement, Variant, failed, held
from verify.claims.safran2022.learning import LINE, SURE, is_sampled, wide_start
from verify.claims.safran2022.regions import is_univariate
from verify.claims.safran2022.theorem_3_1 import ROOM, is_wide_enough, reaches_small_loss
from verify.claims.theorems import run_alone
from verify.claims.trainings import has_loss_below, with_weights
from verify.numbers.floats import to_float
from verify.strategies.line_starts import gaussian_network
from verify.training import layers_of, parameters_of, rows_of, targets_of

__all__ = ["CLAIMS", "descends_to_small_loss", "has_few_neurons", "narrow_wide_start"]

FEW, MANY = 16, 64
"""k and n."""

DEVIATION = Fraction(8)
"""sigma_h; the theorem's grows with n^2."""

STEPS = 200_000


def narrow_wide_start(random: Random) -> Instance:
    """16 neurons of hidden deviation 8, the output deviation as stated for it, and 64 points."""
    output = 1 / (4 * FEW * to_float(DEVIATION) * log(6 * FEW * 4))
    network = gaussian_network(random, FEW, DEVIATION, Fraction(output).limit_denominator(10**6))
    return Instance.posed(network, LINE.sample(random, MANY))


def has_few_neurons(instance: Instance) -> bool:
    """n >= 4 k."""
    return len(instance.data) >= 4 * instance.network.width


def _rows(instance: Instance) -> Floats:
    return rows_of(instance.data, instance.network.architecture)


def descends_to_small_loss(instance: Instance, steps: int = STEPS) -> Judgement:
    """Gradient descent on log L, with steps that its own loss chooses, gets to L <= 1/(2n); exactly where it stops.

    Measured: the steps. steps: how many there may be.
    """
    n, shape = len(instance.data), instance.network.architecture
    goal = -log(2 * n) - ROOM["exponential"]
    run = gradient_descent(
        layers_of(shape), _rows(instance), targets_of(instance.data), parameters_of(instance.network),
        loss="exponential", step=1e-3, schedule="loss-adapted", max_steps=steps,
        stop=lambda moment: "the loss is small enough" if moment.log_loss <= goal else None,
    )  # fmt: skip
    if has_loss_below(with_weights(instance, run.theta), Fraction(1, 2)):
        return held("a loss below 1/(2n) is reached", measured=run.evaluations)
    return failed(f"after {run.evaluations} steps: {run.reason}", measured=run.evaluations)


_WIDE = {"sampled": is_sampled, "wide": is_wide_enough}
_SHARP = {"sampled": "max-margin/safran2022-theorem-3-1-two-labels", "wide": "max-margin/safran2022-theorem-4-1-dead"}
_SURELY = partial(Variant, chance=Fraction(1))

CLAIMS = (
    Claim(
        id="safran2022.thm3.1.few",
        source="arXiv:2205.09072, Theorem 3.1 and Remark 2.1",
        statement="Gradient flow reaches a loss of 1/(2n) with far fewer neurons than points, with probability at "
        "least 1 - delta.",
        setting=is_univariate,
        hypotheses={"sampled": is_sampled, "few": has_few_neurons},
        conclusion=reaches_small_loss,
        kind="chance",
        chance=SURE,
        trial=narrow_wide_start,
        regime="delta = 1/4, r = 2, n = 64, k = 16; sigma_h = 8, sigma_o as stated; both losses; 20 draws, as one "
        "takes two to four seconds of a core: the width and sigma_h of the theorem are far out of reach",
        quantity="way of the weights over their norm",
        trains=True,
        examples=20,
        could_fail=always,
        variants=(
            _SURELY(
                name="two-neurons",
                statement="Two neurons are enough, with probability 1.",
                trial=lambda random: Instance.posed(
                    gaussian_network(random, 2, Fraction(1), Fraction(1)), LINE.sample(random, 24)
                ),
            ),
        ),
    ),
    Claim(
        id="safran2022.thm3.1.descent",
        source="arXiv:2205.09072, Theorem 3.1 and Remark 2.2",
        statement="Gradient descent reaches a loss of 1/(2n) as well, with probability at least 1 - delta.",
        setting=is_univariate,
        hypotheses=_WIDE,
        conclusion=descends_to_small_loss,
        kind="chance",
        chance=SURE,
        trial=wide_start,
        sharp=_SHARP,
        regime=f"as safran2022.thm3.1; the exponential loss, steps that the loss chooses, {STEPS} at most",
        quantity="steps",
        trains=True,
        examples=100,
        could_fail=always,
        variants=(
            _SURELY(
                name="two-steps",
                statement="Two steps are enough, with probability 1.",
                conclusion=partial(descends_to_small_loss, steps=2),
            ),
        ),
    ),
)

if __name__ == "__main__":
    run_alone(CLAIMS)
