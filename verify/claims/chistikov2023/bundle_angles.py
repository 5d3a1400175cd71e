"""The angles of the bundle, section 5 of arXiv:2306.06479.

    i, j in J_+, t >= T_1  ==>  cos(w_i(t), w_j(t)) >= 1 - 4 lambda^epsilon

under Assumptions 1 and 2: the positive neurons that are active at first stay together while they grow to the teacher.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from solvers.arrays import Floats
from verify.claims.chistikov2023.bundles import unfitted
from verify.claims.chistikov2023.correlated import (
    ASSUMPTION_1,
    EPSILON,
    POINTS,
    constants,
    is_taught,
    yardsticks_of,
)
from verify.claims.chistikov2023.flows import Flow, flow_from
from verify.claims.chistikov2023.small_scales import scale_of
from verify.claims.power import always
from verify.claims.records import Claim, Instance, Judgement, Variant, failed, held, undecided
from verify.claims.theorems import run_alone
from verify.strategies import correlated_starts

__all__ = ["CLAIMS", "has_two_positive_neurons", "stays_together"]


def has_two_positive_neurons(instance: Instance) -> bool:
    """J_+ has two neurons or more: one has no angle."""
    return sum(found.sign > 0 for found in yardsticks_of(instance)) >= 2


def _spread(flow: Flow, instance: Instance) -> Floats:
    """The largest 1 - cos of two positive neurons, after each step."""
    positive = [found.neuron for found in yardsticks_of(instance) if found.sign > 0]
    units = flow.hidden[:, positive] / flow.norms[:, positive, None]
    apart = np.linalg.norm(units[:, :, None] - units[:, None, :], axis=3) ** 2 / 2
    return apart.max(axis=(1, 2))


def _within(allowed: Callable[[float], float]) -> Callable[[Instance], Judgement]:
    """1 - cos is at most this function of lambda from T_1 on."""

    def concluded(instance: Instance) -> Judgement:
        scale = scale_of(instance)
        if scale is None:
            return undecided("the yardsticks are not aligned at T_1 for any scale that floats hold")
        flow = flow_from(instance, scale)
        if not flow.is_fitted:
            return unfitted(flow, scale)
        since = flow.times >= constants(instance).aligned(scale)
        largest = float(_spread(flow, instance)[since].max(initial=0.0))
        ratio = largest / scale**EPSILON
        text = f"at lambda = {scale:g} the largest 1 - cos is {ratio:.3g} lambda^epsilon from T_1 on"
        return (held if largest <= allowed(scale) else failed)(text, measured=Fraction(ratio))

    return concluded


stays_together = _within(lambda scale: 4 * scale**EPSILON)

CLAIMS = (
    Claim(
        id="chistikov2023.bundle",
        source="arXiv:2306.06479, section 5",
        statement="From T_1 on the cosines of the positive neurons that were active at first with each other are at "
        "least 1 - 4 lambda^epsilon.",
        setting=is_taught,
        hypotheses={**ASSUMPTION_1, "two-positive": has_two_positive_neurons},
        conclusion=stays_together,
        instances=correlated_starts(pairs=True).map(lambda drawn: Instance(*drawn)),
        sharp={"45-degrees": "min-norm/chistikov2023-wide-two-ways"},
        regime=f"{POINTS}, 2 of them positive at least; the first lambda = 10^-12, 10^-24, .. at which the yardsticks "
        "are aligned at T_1; epsilon = 1/4; all steps of the integrator, up to 1e-8, until the loss is 1e-18",
        quantity="(1 - cos) / lambda^epsilon",
        trains=True,
        examples=20,
        could_fail=always,
        variants=(
            Variant(
                name="lambda",
                statement="They are at least 1 - lambda.",
                conclusion=_within(lambda scale: scale),
                examples=20,
            ),
        ),
    ),
)

if __name__ == "__main__":
    run_alone(CLAIMS)
