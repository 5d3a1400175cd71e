"""Lemma 7 and Corollary 1 of arXiv:2603.04895v2, appendix A.1.

    d_2 = |lambda|_1^2 / |lambda|_2^2, d_oo = |lambda|_1 / |lambda|_oo, X random features of covariance lambda:
        with high probability  c |lambda|_1 <= eigenvalues of X X^T <= C |lambda|_1                      (Lemma 7)
                               | X X^T - |lambda|_1 | <= C |lambda|_1 max(sqrt(n / d_2), n / d_oo)      (Corollary 1)

The text that we have lost its formulas; both are rebuilt from how the proofs use them, and c and C are ours. Lemma 8,
a tail bound whose exact form is lost with its constant, is what Corollary 1 follows from, and is not stated here.

An eigenvalue beyond either end violates it: C = 1 in the corollary, or 4/5 and 5/4 in the lemma, are refuted.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from random import Random

import numpy as np

from verify.claims.lai2026.exact_descent import gram
from verify.claims.lai2026.hypotheses import is_hidden_regression
from verify.claims.lai2026.theorem_1 import LIKELY
from verify.claims.power import has_points
from verify.claims.records import Claim, Instance, Judgement, Variant, failed, held, undecided
from verify.claims.theorems import run_alone
from verify.numbers.floats import to_float, to_matrix
from verify.strategies import posed, random_features

__all__ = ["CLAIMS", "eigenvalues_within", "is_near_a_multiple_of_one"]

SIZES = ((4, 64), (8, 128), (8, 1024), (16, 256), (16, 1024), (32, 512), (32, 1024), (32, 4096))
"""(points, dimension): d from 16 n to 16 n^2."""

ROUNDING = 1e-9
"""Relative; the Gram matrix is exact in floats, and its eigenvalues are right to about 1e-14."""

REGIME = (
    "Gaussian points, isotropic, or with half of the coordinates of standard deviation 1/4; n up to 32 and d up to "
    "4096, from 16 n on; 9/10 for the paper's probability; eigenvalues in floats; "
)


def _spectrum(instance: Instance) -> tuple[float, float, float]:
    """|lambda|_1, d_2 and d_oo: isotropic, or two levels, which the trial marks by the sign of the output weight."""
    d = instance.data.dimension
    levels = np.ones(d)
    if instance.network.output_weights[0] < 0:
        levels[d // 2 :] = 1 / 16
    total = float(levels.sum())
    return total, total**2 / float((levels**2).sum()), total


def eigenvalues_within(low: Fraction, high: Fraction) -> Callable[[Instance], Judgement]:
    """All eigenvalues of X X^T lie between `low` and `high` times |lambda|_1."""

    def judged(instance: Instance) -> Judgement:
        total, _, _ = _spectrum(instance)
        values = np.linalg.eigvalsh(to_matrix(gram(instance))) / total
        return _between(float(values.min()) / to_float(low), to_float(high) / float(values.max()))

    return judged


def is_near_a_multiple_of_one(most: Fraction) -> Callable[[Instance], Judgement]:
    """The eigenvalues differ from |lambda|_1 by at most `most` |lambda|_1 max(sqrt(n / d_2), n / d_oo)."""

    def judged(instance: Instance) -> Judgement:
        total, d_2, d_oo = _spectrum(instance)
        n = len(instance.data)
        far = float(np.abs(np.linalg.eigvalsh(to_matrix(gram(instance))) / total - 1).max())
        unit = max((n / d_2) ** 0.5, n / d_oo)
        return _between(to_float(most) * unit / far, 2.0, measured=far / unit)

    return judged


def _between(*ratios: float, measured: float | None = None) -> Judgement:
    least = min(ratios)
    exact = None if measured is None else Fraction(measured)
    if abs(least - 1) < ROUNDING:
        return undecided("an eigenvalue is too near the bound for floats")
    return held(measured=exact) if least > 1 else failed("an eigenvalue is beyond the bound", measured=exact)


def trial(random: Random) -> Instance:
    """Features of one of the sizes; an output weight of -1 marks two levels of variance."""
    n, d = random.choice(SIZES)
    sign = random.choice([1, -1])
    found = random_features(random.randrange(2**31), n, d, levels=1 if sign > 0 else 2)
    return Instance(*posed(found, [[Fraction(0)] * d], [sign]))


CLAIMS = (
    Claim(
        id="lai2026.lem7",
        source="arXiv:2603.04895v2, Lemma 7",
        statement="The eigenvalues of the Gram matrix are of the size of |lambda|_1, with high probability over random "
        "features.",
        setting=is_hidden_regression,
        conclusion=eigenvalues_within(Fraction(2, 5), Fraction(2)),
        kind="chance",
        chance=LIKELY,
        trial=trial,
        regime=f"{REGIME}c = 2/5 and C = 2, which are ours",
        examples=100,
        could_fail=has_points(2),
        variants=(
            Variant(
                name="narrow",
                statement="They lie between 4/5 and 5/4 of |lambda|_1, with that probability.",
                conclusion=eigenvalues_within(Fraction(4, 5), Fraction(5, 4)),
                examples=80,
            ),
        ),
    ),
    Claim(
        id="lai2026.cor1",
        source="arXiv:2603.04895v2, Lemma 8 and Corollary 1",
        statement="The Gram matrix differs from |lambda|_1 times the identity by a multiple of |lambda|_1 max(sqrt(n / "
        "d_2), n / d_oo) at most, with high probability over random features.",
        setting=is_hidden_regression,
        conclusion=is_near_a_multiple_of_one(Fraction(3)),
        kind="chance",
        chance=LIKELY,
        trial=trial,
        regime=f"{REGIME}C = 3, which is ours; Lemma 8 is not stated by itself",
        quantity="|X X^T - |lambda|_1| / (|lambda|_1 max(sqrt(n / d_2), n / d_oo))",
        examples=100,
        could_fail=has_points(2),
        variants=(
            Variant(
                name="third",
                statement="The same with a third of the constant.",
                conclusion=is_near_a_multiple_of_one(Fraction(1)),
                examples=80,
            ),
        ),
    ),
)

if __name__ == "__main__":
    run_alone(CLAIMS)
