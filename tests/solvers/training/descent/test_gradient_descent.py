"""Gradient descent: the kernel against numpy, numpy against the definition, runs broken off, ends known beforehand."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import solvers.training.descent.gradient_descent as module
from solvers.layers import Layers, two_layers
from solvers.training.descent.gradient_descent import SCHEDULES, gradient_descent
from solvers.training.initialisation import initialise
from solvers.training.losses import LOSSES, rule_of, value
from solvers.training.trajectory import TrajectoryFileError, largest_angle, load

RANDOM = np.random.default_rng(5)
ROWS = RANDOM.normal(size=(7, 3))
LABELS = np.array([1.0, -1.0, 1.0, 1.0, -1.0, -1.0, 1.0])
DEEP = Layers((np.arange(12).reshape(4, 3), 12 + np.arange(8).reshape(2, 4), np.array([[20, 21]])), (0.0, 0.5))
TERMS = 64
"""More than the longest sum of a step: 7 points, 9 neurons, 12 parameters of a unit, 7 logarithms and exponentials."""
SHARED = Layers((np.array([[0, 1, -1], [-1, 0, 1]]), np.array([[2, 3]])), (0.25,))
CASES = [
    (loss, schedule)
    for loss in LOSSES
    for schedule in SCHEDULES
    if rule_of(loss).is_for_margins or schedule == "constant"
]


def start(layers, seed=0, scale=0.7):
    return scale * np.random.default_rng(seed).normal(size=layers.size)


def by_hand(layers, rows, targets, theta, loss, schedule, step, count, trained=1.0, noise=0.0):
    """The definition, with log L and its gradient by `losses` and `layers`: theta, what changed sign, steps kept.

    noise: what is added to each parameter in each step, in parts of the largest, with random signs.
    """
    kept, changes, before, random = 0, [], None, np.random.default_rng(1)
    for _ in range(count):
        theta = theta + noise * trained * np.abs(theta).max() * random.choice([-1.0, 1.0], theta.size)
        z = layers.preactivations(theta, rows)
        signs = [np.sign(part) for part in z[:-1]]
        changes += differences(before, signs)
        before = signs
        pattern = [np.where(part > 0, 1.0, slope) for part, slope in zip(z, layers.slopes, strict=False)]
        valued = value(loss, targets, z[-1][:, 0])
        gradient = trained * (valued.pull @ layers.jacobian(theta, rows, pattern))  # of -F
        if schedule != "loss-adapted":
            factor = np.exp(valued.log_loss) if schedule == "constant" and rule_of(loss).is_for_margins else 1.0
            if schedule == "loss-scaled":
                factor = 1 / max(1.0, -valued.log_loss) ** (1.0 if len(layers.places) == 2 else 4 / 3)
            theta, kept = theta + step * factor * gradient, kept + 1
            continue
        trial = theta + step * gradient
        if value(loss, targets, layers.outputs(trial, rows)).log_loss <= valued.log_loss:
            theta, kept, step = trial, kept + 1, step * 2**0.2
        else:
            step /= 2**0.1
    if schedule == "loss-adapted":
        changes += differences(before, [np.sign(part) for part in layers.preactivations(theta, rows)[:-1]])
    return theta, changes, kept


def differences(before, after):
    if before is None:
        return []
    return [
        [l, unit, point, before[l][point, unit], after[l][point, unit]]
        for l in range(len(after))
        for point, unit in np.argwhere(before[l] != after[l])
    ]


def rounding_of(run, steps):
    """How far two ways to round the same `steps` steps of run(noise) may end apart, for each parameter.

    Rounding differs from one processor to the next, and steps let it grow: how much is measured, with noise of 2^-30 in
    every step. A step makes less than TERMS roundings, each at most 2^-53 of the largest parameter.
    """
    end, noisy = run(0.0), run(2.0**-30)
    allowed = max(np.abs(noisy - end).max() * 2.0**30, steps * np.abs(end).max()) * TERMS * 2.0**-53
    assert allowed < 1e-6, "nothing could be compared"
    return allowed


@pytest.mark.parametrize(("loss", "schedule"), CASES)
@pytest.mark.parametrize(
    "layers", [two_layers(3, 5, 0.0), two_layers(3, 1, 0.3), DEEP, SHARED], ids=["wide", "one", "deep", "shared"]
)
def test_the_definition(layers, loss, schedule):
    theta, changes, kept = by_hand(layers, ROWS, LABELS, start(layers), loss, schedule, 0.05, 60)
    found = gradient_descent(
        layers, ROWS, LABELS, start(layers), loss=loss, schedule=schedule, step=0.05, max_steps=60, compiled=False
    )
    allowed = rounding_of(
        lambda noise: by_hand(layers, ROWS, LABELS, start(layers), loss, schedule, 0.05, 60, noise=noise)[0], 60
    )
    assert found.theta == pytest.approx(theta, rel=0, abs=allowed)
    assert (found.status, found.evaluations, found.counts["steps"]) == ("limit", 60, kept)
    assert found.trajectory.changes.tolist() == changes
    assert found.counts["changes"] == len(changes)
    assert kept == 60 or schedule == "loss-adapted"


@pytest.mark.parametrize(("loss", "schedule"), [case for case in CASES if rule_of(case[0]).kernel is not None])
@pytest.mark.parametrize(("slope", "width"), [(0.0, 9), (0.0, 1), (0.2, 6), (1.0, 3)])
@pytest.mark.parametrize("columns", [1, 3, 6])
@pytest.mark.one_in(6)
def test_the_kernel_does_the_same(loss, schedule, slope, width, columns):
    layers, random = two_layers(columns, width, slope), np.random.default_rng(width)
    rows, trained = random.normal(size=(7, columns)), random.random(layers.size) < 0.8
    steps = 200 if schedule != "loss-adapted" else 20
    one, other = (
        gradient_descent(
            layers, rows, LABELS, start(layers), loss=loss, schedule=schedule, step=0.05, trained=trained,
            at_zero=0.5, max_steps=steps, compiled=compiled,
        )
        for compiled in (True, False)
    )  # fmt: skip
    allowed = rounding_of(
        lambda noise: by_hand(layers, rows, LABELS, start(layers), loss, schedule, 0.05, steps, trained, noise)[0],
        steps,
    )
    assert one.theta == pytest.approx(other.theta, rel=0, abs=allowed)
    assert (one.theta[~trained] == start(layers)[~trained]).all()
    assert one.time == pytest.approx(other.time, rel=1e-12)
    assert one.trajectory.changes.tolist() == other.trajectory.changes.tolist()
    assert one.trajectory.change_times == pytest.approx(other.trajectory.change_times, rel=1e-10)
    assert one.trajectory.log_losses == pytest.approx(other.trajectory.log_losses, rel=1e-9, abs=1e-11)
    assert one.trajectory.steps.tolist() == other.trajectory.steps.tolist()
    assert one.counts == other.counts


def test_the_derivative_at_zero():
    """Both points lie on the boundary of the only neuron: all depends on the convention."""
    layers, rows, targets = two_layers(2, 1, 0.0), np.array([[0.0, 1.0], [0.0, -1.0]]), np.array([1.0, 3.0])
    theta = np.array([1.0, 0.0, 2.0])
    for compiled in (True, False):
        still = gradient_descent(layers, rows, targets, theta, loss="squared", step=0.5, compiled=compiled)
        assert (still.status, still.theta.tolist(), still.evaluations) == ("converged", theta.tolist(), 1)
        moved = gradient_descent(
            layers, rows, targets, theta, loss="squared", step=0.5, at_zero=0.25, max_steps=1, compiled=compiled
        )
        # c = (1, 3) / 2, dw_2 = step * v * at_zero * (c_1 - c_2)
        assert moved.theta == pytest.approx([1.0, 0.5 * 2 * 0.25 * (0.5 - 1.5), 2.0], rel=1e-15)
        assert gradient_descent(
            layers, rows, targets, theta, loss="squared", step=0.5, max_steps=1, at_zero=0.0, compiled=compiled
        ).theta.tolist() == theta.tolist()  # fmt: skip
    leaky = two_layers(2, 1, 0.25)
    one = gradient_descent(leaky, rows, targets, theta, loss="squared", step=0.5, max_steps=1)
    assert one.theta.tolist() == moved.theta.tolist()  # by default the left derivative


def test_neurons_that_are_off_never_move():
    layers = two_layers(3, 40, 0.0)
    rows = np.abs(RANDOM.normal(size=(8, 3))) + 0.1
    targets = RANDOM.choice([-1.0, 1.0], 8)
    theta = start(layers, seed=3)
    off = (theta[:120].reshape(40, 3) @ rows.T < 0).all(axis=1)
    assert 3 < off.sum() < 20
    runs = [
        gradient_descent(layers, rows, targets, theta, loss="logistic", step=0.1, max_steps=3000, compiled=compiled)
        for compiled in (True, False)
    ]
    for found in runs:
        assert (found.theta[:120].reshape(40, 3)[off] == theta[:120].reshape(40, 3)[off]).all()
    assert runs[0].theta == pytest.approx(runs[1].theta, rel=1e-10, abs=1e-12)


def test_all_neurons_off():
    found = gradient_descent(
        two_layers(1, 2, 0.0), np.ones((1, 1)), np.ones(1), -np.ones(4), loss="logistic", compiled=True
    )
    assert (found.status, found.theta.tolist()) == ("converged", [-1.0] * 4)
    assert "no step changes any parameter" in found.reason


def test_a_step_divided_by_the_loss():
    layers, theta = two_layers(3, 5, 0.0), start(two_layers(3, 5, 0.0))
    for loss in ("exponential", "logistic"):
        log_loss = value(loss, LABELS, layers.outputs(theta, ROWS)).log_loss
        scaled, plain = (
            gradient_descent(layers, ROWS, LABELS, theta, loss=loss, schedule=schedule, step=step, max_steps=1)
            for schedule, step in (("loss-scaled", 0.1), ("constant", 0.1 / np.exp(log_loss)))
        )
        assert log_loss > -1
        assert scaled.theta == pytest.approx(plain.theta, rel=1e-13)
        assert scaled.time == pytest.approx(0.1, rel=1e-15)
        assert plain.time == pytest.approx(0.1, rel=1e-12)


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("loss", ["exponential", "logistic"])
def test_nothing_vanishes_however_small_the_loss_is(compiled, loss):
    """Two points of the line, two linear neurons of one sign: the margin 1/2 is reached, and L as small as can be."""
    found = gradient_descent(
        two_layers(1, 2, 1.0), np.array([[1.0], [-2.0]]), np.array([1.0, -1.0]), np.array([1.0, 0.2, 0.5, 0.4]),
        loss=loss, schedule="loss-adapted", step=0.1, max_steps=3000, compiled=compiled,
    )  # fmt: skip
    losses = found.trajectory.log_losses
    assert losses[-1] < -1e100
    assert (np.diff(losses) <= 0).all()
    assert found.trajectory.margins[-1] == pytest.approx(0.5, rel=1e-3)
    assert 100 < found.counts["steps"] < found.evaluations
    assert found.status == "converged"  # at the largest outputs allowed


def test_scaled_steps_reach_the_best_margin():
    """Two points, labels 1 and -1, one ReLU neuron for each: q_i = ||x_i|| r_i, best margin 1 / (2 (1 + 1/2))."""
    layers, rows, labels = two_layers(2, 4, 0.0), np.array([[1.0, 0.0], [0.0, 2.0]]), np.array([1.0, -1.0])
    theta = np.array([1.0, 0.1, 0.2, 1.0, -1.0, -1.0, -0.5, -1.0, 1.0, -1.0, 0.5, -0.5]) / 10
    found = gradient_descent(
        layers, rows, labels, theta, loss="logistic", schedule="loss-scaled", step=0.3, max_steps=100_000
    )
    late = found.trajectory.evaluations > 100
    assert (np.diff(found.trajectory.log_losses[late]) <= 0).all()
    assert found.trajectory.log_losses[-1] < -5000
    assert found.trajectory.margins[-1] == pytest.approx(1 / 3, rel=1e-3)


def test_adapted_steps_come_to_rest_before_the_end():
    """Two moons, where neurons slide along kinks: there every step raises the loss, and only the scaled ones go on."""
    data = np.load(Path(__file__).parents[4] / "examples" / "moons-40" / "data.npz")
    rows, labels = np.column_stack([data["X"].astype(float), np.ones(40)]), data["y"].astype(float)
    layers = two_layers(3, 20, 0.0)
    theta = initialise("balanced", layers, scale=0.1)
    adapted, scaled = (
        gradient_descent(layers, rows, labels, theta, loss="logistic", schedule=schedule, step=0.1, max_steps=20_000)
        for schedule in ("loss-adapted", "loss-scaled")
    )
    assert adapted.status == "converged"
    assert "no step is kept any more" in adapted.reason
    assert adapted.counts["steps"] < adapted.evaluations < 20_000
    assert (np.diff(adapted.trajectory.log_losses) <= 0).all()
    z = layers.preactivations(adapted.theta, rows)[0]
    assert np.abs(z).min() < 1e-9 * np.abs(z).max()
    assert scaled.status == "limit"
    assert scaled.trajectory.log_losses[-1] < 10 * adapted.trajectory.log_losses[-1] < 0
    assert 1 / (2 * scaled.trajectory.margins[-1]) < 1.02 * 20.913  # the KKT point of its pattern


def test_a_loss_too_small_for_floats_ends_constant_steps():
    theta = np.array([30.0, 30.0])
    found = gradient_descent(two_layers(1, 1, 1.0), np.ones((1, 1)), np.ones(1), theta, loss="exponential")
    assert found.status == "converged"
    assert "log L = -900" in found.reason


# ------------------------------------------------------------------------------------------------ known ends


def test_one_neuron_in_high_dimension():
    """From a small positive start only the points with positive labels are fitted: the limit is a projection.

    Source: arXiv:2603.04895, Theorem 1: linear regression on those points, from the iterate after one step.
    """
    n, d = 8, 600
    rows, targets = RANDOM.normal(size=(n, d)), np.array([1.0, 2.0, -1.0, 1.5, -2.0, 1.0, -1.0, 1.2])
    layers, positive = two_layers(d, 1, 0.0), targets > 0
    theta = initialise("span-positive", layers, rows=rows, scale=0.01)
    trained = np.arange(layers.size) < d
    common = {"loss": "squared", "step": 0.5 * n / d, "trained": trained}
    first = gradient_descent(layers, rows, targets, theta, max_steps=1, **common).theta[:d]
    found = gradient_descent(layers, rows, targets, theta, max_steps=3000, **common)
    X = rows[positive]
    limit = first + X.T @ np.linalg.solve(X @ X.T, targets[positive] - X @ first)
    assert found.theta[:d] == pytest.approx(limit, rel=1e-9, abs=1e-12)
    assert (rows[~positive] @ found.theta[:d] < 0).all()
    assert found.theta[d] == 1.0
    assert found.status == "converged"


def test_the_angle_between_neurons_falls_with_the_scale():
    """A teacher neuron at acute angles to the points. Source: arXiv:2306.06479, Figure 1."""
    teacher = np.array([1.0, 0.0, 0.0, 0.0])
    rows = teacher + np.random.default_rng(6).normal(size=(4, 4)) / 2
    assert (rows @ teacher > 0).all()
    layers, angles = two_layers(4, 20, 0.0), []
    for scale in (1.0, 4.0**-2, 4.0**-4):
        theta = initialise("balanced", layers, seed=2, scale=scale)
        found = gradient_descent(
            layers, rows, rows @ teacher, theta, loss="squared", step=0.05, max_steps=100_000,
            stop=lambda moment: "small" if moment.log_loss < np.log(1e-10) else None,
        )  # fmt: skip
        assert (found.status, found.reason) == ("stopped", "small")
        angles.append(largest_angle(layers, found.theta, rows))
    assert angles[0] > 1 > 0.2 > angles[1] > 10 * angles[2] > 0


# ------------------------------------------------------------------------------------------------ runs


LINE = np.column_stack([np.random.default_rng(8).normal(size=(9, 2)), np.ones(9)])
SIGNS = np.random.default_rng(9).choice([-1.0, 1.0], 9)
TWELVE = two_layers(3, 12, 0.0)


def run(path=None, **options):
    options = {"loss": "logistic", "schedule": "loss-scaled", "step": 0.02, "max_steps": 2500} | options
    return gradient_descent(TWELVE, LINE, SIGNS, start(TWELVE), checkpoint=path, **options)


@pytest.mark.parametrize("compiled", [True, False])
def test_runs_are_the_same_bit_for_bit_whole_or_in_parts(tmp_path, compiled):
    whole, again = run(compiled=compiled), run(compiled=compiled)
    assert whole.theta.tobytes() == again.theta.tobytes()
    path = tmp_path / "run.npz"
    for limit in (0, 1, 77, 1300, 2500):
        part = run(path, max_steps=limit, resume=True, compiled=compiled)
        assert (part.status, part.evaluations) == ("limit", limit)
    assert part.theta.tobytes() == whole.theta.tobytes()
    assert part.time == whole.time
    assert part.counts == whole.counts
    assert part.trajectory.changes.tolist() == whole.trajectory.changes.tolist()
    assert set(whole.trajectory.steps) <= set(part.trajectory.steps)


@pytest.mark.parametrize("compiled", [True, False])
def test_an_interrupted_run_goes_on(tmp_path, compiled):
    path, looks = tmp_path / "run.npz", []

    def interrupt(moment):
        looks.append(moment.evaluations)
        if len(looks) == 60:
            raise KeyboardInterrupt

    broken = run(path, on_progress=interrupt, compiled=compiled)
    assert broken.status == "interrupted"
    assert broken.reason.startswith(f"interrupted after step {looks[-1]}, log L = ")
    assert looks == sorted(set(looks))
    assert path.exists()
    whole, resumed = run(compiled=compiled), run(path, resume=True, compiled=compiled)
    assert resumed.theta.tobytes() == whole.theta.tobytes()
    assert resumed.trajectory.thetas.tobytes() == whole.trajectory.thetas.tobytes()
    assert resumed.trajectory.steps.tolist() == whole.trajectory.steps.tolist()


def test_an_interrupt_within_the_steps_loses_only_these(monkeypatch):
    steps, made = module.NumpySteps, []
    advance = steps.advance

    def broken(self, count, note):
        made.append(count)
        if len(made) == 30:
            advance(self, count - 1, note)
            raise KeyboardInterrupt
        return advance(self, count, note)

    monkeypatch.setattr(steps, "advance", broken)
    found = run(compiled=False)
    monkeypatch.undo()
    assert found.status == "interrupted"
    kept = sum(made[:-1])
    assert found.evaluations == kept
    assert found.theta.tobytes() == run(compiled=False, max_steps=kept).theta.tobytes()


def test_checkpoints_are_written_on_the_way(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "SAVED_EVERY", -1.0)
    path, seen = tmp_path / "run.npz", []
    run(
        path,
        on_progress=lambda moment: seen.append((moment.evaluations, path.exists() and load(path)[0].evaluations[-1])),
    )
    assert all(saved == before for (before, _), (_, saved) in pairwise(seen) if before)


def test_a_checkpoint_of_another_run_is_refused(tmp_path):
    path = tmp_path / "run.npz"
    run(path, max_steps=10)
    with pytest.raises(TrajectoryFileError, match="is of another run"):
        run(path, step=0.03, resume=True)
    path.write_bytes(b"nothing")
    with pytest.raises(TrajectoryFileError):
        run(path, resume=True)
    assert run(path, max_steps=10).status == "limit"  # not resumed: written anew


def test_moments_and_samples():
    looks = []
    found = run(on_progress=looks.append, schedule="constant", step=0.5, max_steps=400, max_evaluations=300)
    assert found.evaluations == 300
    assert [moment.evaluations for moment in looks[:12]] == list(range(12))
    assert looks[-1].evaluations == 300
    assert set(found.trajectory.steps.tolist()) == {moment.evaluations for moment in looks}
    assert found.trajectory.thetas[-1].tobytes() == found.theta.tobytes()
    last = looks[-1]
    assert last.theta.tobytes() == found.theta.tobytes()
    assert (last.time, last.margin) == (found.time, found.trajectory.margins[-1])
    assert last.outputs == pytest.approx(TWELVE.outputs(last.theta, LINE), rel=1e-15)
    valued = value("logistic", SIGNS, last.outputs)
    pattern = TWELVE.pattern(TWELVE.preactivations(last.theta, LINE))
    gradient = TWELVE.gradient(last.theta, LINE, pattern, valued.pull)
    assert last.log_loss == valued.log_loss
    cosine = gradient @ last.theta / np.linalg.norm(gradient) / np.linalg.norm(last.theta)
    assert last.residual == pytest.approx(np.sqrt(1 - cosine**2), rel=1e-9)


def test_looks_grow_with_the_logarithm():
    looks = [0]
    while looks[-1] < 2_000_000:
        looks.append(module._next_look(looks[-1]))
    gaps = np.diff(looks)
    assert (gaps >= 1).all()
    assert gaps.max() == 10_000
    late = [look for look in looks if 100 < look < 10_000]
    assert all(b / a == pytest.approx(10 ** (1 / 40), rel=0.01) for a, b in pairwise(late))


# ------------------------------------------------------------------------------------------------ failures


@pytest.mark.parametrize("compiled", [True, False])
def test_divergence_is_a_status(compiled):
    layers, theta = two_layers(3, 5, 0.1), start(two_layers(3, 5, 0.1))
    found = gradient_descent(layers, ROWS, 10 * LABELS, theta, loss="squared", step=50.0, compiled=compiled)
    assert found.status == "failed"
    assert "the step 50 is too large" in found.reason
    assert np.isfinite(found.theta).all()
    assert found.trajectory.thetas[-1].tobytes() == found.theta.tobytes()


@pytest.mark.parametrize("compiled", [True, False])
def test_contradictory_data(compiled):
    rows, targets = np.ones((2, 1)), np.array([1.0, -1.0])
    found = gradient_descent(
        two_layers(1, 2, 0.0), rows, targets, np.array([1.0, 0.5, 1.0, -1.0]), loss="logistic", step=0.5,
        max_steps=20_000, compiled=compiled,
    )  # fmt: skip
    assert found.status in ("limit", "converged")
    assert found.trajectory.log_losses[-1] == pytest.approx(np.log(np.log(2)), rel=1e-6)
    assert "log L = -0.366" in found.reason


def test_many_changes_are_counted(monkeypatch):
    """A neuron that is thrown over its point by every step."""
    monkeypatch.setattr(module, "MOST_CHANGES", 7)
    layers, rows, targets = two_layers(1, 3, 0.5), np.ones((1, 1)), np.array([0.0])
    theta = np.array([1.0, 0.9, -0.8, 1.0, 1.0, 1.0])
    for compiled in (True, False):
        found = gradient_descent(
            layers, rows, targets, theta, loss="squared", step=1.2, trained=np.arange(6) < 3, max_steps=9000,
            compiled=compiled,
        )  # fmt: skip
        assert len(found.trajectory.changes) == 7
        assert found.counts["changes"] > 7


REFUSED = {
    "there is no loss 'hinge'": {"loss": "hinge"},
    "there is no schedule 'cosine'": {"schedule": "cosine"},
    "a step divided by the loss is for": {"loss": "squared"},
    "the step must be positive": {"step": 0.0},
    "needs targets -1 and 1": {"targets": np.full(7, 2.0)},
    "rows and targets must be finite": {"rows": np.full((7, 3), np.inf)},
    r"need rows of shape \(7, 3\)": {"rows": np.ones((6, 3))},
    "theta0 must be 20 finite numbers": {"theta0": np.full(20, np.nan)},
    "trained must be 20 finite numbers": {"trained": np.ones(3, bool)},
}


@pytest.mark.parametrize("message", REFUSED)
def test_arguments_that_do_not_fit(message):
    layers = two_layers(3, 5, 0.0)
    given = {"rows": ROWS, "targets": LABELS, "theta0": start(layers), "loss": "logistic", "schedule": "loss-scaled"}
    with pytest.raises(ValueError, match=message):
        gradient_descent(layers, **(given | REFUSED[message]))


def test_who_chooses_the_kernel(monkeypatch):
    usual, turned = two_layers(3, 2, 0.0), Layers((np.arange(6).reshape(3, 2).T, np.array([[6, 7]])), (0.0,))
    monkeypatch.delenv(module.KERNELS, raising=False)
    assert [module._uses_kernel(layers, "squared", None) for layers in (usual, turned, DEEP, SHARED)] == [
        True,
        False,
        False,
        False,
    ]
    assert not module._uses_kernel(usual, "squared", compiled=False)
    monkeypatch.setenv(module.KERNELS, "numpy")
    assert not module._uses_kernel(usual, "squared", None)
    assert module._uses_kernel(usual, "squared", compiled=True)
    monkeypatch.setattr(module, "_can_compile", lambda: False)
    assert not module._uses_kernel(usual, "squared", compiled=True)
