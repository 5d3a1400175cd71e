"""Theorem 6 of arXiv:2306.06479, section 5.

    for some T_2 < ln(1/lambda) (4 + epsilon) d Delta^2 / delta^6 and all t >= 0:
        L(theta(T_2 + t)) < 1/2 Delta^2 exp(-0.4 t delta^4 / Delta^2)

under Assumptions 1 and 2.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from math import log

import numpy as np

from verify.claims.chistikov2023.bundles import ACCURACY, bundle_of, is_nearly_linear, unfitted, without_a_scale
from verify.claims.chistikov2023.correlated import ASSUMPTION_1, EPSILON, STARTS_OF_LOW_DIMENSION, constants, is_taught
from verify.claims.chistikov2023.flows import flow_from, velocity
from verify.claims.chistikov2023.small_scales import scale_of
from verify.claims.power import always
from verify.claims.records import Claim, Instance, Judgement, Variant, failed, held
from verify.claims.theorems import run_alone

__all__ = ["CLAIMS", "converges_exponentially"]


def converges_exponentially(instance: Instance, factor: float = 1.0) -> Judgement:
    """Theorem 6, and its proof's ||grad L||^2 > (2 eta_d^2 / 5 eta_1) L; measured: the least quotient of the two.

    T_2 is the first step after T_1 with r_1 >= 1/2. factor: of the bound of the gradient.
    """
    known, scale = constants(instance), scale_of(instance, is_nearly_linear)
    if scale is None:
        return without_a_scale(instance)
    flow = flow_from(instance, scale, ACCURACY)
    if not flow.is_fitted:
        return unfitted(flow, scale)
    first = bundle_of(flow, instance) @ known.basis[:, 0] / known.teacher[0]
    reached = np.flatnonzero((flow.times >= known.aligned(scale)) & (first >= 0.5))
    d, delta, bound = len(known.eta), known.delta, known.bound
    latest = log(1 / scale) * (4 + EPSILON) * d * bound**2 / delta**6 if delta > 0 else float("inf")
    if not len(reached) or not flow.times[reached[0]] < latest:
        return failed(f"at lambda = {scale:g} T_2 is not before {latest:.3g}")
    after = slice(int(reached[0]), None)
    times, losses = flow.times[after] - flow.times[reached[0]], np.exp(flow.log_losses[after])
    # both fall: between two steps the loss is at most that at the first, and the bound at least that at the second
    if not (losses[:-1] < 0.5 * bound**2 * np.exp(-0.4 * times[1:] * delta**4 / bound**2)).all():
        return failed(f"at lambda = {scale:g} the loss is above the bound")
    constant = factor * 2 * known.eta[-1] ** 2 / (5 * known.eta[0])
    quotients: list[float] = []
    for hidden, outgoing, loss in zip(flow.hidden[after], flow.outgoing[after], losses, strict=True):
        parts = velocity(flow.rows, flow.targets, hidden, outgoing)
        quotients.append(sum(float((part**2).sum()) for part in parts) / (constant * loss))
    if not min(quotients) > 1:
        return failed(f"at lambda = {scale:g} ||grad L||^2 falls to {min(quotients):.3g} times its bound")
    return held(f"at lambda = {scale:g}", measured=Fraction(min(quotients)))


CLAIMS = (
    Claim(
        id="chistikov2023.thm6",
        source="arXiv:2306.06479, Theorem 6",
        statement="For some T_2 < log(1 / lambda) (4 + epsilon) d Delta^2 / delta^6 the loss at T_2 + t is below "
        "Delta^2 / 2 exp(-0.4 t delta^4 / Delta^2).",
        setting=is_taught,
        hypotheses=ASSUMPTION_1,
        conclusion=converges_exponentially,
        instances=STARTS_OF_LOW_DIMENSION,
        sharp={
            "45-degrees": "min-norm/chistikov2023-wide-points",
            "positive-active": "min-norm/chistikov2023-only-negative",
        },
        regime="d = 2, 3; the first lambda = 10^-12, 10^-24, .. that leaves S room; epsilon = 1/4; with the "
        "inequality of its proof, |grad L|^2 > (2 eta_d^2 / 5 eta_1) L, whose constant is damaged in our text: the "
        "square is what the rate of the theorem needs",
        quantity="|grad L|^2 / L in units of its bound",
        trains=True,
        examples=20,
        could_fail=always,
        variants=(
            Variant(
                name="thousand",
                statement="|grad L|^2 > 1000 (2 eta_d^2 / 5 eta_1) L after T_2.",
                conclusion=partial(converges_exponentially, factor=1e3),
            ),
        ),
    ),
)

if __name__ == "__main__":
    run_alone(CLAIMS)
