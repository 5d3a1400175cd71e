"""Lemma 3 of arXiv:2306.06479, section 4.

    neuron j crosses the kinks of Proposition 2 in the same order, at times t^1 < t^2 < .. with
    |tau^l - t^l| <= lambda^(1 - (1 + (3 l - 1) / (3 n_j)) epsilon)

under Assumptions 1 and 2, with n_j the number of these kinks.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from verify.claims.chistikov2023.correlated import (
    ASSUMPTION_1,
    EPSILON,
    POINTS,
    STARTS,
    Yardstick,
    is_taught,
    yardsticks_of,
)
from verify.claims.chistikov2023.flows import Flow, flow_from
from verify.claims.chistikov2023.proposition_2 import has_ordered_yardsticks
from verify.claims.chistikov2023.small_scales import EARLY, from_scales
from verify.claims.records import Claim, Instance, Judgement, Outcome, Variant, failed, undecided
from verify.claims.theorems import run_alone

__all__ = ["CLAIMS", "crosses_as_the_yardsticks_do"]


def crosses_as_the_yardsticks_do(instance: Instance, factor: float = 1.0) -> Judgement:
    """Lemma 3 at two scales; measured: the largest |t - tau| in units of its bound, at the smaller one.

    factor: of the times tau.
    """
    if has_ordered_yardsticks(instance).outcome is not Outcome.HELD:
        return _crosses_each_once(instance)
    excesses: list[tuple[float, str]] = []
    largest = 0.0
    for scale in EARLY:
        flow = flow_from(instance, scale)
        largest = max((_time_ratio(flow, found, scale, factor) for found in yardsticks_of(instance)), default=0.0)
        excesses.append((largest - 1, f"|t - tau| is {largest:.2g} times its bound at lambda = {scale:g}"))
    return from_scales(excesses, largest)


def _time_ratio(flow: Flow, yardstick: Yardstick, scale: float, factor: float) -> float:
    """The largest |t^l - tau^l| / bound; infinite where kinks are crossed in another order or another sense."""
    mine = [change for change in flow.changes if change[1] == yardstick.neuron]
    order, count = yardstick.order, len(yardstick.order)
    wanted = [(point, -yardstick.sign, yardstick.sign) for point in order]
    if [change[2:] for change in mine] != wanted:
        return float("inf")
    exponents = [1 - (1 + (3 * l - 1) / (3 * count)) * EPSILON for l in range(1, count + 1)]
    pairs = zip(mine, yardstick.times, exponents, strict=True)
    return max((abs(change[0] - factor * tau) / scale**power for change, tau, power in pairs), default=0.0)


def _crosses_each_once(instance: Instance) -> Judgement:
    """Where Proposition 2 is false there is no order to compare with: failed where a neuron does not cross into, or out
    of, each point on the other side once and no others, as the lemma says, at both scales; else undecided.
    """
    wrong: list[str] = []
    for scale in EARLY:
        flow = flow_from(instance, scale)
        for found in yardsticks_of(instance):
            first = {int(i) for i in np.flatnonzero(flow.rows @ flow.hidden[0, found.neuron] > 0)}
            wanted = set(range(len(instance.data))) - first if found.sign > 0 else first
            mine = [change for change in flow.changes if change[1] == found.neuron]
            crossed = [(point, before, after) for _, _, point, before, after in mine]
            if sorted(crossed) != sorted((point, -found.sign, found.sign) for point in wanted):
                wrong.append(
                    f"neuron {found.neuron} does not cross each of {sorted(wanted)} once, at lambda = {scale:g}"
                )
                break
    if len(wrong) == len(EARLY):
        return failed(wrong[-1])
    return undecided("a yardstick has no order to compare with")


CLAIMS = (
    Claim(
        id="chistikov2023.lem3",
        source="arXiv:2306.06479, Lemma 3",
        statement="Neurons that are active at first cross their kinks in the yardsticks' order, at times that differ "
        "by at most lambda^(1 - (1 + (3 l - 1) / 3 n_j) epsilon).",
        setting=is_taught,
        hypotheses=ASSUMPTION_1,
        conclusion=crosses_as_the_yardsticks_do,
        instances=STARTS,
        sharp={
            "45-degrees": "min-norm/chistikov2023-wide-points",
            "off-common-pull": "min-norm/chistikov2023-common-pull",
        },
        regime=f"{POINTS}; lambda = 1e-3 and 1e-5, epsilon = 1/4",
        quantity="|t - tau| in units of the bound",
        trains=True,
        examples=20,
        could_fail=lambda instance: any(found.order for found in yardsticks_of(instance)),
        variants=(
            Variant(
                name="doubled",
                statement="Neurons cross their kinks at twice the times of the yardsticks, with these differences.",
                conclusion=partial(crosses_as_the_yardsticks_do, factor=2.0),
            ),
        ),
    ),
)

if __name__ == "__main__":
    run_alone(CLAIMS)
