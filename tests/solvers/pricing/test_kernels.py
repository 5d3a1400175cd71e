"""The compiled kernels against the numpy reference, and their trees against random points and the checker."""

import subprocess
import sys
import time

import numpy as np
import pytest

from solvers.any_width import dual_cuts
from solvers.instance import ProblemInstance
from solvers.pricing import compiled as compiled_pricing
from solvers.pricing import search as pricing
from solvers.pricing.dual_function import crossings, evaluate, normalise
from solvers.pricing.search import ascend, bound_tree
from solvers.pricing.tree import Leaf
from tests.problems import instance_of, random_problems
from tests.solvers.pricing.test_pricing import instance, largest
from tests.solvers.pricing.trees import assert_proves
from verify.deciders.global_optimality.lower_bound import lower_bound
from verify.deciders.proposal import certified

CASES = [(1, 1), (1, 3), (4, 2), (2, 3), (8, 3), (12, 3), (10, 4)]


def top_of(rows, weights, slope=0.0):
    """The largest h that many ascents find: for sizes where `largest` takes too long."""
    starts = np.concatenate([rows, -rows, crossings(rows, 2000, np.random.default_rng(0))])
    return ascend(rows, weights, slope, starts, compiled=False)[1][0]


def pairs(tree):
    """How many range multipliers there are."""
    return sum(len(terms) for leaf in tree.nodes if isinstance(leaf, Leaf) for r in leaf.ranges.values() for terms in r)


# ------------------------------------------------------------------------------------------------- trees


@pytest.mark.parametrize(("count", "dimension"), CASES)
@pytest.mark.parametrize("slope", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.one_in(3)
def test_both_paths_close_just_above_the_maximum_and_violate_below(count, dimension, slope, seed):
    rows, weights = instance(seed, count, dimension)
    for sign in (1, -1):
        top = largest(rows, sign * weights, slope)
        beta = top * (1 + 1e-6) if top else 1e-3
        for compiled in (False, True):
            tree = bound_tree(rows, sign * weights, slope, beta, compiled=compiled)
            assert_proves(tree, rows, sign * weights, slope, beta, seed=seed)
            assert tree.bound >= top * (1 - 1e-9)
            assert tree.count == len(tree.nodes)
            if top:
                below = bound_tree(rows, sign * weights, slope, top * (1 - 1e-4), compiled=compiled)
                assert below.nodes is None
                assert below.bound == np.inf
                assert (evaluate(rows, sign * weights, slope, below.violators) > top * (1 - 2e-4)).all()


@pytest.mark.parametrize(("count", "dimension"), [(30, 4), (40, 4), (26, 8)])
@pytest.mark.parametrize("slope", [0.0, 0.3])
def test_larger_trees(count, dimension, slope):
    """Shortest range vectors need fewer nodes than those of a few sweeps."""
    rows, weights = instance(0, count, dimension)
    beta = top_of(rows, weights, slope) * (1 + 1e-4)
    plain = bound_tree(rows, weights, slope, beta, compiled=False)
    quick = bound_tree(rows, weights, slope, beta, compiled=True)
    assert_proves(quick, rows, weights, slope, beta)
    assert quick.count <= plain.count
    assert pairs(quick) < pairs(plain)


@pytest.mark.parametrize("share", [0.3, 0.9, 1 - 1e-4])
@pytest.mark.parametrize("seed", range(3))
def test_violators(share, seed):
    rows, weights = instance(seed, 14, 4)
    beta = share * top_of(rows, weights)
    tree = bound_tree(rows, weights, 0.0, beta, compiled=True)
    assert tree.nodes is None
    assert np.linalg.norm(tree.violators, axis=1) == pytest.approx(np.ones(len(tree.violators)))
    assert (evaluate(rows, weights, 0.0, tree.violators) > beta * (1 - 1e-12)).all()
    patterns = tree.violators @ rows.T > -1e-9 * np.linalg.norm(rows, axis=1)
    assert len(np.unique(patterns, axis=0)) == len(tree.violators)
    few = bound_tree(rows, weights, 0.0, beta, max_violators=1, compiled=True)
    assert len(few.violators) == 1
    assert few.count <= tree.count


@pytest.mark.parametrize("slope", [0.0, 0.3])
@pytest.mark.parametrize("seed", range(3))
def test_zero_rows_duplicates_and_opposite_points(slope, seed):
    rows, weights = instance(seed, 5, 3)
    rows = np.concatenate([rows, rows[:2], -2 * rows[1:3], np.zeros((2, 3))])
    weights = np.concatenate([weights, weights[:2], -weights[1:3], [1.0, -1.0]])
    for sign in (1, -1):
        beta = largest(rows, sign * weights, slope) * (1 + 1e-6)
        tree = bound_tree(rows, sign * weights, slope, beta, compiled=True)
        assert_proves(tree, rows, sign * weights, slope, beta)


def test_functions_that_vanish():
    rows, weights = np.array([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0]]), np.array([2.0, -1.0])
    for sign in (1, -1):
        assert_proves(bound_tree(rows, sign * weights, 0.0, 1e-3, compiled=True), rows, sign * weights, 0.0, 1e-3)
    tree = bound_tree(np.zeros((2, 3)), np.array([1.0, -2.0]), 0.0, 1e-6, compiled=True)
    assert tree.bound == pytest.approx(0, abs=1e-12)
    assert bound_tree(np.empty((0, 3)), np.empty(0), 0.0, 1.0, compiled=True).bound == 0


@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_scaling(scale):
    rows, weights = instance(4, 14, 4)
    beta = top_of(rows, weights) * (1 + 1e-6)
    one = bound_tree(rows, weights, 0.0, beta, compiled=True)
    for tree in (
        bound_tree(rows, scale * weights, 0.0, scale * beta, compiled=True),
        bound_tree(scale * rows, weights, 0.0, scale * beta, compiled=True),
    ):
        assert tree.nodes is not None
        assert tree.bound / scale == pytest.approx(one.bound, rel=1e-6)


def test_points_with_negative_weights_only():
    """max -h over nearly parallel rows: one node, and coordinate descent alone would need ages."""
    rng = np.random.default_rng(3)
    rows = (np.eye(4)[0] + 0.01 * rng.standard_normal((8, 4))) * np.where(rng.random(8) < 0.5, 1, -1)[:, None]
    weights = -1.0 - rng.random(8)
    calls = []

    def counted(*arguments, **options):
        calls.append(arguments)
        return solve(*arguments, **options)

    solve = compiled_pricing.solve_decided
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compiled_pricing, "solve_decided", counted)
        beta = largest(rows, weights, 0.3) * (1 + 1e-9)
        tree = bound_tree(rows, weights, 0.3, beta, compiled=True)
    assert len(calls) == 1
    assert_proves(tree, rows, weights, 0.3, beta)
    assert len(tree.nodes) == 1


# ------------------------------------------------------------------------------------------------- limits


def test_out_of_time_or_nodes():
    rows, weights = instance(0, 12, 4)
    beta = largest(rows, weights, 0.0) * (1 + 1e-3)
    for early in (
        bound_tree(rows, weights, 0.0, beta, deadline=time.monotonic() - 1, compiled=True),
        bound_tree(rows, weights, 0.0, beta, max_nodes=3, compiled=True),
    ):
        assert early.nodes is None
        assert early.bound == np.inf
        assert early.count <= 4


@pytest.mark.parametrize("seconds", [0.0, 0.05, 0.2])
def test_truncated_trees_prove_a_larger_bound(seconds):
    rows, weights = instance(0, 100, 12)
    top = top_of(rows, weights)
    tree = bound_tree(rows, weights, 0.0, top, deadline=time.monotonic() + seconds, truncate=True, compiled=True)
    assert tree.bound > top
    assert_proves(tree, rows, weights, 0.0, np.inf)


def test_little_room_for_open_nodes_changes_the_order_only(monkeypatch):
    rows, weights = instance(0, 30, 4)
    beta = top_of(rows, weights) * (1 + 1e-6)
    wide = bound_tree(rows, weights, 0.0, beta, compiled=True)
    monkeypatch.setattr(compiled_pricing, "ROOM", 1)
    deep = bound_tree(rows, weights, 0.0, beta, compiled=True)
    assert_proves(deep, rows, weights, 0.0, beta)
    assert [n for n in deep.nodes if isinstance(n, int)] == [n for n in wide.nodes if isinstance(n, int)]


def test_arguments_are_left_alone():
    rows, weights = instance(0, 12, 4)
    starts = np.ascontiguousarray(np.random.default_rng(0).standard_normal((20, 4)))
    given = [array.copy() for array in (rows, weights, starts)]
    bound_tree(rows, weights, 0.0, top_of(rows, weights) * 1.01, compiled=True)
    ascend(rows, weights, 0.0, starts, compiled=True)
    for array, before in zip((rows, weights, starts), given, strict=True):
        assert np.array_equal(array, before)
        array.flags.writeable = False
    bound_tree(np.asfortranarray(rows), weights, 0.0, 100.0, compiled=True)
    ascend(np.asfortranarray(rows), weights, 0.0, starts, compiled=True)


# ------------------------------------------------------------------------------------------------- ascents


@pytest.mark.parametrize("slope", [0.0, 0.3, 1.0])
@pytest.mark.parametrize(("count", "dimension"), [(3, 2), (12, 4), (40, 6)])
def test_ascents_reach_the_same_maxima(count, dimension, slope):
    rows, weights = instance(1, count, dimension)
    starts = np.random.default_rng(0).standard_normal((300, dimension))
    plain, values = ascend(rows, weights, slope, starts, compiled=False)
    quick, reached = ascend(rows, weights, slope, starts, compiled=True)
    assert reached[0] == pytest.approx(values[0], rel=1e-9)
    assert np.median(reached) == pytest.approx(np.median(values), rel=1e-2)
    assert values[0] <= 0 or quick[0] == pytest.approx(plain[0], abs=1e-4)
    assert reached == pytest.approx(evaluate(rows, weights, slope, quick), rel=1e-12)
    assert (np.diff(reached) <= 0).all()


@pytest.mark.parametrize("seed", range(5))
def test_ascents_never_descend(seed):
    rows, weights = instance(seed, 12, 4)
    start = np.random.default_rng(seed).standard_normal((1, 4))
    start /= np.linalg.norm(start)
    _, values = ascend(rows, weights, 0.0, start, compiled=True)
    assert values[0] >= evaluate(rows, weights, 0.0, start)[0]


# ------------------------------------------------------------------------------------------------- certificates


def test_the_checker_accepts_what_compiled_trees_prove(monkeypatch):
    monkeypatch.setenv(pricing.KERNELS, "numba")
    accepted = 0
    for problem, _ in random_problems(7, 48):
        outcome = dual_cuts.solve(instance_of(problem), tol=1e-4, deadline=time.monotonic() + 5)
        certificate = outcome.proof and lower_bound(problem, outcome.proof)
        if certificate is not None:
            assert certified(problem, None, certificate) is not None
            if outcome.proof.lower < 1e9:  # else the data can hardly be fitted, and rounding counts
                assert float(certificate.bracket[0]) == pytest.approx(outcome.proof.lower, rel=1e-6)
            accepted += 1
    assert accepted > 20


def test_whole_solves_agree(monkeypatch):
    """50 Gaussian points in 8 dimensions; both values are proved to 1e-6."""
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((50, 8))
    rows[:, -1] = 1.0
    targets = np.where(np.abs(rows[:, 0]) > 0.7, 1.0, -1.0)
    bounds = []
    for choice in ("numpy", "numba"):
        monkeypatch.setenv(pricing.KERNELS, choice)
        outcome = dual_cuts.solve(ProblemInstance(rows, targets, margin=True), tol=1e-6)
        assert outcome.status == "optimal"
        bounds.append(outcome.proof.lower)
    assert bounds[0] == pytest.approx(bounds[1], rel=1e-6)


@pytest.mark.parametrize("slope", [0.0, 0.3, 1.0])
@pytest.mark.parametrize(("count", "dimension"), [(5, 2), (9, 3), (25, 5)])
def test_ascents_with_a_free_bias_agree(count, dimension, slope):
    """The same maximum, at directions with the best bias; far from the origin too."""
    for seed, far in ((0, 0.0), (1, 0.0), (2, 1e6)):
        rows, weights = instance(seed, count, dimension, free=True)
        rows[:, :-1] += far
        starts = np.random.default_rng(seed).standard_normal((300, dimension))
        found = [ascend(rows, weights, slope, starts, free=True, compiled=choice) for choice in (False, True)]
        scale = np.abs(weights).sum() * np.ptp(rows, axis=0).max()
        assert found[0][1][0] == pytest.approx(found[1][1][0], abs=1e-7 * scale)
        for directions, values in found:
            assert np.linalg.norm(directions[values > 1e-9 * scale, :-1], axis=1) == pytest.approx(1.0)
            best = normalise(rows, weights, slope, directions, free=True)
            assert values == pytest.approx(evaluate(rows, weights, slope, best), abs=1e-8 * scale * (1 + far))
            assert (np.diff(values) <= 0).all()


# ------------------------------------------------------------------------------------------------- the choice


@pytest.mark.parametrize(
    ("environment", "compiled", "expected"),
    [
        (None, None, None),
        (None, True, True),
        (None, False, False),
        ("numba", None, True),
        ("numba", False, False),
        ("numpy", None, False),
        ("numpy", True, True),
    ],
)
def test_who_chooses_the_kernels(monkeypatch, environment, compiled, expected):
    monkeypatch.delenv(pricing.KERNELS, raising=False)
    if environment is not None:
        monkeypatch.setenv(pricing.KERNELS, environment)
    assert pricing._wanted(compiled) is expected


@pytest.mark.parametrize(("environment", "compiled"), [("numba", None), (None, True)])
def test_trees_with_a_free_bias_are_those_of_numpy(monkeypatch, environment, compiled):
    """There is no kernel for them, whatever is wished."""
    monkeypatch.delenv(pricing.KERNELS, raising=False)
    if environment is not None:
        monkeypatch.setenv(pricing.KERNELS, environment)
    monkeypatch.setattr(compiled_pricing, "bound_tree", lambda *_: pytest.fail("compiled"))
    rows, weights = instance(1, 6, 3)
    rows[:, -1], weights = 1.0, weights - weights.mean()
    tree = bound_tree(rows, weights, 0.0, 100.0, free=True, compiled=compiled)
    assert tree.nodes is not None
    assert tree.bound == bound_tree(rows, weights, 0.0, 100.0, free=True, compiled=False).bound


def test_trees_that_numpy_does_not_close_quickly_are_compiled(monkeypatch):
    """And where numba is broken, numpy goes on."""
    monkeypatch.delenv(pricing.KERNELS, raising=False)
    rows, weights = instance(3, 40, 4)
    beta = top_of(rows, weights) * (1 + 1e-3)
    seen = []
    search = compiled_pricing.bound_tree
    monkeypatch.setattr(compiled_pricing, "bound_tree", lambda *given: seen.append(given) or search(*given))
    assert bound_tree(rows, weights, 0.0, 10 * beta).nodes is not None
    assert not seen
    monkeypatch.setattr(pricing, "FIRST_NODES", 5)
    assert_proves(bound_tree(rows, weights, 0.0, beta), rows, weights, 0.0, beta)
    assert len(seen) == 1
    monkeypatch.setattr(pricing, "_can_compile", lambda: False)
    assert_proves(bound_tree(rows, weights, 0.0, beta), rows, weights, 0.0, beta)
    assert len(seen) == 1


def test_a_numba_that_cannot_be_imported(monkeypatch):
    monkeypatch.setitem(sys.modules, "solvers.pricing.kernels", None)
    pricing._can_compile.cache_clear()
    assert not pricing._can_compile()
    pricing._can_compile.cache_clear()


def test_small_problems_do_not_import_numba(monkeypatch):
    monkeypatch.delenv(pricing.KERNELS, raising=False)
    script = (
        "import sys, numpy as np\n"
        "from solvers.pricing.search import ascend, bound_tree\n"
        "rows = np.random.default_rng(0).standard_normal((20, 3))\n"
        "bound_tree(rows, np.ones(20), 0.0, 100.0), ascend(rows, np.ones(20), 0.0, rows)\n"
        "sys.exit('numba' in sys.modules)\n"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0
