"""Lemma 6 of arXiv:2603.04895v2, section 5 and appendix A.3.

    b_ki < 0, |x_i|^2 |b_ki| > |off_i| |b_k|  ==>  z_ki < 0 and b_ki(t + 1) = b_ki(t)

with |off_i| the norm of (x_i.x_j), and |b_k| that of (b_kj), over j != i. The paper bounds |b_k| by a multiple of
sqrt(n) |y| / |x|^2, and |off_i| with high probability by one of |x|^2 sqrt(n / d); "sufficiently negative" is what is
above their product. The text that we have lost its formulas; this is rebuilt from the proof.

A dual variable that moves violates it. Instances have b_k along (x_i.x_j) and b_ki just below the threshold, so that
half the threshold is refuted.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from verify.checker.exact import dot
from verify.claims.lai2026.exact_descent import advanced, gram, step_size
from verify.claims.lai2026.hypotheses import STEP, duals, has_labels, is_hidden_regression, off_diagonal, primal_of
from verify.claims.records import Claim, Instance, Judgement, failed, held
from verify.claims.theorems import run_alone
from verify.strategies import aligned_duals

__all__ = ["CLAIMS", "freezes", "has_a_negative_dual", "negative_duals"]


def negative_duals(instance: Instance, factor: Fraction = Fraction(1)) -> list[tuple[int, int]]:
    """The pairs (k, i) with b_ki < 0 and |x_i|^4 b_ki^2 > factor |off_i|^2 |b_k|^2."""
    products_of, off = gram(instance), off_diagonal(instance)
    return [
        (k, i) for k, b in enumerate(duals(instance) or [])
        for i in range(len(b))
        if b[i] < 0 and products_of[i][i] ** 2 * b[i] ** 2 > factor * off[i] * (dot(b, b) - b[i] ** 2)
    ]  # fmt: skip


def has_a_negative_dual(instance: Instance) -> bool:
    """Some dual variable is sufficiently negative."""
    return bool(negative_duals(instance))


def freezing(factor: Fraction) -> Callable[[Instance], Judgement]:
    """The same where the threshold is `factor` times its square."""
    return lambda instance: freezes(instance, factor)


def freezes(instance: Instance, factor: Fraction = Fraction(1)) -> Judgement:
    """z_ki < 0, and a step leaves b_ki as it is; measured: the least -z / (|x|^2 |b|), 0 being the threshold."""
    places, z, n = negative_duals(instance, factor), primal_of(instance), len(instance.data)
    _, moves = advanced(instance, z, [[Fraction(0)] * n for _ in z], step_size(instance))
    products_of, b = gram(instance), duals(instance) or []
    wrong = [(k, i) for k, i in places if z[k][i] >= 0 or moves[k][i]]
    if wrong:
        return failed(f"dual variables move at {wrong}")
    return held(measured=min(-z[k][i] / (products_of[i][i] * -b[k][i]) for k, i in places)) if places else held()


CLAIMS = (
    Claim(
        id="lai2026.lem6",
        source="arXiv:2603.04895v2, Lemma 6",
        statement="A sufficiently negative dual variable does not move.",
        setting=is_hidden_regression,
        hypotheses={"nonzero-labels": has_labels, "negative-dual": has_a_negative_dual},
        conclusion=freezes,
        instances=aligned_duals().map(lambda drawn: Instance(*drawn)),
        regime=f"n up to 32 and d up to 4096, the other dual variables along what raises z; {STEP}",
        quantity="-z / (|x|^2 |b|)",
        examples=100,
    ),
)

if __name__ == "__main__":
    run_alone(CLAIMS)
