"""Theorem 3.1 of arXiv:2110.02732, section 3.

    Phi linear, fully connected, of depth m >= 2, L(theta(t_0)) < 1
        ==>  theta(t)/|theta(t)| -> the direction of a global optimum of (2)

The second claim of each two, for m = 2 and for deeper networks, is about all KKT points of (2), min 1/2 |theta|^2
subject to y_i Phi(theta; x_i) >= 1. The paper takes from the flow that the layers are aligned; at a KKT point that
follows from the KKT conditions, which is ours.
"""

from __future__ import annotations

from fractions import Fraction

from hypothesis import strategies as st

from verify.claims.conclusions import is_global, judged
from verify.claims.decisions import is_kkt_point
from verify.claims.power import has_points
from verify.claims.predicates import is_fully_connected, is_linear, is_margin_problem
from verify.claims.records import Claim, Instance, Judgement, Variant
from verify.claims.theorems import run_alone
from verify.claims.trainings import after, has_loss_below, nearly_audited, trained
from verify.claims.vardi2022.settings import ALL_KKT_POINTS, is_homogeneous_margin_problem
from verify.strategies import (
    deep_diagonals,
    deep_linear_kkt_points,
    deep_linear_starts,
    searched_kkt_points,
    separating_starts,
)

__all__ = ["CLAIMS", "GLOBAL", "ends_global", "is_deep", "is_deep_and_dense", "is_deep_and_linear"]

GLOBAL = Fraction(1, 1000)
"""The relative gap within which the end is to be a global optimum."""


def ends_global(instance: Instance) -> Judgement:
    """The end of the flow is a global optimum within 1e-3, with a certificate for every width."""

    def is_near(end: Instance) -> Judgement:
        return judged(nearly_audited(end, GLOBAL).global_any_width)

    return after(instance, trained(instance, stop_at=1e-5), is_near)


def is_deep(instance: Instance) -> bool:
    """A max-margin problem of a network of depth >= 3 without biases."""
    return is_homogeneous_margin_problem(instance) and instance.network.architecture.depth >= 3


def is_deep_and_linear(instance: Instance) -> bool:
    """Every slope is 1."""
    return all(layer.slope in (None, 1) for layer in instance.network.architecture.layers)


def is_deep_and_dense(instance: Instance) -> bool:
    """Every unit sees every unit of the layer before, by a weight of its own."""
    layers = instance.network.architecture.layers
    return all(layer.parameter_count == layer.outputs * layer.columns and not layer.has_sharing for layer in layers)


AT_THE_START = Variant(
    name="at-the-start",
    statement="Every such network that classifies every point is a global optimum already.",
    conclusion=lambda start: judged(nearly_audited(start, GLOBAL).global_any_width),
)

CLAIMS = (
    Claim(
        id="vardi2022.thm3.1.flow",
        source="arXiv:2110.02732, Theorem 3.1",
        statement="Gradient flow of a fully connected linear network of depth 2 that classifies every point converges "
        "in direction to a global optimum.",
        setting=is_margin_problem,
        hypotheses={
            "linear": is_linear,
            "fully-connected": is_fully_connected,
            "loss-below-1": lambda instance: has_loss_below(instance, Fraction(69, 100)),
        },
        conclusion=ends_global,
        instances=separating_starts(slope=st.just(Fraction(1)), bias=False).map(lambda drawn: Instance(*drawn)),
        sharp={
            "linear": "max-margin/vardi2022-theorem-3-1-flow-relu",
            "fully-connected": "max-margin/vardi2022-theorem-4-1-linear",
            "loss-below-1": "max-margin/vardi2022-theorem-3-1-flow-saddle",
        },
        regime="a sum of losses below log 2, from margins of at least 4; the logistic loss; up to 200,000 gradients, "
        "to 1e-5; global within 1e-3 of the best objective, over all widths, with a certificate; the exponential "
        "loss is not tried",
        trains=True,
        examples=20,
        could_fail=has_points(2),
        variants=(AT_THE_START,),
    ),
    Claim(
        id="vardi2022.thm3.1",
        source="arXiv:2110.02732, Theorem 3.1",
        statement="Every KKT point of a fully connected linear network of depth 2 is a global optimum.",
        setting=is_margin_problem,
        hypotheses={"linear": is_linear, "fully-connected": is_fully_connected, "kkt": is_kkt_point},
        conclusion=is_global,
        instances=searched_kkt_points(slopes=(Fraction(1),), masks=False).map(Instance.of),
        sharp={
            "linear": "max-margin/vardi2022-theorem-3-2",
            "fully-connected": "max-margin/vardi2022-theorem-4-1-linear",
            "kkt": "max-margin/vardi2022-theorem-3-1-tilted",
        },
        regime=f"depth 2 (deeper: vardi2022.thm3.1.deep); {ALL_KKT_POINTS}: the paper speaks of these only",
        examples=100,
        could_fail=has_points(2),
        variants=(
            Variant(
                name="relu",
                statement="Every KKT point of a fully connected ReLU network of depth 2 is a global optimum.",
                dropped=("linear",),
                instances=searched_kkt_points(masks=False).map(Instance.of),
            ),
        ),
    ),
    Claim(
        id="vardi2022.thm3.1.deep.flow",
        source="arXiv:2110.02732, Theorem 3.1",
        statement="Gradient flow of a fully connected linear network of depth >= 3 that classifies every point "
        "converges in direction to a global optimum.",
        setting=is_deep,
        hypotheses={
            "linear": is_deep_and_linear,
            "fully-connected": is_deep_and_dense,
            "loss-below-1": lambda instance: has_loss_below(instance, Fraction(69, 100)),
        },
        conclusion=ends_global,
        instances=deep_linear_starts().map(lambda drawn: Instance(*drawn)),
        sharp={
            "linear": "max-margin/vardi2022-theorem-3-1-deep-flow-relu",
            "fully-connected": "max-margin/diagonal-depth-3-of-ones",
            "loss-below-1": "max-margin/vardi2022-theorem-3-1-deep-flow-saddle",
        },
        regime="depth 3 and 4, up to 3 units in a layer; as vardi2022.thm3.1.flow, global among all fully connected "
        "linear networks of the depth",
        trains=True,
        examples=20,
        could_fail=has_points(2),
        variants=(AT_THE_START,),
    ),
    Claim(
        id="vardi2022.thm3.1.deep",
        source="arXiv:2110.02732, Theorem 3.1",
        statement="Every KKT point of a fully connected linear network of depth >= 3 is a global optimum.",
        setting=is_deep,
        hypotheses={"linear": is_deep_and_linear, "fully-connected": is_deep_and_dense, "kkt": is_kkt_point},
        conclusion=is_global,
        instances=deep_linear_kkt_points().map(Instance.of),
        sharp={
            "linear": "max-margin/deep-unused-unit",
            "fully-connected": "max-margin/diagonal-depth-3-of-ones",
            "kkt": "max-margin/linear-depth-3-unbalanced",
        },
        regime=f"depth 3 to 5, up to 3 units in a layer; {ALL_KKT_POINTS}: the paper speaks of these only; drawn are "
        "aligned layers of rank 1, as the KKT conditions make them",
        could_fail=has_points(2),
        variants=(
            Variant(
                name="sparse",
                statement="Every KKT point of a network of depth >= 3 is a global optimum.",
                dropped=("linear", "fully-connected"),
                instances=deep_diagonals().map(Instance.of),
            ),
        ),
    ),
)

if __name__ == "__main__":
    run_alone(CLAIMS)
