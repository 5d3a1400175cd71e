"""Theorem 7 of arXiv:2306.06479, section 6.

    L(lim_t theta_lambda(t)) = 0,   lim_(lambda -> 0) lim_t theta_lambda(t) in Theta_v*,
    Theta_v* = the balanced theta with sum |w_j|^2 = 1 and, for all w_j != 0, w_j/|w_j| = v* and a_j > 0

under Assumptions 1 and 2, with v* the teacher, |v*| = 1.
"""

from __future__ import annotations

from functools import partial
from math import acos, log, sqrt

import numpy as np

from solvers.arrays import Floats
from verify.claims.chistikov2023.bundles import SCALES, unfitted
from verify.claims.chistikov2023.correlated import (
    ASSUMPTION_1,
    EPSILON,
    POINTS,
    STARTS,
    constants,
    is_taught,
)
from verify.claims.chistikov2023.flows import Flow, flow_from
from verify.claims.chistikov2023.small_scales import from_scales
from verify.claims.power import always
from verify.claims.records import Claim, Instance, Judgement, Variant, failed, held
from verify.claims.theorems import run_alone

__all__ = ["CLAIMS", "LEAST_RATE", "ROUNDING", "tends_to_rank_one"]

LEAST_RATE = EPSILON / 2
"""Of the distance in lambda: what 1 - cos <= 4 lambda^epsilon gives."""


ROUNDING = 1e-7
"""Of directions of neurons whose flow has steps right to 1e-8."""


def tends_to_rank_one(instance: Instance, is_along_gamma: bool = False) -> Judgement:
    """Theorem 7: at the end of each flow the distance to the networks of rank 1 along v*, at three scales.

    The proof keeps the cosines between active neurons above 1 - 4 lambda^epsilon, and sum |w_j| w_j = v* at the end;
    so the direction of each is that near to v*. Dead neurons have at most their first norm. Measured: the power of the
    scale with which the distance falls from the first to the second; at the third it may be that of the end of a flow.
    is_along_gamma: in place of v*.
    """
    found: list[tuple[float, str]] = []
    distances: list[float] = []
    blur = 0.0  # |v - v*| at the end
    for scale in SCALES:
        flow = flow_from(instance, scale)
        if not flow.is_fitted:
            return unfitted(flow, scale)
        known = constants(instance)
        line = known.gamma / known.pull if is_along_gamma else known.basis @ known.teacher
        distance, allowed = _distance(flow, line), _allowed(flow, scale)
        distances.append(distance)
        blur = ROUNDING + sqrt(2 * float(np.exp(flow.log_losses[-1])) / float(known.eta[-1]))
        found.append((distance / allowed - 1, f"at lambda = {scale:g} the distance is {distance:.3g} of {allowed:.3g}"))
    if distances[1] < blur:
        return held(f"at lambda = {SCALES[1]:g} the distance is rounding")
    first, last = (log(distances[0] / distances[k]) / log(SCALES[0] / SCALES[k]) for k in (1, 2))
    if last < LEAST_RATE and distances[2] > blur:
        return failed(f"the distance to rank 1 falls from {distances[0]:.3g} to {distances[-1]:.3g} only")
    return from_scales(found, first)


def _distance(flow: Flow, line: Floats) -> float:
    """|theta - nearest network of rank 1 along v*, sum |w_j|^2 = 1, positive output weights|; line: v*."""
    hidden, outgoing = flow.hidden[-1], flow.outgoing[-1]
    along = np.maximum(0.0, (hidden @ line + outgoing) / 2)  # of (v*, 1) c_j, the best c_j
    size = float(np.linalg.norm(along))
    if size == 0:
        return float(np.sqrt((hidden**2).sum() + (outgoing**2).sum() + 2))
    rest = hidden - np.outer(along / size, line), outgoing - along / size
    return float(np.sqrt(sum(float((part**2).sum()) for part in rest)))


def _allowed(flow: Flow, scale: float) -> float:
    """sum |w_j|^2 <= 1 / cos, all within the angle of v*: |w_j - |w_j| v*|, the sizes, and the dead neurons."""
    cosine = max(1 - 4 * scale**EPSILON, 1e-3)
    angle, total = acos(cosine), 1 / cosine
    dead = float(np.sqrt(2) * np.linalg.norm(flow.hidden[0]))
    return 2 * np.sin(angle / 2) * sqrt(total) + sqrt(2) * (sqrt(total) - 1) + dead


CLAIMS = (
    Claim(
        id="chistikov2023.thm7",
        source="arXiv:2306.06479, Theorem 7",
        statement="The loss tends to 0, and as lambda tends to 0 the limit tends to the networks of rank 1 along v*.",
        setting=is_taught,
        hypotheses=ASSUMPTION_1,
        conclusion=tends_to_rank_one,
        instances=STARTS,
        sharp={
            "45-degrees": "min-norm/chistikov2023-wide-points",
            "positive-active": "min-norm/chistikov2023-only-negative",
        },
        regime=f"{POINTS}; lambda = 1e-3, 1e-6, 1e-9, to a loss of 1e-18; the distance is within what cosines of "
        "1 - 4 lambda^(1/4) allow, and falls",
        quantity="power of lambda in the distance",
        trains=True,
        examples=20,
        could_fail=always,
        variants=(
            Variant(
                name="gamma",
                statement="As lambda tends to 0 the limit tends to the networks of rank 1 along gamma of all points.",
                conclusion=partial(tends_to_rank_one, is_along_gamma=True),
            ),
        ),
    ),
)

if __name__ == "__main__":
    run_alone(CLAIMS)
