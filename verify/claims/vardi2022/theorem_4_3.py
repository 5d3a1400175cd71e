"""Theorem 4.3 of arXiv:2110.02732, section 4.

    Phi ReLU of depth 2, no shared weights, theta a KKT point, w_j.x_i != 0 for all i and j (over what neuron j sees)
        ==>  theta is a local optimum of  min 1/2 |theta|^2 subject to y_i Phi(theta; x_i) >= 1,
             and for some data, start and theta no global one

of its width: the second claim. The third is ours: for linear networks it would be a global one (Theorem 4.2 (1)).
"""

from __future__ import annotations

from fractions import Fraction

from verify.claims.conclusions import is_global_of_width, is_local, is_local_not_global
from verify.claims.decisions import is_kkt_point, is_local_optimum
from verify.claims.power import always, has_points
from verify.claims.predicates import (
    has_no_zero_neuron,
    has_no_zero_preactivation,
    is_linear,
    is_margin_problem,
    is_relu,
    is_wide_angle,
)
from verify.claims.records import Claim, Instance, Variant
from verify.claims.theorems import run_alone
from verify.claims.vardi2022.settings import ALL_KKT_POINTS, is_along_the_margin, is_pair
from verify.strategies import searched_kkt_points, tied_pairs, wide_pairs

__all__ = ["CLAIMS", "is_relu_margin_problem"]


def is_relu_margin_problem(instance: Instance) -> bool:
    """Max-margin, ReLU, no bias, any masks."""
    return is_margin_problem(instance) and is_relu(instance)


CLAIMS = (
    Claim(
        id="vardi2022.thm4.3",
        source="arXiv:2110.02732, Theorem 4.3",
        statement="A KKT point of a ReLU network with any masks and no preactivation 0 is a local optimum.",
        setting=is_relu_margin_problem,
        hypotheses={
            "nonzero-weights": has_no_zero_neuron,
            "nonzero-preactivations": has_no_zero_preactivation,
            "kkt": is_kkt_point,
        },
        conclusion=is_local,
        instances=searched_kkt_points(ties=False, zeros=False).map(Instance.of),
        sharp={
            "nonzero-preactivations": "max-margin/tie-needs-clarke",
            "kkt": "max-margin/vardi2022-theorem-4-3-not-stationary",
        },
        regime=f"{ALL_KKT_POINTS}; non-zero weights follow from non-zero preactivations, and are what is left without "
        "them",
        could_fail=has_points(2),
        variants=(
            Variant(
                name="kinks",
                statement="A KKT point of a ReLU network with any masks and no zero neuron is a local optimum.",
                dropped=("nonzero-preactivations",),
                instances=tied_pairs().map(Instance.of),
            ),
            Variant(
                name="global",
                statement="A KKT point of a ReLU network with any masks and no preactivation 0 is a global optimum of "
                "its width.",
                conclusion=is_global_of_width,
            ),
        ),
    ),
    Claim(
        id="vardi2022.thm4.3.not-global",
        source="arXiv:2110.02732, Theorem 4.3",
        statement="Without preactivations 0, neurons along the max-margin direction of two points more than 120 "
        "degrees apart are a local optimum and no global one of their width.",
        setting=is_pair,
        hypotheses={
            "nonzero-preactivations": has_no_zero_preactivation,
            "max-margin-direction": is_along_the_margin,
            "wide-angle": is_wide_angle,
        },
        conclusion=is_local_not_global,
        instances=wide_pairs(splits=True).map(Instance.of),
        without={"wide-angle": wide_pairs(splits=True, narrow=True).map(Instance.of)},
        sharp={
            "nonzero-preactivations": "max-margin/vardi2022-theorem-3-2",
            "max-margin-direction": "max-margin/vardi2022-theorem-4-3-not-stationary",
            "wide-angle": "max-margin/vardi2022-theorem-4-3-right-angle",
        },
        regime="the existence that the theorem states, as a family; 2 to 4 neurons; angles from 126 degrees on; not "
        "the flow",
        could_fail=always,
        variants=(
            Variant(
                name="narrow",
                statement="The same of points less than 90 degrees apart.",
                dropped=("wide-angle",),
                instances=wide_pairs(splits=True, narrow=True).map(Instance.of),
            ),
        ),
    ),
    Claim(
        id="vardi2022.thm4.3.linear",
        source="arXiv:2110.02732, Theorem 4.3 beside Theorem 4.2 (1)",
        statement="A local optimum of a linear network without preactivations 0 is a global one of its width.",
        setting=lambda instance: is_margin_problem(instance) and instance.slope in (0, 1),
        hypotheses={
            "linear": is_linear,
            "nonzero-preactivations": has_no_zero_preactivation,
            "local": is_local_optimum,
        },
        conclusion=is_global_of_width,
        instances=searched_kkt_points(slopes=(Fraction(1),), ties=False, zeros=False).map(Instance.of),
        sharp={
            "linear": "max-margin/vardi2022-theorem-4-3-local-not-global",
            "local": "max-margin/vardi2022-theorem-4-1-both-live",
        },
        regime="a consequence of Theorem 4.2 (1); slope 0 or 1; without 'linear' a counterexample is what Theorem "
        "4.3 says there is for ReLU: a local optimum that is not global",
        examples=100,
        could_fail=has_points(2),
        variants=(
            Variant(
                name="relu",
                statement="A local optimum of a ReLU network without preactivations 0 is a global one of its width.",
                dropped=("linear",),
                instances=wide_pairs(splits=True).map(Instance.of),
            ),
        ),
    ),
)

if __name__ == "__main__":
    run_alone(CLAIMS)
