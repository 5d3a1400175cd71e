"""Remark 3.1 of arXiv:2110.02732, section 3.

    for all M some x_1, x_2:  |theta~| >= M |theta*|

with theta~ the KKT point of Theorem 3.2 and theta* a global optimum; the angle between x_1 and x_2 tends to pi. Here
x = (+-1, e) with 21 M^2 e <= 10.
"""

from __future__ import annotations

from fractions import Fraction

from verify.claims.decisions import audited
from verify.claims.power import always
from verify.claims.records import Claim, Instance, Judgement, Variant, failed, held, undecided
from verify.claims.theorems import run_alone
from verify.claims.vardi2022.settings import is_pair
from verify.problem.problem import objective
from verify.strategies import far_pairs

__all__ = ["CLAIMS", "RATIOS", "allowed_ratio", "has_large_ratio", "is_symmetric_pair", "smallest"]

RATIOS = (10, 1000, 10**6)
"""The M of Remark 3.1 that are tried."""


def smallest(instance: Instance) -> Fraction:
    """e of points (1, e), (-1, e)."""
    return instance.data.inputs[0][1]


def is_symmetric_pair(instance: Instance) -> bool:
    """Points (1, e), (-1, e), e > 0, of one label, ReLU."""
    if not is_pair(instance) or instance.data.dimension != 2:
        return False
    (a, e), (b, f) = instance.data.inputs
    return (a, b) == (1, -1) and e == f > 0


def allowed_ratio(instance: Instance) -> int:
    """The largest M with 21 M^2 e <= 10; 10 where there is none."""
    return max((m for m in RATIOS if 21 * m * m * smallest(instance) <= 10), default=RATIOS[0])


def has_large_ratio(instance: Instance, factor: Fraction = Fraction(1)) -> Judgement:
    """||theta|| >= M ||theta*|| for the largest M of 10, 10^3, 10^6 that the angle allows, from both ends.

    factor: M is so many times that.
    """
    mine, bracket = objective(instance.problem, instance.network), audited(instance).bracket
    ratio = factor * allowed_ratio(instance)
    if mine is None:
        return failed("the network does not fit")
    if bracket is None:
        return undecided("the best objective has no bracket")
    low, high = bracket
    if mine >= ratio * ratio * high:
        return held(f"the norm is at least {ratio} times the least", measured=ratio)
    if mine < ratio * ratio * low:
        return failed(f"the norm is less than {ratio} times the least")
    return undecided(f"the bracket is too wide for the ratio {ratio}")


CLAIMS = (
    Claim(
        id="vardi2022.rem3.1",
        source="arXiv:2110.02732, Remark 3.1",
        statement="As the angle tends to pi, the norm of the KKT point is at least M times the least one, for M = 10, "
        "10^3, 10^6.",
        setting=is_symmetric_pair,
        hypotheses={"near-pi": lambda instance: 21 * RATIOS[0] ** 2 * smallest(instance) <= 10},
        conclusion=has_large_ratio,
        instances=far_pairs(RATIOS).map(Instance.of),
        sharp={"near-pi": "max-margin/vardi2022-theorem-3-2"},
        regime="points (1, e), (-1, e) with 21 M^2 e <= 10",
        quantity="M",
        could_fail=always,
        variants=(
            Variant(
                name="half-as-much-again",
                statement="The norm of the KKT point is at least 3/2 M times the least one.",
                conclusion=lambda instance: has_large_ratio(instance, Fraction(3, 2)),
            ),
        ),
    ),
)

if __name__ == "__main__":
    run_alone(CLAIMS)
