"""The programs given to Clarabel directly, beside their statement in cvxpy (`restricted_program`)."""

import numpy as np
import pytest

from solvers.instance import ProblemInstance, Solution, Status
from solvers.programs import restricted_cones
from solvers.programs.restricted import NeuronFamily, all_columns, restricted_program
from solvers.programs.restricted_cones import solve_restricted
from tests.solvers.programs.cones import ODD, random_instance, stationarity_error


@pytest.mark.parametrize("seed", range(100, 130))
@pytest.mark.parametrize("free", [False, True])
def test_it_is_the_program_that_cvxpy_states(seed, free):
    instance = random_instance(seed, free)
    columns = list(all_columns(instance))
    expected, found = restricted_program(instance, columns), solve_restricted(instance, columns)
    assert found.status is expected.status is Status.OPTIMAL
    assert found.value == pytest.approx(expected.value, rel=1e-7, abs=1e-7)
    gains = np.ones(instance.points) if instance.margin else instance.targets
    assert found.dual @ gains == pytest.approx(found.value, rel=1e-6, abs=1e-8)
    assert found.value < 1e-8 or stationarity_error(instance, columns, found) < 1e-3
    assert (found.cone_dual >= 0).all()
    assert not instance.margin or (found.dual >= 0).all()


def with_kinks(seed):
    """An instance with some points on the kinks of its columns, and those columns; two columns are without any."""
    instance = random_instance(seed, free=False)
    rng = np.random.default_rng(seed)
    columns = list(all_columns(instance))
    columns = [columns[place] for place in rng.permutation(len(columns))[:6]]
    return instance, [
        column
        if k < 2
        else NeuronFamily(column.mask, column.output, column.pattern * (rng.random(instance.points) > 0.3))
        for k, column in enumerate(columns)
    ]


def test_points_on_kinks():
    """Most of few columns do not fit, and then both say so; where they do, the multipliers of kinks have their sign."""
    usable = 0
    for seed in range(60):
        instance, columns = with_kinks(seed)
        expected, found = restricted_program(instance, columns), solve_restricted(instance, columns)
        assert found.status is expected.status
        if found.status is Status.OPTIMAL:
            usable += any((column.pattern == 0).any() for column in columns)
            assert found.value == pytest.approx(expected.value, rel=1e-6, abs=1e-7)
            for solution in (expected, found):
                assert found.value < 1e-8 or stationarity_error(instance, columns, solution) < 1e-3
    assert usable >= 10


def test_the_sign_of_a_multiplier_at_a_kink():
    """max-margin, x = (1, 1), (0, 1) with the second on a kink: u = (1, 0) = lambda (1, 1) + nu (0, 1), so nu = -1."""
    instance = ProblemInstance([[1, 1], [0, 1]], [1, 1], margin=True)
    columns = [NeuronFamily(0, 1, np.array([1, 0])), NeuronFamily(0, 1, np.array([-1, 1]))]
    solution = solve_restricted(instance, columns)
    assert solution.primal[0] == pytest.approx([1, 0], abs=1e-6)
    assert solution.cone_dual[0, 1] == pytest.approx(-1, abs=1e-6)


@pytest.mark.parametrize("margin", [True, False])
def test_infeasible(margin):
    instance = ProblemInstance(ODD, [1, 1, 1, -1, -1, -1], margin=margin)
    assert solve_restricted(instance, list(all_columns(instance))).status is Status.INFEASIBLE
    assert solve_restricted(instance, []).status is Status.INFEASIBLE


@pytest.mark.parametrize("power", range(-8, 9, 4))
def test_scales(power):
    scale = 10.0**power
    instance = ProblemInstance(scale * np.array([(1, 0.2), (-0.3, 1)]), [1, -2], margin=False)
    solution = solve_restricted(instance, list(all_columns(instance)))
    assert solution.status is Status.OPTIMAL
    assert solution.value * scale == pytest.approx(2.89623325, rel=1e-7)


def test_what_the_solver_does_not_decide(monkeypatch):
    """Doubtful infeasibility is asked again of a linear program; any other word is a failure."""

    def says(word):
        return lambda cost, *_, **__: Solution(
            Status.INACCURATE, 0.0, primal=np.zeros(len(cost)), dual=np.zeros(1), message=word
        )

    wrong = ProblemInstance(ODD, [1, 1, 1, -1, -1, -1], margin=True)
    right = ProblemInstance(ODD, [1, 1, -1, -1, -1, 1], margin=True)
    monkeypatch.setattr(restricted_cones, "solve_cone_program", says("AlmostPrimalInfeasible"))
    assert solve_restricted(wrong, list(all_columns(wrong))).status is Status.INFEASIBLE
    assert solve_restricted(right, list(all_columns(right))).status is Status.FAILED
    for word in ("DualInfeasible", "InsufficientProgress", "MaxTime"):
        monkeypatch.setattr(restricted_cones, "solve_cone_program", says(word))
        assert solve_restricted(right, list(all_columns(right))).status is Status.FAILED
