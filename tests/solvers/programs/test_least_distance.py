"""The shortest vector of linear rows: its multipliers satisfy the KKT conditions; what nothing satisfies has none."""

import numpy as np
import pytest

from solvers.programs.least_distance import least_distance


@pytest.mark.parametrize("seed", range(40))
def test_the_multipliers_satisfy_the_kkt_conditions(seed):
    random = np.random.default_rng(seed)
    m, c = random.integers(1, 9), random.integers(1, 6)
    matrix, inner = random.normal(size=(m, c)), random.normal(size=c)
    equal = random.random(m) < 0.3
    right = matrix @ inner - np.where(equal, 0.0, random.random(m))  # inner satisfies them
    multipliers = least_distance(matrix, right, equal)
    shortest = matrix.T @ multipliers
    slack = matrix @ shortest - right
    assert np.abs(slack[equal]).max(initial=0) < 1e-8
    assert slack.min(initial=0) > -1e-8
    assert multipliers[~equal].min(initial=0) >= 0
    assert np.abs(multipliers * slack).max(initial=0) < 1e-7
    assert np.linalg.norm(shortest) <= np.linalg.norm(inner) + 1e-9


@pytest.mark.parametrize(
    ("matrix", "right", "equal"),
    [([[1, 0], [-1, 0]], [1, 1], [False, False]), ([[1.0], [1.0]], [1, 2], [True, True]), ([[0, 0]], [1], [False])],
)
def test_rows_that_nothing_satisfies_have_none(matrix, right, equal):
    assert least_distance(np.array(matrix, float), np.array(right, float), np.array(equal)) is None


def test_rows_of_zeros_and_right_sides_of_zero_ask_for_nothing():
    assert not least_distance(np.eye(2), np.zeros(2), np.array([True, False])).any()
    found = least_distance(np.array([[0.0, 0.0], [2.0, 0.0]]), np.array([-1.0, 4.0]), np.array([False, False]))
    assert np.allclose(np.array([[0.0, 0.0], [2.0, 0.0]]).T @ found, [2, 0])
