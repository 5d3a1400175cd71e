"""What a flow conserves: put right without a change of any output."""

import numpy as np
import pytest

from solvers.layers import Layers, two_layers
from solvers.training.balance import Balance

DEEP = Layers((np.arange(12).reshape(4, 3), 12 + np.arange(8).reshape(2, 4), np.array([[20, 21]])), (0.0, 0.5))
SHARED = Layers((np.array([[0, 1, -1], [2, 3, 4]]), np.array([[5, 5]])), (0.0,))


@pytest.mark.parametrize("layers", [two_layers(3, 4, 0.1), DEEP], ids=["two layers", "deep"])
def test_the_balance_is_restored_and_the_outputs_stay(layers):
    rng = np.random.default_rng(2)
    theta, rows = rng.normal(size=layers.size), rng.normal(size=(5, 3))
    balance = Balance(layers, np.ones(layers.size, bool))
    values = balance.values(theta)
    off = theta + 1e-7 * rng.normal(size=layers.size)
    restored = balance.restored(off, values)
    for wanted, given in zip(values, balance.values(restored), strict=True):
        assert given == pytest.approx(wanted, abs=1e-9)
    assert layers.outputs(restored, rows) == pytest.approx(layers.outputs(off, rows), rel=1e-12)
    assert np.linalg.norm(restored - theta) < 3e-6


def test_a_weight_that_is_zero_leaves_all_of_the_balance_to_the_other():
    layers = two_layers(2, 3, 0.0)
    balance = Balance(layers, np.ones(9, bool))
    theta = np.array([0, 0, 3, 4, 0, 0, -2, 0, 0.0])
    restored = balance.restored(theta, [np.array([9.0, -100.0, 5.0])])
    assert restored.tolist() == [0, 0, 6, 8, 0, 0, -3, 0, 0]


def test_only_units_whose_weights_all_move_and_stand_alone_have_an_invariant():
    moving = np.array([True] * 8 + [False])
    assert Balance(two_layers(2, 3, 0.0), moving).units[0].tolist() == [True, True, False]
    assert Balance(SHARED, np.ones(6, bool)).units[0].tolist() == [False, False]
    theta = np.arange(1.0, 7.0)
    assert Balance(SHARED, np.ones(6, bool)).restored(theta, [np.zeros(2)]).tolist() == theta.tolist()
