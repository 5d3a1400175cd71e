"""Lemma 5.2 of arXiv:2110.13905, section 5.1.

    |w_k(T_1(r)) - r b_k mu/|mu||, |a_k(T_1(r)) - r b_k|  <=  C r^3 / sqrt(m)  for all k

at T_1(r) = 1/l ln(r / (sqrt(m) M)), where sigma <= r^3 / (sqrt(m) |theta_|_M); the letters are those of
`verify.claims.lyu2021.growth`.
"""

from __future__ import annotations

from functools import partial
from math import isfinite, sqrt

from hypothesis import strategies as st

from verify.claims.lyu2021.clocks import course
from verify.claims.lyu2021.growth import FLOATS, NO_NUMBERS, Start, is_small, m_norm, measured_in_floats
from verify.claims.lyu2021.symmetric import SYMMETRIC, is_leaky
from verify.claims.power import has_points
from verify.claims.records import Claim, Instance, Judgement, Variant, failed, held, undecided
from verify.claims.theorems import run_alone
from verify.strategies import symmetric_starts

__all__ = ["CLAIMS", "aligns"]


def aligns(instance: Instance, factor: float = 1.0) -> Judgement:
    """|theta(T_1(r)) - (r b_k mu/|mu|, r b_k)|_M <= C r^3 / sqrt(m), for the least r of the lemma and for twice that.

    C = sqrt(2) (1 + X^2 / (4 l) (1 - X^2 r^2 / (2 l))^(-3/2)), from: N = max |(w_k, v_k)| starts at most at sqrt(2) M;
    the flow is that of the matrix with top eigenvalue l and an error of at most m X^2 / 4 N^2 |(w_k, v_k)|, as |g(q) -
    1/2| <= |q| / 4 for the logistic loss's g; and what the matrix does not make grow is at most sqrt(2) M <= sqrt(2)
    r^3 / sqrt(m). Measured: the error in units of that bound, times `factor`.
    """
    start, width = Start(instance), instance.network.width
    least = start.largest ** (1 / 3)
    found = course(instance, start.time(2 * least))
    if found is None:
        return undecided("the flow ended before")
    worst = 0.0
    for r in (least, 2 * least):
        rest = 1 - (start.reach * r) ** 2 / (2 * start.growth)
        constant = sqrt(2) * (1 + start.reach**2 / (4 * start.growth) * rest**-1.5)
        error = m_norm(found(start.time(r)) - start.embedded(r), width)
        worst = max(worst, factor * error * sqrt(width) / (constant * r**3))
    if not isfinite(worst):
        return undecided(NO_NUMBERS)
    if worst > 1 + FLOATS:
        return failed(f"the error is {worst:.3g} times its bound", measured=measured_in_floats(worst))
    return held(f"the error is {worst:.3g} of its bound", measured=measured_in_floats(worst))


CLAIMS = (
    Claim(
        id="lyu2021.lem5.2",
        source="arXiv:2110.13905, Lemma 5.2",
        statement="In phase I all neurons align: w_k = r b_k mu/|mu| and a_k = r b_k at T_1(r), with an error of at "
        "most C r^3 / sqrt(m).",
        setting=is_leaky,
        hypotheses={**SYMMETRIC, "small": is_small},
        conclusion=aligns,
        instances=symmetric_starts(decades=st.integers(0, 3)).map(lambda drawn: Instance(*drawn)),
        sharp={"symmetric": "max-margin/lyu2021-theorem-4-3-one-point"},
        regime="C is universal in the paper; here it is sqrt(2) (1 + X^2 / (4 l) (1 - X^2 r^2 / (2 l))^(-3/2)), X = "
        "max |x_i|, which is proved; l = (1 + a)/4 |mu|, half of what the paper has; r with sigma = r^3 / (sqrt(m) "
        "|theta|_M) and twice that, where 4 r^2 X^2 <= l for the first; in floats",
        quantity="error over its bound",
        trains=True,
        examples=200,
        could_fail=has_points(2),
        variants=(
            Variant(
                name="a-hundredth",
                statement="The error is at most C r^3 / (100 sqrt(m)).",
                conclusion=partial(aligns, factor=100.0),
            ),
        ),
    ),
)

if __name__ == "__main__":
    run_alone(CLAIMS)
