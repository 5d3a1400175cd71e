"""Stop tests at networks whose KKT residual is known."""

import re

import numpy as np
import pytest

from solvers.layers import two_layers
from solvers.training import stop_tests
from solvers.training.stop_tests import NearlyStationary, NearPolished, Plateau, SmallLoss, any_of, residuals
from solvers.training.trajectory import Moment

ROWS, TARGETS = np.array([[1.0, 0.25], [-1.0, 0.25]]), np.ones(2)
LAYERS = two_layers(2, 2, 0.0)
KKT = np.array([0.0, 2.0, 0.0, 0.0, 2.0, 0.0])  # Theorem 3.2 of arXiv:2110.02732


def _moment(theta, *, layers=LAYERS, rows=ROWS, targets=TARGETS, held=(), slopes=()):
    outputs = layers.outputs(theta, rows)
    margin = (targets * outputs).min() / (theta @ theta)
    return Moment(0.0, theta, outputs, -1.0, margin, 1.0, 1, held, slopes)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_a_kkt_point_has_no_residual_at_any_scale(scale):
    assert residuals(LAYERS, ROWS, TARGETS, scale * KKT) == pytest.approx((0, 0), abs=1e-12)


def test_the_residual_is_that_of_the_best_multipliers():
    theta = np.array([1.0, 2.0, 0.0, 0.0, 2.0, 0.0])  # q = (3, -1): no margin
    assert residuals(LAYERS, ROWS, TARGETS, theta) == (np.inf, np.inf)
    theta = np.array([0.1, 2.0, 0.0, 0.0, 2.0, 0.0])
    epsilon, delta = residuals(LAYERS, ROWS, TARGETS, theta)
    q, norm = np.array([1.2, 0.8]), theta @ theta
    h = np.array([[2, 0.5, 0, 0, 0.6, 0], [-2, 0.5, 0, 0, 0.4, 0]])
    best = min(
        (np.linalg.norm(theta - [a, b] @ h) ** 2 / norm + (a * (q[0] - 0.8) / norm) ** 2, a, b)
        for a in np.linspace(0, 4, 201)
        for b in np.linspace(0, 4, 201)
    )
    assert epsilon**2 + delta**2 == pytest.approx(best[0], rel=1e-2)
    assert epsilon**2 + delta**2 <= best[0]


def test_a_held_kink_uses_its_slope():
    """One neuron on one point that it helps and on one whose kink it slides along."""
    rows, layers = np.array([[1.0, 0.0], [1.0, 1.0]]), two_layers(2, 2, 0.0)
    theta = np.array([1.0, -1.0, 0.0, 1.0, 1.0, 1.0])
    pattern = layers.pattern(layers.preactivations(theta, rows))
    pattern[0][1, 0] = 0.25
    h = layers.jacobian(theta, rows, pattern)
    unit = theta / np.linalg.norm(theta)
    found = stop_tests._residuals(layers, rows, TARGETS, unit, ((0, 1, 0),), (0.25,))
    free = stop_tests._residuals(layers, rows, TARGETS, unit, (), ())
    multipliers = np.linalg.lstsq(h.T, theta, rcond=None)[0]
    assert (multipliers >= 0).all()
    assert found[0] == pytest.approx(np.linalg.norm(theta - multipliers @ h) / np.linalg.norm(theta))
    assert found != free
    assert residuals(layers, rows, TARGETS, theta)[0] <= min(found[0], free[0]), "the best slopes there are"


def test_nearly_stationary_is_asked_as_the_norm_grows():
    test = NearlyStationary(LAYERS, ROWS, TARGETS, 1e-3)
    assert test(_moment(np.array([0.1, 2.0, 0.0, 0.0, 2.0, 0.0]))) is None
    before = test.last
    assert max(before) > 1e-3
    assert test(_moment(1.01 * KKT)) is None, "asked again too early"
    assert test.last == before
    assert re.fullmatch(r"stationary up to epsilon \S+ and delta \S+\d", test(_moment(2 * KKT)))


def test_a_small_loss_and_either_of_two():
    assert SmallLoss(0.5)(_moment(KKT)).startswith("the loss is 3.7e-01")
    assert SmallLoss(0.1)(_moment(KKT)) is None
    either = any_of(SmallLoss(0.1), NearlyStationary(LAYERS, ROWS, TARGETS, 1e-3))
    assert "stationary" in either(_moment(KKT))


def test_a_settled_pattern_and_a_near_point():
    test = NearPolished(LAYERS, ROWS, TARGETS, 1e-2)
    assert test(_moment(np.array([0.001, 2.0, 0.0, 0.0, 2.0, 0.0]))) is None, "nothing is known of the pattern before"
    assert test(_moment(np.array([0.002, 3.0, 0.0, 0.0, 3.0, 0.0]))) is None, "not grown enough"
    assert test.polished is None
    assert "KKT point lies within" in test(_moment(np.array([0.005, 5.0, 0.0, 0.0, 5.0, 0.0])))
    assert test.polished.residual < 1e-6
    assert test(_moment(np.array([0.0, 1.0, 0.0, 0.0, 1.0, 0.0]))) is None, "smaller than before"


def test_a_pattern_that_changes_has_not_settled():
    test = NearPolished(LAYERS, ROWS, TARGETS, 1e-2)
    assert test(_moment(np.array([0.001, 2.0, 0.1, 1.0, 2.0, 0.1]))) is None
    assert test(_moment(np.array([0.001, 9.0, 0.1, -1.0, 9.0, 0.1]))) is None
    assert test.polished is None


def _at(time, theta, targets=TARGETS):
    outputs = LAYERS.outputs(theta, ROWS)
    return Moment(time, theta, outputs, -1.0, float((targets * outputs).min()), 1.0, 1)


def test_a_plateau_is_seen_where_points_stay_on_the_wrong_side():
    test, still = Plateau(ROWS, TARGETS), np.array([1.0, 0.0, 0.0, 0.0, 1.0, 0.0])  # off at the second point
    assert test(_at(0.0, still)) is None
    assert test(_at(1e-9, still)) is None, "no time has passed"
    assert test(_at(10.0, 2 * still)) is None, "it moves"
    assert "1 of 2 points not classified correctly (1, counting from 0)" in test(_at(20.0, 2 * still))
    assert test.is_over


def test_what_moves_slowly_and_small_is_no_plateau():
    test, theta = Plateau(ROWS, TARGETS), 1e-9 * np.array([1.0, 0.0, 0.0, 0.0, 1.0, 0.0])
    assert test(_at(0.0, theta)) is None
    assert test(_at(10.0, theta * (1 + 1e-4))) is None
    assert not test.is_over


def test_a_classifier_that_rests_is_no_plateau():
    test = Plateau(ROWS, TARGETS)
    assert test(_at(0.0, KKT)) is None
    assert test(_at(10.0, KKT)) is None
