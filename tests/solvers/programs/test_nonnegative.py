"""Nonnegative least squares: the optimality conditions, on columns that depend on each other."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from solvers.programs import nonnegative
from solvers.programs.nonnegative import nonnegative_least_squares


def by_supports(matrix, target):
    """The least ||A x - b|| over all supports of independent columns (Caratheodory: one of them is optimal)."""
    best = float(np.linalg.norm(target))
    for count in range(1, min(matrix.shape) + 1):
        for used in combinations(range(matrix.shape[1]), count):
            part = matrix[:, used]
            if np.linalg.matrix_rank(part, tol=1e-9) < count:
                continue
            found = np.linalg.lstsq(part, target, rcond=None)[0]
            if (found >= 0).all():
                best = min(best, float(np.linalg.norm(part @ found - target)))
    return best


@st.composite
def degenerate(draw):
    """Small integers: zero, equal, opposite and dependent columns are frequent."""
    rows, columns = draw(st.integers(1, 4)), draw(st.integers(1, 7))
    entries = st.lists(st.integers(-2, 2), min_size=rows, max_size=rows)
    matrix = np.array([draw(entries) for _ in range(columns)], float).T
    return matrix, np.array(draw(entries), float)


def assert_is_minimiser(matrix, target, found):
    rest = target - matrix @ found
    assert (found >= 0).all()
    assert np.linalg.norm(rest) == pytest.approx(by_supports(matrix, target), abs=1e-9)
    used = found > 0
    assert np.linalg.matrix_rank(matrix[:, used], tol=1e-8) == used.sum()


@given(degenerate())
def test_the_minimum_over_all_supports(problem):
    assert_is_minimiser(*problem, nonnegative_least_squares(*problem))


@given(degenerate())
def test_the_active_set_alone(problem):
    matrix, target = problem
    sizes, size = np.linalg.norm(matrix, axis=0), float(np.linalg.norm(target)) or 1.0
    sizes[sizes == 0] = 1.0
    assert_is_minimiser(matrix, target, nonnegative._active_set(matrix / sizes, target / size) * size / sizes)


def test_what_scipy_gets_wrong_is_noticed(monkeypatch):
    """A point that is no minimiser, whatever norm is told with it, is not taken over."""
    matrix, target = np.array([[1.0, 1.0], [0.0, 0.0]]), np.array([2.0, 1.0])
    for wrong in ([2.0, 2.0], [0.0, 0.0], [1.0, 1.0], [-1.0, 3.0]):
        monkeypatch.setattr("scipy.optimize.nnls", lambda *_, wrong=wrong, **__: (np.array(wrong), 1.0))
        found = nonnegative_least_squares(matrix, target)
        assert sorted(found) == pytest.approx([0.0, 2.0])


def test_an_exhausted_scipy_is_no_failure(monkeypatch):
    def exhausted(*_, **__):
        raise RuntimeError("too many iterations")

    monkeypatch.setattr("scipy.optimize.nnls", exhausted)
    assert nonnegative_least_squares(np.array([[2.0, -1.0]]), np.array([3.0])) == pytest.approx([1.5, 0.0])


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0)])
def test_empty_problems(shape):
    assert nonnegative_least_squares(np.zeros(shape), np.ones(shape[0])).tolist() == [0.0] * shape[1]


def test_scales_of_columns_and_target_do_not_matter():
    matrix, target = np.array([[1.0, 1.0], [1.0, -1.0]]), np.array([3.0, 1.0])
    scales = np.array([1e-150, 1e120])
    assert nonnegative_least_squares(matrix * scales, 1e-100 * target) * scales == pytest.approx([2e-100, 1e-100])


def test_many_columns():
    rng = np.random.default_rng(3)
    half = rng.standard_normal((30, 200))
    matrix = np.hstack([half, half, -half[:, :50]])
    target = rng.standard_normal(30) + matrix[:, :3].sum(axis=1)
    found = nonnegative_least_squares(matrix, target)
    rest = target - matrix @ found
    assert (matrix.T @ rest).max() <= 1e-9
    assert abs(found @ (matrix.T @ rest)) <= 1e-9
