"""Lemma 3 of arXiv:2603.04895v2, section 3.2.

    argmin of (7) = argmin |w|^2 subject to w.x_i = max(y_i, 0) for i in S,  for some S that holds all i with y_i > 0

where (7) is to minimise 1/2 |w|^2 subject to w.x_i = y_i where y_i > 0, and w.x_i <= 0 elsewhere. The text that we
have lost its formulas; this is rebuilt from the proof.

The audit of a network of one neuron, at the labels max(y, 0), finds the best and proves it, both ends of its value
being one number. A best network whose weights are not those of its own S violates the lemma. S = the positive labels
alone would be false on most instances: `is_linear_on` with that S is the variant that is refuted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from verify.checker.exact import dot
from verify.claims.lai2026.audited_limits import audited_at
from verify.claims.lai2026.exact_descent import gram
from verify.claims.lai2026.hypotheses import has_both_labels, is_one_neuron
from verify.claims.lai2026.least_norms import is_best_exactly, weights_at
from verify.claims.records import Claim, Instance, Judgement, Variant, failed, held, undecided
from verify.claims.theorems import run_alone
from verify.deciders.rounding import solve_exactly
from verify.strategies import feature_pairs

__all__ = ["CLAIMS", "is_linear_on", "is_linear_on_a_subset"]

SubsetRule = Callable[[Instance, Sequence[Fraction]], list[int]]

SIZES = ((1, 1), (2, 2), (4, 8), (8, 16), (8, 32), (8, 64), (12, 48), (16, 256), (8, 256))
"""(points, dimension): where d is a few n, some labels of the other sign are at 0, and others below."""


def of_all_zeros(instance: Instance, at: Sequence[Fraction]) -> list[int]:
    """The positive labels, and the points at which the best network is exactly 0."""
    return [i for i, (y, z) in enumerate(zip(instance.data.targets, at, strict=True)) if y > 0 or z == 0]


def of_positive_labels(instance: Instance, at: Sequence[Fraction]) -> list[int]:  # noqa: ARG001
    """The positive labels alone: too few, where descent has to be kept at 0 elsewhere."""
    return [i for i, y in enumerate(instance.data.targets) if y > 0]


def is_linear_on(chosen: SubsetRule) -> Callable[[Instance], Judgement]:
    """Whether the best network is the least-norm w with w.x_i = max(y_i, 0) on S, S chosen by where it is 0."""

    def judged(instance: Instance) -> Judgement:
        found = audited_at(instance, instance.network.hidden_weights)
        best = found.better_own_width or (None if found.fits.certificates == () else found.network)
        if best is None or not is_best_exactly(found):
            return undecided("the audit does not prove the best value exactly")
        (w,) = best.hidden_weights
        at = [dot(w, x) for x in instance.data.inputs]
        subset = chosen(instance, at)
        if any(max(instance.data.targets[i], Fraction(0)) != max(at[i], Fraction(0)) for i in range(len(at))):
            return undecided("the best network known is not one that meets (7)")
        products_of = gram(instance)
        values = [max(instance.data.targets[i], Fraction(0)) for i in subset]
        m = solve_exactly([[products_of[i][j] for j in subset] for i in subset], values) if subset else []
        if m is None:
            return undecided("the points are dependent")
        duals = [Fraction(0)] * len(at)
        for i, value in zip(subset, m, strict=True):
            duals[i] = value
        if weights_at(instance, [duals]) != [list(w)]:
            return failed(f"the best weights are not those of regression on {subset}", measured=len(subset))
        return held(f"S = {subset}", measured=len(subset))

    return judged


def is_linear_on_a_subset(instance: Instance) -> Judgement:
    """The best w is the least-norm w with w.x_i = max(y_i, 0) on the positive labels and where it is 0."""
    return is_linear_on(of_all_zeros)(instance)


CLAIMS = (
    Claim(
        id="lai2026.lem3",
        source="arXiv:2603.04895v2, Lemma 3",
        statement="The least-norm weights of one neuron are those of linear regression on a subset that holds all "
        "positive labels, with the others set to 0.",
        setting=is_one_neuron,
        conclusion=is_linear_on_a_subset,
        instances=feature_pairs(sizes=SIZES, signs=(1,)).map(lambda drawn: Instance(*drawn)),
        regime="n up to 16 and d up to 256, mostly a few n; the text that we have lost its formulas, and (7) is "
        "rebuilt from it",
        quantity="points of S",
        examples=40,
        could_fail=has_both_labels,
        variants=(
            Variant(
                name="positive-only",
                statement="They are those of linear regression on the positive labels alone.",
                conclusion=is_linear_on(of_positive_labels),
            ),
        ),
    ),
)

if __name__ == "__main__":
    run_alone(CLAIMS)
