"""Lemma 5.4 of arXiv:2110.13905, section 5.2.

    theta(T_12 + t)  ->  pi_b(theta^(t))  as sigma -> 0,
    theta^(t) = lim_{r -> 0} phi(r (b_+ mu_, b_- mu_, b_+, b_-), T_2(r) + t)

whenever b has both signs and no entry 0, which has probability 1 - 2^-(m-1); T_12 = T_1(r) + T_2(r) =
1/l ln(1 / (sqrt(m) M)), T_2(r) = 1/l ln(1/r), mu_ = mu/|mu|; the other letters are those of
`verify.claims.lyu2021.growth`.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from itertools import pairwise
from math import isfinite, log

import numpy as np

from solvers.arrays import Floats
from verify.claims.lyu2021.clocks import course
from verify.claims.lyu2021.growth import (
    GENERAL,
    NO_NUMBERS,
    Start,
    embedding,
    is_good,
    m_norm,
    measured_in_floats,
    posed_pair,
)
from verify.claims.lyu2021.scales import scaled
from verify.claims.lyu2021.symmetric import is_leaky
from verify.claims.records import Claim, Instance, Judgement, Variant, failed, held, undecided
from verify.claims.theorems import run_alone
from verify.strategies import symmetric_starts

__all__ = ["CLAIMS", "LATER", "LIMIT", "RADII", "SCALES", "follows_two_neurons"]

LATER = (0.0, 2.0, 4.0)
"""t in units of 1 / l."""


RADII = (1e-2, 1e-3, 1e-5)


SCALES = (Fraction(1), Fraction(1, 16), Fraction(1, 256))


LIMIT = 1e-9
"""Relative: below it a difference is 0 in floats."""


def follows_two_neurons(instance: Instance, early: float = 0.0) -> Judgement:
    """phi(r b^, T_2(r) + t) has a limit as r -> 0, which is not 0, and theta(T_12 + t) tends to its embedding.

    The limit: between r = 1e-2, 1e-3, 1e-5 the differences, which are of the order of r^2, shrink at least tenfold;
    they are relative, so that the limit is not 0. The coupling: by Lemma 5.2 the error is of the order of r^2 =
    (sqrt(m) M)^(2/3) or less, 6.3 times less for weights 16 times smaller; held where it shrinks at least fourfold in
    the last of two such steps, or is 0 in floats; failed where it is above 1 % at the end and has not even been halved.
    Measured: the last error, relative. early: so much before T_12 instead, in units of 1 / l.
    """
    start, width = Start(instance), instance.network.width
    plus, minus = (float(np.linalg.norm(part)) for part in (start.b[start.b > 0], start.b[start.b < 0]))
    pairs: list[list[Floats]] = []
    for r in RADII:
        rows = [(r * plus * start.mean).tolist(), (-r * minus * start.mean).tolist()]
        found = course(posed_pair(instance, rows, [r * plus, -r * minus]), (log(1 / r) + LATER[-1]) / start.growth)
        if found is None:
            return undecided("the flow of two neurons ended before")
        pairs.append([found((log(1 / r) + t) / start.growth) for t in LATER])
    sizes = [m_norm(theta, 2) for theta in pairs[-1]]
    first, second = (
        max(m_norm(p - q, 2) / m_norm(q, 2) for p, q in zip(one, other, strict=True)) for one, other in pairwise(pairs)
    )
    if second > max(LIMIT, first / 10):
        words = f"the flow of two neurons changes by {first:.2g} and then {second:.2g}, relative, as r -> 0"
        return failed(words) if second > max(1e-2, first / 2) else undecided("the limit r -> 0 is not reached")
    errors: list[float] = []
    for scale in SCALES:
        smaller = scaled(instance, scale)
        began = Start(smaller)
        found = course(smaller, began.time(1.0) + LATER[-1] / began.growth)
        if found is None:
            return undecided("the flow ended before")
        ends = [found(began.time(1.0) + (t - early) / began.growth) for t in LATER]
        apart = [m_norm(end - embedding(pair, start.b), width) for end, pair in zip(ends, pairs[-1], strict=True)]
        errors.append(float(np.max(np.array(apart) / sizes)))
    if not all(map(isfinite, errors)):
        return undecided(NO_NUMBERS)
    words = "the errors are " + ", ".join(f"{error:.2g}" for error in errors)
    if errors[-1] <= max(LIMIT, errors[-2] / 4):
        return held(words, measured=measured_in_floats(errors[-1]))
    if errors[-1] > max(1e-2, errors[0] / 2):
        return failed(words, measured=measured_in_floats(errors[-1]))
    return undecided("the error does not shrink as it should")


CLAIMS = (
    Claim(
        id="lyu2021.lem5.4",
        source="arXiv:2110.13905, Lemma 5.4",
        statement="As sigma -> 0 the flow at T_12 + t tends to the embedding of a flow of two neurons, itself a limit "
        "as r -> 0, if b has both signs and no entry is 0.",
        setting=is_leaky,
        hypotheses={**GENERAL, "good": is_good},
        conclusion=follows_two_neurons,
        instances=symmetric_starts(least_dimension=2).map(lambda drawn: Instance(*drawn)),
        sharp={"symmetric": "max-margin/lyu2021-theorem-4-3-one-point"},
        regime="t = 0, 2/l and 4/l, l as in lyu2021.lem5.2; three scales, each 16 times smaller, by the rate of the "
        "error; r = 1e-2, 1e-3, 1e-5; in floats; that b is good has probability 1 - 2^-(m-1) by symmetry",
        quantity="last error",
        trains=True,
        examples=60,
        could_fail=lambda instance: instance.data.dimension > 1,
        variants=(
            Variant(
                name="early",
                statement="The flow at T_12 - 1/l + t tends to the embedding of the flow of two neurons at t.",
                conclusion=partial(follows_two_neurons, early=1.0),
            ),
        ),
    ),
)

if __name__ == "__main__":
    run_alone(CLAIMS)
