"""Safran, Vardi, Lee: On the Effective Number of Linear Regions in Shallow Univariate ReLU Networks (arXiv:2205.09072).

Univariate networks whose hidden biases count in the norm.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

from verify.claims.asking import is_kkt_point
from verify.claims.conclusions import is_stationary_not_local
from verify.claims.predicates import has_a_zero_neuron, is_relu
from verify.claims.records import Claim, Instance, Judgement, failed, held
from verify.problem import Bias, Goal
from verify.strategies import constant_networks, searched_kkt_points

__all__ = ["CLAIMS", "linear_regions", "switches"]

_PAPER = "arXiv:2205.09072, "


def _is_univariate(instance: Instance) -> bool:
    """Max-margin on a line, ReLU, a penalised bias."""
    problem = instance.problem
    is_penalised = problem.goal is Goal.MAX_MARGIN and problem.bias is Bias.PENALISED
    return is_penalised and instance.data.dimension == 1 and is_relu(instance)


def _is_constant_on_a_pair(instance: Instance) -> bool:
    """Two points +-c of one label, and live neurons that are constant, positive and balanced."""
    network, data = instance.network, instance.data
    if not _is_univariate(instance) or len(data) != 2 or set(data.targets) != {Fraction(1)}:
        return False
    is_pair = data.inputs[0][0] == -data.inputs[1][0] != 0
    return is_pair and all(
        w == 0 and b == v >= 0 for (w, b), v in zip(network.hidden_weights, network.output_weights, strict=True)
    )


def _is_far(instance: Instance) -> bool:
    """|x| > sqrt(3): with the bias as a coordinate the points are more than 120 degrees apart."""
    return instance.data.inputs[0][0] ** 2 > 3


def switches(instance: Instance) -> int:
    """How often the labels change along the line."""
    labels = [y for _, y in sorted(zip(instance.data.inputs, instance.data.targets, strict=True))]
    return sum(a != b for a, b in pairwise(labels))


def linear_regions(instance: Instance) -> int:
    """The number of linear pieces of f: breakpoints -b_j/w_j at which the slopes do not cancel, and one."""
    network = instance.network
    changes: dict[Fraction, Fraction] = {}
    for (w, b), v in zip(network.hidden_weights, network.output_weights, strict=True):
        if w:
            changes[-b / w] = changes.get(-b / w, Fraction(0)) + v * abs(w) * (1 - instance.slope)
    return 1 + sum(1 for change in changes.values() if change)


def _has_few_regions(instance: Instance) -> Judgement:
    count, bound = linear_regions(instance), 32 * switches(instance) + 67
    text = f"{count} linear regions, the bound is {bound}"
    return held(text, measured=count) if count <= bound else failed(text, measured=count)


CLAIMS = (
    Claim(
        id="safran2022.ex1",
        source=f"{_PAPER}Example 1",
        statement="For points +-c with c > sqrt(3), a constant neuron and a zero neuron are a KKT point and neither a "
        "global nor a local optimum.",
        setting=_is_constant_on_a_pair,
        hypotheses={"far": _is_far, "zero-neuron": has_a_zero_neuron},
        conclusion=is_stationary_not_local,
        instances=constant_networks().map(Instance.of),
        sharp={
            "far": "max-margin/penalised-bias-scale-just-below",
            "zero-neuron": "max-margin/safran2022-example-1-split",
        },
        regime="all c > sqrt(3), of which the paper's c = 4 is one; not local is more than the paper says",
    ),
    Claim(
        id="safran2022.thm4.2",
        source=f"{_PAPER}Theorem 4.2",
        statement="A KKT point has at most 32 r + 67 linear regions when the labels change r times.",
        setting=_is_univariate,
        hypotheses={"kkt": is_kkt_point},
        conclusion=_has_few_regions,
        instances=searched_kkt_points(bias=Bias.PENALISED, dimension=1, neurons=4).map(Instance.of),
        sharp={"kkt": "max-margin/safran2022-theorem-4-2-not-stationary"},
        regime="all KKT points with up to 4 neurons, of which the limits of gradient flow are some; r = the number of "
        "changes, at most the width of a teacher; so few neurons are far from the bound",
        quantity="linear regions",
        group=switches,
    ),
    *(
        Claim(id=f"safran2022.{name}", source=f"{_PAPER}{place}", statement=statement, needs="training")
        for name, place, statement in (
            ("thm4.1", "Theorem 4.1", "Loss below 1/n: the flow converges in direction to a KKT point."),
            ("thm3.1", "Theorem 3.1", "With enough width some loss is at most 1/(2n), with high probability."),
            ("thm3.2", "Theorem 3.2", "Width below 1.3 r fails with probability at least 1/4."),
            ("cor5.1", "Corollary 5.1", "O(r) linear regions bound the error on new points."),
            ("thm2.3", "Theorem 2.3", "Training to the limit bounds the error on new points."),
        )
    ),
)
