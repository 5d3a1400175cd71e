"""Lemma 5 of arXiv:2603.04895v2, section 5 and appendix A.2.

    s_k y_i > 0, z_ki(t) > 0, |off_i| |f - y| < |x_i|^2 |y_i|  ==>  z_ki(t + 1) > 0

with at most one neuron of each sign, and |off_i| the norm of (x_i.x_j) over j != i. The paper bounds |f - y| by a
multiple of sqrt(n) |y|, and |off_i| with high probability by one of |x|^2 sqrt(n / d); what its proof needs of both is
their product. The text that we have lost its formulas; this is rebuilt from the proof.

The hypotheses are about neuron 0 and point 0 of an instance; the conclusion is asked of every pair of which they hold.
A step after which such a z is at most 0 violates it. Instances have z near 0 and residuals along (x_i.x_j), so that a
bound 16 times as large is refuted.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial

from verify.checker.exact import dot
from verify.claims.lai2026.exact_descent import advanced, gram, step_size
from verify.claims.lai2026.hypotheses import (
    STEP,
    active_sums,
    is_hidden_regression,
    off_diagonal,
    primal_of,
)
from verify.claims.power import has_points
from verify.claims.records import Claim, Instance, Judgement, Variant, failed, held
from verify.claims.theorems import run_alone
from verify.strategies import aligned_residuals

__all__ = ["CLAIMS", "bounded_residuals", "stays_positive"]


def is_one_of_a_sign(instance: Instance) -> bool:
    """At most one neuron of each sign."""
    signs = instance.network.output_weights
    return len(signs) == len({*signs})


def has_the_label_of_its_sign(instance: Instance) -> bool:
    """s_0 y_0 > 0."""
    return instance.network.output_weights[0] * instance.data.targets[0] > 0


def is_positive(instance: Instance) -> bool:
    """z_00 > 0."""
    return primal_of(instance)[0][0] > 0


def bounded_residuals(factor: Fraction) -> Callable[[Instance], bool]:
    """|off_0|^2 |f - y|^2 < factor |x_0|^4 y_0^2."""
    return lambda instance: 0 in _bounded(instance, factor)


def _bounded(instance: Instance, factor: Fraction) -> list[int]:
    labels, products_of, off = instance.data.targets, gram(instance), off_diagonal(instance)
    f = active_sums(instance.network.output_weights, primal_of(instance))
    errors = [a - y for a, y in zip(f, labels, strict=True)]
    size = dot(errors, errors)
    return [i for i, y in enumerate(labels) if off[i] * size < factor * products_of[i][i] ** 2 * y**2]


def _asked(instance: Instance, factor: Fraction) -> list[tuple[int, int]]:
    """Neuron 0 at point 0, and the other pairs (k, i) with s_k y_i > 0 and z_ki > 0 where the residuals are bounded."""
    signs, labels, z = instance.network.output_weights, instance.data.targets, primal_of(instance)
    bounded = _bounded(instance, factor)
    others = [(k, i) for k, s in enumerate(signs) for i in bounded if s * labels[i] > 0 and z[k][i] > 0]
    return [(0, 0), *(pair for pair in others if pair != (0, 0))]


def stays_positive(instance: Instance, factor: Fraction = Fraction(1)) -> Judgement:
    """z > 0 after a step at all pairs that are asked about; measured: the least z / (h |x|^2 |y|)."""
    h, labels, products_of = step_size(instance), instance.data.targets, gram(instance)
    z, _ = advanced(instance, primal_of(instance), [[Fraction(0)] * len(labels) for _ in primal_of(instance)], h)
    values = [
        (z[k][i] / (h * products_of[i][i] * abs(labels[i] or 1)), k, i) for k, i in _asked(instance, factor)
    ]  # fmt: skip
    value, k, i = min(values)
    if value <= 0:
        return failed(f"neuron {k} is off at point {i} after a step", measured=value)
    return held(measured=value)


CLAIMS = (
    Claim(
        id="lai2026.lem5",
        source="arXiv:2603.04895v2, Lemma 5",
        statement="With bounded residuals a positive primal variable stays positive where the label has the neuron's "
        "sign.",
        setting=is_hidden_regression,
        hypotheses={
            "one-of-a-sign": is_one_of_a_sign,
            "label-of-its-sign": has_the_label_of_its_sign,
            "positive": is_positive,
            "bounded-residuals": bounded_residuals(Fraction(1)),
        },
        sharp={
            "one-of-a-sign": "min-norm/lai2026-three-overshoot",
            "label-of-its-sign": "min-norm/lai2026-other-label",
            "positive": "min-norm/lai2026-off-at-its-label",
            "bounded-residuals": "min-norm/lai2026-opposite-residuals",
        },
        conclusion=stays_positive,
        instances=aligned_residuals().map(lambda drawn: Instance(*drawn)),
        regime="one neuron; n up to 32 and d up to 4096, residuals along what pushes it off; their bound, as the "
        "proof needs it, is one of their product with the x_i.x_j; that no two neurons have one sign is our reading; "
        f"{STEP}",
        quantity="z(t + 1) / (h |x|^2 |y|)",
        examples=60,
        could_fail=has_points(2),
        variants=(
            Variant(
                name="sixteen",
                statement="The same with residuals whose squares are 16 times as large.",
                conclusion=partial(stays_positive, factor=Fraction(16)),
                hypotheses={
                    "one-of-a-sign": is_one_of_a_sign,
                    "label-of-its-sign": has_the_label_of_its_sign,
                    "positive": is_positive,
                    "bounded-residuals": bounded_residuals(Fraction(16)),
                },
                instances=aligned_residuals(parts=(3.9,)).map(lambda drawn: Instance(*drawn)),
            ),
        ),
    ),
)

if __name__ == "__main__":
    run_alone(CLAIMS)
