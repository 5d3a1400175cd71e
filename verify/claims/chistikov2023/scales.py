"""Figures 1 and 2 of arXiv:2306.06479 in small: random points, a random balanced start, several scales."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from math import degrees, sqrt
from random import Random

import numpy as np

from verify.checker.exact import dot
from verify.claims.chistikov2023.correlated import Floats, teacher_of
from verify.claims.chistikov2023.flows import flow_from
from verify.claims.records import Instance, Judgement, failed, held, undecided
from verify.problem.network import Network
from verify.problem.problem import Bias, Dataset, Goal

__all__ = ["has_falling_angles", "has_falling_losses", "random_start"]

DIMENSION, WIDTH = 4, 10

SCALES = (4.0**-2, 4.0**-5, 4.0**-8)

TESTS = 64
"""Inputs N(0, I) on which the test loss is measured, as in Figure 2."""

FAST = 1e-9
"""Of the loss at the start, below which training ends: the target of the paper's own training."""


def random_start(random: Random) -> Instance:
    """Points N(mu, rho I / d), n = d = 4, with teacher mu and rho = 1, or one more point and rho = sqrt 2 - 1.

    The neurons are z_j ~ N(0, I / d). A draw with an angle to the teacher above 90 degrees is dropped as a whole. All
    is rounded to 1/1000.
    """
    while True:
        is_centred = random.random() < 0.5
        spread = sqrt((1 if is_centred else sqrt(2) - 1) / DIMENSION)
        mean = _scaled([random.gauss(0, 1) for _ in range(DIMENSION)])
        points = [[m + spread * random.gauss(0, 1) for m in mean] for _ in range(DIMENSION + 1)]
        teacher = _rounded(mean if is_centred else _scaled(points[-1]))
        rows = [_rounded(x) for x in points[:-1]]
        targets = [dot(teacher, x) for x in rows]
        if min(targets) > 0:
            break
    hidden = [_rounded([random.gauss(0, 1) / sqrt(DIMENSION) for _ in mean]) for _ in range(WIDTH)]
    outgoing = [Fraction(random.choice((-1, 1)) * sqrt(float(dot(w, w)))) for w in hidden]
    return Instance.posed(
        Network.two_layer(hidden, outgoing), Dataset(rows, targets), goal=Goal.MIN_NORM, bias=Bias.NONE
    )


def _scaled(vector: Sequence[float]) -> list[float]:
    size = sqrt(sum(value * value for value in vector))
    return [value / size for value in vector]


def _rounded(vector: Sequence[float]) -> list[Fraction]:
    return [Fraction(round(1000 * value), 1000) for value in vector]


def has_falling_angles(instance: Instance) -> Judgement:
    """The largest angle falls with the scale, between neurons active at the start with positive output weights.

    Measured: the last one, in degrees.
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
    if any(a <= b for a, b in pairwise(angles)):
        return failed(f"the angles are {words} degrees")
    return held(f"the angles are {words} degrees", measured=Fraction(angles[-1]))


def _largest_angle(weights: Floats) -> float:
    units = weights / np.linalg.norm(weights, axis=1, keepdims=True)
    apart = np.linalg.norm(units[:, None] - units[None], axis=2)
    return float(2 * np.arcsin(np.clip(apart.max() / 2, 0, 1)))


def has_falling_losses(instance: Instance) -> Judgement:
    """The training loss falls below FAST of its start; the loss on other inputs ends lower from smaller scales.

    Measured: the last test loss over the first.
    """
    teacher = np.array([float(value) for value in teacher_of(instance) or ()])
    inputs, losses = _test_inputs(), []
    for scale in SCALES:
        flow = flow_from(instance, scale)
        if not flow.log_losses[-1] < flow.log_losses[0] + np.log(FAST):
            return failed(f"from scale {scale:g} the loss stays: {flow.reason}")
        outputs = np.maximum(inputs @ flow.hidden[-1].T, 0) @ flow.outgoing[-1]
        losses.append(float(((outputs - np.maximum(inputs @ teacher, 0)) ** 2).mean() / 2))
    words = ", ".join(f"{loss:.3g}" for loss in losses)
    if any(a <= b for a, b in pairwise(losses)):
        return failed(f"the test losses are {words}")
    return held(f"the test losses are {words}", measured=Fraction(losses[-1] / losses[0]))


@lru_cache(maxsize=1)
def _test_inputs() -> Floats:
    return np.random.default_rng(0).normal(size=(TESTS, DIMENSION))
