"""The angles in the bundle of arXiv:2306.06479, sections 1 and 5.

    t >= T_1  ==>  the angle between two positive neurons that were active at first does not increase

under Assumptions 1 and 2: while all of them are on at all points they share one g, and for unit directions u, u'
d/dt u.u' = g.(u + u') (1 - u.u').
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial

import numpy as np

from verify.claims.chistikov2023.bundle_angles import has_two_positive_neurons
from verify.claims.chistikov2023.bundles import without_a_scale
from verify.claims.chistikov2023.correlated import ASSUMPTION_1, POINTS, constants, is_taught, yardsticks_of
from verify.claims.chistikov2023.flows import flow_from
from verify.claims.chistikov2023.small_scales import scale_of
from verify.claims.power import always
from verify.claims.records import Claim, Instance, Judgement, Variant, failed, held
from verify.claims.theorems import run_alone
from verify.strategies import correlated_starts

__all__ = ["CLAIMS", "angles_do_not_increase"]

NOISE = 1e-7
"""Of the distance of two directions, from a flow whose steps are right to 1e-8."""


def angles_do_not_increase(instance: Instance, is_from_the_start: bool = False) -> Judgement:
    """After each step from T_1 on no distance of two directions is above the least one before it, up to rounding.

    Measured: how far one rose, at most. is_from_the_start: from the first step on.
    """
    scale = scale_of(instance)
    if scale is None:
        return without_a_scale(instance)
    flow = flow_from(instance, scale)
    since = flow.times >= (0.0 if is_from_the_start else constants(instance).aligned(scale))
    positive = [found.neuron for found in yardsticks_of(instance) if found.sign > 0]
    units = flow.hidden[since][:, positive] / flow.norms[since][:, positive, None]
    apart = np.linalg.norm(units[:, :, None] - units[:, None, :], axis=3)
    risen = float((apart - np.minimum.accumulate(apart, axis=0)).max(initial=0.0))
    text = f"at lambda = {scale:g} the distance of two directions rises by {risen:.2g}"
    return (held if risen <= NOISE else failed)(text, measured=Fraction(risen))


CLAIMS = (
    Claim(
        id="chistikov2023.angles",
        source="arXiv:2306.06479, sections 1 and 5",
        statement="From T_1 on the angles between the positive neurons that were active at first do not increase.",
        setting=is_taught,
        hypotheses={**ASSUMPTION_1, "two-positive": has_two_positive_neurons},
        conclusion=angles_do_not_increase,
        instances=correlated_starts(pairs=True).map(lambda drawn: Instance(*drawn)),
        regime=f"{POINTS}, 2 of them positive at least; the first lambda = 10^-12, 10^-24, .. at which the yardsticks "
        "are aligned at T_1; all steps of the integrator, up to 1e-7",
        quantity="largest rise of a distance of directions",
        trains=True,
        examples=20,
        could_fail=always,
        variants=(
            Variant(
                name="from-the-start",
                statement="They do not increase from the start on.",
                conclusion=partial(angles_do_not_increase, is_from_the_start=True),
                examples=100,
            ),
        ),
    ),
)

if __name__ == "__main__":
    run_alone(CLAIMS)
