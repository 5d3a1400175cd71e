"""The thin layer over Clarabel: small programs with known solutions, the signs of the multipliers, and failures."""

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import linprog

from solvers import clock
from solvers.instance import Status
from solvers.programs import interior_point
from solvers.programs.interior_point import solve_cone_program


def test_a_linear_program():
    """min -x - 2y, x + y <= 4, x <= 3, y <= 2, x, y >= 0: at (2, 2) with multipliers 1 on x + y <= 4 and y <= 2."""
    matrix = np.array([[1.0, 1.0], [1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]])
    solution = solve_cone_program(
        np.array([-1.0, -2.0]), matrix, np.array([4.0, 3.0, 2.0, 0.0, 0.0]), [("nonnegative", 5)]
    )
    assert solution.status is Status.OPTIMAL
    assert solution.value == pytest.approx(-6.0)
    assert solution.primal == pytest.approx([2.0, 2.0])
    assert solution.dual == pytest.approx([1.0, 0.0, 1.0, 0.0, 0.0], abs=1e-7)


def test_equations_may_have_multipliers_of_either_sign():
    """min x + y, x - y = 3, x, y >= 0: z = -1 on the equation, as cost + matrix^T z = 0."""
    matrix = np.array([[1.0, -1.0], [-1.0, 0.0], [0.0, -1.0]])
    solution = solve_cone_program(
        np.array([1.0, 1.0]), matrix, np.array([3.0, 0.0, 0.0]), [("zero", 1), ("nonnegative", 2)]
    )
    assert solution.primal == pytest.approx([3.0, 0.0], abs=1e-7)
    assert solution.dual == pytest.approx([-1.0, 0.0, 2.0], abs=1e-7)


def test_a_second_order_cone():
    """min t, |(3, 4) - p| <= t with p on the first axis: t = 4, z = (1, 0, -1)."""
    matrix = np.array([[-1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
    solution = solve_cone_program(np.array([1.0, 0.0]), matrix, np.array([0.0, 3.0, 4.0]), [("second-order", 3)])
    assert solution.status is Status.OPTIMAL
    assert solution.primal == pytest.approx([4.0, 3.0], abs=1e-6)
    assert solution.dual == pytest.approx([1.0, 0.0, -1.0], abs=1e-6)


@pytest.mark.parametrize("as_sparse", [False, True])
def test_cones_come_in_row_order(as_sparse):
    """min t + s, p = 5, s >= 2, |p| <= t."""
    matrix = np.array([[0.0, 0.0, 1.0], [0.0, -1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, -1.0]])
    solution = solve_cone_program(
        np.array([1.0, 1.0, 0.0]),
        sparse.csc_matrix(matrix) if as_sparse else matrix,
        np.array([5.0, -2.0, 0.0, 0.0]),
        [("zero", 1), ("nonnegative", 1), ("second-order", 2)],
    )
    assert solution.primal == pytest.approx([5.0, 2.0, 5.0])
    assert solution.value == pytest.approx(7.0)


def test_empty_cones_are_left_out():
    solution = solve_cone_program(
        np.array([1.0]), np.array([[-1.0]]), np.array([-2.0]), [("zero", 0), ("nonnegative", 1), ("second-order", 0)]
    )
    assert solution.primal == pytest.approx([2.0])


@pytest.mark.parametrize("seed", range(5))
def test_random_programs_satisfy_the_optimality_conditions(seed):
    """s = b - A x and z in their cones, cost + A^T z = 0, z.s = 0."""
    rng = np.random.default_rng(seed)
    matrix = rng.standard_normal((12, 5))
    inside = np.concatenate([np.zeros(2), rng.random(6), [3.0], rng.standard_normal(3)])
    right = matrix @ rng.standard_normal(5) + inside
    dual = np.concatenate([rng.standard_normal(2), rng.random(6), [3.0], rng.standard_normal(3)])
    cost = -matrix.T @ dual
    solution = solve_cone_program(cost, matrix, right, [("zero", 2), ("nonnegative", 6), ("second-order", 4)])
    assert solution.status is Status.OPTIMAL
    rest, z = right - matrix @ solution.primal, solution.dual
    assert rest[:2] == pytest.approx([0, 0], abs=1e-7)
    for part in (rest, z):
        assert (part[2:8] >= -1e-7).all()
        assert np.linalg.norm(part[9:]) <= part[8] + 1e-7
    assert matrix.T @ z == pytest.approx(-cost, abs=1e-7)
    assert rest @ z == pytest.approx(0, abs=1e-6)
    assert solution.value == pytest.approx(cost @ solution.primal)


@pytest.mark.parametrize("seed", range(5))
def test_linear_programs_as_highs_solves_them(seed):
    rng = np.random.default_rng(seed)
    matrix, cost = rng.standard_normal((15, 6)), rng.standard_normal(6)
    right = rng.random(15)
    box = np.concatenate([np.eye(6), -np.eye(6)])
    solution = solve_cone_program(
        cost, np.concatenate([matrix, box]), np.concatenate([right, np.full(12, 3.0)]), [("nonnegative", 27)]
    )
    reference = linprog(cost, matrix, right, bounds=(-3, 3))
    assert solution.value == pytest.approx(reference.fun, rel=1e-8)


@pytest.mark.parametrize("accuracy", [1e-4, 1e-8, 1e-11])
def test_accuracy(accuracy):
    """The distance of (1, 2, 2) from the origin."""
    matrix = np.array([[-1.0], [0.0], [0.0], [0.0]])
    right = np.array([0.0, 1.0, 2.0, 2.0])
    solution = solve_cone_program(np.array([1.0]), matrix, right, [("second-order", 4)], accuracy=accuracy)
    assert solution.status is Status.OPTIMAL
    assert solution.value == pytest.approx(3.0, abs=10 * accuracy)


def test_infeasible_and_unbounded_programs_are_failures():
    """Of these the caller learns nothing but that there is no point: a status, not an exception."""
    infeasible = solve_cone_program(
        np.array([1.0]), np.array([[1.0], [-1.0]]), np.array([0.0, -1.0]), [("nonnegative", 2)]
    )
    unbounded = solve_cone_program(np.array([1.0]), np.array([[1.0]]), np.array([0.0]), [("nonnegative", 1)])
    assert (infeasible.status, unbounded.status) == (Status.FAILED, Status.FAILED)
    assert "Infeasible" in infeasible.message
    assert "Infeasible" in unbounded.message


@pytest.mark.parametrize("place", ["cost", "matrix"])
def test_numbers_that_are_not_finite_have_no_optimum(place):
    cost, matrix = np.array([1.0]), np.array([[-1.0]])
    (cost if place == "cost" else matrix)[:] = np.nan
    assert solve_cone_program(cost, matrix, np.array([-2.0]), [("nonnegative", 1)]).status is not Status.OPTIMAL


def test_an_accuracy_out_of_reach_is_said(monkeypatch):
    monkeypatch.setattr(interior_point, "MAX_ITERATIONS", 3)
    solution = solve_cone_program(
        np.array([1.0]), np.array([[-1.0], [0.0], [0.0]]), np.array([0.0, 3.0, 4.0]), [("second-order", 3)]
    )
    assert solution.status is Status.INACCURATE
    assert solution.is_usable
    assert solution.primal == pytest.approx([5.0], rel=0.5)


def test_the_given_arrays_stay_as_they_are():
    cost, matrix, right = np.array([1.0]), np.array([[-1.0]]), np.array([-2.0])
    copies = [array.copy() for array in (cost, matrix, right)]
    solve_cone_program(cost, matrix, right, [("nonnegative", 1)])
    assert [array.tolist() for array in (cost, matrix, right)] == [array.tolist() for array in copies]


def test_a_program_whose_first_iteration_would_be_too_late_is_not_begun():
    matrix = np.ones((3, 1000))
    with clock.reading(lambda: 0.0):
        with clock.until(2e-3), pytest.raises(clock.TimeIsUpError):  # 3 x 1000^2 products take 3 ms
            solve_cone_program(np.zeros(1000), matrix, np.ones(3), [("nonnegative", 3)])
        with clock.until(10.0):
            assert solve_cone_program(np.zeros(1000), matrix, np.ones(3), [("nonnegative", 3)]).is_usable
