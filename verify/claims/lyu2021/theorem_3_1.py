"""Theorem 3.1 of arXiv:2110.13905, section 3.2.

    L(theta(0)) < ln 2 / n  ==>  L(theta(t)) -> 0,  |theta(t)| -> infinity,
                                 theta(t)/|theta(t)| -> a direction along which the max-margin problem has a KKT point

for gradient flow of the logistic loss L on a homogeneous network.
"""

from __future__ import annotations

from fractions import Fraction

from verify.claims.power import has_points
from verify.claims.records import Claim, Instance, Judgement, Outcome, Variant
from verify.claims.theorems import run_alone
from verify.claims.trainings import after, falls_without_end, has_loss_below, is_nearly_stationary, trained
from verify.strategies import separating_starts

__all__ = ["CLAIMS", "loss_vanishes_at_kkt"]


def loss_vanishes_at_kkt(instance: Instance) -> Judgement:
    """The loss falls to e^-10 of its tenth power with growing weights; the flow ends at a KKT point up to 1e-3.

    The end with a certificate, the loss and the weights in floats.
    """
    fallen = falls_without_end(instance)
    if fallen.outcome is not Outcome.HELD:
        return fallen
    return after(instance, trained(instance, loss="logistic"), is_nearly_stationary)


CLAIMS = (
    Claim(
        id="lyu2021.thm3.1",
        source="arXiv:2110.13905, Theorem 3.1",
        statement="From a loss below ln 2 / n, gradient flow of the logistic loss makes the loss tend to 0 and the "
        "weights grow without end, and converges in direction to a KKT point.",
        hypotheses={"small-loss": lambda instance: has_loss_below(instance, Fraction(69, 100))},
        conclusion=loss_vanishes_at_kkt,
        instances=separating_starts().map(lambda drawn: Instance(*drawn)),
        sharp={"small-loss": "max-margin/lyu2021-theorem-3-1-dead"},
        regime="networks of depth 2 without masks, from margins of at least 4, of any slope, with or without biases; "
        "up to 200,000 gradients, to residuals of 5e-4 or an activation pattern that has settled; stationary up to "
        "1e-3, with a certificate; the loss to e^-10 of its tenth power, with larger weights, in floats",
        trains=True,
        examples=20,
        could_fail=has_points(2),
        variants=(
            Variant(
                name="at-the-start",
                statement="Every network of a loss below ln 2 / n is a KKT point already.",
                conclusion=is_nearly_stationary,
            ),
        ),
    ),
)

if __name__ == "__main__":
    run_alone(CLAIMS)
