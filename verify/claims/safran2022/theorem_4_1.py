"""Theorem 4.1 of arXiv:2205.09072, section 4.1.

    L(theta(t_0)) < 1/n, namely y_i N(x_i) > 0 for all i
        ==>  theta(t)/|theta(t)| -> the direction of a KKT point of  min 1/2 |theta|^2 subject to y_i N_theta(x_i) >= 1

for gradient flow of the exponential or the logistic loss.
"""

from __future__ import annotations

from fractions import Fraction

from hypothesis import strategies as st

from verify.claims.power import has_points
from verify.claims.records import Claim, Instance, Variant
from verify.claims.safran2022.learning import classifies
from verify.claims.safran2022.regions import is_univariate
from verify.claims.theorems import run_alone
from verify.claims.trainings import is_nearly_stationary, vanishes_at_a_kkt_point
from verify.strategies import fitted_starts, separating_starts

__all__ = ["CLAIMS"]

CLAIMS = (
    Claim(
        id="safran2022.thm4.1",
        source="arXiv:2205.09072, Theorem 4.1",
        statement="Gradient flow with a loss below 1/n converges in direction to a KKT point, the loss to 0 and the "
        "norm to infinity.",
        setting=is_univariate,
        hypotheses={"loss-below-1/n": classifies},
        conclusion=vanishes_at_a_kkt_point,
        instances=st.one_of(
            separating_starts(slope=st.just(Fraction(0)), bias=True, dimension=1), fitted_starts(most=8)
        ).map(lambda drawn: Instance(*drawn)),
        sharp={"loss-below-1/n": "max-margin/safran2022-theorem-4-1-dead"},
        regime="a sum of losses below log 2, from margins of at least 4, so that every point is classified with the "
        "logistic loss too; up to 200,000 gradients, to 5e-4 or an activation pattern that has settled; a KKT point "
        "up to 1e-3, with a certificate; the logistic loss to e^-10 of its tenth power, with larger weights, in "
        "floats; the exponential loss is not tried",
        trains=True,
        examples=20,
        could_fail=has_points(2),
        variants=(
            Variant(
                name="at-the-start",
                statement="Every network of a loss below 1/n is a KKT point already.",
                conclusion=is_nearly_stationary,
            ),
        ),
    ),
)

if __name__ == "__main__":
    run_alone(CLAIMS)
