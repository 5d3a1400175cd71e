"""The flow of one mode against difference quotients; its structured derivative and integrator against dense ones."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from solvers.layers import Layers, two_layers
from solvers.training.flow.radau import StructuredRadau
from solvers.training.flow.smooth import Mode, Task, signs_of, slopes_of, with_tau

DENSE = two_layers(3, 5, 0.1)
MASKED = Layers((np.array([[0, -1, 1], [2, 3, -1], [4, 5, 6]]), np.array([[7, -1, 8]])), (0.0,))


def _mode(layers, loss, trained, frozen, held):
    rng = np.random.default_rng(1)
    rows, theta = rng.normal(size=(6, 3)), rng.normal(size=layers.size)
    theta /= np.linalg.norm(theta)
    moves = np.ones(layers.size, bool)
    first = np.unique(layers.places[0][layers.places[0] >= 0])
    if trained == "hidden":
        moves[:] = False
        moves[first] = True
    elif trained == "some":
        moves[1] = False
    task = Task(layers, rows, np.sign(rng.normal(size=6)), loss, moves)
    pattern = slopes_of(layers, signs_of(layers, layers.preactivations(theta, rows)))
    pattern = with_tau(task, pattern, held, [0.3] * len(held))
    mode = Mode(task, theta, 0.7, pattern, held, frozen)
    return mode, mode.onto(np.append(theta, 0.0))


@pytest.mark.parametrize("frozen", [None, 50.0], ids=["B of the norm", "B fixed"])
@pytest.mark.parametrize("trained", ["all", "hidden", "some"])
@pytest.mark.parametrize("loss", ["exponential", "logistic", "squared"])
@pytest.mark.parametrize("layers", [DENSE, MASKED], ids=["dense", "masked"])
def test_the_derivative_of_a_mode(layers, loss, trained, frozen):
    mode, y = _mode(layers, loss, trained, frozen, [(0, 1, 0), (0, 2, 0), (0, 3, 1)])
    step, size = 1e-6, len(y)
    quotients = np.array([(mode(0, y + step * e) - mode(0, y - step * e)) / (2 * step) for e in np.eye(size)]).T
    jacobian, arrows = mode.jacobian(0, y), mode.arrows(0, y)
    scale = np.abs(jacobian).max()
    assert jacobian == pytest.approx(quotients, abs=1e-7 * scale)
    assert arrows.dense == pytest.approx(jacobian, abs=1e-13 * scale)
    b = np.random.default_rng(0).normal(size=size)
    for shift in (3.0, 2.0 - 4.0j):
        assert (shift * np.eye(size) - jacobian) @ arrows.solver(shift)(b) == pytest.approx(b, abs=1e-12 * scale)


def test_the_velocity_keeps_the_norm_and_the_held_kinks():
    mode, y = _mode(DENSE, "logistic", "all", None, [(0, 1, 0), (0, 3, 1)])
    rate = mode(0, y)
    assert abs(rate[:-1] @ y[:-1]) < 1e-15
    for _, point, unit in mode.held:
        places = DENSE.places[0][unit]
        assert abs(y[places] @ mode.task.rows[point]) < 1e-15
        assert abs(rate[places] @ mode.task.rows[point]) < 1e-14
    tau, inside = mode.needed(y)
    assert inside == pytest.approx(min(tau.min(), (1 - tau).min()))


def test_structured_radau_takes_the_steps_of_scipys():
    mode, y = _mode(DENSE, "exponential", "all", 1e4, [])
    ours = StructuredRadau(mode, 0.0, y, 2.0, derivative=mode.arrows, rtol=1e-8, atol=1e-10)
    while ours.status == "running":
        ours.step()
    dense = solve_ivp(mode, (0, 2), y, method="Radau", jac=mode.jacobian, rtol=1e-8, atol=1e-10)
    assert ours.status == "finished"
    assert ours.y == pytest.approx(dense.y[:, -1], abs=1e-8)
    assert ours.nlu == dense.nlu
