"""From float trees to certificates: whatever the floats are, the checker accepts what comes out."""

from dataclasses import replace
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from solvers.any_width.dual_cuts import DualGuess, solve
from solvers.pricing.tree import Leaf, Tree
from tests.problems import random_problems
from verify import Architecture, Bias, Dataset, Goal, Problem
from verify.checker import Accepted, check
from verify.checker.bounds import LowerBound
from verify.checker.dual_trees import Bound
from verify.deciders.global_optimality.instance import as_instance
from verify.deciders.global_optimality.lower_bound import _Builder, lower_bound
from verify.deciders.proposal import sealed


def problem(seed, *, goal=Goal.MAX_MARGIN, bias=Bias.NONE, slope=0, masks=None, points=7, dimension=3, scale=1):
    """Small random data that can be fitted; max-margin labels are those of a ball, or of a linear function."""
    rng = np.random.default_rng([seed, points, dimension])
    rows = [[Fraction(int(v), 8) * scale for v in row] for row in rng.integers(-16, 17, (points, dimension))]
    if goal is Goal.MIN_NORM:
        targets = [Fraction(int(v), 4) for v in rng.integers(-8, 9, points)]
    else:
        targets = [1 if row[0] > 0 else -1 for row in rows]
    shape = Architecture.two_layer(dimension, len(masks or [0]), slope=slope, bias=bias is not Bias.NONE, masks=masks)
    return Problem(Dataset(rows, targets), shape, goal=goal, bias=bias)


POSED = {
    "relu": problem(0),
    "leaky": problem(1, slope="1/3"),
    "linear": problem(2, slope=1),
    "plane": problem(3, dimension=2),
    "line": problem(4, dimension=1, bias=Bias.PENALISED, goal=Goal.MIN_NORM, points=4),
    "min-norm": problem(5, goal=Goal.MIN_NORM, bias=Bias.PENALISED, points=5),
    "leaky min-norm": problem(6, goal=Goal.MIN_NORM, slope="1/7", bias=Bias.PENALISED, points=4),
    "penalised": problem(7, bias=Bias.PENALISED),
    "free": problem(8, bias=Bias.FREE),
    "leaky free": problem(9, bias=Bias.FREE, slope="2/5"),
    "free min-norm": problem(10, bias=Bias.FREE, goal=Goal.MIN_NORM, points=5),
    "masks": problem(11, masks=[(0, 1), (1, 2), (0, 2)]),
    "masks free": problem(12, bias=Bias.FREE, masks=[(0, 1), (0, 3), (0, 1, 2, 3)]),
    "small": problem(13, scale=Fraction(1, 10**9)),
    "large": problem(14, scale=10**9),
    "many": problem(15, points=14),
}


@cache
def solved(name):
    outcome = solve(as_instance(POSED[name]), tol=1e-6)
    assert outcome.proof is not None
    return POSED[name], outcome


def accepted(posed, certificate):
    assert isinstance(certificate, LowerBound)
    result = check(posed, None, sealed(posed, None, certificate))
    assert isinstance(result, Accepted), result
    return certificate.bracket[0]


# ------------------------------------------------------------------------------------------------- honest trees


@pytest.mark.parametrize("name", POSED)
def test_the_certificate_proves_nearly_what_the_floats_say(name):
    posed, outcome = solved(name)
    certificate = lower_bound(posed, outcome.proof)
    bound = accepted(posed, certificate)
    assert bound == certificate.bracket[0]
    assert bound >= Fraction(float(outcome.proof.lower)) * (1 - Fraction(1, 10**5))
    assert bound <= Fraction(float(outcome.candidates[0].value)) * (1 + Fraction(1, 10**6))


@pytest.mark.parametrize("name", POSED)
def test_the_certificate_has_the_shape_of_the_trees(name):
    posed, outcome = solved(name)
    certificate, support = lower_bound(posed, outcome.proof), outcome.proof.support.tolist()
    assert [i for i, _ in certificate.multipliers] == support
    assert [value for _, value in certificate.multipliers] == [
        Fraction(float(outcome.proof.multipliers[i])) for i in support
    ]
    for tree, floats in zip(certificate.trees, outcome.proof.trees, strict=True):
        assert [node if isinstance(node, int) else None for node in tree] == [
            None if isinstance(node, Leaf) else support[node] for node in floats.nodes
        ]


def test_random_problems():
    count = 0
    for posed, _ in random_problems(7, 60):
        proof = solve(as_instance(posed), tol=1e-4).proof
        if proof is not None and (certificate := lower_bound(posed, proof)) is not None:
            accepted(posed, certificate)
            count += 1
    assert count > 20


# ------------------------------------------------------------------------------------------------- other trees


def changed(proof, change):
    """The proof with each leaf changed."""
    trees = [
        replace(tree, nodes=[change(node) if isinstance(node, Leaf) else node for node in tree.nodes])
        for tree in proof.trees
    ]
    return replace(proof, trees=tuple(trees))


def survives(posed, proof, below):
    """Valid or None; and a bound that is true."""
    certificate = lower_bound(posed, proof)
    if certificate is None:
        assert posed.bias is Bias.FREE
        return None
    bound = accepted(posed, certificate)
    assert 0 < bound <= Fraction(float(below)) * (1 + Fraction(1, 10**6))
    return bound


@pytest.mark.parametrize("name", POSED)
@pytest.mark.parametrize("size", [1e-12, 1e-3, 1.0, 1e6])
@pytest.mark.one_in(2)
def test_noise_on_slopes(name, size):
    """Slopes that leave their intervals are brought back; the bound only gets worse."""
    posed, outcome = solved(name)
    rng = np.random.default_rng(1)
    unit = size * np.abs(outcome.proof.multipliers).max()

    def noisy(leaf):
        return Leaf(leaf.slopes + unit * rng.standard_normal(len(leaf.slopes)), leaf.ranges)

    bound = survives(posed, changed(outcome.proof, noisy), outcome.candidates[0].value)
    if size < 1e-9 and bound is not None:
        assert bound >= Fraction(float(outcome.proof.lower)) * (1 - Fraction(1, 10**5))


@pytest.mark.parametrize("name", POSED)
@pytest.mark.parametrize("factor", [0.0, -1.0, 2.0])
def test_slopes_that_are_another_multiple(name, factor):
    posed, outcome = solved(name)
    proof = changed(outcome.proof, lambda leaf: Leaf(factor * leaf.slopes, leaf.ranges))
    survives(posed, proof, outcome.candidates[0].value)


@pytest.mark.parametrize("name", POSED)
@pytest.mark.parametrize("seed", range(3))
def test_ranges_of_any_kind(name, seed):
    """On decided and undecided points, with weights of either sign on decided and undecided points."""
    posed, outcome = solved(name)
    rng = np.random.default_rng(seed)

    def arbitrary(leaf):
        size = len(leaf.slopes)

        def side():
            chosen = rng.choice(size, int(rng.integers(0, min(size, 4) + 1)), replace=False)
            return {int(k): float(rng.standard_normal() * 10.0 ** rng.integers(-3, 2)) for k in chosen}

        points = np.flatnonzero(rng.random(size) < 0.6)
        return Leaf(leaf.slopes, {int(i): (side(), side()) for i in points})

    survives(posed, changed(outcome.proof, arbitrary), outcome.candidates[0].value)


@pytest.mark.parametrize("name", ["relu", "leaky", "masks", "min-norm", "many"])
def test_without_ranges_the_plain_norms_are_taken(name):
    posed, outcome = solved(name)
    proof = changed(outcome.proof, lambda leaf: Leaf(leaf.slopes, {}))
    certificate = lower_bound(posed, proof)
    assert not any(leaf.ranges for tree in certificate.trees for leaf in tree if isinstance(leaf, Bound))
    assert accepted(posed, certificate) <= lower_bound(posed, outcome.proof).bracket[0] * (1 + Fraction(1, 10**6))


@pytest.mark.parametrize("name", ["relu", "leaky", "penalised", "min-norm"])
def test_other_multipliers_are_another_dual_point(name):
    """The trees keep their shape, and beta follows the multipliers."""
    posed, outcome = solved(name)
    rng = np.random.default_rng(0)
    proof = outcome.proof
    factors = 1 + 0.1 * rng.random(len(proof.multipliers))
    survives(posed, replace(proof, multipliers=proof.multipliers * factors), outcome.candidates[0].value)


@pytest.mark.parametrize("name", ["relu", "leaky", "masks"])
def test_a_single_leaf_is_a_proof(name):
    """Without any split: a weak bound, but a bound."""
    posed, outcome = solved(name)
    trees = tuple(
        replace(tree, nodes=[Leaf(np.zeros(len(outcome.proof.support)))], violators=np.empty((0, 3)))
        for tree in outcome.proof.trees
    )
    bound = survives(posed, replace(outcome.proof, trees=trees), outcome.candidates[0].value)
    assert bound < Fraction(float(outcome.proof.lower))


def test_a_range_that_tightens_is_listed():
    """h = s(x_0.u) + s(x_1.u), x_0 = (1, 0), x_1 = (-1, 1/10); where x_1.u >= 0, x_0.u is at most |x_0 + x_1| = 1/10.

    There h <= x_1.u + 1/10 |u|, elsewhere h <= x_0.u / 2 + 1/2 |u|.
    """
    tenth = Fraction(1, 10)
    shape = Architecture.two_layer(2, 1)
    posed = Problem(Dataset([[1, 0], [-1, tenth]], [1, 1]), shape, goal=Goal.MAX_MARGIN, bias=Bias.NONE)
    nodes = [1, Leaf(np.array([0.0, 1.0]), {0: ({}, {1: 1.0})}), Leaf(np.array([0.5, 0.0]))]
    trees = tuple(Tree(part, 1.2, np.empty((0, 2)), len(part)) for part in (nodes, [Leaf(np.zeros(2))]))
    proof = DualGuess(np.ones(2), 1.11, np.arange(2), trees, 2 / 1.11)
    certificate = lower_bound(posed, proof)
    assert accepted(posed, certificate) == 2 / certificate.beta
    assert float(certificate.beta) == pytest.approx(1.01**0.5 + 0.1, rel=1e-5)
    (listed,) = certificate.trees[0][1].ranges
    point, end, bound, terms = listed
    assert (point, end, terms) == (0, "+", ((1, certificate.denominator),))
    assert 0 <= Fraction(bound, certificate.denominator) - tenth < Fraction(1, 10**5)


# ------------------------------------------------------------------------------------------------- no certificate


def test_no_value_no_certificate():
    posed, outcome = solved("relu")
    proof = outcome.proof
    assert lower_bound(posed, replace(proof, multipliers=-proof.multipliers)) is None
    assert lower_bound(posed, replace(proof, multipliers=0 * proof.multipliers)) is None


def test_a_free_bias_needs_balanced_multipliers():
    """What rounding left of their sum is taken from one that is large enough; with two of one label there is none."""
    posed, outcome = solved("free")
    multipliers, y = outcome.proof.multipliers.copy(), [float(target) for target in posed.data.targets]
    multipliers[outcome.proof.support[0]] *= 1 + 2.0**-30
    assert multipliers @ y != 0
    certificate = lower_bound(posed, replace(outcome.proof, multipliers=multipliers))
    assert certificate is not None
    assert sum(weight * posed.data.targets[i] for i, weight in certificate.multipliers) == 0
    assert isinstance(check(posed, None, sealed(posed, None, certificate)), Accepted)
    assert float(certificate.bracket[0]) == pytest.approx(outcome.proof.lower, rel=1e-6)
    alike = [i for i in outcome.proof.support if y[i] == y[outcome.proof.support[0]]]
    alone = np.zeros(len(y))
    alone[alike] = 1.0
    assert lower_bound(posed, replace(outcome.proof, multipliers=alone)) is None


def test_trees_that_are_not_whole_are_left_to_the_checker():
    posed, outcome = solved("relu")
    first, *rest = outcome.proof.trees
    certificate = lower_bound(posed, replace(outcome.proof, trees=(replace(first, nodes=None), *rest)))
    if certificate is not None:
        assert not isinstance(check(posed, None, sealed(posed, None, certificate)), Accepted)


def ranges_of_a_free_bias(seed, shortened):
    """(asked, found): a bound of |x_0 . u| over a cone with more terms than columns, and what is kept of it.

    The norm is |v_w| + B |v_b|; the shortest vector with few terms is another one.
    """
    random, count = np.random.default_rng(seed), 7
    points = random.integers(-16, 17, (count, 2))
    posed = Problem(
        Dataset([[Fraction(int(x), 8) for x in row] for row in points], [1] * count),
        Architecture.two_layer(2, 1, bias=True),
        goal=Goal.MAX_MARGIN,
        bias=Bias.FREE,
    )
    builder = _Builder(posed, range(count), [Fraction(1)] * count, 2**30, Fraction(1))
    builder.nodes(0, 1, [Leaf(np.zeros(count), {})])
    signs = [0, *random.choice([-1, 1], count - 1).tolist()]
    near = (1e-9 + random.random((4000, count - 1))) * (random.random((4000, count - 1)) < 0.5)
    rows = builder.floats * np.array(signs)[:, None]
    ends = near @ rows[1:] + builder.floats[0]
    best = near[int(np.argmin(np.hypot(*ends[:, :2].T) + np.abs(ends[:, 2])))] + 1e-9
    fractions = [[Fraction(float(x)) for x in row[:-1]] + [Fraction(1)] for row in builder.floats]
    whole = [[int(x * 8 * 2**40) for x in row] for row in fractions]
    builder.row_denominator = 8 * 2**40
    terms = {k: float(best[k - 1]) for k in range(1, count)}
    asked, _ = builder._bounded(0, 1, terms, signs, whole, [0, 1])
    if shortened:
        found, used = builder._bounded(0, 1, builder._few(0, 1, terms, signs), signs, whole, [0, 1])
    else:
        found, used = builder._range(0, 1, terms, signs, whole, [0, 1])
    return asked, found, len(used)


def test_a_range_with_fewer_terms_is_taken_only_where_it_is_no_larger():
    kept = [ranges_of_a_free_bias(seed, shortened=False) for seed in range(30)]
    assert all(found <= asked * (1 + 1e-8) for asked, found, _ in kept)
    assert sum(terms <= 3 for *_, terms in kept) >= 5
    few = [ranges_of_a_free_bias(seed, shortened=True) for seed in range(30)]
    assert sum(found > asked * 1.001 for asked, found, _ in few) >= 3  # which would be a weaker certificate
