"""The set S of section 5 of arXiv:2306.06479, and the order of its parts.

    v(t) in S = S_1 u .. u S_d for all t >= T_1, and v passes through S_1, .., S_d in this order,   v = sum a_j w_j

over the positive neurons j, under Assumptions 1 and 2.
"""

from __future__ import annotations

import numpy as np

from verify.claims.chistikov2023.bundles import ACCURACY, bundle_of, is_nearly_linear, unfitted, without_a_scale
from verify.claims.chistikov2023.correlated import (
    ASSUMPTION_1,
    STARTS_OF_LOW_DIMENSION,
    constants,
    is_taught,
)
from verify.claims.chistikov2023.flows import flow_from
from verify.claims.chistikov2023.small_scales import scale_of
from verify.claims.power import always
from verify.claims.records import Claim, Instance, Judgement, Outcome, Variant, failed, held, undecided
from verify.claims.theorems import run_alone
from verify.quantities.correlated import broken_constraint

__all__ = ["CLAIMS", "NOISE", "RESOLVED", "SEEN", "SHORT", "stays_in_s"]

SEEN = 1e-12
"""Of the mean square of the targets: below this loss the coordinates' distances to 1 are rounding."""


NOISE = 1e-7
"""Of a coordinate r_k, from a flow of this accuracy."""


RESOLVED = 1e-5
"""eta_d / eta_1 at least, for the last coordinate to be seen above the rounding of the first."""


SHORT = 1e-4
"""Of a coordinate r_k that comes to 1 while SEEN, and then passes it by less than NOISE."""


def stays_in_s(instance: Instance) -> Judgement:
    """From T_1 on v is in S and passes its parts in their order, to the last; measured: the number of handovers.

    At a scale, and where that fails at its square too.
    """
    known, scale = constants(instance), scale_of(instance, is_nearly_linear)
    if scale is None:
        return without_a_scale(instance)
    if known.eta[-1] < RESOLVED * known.eta[0]:
        return undecided("the eigenvalues are too far apart for floats")
    first = _stays_in_s(instance, scale)
    return _stays_in_s(instance, scale**2) if first.outcome is Outcome.FAILED else first


def _stays_in_s(instance: Instance, scale: float) -> Judgement:
    known, flow = constants(instance), flow_from(instance, scale, ACCURACY)
    if not flow.is_fitted:
        return unfitted(flow, scale)
    seen = (flow.times >= known.aligned(scale)) & (np.exp(flow.log_losses) > SEEN * (flow.targets**2).mean())
    ratios = bundle_of(flow, instance)[seen] @ known.basis / known.teacher
    part, last = 0, len(known.eta) - 1
    for time, r in zip(flow.times[seen], ratios, strict=True):
        while part < last and r[part] > 1 + NOISE:
            part += 1
        if broken := broken_constraint(r, part, known, scale, NOISE):
            return failed(f"at lambda = {scale:g} and time {time:.6g} {broken}: r = {r.tolist()}")
    if part < last and r[part] < 1 - SHORT:  # pyright: ignore[reportPossiblyUnboundVariable]
        return failed(f"at lambda = {scale:g} it ends in part {part + 1} of {last + 1}")
    return held(f"at lambda = {scale:g}, to part {part + 1} of {last + 1}", measured=part)


def stays_in_the_first_part(instance: Instance) -> Judgement:
    """That it never comes to a second part of S."""
    found = stays_in_s(instance)
    return failed(found.reason) if found.outcome is Outcome.HELD and found.measured else found


CLAIMS = (
    Claim(
        id="chistikov2023.setS",
        source="arXiv:2306.06479, section 5",
        statement="From T_1 on the sum of the a_j w_j, over the positive neurons that were active at first, stays in "
        "S and passes through its parts S_1, .., S_d in order.",
        setting=is_taught,
        hypotheses=ASSUMPTION_1,
        conclusion=stays_in_s,
        instances=STARTS_OF_LOW_DIMENSION,
        sharp={
            "45-degrees": "min-norm/chistikov2023-wide-points",
            "positive-active": "min-norm/chistikov2023-only-negative",
        },
        regime="as thm6, or at the square of that lambda; eta_d / eta_1 >= 1e-5; the factors of Xi are normalised; all "
        "steps of the integrator, up to 1e-7, until the loss is 1e-12",
        quantity="handovers",
        trains=True,
        examples=20,
        could_fail=always,
        variants=(
            Variant(
                name="first-part",
                statement="From T_1 on the sum of the a_j w_j stays in S_1.",
                conclusion=stays_in_the_first_part,
            ),
        ),
    ),
)

if __name__ == "__main__":
    run_alone(CLAIMS)
