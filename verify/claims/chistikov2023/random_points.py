"""Random points and a random balanced start: Figures 1 and 2 of arXiv:2306.06479 in small."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import sqrt
from random import Random

from verify.checker.exact import dot
from verify.claims.records import Instance
from verify.numbers.floats import to_float
from verify.problem.network import Network
from verify.problem.problem import Bias, Dataset, Goal

__all__ = ["DIMENSION", "SCALES", "WIDTH", "random_start"]

DIMENSION, WIDTH = 4, 10


SCALES = (4.0**-2, 4.0**-5, 4.0**-8)


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
    outgoing = [Fraction(random.choice((-1, 1)) * sqrt(to_float(dot(w, w)))) for w in hidden]
    return Instance.posed(
        Network.two_layer(hidden, outgoing), Dataset(rows, targets), goal=Goal.MIN_NORM, bias=Bias.NONE
    )


def _scaled(vector: Sequence[float]) -> list[float]:
    size = sqrt(sum(value * value for value in vector))
    return [value / size for value in vector]


def _rounded(vector: Sequence[float]) -> list[Fraction]:
    return [Fraction(round(1000 * value), 1000) for value in vector]
