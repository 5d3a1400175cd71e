"""`solvers.depth_crossings`: what it returns is better and near; a network across a kink is found."""

import numpy as np
import pytest

from solvers.depth_crossings import DeepCrossings
from solvers.layers import Layers

GAP = 1e-3
X, Y = np.array([[1.0, 0.0], [-GAP, 1.0]]), np.array([1.0, 1.0])
LAYERS = Layers((np.array([[0, 1], [2, 3]]), np.array([[4, 5]])), (0.0,))


def at_margin_one(theta):
    least = (Y * LAYERS.outputs(theta, X)).min()
    assert least > 0
    return theta * least**-0.5


def test_what_is_returned_is_near_and_better():
    random, seen = np.random.default_rng(0), 0
    for _ in range(20):
        theta = np.abs(random.normal(size=6)) + 0.1
        theta = at_margin_one(theta)
        for found in DeepCrossings(LAYERS, X, Y, reach=0.1).better(theta):
            assert (Y * LAYERS.outputs(found, X)).min() >= 1 - 1e-12
            assert found @ found < theta @ theta
            assert np.linalg.norm(found - theta) < 0.15 * np.linalg.norm(theta)
            seen += 1
    assert seen > 5


def test_a_network_across_a_kink_is_found():
    """Two units of one point each; that of the second may take the first point too, where it is turned a little."""
    layers = Layers((np.array([[0, 1], [2, 3]]), np.array([[4, 5]])), (0.0,))
    rows = np.array([[1.0, 1.0], [-1.0, 1.0]])
    rows[1] = [-1.0 - GAP, 1.0]  # a half-plane off: at (1, 1) the first unit does not see it, beyond the kink it does
    signs = np.array([1.0, 1.0])
    theta = np.array([0.5, 0.5, -0.5, 0.5, 0.7, 0.7])
    theta = theta * (signs * layers.outputs(theta, rows)).min() ** -0.5
    found = [*DeepCrossings(layers, rows, signs, reach=0.05).better(theta)]
    assert found
    assert all(end @ end < theta @ theta for end in found)


def test_nothing_is_better_than_the_best():
    """One linear-like unit on one point: |v| = |w| along x is the least norm."""
    layers = Layers((np.array([[0, 1]]), np.array([[2]])), (0.0,))
    assert [*DeepCrossings(layers, np.array([[1.0, 0.0]]), np.ones(1)).better(np.array([1.0, 0.0, 1.0]))] == []


def test_what_does_not_fit_and_what_is_late_has_none():
    assert [*DeepCrossings(LAYERS, X, Y).better(-np.ones(6))] == []
    assert [*DeepCrossings(LAYERS, X, Y, reach=0.1).better(np.ones(6), deadline=0.0)] == []


@pytest.mark.parametrize("l", [0, 1])
def test_rates_are_those_of_differences(l):
    layers = Layers((np.array([[0, 1], [2, 3]]), np.array([[4, 5], [6, 7]]), np.array([[8, 9]])), (0.2, 0.2))
    random = np.random.default_rng(1)
    theta = random.normal(size=10)
    pattern = layers.pattern(layers.preactivations(theta, X))
    rates = np.array([layers.unit_gradient(theta, X, pattern, l, i, 1)[0] for i in range(len(X))])
    for k in range(10):
        step = np.zeros(10)
        step[k] = 1e-6
        up, down = (layers.preactivations(theta + s * step, X)[l][:, 1] for s in (1, -1))
        assert (up - down) / 2e-6 == pytest.approx(rates[:, k], abs=1e-6)
