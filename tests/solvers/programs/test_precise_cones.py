import cvxpy as cp
import numpy as np
import pytest

from solvers.instance import ProblemInstance, Status
from solvers.programs import restricted as conic
from solvers.programs.restricted import NeuronFamily, all_columns, restricted_program, solve_all_cells
from tests.solvers.programs.cones import ODD, random_instance, stationarity_error


def test_two_points_of_theorem_3_2():
    solution = solve_all_cells(ProblemInstance([[1, 0.25], [-1, 0.25]], [1, 1], margin=True))  # arXiv:2110.02732
    assert solution.status is Status.OPTIMAL
    assert solution.value == pytest.approx(8 / np.sqrt(17), rel=1e-8)
    assert solution.dual == pytest.approx([4 / np.sqrt(17)] * 2, rel=1e-6)


def test_tie_needs_clarke():
    solution = solve_all_cells(ProblemInstance([[1, 1], [0, -1]], [1, 1], margin=True))
    assert solution.value == pytest.approx(1 + 1 / np.sqrt(2), rel=1e-8)


@pytest.mark.parametrize(("target", "output"), [(4.0, 1), (-4.0, -1)])
@pytest.mark.parametrize("margin", [True, False])
def test_dual_sign(target, output, margin):
    """The multiplier of u = 2 or -2 at x = 2 is +-1/2 (max-margin: 1/2), from u/|u| = s lambda x."""
    target = np.sign(target) if margin else target
    instance = ProblemInstance([[2.0]], [target], slope=1.0, margin=margin)
    solution = restricted_program(instance, [NeuronFamily(0, output, np.array([1]))])
    assert solution.value == pytest.approx(abs(target) / 2)
    assert solution.primal == pytest.approx(np.array([[abs(target) / 2]]))
    assert solution.dual == pytest.approx([0.5 if margin else output / 2])


def test_dual_sign_of_a_kink():
    """max-margin, x = (1, 1), (0, 1) with the second on a kink: u = (1, 0) = lambda (1, 1) + nu (0, 1), so nu = -1."""
    instance = ProblemInstance([[1, 1], [0, 1]], [1, 1], margin=True)
    columns = [NeuronFamily(0, 1, np.array([1, 0])), NeuronFamily(0, 1, np.array([-1, 1]))]
    solution = restricted_program(instance, columns)
    assert solution.primal[0] == pytest.approx([1, 0], abs=1e-6)
    assert solution.dual[0] == pytest.approx(1, abs=1e-6)
    assert solution.cone_dual[0, 1] == pytest.approx(-1, abs=1e-6)


@pytest.mark.parametrize("seed", range(25))
@pytest.mark.parametrize("free", [False, True])
def test_multipliers_satisfy_the_stationarity_condition(seed, free):
    instance = random_instance(seed, free)
    columns = list(all_columns(instance))
    solution = restricted_program(instance, columns)
    gains = np.ones(instance.points) if instance.margin else instance.targets
    assert solution.is_usable
    assert solution.dual @ gains == pytest.approx(solution.value, rel=1e-6, abs=1e-8)
    assert solution.value < 1e-8 or stationarity_error(instance, columns, solution) < 1e-3
    assert (solution.cone_dual >= 0).all()
    assert not instance.margin or (solution.dual >= 0).all()


@pytest.mark.parametrize("power", range(-8, 9, 2))
def test_data_scale(power):
    scale = 10.0**power
    instance = ProblemInstance(scale * np.array([(1, 0.2), (-0.3, 1)]), [1, -2], margin=False)
    solution = solve_all_cells(instance)
    assert solution.status is Status.OPTIMAL
    assert solution.value * scale == pytest.approx(2.89623325, rel=1e-7)
    assert solution.dual * scale == pytest.approx([0.98058067, -0.95782629], rel=1e-5)


@pytest.mark.parametrize("power", range(-8, 9, 4))
@pytest.mark.parametrize("free", [False, True])
def test_scale_of_targets_and_of_points_with_a_bias(power, free):
    rows = np.array([(0.3, 1.0), (1.0, 1.0), (-0.7, 1.0)])
    targets = np.array([1.0, -2.0, 0.5])
    one = solve_all_cells(ProblemInstance(rows, targets, margin=False, free=free))
    scaled = solve_all_cells(ProblemInstance(rows, 10.0**power * targets, margin=False, free=free))
    assert scaled.status is Status.OPTIMAL
    assert scaled.value == pytest.approx(10.0**power * one.value, rel=1e-6)
    if free:
        stretched = solve_all_cells(ProblemInstance(rows * [10.0**power, 1.0], targets, margin=False, free=True))
        assert stretched.value * 10.0**power == pytest.approx(one.value, rel=1e-6)


def test_degenerate_arrangement():
    rows = np.array([(1, 0), (2, 0), (-1, 0), (0, 1)])
    instance = ProblemInstance(rows, [1, 1, -1, 1], margin=True, slope=0.25)
    assert len(list(all_columns(instance))) == 2 * 4
    reduced = ProblemInstance(rows[[0, 2, 3]], [1, -1, 1], margin=True, slope=0.25)
    assert solve_all_cells(instance).value == pytest.approx(solve_all_cells(reduced).value, rel=1e-6)


@pytest.mark.parametrize("word", ["unbounded", "unbounded_inaccurate", "infeasible_inaccurate", "user_limit"])
def test_solver_unbounded(word, monkeypatch):
    """A sum of norms is never unbounded below: the solver's word gives FAILED, whatever it says."""
    monkeypatch.setattr(cp.Problem, "solve", lambda self, **_: None)
    monkeypatch.setattr(cp.Problem, "status", property(lambda self: word))
    solution = solve_all_cells(ProblemInstance([[1.0]], [1.0], margin=True))
    assert solution.status is Status.FAILED
    assert np.isnan(solution.value)


def test_a_solver_that_gives_up_is_a_status(monkeypatch):
    def give_up(self, **_):
        raise cp.SolverError("gave up")

    monkeypatch.setattr(cp.Problem, "solve", give_up)
    solution = solve_all_cells(ProblemInstance([[1.0]], [1.0], margin=True))
    assert (solution.status, solution.message) == (Status.FAILED, "gave up")


def test_a_wrong_optimal_is_called_inaccurate(monkeypatch):
    monkeypatch.setattr(conic, "ACCEPTED", 1e-17)
    assert solve_all_cells(ProblemInstance([[1, 0.25], [-1, 0.25]], [1, 1], margin=True)).status is Status.INACCURATE


@pytest.mark.parametrize("margin", [True, False])
@pytest.mark.parametrize("slope", [0.0, 0.25, 1.0])
@pytest.mark.parametrize(
    ("rows", "targets"),
    [
        (ODD, [1, 1, 1, -1, -1, -1]),
        ([(1, 1), (1, 1)], [1, -1]),
        ([(0, 0), (1, 1)], [1, 1]),
        ([(1, 2), (2, 4)], [1, -1]),
    ],
)
def test_infeasible(rows, targets, slope, margin):
    assert solve_all_cells(ProblemInstance(rows, targets, slope=slope, margin=margin)).status is Status.INFEASIBLE


def test_doubtful_infeasibility_is_asked_again(monkeypatch):
    def doubt(problem):
        return Status.FAILED, "infeasible_inaccurate"

    monkeypatch.setattr(conic, "_run", doubt)
    for margin in (True, False):
        assert solve_all_cells(ProblemInstance(ODD, [1, 1, 1, -1, -1, -1], margin=margin)).status is Status.INFEASIBLE
        linear = [1, 1, -1, -1, -1, 1] if margin else [1, 1, -2, -1, -1, 2]
        assert solve_all_cells(ProblemInstance(ODD, linear, margin=margin)).status is Status.FAILED
    monkeypatch.setattr(conic, "LARGEST", 1)
    assert solve_all_cells(ProblemInstance(ODD, [1, 1, 1, -1, -1, -1], margin=True)).status is Status.FAILED


def test_odd_data_with_a_linear_labelling_is_feasible():
    instance = ProblemInstance(ODD, [1, 1, -1, -1, -1, 1], margin=True)
    assert solve_all_cells(instance).value == pytest.approx(2 * np.sqrt(2))


def test_masks_confine_a_neuron_to_its_columns():
    rows = np.array([(1.0, 1.0), (-1.0, 1.0), (1.0, -1.0)])
    classes = ProblemInstance(rows, [1, 1, -1], margin=True, slope=1, masks=([0], [1]))
    assert solve_all_cells(classes).value == pytest.approx(1)  # u = (0, 1)
    first = ProblemInstance(rows, [1, 1, -1], margin=True, slope=1, masks=([0],))
    assert solve_all_cells(first).status is Status.INFEASIBLE
    assert solve_all_cells(ProblemInstance([[1, 1]], [1], margin=True)).value == pytest.approx(1 / np.sqrt(2))
    assert solve_all_cells(ProblemInstance([[1, 1]], [1], margin=True, masks=([0], [1]))).value == pytest.approx(1)


def test_a_free_bias_hidden_by_a_mask():
    rows = np.array([(1.0, 1.0), (-1.0, 1.0)])
    assert solve_all_cells(ProblemInstance(rows, [1, -1], margin=True, slope=1, free=True, masks=([0],))).value == (
        pytest.approx(1)
    )
    constant = solve_all_cells(ProblemInstance(rows, [1, 1], margin=True, free=True, masks=([0], [0, 1])))
    assert constant.value == pytest.approx(0, abs=1e-8)
    assert constant.dual == pytest.approx([0, 0], abs=1e-8)
