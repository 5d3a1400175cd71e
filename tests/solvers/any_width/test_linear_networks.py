"""The closed path of linear networks: against the search, and against an independent solution of the same problem."""

from dataclasses import replace

import numpy as np
import pytest

from solvers.any_width.dual_cuts import solve
from solvers.any_width.linear_networks import solve_linear
from solvers.instance import ProblemInstance, Status
from solvers.programs.interior_point import solve_cone_program


def given(points, columns, *, margin, tolerance=0.0, seed=0):
    random = np.random.default_rng(seed)
    rows = random.normal(size=(points, columns)) * 10.0 ** random.integers(-1, 2, (points, 1))
    outputs = rows @ random.normal(size=columns)
    targets = np.where(outputs > 0, 1.0, -1.0) if margin else outputs + tolerance * random.uniform(-1.0, 1.0, points)
    return ProblemInstance(rows, targets, slope=1.0, margin=margin, tolerance=tolerance)


def shortest(instance):
    """min |w| subject to the constraints, by an interior-point method."""
    rows, y, room = instance.rows, instance.targets, instance.tolerance
    if instance.margin:
        matrix, sides = y[:, None] * rows, np.ones(len(y))
    else:
        matrix, sides = np.concatenate([rows, -rows]), np.concatenate([y - room, -y - room])
    width = rows.shape[1]
    above = np.concatenate([-matrix, np.zeros((len(matrix), 1))], axis=1)  # of w and the bound of its norm
    cone = -np.eye(width + 1)[[width, *range(width)]]
    right = np.concatenate([-sides, np.zeros(width + 1)])
    cones = [("nonnegative", len(matrix)), ("second-order", width + 1)]
    found = solve_cone_program(np.eye(width + 1)[width], np.concatenate([above, cone]), right, cones)
    assert found.status is Status.OPTIMAL
    return found.value


CASES = [
    (9, 4, True, 0.0),
    (3, 6, True, 0.0),
    (30, 5, True, 0.0),
    (4, 7, False, 0.0),
    (9, 4, False, 0.3),
    (3, 6, False, 0.05),
]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("points", "columns", "margin", "tolerance"), CASES)
def test_the_optimum_and_its_proof(points, columns, margin, tolerance, seed):
    instance = given(points, columns, margin=margin, tolerance=tolerance, seed=seed)
    found = solve_linear(instance, 1e-9)
    assert found is not None
    (atoms,), proof = found.candidates, found.proof
    assert atoms.value == pytest.approx(shortest(instance), rel=1e-5)
    assert proof.lower <= atoms.value * (1 + 1e-12)
    coefficients = proof.multipliers * instance.signs
    assert np.linalg.norm(coefficients @ instance.rows) == pytest.approx(proof.beta, rel=1e-12)
    assert (proof.multipliers >= 0).all() or not margin
    outputs = instance.rows @ atoms.directions[0]
    if margin:
        assert (instance.targets * outputs).min() > 1 - 1e-9
    else:
        assert np.abs(outputs - instance.targets).max() < tolerance + 1e-9 * np.abs(instance.targets).max()


def test_the_search_finds_the_same():
    instance = given(12, 3, margin=True)
    assert solve_linear(instance, 1e-9).proof.lower == pytest.approx(solve(instance, tol=1e-7).proof.lower, rel=1e-6)


def test_what_is_left_to_the_search():
    instance = given(6, 3, margin=True)
    assert solve_linear(replace(instance, slope=0.5), 1e-6) is None
    assert solve_linear(replace(instance, free=True), 1e-6) is None
    assert solve_linear(replace(instance, masks=(np.arange(2),)), 1e-6) is None
    assert solve_linear(replace(instance, masks=(np.arange(3), np.arange(3))), 1e-6) is None


def test_data_that_no_linear_network_fits():
    apart = ProblemInstance(np.array([[1.0], [2.0]]), np.array([1.0, -1.0]), slope=1.0, margin=True)
    assert solve_linear(apart, 1e-6) is None
    assert solve_linear(replace(apart, margin=False), 1e-6) is None
    zeros = ProblemInstance(np.zeros((2, 1)), np.array([1.0, -1.0]), slope=1.0, margin=True)
    assert solve_linear(zeros, 1e-6) is None


def test_nothing_to_fit():
    assert solve_linear(ProblemInstance(np.eye(2), np.zeros(2), slope=1.0, margin=False), 1e-6) is None
