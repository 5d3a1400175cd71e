"""Judgements about flows from small scales, as lemmas are about all scales below an astronomically small bound.

A flow is judged at two scales: they hold when their bounds hold at the smaller one, and fail when these do not and the
excess is not even half of that at the larger one; else the scales were too large to tell.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import isfinite

from verify.claims.chistikov2023.correlated import EPSILON, Constants, constants, yardsticks_of
from verify.claims.records import Instance, Judgement, failed, held, undecided

__all__ = ["EARLY", "ROUNDING", "from_scales", "scale_of"]

EARLY = (1e-3, 1e-5)
"""Scales of the kinks: their times differ from the yardsticks' by the order of the scale's square, far above rounding
at the first and less than its bounds at both."""


ROUNDING = 1e-6
"""Relative: of norms after a flow whose steps are right to 1e-8."""


LEAST_POWER = 96
"""The smallest scale is 10^-96, whose square is a float."""


def from_scales(excesses: Sequence[tuple[float, str]], measured: float) -> Judgement:
    """A judgement from what bounds are exceeded by, and the words for it, at scales that fall; <= 0 means kept."""
    last, what = excesses[-1]
    is_wrong = not all(isfinite(excess) or excess > 0 for excess, _ in excesses)  # an infinite one is exceeded
    if is_wrong or (last <= 0 and not isfinite(measured)):
        return undecided("the flow has weights that are no numbers")
    if last <= 0:
        return held(what, measured=Fraction(measured))
    if last >= excesses[0][0] / 2:
        return failed(f"{what}, and it is not getting less as the scale falls")
    return undecided("the bound is exceeded by less and less as the scale falls")


def scale_of(
    instance: Instance, ready: Callable[[Constants, float, float], bool] = lambda _, __, ___: True
) -> float | None:
    """lambda = 10^-12, 10^-24, .. so small that T_1 >= T_0 and the yardsticks are aligned at T_1; None below 10^-96.

    ready: what else is asked, of the constants, lambda, and the sine of the largest angle of a yardstick at T_1.
    """
    known = constants(instance)
    for power in range(12, LEAST_POWER + 1, 12):
        scale = 10.0**-power
        time = known.aligned(scale)
        if time < known.rest:
            continue
        tangent = max((found.half_tangent(time) for found in yardsticks_of(instance) if found.sign > 0), default=0.0)
        off, sine = 2 * tangent**2 / (1 + tangent**2), 2 * tangent / (1 + tangent**2)
        if off <= scale**EPSILON and ready(known, scale, sine):  # off: 1 - cos
            return scale
    return None
