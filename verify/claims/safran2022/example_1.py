"""Example 1 of arXiv:2205.09072, section 4.1.

    x = (4, -4), y = (1, 1), N(x) = v_1 s(w_1 x + b_1) + v_2 s(w_2 x + b_2):
        b_1 = v_1 = 1, w_1 = w_2 = b_2 = v_2 = 0 is a KKT point with |theta|^2 = 2, and no global optimum, as
        w_1 = v_1 = v_2 = 1/2, w_2 = -1/2, b_1 = b_2 = 0 fits as well, with |theta|^2 = 1

Here x = +-c for every c > sqrt(3); that the point is no local optimum either is more than the paper says.
"""

from __future__ import annotations

from fractions import Fraction

from verify.claims.conclusions import is_stationary_not_local
from verify.claims.power import always
from verify.claims.predicates import has_a_zero_neuron
from verify.claims.records import Claim, Instance, Variant
from verify.claims.safran2022.regions import is_univariate
from verify.claims.theorems import run_alone
from verify.problem.problem import Dataset, Problem
from verify.strategies import constant_networks

__all__ = ["CLAIMS"]


def _is_constant_on_a_pair(instance: Instance) -> bool:
    """Two points +-c of one label, and live neurons that are constant, positive and balanced."""
    network, data = instance.network, instance.data
    if not is_univariate(instance) or len(data) != 2 or set(data.targets) != {Fraction(1)}:
        return False
    is_pair = data.inputs[0][0] == -data.inputs[1][0] != 0
    return is_pair and all(
        w == 0 and b == v >= 0 for (w, b), v in zip(network.hidden_weights, network.output_weights, strict=True)
    )


def _is_far(instance: Instance) -> bool:
    """|x| > sqrt(3): with the bias as a coordinate the points are more than 120 degrees apart."""
    return instance.data.inputs[0][0] ** 2 > 3


def _nearer(instance: Instance) -> Instance:
    """c/(1 + c) in place of c: the constant network stays a KKT point."""
    old, c = instance.problem, abs(instance.data.inputs[0][0])
    data = Dataset([[x / (1 + c)] for (x,) in old.data.inputs], old.data.targets)
    return Instance(Problem(data, old.architecture, goal=old.goal, bias=old.bias), instance.network)


CLAIMS = (
    Claim(
        id="safran2022.ex1",
        source="arXiv:2205.09072, Example 1",
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
        could_fail=always,
        variants=(
            Variant(
                name="near",
                statement="The same of points +-c with c < 1.",
                dropped=("far",),
                instances=constant_networks().map(Instance.of).map(_nearer),
            ),
        ),
        regime="all c > sqrt(3), of which the paper's c = 4 is one; not local is more than the paper says; that the "
        "flow stays at this point is not tried",
    ),
)

if __name__ == "__main__":
    run_alone(CLAIMS)
