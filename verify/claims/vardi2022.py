"""Vardi, Shamir, Srebro: On Margin Maximization in Linear and ReLU Networks (arXiv:2110.02732).

The theorems speak of the limits of gradient flow, which are KKT points. What their proofs take from the flow is just
that, so the positive results are tested at KKT points of all kinds, and the negative ones at the points in question.
"""

from __future__ import annotations

from fractions import Fraction

from verify.claims.asking import audited, is_kkt_point
from verify.claims.conclusions import is_global, is_local, is_local_not_global, is_stationary_not_local
from verify.claims.exact_programs import least_l1_norm, least_norm
from verify.claims.predicates import (
    has_a_zero_neuron,
    has_no_zero_neuron,
    has_no_zero_preactivation,
    is_fully_connected,
    is_linear,
    is_margin_problem,
    is_relu,
    is_wide_angle,
)
from verify.claims.records import Claim, Instance, Judgement, failed, held, undecided
from verify.exact import dot
from verify.problem import objective, outputs
from verify.statement import pattern
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
_RATIOS = (10, 1000, 10**6)


def _is_pair(instance: Instance) -> bool:
    """Two points of one label, ReLU."""
    is_alike = len(instance.data) == 2 and len(set(instance.data.targets)) == 1
    return is_alike and is_relu(instance) and is_margin_problem(instance)


def _is_along_the_margin(instance: Instance) -> bool:
    """Every live neuron is balanced, and along the max-margin direction of the points."""
    rows = [[y * x for x in row] for row, y in zip(instance.data.inputs, instance.data.targets, strict=True)]
    found = least_norm([], [], rows, [Fraction(1)] * len(rows))
    if found is None:
        return False
    best, network = found[0], instance.network
    live = [(w, v) for w, v in zip(network.hidden_weights, network.output_weights, strict=True) if v]
    return bool(live) and all(
        v * v == dot(w, w) and (size := dot(w, best)) > 0 and size * size == dot(w, w) * dot(best, best)
        for w, v in live
    )


def _smallest(instance: Instance) -> Fraction:
    """e of points (1, e), (-1, e)."""
    return instance.data.inputs[0][1]


def _is_symmetric_pair(instance: Instance) -> bool:
    (a, e), (b, f) = instance.data.inputs if instance.data.dimension == 2 else ((0, 0), (0, 1))
    return _is_pair(instance) and (a, b) == (1, -1) and e == f > 0


def _ratio(instance: Instance) -> int:
    return max((m for m in _RATIOS if 21 * m * m * _smallest(instance) <= 10), default=_RATIOS[0])


def _has_large_ratio(instance: Instance) -> Judgement:
    """||theta|| >= M ||theta*|| for the largest M of 10, 10^3, 10^6 that the angle allows, from both ends."""
    mine, bracket, ratio = objective(instance.problem, instance.network), audited(instance).bracket, _ratio(instance)
    if mine is None:
        return failed("the network does not fit")
    if bracket is None:
        return undecided("the best objective has no bracket")
    low, high = bracket
    if mine >= ratio * ratio * high:
        return held(f"the norm is at least {ratio} times the least", measured=ratio)
    if mine < ratio * ratio * low:
        return failed(f"the norm is less than {ratio} times the least")
    return undecided(f"the bracket is too wide for the ratio {ratio}")


def _is_diagonal(instance: Instance) -> bool:
    """Neuron j sees one coordinate, each another one."""
    shape = instance.network.architecture
    return (
        is_margin_problem(instance)
        and all(len(mask) == 1 for mask in shape.masks)
        and (sorted(mask[0] for mask in shape.masks) == list(range(shape.inputs)))
    )


def _is_diagonal_point(instance: Instance) -> bool:
    return _is_diagonal(instance) and len(instance.data) == 1 and instance.slope in (0, 1)


def _has_one_live_neuron(instance: Instance) -> bool:
    """One neuron is live and balanced; all others have only weights 0."""
    network = instance.network
    sizes = [(dot(w, w), v * v) for w, v in zip(network.hidden_weights, network.output_weights, strict=True)]
    return all(w == v for w, v in sizes) and sum(v > 0 for _, v in sizes) == 1


def _sees_the_smaller(instance: Instance) -> bool:
    """Some coordinate of the point is larger than one that a live neuron sees."""
    network, (x,) = instance.network, instance.data.inputs
    seen = [mask[0] for mask, v in zip(network.architecture.masks, network.output_weights, strict=True) if v]
    largest = max((value if is_relu(instance) else abs(value)) for value in x)
    return bool(seen) and largest > min(abs(x[c]) for c in seen)


def _is_l1_optimal(instance: Instance) -> Judgement:
    """The predictor at margin 1 has the least l1 norm, in rationals, by the simplex method."""
    network, data = instance.network, instance.data
    predictor = [dot(network.output_weights, column) for column in zip(*network.hidden_weights, strict=True)]
    margin = min(y * value for y, value in zip(data.targets, outputs(instance.problem, network), strict=True))
    if margin <= 0:
        return failed("the network does not fit")
    mine = sum(map(abs, predictor), Fraction(0)) / margin
    best = least_l1_norm([[y * x for x in row] for row, y in zip(data.inputs, data.targets, strict=True)])
    if best is None:
        return undecided("the linear program has no solution, though the network is one")
    return held(f"l1 norm {best}") if mine == best else failed(f"l1 norm {mine}, the least is {best}")


def _has_a_kink(instance: Instance) -> bool:
    """A point is on the kink of a live neuron."""
    signs = pattern(instance.problem, instance.network)
    return any(v and 0 in row for row, v in zip(signs, instance.network.output_weights, strict=True))


def _is_plane_relu(instance: Instance) -> bool:
    is_plane = instance.data.dimension == 2 and is_fully_connected(instance) and is_relu(instance)
    return is_plane and is_margin_problem(instance) and has_no_zero_neuron(instance)


def _is_linear_diagonal(instance: Instance) -> bool:
    return _is_diagonal(instance) and is_linear(instance)


def _is_relu_margin_problem(instance: Instance) -> bool:
    return is_margin_problem(instance) and is_relu(instance)


_OURS = "max-margin/vardi2022-"

CLAIMS = (
    Claim(
        id="vardi2022.thm2.1",
        source=f"{_PAPER}Theorem 2.1",
        statement="Gradient flow that classifies every point converges in direction to a KKT point.",
        needs="training",
        kind="trained",
    ),
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
        setting=_is_pair,
        hypotheses={
            "zero-neuron": has_a_zero_neuron,
            "max-margin-direction": _is_along_the_margin,
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
        id="vardi2022.thm3.2.flow",
        source=f"{_PAPER}Theorem 3.2",
        statement="From the stated signs of the initial weights gradient flow converges to that point.",
        needs="training",
        kind="trained",
    ),
    Claim(
        id="vardi2022.rem3.1",
        source=f"{_PAPER}Remark 3.1",
        statement="As the angle tends to pi, the norm of the KKT point is M times the least one, for M = 10, 10^3, "
        "10^6.",
        setting=_is_symmetric_pair,
        hypotheses={"near-pi": lambda instance: 21 * _RATIOS[0] ** 2 * _smallest(instance) <= 10},
        conclusion=_has_large_ratio,
        instances=far_pairs(_RATIOS).map(Instance.of),
        sharp={"near-pi": f"{_OURS}theorem-3-2"},
        regime="points (1, e), (-1, e) with 21 M^2 e <= 10",
        quantity="M",
    ),
    Claim(
        id="vardi2022.rem3.2",
        source=f"{_PAPER}Remark 3.2",
        statement="Theorem 3.2 holds for all points near (1, 1/4), (-1, 1/4).",
        setting=_is_pair,
        hypotheses={"zero-neuron": has_a_zero_neuron, "max-margin-direction": _is_along_the_margin},
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
        setting=_is_diagonal_point,
        hypotheses={"one-live-neuron": _has_one_live_neuron, "smaller-coordinate": _sees_the_smaller},
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
        setting=_is_plane_relu,
        hypotheses={"kink": _has_a_kink},
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
        setting=_is_linear_diagonal,
        hypotheses={"nonzero-weights": has_no_zero_neuron, "kkt": is_kkt_point},
        conclusion=_is_l1_optimal,
        instances=linear_kkt_points(diagonal=True).map(Instance.of),
        sharp={"nonzero-weights": f"{_OURS}theorem-4-1-linear", "kkt": f"{_OURS}theorem-4-1-both-live"},
        regime=_FLOW,
    ),
    Claim(
        id="vardi2022.thm4.3",
        source=f"{_PAPER}Theorem 4.3",
        statement="A KKT point of a ReLU network with any masks and no preactivation 0 is a local optimum.",
        setting=_is_relu_margin_problem,
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
        setting=_is_pair,
        hypotheses={
            "nonzero-preactivations": has_no_zero_preactivation,
            "max-margin-direction": _is_along_the_margin,
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
