"""Descent in primal and dual variables against descent in the weights; least norms against a general solver."""

import cvxpy as cp
import numpy as np
import pytest

from solvers.paper_data.high_dimensional import isotropic
from solvers.training.primal_dual import descend, interpolant, least_norm_one, least_norm_two, span_norm

SIGNS = {1: [1.0], 2: [1.0, -1.0], 3: [1.0, -1.0, 1.0]}


def _data(n, d, seed):
    data = isotropic(seed=seed, points=n, dimension=d)
    return data.inputs, data.targets, data.inputs @ data.inputs.T


@pytest.mark.parametrize("width", SIGNS)
@pytest.mark.parametrize("dimension", [8, 60])
def test_descent_is_that_of_the_weights(width, dimension):
    X, y, gram = _data(8, dimension, seed=width)
    s = np.array(SIGNS[width])
    duals = np.random.default_rng(1).normal(size=(width, 8)) * 0.02
    step = 0.3 / np.linalg.norm(gram, 2)
    found = descend(gram, y, s, duals, step=step, iterations=40)
    W, place = duals @ X, 0
    for t in range(41):
        z = X @ W.T
        if place < len(found.iterations) and found.iterations[place] == t:
            assert found.primals[place] == pytest.approx(z.T, abs=1e-10)
            assert found.duals[place] @ X == pytest.approx(W, abs=1e-10)
            assert found.risks[place] == pytest.approx(((np.maximum(z, 0) @ s - y) ** 2).sum() / 2)
            place += 1
        rest = np.maximum(z, 0) @ s - y
        W = W - step * s[:, None] * ((z > 0) * rest[:, None]).T @ X
    assert place == len(found.iterations) >= 20


def test_the_limit_after_the_last_change_is_linear_regression():  # Lemmas 1 and 2, and Theorem 1
    X, y, gram = _data(10, 3000, seed=4)
    start = np.linalg.solve(gram, np.full(10, 0.01))
    found = descend(gram, y, [1.0], start[None], step=0.25 / 3000, iterations=2000)
    assert found.ended
    assert found.settled == 1
    after = found.duals[list(found.iterations).index(found.settled)][0]
    limit = interpolant(gram, y > 0, y, after)
    assert found.duals[-1][0] == pytest.approx(limit, abs=1e-13)
    assert X @ (limit @ X) == pytest.approx(np.where(y > 0, y, X @ (limit @ X)), abs=1e-9)
    assert np.linalg.norm((limit - after) @ X) == pytest.approx(
        np.linalg.norm(np.linalg.pinv(X[y > 0]) @ (y[y > 0] - X[y > 0] @ (after @ X)))
    )


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("dimension", [9, 20, 200])
def test_one_neuron_has_the_least_norm(dimension, seed):
    X, y, gram = _data(9, dimension, seed)
    found = least_norm_one(gram, y) @ X
    w = cp.Variable(dimension)
    least = cp.Problem(cp.Minimize(cp.sum_squares(w)), [X[y > 0] @ w == y[y > 0], X[y < 0] @ w <= 0])
    least.solve(solver=cp.CLARABEL)
    assert X[y > 0] @ found == pytest.approx(y[y > 0], abs=1e-8)
    assert (X[y < 0] @ found).max() <= 1e-8
    assert found @ found == pytest.approx(least.value, rel=1e-6)
    assert span_norm(gram, least_norm_one(gram, y)) == pytest.approx(np.linalg.norm(found))


def test_without_negative_labels_it_is_the_interpolant():
    X, y, gram = _data(5, 40, seed=1)
    assert least_norm_one(gram, np.abs(y)) @ X == pytest.approx(np.linalg.pinv(X) @ np.abs(y), abs=1e-10)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("dimension", [6, 15, 300])
@pytest.mark.one_in(3)
def test_two_neurons_have_the_least_norm_over_all_patterns(dimension, seed):
    X, y, gram = _data(6, dimension, seed)
    duals, nodes = least_norm_two(gram, y)
    assert nodes >= 1
    plus, minus = duals @ X
    assert np.maximum(X @ plus, 0) - np.maximum(X @ minus, 0) == pytest.approx(y, abs=1e-6)
    best = min(_least(X, y, pattern) for pattern in range(2**6))
    assert plus @ plus + minus @ minus == pytest.approx(best, rel=1e-5)


def _least(X, y, pattern):
    """The least norm where bit i says whether the neuron of the other sign is on at point i."""
    w = {1.0: cp.Variable(X.shape[1]), -1.0: cp.Variable(X.shape[1])}
    constraints = []
    for i, x in enumerate(X):
        own, other = w[np.sign(y[i])], w[-np.sign(y[i])]
        if pattern >> i & 1:
            constraints += [x @ own - x @ other == abs(y[i]), x @ other >= 0]
        else:
            constraints += [x @ own == abs(y[i]), x @ other <= 0]
    least = cp.Problem(cp.Minimize(cp.sum_squares(w[1.0]) + cp.sum_squares(w[-1.0])), constraints)
    least.solve(solver=cp.CLARABEL)
    return least.value if least.status == "optimal" else np.inf


def test_few_nodes_are_not_enough_where_the_relaxation_is_not_tight():
    _, y, gram = _data(6, 15, seed=2)
    assert least_norm_two(gram, y)[1] > 1
    with pytest.raises(RuntimeError, match="nodes"):
        least_norm_two(gram, y, most_nodes=1)


def test_a_target_of_zero_is_refused():
    with pytest.raises(ValueError, match="target is 0"):
        least_norm_two(np.eye(2), np.array([1.0, 0.0]))


def test_descent_can_stop_in_a_local_minimum():  # an inactive positive example is never fitted (Remark 1)
    found = descend(np.eye(2), np.array([1.0, 1.0]), [1.0], np.array([[-0.1, 0.1]]), step=0.5, iterations=500)
    assert found.ended
    assert found.primals[-1][0] == pytest.approx([-0.1, 1.0])
    assert found.risks[-1] == pytest.approx(0.5)
