"""Remark 3.2 of arXiv:2110.02732, section 3.

|x_1 - (1, 1/4)|, |x_2 - (-1, 1/4)| small  ==>  as Theorem 3.2: the KKT point is no local optimum
"""

from __future__ import annotations

from verify.claims.conclusions import is_stationary_not_local
from verify.claims.power import always
from verify.claims.predicates import has_a_zero_neuron
from verify.claims.records import Claim, Instance, Variant
from verify.claims.theorems import run_alone
from verify.claims.vardi2022.settings import is_along_the_margin, is_pair
from verify.strategies import wide_pairs

__all__ = ["CLAIMS"]

CLAIMS = (
    Claim(
        id="vardi2022.rem3.2",
        source="arXiv:2110.02732, Remark 3.2",
        statement="Theorem 3.2 holds for all points near (1, 1/4), (-1, 1/4).",
        setting=is_pair,
        hypotheses={"zero-neuron": has_a_zero_neuron, "max-margin-direction": is_along_the_margin},
        conclusion=is_stationary_not_local,
        instances=wide_pairs(near=True).map(Instance.of),
        sharp={
            "zero-neuron": "max-margin/vardi2022-theorem-4-3-local-not-global",
            "max-margin-direction": "max-margin/vardi2022-theorem-3-2-tilted",
        },
        regime="near: each tangent within 1/4 of 4, height within 1/32 of 1/4, turned by at most 1/8; the KKT point, "
        "not the flow",
        could_fail=always,
        variants=(
            Variant(
                name="far",
                statement="Theorem 3.2 holds for all points, also less than 90 degrees apart.",
                instances=wide_pairs(narrow=True).map(Instance.of),
            ),
        ),
    ),
)

if __name__ == "__main__":
    run_alone(CLAIMS)
