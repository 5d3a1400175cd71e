"""Theorem 6 of arXiv:2603.04895v2, appendix D.4.

    as in Theorem 5  ==>  with high probability  |lim w(t) - w*| <= C sqrt(m n) |y| / |x|

with w all weights of the m neurons and w* the nearest of least norm among all that meet the labels; |x| and |y| stand
for the sizes of points and labels. The text that we have lost its formulas; this is rebuilt from the proof, and C is
ours.

The distance is that which the audit of the limit proves, or, where it does not say, |lim w| + |w*| with the audit's
upper end of |w*|, as in the paper's proof. A larger one violates it: with C = 1/10 nearly every draw does.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from random import Random

from verify.checker.exact import sqrt_upper
from verify.claims.lai2026.audited_limits import audited_limit
from verify.claims.lai2026.ends import MISSED
from verify.claims.lai2026.exact_descent import gram
from verify.claims.lai2026.hypotheses import has_both_labels, is_assigned, is_hidden_regression, label_range
from verify.claims.lai2026.theorem_1 import LIKELY
from verify.claims.lai2026.theorem_2 import AUDITED
from verify.claims.lai2026.theorem_5 import SIGNS
from verify.claims.power import always
from verify.claims.records import Claim, Instance, Judgement, Variant, failed, held, undecided
from verify.claims.theorems import run_alone
from verify.deciders.finding import Verdict
from verify.strategies import assigned_features

__all__ = ["CLAIMS", "is_bounded_at_the_end", "is_within"]

MOST = Fraction(3, 2)
"""C, ours."""

SIZES = ((4, 256), (4, 256), (6, 576), (6, 576), (8, 1024))


def is_bounded_at_the_end(instance: Instance) -> Judgement:
    """The audit proves that the limit meets all labels, and ||limit - w*||^2 |x|^2 <= C^2 m n max |y|^2."""
    return is_within(MOST)(instance)


def is_within(most: Fraction) -> Callable[[Instance], Judgement]:
    """The same with another C."""

    def judged(instance: Instance) -> Judgement:
        found = audited_limit(instance)
        if found is None:
            return undecided(MISSED)
        if found.fits.verdict is not Verdict.PROVED or found.objective is None:
            return failed("the limit does not meet every label")
        best = found.objective if found.bracket_own_width is None else found.bracket_own_width.upper
        near, far = Fraction(0), sqrt_upper(2 * found.objective) + sqrt_upper(2 * best)
        if found.distance_own_width is not None:
            near, far = found.distance_own_width.lower, min(far, found.distance_own_width.upper)
        _, high = label_range(instance)
        n, m = len(instance.data), instance.network.width
        size = sum((row[i] for i, row in enumerate(gram(instance))), Fraction(0)) / n
        unit = size / (m * n * high**2)
        ratio = far**2 * unit
        if ratio <= most**2:
            return held("the distance is proved up to that", measured=ratio)
        if near**2 * unit > most**2:
            return failed("the distance is larger", measured=ratio)
        return undecided("the ends of the distance leave it open")

    return judged


def trial(random: Random) -> Instance:
    """Two to five neurons on random features, each label with one of them."""
    n, d = random.choice(SIZES)
    return Instance(*assigned_features(random.randrange(2**31), n, d, random.choice(SIGNS)))


CLAIMS = (
    Claim(
        id="lai2026.thm6",
        source="arXiv:2603.04895v2, Theorem 6",
        statement="Their distance to the least-norm solution is, with high probability over random features, at most "
        "of order sqrt(m n) |y| / |x|.",
        setting=is_hidden_regression,
        hypotheses={"both-labels": has_both_labels, "assigned": is_assigned},
        sharp={"assigned": "min-norm/lai2026-pair-starts-off"},
        conclusion=is_bounded_at_the_end,
        kind="chance",
        chance=LIKELY,
        trial=trial,
        regime=f"two to five neurons; {AUDITED}; C = {MOST}",
        quantity="distance^2 |x|^2 / (m n max |y|^2)",
        examples=60,
        could_fail=always,
        variants=(
            Variant(
                name="tenth",
                statement="The same with C = 1/10.",
                conclusion=is_within(Fraction(1, 10)),
                trial=lambda random: Instance(*assigned_features(random.randrange(2**31), 4, 256, (1, 1, -1, -1))),
                examples=40,
            ),
        ),
    ),
)

if __name__ == "__main__":
    run_alone(CLAIMS)
