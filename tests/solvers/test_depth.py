"""Descent for networks of any depth: the penalties fall, and lead to known optima."""

import numpy as np
import pytest

from solvers.depth import DeepDescent, random_start, starts
from solvers.layers import Layers

CHAIN = Layers((np.array([[0, 1]]), np.array([[2]]), np.array([[3]])), (0.0, 0.0))
ROWS, TARGETS = np.array([[1.0, 0.0], [0.6, 0.8]]), np.array([1.0, 1.0])


def test_the_best_chain_is_found():
    """w = (1, 1/2) / g with margin 1 at both points: least ||w|| with w.x >= 1 is the norm of (1, 1/2)."""
    found = DeepDescent(CHAIN, ROWS, TARGETS, margin=True).ended(np.array([1.0, 1.0, 1.0, 1.0]), 10.0)
    least = CHAIN.outputs(found, ROWS).min()
    value = float(found @ found) / 2 / least ** (2 / 3)
    assert value == pytest.approx(1.5 * (1.25) ** (1 / 3), rel=1e-3)


def test_targets_are_nearly_met():
    found = DeepDescent(CHAIN, ROWS, np.array([2.0, 1.0]), margin=False).ended(np.array([1.0, 1.0, 1.0, 1.0]), 10.0)
    assert CHAIN.outputs(found, ROWS) == pytest.approx([2.0, 1.0], abs=1e-3)


def test_starts_begin_with_the_given_one_and_are_the_same_again():
    given = np.ones(4)
    first, other = (list(starts(CHAIN, given, 3, seed=1)) for _ in range(2))
    assert len(first) == 5
    assert np.array_equal(first[0], given)
    assert all(np.array_equal(a, b) for a, b in zip(first, other, strict=True))
    assert len(list(starts(CHAIN, None, 2))) == 2


def test_random_weights_have_the_size_of_their_layer():
    wide = Layers((np.arange(4000).reshape(40, 100), 4000 + np.arange(40)[None, :]), (0.0,))
    theta = random_start(wide, np.random.default_rng(0))
    assert np.std(theta[:4000]) == pytest.approx((2 / 100) ** 0.5, rel=0.1)
    assert np.std(theta[4000:]) == pytest.approx((2 / 40) ** 0.5, rel=0.5)
