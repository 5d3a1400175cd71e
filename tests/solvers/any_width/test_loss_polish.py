"""From a network down to the stationary point of its pattern, for each loss."""

import numpy as np
import pytest

from solvers.any_width.convex_losses import ConvexLoss, DecayInstance
from solvers.any_width.loss_polish import polish_with_losses
from solvers.instance import ProblemInstance
from solvers.kkt.pattern_polish import FloatNeurons

LOSSES = {
    "squared": ConvexLoss(labels=False, low=-np.inf, high=np.inf, tube=0.0, curvature=1.0),
    "absolute": ConvexLoss(labels=False, low=-1.0, high=1.0, tube=0.0, curvature=0.0),
    "huber": ConvexLoss(labels=False, low=-0.25, high=0.25, tube=0.0, curvature=1.0),
    "hinge": ConvexLoss(labels=True, low=0.0, high=1.0, tube=0.0, curvature=0.0),
    "logistic": ConvexLoss(labels=True, low=0.0, high=1.0, tube=0.0, curvature=0.0, is_logistic=True),
}


def polished(name, rows, targets, u, signs, *, price=0.25, bias=None, slope=0.0):
    data = ProblemInstance(np.array(rows, float), np.array(targets, float), slope=slope, margin=False)
    neurons = FloatNeurons(np.array(u, float), np.array(signs), np.zeros(len(u), int))
    return polish_with_losses(DecayInstance(data, LOSSES[name], price, bias), neurons)


@pytest.mark.parametrize(
    ("name", "f"), [("squared", 2.75), ("absolute", 3.0), ("huber", 2.75), ("hinge", 1.0), ("logistic", np.log(3.0))]
)
def test_one_point(name, f):
    """x = 1: c is the price, 1/4, and f the output with this slope of the loss."""
    target = 1.0 if name in ("hinge", "logistic") else 3.0
    point = polished(name, [[1.0]], [target], [[0.1]], [1])
    assert point.outside == 0
    if name != "huber":  # whose slope is 1/4 from there on
        assert point.u[0, 0] == pytest.approx(f, abs=1e-6)
    assert point.multipliers[0] == pytest.approx(0.25, abs=1e-6)


def test_an_output_bias_and_two_neurons():
    """Free: sum c = 0; each neuron is along s sum c_i g_i x_i, of the length of the price."""
    rows, targets = [[1.0, 1.0], [2.0, 1.0], [-1.0, 1.0], [-2.0, 1.0]], [1.0, 3.0, 0.0, 2.0]
    point = polished("squared", rows, targets, [[1.0, 0.0], [-1.0, 0.0]], [1, 1], price=0.1, bias=0.0)
    assert point.multipliers.sum() == pytest.approx(0.0, abs=1e-6)
    for u, products in zip(point.u, point.products, strict=True):
        assert products @ np.array(rows) == pytest.approx(0.1 * u / np.linalg.norm(u), abs=1e-5)


def test_a_kink_on_the_wrong_side_is_let_through():
    """The neuron is off at a point that would have it on."""
    point = polished("squared", [[1.0, 0.5], [-1.0, 0.5]], [1.0, 1.0], [[1.0, 0.2], [-1.0, 0.2]], [1, 1], price=0.05)
    assert point.outside == 0
    assert point.rounds >= 1
    below = polished("squared", [[1.0], [0.5]], [2.0, 1.0], [[-1.0]], [1])
    assert below is None or not below.u.any()


def test_a_deadline_in_the_past():
    data = ProblemInstance(np.ones((1, 1)), np.ones(1), margin=False)
    neurons = FloatNeurons(np.ones((1, 1)), np.ones(1, int), np.zeros(1, int))
    assert polish_with_losses(DecayInstance(data, LOSSES["squared"], 0.5), neurons, deadline=0.0) is None
