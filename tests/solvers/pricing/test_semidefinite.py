"""The largest ||H(u)|| on the unit ball: the tree against dense directions, and ascents from below."""

import numpy as np
import pytest

from solvers.pricing import semidefinite
from solvers.pricing.semidefinite import Closed, climbed, squared_bound

ANGLES = np.linspace(0.0, 2 * np.pi, 20001)


def drawn(seed, columns=2):
    random = np.random.default_rng(seed)
    rows, parts = int(random.integers(1, 6)), int(random.integers(1, 3))
    x = random.normal(size=(rows, columns)) * random.uniform(0.1, 10, size=(rows, 1))
    return (
        x,
        np.abs(random.normal(size=(rows, parts))) * random.integers(0, 2, size=(rows, parts)),
        (0.0, 0.3, 1.0)[seed % 3],
    )


def on_a_grid(rows, weights, slope):
    z = np.column_stack([np.cos(ANGLES), np.sin(ANGLES)]) @ rows.T
    return ((np.maximum(z, slope * z) @ weights) ** 2).sum(axis=1).max()


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.one_in(2)
def test_trees_close_on_dense_directions(seed):
    rows, weights, slope = drawn(seed)
    reached = on_a_grid(rows, weights, slope)
    bound, tree = squared_bound(rows, weights, slope, reached * (1 + 1e-7))
    assert reached <= bound * (1 + 1e-9)
    assert bound <= reached * (1 + 1e-5) + 1e-9
    assert sum(isinstance(node, Closed) for node in tree) == sum(not isinstance(node, Closed) for node in tree) + 1


@pytest.mark.parametrize("seed", range(30))
def test_ascents_stay_below_and_end_at_the_top(seed):
    rows, weights, slope = drawn(seed)
    square, u = climbed(rows, weights, slope, np.vstack([rows, np.random.default_rng(0).normal(size=(30, 2))]))
    assert square == pytest.approx(on_a_grid(rows, weights, slope), rel=1e-6)
    assert np.linalg.norm(u) == pytest.approx(1.0)


@pytest.mark.parametrize("seed", range(6))
def test_what_products_prove_in_more_columns(seed):
    rows, weights, slope = drawn(seed, 4)
    starts = np.random.default_rng(1).normal(size=(500, 4))
    square, _ = climbed(rows, weights, slope, starts)
    bound, _ = squared_bound(rows, weights, slope, square * (1 + 1e-7))
    assert square <= bound * (1 + 1e-9) + 1e-12


def test_leaves_end_where_they_have_to(monkeypatch):
    rows, weights = np.array([[1.0, 0.2], [-1.0, 0.3], [0.2, 1.0]]), np.ones((3, 1))
    _, whole = squared_bound(rows, weights, 0.0, 0.0)  # never reached: all is split
    assert sum(isinstance(node, Closed) for node in whole) == 8
    monkeypatch.setattr(semidefinite, "MOST_LEAVES", 1)
    bound, one = squared_bound(rows, weights, 0.0, 0.0)
    assert len(one) == 1
    assert bound >= on_a_grid(rows, weights, 0.0)
    monkeypatch.setattr(semidefinite, "MOST_PRODUCTS", 0)
    assert squared_bound(rows, weights, 0.0, 0.0)[0] >= bound * (1 - 1e-9)
    assert len(squared_bound(rows, weights, 0.0, 0.0)[1][0].products) == 3
