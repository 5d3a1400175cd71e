"""Lemma 6 of arXiv:2603.04895v2, section 5 and appendix A.3.

    b_ki < 0, |x_i|^2 |b_ki| > |off_i| |b_k|  ==>  z_ki < 0 and b_ki(t + 1) = b_ki(t)

with |off_i| the norm of (x_i.x_j), and |b_k| that of (b_kj), over j != i. The paper bounds |b_k| by a multiple of
sqrt(n) |y| / |x|^2, and |off_i| with high probability by one of |x|^2 sqrt(n / d); "sufficiently negative" is what is
above their product. The text that we have lost its formulas; this is rebuilt from the proof.

The hypotheses are about neuron 0 and point 0 of an instance; the conclusion is asked of every pair of which they hold.
A dual variable that moves violates it. Instances have b_k along (x_i.x_j) and b_ki just below the threshold, so that
half the threshold is refuted.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from verify.checker.exact import dot
from verify.claims.lai2026.exact_descent import Vector, advanced, gram, step_size
from verify.claims.lai2026.hypotheses import STEP, duals, is_hidden_regression, off_diagonal, primal_of
from verify.claims.power import has_points
from verify.claims.records import Claim, Instance, Judgement, Variant, failed, held, undecided
from verify.claims.theorems import run_alone
from verify.strategies import aligned_duals

__all__ = ["CLAIMS", "freezes", "freezing", "negative_duals", "sufficient"]


def negative_duals(instance: Instance, factor: Fraction = Fraction(1)) -> list[tuple[int, int]]:
    """The pairs (k, i) with b_ki < 0 and |x_i|^4 b_ki^2 > factor |off_i|^2 |b_k|^2."""
    return [
        (k, i) for k, b in enumerate(duals(instance) or [])
        for i in range(len(b))
        if b[i] < 0 and _is_large(instance, b, i, factor)
    ]  # fmt: skip


def is_negative(instance: Instance) -> bool:
    """b_00 < 0."""
    b = duals(instance)
    return b is not None and b[0][0] < 0


def sufficient(factor: Fraction) -> Callable[[Instance], bool]:
    """|x_0|^4 b_00^2 > factor |off_0|^2 |b_0|^2."""

    def holds(instance: Instance) -> bool:
        b = duals(instance)
        return b is not None and _is_large(instance, b[0], 0, factor)

    return holds


def _is_large(instance: Instance, b: Vector, i: int, factor: Fraction) -> bool:
    return gram(instance)[i][i] ** 2 * b[i] ** 2 > factor * off_diagonal(instance)[i] * (dot(b, b) - b[i] ** 2)


def freezing(factor: Fraction) -> Callable[[Instance], Judgement]:
    """The same where the threshold is `factor` times its square."""
    return lambda instance: freezes(instance, factor)


def freezes(instance: Instance, factor: Fraction = Fraction(1)) -> Judgement:
    """z_ki < 0, and a step leaves b_ki as it is; measured: the least -z / (|x|^2 |b|), 0 being the threshold."""
    z, n, b = primal_of(instance), len(instance.data), duals(instance)
    if b is None:
        return undecided("the weights are not in the span of the points")
    places = sorted({(0, 0), *negative_duals(instance, factor)})
    _, moves = advanced(instance, z, [[Fraction(0)] * n for _ in z], step_size(instance))
    wrong = [(k, i) for k, i in places if z[k][i] >= 0 or moves[k][i]]
    if wrong:
        return failed(f"dual variables move at {wrong}")
    parts = [z[k][i] / (gram(instance)[i][i] * b[k][i]) for k, i in places if b[k][i]]
    return held(measured=min(parts)) if parts else held()


CLAIMS = (
    Claim(
        id="lai2026.lem6",
        source="arXiv:2603.04895v2, Lemma 6",
        statement="A sufficiently negative dual variable does not move.",
        setting=is_hidden_regression,
        hypotheses={"negative": is_negative, "sufficient": sufficient(Fraction(1))},
        sharp={"negative": "min-norm/lai2026-positive-dual", "sufficient": "min-norm/lai2026-small-dual"},
        conclusion=freezes,
        instances=aligned_duals().map(lambda drawn: Instance(*drawn)),
        regime=f"n up to 32 and d up to 4096, the other dual variables along what raises z; sufficient is what "
        f"the proof needs; {STEP}",
        quantity="-z / (|x|^2 |b|)",
        examples=60,
        could_fail=has_points(2),
        variants=(
            Variant(
                name="half",
                statement="A dual variable that is half as negative does not move.",
                conclusion=freezing(Fraction(1, 4)),
                hypotheses={"negative": is_negative, "sufficient": sufficient(Fraction(1, 4))},
                instances=aligned_duals(times=(0.6,)).map(lambda drawn: Instance(*drawn)),
            ),
        ),
    ),
)

if __name__ == "__main__":
    run_alone(CLAIMS)
