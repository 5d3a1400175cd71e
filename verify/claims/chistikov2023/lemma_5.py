"""Lemma 5 of arXiv:2306.06479, section 4.

    s_j = 1, j active at first, T_1 = epsilon ln(1/lambda) / |gamma|  ==>  |w_j(T_1)| < 2 |z_j| lambda^(1 - epsilon),
        cos(w_j(T_1), gamma) >= 1 - lambda^epsilon,
        |ln |alpha_j(T_1)| - ln |w_j(T_1) / lambda|| <= lambda^(1 - 3 epsilon)

under Assumptions 1 and 2, with gamma = 1/n sum y_i x_i over all points.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from math import log

import numpy as np

from verify.claims.chistikov2023.correlated import (
    ASSUMPTION_1,
    EPSILON,
    POINTS,
    STARTS,
    constants,
    is_taught,
    yardsticks_of,
)
from verify.claims.chistikov2023.flows import flow_from
from verify.claims.chistikov2023.small_scales import ROUNDING, scale_of
from verify.claims.power import always
from verify.claims.records import Claim, Instance, Judgement, Variant, failed, held, undecided
from verify.claims.theorems import run_alone
from verify.numbers.floats import to_float

__all__ = ["CLAIMS", "aligns_to_the_common_pull"]


def aligns_to_the_common_pull(instance: Instance, is_to_the_teacher: bool = False) -> Judgement:
    """Lemma 5 at a scale at which the yardsticks are aligned at T_1; measured: the largest (1 - cos) / bound.

    is_to_the_teacher: with v* in place of gamma.
    """
    scale, known = scale_of(instance), constants(instance)
    if scale is None:
        return undecided("the yardsticks are not aligned at T_1 for any scale that floats hold")
    time = known.aligned(scale)
    hidden, _ = flow_from(instance, scale).at(time)
    goal = known.basis @ known.teacher if is_to_the_teacher else known.gamma / known.pull
    largest = 0.0
    for yardstick in yardsticks_of(instance):
        if yardstick.sign < 0:
            continue
        w, z = hidden[yardstick.neuron], instance.network.hidden_weights[yardstick.neuron]
        size, first = float(np.linalg.norm(w)), float(np.linalg.norm([to_float(value) for value in z]))
        off = float(np.linalg.norm(w / size - goal)) ** 2 / 2  # 1 - cos
        if not size < 2 * first * scale ** (1 - EPSILON):
            return failed(f"at lambda = {scale:g} neuron {yardstick.neuron} has the norm {size:.3g} at T_1")
        if not off <= scale**EPSILON:
            return failed(f"at lambda = {scale:g} neuron {yardstick.neuron} is off gamma at T_1: 1 - cos = {off:.3g}")
        apart = abs(yardstick.log_growth(time) - log(size / scale / first))
        if not apart <= scale ** (1 - 3 * EPSILON) + ROUNDING:
            return failed(f"at lambda = {scale:g} neuron {yardstick.neuron} grows unlike its yardstick: {apart:.3g}")
        largest = max(largest, off / scale**EPSILON)
    return held(f"at lambda = {scale:g}", measured=Fraction(largest))


CLAIMS = (
    Claim(
        id="chistikov2023.lem5",
        source="arXiv:2306.06479, Lemma 5",
        statement="At T_1 positive neurons that were active at first have norms below 2 |z| lambda^(1 - epsilon), "
        "their cosines with gamma are at least 1 - lambda^epsilon, and they have grown like their yardsticks: the "
        "logarithms differ by at most lambda^(1 - 3 epsilon).",
        setting=is_taught,
        hypotheses=ASSUMPTION_1,
        conclusion=aligns_to_the_common_pull,
        instances=STARTS,
        sharp={"45-degrees": "min-norm/chistikov2023-wide-two-ways"},
        regime=f"{POINTS}; the first lambda = 10^-12, 10^-24, .. at which the yardsticks are that aligned; "
        "epsilon = 1/4",
        quantity="(1 - cos) / lambda^epsilon",
        trains=True,
        examples=20,
        could_fail=always,
        variants=(
            Variant(
                name="teacher",
                statement="At T_1 the cosines of positive neurons with v* are at least 1 - lambda^epsilon.",
                conclusion=partial(aligns_to_the_common_pull, is_to_the_teacher=True),
            ),
        ),
    ),
)

if __name__ == "__main__":
    run_alone(CLAIMS)
