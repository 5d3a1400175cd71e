"""Vardi, Shamir, Srebro: On Margin Maximization in Linear and ReLU Networks (arXiv:2110.02732).

The theorems speak of the limits of gradient flow, which are KKT points. What their proofs take from the flow is just
that, so the positive results are tested at KKT points of all kinds, and the negative ones at the points in question.
"""

from __future__ import annotations

from fractions import Fraction

from verify.claims.asking import is_kkt_point, is_local_optimum
from verify.claims.conclusions import (
    is_global,
    is_global_of_its_width,
    is_local,
    is_local_not_global,
    is_stationary_not_local,
)
from verify.claims.pairs_and_diagonals import (
    RATIOS,
    has_a_kink,
    has_large_ratio,
    has_one_live_neuron,
    is_along_the_margin,
    is_diagonal_point,
    is_l1_optimal,
    is_linear_diagonal,
    is_pair,
    is_plane_relu,
    is_relu_margin_problem,
    is_symmetric_pair,
    sees_the_smaller,
    smallest,
)
from verify.claims.predicates import (
    has_a_zero_neuron,
    has_no_zero_neuron,
    has_no_zero_preactivation,
    is_fully_connected,
    is_linear,
    is_margin_problem,
    is_wide_angle,
)
from verify.claims.records import Claim, Instance
from verify.claims.vardi2022.flows import FLOWS
from verify.strategies import (
    far_pairs,
    linear_kkt_points,
    searched_kkt_points,
    tied_pairs,
    unequal_diagonals,
    wide_pairs,
)

__all__ = ["CLAIMS", "TABLES"]

_PAPER = "arXiv:2110.02732, "
_FLOW = "all KKT points, of which the limits of gradient flow are some"
_OURS = "max-margin/vardi2022-"

CLAIMS = (
    *FLOWS,
    Claim(
        id="vardi2022.thm3.1",
        source=f"{_PAPER}Theorem 3.1",
        statement="Every KKT point of a fully connected linear network of depth 2 is a global optimum.",
        setting=is_margin_problem,
        hypotheses={"linear": is_linear, "fully-connected": is_fully_connected, "kkt": is_kkt_point},
        conclusion=is_global,
        instances=searched_kkt_points(slopes=(Fraction(1),), masks=False).map(Instance.of),
        sharp={
            "linear": f"{_OURS}theorem-3-2",
            "fully-connected": f"{_OURS}theorem-4-1-linear",
            "kkt": f"{_OURS}theorem-3-1-tilted",
        },
        regime=f"depth 2 (deeper: vardi2022.thm3.1.deep); {_FLOW}",
    ),
    Claim(
        id="vardi2022.thm3.1.deep",
        source=f"{_PAPER}Theorem 3.1",
        statement="Every KKT point of gradient flow on a fully connected linear network of depth >= 3 is global.",
        needs="depth >= 3",
    ),
    Claim(
        id="vardi2022.thm3.2",
        source=f"{_PAPER}Theorem 3.2",
        statement="For points more than 120 degrees apart, one neuron along their max-margin direction and a zero "
        "neuron are a KKT point and no local optimum.",
        setting=is_pair,
        hypotheses={
            "zero-neuron": has_a_zero_neuron,
            "max-margin-direction": is_along_the_margin,
            "wide-angle": is_wide_angle,
        },
        conclusion=is_stationary_not_local,
        instances=wide_pairs().map(Instance.of),
        without={"wide-angle": wide_pairs(narrow=True).map(Instance.of)},
        sharp={
            "zero-neuron": f"{_OURS}theorem-4-3-local-not-global",
            "max-margin-direction": f"{_OURS}theorem-3-2-tilted",
            "wide-angle": f"{_OURS}theorem-3-2-right-angle",
        },
        regime="all pairs in the plane beyond 120 degrees, of which the paper's (1, 1/4), (-1, 1/4) is one; that "
        "gradient flow arrives there is vardi2022.thm3.2.flow",
    ),
    Claim(
        id="vardi2022.rem3.1",
        source=f"{_PAPER}Remark 3.1",
        statement="As the angle tends to pi, the norm of the KKT point is at least M times the least one, for M = 10, "
        "10^3, 10^6.",
        setting=is_symmetric_pair,
        hypotheses={"near-pi": lambda instance: 21 * RATIOS[0] ** 2 * smallest(instance) <= 10},
        conclusion=has_large_ratio,
        instances=far_pairs(RATIOS).map(Instance.of),
        sharp={"near-pi": f"{_OURS}theorem-3-2"},
        regime="points (1, e), (-1, e) with 21 M^2 e <= 10",
        quantity="M",
    ),
    Claim(
        id="vardi2022.rem3.2",
        source=f"{_PAPER}Remark 3.2",
        statement="Theorem 3.2 holds for all points near (1, 1/4), (-1, 1/4).",
        setting=is_pair,
        hypotheses={"zero-neuron": has_a_zero_neuron, "max-margin-direction": is_along_the_margin},
        conclusion=is_stationary_not_local,
        instances=wide_pairs(near=True).map(Instance.of),
        sharp={
            "zero-neuron": f"{_OURS}theorem-4-3-local-not-global",
            "max-margin-direction": f"{_OURS}theorem-3-2-tilted",
        },
        regime="near: each tangent within 1/4 of 4, height within 1/32 of 1/4, turned by at most 1/8",
    ),
    Claim(
        id="vardi2022.thm4.1",
        source=f"{_PAPER}Theorem 4.1",
        statement="A diagonal network, linear or ReLU, with its weight on a smaller coordinate of the only point is a "
        "KKT point and no local optimum.",
        setting=is_diagonal_point,
        hypotheses={"one-live-neuron": has_one_live_neuron, "smaller-coordinate": sees_the_smaller},
        conclusion=is_stationary_not_local,
        instances=unequal_diagonals().map(Instance.of),
        sharp={
            "one-live-neuron": f"{_OURS}theorem-4-1-both-live",
            "smaller-coordinate": f"{_OURS}theorem-4-1-larger",
        },
        regime="points of dimension 2 to 4, of which the paper's (1, 2) is one; not the flow",
    ),
    Claim(
        id="vardi2022.thm4.2.1",
        source=f"{_PAPER}Theorem 4.2 (1)",
        statement="A KKT point of a linear network with any masks and no zero neuron is a global optimum.",
        setting=is_margin_problem,
        hypotheses={"linear": is_linear, "nonzero-weights": has_no_zero_neuron, "kkt": is_kkt_point},
        conclusion=is_global,
        instances=linear_kkt_points().map(Instance.of),
        sharp={
            "linear": f"{_OURS}theorem-4-3-local-not-global",
            "nonzero-weights": f"{_OURS}theorem-4-1-linear",
            "kkt": f"{_OURS}theorem-4-1-both-live",
        },
        regime=_FLOW,
    ),
    Claim(
        id="vardi2022.thm4.2.2",
        source=f"{_PAPER}Theorem 4.2 (2)",
        statement="Fully connected ReLU networks in the plane without zero neurons, with a point on a kink that needs "
        "slope 1, are KKT points and no local optima: two neurons suffice.",
        setting=is_plane_relu,
        hypotheses={"kink": has_a_kink},
        conclusion=is_stationary_not_local,
        instances=tied_pairs().map(Instance.of),
        sharp={"kink": f"{_OURS}theorem-4-3-local-not-global"},
        regime="orthonormal directions, 2 to 4 neurons (the paper has 4); not the flow",
    ),
    Claim(
        id="vardi2022.rem4.1",
        source=f"{_PAPER}Remark 4.1",
        statement="The predictor of a KKT point without zero neurons of a linear diagonal network has the least l1 "
        "norm at margin 1.",
        setting=is_linear_diagonal,
        hypotheses={"nonzero-weights": has_no_zero_neuron, "kkt": is_kkt_point},
        conclusion=is_l1_optimal,
        instances=linear_kkt_points(diagonal=True).map(Instance.of),
        sharp={"nonzero-weights": f"{_OURS}theorem-4-1-linear", "kkt": f"{_OURS}theorem-4-1-both-live"},
        regime=_FLOW,
    ),
    Claim(
        id="vardi2022.thm4.3",
        source=f"{_PAPER}Theorem 4.3",
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
            "kkt": f"{_OURS}theorem-4-3-not-stationary",
        },
        regime=f"{_FLOW}; non-zero weights follow from non-zero preactivations, and are what is left without them",
    ),
    Claim(
        id="vardi2022.thm4.3.not-global",
        source=f"{_PAPER}Theorem 4.3",
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
            "nonzero-preactivations": f"{_OURS}theorem-3-2",
            "max-margin-direction": f"{_OURS}theorem-4-3-not-stationary",
            "wide-angle": f"{_OURS}theorem-4-3-right-angle",
        },
        regime="the existence that the theorem states, as a family; 2 to 4 neurons",
    ),
    Claim(
        id="vardi2022.thm4.3.linear",
        source=f"{_PAPER}Theorem 4.3 beside Theorem 4.2 (1)",
        statement="A local optimum of a linear network without preactivations 0 is a global one of its width.",
        setting=lambda instance: is_margin_problem(instance) and instance.slope in (0, 1),
        hypotheses={
            "linear": is_linear,
            "nonzero-preactivations": has_no_zero_preactivation,
            "local": is_local_optimum,
        },
        conclusion=is_global_of_its_width,
        instances=searched_kkt_points(slopes=(Fraction(1),), ties=False, zeros=False).map(Instance.of),
        sharp={"linear": f"{_OURS}theorem-4-3-local-not-global", "local": f"{_OURS}theorem-4-1-both-live"},
        regime="slope 0 or 1; without 'linear' a counterexample is what Theorem 4.3 says there is for ReLU: a local "
        "optimum that is not global",
    ),
    *(
        Claim(id=f"vardi2022.{name}", source=f"{_PAPER}Theorem {name[3:]}", statement=statement, needs=needs)
        for name, statement, needs in (
            ("thm4.4", "A convolutional network of depth 2 with non-zero inputs can be KKT and not local.", "sharing"),
            ("thm5.1", "Diagonal networks of depth m >= 3 can be KKT and not local.", "depth >= 3"),
            ("thm5.2", "At a KKT point of a linear network every layer is globally optimal by itself.",
             "sharing, depth >= 3 and problems of single layers"),
            ("thm5.3", "At a KKT point of a ReLU network of depth 2 the first layer need not be locally optimal.",
             "problems of single layers"),
            ("thm5.4", "With non-zero inputs from layer l on, layer l is locally optimal, not always globally.",
             "sharing, depth >= 3 and problems of single layers"),
        )
    ),
)  # fmt: skip

_DEEP, _SPARSE = "N, non-zero inputs", "no sharing, non-zero inputs"
TABLES = {
    "Table 1: depth 2": {
        "fully connected": (("Global", "vardi2022.thm3.1"), ("Not local", "vardi2022.thm3.2")),
        "no sharing": (("Not local", "vardi2022.thm4.1"), ("Not local", "vardi2022.thm3.2")),
        "no sharing, non-zero weights": (("Global", "vardi2022.thm4.2.1"), ("Not local", "vardi2022.thm4.2.2")),
        _SPARSE: (
            ("Global", "vardi2022.thm4.2.1"),
            ("Local, not global", "vardi2022.thm4.3", "vardi2022.thm4.3.not-global"),
        ),
        _DEEP: (("Not local", "vardi2022.thm4.4"), ("Not local", "vardi2022.thm4.4")),
    },
    "Table 2: deep networks": {
        "fully connected": (("Global", "vardi2022.thm3.1.deep"), ("Not local", "vardi2022.thm3.2")),
        _SPARSE: (("Not local", "vardi2022.thm5.1"), ("Not local", "vardi2022.thm5.1")),
        "N, each layer by itself": (("Global", "vardi2022.thm5.2"), ("Not local", "vardi2022.thm5.3")),
        "N, each layer by itself, non-zero inputs": (
            ("Global", "vardi2022.thm5.2"),
            ("Local, not global", "vardi2022.thm5.4"),
        ),
    },
}
"""The paper's tables: row -> (linear, ReLU), each what the paper says and the claims that stand for it."""
