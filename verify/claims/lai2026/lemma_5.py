"""Lemma 5 of arXiv:2603.04895v2, section 5 and appendix A.2.

    s_k y_i > 0, z_ki(t) > 0, |off_i| |f - y| < |x_i|^2 |y_i|  ==>  z_ki(t + 1) > 0

with at most one neuron of each sign, and |off_i| the norm of (x_i.x_j) over j != i. The paper bounds |f - y| by a
multiple of sqrt(n) |y|, and |off_i| with high probability by one of |x|^2 sqrt(n / d); what its proof needs of both is
their product. The text that we have lost its formulas; this is rebuilt from the proof.

A step after which such a z is at most 0 violates it. Instances have z near 0 and residuals along (x_i.x_j), so that a
bound 16 times as large is refuted.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from verify.checker.exact import dot
from verify.claims.lai2026.exact_descent import advanced, gram, step_size
from verify.claims.lai2026.hypotheses import (
    STEP,
    active_sums,
    has_labels,
    is_hidden_regression,
    off_diagonal,
    primal_of,
)
from verify.claims.records import Claim, Instance, Judgement, failed, held
from verify.claims.theorems import run_alone
from verify.strategies import aligned_residuals

__all__ = ["CLAIMS", "bounded_residuals", "has_bounded_residuals", "is_positive_where_aligned", "stays_positive"]


def aligned(instance: Instance) -> list[tuple[int, int]]:
    """The pairs (k, i) with s_k y_i > 0 and z_ki > 0."""
    signs, labels = instance.network.output_weights, instance.data.targets
    return [
        (k, i) for k, (s, line) in enumerate(zip(signs, primal_of(instance), strict=True))
        for i, y in enumerate(labels) if s * y > 0 and line[i] > 0
    ]  # fmt: skip


def is_one_of_a_sign(instance: Instance) -> bool:
    """At most one neuron of each sign."""
    signs = instance.network.output_weights
    return is_hidden_regression(instance) and len(signs) == len({*signs})


def is_positive_where_aligned(instance: Instance) -> bool:
    """Some neuron is on at a label of its sign."""
    return bool(aligned(instance))


def bounded_residuals(factor: Fraction) -> Callable[[Instance], bool]:
    """|off_i|^2 |f - y|^2 < factor |x_i|^4 y_i^2 at some point where a neuron is on and the label has its sign."""
    return lambda instance: bool(_bounded(instance, factor))


def _bounded(instance: Instance, factor: Fraction) -> list[tuple[int, int]]:
    labels, products_of, off = instance.data.targets, gram(instance), off_diagonal(instance)
    f = active_sums(instance.network.output_weights, primal_of(instance))
    errors = [a - y for a, y in zip(f, labels, strict=True)]
    size = dot(errors, errors)
    return [
        (k, i) for k, i in aligned(instance) if off[i] * size < factor * products_of[i][i] ** 2 * labels[i] ** 2
    ]  # fmt: skip


has_bounded_residuals = bounded_residuals(Fraction(1))


def stays_positive(instance: Instance, factor: Fraction = Fraction(1)) -> Judgement:
    """z > 0 after a step, where it was and the residuals are bounded; measured: the least z / (h |x|^2 |y|)."""
    h, labels, products_of = step_size(instance), instance.data.targets, gram(instance)
    z, _ = advanced(instance, primal_of(instance), [[Fraction(0)] * len(labels) for _ in primal_of(instance)], h)
    values = [(z[k][i] / (h * products_of[i][i] * abs(labels[i])), k, i) for k, i in _bounded(instance, factor)]
    if not values:
        return held("there is no such point")
    value, k, i = min(values)
    if value <= 0:
        return failed(f"neuron {k} goes off at point {i}, whose label has its sign", measured=value)
    return held(measured=value)


CLAIMS = (
    Claim(
        id="lai2026.lem5",
        source="arXiv:2603.04895v2, Lemma 5",
        statement="With bounded residuals a positive primal variable stays positive where the label has the neuron's "
        "sign.",
        setting=is_one_of_a_sign,
        hypotheses={
            "nonzero-labels": has_labels,
            "positive": is_positive_where_aligned,
            "bounded-residuals": has_bounded_residuals,
        },
        conclusion=stays_positive,
        instances=aligned_residuals().map(lambda drawn: Instance(*drawn)),
        regime=f"one neuron; n up to 32 and d up to 4096, residuals along what pushes it off; {STEP}",
        quantity="z(t + 1) / (h |x|^2 |y|)",
        examples=100,
    ),
)

if __name__ == "__main__":
    run_alone(CLAIMS)
