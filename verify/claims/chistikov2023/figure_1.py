"""Figure 1 of arXiv:2306.06479, section 8.

    the median of the largest angle between active neurons falls as lambda -> 0

In small: d = 4, a few scales; that it falls in at least half of the draws, which is near to that and does not imply it.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from itertools import pairwise
from math import degrees

import numpy as np

from solvers.arrays import Floats
from verify.claims.chistikov2023.flows import flow_from
from verify.claims.chistikov2023.random_points import SCALES, random_start
from verify.claims.power import always
from verify.claims.records import Claim, Instance, Judgement, Variant, failed, held, undecided
from verify.claims.theorems import run_alone

__all__ = ["CLAIMS", "has_falling_angles"]


def has_falling_angles(instance: Instance, side: int = 1) -> Judgement:
    """The largest angle falls with the scale, between neurons active at the start with positive output weights.

    Measured: the last one, in degrees. side: -1 for an angle that rises.
    """
    angles: list[float] = []
    for scale in SCALES:
        flow = flow_from(instance, scale)
        if not flow.is_fitted:
            return failed(f"from scale {scale:g} the flow ends without fitting: {flow.reason}")
        active = ((flow.rows @ flow.hidden[0].T > 0).any(axis=0)) & (flow.outgoing[0] > 0)
        if active.sum() < 2:
            return undecided("fewer than two such neurons")
        angles.append(degrees(_largest_angle(flow.hidden[-1][active])))
    words = ", ".join(f"{angle:.3g}" for angle in angles)
    if any(side * a <= side * b for a, b in pairwise(angles)):
        return failed(f"the angles are {words} degrees")
    return held(f"the angles are {words} degrees", measured=Fraction(angles[-1]))


def _largest_angle(weights: Floats) -> float:
    units = weights / np.linalg.norm(weights, axis=1, keepdims=True)
    apart = np.linalg.norm(units[:, None] - units[None], axis=2)
    return float(2 * np.arcsin(np.clip(apart.max() / 2, 0, 1)))


CLAIMS = (
    Claim(
        id="chistikov2023.fig1",
        source="arXiv:2306.06479, Figure 1",
        statement="The largest angle between active neurons falls with the initial scale, in at least half of the "
        "draws.",
        conclusion=has_falling_angles,
        regime="n = d = 4, 10 neurons, centred and uncentred points rounded to 1/1000; gradient flow from scales 4^-2, "
        "4^-5, 4^-8; in place of medians of five trials, of which it does not follow",
        quantity="degrees at 4^-8",
        kind="chance",
        chance=Fraction(1, 2),
        trial=random_start,
        trains=True,
        examples=40,
        could_fail=always,
        variants=(
            Variant(
                name="rises",
                statement="The largest angle between active neurons rises as the initial scale falls, in every draw.",
                conclusion=partial(has_falling_angles, side=-1),
                chance=Fraction(1),
            ),
        ),
    ),
)

if __name__ == "__main__":
    run_alone(CLAIMS)
