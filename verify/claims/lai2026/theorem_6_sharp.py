"""That Theorem 6 of arXiv:2603.04895v2 is of the right order in m; ours, not the paper's.

    orthogonal points of one length, m neurons of each sign, each label assigned to one of its sign
        ==>  |lim w(t) - w*|^2 >= (m - 1) |w*|^2,  and the objective of the limit is at least m times the least

In the limit neuron k has sum over S_k of |y_i| x_i / |x|^2, and parts along the other points that only add; with the
same parts spread evenly over the neurons of a sign, as Theorem B has it, the squared norm is m times smaller.
Orthogonal points are rows of a Hadamard matrix, and both inequalities are read off the audit of the limit. A limit
nearer to the least norm violates it. Starts that are at 0 wherever they are not to fit have no further parts: there
both are equalities, so that m + 1 in place of m is refuted.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from verify.claims.lai2026.audited_limits import audited_limit
from verify.claims.lai2026.ends import MISSED
from verify.claims.lai2026.exact_descent import gram
from verify.claims.lai2026.hypotheses import duals, has_both_labels, is_hidden_regression, primal_of
from verify.claims.power import always
from verify.claims.records import Claim, Instance, Judgement, Variant, failed, held, undecided
from verify.claims.theorems import run_alone
from verify.deciders.finding import Verdict
from verify.problem.network import Network
from verify.problem.posing import pose
from verify.problem.problem import Dataset, Goal, Trained

__all__ = ["CLAIMS", "is_far_by", "is_orthogonal"]

SIZES = ((2, 2, 2), (4, 4, 2), (4, 8, 2), (4, 8, 2), (4, 16, 2))
"""(points, dimension, neurons of each sign)."""


def is_orthogonal(instance: Instance) -> bool:
    """Orthogonal points of one length."""
    products_of = gram(instance)
    return all(
        (z == products_of[0][0]) if i == j else not z for i, row in enumerate(products_of) for j, z in enumerate(row)
    )


def is_balanced(instance: Instance) -> bool:
    """As many positive neurons as negative ones."""
    return is_hidden_regression(instance) and sum(instance.network.output_weights) == 0


def has_owners(instance: Instance) -> bool:
    """At each label exactly one neuron of its sign is on; starts are in the span of the points."""
    signs = instance.network.output_weights
    on = [
        sum(s * y > 0 and line[i] > 0 for s, line in zip(signs, primal_of(instance), strict=True))
        for i, y in enumerate(instance.data.targets)
    ]
    return set(on) == {1} and duals(instance) is not None


def is_far_by(more: int) -> Callable[[Instance], Judgement]:
    """Whether the audit proves that the objective is at least m + `more` times the least, and the distance alike."""

    def judged(instance: Instance) -> Judgement:
        found = audited_limit(instance)
        if found is None:
            return undecided(MISSED)
        m = instance.network.width // 2 + more
        if found.fits.verdict is not Verdict.PROVED or found.objective is None:
            return failed("the limit does not meet every label")
        if found.bracket_own_width is None or found.distance_own_width is None:
            return undecided("the audit does not say how far the least norm is")
        low, high = found.bracket_own_width
        near, far = found.distance_own_width
        if found.objective < m * low or far**2 < (m - 1) * 2 * low:
            return failed("the limit is nearer to the least norm", measured=found.objective / low)
        if found.objective < m * high or near**2 < (m - 1) * 2 * low * (1 - Fraction(1, 10**9)):
            return undecided("the ends of the audit leave it open")
        return held(measured=found.objective / high)

    return judged


@st.composite
def orthogonal_starts(draw: DrawFn) -> Instance:
    """Rows of a Hadamard matrix with flipped columns, labels of both signs, each with one neuron of its sign."""
    n, d, m = draw(st.sampled_from(SIZES))
    random = np.random.default_rng([draw(st.integers(0, 2**16)), n, d])
    matrix = np.ones((1, 1), int)
    while len(matrix) < d:
        matrix = np.block([[matrix, matrix], [matrix, -matrix]])
    rows = (matrix * random.choice([-1, 1], d))[random.permutation(d)[:n]]
    labels = [Fraction(int(k), 8) * (1 if i % 2 == 0 else -1) for i, k in enumerate(random.integers(8, 11, n))]
    signs, small, is_bare = [1] * m + [-1] * m, min(map(abs, labels)), draw(st.booleans())
    weights = np.zeros((2 * m, d), object)
    for i, y in enumerate(labels):
        alike = [k for k, s in enumerate(signs) if s * y > 0]
        own = alike[int(random.integers(m))]
        for k in range(2 * m):
            on = k == own or k not in alike
            z = small * Fraction(int(random.integers(4, 16)), 256) if on else -small * Fraction(3, 8)
            z = z if k == own or not is_bare else Fraction(0)
            weights[k] += z / d * rows[i].astype(object)
    network = Network.two_layer([[Fraction(z) for z in row] for row in weights], signs)
    data = Dataset([[int(x) for x in row] for row in rows], labels)
    return Instance(pose(network, data, goal=Goal.MIN_NORM, trained=Trained.HIDDEN), network)


CLAIMS = (
    Claim(
        id="lai2026.thm6-sharp",
        source="arXiv:2603.04895v2, about Theorem 6; ours, not the paper's",
        statement="On orthogonal points m neurons of each sign end at sqrt(m - 1) times the least norm from it, and at "
        "m times the least objective, at least: the bound of Theorem 6 is of the right order in m.",
        setting=is_balanced,
        hypotheses={"both-labels": has_both_labels, "orthogonal": is_orthogonal, "assigned": has_owners},
        sharp={"orthogonal": "min-norm/lai2026-opposite-owners", "assigned": "min-norm/lai2026-shared-labels"},
        conclusion=is_far_by(0),
        instances=orthogonal_starts(),
        regime="not in the paper; two neurons of each sign, n up to 4 and d up to 16",
        quantity="objective / the least",
        examples=60,
        could_fail=always,
        variants=(
            Variant(
                name="one-more",
                statement="They end at m + 1 times the least objective, at least.",
                conclusion=is_far_by(1),
            ),
        ),
    ),
)

if __name__ == "__main__":
    run_alone(CLAIMS)
