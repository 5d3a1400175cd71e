"""Proposition 2 of arXiv:2306.06479, section 3.

    for each active j: the yardstick alpha_j meets the kinks of the points i with s_j z_j.x_i < 0, each once, one by
    one, at tau^1 < tau^2 < .., and no others

under Assumption 1. The yardstick is what w_j would be without the network's outputs: d alpha/dt = s_j |alpha| gamma,
gamma = 1/n sum of y_i x_i over the points at which alpha is on, from alpha(0) = z_j.
"""

from __future__ import annotations

from functools import partial

from verify.claims.chistikov2023.correlated import ASSUMPTION_1, POINTS, STARTS, is_taught, yardsticks_of
from verify.claims.records import Claim, Instance, Judgement, Variant, failed, held
from verify.claims.theorems import run_alone

__all__ = ["CLAIMS", "has_ordered_yardsticks"]


def has_ordered_yardsticks(instance: Instance, positive: int = 1) -> Judgement:
    """Each yardstick meets the kinks of the points to be crossed, each once and singly, and no others: exactly.

    positive: the sign of the neurons that cross into points, and not out of them.
    """
    met = 0
    for found in yardsticks_of(instance):
        everything = set(range(len(instance.data)))
        inside = set(found.stages[0].active)
        expected = everything - inside if found.sign == positive else inside
        name = f"the yardstick of neuron {found.neuron}"
        if found.stages[-1].end is not None:
            points = sorted(found.stages[-1].points)
            return failed(f"{name} has no unique way on at the kinks of {points}")
        order = found.order
        if len(order) != len(set(order)) or set(order) != expected:
            return failed(f"{name} meets the kinks {order}, not each of {sorted(expected)} once")
        met += len(order)
    return held("every kink once, in one order", measured=met)


CLAIMS = (
    Claim(
        id="chistikov2023.prop2",
        source="arXiv:2306.06479, Proposition 2",
        statement="Each yardstick crosses the boundaries to be crossed once each, one by one, and no others.",
        setting=is_taught,
        hypotheses=ASSUMPTION_1,
        conclusion=has_ordered_yardsticks,
        instances=STARTS,
        sharp={
            "45-degrees": "min-norm/chistikov2023-wide-points",
            "off-common-pull": "min-norm/chistikov2023-common-pull",
            "one-kink-at-a-time": "min-norm/chistikov2023-two-kinks",
        },
        regime=f"{POINTS}; exact: between two kinks a yardstick moves in a plane, through rational directions",
        quantity="kinks met",
        could_fail=lambda instance: any(found.order for found in yardsticks_of(instance)),
        variants=(
            Variant(
                name="other-sign",
                statement="Negative neurons cross into the points at which they are off, and positive ones out of the "
                "others.",
                conclusion=partial(has_ordered_yardsticks, positive=-1),
            ),
        ),
    ),
)

if __name__ == "__main__":
    run_alone(CLAIMS)
