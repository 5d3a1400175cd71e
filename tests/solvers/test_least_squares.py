import numpy as np
import pytest
from scipy.optimize import nnls

from solvers.instance import Status
from solvers.least_squares import constrained_least_squares, nonnegative_least_squares


def optimality_error(matrix, target, linear, free, z):
    """The largest violation of gradient <= 0 with equality where z > 0 or free, relative to the target's norm."""
    gradient = matrix.T @ (target - matrix @ z) - linear
    gradient /= np.linalg.norm(target) * np.maximum(np.linalg.norm(matrix, axis=0), 1e-300)
    return np.where((z > 0) | free, np.abs(gradient), np.maximum(gradient, 0)).max()


@pytest.mark.parametrize(("p", "n"), [(1, 1), (5, 3), (3, 5), (40, 12), (12, 40), (60, 400), (150, 1500)])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("weight", [0.0, 0.01, 3.0])
def test_optimality_conditions(p, n, seed, weight):
    rng = np.random.default_rng(seed)
    matrix = rng.standard_normal((p, n))
    target = matrix @ np.maximum(rng.standard_normal(n), 0) + rng.standard_normal(p)
    linear = weight * np.maximum(rng.standard_normal(n), 0)
    free = np.zeros(n, dtype=bool)
    z = nonnegative_least_squares(matrix, target, linear)
    assert (z >= 0).all()
    assert optimality_error(matrix, target, linear, free, z) < 1e-11
    assert (z > 0).sum() <= p
    if weight == 0:
        assert np.linalg.norm(matrix @ z - target) == pytest.approx(nnls(matrix, target)[1], abs=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_free_columns(seed):
    rng = np.random.default_rng(seed)
    matrix, target = rng.standard_normal((30, 20)), rng.standard_normal(30)
    free = rng.random(20) < 0.4
    linear = np.where(free, 0.0, 0.1)
    z = nonnegative_least_squares(matrix, target, linear, free)
    assert optimality_error(matrix, target, linear, free, z) < 1e-11
    everything = nonnegative_least_squares(matrix, target, free=np.ones(20, dtype=bool))
    assert everything == pytest.approx(np.linalg.lstsq(matrix, target)[0])


def test_dependent_columns_leave_the_cheapest():
    """Columns 0, 1, 2 are one direction at prices 3, 1, 2 per unit."""
    matrix = np.array([[1.0, 1.0, 1.0], [0.0, 0.0, 0.0]])
    z = nonnegative_least_squares(matrix, [10.0, 1.0], [3.0, 1.0, 2.0])
    assert z == pytest.approx([0, 9, 0])


@pytest.mark.parametrize("seed", range(5))
def test_duplicates_and_small_integers(seed):
    rng = np.random.default_rng(seed)
    matrix = rng.integers(-1, 2, (4, 60)).astype(float)
    target = rng.integers(-3, 4, 4) + 0.5
    linear = rng.integers(0, 3, 60) / 10
    z = nonnegative_least_squares(matrix, target, linear)
    assert optimality_error(matrix, target, linear, np.zeros(60, dtype=bool), z) < 1e-12


@pytest.mark.parametrize("power", [-150, -8, 8, 150])
def test_scale(power):
    rng = np.random.default_rng(1)
    matrix, target = rng.standard_normal((6, 9)), rng.standard_normal(6)
    one = nonnegative_least_squares(matrix, target)
    assert nonnegative_least_squares(matrix, 10.0**power * target) * 10.0**-power == pytest.approx(one)
    assert nonnegative_least_squares(10.0**power * matrix, target) * 10.0**power == pytest.approx(one)


def test_nothing_to_fit():
    assert nonnegative_least_squares(np.zeros((2, 3)), [1.0, 2.0]).tolist() == [0, 0, 0]
    assert nonnegative_least_squares(np.ones((2, 3)), [0.0, 0.0]).tolist() == [0, 0, 0]


@pytest.mark.parametrize("seed", range(4))
def test_constrained_agrees_with_the_active_set(seed):
    rng = np.random.default_rng(seed)
    matrix, target, linear = rng.standard_normal((20, 30)), rng.standard_normal(20), 0.1 * rng.random(30)
    z = nonnegative_least_squares(matrix, target, linear)
    solution = constrained_least_squares(matrix, target, linear, np.eye(30))
    assert solution.status is Status.OPTIMAL
    assert solution.value == pytest.approx(0.5 * np.sum((target - matrix @ z) ** 2) + linear @ z, rel=1e-7)
    gradient = matrix.T @ (matrix @ solution.primal - target) + linear
    assert solution.dual == pytest.approx(gradient, abs=1e-6)


@pytest.mark.parametrize("power", [-6, 0, 6])
def test_kink_products_are_coupled_to_their_multiplier(power):
    """lambda / 4 <= mu <= lambda at a tie: the pull (mu, lambda) nearest to (3, 1) is (2, 2), scaled as the target."""
    rows = [[1.0, 0.0], [-0.25, 1.0], [1.0, -1.0]]  # on (lambda, mu)
    scale = 10.0**power
    solution = constrained_least_squares([[0.0, 1.0], [1.0, 0.0]], [3.0 * scale, scale], rows=rows)
    assert solution.primal == pytest.approx([2 * scale, 2 * scale], rel=1e-6)


def test_unbounded_below_is_a_failure():
    assert constrained_least_squares([[1.0, 0.0]], [1.0], [0.0, -1.0]).status is Status.FAILED
