"""That the gap of Theorems 2 and 4 of arXiv:2603.04895v2 does not shrink relative to the least norm; ours.

    as in Theorem 4  ==>  with high probability  |lim w(t) - w*| >= |w*| / 8,  at d = 16 n^2, 64 n^2, 256 n^2 alike

The theorems say that the distance is of order sqrt(n) |y| / |x|, which falls with the dimension; so does |w*|, by the
same factor. At a fixed part of the largest step their quotient tends to no 0. A limit nearer than that violates it;
one half in place of 1/8 is refuted.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from verify.checker.exact import sqrt_lower, sqrt_upper
from verify.claims.lai2026.audited_limits import audited_limit
from verify.claims.lai2026.ends import MISSED
from verify.claims.lai2026.hypotheses import has_both_labels, is_pair, is_small_and_positive
from verify.claims.lai2026.theorem_1 import LIKELY
from verify.claims.lai2026.theorem_2 import AUDITED
from verify.claims.power import always
from verify.claims.records import Claim, Instance, Judgement, Variant, failed, held, undecided
from verify.claims.theorems import run_alone
from verify.strategies import start_of_size

__all__ = ["CLAIMS", "is_farther_than"]

PART = Fraction(1, 8)

SIZES = ((4, 256), (4, 256), (4, 1024), (4, 1024), (4, 4096), (6, 576))
"""(points, dimension): 16, 64 and 256 times n^2."""


def is_farther_than(part: Fraction) -> Callable[[Instance], Judgement]:
    """Whether the audit proves that the limit is at least `part` times the least norm from it."""

    def judged(instance: Instance) -> Judgement:
        found = audited_limit(instance)
        if found is None:
            return undecided(MISSED)
        if found.distance_own_width is None or found.bracket_own_width is None:
            return undecided("the audit does not say how far the least norm is")
        near, far = found.distance_own_width
        low, high = found.bracket_own_width
        if far < part * sqrt_lower(2 * low):
            return failed("the limit is nearer", measured=far / sqrt_lower(2 * low))
        if near < part * sqrt_upper(2 * high):
            return undecided("the ends of the audit leave it open")
        return held(measured=near / sqrt_upper(2 * high))

    return judged


CLAIMS = (
    Claim(
        id="lai2026.relative-gap",
        source="arXiv:2603.04895v2, about Theorem 4; ours, not the paper's",
        statement="Relative to the least norm the distance of the limit from it does not shrink with the dimension: it "
        "is, with high probability over random features, at least an eighth.",
        setting=is_pair,
        hypotheses={"both-labels": has_both_labels, "small-positive-start": is_small_and_positive},
        sharp={"small-positive-start": "min-norm/lai2026-pair-starts-best"},
        conclusion=is_farther_than(PART),
        kind="chance",
        chance=LIKELY,
        trial=lambda random: Instance(*start_of_size(random, [1, -1], SIZES)),
        regime=f"not in the paper; {AUDITED}; here n = 4 and 6, d up to 4096, 256 n^2",
        quantity="distance / the least norm",
        examples=100,
        could_fail=always,
        variants=(
            Variant(
                name="half",
                statement="It is at least a half.",
                conclusion=is_farther_than(Fraction(1, 2)),
                trial=lambda random: Instance(*start_of_size(random, [1, -1], ((4, 256),))),
                examples=40,
            ),
        ),
    ),
)

if __name__ == "__main__":
    run_alone(CLAIMS)
