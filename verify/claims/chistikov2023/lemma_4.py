"""Lemma 4 of arXiv:2306.06479, section 4.

    s_j = -1, j active at first  ==>  |w_j(T_0)| <= lambda |z_j|,  w_j(t) = w_j(T_0) for all t >= T_0

under Assumptions 1 and 2.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from verify.claims.chistikov2023.correlated import ASSUMPTION_1, POINTS, STARTS, constants, is_taught, yardsticks_of
from verify.claims.chistikov2023.flows import flow_from
from verify.claims.chistikov2023.small_scales import EARLY, ROUNDING, from_scales
from verify.claims.records import Claim, Instance, Judgement, Variant
from verify.claims.theorems import run_alone

__all__ = ["CLAIMS", "has_dead_negative_neurons"]


def has_dead_negative_neurons(instance: Instance, sign: int = -1) -> Judgement:
    """Lemma 4 at two scales; measured: the largest |w_j| / (lambda |z_j|) at T_0, at the smaller one.

    sign: of the neurons that it is said of.
    """
    rest, found, largest = constants(instance).rest, [], 0.0
    for scale in EARLY:
        flow = flow_from(instance, scale)
        hidden, _ = flow.at(rest)
        found.append((0.0, "they are dead at T_0, and stay as they are"))
        largest = 0.0
        for yardstick in yardsticks_of(instance):
            if yardstick.sign != sign:
                continue
            w, first, last = (part[yardstick.neuron] for part in (hidden, flow.hidden[0], flow.hidden[-1]))
            ratio = float(np.linalg.norm(w) / np.linalg.norm(first))
            moved = float(np.linalg.norm(last - w) / np.linalg.norm(w))
            active = float((flow.rows @ w).max() / np.linalg.norm(w))
            largest = max(largest, ratio)
            for excess, what in (
                (active, f"neuron {yardstick.neuron} is active at T_0"),
                (ratio - 1 - ROUNDING, f"neuron {yardstick.neuron} has grown"),
                (moved - ROUNDING, f"neuron {yardstick.neuron} moves after T_0"),
            ):
                if not excess <= max(found[-1][0], 0.0):  # nor NaN
                    found[-1] = excess, f"{what}, at lambda = {scale:g}"
    return from_scales(found, largest)


CLAIMS = (
    Claim(
        id="chistikov2023.lem4",
        source="arXiv:2306.06479, Lemma 4",
        statement="Negative neurons that were active at first have not grown at T_0, and stay as they are then.",
        setting=is_taught,
        hypotheses=ASSUMPTION_1,
        conclusion=has_dead_negative_neurons,
        instances=STARTS,
        sharp={"off-common-pull": "min-norm/chistikov2023-common-pull"},
        regime=f"{POINTS}; lambda = 1e-3 and 1e-5",
        quantity="|w(T_0)| / |w(0)|",
        trains=True,
        examples=20,
        could_fail=lambda instance: any(found.sign < 0 for found in yardsticks_of(instance)),
        variants=(
            Variant(
                name="positive",
                statement="Positive neurons have not grown at T_0, and stay as they are then.",
                conclusion=partial(has_dead_negative_neurons, sign=1),
            ),
        ),
    ),
)

if __name__ == "__main__":
    run_alone(CLAIMS)
