"""Proposition 2 and Lemmas 3 to 5 of arXiv:2306.06479: neurons cross their kinks as their yardsticks do.

The lemmas are about all scales lambda below an astronomically small bound. A flow is judged at two scales: they hold
when their bounds hold at the smaller one, and fail when these do not and the excess is not even half of that at the
larger one; else the scales were too large to tell.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import isfinite, log

import numpy as np

from verify.claims.chistikov2023.correlated import EPSILON, Constants, Yardstick, constants, yardsticks_of
from verify.claims.chistikov2023.flows import Flow, flow_from
from verify.claims.records import Instance, Judgement, Outcome, failed, held, undecided

__all__ = [
    "aligns_to_the_common_pull",
    "crosses_as_the_yardsticks_do",
    "from_scales",
    "has_dead_negative_neurons",
    "has_ordered_yardsticks",
    "scale_of",
]

EARLY = (1e-3, 1e-5)
"""Scales of the kinks: their times differ from the yardsticks' by the order of the scale's square, far above rounding
at the first and less than its bounds at both."""

ROUNDING = 1e-6
"""Relative: of norms after a flow whose steps are right to 1e-8."""

LEAST_POWER = 96
"""The smallest scale is 10^-96, whose square is a float."""


def has_ordered_yardsticks(instance: Instance) -> Judgement:
    """Each yardstick meets the kinks of the points to be crossed, each once and singly, and no others: exactly."""
    met = 0
    for found in yardsticks_of(instance):
        everything = set(range(len(instance.data)))
        inside = set(found.stages[0].active)
        expected = everything - inside if found.sign > 0 else inside
        name = f"the yardstick of neuron {found.neuron}"
        if found.stages[-1].end is not None:
            points = sorted(found.stages[-1].points)
            return failed(f"{name} has no unique way on at the kinks of {points}")
        order = found.order
        if len(order) != len(set(order)) or set(order) != expected:
            return failed(f"{name} meets the kinks {order}, not each of {sorted(expected)} once")
        met += len(order)
    return held("every kink once, in one order", measured=met)


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


def crosses_as_the_yardsticks_do(instance: Instance) -> Judgement:
    """Lemma 3 at two scales; measured: the largest |t - tau| in units of its bound, at the smaller one."""
    if has_ordered_yardsticks(instance).outcome is not Outcome.HELD:
        return undecided("a yardstick has no order to compare with")
    excesses: list[tuple[float, str]] = []
    largest = 0.0
    for scale in EARLY:
        flow = flow_from(instance, scale)
        largest = max((_time_ratio(flow, found, scale) for found in yardsticks_of(instance)), default=0.0)
        excesses.append((largest - 1, f"|t - tau| is {largest:.2g} times its bound at lambda = {scale:g}"))
    return from_scales(excesses, largest)


def _time_ratio(flow: Flow, yardstick: Yardstick, scale: float) -> float:
    """The largest |t^l - tau^l| / bound; infinite where kinks are crossed in another order or another sense."""
    mine = [change for change in flow.changes if change[1] == yardstick.neuron]
    order, count = yardstick.order, len(yardstick.order)
    wanted = [(point, -yardstick.sign, yardstick.sign) for point in order]
    if [change[2:] for change in mine] != wanted:
        return float("inf")
    exponents = [1 - (1 + (3 * l - 1) / (3 * count)) * EPSILON for l in range(1, count + 1)]
    pairs = zip(mine, yardstick.times, exponents, strict=True)
    return max((abs(change[0] - tau) / scale**power for change, tau, power in pairs), default=0.0)


def has_dead_negative_neurons(instance: Instance) -> Judgement:
    """Lemma 4 at two scales; measured: the largest |w_j| / (lambda |z_j|) at T_0, at the smaller one."""
    rest, found, largest = constants(instance).rest, [], 0.0
    for scale in EARLY:
        flow = flow_from(instance, scale)
        hidden, _ = flow.at(rest)
        found.append((0.0, "they are dead at T_0, and stay as they are"))
        largest = 0.0
        for yardstick in yardsticks_of(instance):
            if yardstick.sign > 0:
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


def aligns_to_the_common_pull(instance: Instance) -> Judgement:
    """Lemma 5 at a scale at which the yardsticks are aligned at T_1; measured: the largest (1 - cos) / bound."""
    scale, known = scale_of(instance), constants(instance)
    if scale is None:
        return undecided("the yardsticks are not aligned at T_1 for any scale that floats hold")
    time = known.aligned(scale)
    hidden, _ = flow_from(instance, scale).at(time)
    largest = 0.0
    for yardstick in yardsticks_of(instance):
        if yardstick.sign < 0:
            continue
        w, z = hidden[yardstick.neuron], instance.network.hidden_weights[yardstick.neuron]
        size, first = float(np.linalg.norm(w)), float(np.linalg.norm([float(value) for value in z]))
        off = float(np.linalg.norm(w / size - known.gamma / known.pull)) ** 2 / 2  # 1 - cos
        if not size < 2 * first * scale ** (1 - EPSILON):
            return failed(f"at lambda = {scale:g} neuron {yardstick.neuron} has the norm {size:.3g} at T_1")
        if not off <= scale**EPSILON:
            return failed(f"at lambda = {scale:g} neuron {yardstick.neuron} is off gamma at T_1: 1 - cos = {off:.3g}")
        apart = abs(yardstick.log_growth(time) - log(size / scale / first))
        if not apart <= scale ** (1 - 3 * EPSILON) + ROUNDING:
            return failed(f"at lambda = {scale:g} neuron {yardstick.neuron} grows unlike its yardstick: {apart:.3g}")
        largest = max(largest, off / scale**EPSILON)
    return held(f"at lambda = {scale:g}", measured=Fraction(largest))
