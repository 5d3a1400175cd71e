"""Dual points of both labels: against a dense grid of directions and a general-purpose optimiser."""

import numpy as np
import pytest
from scipy.optimize import minimize

from solvers.any_width.label_cuts import label_multipliers

ANGLES = np.linspace(0.0, 2 * np.pi, 2001)


def worth(mu, values, is_up):
    totals = np.array([(mu * values * is_up).sum(), (mu * values * (1 - is_up)).sum()])
    return (np.maximum(totals, 0.0) ** (2 / 3)).sum() ** 1.5


def length(mu, rows, is_up):
    z = np.maximum(np.column_stack([np.cos(ANGLES), np.sin(ANGLES)]) @ rows.T, 0.0) * mu
    return np.sqrt(((z @ np.column_stack([is_up, 1 - is_up])) ** 2).sum(axis=1)).max()


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.one_in(2)
def test_no_other_multipliers_are_better(seed):
    random = np.random.default_rng(seed)
    n = int(random.integers(1, 6))
    rows, values = random.normal(size=(n, 2)), random.uniform(0.2, 2, n)
    is_up = (random.random(n) < 0.5) * 1.0
    mu = label_multipliers(rows, values, is_up)
    assert mu.min() >= 0
    own = worth(mu, values, is_up) / length(mu, rows, is_up)
    for start in (mu + 0.1, *random.random((3, n))):
        found = minimize(
            lambda z: -worth(np.abs(z), values, is_up) / length(np.abs(z), rows, is_up), start, method="Nelder-Mead"
        )
        assert -found.fun <= own * (1 + 1e-4)


def test_two_labels_at_right_angles():
    mu = label_multipliers(np.eye(2), np.ones(2), np.array([1.0, 0.0]))
    assert mu == pytest.approx([1.0, 1.0], rel=1e-6)


def test_points_at_0_have_none():
    assert label_multipliers(np.array([[0.0, 0.0], [1.0, 0.0]]), np.ones(2), np.ones(2)) is None
    assert label_multipliers(np.zeros((0, 2)), np.zeros(0), np.zeros(0)) is None


@pytest.mark.parametrize("power", [-60, -30, 30, 60])
def test_multipliers_of_scaled_points_are_those_over_the_scale(power):
    random = np.random.default_rng(1)
    rows, values, is_up = random.normal(size=(4, 2)), random.uniform(0.2, 2, 4), np.array([1.0, 0.0, 1.0, 0.0])
    own = label_multipliers(rows, values, is_up)
    assert np.array_equal(label_multipliers(rows * 2.0**power, values, is_up), own / 2.0**power)
    assert np.array_equal(label_multipliers(rows, values * 2.0**power, is_up), own)
