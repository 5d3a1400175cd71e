"""Theorem 2.3 of arXiv:2205.09072, section 2.2.

    n >= C_0 (r log(1/epsilon) + log(2/delta)) / epsilon,   k >= 6144 R^4 log(48 r / delta) / rho,
    sigma_h >= 8400 n^2 C R^3.5 sqrt(r k) / (delta rho),    sigma_o <= 1 / (4 k R sigma_h log(12 k / delta))
        ==>  with probability >= 1 - delta gradient flow converges in direction to a theta* such that
             N_theta* has at most 32 r + 67 linear regions and P(y N_theta*(x) <= 0) <= epsilon

for data of density at most C on [-R, R] labelled by a teacher of width r, with intervals of one label of length rho
at least.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial

from verify.claims.power import always
from verify.claims.records import Claim, Instance, Variant
from verify.claims.safran2022.learning import SURE, generalises, is_sampled, needed_width, wide_start
from verify.claims.safran2022.regions import is_univariate
from verify.claims.theorems import run_alone

__all__ = ["CLAIMS", "generalises_at", "is_wide_enough_to_the_limit"]


def is_wide_enough_to_the_limit(instance: Instance) -> bool:
    """The width of Theorem 2.3 with 2 for 6144."""
    return instance.network.width >= needed_width(to_the_limit=True)


generalises_at = partial(generalises, tail=2)
"""With log(2/delta), as in Theorem 2.3; misclassified points in the end fail it."""


CLAIMS = (
    Claim(
        id="safran2022.thm2.3",
        source="arXiv:2205.09072, Theorem 2.3",
        statement="From wide Gaussian starts with large hidden weights gradient flow converges in direction to a "
        "network of at most 32 r + 67 linear regions and an error of at most epsilon, with probability at least 1 - "
        "delta.",
        setting=is_univariate,
        hypotheses={"sampled": is_sampled, "wide": is_wide_enough_to_the_limit},
        conclusion=generalises_at,
        sharp={
            "sampled": "max-margin/safran2022-theorem-2-3-other-labels",
            "wide": "max-margin/safran2022-theorem-4-1-dead",
        },
        regime="C_0 = 1, delta = 1/4, r = 2, n = 16 (epsilon 0.29); 2 for 6144 in the width (18 neurons), 1/8000 for "
        "8400 in sigma_h, sigma_o as stated; the logistic loss, up to 20,000 gradients; the error where training ends, "
        "in rationals; that the loss tends to 0 is safran2022.thm4.1",
        quantity="error over epsilon",
        kind="chance",
        chance=SURE,
        trial=partial(wide_start, to_the_limit=True),
        trains=True,
        examples=40,
        could_fail=always,
        variants=(
            Variant(
                name="hundredth",
                statement="The error is at most epsilon/100 in the limit, with probability 1.",
                conclusion=partial(generalises_at, share=0.01),
                chance=Fraction(1),
            ),
        ),
    ),
)

if __name__ == "__main__":
    run_alone(CLAIMS)
