"""Proposition 1 of arXiv:2306.06479, section 2.

    da_j/dt = w_j.g_j,  dw_j/dt = a_j g_j,  g_j in 1/n sum_i (y_i - h(x_i)) ds(w_j.x_i) x_i
    a_j = s_j |w_j| != 0

along the flow from a balanced start, with ds the subdifferential of the ReLU.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial

import numpy as np

from verify.claims.chistikov2023.correlated import POINTS, STARTS, is_taught
from verify.claims.chistikov2023.flows import velocity
from verify.claims.power import always
from verify.claims.records import Claim, Instance, Judgement, Variant, failed, held
from verify.claims.theorems import run_alone
from verify.numbers.floats import to_floats, to_matrix
from verify.training import rows_of, targets_of

__all__ = ["CLAIMS", "STEPS", "stays_balanced"]

STEPS = 250


def stays_balanced(instance: Instance, least: int = 0) -> Judgement:
    """Explicit Euler with steps h and h / 4, which conserves no balance: the drift of a_j^2 - |w_j|^2 is of order h.

    A step changes it by h^2 ((w.g)^2 - a^2 |g|^2), at most h^2 ||grad L||^2; while the loss falls by half of
    h ||grad L||^2 at least, as it does for small h, the sum of all is at most 2 h L(theta_0). The flow is h -> 0. No
    a_j changes its sign or vanishes. Measured: the largest drift, in units of 2 h L(theta_0). least: of a_j^2 -
    (1 + least) |w_j|^2 instead.
    """
    rows = rows_of(instance.data, instance.network.architecture)
    targets = targets_of(instance.data)
    hidden = to_matrix(instance.network.hidden_weights)
    outgoing = to_floats(instance.network.output_weights)
    start = _loss(rows, targets, hidden, outgoing)
    # the curvature of L, by the weights and by the residuals
    second = float((rows**2).sum(axis=1).mean())
    curvature = second * 2 * float((outgoing**2).sum() + 1) + np.sqrt(second * 2 * start)
    largest = 0.0
    for parts in (1, 4):
        step, w, a = 0.02 / curvature / parts, hidden, outgoing
        for _ in range(STEPS * parts):
            dw, da = velocity(rows, targets, w, a)
            w, a = w + step * dw, a + step * da
            if not (a * outgoing > 0).all():
                return failed("an output weight changes its sign")
        drift = float(np.abs(a**2 - (1 + least) * (w**2).sum(axis=1)).max())
        largest = drift / (2 * step * start)
        if not largest <= 1:  # nor NaN
            return failed(f"with steps {step:.3g} a^2 - |w|^2 drifts to {drift:.3g}, {largest:.3g} times its bound")
    return held("the drift is of the order of the step", measured=Fraction(largest))


def _loss(rows: np.ndarray, targets: np.ndarray, hidden: np.ndarray, outgoing: np.ndarray) -> float:
    return float(((np.maximum(rows @ hidden.T, 0) @ outgoing - targets) ** 2).mean() / 2)


CLAIMS = (
    Claim(
        id="chistikov2023.prop1",
        source="arXiv:2306.06479, Proposition 1",
        statement="Along the flow a_j = s_j |w_j| and is never 0.",
        setting=is_taught,
        conclusion=stays_balanced,
        instances=STARTS,
        regime=f"{POINTS}, lambda = 1; explicit Euler of two steps h in place of the flow, with a drift of order h; "
        "the rates of part (i) are what its steps are made of",
        quantity="drift of a^2 - |w|^2 in units of 2 h L(0)",
        trains=True,
        could_fail=always,
        variants=(
            Variant(
                name="unequal",
                statement="Along the flow a_j^2 = 2 |w_j|^2.",
                conclusion=partial(stays_balanced, least=1),
            ),
        ),
    ),
)

if __name__ == "__main__":
    run_alone(CLAIMS)
