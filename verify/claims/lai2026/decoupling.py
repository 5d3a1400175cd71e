"""Theorems A and B: when the networks of least norm are made of the solutions of the one-sided program.

    w_+ = sum_P a_i x_i - sum_Q b_i x_i  solves (7) for y,  w_- = sum_Q a_i x_i - sum_P b_i x_i  solves (7) for -y

P and Q the points of positive and of negative label. Both theorems are ours, not the paper's: `docs/mathematics.md`,
12.4 "Pairs of neurons, and neurons that are equal".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from verify.claims.lai2026.audited_limits import audited_at
from verify.claims.lai2026.exact_descent import Vector, gram
from verify.claims.lai2026.hypotheses import has_both_labels, is_hidden_regression
from verify.claims.lai2026.least_norms import one_sided, weights_at
from verify.claims.power import always
from verify.claims.records import Claim, Instance, Judgement, Variant, failed, held, undecided
from verify.claims.theorems import run_alone
from verify.deciders.finding import Verdict
from verify.strategies import posed, random_features

__all__ = ["CLAIMS", "equal_networks", "is_dominated", "never_cancels"]

PAIR_SIZES = ((2, 4), (4, 16), (4, 64), (8, 64), (8, 64), (8, 256), (12, 256), (16, 1024))
"""(points, dimension): where d is a few n, the theorem's condition barely holds, or fails and another seed is taken."""

MANY_SIZES = ((2, 4), (4, 64), (4, 64), (6, 144), (6, 144), (8, 256), (8, 256), (8, 400))

SIGNS = ((1, -1, -1), (1, 1, -1), (1, 1, -1, -1), (1, 1, 1, -1, -1))

TRIES = 40


def _counts(instance: Instance) -> tuple[int, int]:
    signs = instance.network.output_weights
    return sum(s > 0 for s in signs), sum(s < 0 for s in signs)


def is_dominated(instance: Instance) -> bool:
    """a_i / m_+ >= b_i / m_- on P, and a_i / m_- >= b_i / m_+ on Q, for m_+ positive and m_- negative neurons."""
    up, down = one_sided(instance, 1), one_sided(instance, -1)
    if up is None or down is None:
        return False
    plus, minus = _counts(instance)
    return all(
        (up[i] * minus >= -down[i] * plus) if y > 0 else (down[i] * plus >= -up[i] * minus)
        for i, y in enumerate(instance.data.targets)
    )


def never_cancels(instance: Instance) -> bool:
    """2 |y_i| > a_i |x_i|^2 + 2 sum a_j max(x_i.x_j, 0) over the other points of the label's sign, at every point."""
    products_of, labels = gram(instance), instance.data.targets
    for sign in (1, -1):
        m = one_sided(instance, sign)
        own = [i for i, y in enumerate(labels) if sign * y > 0]
        if m is None:
            return False
        for i in own:
            others = sum((m[j] * max(products_of[i][j], Fraction(0)) for j in own if j != i), Fraction(0))
            if m[i] <= 0 or 2 * abs(labels[i]) <= m[i] * products_of[i][i] + 2 * others:
                return False
    return True


def equal_networks(instance: Instance) -> list[Vector] | None:
    """w_+ / m_+ for each positive neuron, w_- / m_- for each negative one."""
    plus, minus = _counts(instance)
    duals: list[Sequence[Fraction]] = []
    for s in instance.network.output_weights:
        m = one_sided(instance, 1 if s > 0 else -1)
        if m is None:
            return None
        duals.append([value / (plus if s > 0 else minus) for value in m])
    return weights_at(instance, duals)


def is_the_only_best(instance: Instance) -> Judgement:
    """The audit of that network proves that it is of least norm, with both ends one number, and that no other is."""
    weights = equal_networks(instance)
    if weights is None:
        return undecided("the one-sided programs are not solved")
    found = audited_at(instance, weights)
    if found.fits.verdict is not Verdict.PROVED:
        return failed("the network does not meet all labels")
    if found.global_optimum.verdict is Verdict.REFUTED:
        return failed("a network of these neurons has a smaller norm")
    if found.bracket_own_width is None or found.bracket_own_width.lower != found.objective:
        return undecided("the audit does not prove the value exactly")
    if found.distance_own_width != (0, 0):
        return undecided("the audit does not prove that there is no other")
    return held()


def is_pair_or_more(instance: Instance) -> bool:
    """Neurons of both signs, and labels of both."""
    return is_hidden_regression(instance) and min(_counts(instance)) > 0 and has_both_labels(instance)


@st.composite
def drawn_features(
    draw: DrawFn,
    sizes: Sequence[tuple[int, int]],
    signs: Sequence[Sequence[int]],
    holds: Sequence[Callable[[Instance], bool]],
) -> Instance:
    """Features of the first seed on which all of `holds` does; the largest of the sizes where none of many does."""
    n, d = draw(st.sampled_from(sizes))
    seed, chosen = draw(st.integers(0, 2**16)), draw(st.sampled_from(signs))
    for k in range(TRIES):
        size = (n, d) if k < TRIES - 5 else (n, 64 * n * n)
        found = Instance(
            *posed(random_features(seed + 1000 * k, *size), [[Fraction(0)] * size[1]] * len(chosen), chosen)
        )
        if all(one(found) for one in holds):
            return found
    raise AssertionError("in high dimension the condition holds")


SQUARE = ((4, 4), (6, 6))
"""(points, dimension) of its false variant."""

CLAIMS = (
    Claim(
        id="lai2026.thmA",
        source="arXiv:2603.04895v2, about the pairs of Lemma 4; ours, not the paper's",
        statement="Where each multiplier of w_+ on P, and of w_- on Q, is at least that of the other one there, (w_+, "
        "w_-) is the only pair of least norm: neither neuron is on at a label of the other sign.",
        setting=is_pair_or_more,
        hypotheses={"dominated": is_dominated},
        sharp={"dominated": "min-norm/hidden-both-on"},
        conclusion=is_the_only_best,
        instances=drawn_features(PAIR_SIZES, [(1, -1)], [is_dominated]),
        regime="not in the paper; n up to 16 and d up to 1024, mostly 8 n to 4 n^2",
        examples=40,
        could_fail=always,
        variants=(
            Variant(
                name="anywhere",
                statement="That is so on all features.",
                dropped=("dominated",),
                instances=drawn_features(SQUARE, [(1, -1)], []),
            ),
        ),
    ),
    Claim(
        id="lai2026.thmB",
        source="arXiv:2603.04895v2, about the neurons of Theorem 6; ours, not the paper's",
        statement="Where that is so of the multipliers over the numbers of neurons, and no two points of a sign "
        "cancel, m_+ positive and m_- negative neurons have the least "
        "norm where all neurons of a sign are equal, and nowhere else.",
        setting=is_pair_or_more,
        hypotheses={"dominated": is_dominated, "never-cancels": never_cancels},
        sharp={"dominated": "min-norm/lai2026-equal-neurons-cost", "never-cancels": "min-norm/lai2026-opposite-points"},
        conclusion=is_the_only_best,
        instances=drawn_features(MANY_SIZES, SIGNS, [is_dominated, never_cancels]),
        regime="not in the paper; three to five neurons, n up to 8 and d up to 400; that there is no other is what "
        "each audit proves, the theorem is about the value",
        examples=20,
        could_fail=always,
        variants=(
            Variant(
                name="anywhere",
                statement="That is so on all features.",
                dropped=("dominated", "never-cancels"),
                instances=drawn_features(SQUARE, [(1, 1, -1)], []),
            ),
        ),
    ),
)

if __name__ == "__main__":
    run_alone(CLAIMS)
