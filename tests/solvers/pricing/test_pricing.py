"""Pricing against all candidates for a maximum: the projections of the gradients of all cells onto all their faces."""

import time
from itertools import combinations

import numpy as np
import pytest

from solvers import clock
from solvers.pricing import search as pricing
from solvers.pricing.dual_function import (
    bias_frame,
    crossings,
    evaluate,
    from_frame,
    normalise,
    sweep_angles,
    to_frame,
)
from solvers.pricing.search import ascend, bound_tree
from solvers.programs.arrangements import cells
from tests.solvers.pricing.trees import assert_proves

CLOSE = 1e-9  # relative to the values compared


def plain(rows, weights, slope, u):
    """h(u), one term after the other."""
    total = 0.0
    for row, weight in zip(rows, weights, strict=True):
        z = sum(a * b for a, b in zip(row, u, strict=True))
        total += weight * (z if z > 0 else slope * z)
    return total


def largest(rows, weights, slope):
    """max h on the unit ball, where h is positive: on a face of a cell a maximiser is the gradient's projection."""
    best = 0.0
    gradients = {np.where(signs > 0, 1.0, slope).tobytes(): signs for signs, _ in cells(rows)}
    found = [(np.where(signs > 0, 1.0, slope) * weights) @ rows for signs in gradients.values()]
    for order in range(rows.shape[1]):
        for chosen in combinations(range(len(rows)), order):
            face = np.eye(rows.shape[1])
            if chosen:
                _, sizes, axes = np.linalg.svd(rows[list(chosen)])
                face = face - axes[: (sizes > 1e-9).sum()].T @ axes[: (sizes > 1e-9).sum()]
            candidates = np.array(found) @ face
            candidates = candidates[np.linalg.norm(candidates, axis=1) > 1e-9]
            candidates /= np.linalg.norm(candidates, axis=1)[:, None]
            if len(candidates):
                best = max(best, evaluate(rows, weights, slope, candidates).max())
    return best


def largest_free(rows, weights, slope):
    """The same with a free bias and weights of sum 0: for each w the best bias puts some point on the kink."""
    return max(largest(rows[:, :-1] - row[:-1], weights, slope) for row in rows)


def instance(seed, count, dimension, *, free=False):
    """Generic rows and weights of both signs; with a bias column of ones and weights that sum to 0 if free."""
    rng = np.random.default_rng([seed, count, dimension])
    rows, weights = rng.standard_normal((count, dimension)), rng.standard_normal(count)
    if free:
        rows[:, -1] = 1.0
        weights -= weights.mean()
    return rows, weights


# ------------------------------------------------------------------------------------------------- values, directions


@pytest.mark.parametrize("slope", [0.0, 0.3, 1.0])
def test_evaluate(slope):
    rows, weights = instance(0, 6, 3)
    rows[2] = 0.0
    directions = np.concatenate([np.random.default_rng(1).standard_normal((20, 3)), np.zeros((1, 3)), -rows])
    expected = [plain(rows, weights, slope, u) for u in directions]
    assert evaluate(rows, weights, slope, directions) == pytest.approx(expected, rel=1e-12, abs=1e-12)


def test_normalise():
    rows, weights = instance(0, 5, 3)
    vectors = np.array([[3.0, 0.0, 4.0], [0.0, 0.0, 0.0], [1e-100, 0.0, 0.0]])
    assert normalise(rows, weights, 0.0, vectors, free=False).tolist() == [[0.6, 0.0, 0.8], [0, 0, 0], [1, 0, 0]]


@pytest.mark.parametrize("size", [5e-324, 1e-320, 3e-200, 1e-160, 1e200, 1.7e308])
def test_normalise_out_of_the_range_of_squares(size):
    """An interior point leaves neurons of any size near 0: directions of another norm would be taken for violators."""
    rows, weights = np.array([[1.0, -1.0, 1.0], [-1.0, 0.5, 1.0]]), np.array([1.0, -1.0])
    for free in (False, True):
        found = normalise(rows, weights, 0.0, np.array([[size, size / 4, 0.0], [-size, size, 0.0]]), free=free)
        assert np.linalg.norm(found[:, :2] if free else found, axis=1) == pytest.approx([1, 1])


@pytest.mark.parametrize("slope", [0.0, 0.4, 1.0])
@pytest.mark.parametrize("seed", range(4))
def test_normalise_takes_the_best_bias(slope, seed):
    rows, weights = instance(seed, 7, 3, free=True)
    vectors = np.random.default_rng(seed).standard_normal((10, 3)) * 5
    found = normalise(rows, weights, slope, vectors, free=True)
    assert found[:, :2] == pytest.approx(vectors[:, :2] / np.linalg.norm(vectors[:, :2], axis=1)[:, None])
    biases = np.linspace(-20, 20, 4001)
    for u, value in zip(found, evaluate(rows, weights, slope, found), strict=True):
        grid = np.column_stack([np.tile(u[:2], (len(biases), 1)), biases])
        dense = evaluate(rows, weights, slope, grid).max()
        assert dense <= value + 1e-12
        assert value <= dense + 0.01 * np.abs(weights).sum()  # the grid's step


def test_a_linear_function_has_no_best_bias():
    """With slope 1 and weights of sum 0 the bias has no influence: any will do."""
    rows, weights = instance(3, 4, 2, free=True)
    found = normalise(rows, weights, 1.0, np.array([[2.0, 0.0]]), free=True)
    assert found[0, 0] == 1
    assert evaluate(rows, weights, 1.0, found)[0] == pytest.approx(weights @ rows[:, 0])


# ------------------------------------------------------------------------------------------------- local search


@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("slope", [0.0, 0.3])
@pytest.mark.parametrize("seed", range(3))
def test_ascend_finds_the_maximum_from_many_starts(free, slope, seed):
    rows, weights = instance(seed, 7, 3, free=free)
    starts = np.random.default_rng(seed).standard_normal((200, 3))
    directions, values = ascend(rows, weights, slope, starts, free=free)
    body = directions[:, :2] if free else directions
    assert np.linalg.norm(body, axis=1) == pytest.approx(np.ones(len(values)))
    assert values == pytest.approx(evaluate(rows, weights, slope, directions), rel=1e-12)
    assert (np.diff(values) <= 0).all()
    top = (largest_free if free else largest)(rows, weights, slope)
    assert values[0] <= top * (1 + CLOSE)
    assert values[0] == pytest.approx(top, rel=1e-6)


@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_ascend_never_descends(free, seed):
    rows, weights = instance(seed, 12, 4, free=free)
    start = normalise(rows, weights, 0.0, np.random.default_rng(seed).standard_normal((1, 4)), free=free)
    _, values = ascend(rows, weights, 0.0, start, free=free)
    assert values[0] >= evaluate(rows, weights, 0.0, start)[0]
    _, more = ascend(rows, weights, 0.0, start, free=free, rounds=30, sweeps=20)
    assert more[0] >= evaluate(rows, weights, 0.0, start)[0]


def test_ascend_keeps_the_best_of_distinct_patterns():
    rows, weights = instance(1, 30, 5)
    starts = np.random.default_rng(0).standard_normal((300, 5))
    directions, _ = ascend(rows, weights, 0.0, starts, finalists=5)
    assert len(directions) <= 5
    _, few = ascend(rows, weights, 0.0, starts, finalists=5)
    _, many = ascend(rows, weights, 0.0, starts, finalists=300)
    assert few[0] == pytest.approx(many[0], rel=1e-3)


def test_a_local_maximum_stays():
    """h = s(u_1) - s(u_2): from its maximiser (1, 0), which lies on a kink, nothing moves."""
    directions, values = ascend(np.eye(2), np.array([1.0, -1.0]), 0.0, np.array([[1.0, 0.0]]))
    assert directions == pytest.approx(np.array([[1.0, 0.0]]))
    assert values == pytest.approx([1.0])


def test_crossings_lie_on_rows():
    rows, _ = instance(0, 9, 4)
    found = crossings(rows, 30, np.random.default_rng(0))
    assert found.shape == (30, 4)
    assert found[:15] == pytest.approx(-found[15:])
    assert np.linalg.norm(found, axis=1) == pytest.approx(np.ones(30))
    assert ((np.abs(found @ rows.T) < 1e-9).sum(axis=1) == 3).all()
    assert len(np.unique(np.round(found, 6), axis=0)) > 15


def test_too_few_rows_have_no_crossings():
    random = np.random.default_rng(0)
    assert crossings(np.ones((2, 3)), 10, random).shape == (0, 3)
    assert crossings(np.ones((5, 1)), 10, random).shape == (0, 1)


# ------------------------------------------------------------------------------------------------- all angles


@pytest.mark.parametrize("slope", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("count", [1, 2, 5, 12])
@pytest.mark.parametrize("seed", range(3))
def test_sweep_finds_every_local_maximum(slope, count, seed):
    rows, weights = instance(seed, count, 2)
    directions, values = sweep_angles(rows, weights, slope)
    assert values == pytest.approx(evaluate(rows, weights, slope, directions))
    assert (np.diff(values) <= 0).all()
    angles = np.linspace(0, 2 * np.pi, 20001)[:-1]
    circle = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    dense = evaluate(rows, weights, slope, circle)
    assert values[0] >= dense.max() - 1e-12
    assert values[0] == pytest.approx(dense.max(), abs=1e-3)
    tops = np.flatnonzero((dense > np.roll(dense, 1)) & (dense >= np.roll(dense, -1)))
    for top in tops:
        assert np.linalg.norm(directions - circle[top], axis=1).min() < 1e-3
    assert largest(rows, weights, slope) == pytest.approx(max(values[0], 0.0), rel=1e-9)


def test_sweep_in_one_dimension():
    directions, values = sweep_angles(np.array([[2.0], [-1.0]]), np.array([-1.0, 3.0]), 0.5)
    assert directions.tolist() == [[-1.0], [1.0]]
    assert values.tolist() == [-1.0 * 0.5 * -2 + 3, -2 + 3 * 0.5 * -1]


@pytest.mark.parametrize("rows", [np.zeros((2, 2)), [[0, 0], [1, 0]], [[1, 0], [2, 0]], [[1, 1], [-3, -3]]])
def test_sweep_of_degenerate_rows(rows):
    rows, weights = np.array(rows, dtype=float), np.array([1.0, 0.5])
    _, values = sweep_angles(rows, weights, 0.0)
    angles = np.linspace(0, 2 * np.pi, 2001)
    dense = evaluate(rows, weights, 0.0, np.stack([np.cos(angles), np.sin(angles)], axis=1))
    assert values[0] >= dense.max() - 1e-12
    assert values[0] == pytest.approx(dense.max(), abs=1e-2)


# ------------------------------------------------------------------------------------------------- trees


CASES = [(1, 1), (1, 3), (4, 2), (2, 3), (8, 3), (12, 3), (10, 4)]


@pytest.mark.parametrize(("count", "dimension"), CASES)
@pytest.mark.parametrize("slope", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.one_in(3)
def test_the_tree_closes_just_above_the_maximum(count, dimension, slope, seed):
    rows, weights = instance(seed, count, dimension)
    for sign in (1, -1):
        top = largest(rows, sign * weights, slope)
        beta = top * (1 + 1e-6) if top else 1e-3
        tree = bound_tree(rows, sign * weights, slope, beta)
        assert_proves(tree, rows, sign * weights, slope, beta, seed=seed)
        assert tree.bound >= top * (1 - CLOSE)
        assert tree.count == len(tree.nodes)


@pytest.mark.parametrize(("count", "dimension"), [(3, 2), (5, 3), (9, 3), (7, 4)])
@pytest.mark.parametrize("slope", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("seed", range(2))
def test_the_tree_with_a_free_bias(count, dimension, slope, seed):
    rows, weights = instance(seed, count, dimension, free=True)
    for sign in (1, -1):
        top = largest_free(rows, sign * weights, slope)
        beta = top * (1 + 1e-5)
        tree = bound_tree(rows, sign * weights, slope, beta, free=True)
        assert_proves(tree, rows, sign * weights, slope, beta, free=True, seed=seed)
        assert tree.bound >= top * (1 - CLOSE)


@pytest.mark.parametrize(("count", "dimension"), [(20, 2), (40, 2), (20, 3), (30, 4), (20, 6)])
@pytest.mark.one_in(2)
def test_trees_with_a_free_bias_are_small(count, dimension):
    """With p_b = 0 in every leaf they had 2,000 nodes or more; shifted points give the same ones."""
    rows, weights = instance(count, count, dimension, free=True)
    starts = np.random.default_rng(0).standard_normal((400, dimension))
    beta = max(ascend(rows, sign * weights, 0.0, starts, free=True)[1][0] for sign in (1, -1))
    for sign in (1, -1):
        counts = []
        for far in (0.0, 2.0**20):
            shifted = rows + far * (np.arange(dimension) < dimension - 1)
            tree = bound_tree(shifted, sign * weights, 0.0, beta * (1 + 1e-4), free=True)
            assert tree.nodes is not None
            counts.append(tree.count)
        assert max(counts) < 300
        assert max(counts) <= 1.5 * min(counts) + 4


def test_frames_of_a_free_bias():
    rows, _ = instance(0, 6, 3, free=True)
    rows[:, 0] += 100.0
    framed, middle, reach = bias_frame(rows)
    directions = np.random.default_rng(0).standard_normal((5, 3))
    inside = to_frame(directions, middle, reach)
    assert inside @ framed.T == pytest.approx(directions @ rows.T, abs=1e-10)
    assert from_frame(inside, middle, reach) == pytest.approx(directions)
    assert np.linalg.norm(framed[:, :-1], axis=1).max() == pytest.approx(reach)
    assert (framed[:, -1] == reach).all()
    assert bias_frame(np.ones((3, 2)))[2] == 1.0  # one point: any range will do
    assert bias_frame(np.empty((0, 3)))[1].tolist() == [0.0, 0.0]


@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("share", [0.3, 0.9, 1 - 1e-4])
@pytest.mark.parametrize("seed", range(3))
def test_below_the_maximum_there_are_violators(free, share, seed):
    rows, weights = instance(seed, 9, 3, free=free)
    beta = share * (largest_free if free else largest)(rows, weights, 0.2)
    tree = bound_tree(rows, weights, 0.2, beta, free=free)
    assert tree.nodes is None
    assert tree.bound == np.inf
    assert len(tree.violators)
    body = tree.violators[:, :-1] if free else tree.violators
    assert np.linalg.norm(body, axis=1) == pytest.approx(np.ones(len(body)))
    assert (evaluate(rows, weights, 0.2, tree.violators) > beta).all()


def test_violators_can_be_enough():
    rows, weights = instance(0, 14, 4)
    many = bound_tree(rows, weights, 0.0, 0.3 * largest(rows[:6], weights[:6], 0.0), batch=1)
    few = bound_tree(rows, weights, 0.0, 0.3 * largest(rows[:6], weights[:6], 0.0), batch=1, max_violators=1)
    assert 1 <= len(few.violators) < len(many.violators)
    assert few.count < many.count


@pytest.mark.parametrize("batch", [1, 3, 256])
def test_the_size_of_the_batches_does_not_matter(batch):
    rows, weights = instance(2, 10, 3)
    beta = largest(rows, weights, 0.0) * (1 + 1e-6)
    tree = bound_tree(rows, weights, 0.0, beta, batch=batch)
    assert_proves(tree, rows, weights, 0.0, beta)


def test_no_points():
    tree = bound_tree(np.empty((0, 3)), np.empty(0), 0.0, 1.0)
    assert tree.bound == 0
    assert len(tree.nodes) == 1
    assert tree.violators.shape == (0, 3)


@pytest.mark.parametrize("weight", [2.0, -2.0])
@pytest.mark.parametrize("slope", [0.0, 0.5, 1.0])
def test_one_point(weight, slope):
    """max of 2 s(x.u) is 2 |x|, of -2 s(x.u) it is 2 a |x|."""
    rows, weights = np.array([[3.0, 4.0]]), np.array([weight])
    top = 10.0 if weight > 0 else 10.0 * slope
    tree = bound_tree(rows, weights, slope, top * (1 + 1e-9) + 1e-12)
    assert tree.bound == pytest.approx(top, abs=1e-9)
    assert_proves(tree, rows, weights, slope, top * (1 + 1e-9) + 1e-12)
    if top:
        below = bound_tree(rows, weights, slope, 0.99 * top)
        assert below.nodes is None
        assert evaluate(rows, weights, slope, below.violators) == pytest.approx(np.full(len(below.violators), top))


@pytest.mark.parametrize("slope", [0.0, 0.3])
@pytest.mark.parametrize("seed", range(3))
def test_zero_rows_duplicates_and_opposite_points(slope, seed):
    rows, weights = instance(seed, 5, 3)
    rows = np.concatenate([rows, rows[:2], -2 * rows[1:3], np.zeros((2, 3))])
    weights = np.concatenate([weights, weights[:2], -weights[1:3], [1.0, -1.0]])
    for sign in (1, -1):
        beta = largest(rows, sign * weights, slope) * (1 + 1e-6)
        assert_proves(bound_tree(rows, sign * weights, slope, beta), rows, sign * weights, slope, beta)


def test_all_rows_zero():
    tree = bound_tree(np.zeros((2, 3)), np.array([1.0, -2.0]), 0.0, 1e-6)
    assert tree.nodes is not None
    assert tree.bound == pytest.approx(0, abs=1e-12)


def test_a_function_that_vanishes():
    """A point and its double with half the weight taken away: h = 0, and any beta > 0 closes."""
    rows, weights = np.array([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0]]), np.array([2.0, -1.0])
    for sign in (1, -1):
        tree = bound_tree(rows, sign * weights, 0.0, 1e-3)
        assert_proves(tree, rows, sign * weights, 0.0, 1e-3)


@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_scaling_rows_or_weights_scales_the_bound(scale):
    rows, weights = instance(4, 8, 3)
    beta = largest(rows, weights, 0.0) * (1 + 1e-6)
    one = bound_tree(rows, weights, 0.0, beta)
    for tree in (
        bound_tree(rows, scale * weights, 0.0, scale * beta),
        bound_tree(scale * rows, weights, 0.0, scale * beta),
    ):
        assert tree.nodes is not None
        assert tree.bound / scale == pytest.approx(one.bound, rel=1e-6)


def test_out_of_time_or_nodes():
    rows, weights = instance(0, 12, 4)
    beta = largest(rows, weights, 0.0) * (1 + 1e-3)
    whole = bound_tree(rows, weights, 0.0, beta)
    assert whole.count > 10
    for early in (
        bound_tree(rows, weights, 0.0, beta, deadline=time.monotonic() - 1),
        bound_tree(rows, weights, 0.0, beta, max_nodes=3, batch=1),
    ):
        assert early.nodes is None
        assert early.bound == np.inf
        assert early.count <= 4


@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("size", [1e-320, 1e-200, 1e-162, 1e-100, 1.0, 1e200])
def test_directions_have_norm_one_whatever_their_size_was(size, free):
    """Squares of entries below 1e-162 are no floats: what a descent leaves of a p that is 0."""
    rows, weights = instance(3, 6, 3)
    weights = weights - weights.mean()
    found = normalise(rows, weights, 0.0, size * np.array([[2.0, -1.0, 2.0], [-1.0, 1.0, 0.5]]), free=free)
    np.testing.assert_allclose(np.linalg.norm(found[:, : 2 if free else 3], axis=1), 1.0, rtol=1e-3)


def test_a_direction_that_is_zero_stays_zero():
    rows, weights = instance(3, 6, 3)
    assert not normalise(rows, weights, 0.0, np.zeros((2, 3)), free=False).any()


@pytest.mark.parametrize(("left", "at_hand", "expected"), [(5.0, False, False), (5.0, True, True), (60.0, False, True)])
def test_kernels_are_compiled_only_where_the_time_left_allows_it(monkeypatch, left, at_hand, expected):
    compilation = pytest.importorskip("solvers.compilation")
    monkeypatch.setattr(compilation, "is_at_hand", lambda _: at_hand)
    with clock.reading(lambda: 0.0):
        assert pricing._is_compiled_in_time("search", left) is expected
        with clock.until(left):
            assert pricing._is_compiled_in_time("climb") is expected
        assert not pricing._is_compiled_in_time("climb", -1.0)
