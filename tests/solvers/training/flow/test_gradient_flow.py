"""The flow against closed forms, tiny-step gradient descent, its invariants, and itself after a kill."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from solvers.layers import Layers, two_layers
from solvers.training import losses, trajectory
from solvers.training.flow.gradient_flow import gradient_flow
from solvers.training.trajectory import TrajectoryFileError, balances
from tests.amount import draws

ONE = two_layers(2, 1, 0.0)
DEEP = Layers((np.arange(12).reshape(6, 2), 12 + np.arange(36).reshape(6, 6), 48 + np.arange(6)[None]), (0.0, 0.1))
CONVOLUTION = Layers((np.array([[0, 1, -1, -1], [-1, 0, 1, -1], [-1, -1, 0, 1]]), np.array([[2, 3, 4]])), (0.0,))
DIAGONAL = Layers((np.diag([1, 2, 3]) - 1, np.array([[3, 4, 5]])), (0.0,))


def _bands(seed, n=8):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    return np.c_[x, np.ones(n)], np.sign(np.abs(x) - 0.7), rng


def _descent(layers, rows, targets, theta, loss, time, step):
    count = round(time / step)
    theta, step = theta.copy(), time / count
    for _ in range(count):
        z = layers.preactivations(theta, rows)
        pull = losses.value(loss, targets, z[-1][:, 0]).pull
        theta += step * layers.gradient(theta, rows, layers.pattern(z), pull)
    return theta


def _distance(one, other):
    return np.linalg.norm(one - other) / np.linalg.norm(other)


def _direction(theta):
    return theta / np.linalg.norm(theta)


def _is_monotone(result):
    logs = result.trajectory.log_losses
    return np.all(np.diff(logs) <= 1e-13 * np.abs(logs[1:]))


# ------------------------------------------------------------------------------------------------ closed forms


@pytest.mark.parametrize("method", ["auto", "RK45", "DOP853", "Radau"])
def test_one_neuron_on_one_point_grows_as_the_exponential(method):
    # w' = v x, v' = w.x while w.x > 0: p = w.x and v run along hyperbolas, the rest of w stays
    theta0 = np.array([0.02, -0.3, 0.01])
    found = gradient_flow(
        ONE, np.array([[1.0, 0.0]]), np.ones(1), theta0, loss="exponential", max_time=3.0, method=method
    )
    c, s = np.cosh(found.time), np.sinh(found.time)
    assert found.status == "limit"
    assert found.time >= 3
    assert found.theta == pytest.approx([0.02 * c + 0.01 * s, -0.3, 0.02 * s + 0.01 * c], rel=1e-6)


def test_one_balanced_neuron_of_the_squared_loss_follows_the_logistic_curve():
    r0, y = 1e-6, 2.0  # r' = r (y - r^2)
    found = gradient_flow(
        ONE, np.array([[0.6, 0.8]]), np.array([y]), r0 * np.array([0.6, 0.8, 1.0]), loss="squared", max_time=9.0
    )
    r = np.sqrt(y / (1 + (y / r0**2 - 1) * np.exp(-2 * y * found.time)))
    assert found.theta == pytest.approx(r * np.array([0.6, 0.8, 1.0]), rel=1e-6)


def test_three_layers_of_one_unit_blow_up_in_finite_time():
    # r' = r^2: r = r0 / (1 - r0 s)
    chain = Layers((np.array([[0]]), np.array([[1]]), np.array([[2]])), (0.0, 0.0))
    found = gradient_flow(
        chain,
        np.ones((1, 1)),
        np.ones(1),
        np.full(3, 0.1),
        loss="exponential",
        stop=lambda m: "far" if m.theta[0] > 5 else None,
    )
    assert found.status == "stopped"
    assert found.time == pytest.approx((1 / 0.1 - 1 / found.theta[0]), rel=1e-6)
    assert found.theta == pytest.approx(np.full(3, found.theta[0]), rel=1e-9)


@pytest.mark.parametrize("slope", [0.0, 0.25])
def test_a_neuron_slides_along_the_kink_of_a_point_of_the_other_class(slope):
    """v = 1 is kept; w.x_2 comes down to 0 and stays there: z_1 + exp(z_1) grows linearly, by hand.

    With unit x_1, x_2 and r = x_1.x_2: w' = p_1 x_1 - g p_2 x_2, p_2 / p_1 = exp(z_1) where z_2 = 0, so that
    g = r exp(-z_1) keeps w.x_2 = 0, z_1' = (1 - r^2) p_1 and p_1 = 1 / (1 + exp(z_1)).
    """
    layers, r = two_layers(2, 1, slope), 0.6
    rows = np.array([[1.0, 0.0], [r, 0.8]])
    theta0 = np.array([0.2, 0.1, 1.0])
    moving = np.array([True, True, False])
    seen = []
    found = gradient_flow(
        layers,
        rows,
        np.array([1.0, -1.0]),
        theta0,
        loss="exponential",
        trained=moving,
        max_time=2.0 if slope else 30.0,
        on_progress=seen.append,
    )
    held = [moment for moment in seen if moment.held]
    assert len(held) > 3
    for moment in held:
        z = rows @ moment.theta[:2]
        assert abs(z[1]) < 1e-14 * np.linalg.norm(moment.theta)
        assert moment.held == ((0, 1, 0),)
        assert moment.slopes[0] == pytest.approx(r * np.exp(-z[0]), abs=1e-6)
        assert moment.slopes[0] > slope
        first = held[0]
        assert z[0] + np.exp(z[0]) - first.theta[0] - np.exp(first.theta[0]) == pytest.approx(
            (1 - r * r) * (moment.time - first.time), rel=1e-6, abs=1e-9
        )
    assert found.trajectory.changes[0].tolist() == [0, 0, 1, 1, 0]
    assert found.theta[2] == 1


def test_a_held_kink_is_released_when_its_slope_reaches_the_end_of_its_interval():
    # as above, with a = 0.25: g = r exp(-z_1) falls to a at z_1 = log(r / a), then the neuron is off at x_2
    layers, rows = two_layers(2, 1, 0.25), np.array([[1.0, 0.0], [0.6, 0.8]])
    seen = []
    found = gradient_flow(
        layers,
        rows,
        np.array([1.0, -1.0]),
        np.array([0.2, 0.1, 1.0]),
        loss="exponential",
        trained=np.array([True, True, False]),
        max_time=20.0,
        on_progress=seen.append,
    )
    assert found.trajectory.changes[:, 2:].tolist() == [[1, 1, 0], [1, 0, -1]]
    last = [moment for moment in seen if moment.held][-1]
    first_free = next(m for m in seen if m.time > last.time)
    assert last.theta[0] <= np.log(0.6 / 0.25) + 1e-7
    assert first_free.theta[0] >= np.log(0.6 / 0.25) - 1e-7
    released = found.trajectory.change_times[1]
    assert last.time <= released <= first_free.time
    assert found.held == ()


# ------------------------------------------------------------------------------------------------ other methods


@pytest.mark.parametrize("loss", ["logistic", "squared"])
@pytest.mark.parametrize(
    ("layers", "seed"),
    [
        (two_layers(2, 6, 0.0), 0),
        (two_layers(2, 6, 0.2), 4),
        (DEEP, 2),
        (DEEP, 3),
        (CONVOLUTION, 3),
        (DIAGONAL, 2),
    ],
    ids=["two layers", "leaky", "deep", "deep again", "convolution", "diagonal"],
)
@pytest.mark.one_in(3)
def test_tiny_steps_of_descent_with_clarke_subgradients_end_at_the_same_network(layers, seed, loss):
    rows, targets, rng = _bands(seed)
    if layers.places[0].shape[1] != 2:
        rows = rng.normal(size=(8, layers.places[0].shape[1]))
        targets = np.sign(rows[:, 0] * rows[:, 1])
    theta0 = rng.normal(size=layers.size) * 0.5
    found = gradient_flow(layers, rows, targets, theta0, loss=loss, max_time=4.0, residual=0.0)
    errors = [
        _distance(_descent(layers, rows, targets, theta0, loss, found.time, step), found.theta) for step in (4e-3, 1e-3)
    ]
    assert errors[1] < 2e-3
    assert errors[1] < 0.6 * errors[0] or errors[1] < 1e-5
    assert _is_monotone(found)


def test_chattering_of_descent_is_the_sliding_of_the_flow():
    rows, targets, rng = _bands(2)
    theta0 = rng.normal(size=18) * 0.5
    layers = two_layers(2, 6, 0.0)
    found = gradient_flow(
        layers, rows, targets, theta0, loss="logistic", stop=lambda m: "held" if len(m.held) > 1 else None
    )
    assert found.status == "stopped"
    after = gradient_flow(layers, rows, targets, theta0, loss="logistic", max_time=found.time + 1.0)
    assert len(after.held) >= 1
    descended = _descent(layers, rows, targets, theta0, "logistic", after.time, 2e-4)
    assert _distance(descended, after.theta) < 1e-3
    for layer, point, unit in after.held:
        assert layer == 0
        assert abs(layers.preactivations(after.theta, rows)[0][point, unit]) < 1e-13
        assert abs(layers.preactivations(descended, rows)[0][point, unit]) < 1e-2


# ------------------------------------------------------------------------------------------------ limits


def test_every_start_of_the_two_point_example_ends_at_its_one_kkt_point():
    """arXiv:2110.02732, Theorem 3.2: neuron 2 is dead and never moves, neuron 1 ends at ((0, 2), 2) / sqrt 8."""
    rows, goal = np.array([[1, 0.25], [-1, 0.25]]), np.array([0, 2, 0, 0, 2, 0]) / np.sqrt(8)
    layers, rng, done = two_layers(2, 2, 0.0), np.random.default_rng(0), 0
    while done < 6:
        theta0 = rng.normal(size=6)
        if not (
            (rows @ theta0[:2] > 0).all() and (rows @ theta0[2:4] < 0).all() and theta0[4] > 0
        ):  # the sign conditions
            continue
        theta0 *= 1e-7 / np.linalg.norm(theta0)
        found = gradient_flow(layers, rows, np.ones(2), theta0, loss="exponential")
        assert found.status == "converged"
        assert np.linalg.norm(_direction(found.theta) - goal) < 1e-6
        assert found.theta[[2, 3, 5]] == pytest.approx(theta0[[2, 3, 5]], rel=1e-12)
        done += 1


def test_bands_reach_a_clarke_stationary_direction():
    rows, targets, rng = _bands(5, n=12)
    layers = two_layers(2, 10, 0.0)
    found = gradient_flow(layers, rows, targets, rng.normal(size=30) * 0.1, loss="logistic")
    assert found.status == "converged"
    _assert_stationary(layers, rows, targets, found)
    assert _is_monotone(found)


@pytest.mark.slow
@pytest.mark.long
def test_two_moons_slide_on_many_kinks_to_a_clarke_stationary_direction():
    data = np.load(Path(__file__).parents[4] / "examples" / "moons-40" / "data.npz")
    rows, targets = np.c_[data["X"], np.ones(40)][::2], np.where(data["y"] > 0, 1.0, -1.0)[::2]
    layers = two_layers(3, 10, 0.0)
    theta0 = np.random.default_rng(1).normal(size=40) * 0.1
    found = gradient_flow(layers, rows, targets, theta0, loss="exponential", residual=1e-5)
    assert found.status == "converged"
    assert len(found.held) > 3
    _assert_stationary(layers, rows, targets, found, 2e-5)


def _assert_stationary(layers, rows, targets, found, tolerance=1e-6):
    """With the softmax weights at B = 1e8 as multipliers, written again."""
    u = _direction(found.theta)
    q = targets * layers.outputs(u, rows)
    weights = np.exp(-1e8 * (q - q.min()))
    pattern = layers.pattern(layers.preactivations(u, rows))
    for (layer, point, unit), slope in zip(found.held, found.slopes, strict=True):
        assert layers.slopes[layer] <= slope <= 1
        assert abs(layers.preactivations(u, rows)[layer][point, unit]) < 1e-14
        pattern[layer][point, unit] = slope
    force = _direction(layers.gradient(u, rows, pattern, weights * targets))
    assert np.linalg.norm(u - (force @ u) * force) < tolerance
    assert force @ u > 0


@pytest.mark.parametrize("loss", ["exponential", "logistic"])
def test_contradictory_data_end_with_a_sentence(loss):
    rows = np.array([[1.0, 0.3], [1.0, 0.3], [0.2, 1.0]])
    theta0 = np.random.default_rng(3).normal(size=12) * 0.1
    found = gradient_flow(two_layers(2, 4, 0.0), rows, np.array([1.0, -1.0, 1.0]), theta0, loss=loss)
    assert found.status == "converged"
    assert "gradient vanishes" in found.reason
    assert "misclassified" in found.reason
    assert len(found.trajectory) > 1
    assert found.trajectory.thetas[-1].tolist() == found.theta.tolist()


def test_a_network_too_narrow_for_its_data_ends_with_a_sentence():
    rows = np.array([[1.0, 1], [-1, -1], [1, -1], [-1, 1]])
    theta0 = np.random.default_rng(3).normal(size=3) * 0.1
    for loss in ("logistic", "squared"):
        found = gradient_flow(ONE, rows, np.array([1.0, 1, -1, -1]), theta0, loss=loss, max_steps=3000)
        assert found.status == "converged"
    assert "log L = -0.98" in found.reason


def test_tiny_initialisations_and_huge_norms():
    rng = np.random.default_rng(7)
    rows = rng.normal(size=(10, 2))
    targets = np.sign(rows @ [1, 0.4])
    found = gradient_flow(two_layers(2, 3, 1.0), rows, targets, rng.normal(size=9) * 1e-13, loss="logistic")
    assert found.status == "converged"
    assert found.trajectory.norms[0] < 1e-12
    assert found.trajectory.norms[-1] > 1e4
    weights, outgoing = two_layers(2, 3, 1.0).matrices(_direction(found.theta))
    singular = np.linalg.svd(np.outer(outgoing[0], np.ones(2)) * weights, compute_uv=False)
    assert singular[1] < 1e-6  # one linear predictor


# ------------------------------------------------------------------------------------------------ invariants


@settings(max_examples=draws(8, 25), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    seed=st.integers(0, 10**6),
    slope=st.sampled_from([0.0, 0.2]),
    loss=st.sampled_from(["exponential", "logistic", "squared"]),
    scale=st.sampled_from([1e-6, 0.1, 1.0]),
    unbalance=st.sampled_from([1.0, 0.1, 10.0]),
)
def test_balance_is_conserved_and_the_loss_never_increases(seed, slope, loss, scale, unbalance):
    rng = np.random.default_rng(seed)
    layers = two_layers(2, 4, slope)
    rows, targets = rng.normal(size=(6, 2)), rng.choice([-1.0, 1.0], size=6)
    theta0 = rng.normal(size=12) * scale
    theta0[8:] *= unbalance
    found = gradient_flow(layers, rows, targets, theta0, loss=loss, max_steps=150)
    assert found.status in {"limit", "converged"}
    before, after = balances(layers, theta0), balances(layers, found.theta)
    weights, outgoing = layers.matrices(found.theta)
    if np.linalg.norm(found.theta) < 1e50:
        assert np.all(np.abs(after - before) <= 1e-9 * (outgoing[0] ** 2 + (weights**2).sum(axis=1)))
    assert _is_monotone(found)


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 10**6), power=st.sampled_from([-8, 4, 20]))
def test_data_of_another_scale_give_the_same_trajectory(seed, power):
    """x -> t^2 x and theta -> theta / t leave the outputs alone and change the time by t^2."""
    rng, t = np.random.default_rng(seed), 2.0**power
    layers = two_layers(2, 4, 0.0)
    rows, targets = rng.normal(size=(6, 2)), rng.choice([-1.0, 1.0], size=6)
    theta0 = rng.normal(size=12)
    scale = np.r_[np.full(8, 1.0), np.full(4, 1.0)] / t
    one = gradient_flow(layers, rows, targets, theta0, loss="logistic", max_time=5.0)
    other = gradient_flow(layers, rows * t**2, targets, theta0 * scale, loss="logistic", max_time=one.time / t**2)
    logs = np.interp(one.time / t**2, other.trajectory.times, other.trajectory.log_losses)
    assert logs == pytest.approx(one.trajectory.log_losses[-1], rel=2e-2, abs=1e-6)


def test_only_what_is_trained_moves_and_hidden_layers_alone_find_their_direction():
    rng = np.random.default_rng(11)
    rows = np.c_[rng.normal(size=(10, 2)), np.ones(10)]
    targets, layers = np.sign(rows[:, 0] + 0.3), two_layers(3, 6, 0.0)
    theta0, moving = rng.normal(size=24) * 0.3, np.arange(24) < 18
    found = gradient_flow(layers, rows, targets, theta0, loss="logistic", trained=moving, residual=1e-6)
    assert found.status == "converged"
    assert found.theta[18:].tolist() == theta0[18:].tolist()
    q = targets * layers.outputs(found.theta, rows)
    weights = np.exp(-(q - q.min()))
    pattern = layers.pattern(layers.preactivations(found.theta, rows))
    for (layer, point, unit), slope in zip(found.held, found.slopes, strict=True):
        pattern[layer][point, unit] = slope
    force = layers.gradient(found.theta, rows, pattern, weights * targets)[:18]
    assert _direction(force) == pytest.approx(_direction(found.theta[:18]), abs=1e-5)


def test_a_neuron_that_shrinks_to_nothing_rests_there():
    rows = np.array([[1.0, 0.1], [-0.6, 0.9], [-0.5, -1.0]])  # around the origin, all of one class
    theta0 = np.array([0.1, 0.05, 0.2, -0.3, -1.0, 0.5])
    found = gradient_flow(two_layers(2, 2, 0.0), rows, np.ones(3), theta0, loss="exponential", max_time=50.0)
    assert found.theta[:2].tolist() == [0, 0]
    assert found.theta[4] ** 2 == pytest.approx(1 - 0.1**2 - 0.05**2, rel=1e-9)


def test_weights_that_are_zero_start_in_the_direction_that_grows():
    rows = np.array([[1.0, 0.0], [0.0, 1.0]])
    theta0 = np.array([0.0, 0.0, 0.0, 0.0, 1.0, 0.0])
    found = gradient_flow(two_layers(2, 2, 0.0), rows, np.ones(2), theta0, loss="exponential", max_time=1.0)
    assert found.theta[0] == pytest.approx(found.theta[1])
    assert found.theta[0] > 0.1
    assert found.theta[[2, 3, 5]].tolist() == [0, 0, 0]  # w = 0 and v = 0 never moves


def test_opposite_and_equal_points_have_one_kink():
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(6, 2))
    targets = np.sign(rows @ [1, 0.2])
    both, signs = np.r_[rows, -rows, rows], np.r_[targets, -targets, targets]
    layers, theta0 = two_layers(2, 6, 0.1), rng.normal(size=18) * 0.01
    found = gradient_flow(layers, both, signs, theta0, loss="logistic")
    assert found.status == "converged"
    changes, times = found.trajectory.changes, found.trajectory.change_times
    assert len(changes) > 0
    for instant in np.unique(times):
        now = changes[times == instant]
        for _, unit, point, before, after in now:
            if point < 6:
                assert [0, unit, point + 12, before, after] in now.tolist()
                assert [0, unit, point + 6, -before, -after] in now.tolist()


def test_points_on_a_line_through_a_common_kink():
    grid = np.array([[a, b, 1.0] for a in (-1, 0, 1) for b in (-1, 0, 1)])
    targets = np.where(np.abs(grid[:, 0]) + np.abs(grid[:, 1]) < 0.5, 1.0, -1.0)
    theta0 = np.random.default_rng(5).normal(size=40) * 0.1
    found = gradient_flow(two_layers(3, 10, 0.0), grid, targets, theta0, loss="logistic", max_steps=4000)
    assert found.status == "converged"
    assert len(found.held) > 2
    _assert_stationary(two_layers(3, 10, 0.0), grid, targets, found)


# ------------------------------------------------------------------------------------------------ runs


def test_two_runs_are_the_same_bit_for_bit_and_each_stop_has_its_status():
    rows, targets, rng = _bands(6)
    theta0, layers = rng.normal(size=18) * 0.3, two_layers(2, 6, 0.0)
    one = gradient_flow(layers, rows, targets, theta0, loss="logistic", max_steps=80)
    other = gradient_flow(layers, rows, targets, theta0, loss="logistic", max_steps=80)
    assert one.status == "limit"
    assert "steps" in one.reason
    assert np.array_equal(one.theta, other.theta)
    assert np.array_equal(one.trajectory.thetas, other.trajectory.thetas)
    by_evaluations = gradient_flow(layers, rows, targets, theta0, loss="logistic", max_evaluations=100)
    assert "evaluations" in by_evaluations.reason
    assert 100 <= by_evaluations.evaluations < 150
    stopped = gradient_flow(layers, rows, targets, theta0, loss="logistic", stop=lambda m: "so it is")
    assert (stopped.status, stopped.reason, stopped.time) == ("stopped", "so it is", 0)
    assert stopped.theta == pytest.approx(theta0, rel=1e-15)


def test_bad_input_is_refused_and_nan_is_reported():
    layers, rows = two_layers(2, 2, 0.0), np.ones((3, 2))
    theta0 = np.ones(6)
    found = gradient_flow(layers, np.full((3, 2), np.nan), np.ones(3), theta0, loss="logistic")
    assert found.status == "failed"
    assert "NaN" in found.reason
    assert gradient_flow(layers, rows, np.ones(3), np.zeros(6), loss="logistic").status == "converged"
    with pytest.raises(ValueError, match="rows must have shape"):
        gradient_flow(layers, np.ones((3, 4)), np.ones(3), theta0, loss="logistic")
    with pytest.raises(ValueError, match="theta0 must have shape"):
        gradient_flow(layers, rows, np.ones(3), np.ones(7), loss="logistic")
    with pytest.raises(ValueError, match="loss must be one of"):
        gradient_flow(layers, rows, np.ones(3), theta0, loss="hinge")


def test_ctrl_c_returns_what_was_reached():
    rows, targets, rng = _bands(6)

    def interrupt(moment):
        if moment.evaluations > 100:
            raise KeyboardInterrupt

    found = gradient_flow(
        two_layers(2, 6, 0.0), rows, targets, rng.normal(size=18), loss="logistic", on_progress=interrupt
    )
    assert found.status == "interrupted"
    assert found.time > 0
    assert np.array_equal(found.trajectory.thetas[-1], found.theta)


RUN = """
import sys, time
import numpy as np
from solvers.training.flow.gradient_flow import gradient_flow
from solvers.layers import two_layers
rng = np.random.default_rng(5)
x = rng.normal(size=12)
rows, targets = np.c_[x, np.ones(12)], np.sign(np.abs(x) - 0.7)
found = gradient_flow(two_layers(2, 10, 0.0), rows, targets, rng.normal(size=30) * 0.1, loss="logistic",
    checkpoint=sys.argv[1], checkpoint_seconds=0.0, resume=True, on_progress=lambda m: time.sleep(float(sys.argv[2])))
np.savez(sys.argv[3], theta=found.theta, thetas=found.trajectory.thetas, changes=found.trajectory.changes,
    counts=[found.evaluations, *found.counts.values()], time=found.time)
"""


def test_a_killed_run_resumes_to_the_same_end_bit_for_bit(tmp_path):
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[4]), "OMP_NUM_THREADS": "1"}

    def started(checkpoint, pause, out):
        command = [sys.executable, "-c", RUN, str(tmp_path / checkpoint), str(pause), str(tmp_path / out)]
        return subprocess.Popen(command, env=environment)

    whole = started("whole.npz", 0, "whole-end.npz")
    for _ in range(2):
        killed = started("run.npz", 0.002, "never.npz")
        seen = _evaluations(tmp_path / "run.npz")
        deadline = time.monotonic() + 30
        while _evaluations(tmp_path / "run.npz") <= seen + 200 and time.monotonic() < deadline:
            time.sleep(0.01)
        killed.send_signal(signal.SIGKILL)
        assert killed.wait() == -signal.SIGKILL
        assert len(trajectory.load(tmp_path / "run.npz")[0]) > 1  # readable
    assert started("run.npz", 0, "end.npz").wait() == 0
    assert whole.wait() == 0
    one, other = np.load(tmp_path / "whole-end.npz"), np.load(tmp_path / "end.npz")
    for name in one.files:
        assert np.array_equal(one[name], other[name]), name


def _evaluations(path):
    return int(trajectory.load(path)[1]["counts"][0]) if path.exists() else 0


def test_a_finished_run_resumes_at_its_end_and_another_runs_file_is_refused(tmp_path):
    rows, targets, rng = _bands(6)
    layers, theta0, path = two_layers(2, 6, 0.0), rng.normal(size=18), tmp_path / "run.npz"

    def run(seed_theta, **options):
        return gradient_flow(layers, rows, targets, seed_theta, loss="logistic", checkpoint=path, **options)

    first = run(theta0, stop=lambda m: "far" if m.log_loss < -5 else None)
    again = run(theta0, stop=lambda m: "far" if m.log_loss < -5 else None, resume=True)
    assert again.status == "stopped"
    assert np.array_equal(first.theta, again.theta)
    assert again.time == first.time
    on = run(theta0, stop=lambda m: "far" if m.log_loss < -9 else None, resume=True)
    assert on.trajectory.log_losses[-1] < -9
    assert len(on.trajectory) > len(first.trajectory)
    with pytest.raises(ValueError, match="another run"):
        run(theta0 * 2, resume=True)
    path.write_bytes(path.read_bytes()[:300])
    with pytest.raises(TrajectoryFileError, match=r"run\.npz"):
        run(theta0, resume=True)
