"""Theorem 2.1 of arXiv:2110.02732, section 2.

    L(theta(t_0)) < 1, namely y_i Phi(theta; x_i) > 0 for all i
        ==>  theta(t)/|theta(t)| -> the direction of a KKT point of problem (2),
             min 1/2 |theta|^2 subject to y_i Phi(theta; x_i) >= 1,  L(theta(t)) -> 0, |theta(t)| -> infinity

for gradient flow of the exponential or the logistic loss on a homogeneous linear or ReLU network Phi.
"""

from __future__ import annotations

from fractions import Fraction

from hypothesis import strategies as st

from verify.claims.power import has_points
from verify.claims.records import Claim, Instance, Variant
from verify.claims.theorems import run_alone
from verify.claims.trainings import has_loss_below, is_nearly_stationary, vanishes_at_a_kkt_point
from verify.claims.vardi2022.theorem_3_1 import ends_global
from verify.strategies import separating_starts

__all__ = ["CLAIMS"]

CLAIMS = (
    Claim(
        id="vardi2022.thm2.1",
        source="arXiv:2110.02732, Theorem 2.1",
        statement="Gradient flow that classifies every point converges in direction to a KKT point, the loss to 0 and "
        "the norm to infinity.",
        hypotheses={"loss-below-1": lambda instance: has_loss_below(instance, Fraction(69, 100))},
        conclusion=vanishes_at_a_kkt_point,
        instances=separating_starts().map(lambda drawn: Instance(*drawn)),
        sharp={"loss-below-1": "max-margin/lyu2021-theorem-3-1-dead"},
        regime="a sum of losses below log 2, from margins of at least 4; networks of depth 2 without masks; up to "
        "200,000 gradients, to 5e-4 or an activation pattern that has settled; a KKT point up to 1e-3, or an exact "
        "one within 1e-3, with a certificate; the logistic loss to e^-10 of its tenth power, with larger weights, in "
        "floats; the exponential loss is not tried",
        trains=True,
        examples=20,
        could_fail=has_points(2),
        variants=(
            Variant(
                name="at-the-start",
                statement="Every network that classifies every point is a KKT point already.",
                conclusion=is_nearly_stationary,
            ),
            Variant(
                name="global",
                statement="Gradient flow that classifies every point converges in direction to a global optimum.",
                conclusion=ends_global,
                instances=separating_starts(slope=st.just(Fraction(0)), bias=False).map(lambda drawn: Instance(*drawn)),
            ),
        ),
    ),
)

if __name__ == "__main__":
    run_alone(CLAIMS)
