"""Where gradient flow arrives: the theorems of arXiv:2110.02732 about limits, from starts on which they speak."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import strategies as st

from verify.claims.predicates import is_fully_connected, is_linear, is_margin_problem
from verify.claims.records import Claim, Instance
from verify.claims.trainings import ends_stationary, has_loss_below
from verify.claims.vardi2022.pair_flows import (
    arrives_at_the_tie,
    arrives_upwards,
    ends_global,
    has_a_positive_output,
    is_a_small_two_neuron_start,
    is_first_on,
    is_second_off,
    is_turned_onto_the_second,
    is_two_neuron_tie,
)
from verify.strategies import dead_neuron_starts, separating_starts, tilted_pairs

__all__ = ["FLOWS"]

_PAPER = "arXiv:2110.02732, "
_OURS = "max-margin/vardi2022-theorem-"

FLOWS = (
    Claim(
        id="vardi2022.thm2.1",
        source=f"{_PAPER}Theorem 2.1",
        statement="Gradient flow that classifies every point converges in direction to a KKT point.",
        hypotheses={"loss-below-1": lambda instance: has_loss_below(instance, Fraction(69, 100))},
        conclusion=ends_stationary,
        instances=separating_starts().map(lambda drawn: Instance(*drawn)),
        sharp={"loss-below-1": "max-margin/lyu2021-theorem-3-1-dead"},
        regime="a sum of losses below log 2; networks of depth 2 without masks; up to 200,000 gradients, to 5e-4 or an "
        "activation pattern that has settled; a KKT point up to 1e-3, or an exact one within 1e-3, with a certificate",
        trains=True,
        examples=20,
    ),
    Claim(
        id="vardi2022.thm3.1.flow",
        source=f"{_PAPER}Theorem 3.1",
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
            "linear": f"{_OURS}3-1-flow-relu",
            "fully-connected": f"{_OURS}4-1-linear",
            "loss-below-1": f"{_OURS}3-1-flow-saddle",
        },
        regime="a sum of losses below log 2; the logistic loss; up to 200,000 gradients, to 1e-5; global within 1e-3 "
        "of the best objective, over all widths, with a certificate",
        trains=True,
        examples=20,
    ),
    Claim(
        id="vardi2022.thm3.2.flow",
        source=f"{_PAPER}Theorem 3.2",
        statement="For (1, 1/4), (-1, 1/4) and a first neuron on at both, a second off at both, and v_1 > 0, gradient "
        "flow converges in direction to w_1 = (0, 2), v_1 = 2 and a zero neuron, which is no local optimum.",
        setting=is_a_small_two_neuron_start,
        hypotheses={
            "first-on": is_first_on,
            "second-off": is_second_off,
            "positive-output": has_a_positive_output,
        },
        conclusion=arrives_upwards,
        instances=dead_neuron_starts().map(lambda drawn: Instance(*drawn)),
        sharp={
            "first-on": f"{_OURS}3-2-flow-half-on",
            "second-off": f"{_OURS}3-2-flow-second-on",
            "positive-output": f"{_OURS}3-2-flow-negative-output",
        },
        regime="starts of norm at most 1e-7, as the second neuron never moves; both losses, until the direction is "
        "within 1e-6; the audit of the trained network decides",
        quantity="growth of the norm",
        trains=True,
        examples=20,
    ),
    Claim(
        id="vardi2022.thm4.2.2.flow",
        source=f"{_PAPER}Theorem 4.2 (2)",
        statement="Gradient flow converges in direction to such a point, without zero neurons, from starts near it at "
        "which the neurons of the kink are on.",
        setting=is_two_neuron_tie,
        hypotheses={"on-at-the-kink": is_turned_onto_the_second},
        conclusion=arrives_at_the_tie,
        instances=tilted_pairs().map(lambda drawn: Instance(*drawn)),
        sharp={"on-at-the-kink": f"{_OURS}4-2-2-flow-off"},
        regime="two points and 2 to 4 neurons of two directions (the paper's own are in its appendix); "
        "starts of margin at least 16, turned from the point by a tangent of 1/8 to 1/2, multipliers within a factor "
        "of 4; both losses, until the direction is within 1e-3; the verdicts are about the exact point",
        quantity="norm at the end",
        trains=True,
        examples=20,
    ),
)
