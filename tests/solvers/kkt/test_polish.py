"""Polishing to KKT points: points known in closed form, the examples, and what cannot be polished."""

import itertools
import time
from pathlib import Path

import numpy as np
import pytest

from solvers.clock import TimeIsUpError, reading
from solvers.instance import ProblemInstance
from solvers.kkt.annealing import AnnealingState
from solvers.kkt.newton import newton
from solvers.kkt.polish import PolishStatus, distance, kkt_polish
from solvers.kkt.reading import Frame, kkt_reading
from solvers.layers import Layers, two_layers
from solvers.programs.restricted import solve_all_cells

EXAMPLES = Path(__file__).parents[3] / "examples"
TRAINED = {
    "signs-1d": ("relu-under-trained", "relu-trained", "relu-well-trained", "relu-kkt"),
    "regression-12": ("relu-under-trained", "relu-trained", "relu-well-trained", "relu-kkt"),
    "moons-40": ("relu-trained", "relu-well-trained", "relu-kkt", "leaky-trained", "leaky-well-trained", "leaky-kkt"),
    "iris-pair": ("relu-trained", "relu-well-trained", "relu-kkt"),
    "iris-linear": ("linear-trained", "linear-well-trained"),
}
NETWORKS = [(folder, name) for folder, names in TRAINED.items() for name in names]


def example(folder, name):
    """Layers, rows, targets, theta."""
    data, stored = np.load(EXAMPLES / folder / "data.npz"), np.load(EXAMPLES / folder / f"{name}.npz")
    rows, weights = data["X"].astype(float), stored["W"].astype(float)
    if "b" in stored:
        rows = np.column_stack([rows, np.ones(len(rows))])
        weights = np.column_stack([weights, stored["b"]])
    layers = two_layers(rows.shape[1], len(weights), float(stored["slope"]))
    return layers, rows, data["y"].astype(float), np.concatenate([weights.ravel(), stored["v"]]).astype(float)


def is_stationary(layers, rows, targets, theta, multipliers, kinks, *, margin):
    """The Clarke conditions in plain loops, slopes at kinks by bounded least squares."""
    from scipy.optimize import lsq_linear

    (W, v), a = layers.matrices(theta), layers.slopes[0]
    v, size = v[0], np.linalg.norm(theta)
    c = multipliers * (targets if margin else 1.0)
    held, wrong = set(kinks), 0.0
    for j in range(len(W)):
        z = rows @ W[j]
        at = [i for i in range(len(rows)) if (i, j) in held]
        slopes = np.where(z > 0, 1.0, a)
        slopes[at] = 0.0
        seen = rows * (layers.places[0][j] >= 0)
        rest = W[j] - v[j] * (c * slopes) @ seen
        if at and v[j]:
            ends = np.sort(np.outer([a, 1.0], multipliers[at]), axis=0)
            ends[1] += 1e-12 * np.abs(multipliers).max()
            sign = targets[at] if margin else np.ones(len(at))
            found = lsq_linear(v[j] * (sign[:, None] * seen[at]).T, rest, bounds=tuple(ends), tol=1e-14)
            rest = found.fun
            assert np.abs(z[at]).max() <= 1e-11 * np.linalg.norm(W[j]) * np.linalg.norm(rows, axis=1).max()
        wrong = max(wrong, np.linalg.norm(rest), abs(v[j] - c @ np.maximum(z, a * z)))
    q = layers.outputs(theta, rows) * targets
    gaps = multipliers * (q - 1) if margin else layers.outputs(theta, rows) - targets
    assert not margin or (q >= 1 - 1e-9).all()
    assert not margin or (multipliers >= 0).all()
    return wrong <= 1e-6 * size and np.abs(gaps).max() <= 1e-6 * size**2


@pytest.mark.parametrize(("folder", "name"), NETWORKS, ids=["/".join(pair) for pair in NETWORKS])
def test_examples_become_stationary(folder, name):
    margin = folder != "regression-12"
    layers, rows, targets, theta = example(folder, name)
    found = kkt_polish(layers, rows, targets, theta, margin=margin)
    assert found.status is PolishStatus.STATIONARY
    assert max(found.residual, found.slack, found.misfit) <= 1e-9
    assert is_stationary(layers, rows, targets, found.theta, found.multipliers, found.kinks, margin=margin)
    assert "need not be the limit of training" in found.reason
    W, v = layers.matrices(found.theta)
    assert np.abs(v[0]) == pytest.approx(np.linalg.norm(W, axis=1), rel=1e-8, abs=1e-12)
    bound = {"kkt": 5e-4, "well": 0.15}.get(name.split("-")[1], 1.0)
    assert 0 < found.moved.angle < bound
    again = kkt_polish(layers, rows, targets, found.theta, margin=margin)
    assert (again.rounds, again.moved.angle < 1e-12) == (0, True)
    least = (
        solve_all_cells(ProblemInstance(rows, targets, slope=layers.slopes[0], margin=margin))
        if len(rows) < 10
        else None
    )
    if least is not None:
        assert found.theta @ found.theta / 2 >= least.value * (1 - 1e-6)


def test_the_residual_of_a_given_network():
    layers, rows, targets, theta = example("moons-40", "relu-kkt")
    near, trained = (
        kkt_reading(*example("moons-40", name)[:3], example("moons-40", name)[3], margin=True)
        for name in ("relu-kkt", "relu-trained")
    )
    assert near.worst < 1e-4 < trained.worst
    assert len(near.kinks) == 11  # as held in training, stored in float32
    assert kkt_polish(layers, rows, targets, theta, margin=True).start == pytest.approx(near.worst, rel=1e-6)


# One neuron w = v (1, 0) at x = (2, 0): q = 2 |v|^2 ... = 1 gives v = ||w|| = 1 / sqrt 2, lambda = 1/2.
POINT = (two_layers(2, 1, 0.0), np.array([[2.0, 0.0]]), np.array([1.0]), np.array([1.0, 0.0, 1.0]) / np.sqrt(2))


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e7])
def test_a_kkt_point_is_a_fixed_point(scale):
    layers, rows, targets, theta = POINT
    found = kkt_polish(layers, rows, targets, scale * theta, margin=True)
    assert (found.status, found.rounds) == (PolishStatus.STATIONARY, 0)
    assert found.theta == pytest.approx(theta, rel=1e-14)
    assert found.multipliers == pytest.approx([0.5], rel=1e-12)
    assert found.moved.angle < 1e-15
    assert found.reason.startswith("stationary within")
    assert "limit" not in found.reason


def test_distances():
    frame = Frame.of(*POINT[:3], margin=True)
    theta = POINT[3]
    turned = np.array([np.cos(1e-9), np.sin(1e-9), 1.0]) / np.sqrt(2)
    moved = distance(frame, theta, 3 * turned)
    assert moved.angle == pytest.approx(1e-9 / np.sqrt(2), rel=1e-6)
    assert moved.relative == pytest.approx(1e-9 / np.sqrt(2), rel=1e-6)
    assert distance(frame, theta, -theta) == distance(frame, -theta, theta)
    assert distance(frame, theta, -theta).relative == np.inf
    assert distance(frame, theta, -theta).angle == pytest.approx(np.pi, rel=1e-12)
    assert distance(frame, 0 * theta, 0 * theta).angle == 0
    assert distance(frame, 0 * theta, theta).angle == np.pi / 2
    plain = Frame.of(*POINT[:2], np.array([3.0]), margin=False)
    assert distance(plain, theta, 3 * theta).relative == pytest.approx(2.0, rel=1e-12)


def test_dead_neurons_are_removed():
    """The second neuron is off at the only point, the third has no output."""
    layers = two_layers(2, 3, 0.0)
    theta = np.array([1.0, 0.1, -1.0, 0.3, 2.0, 0.0, 1.0, 5.0, 0.0])
    found = kkt_polish(layers, POINT[1], POINT[2], theta, margin=True)
    assert found.status is PolishStatus.STATIONARY
    assert found.theta == pytest.approx(np.array([1, 0, 0, 0, 0, 0, 1, 0, 0]) / np.sqrt(2), abs=1e-9)
    assert found.moved.angle > 1.0


def test_a_tie_with_slope_one():
    """Multipliers (1, 1), slope 1 at the tie of neuron 1 with point 2; with slope 0 it would not be stationary."""
    layers, rows, targets = two_layers(2, 2, 0.0), np.array([[1.0, 1.0], [0.0, -1.0]]), np.array([1.0, 1.0])
    found = kkt_polish(layers, rows, targets, np.array([1.0, 0.0, 0.0, -1.0, 1.0, 1.0]), margin=True)
    assert (found.status, found.rounds, found.kinks) == (PolishStatus.STATIONARY, 0, ((1, 0),))
    assert found.multipliers == pytest.approx([1.0, 1.0], rel=1e-9)
    near = kkt_polish(layers, rows, targets, np.array([1.0, 1e-7, 0.0, -1.0, 1.0, 1.0]), margin=True)
    assert near.status is PolishStatus.STATIONARY
    assert near.moved.angle < 1e-6


def test_a_neuron_that_has_to_cross_a_point():
    """The first neuron is on at the second point, of the other label, which the second neuron fits alone."""
    layers, rows, targets = two_layers(2, 2, 0.0), np.array([[1.0, 0.0], [-1.0, 3.0]]), np.array([1.0, -1.0])
    found = kkt_polish(layers, rows, targets, np.array([1.0, 0.4, -1.0, 3.0, 1.0, -1.0]), margin=True)
    assert found.status is PolishStatus.STATIONARY
    W, v = layers.matrices(found.theta)
    assert W[0] == pytest.approx([1.0, 0.0], abs=1e-9)
    assert W[1] == pytest.approx(np.array([-1.0, 3.0]) / 10**0.75, abs=1e-9)
    assert v[0] == pytest.approx([1.0, -(10**-0.25)], abs=1e-9)


def test_regression_at_kinks_of_either_sign():
    """y = 0 at a point where the neuron is held: its multiplier is negative."""
    layers, rows = two_layers(2, 1, 0.0), np.array([[1.0, 0.0], [1.0, -1.0]])
    targets = np.array([1.0, 0.0])
    found = kkt_polish(layers, rows, targets, np.array([0.9, 0.7, 1.1]), margin=False)
    assert found.status is PolishStatus.STATIONARY
    assert found.kinks == ((1, 0),)
    assert found.theta == pytest.approx(np.array([1, 1, np.sqrt(2)]) / 2**0.25, rel=1e-9, abs=1e-9)
    assert found.multipliers[1] < 0
    assert is_stationary(layers, rows, targets, found.theta, found.multipliers, found.kinks, margin=False)


def test_duplicated_points_and_neurons():
    random = np.random.default_rng(1)
    rows = np.repeat(random.normal(size=(6, 3)), 3, axis=0)
    targets = np.repeat([1.0, -1.0, 1.0, 1.0, -1.0, -1.0], 3)
    one = np.tile(random.normal(size=(8, 3)), (2, 1))
    theta = np.concatenate([one.ravel(), np.tile(np.resize([1.0, -1.0], 8), 2)])
    layers = two_layers(3, 16, 0.0)
    found = kkt_polish(layers, rows, targets, theta, margin=True)
    assert found.status is PolishStatus.STATIONARY
    assert is_stationary(layers, rows, targets, found.theta, found.multipliers, found.kinks, margin=True)


def test_masked_weights_stay_away():
    random = np.random.default_rng(2)
    layers = Layers((np.array([[0, 1, -1], [-1, 2, 3], [4, -1, 5], [6, 7, -1]]), np.array([[8, 9, 10, 11]])), (0.2,))
    rows, targets = random.normal(size=(5, 3)), np.array([1.0, -1.0, 1.0, 1.0, -1.0])
    for seed in range(5):
        theta = np.random.default_rng(seed).normal(size=12)
        found = kkt_polish(layers, rows, targets, theta, margin=True)
        if found.status is PolishStatus.STATIONARY:
            assert is_stationary(layers, rows, targets, found.theta, found.multipliers, found.kinks, margin=True)
            return
    pytest.fail("none of five starts was polished")


@pytest.mark.parametrize("margin", [True, False])
@pytest.mark.parametrize("slope", [0.0, 0.3, 1.0])
@pytest.mark.one_in(4)
def test_from_random_weights(margin, slope):
    """Every end is stationary or says in a sentence that it does not fit; wide networks fit."""
    for seed in range(4):
        random = np.random.default_rng(seed)
        rows = np.column_stack([random.normal(size=(6, 5)), np.ones(6)])
        targets = random.choice([-1.0, 1.0], 6) if margin else random.normal(size=6)
        layers = two_layers(6, 14, slope)
        theta = random.normal(size=layers.size) * 10.0 ** random.integers(-3, 3)
        found = kkt_polish(layers, rows, targets, theta, margin=margin)
        assert found.status is PolishStatus.STATIONARY
        assert is_stationary(layers, rows, targets, found.theta, found.multipliers, found.kinks, margin=margin)


@pytest.mark.parametrize("size", [1e-9, 1.0, 1e9])
def test_units_do_not_matter(size):
    layers, rows, targets, theta = example("signs-1d", "relu-well-trained")
    plain = kkt_polish(layers, rows, targets, theta, margin=True)
    scaled = kkt_polish(layers, size * rows, targets, theta, margin=True)
    assert scaled.status is PolishStatus.STATIONARY
    assert scaled.theta * np.sqrt(size) == pytest.approx(plain.theta, rel=1e-6, abs=1e-9)
    layers, rows, targets, theta = example("regression-12", "relu-kkt")
    scaled = kkt_polish(layers, rows, size * targets, theta * np.sqrt(size), margin=False)
    assert scaled.status is PolishStatus.STATIONARY
    assert scaled.moved.angle < 1e-3


def test_targets_that_are_all_zero():
    found = kkt_polish(two_layers(2, 1, 0.0), np.eye(2), [0.0, 0.0], np.ones(3), margin=False)
    assert (found.status, found.theta.tolist()) == (PolishStatus.STATIONARY, [0.0, 0.0, 0.0])


@pytest.mark.parametrize("size", [1e-160, 1e150])
def test_networks_of_any_size(size):
    """Products of weights are 0 or infinite in floats: the direction counts."""
    theta = np.random.default_rng(0).normal(size=9)
    one, other = (
        kkt_polish(two_layers(2, 3, 0.0), [[1.0, 0.0], [0.3, 2.0]], [1.0, -1.0], scale * theta, margin=True)
        for scale in (size, 1.0)
    )
    assert one.status is PolishStatus.STATIONARY
    assert one.theta == pytest.approx(other.theta, rel=1e-9, abs=1e-12)
    assert one.moved.angle == pytest.approx(other.moved.angle, rel=1e-9)


CONTRADICTORY = {
    "points 0 and 2 contradict each other": ([[1.0, 1.0], [1.0, 0.0], [2.0, 2.0]], [1.0, 1.0, -1.0], True),
    "points 0 and 1 contradict each other": ([[1.0, 1.0], [2.0, 2.0]], [1.0, 1.0], False),
    "point 1 is 0": ([[1.0, 1.0], [0.0, 0.0]], [1.0, 1.0], True),
    "no network that separates the data was found": ([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [1.0, 1.0, -1.0], True),
    "no network that interpolates the data was found": ([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [1.0, 1.0, -1.0], False),
}


@pytest.mark.parametrize("message", CONTRADICTORY)
def test_data_that_cannot_be_fitted(message):
    rows, targets, margin = CONTRADICTORY[message]
    found = kkt_polish(two_layers(2, 1, 0.0), rows, targets, np.array([1.0, 1.0, 1.0]), margin=margin)
    assert found.status is PolishStatus.NOT_FITTED
    assert message in found.reason
    assert found.theta.shape == (3,)


def test_multiples_are_not_contradictory():
    found = kkt_polish(
        two_layers(2, 1, 0.0), [[1.0, 1.0], [2.0, 2.0], [0.0, 0.0]], [1.0, 2.0, 0.0], np.ones(3), margin=False
    )
    assert found.status is PolishStatus.STATIONARY


def test_a_deadline_in_the_past_leaves_nothing_to_tell():
    layers, rows, targets, theta = example("iris-pair", "relu-trained")
    with pytest.raises(TimeIsUpError):
        kkt_polish(layers, rows, targets, theta, margin=True, deadline=time.monotonic() - 1.0)


def test_a_deadline_on_the_way_leaves_the_best_so_far_and_its_progress():
    layers, rows, targets, theta = example("signs-1d", "relu-under-trained")
    ticks, told = itertools.count(), []
    with reading(lambda: float(next(ticks))):
        full = kkt_polish(layers, rows, targets, theta, margin=True, deadline=1e9)
        needed = next(ticks)
    assert full.status is PolishStatus.STATIONARY
    ticks = itertools.count()
    with reading(lambda: float(next(ticks))):
        late = kkt_polish(
            layers, rows, targets, theta, margin=True, deadline=0.7 * needed, on_round=lambda *news: told.append(news)
        )
    assert next(ticks) <= 0.7 * needed + 20
    assert late.status is not PolishStatus.STATIONARY
    assert late.rounds <= full.rounds
    assert all(least >= late.residual or least == np.inf for _, least in told)


REFUSED = {
    "networks of two layers": (Layers((np.arange(2)[None, :],), ()), np.ones(2)),
    "not shared": (Layers((np.array([[0, 1], [1, 0]]), np.array([[2, 3]])), (0.0,)), np.ones(4)),
    "3 finite numbers": (two_layers(2, 1, 0.0), np.array([1.0, np.nan, 1.0])),
}


@pytest.mark.parametrize("message", REFUSED)
def test_refused(message):
    layers, theta = REFUSED[message]
    with pytest.raises(ValueError, match=message):
        kkt_polish(layers, [[1.0, 2.0]], [1.0], theta, margin=True)


def test_the_penalty_is_the_derivative_of_its_value():
    random = np.random.default_rng(0)
    rows, labels = random.normal(size=(5, 3)), np.array([1.0, -1.0, 1.0, 1.0, -1.0])
    for margin in (True, False):
        instance = ProblemInstance(rows, labels, slope=0.1, margin=margin)
        descent = AnnealingState(
            instance, np.ones((2, 3), bool), random.normal(size=(2, 3)), random.normal(size=2), 3.0
        )
        f, step = random.normal(size=5), 1e-6
        _, pull = descent.penalty(f, 2.0)
        for i, unit in enumerate(np.eye(5)):
            after, before = (descent.penalty(f + s * step * unit, 2.0)[0] for s in (1, -1))
            assert -pull[i] == pytest.approx((after - before) / (2 * step), rel=1e-6)


def test_newton_goes_nowhere_from_afar():
    layers, rows, targets, theta = example("moons-40", "relu-under-trained")
    frame = Frame.of(layers, rows, targets, margin=True)
    reading = frame.read(*frame.split(theta))
    found = newton(frame, reading, reading.multipliers > 1e-7 * reading.multipliers.max())
    assert found is None or frame.read(*found).worst > 1e-6
    nothing = frame.read(*frame.split(0 * theta))
    assert newton(frame, nothing, np.ones(len(rows), bool)) is None
