"""The best multipliers and slopes for a loss, in floats, against values by hand and the residual itself."""

from dataclasses import replace

import numpy as np
import pytest

from solvers.kkt.loss_residual import LossModel, fit_losses

ONE = np.array([1.0])


def model(**changes):
    """One point x = 1, one neuron w = v = 1, decays 1/2, so that f = 1: of a hinge at its corner, d from 0 to 1."""
    one = LossModel(
        rows=np.array([[1.0]]),
        slope=0.0,
        weights=np.array([[1.0]]),
        outgoing=ONE,
        on=np.array([[True]]),
        kink=np.array([[False]]),
        counted=np.array([True]),
        allowed=np.array([[True]]),
        hidden=0.5,
        output=0.5,
        size=1.0,
        side=ONE,
        best=ONE,
        least=np.array([0.0]),
        most=ONE,
        lean=np.array([0.0]),
        bend=np.array([0.0]),
    )
    return replace(one, **changes)


def test_a_multiplier_at_a_corner_is_found():
    found = fit_losses(model(), 0.0)
    assert found.multipliers == pytest.approx([0.5], abs=1e-7)
    assert found.epsilon < 1e-7


def test_a_fixed_multiplier_leaves_its_residual():
    """c = 1: r = 1/2 - 1 in both equations, over the root of 1/2, of M = 1."""
    found = fit_losses(model(lean=np.array([-1.0])), 0.0)
    assert found.epsilon == pytest.approx(1.0)
    assert found.direction == pytest.approx([-1.0, -1.0])


@pytest.mark.parametrize(("lean", "bend"), [(-1.0, 0.0), (0.0, 2.0), (-0.5, 1.0)])
def test_as_much_of_the_gap_is_used_as_is_allowed(lean, bend):
    """lean (d - 1) + bend / 2 (d - 1)^2 = delta at d < 1, and r = 1/2 - d."""
    delta = 0.1
    found = fit_losses(model(lean=np.array([lean]), bend=np.array([bend])), delta)
    d = found.multipliers[0]
    assert lean * (d - 1) + bend / 2 * (d - 1) ** 2 == pytest.approx(delta, abs=1e-6)
    assert found.epsilon == pytest.approx(2 * (d - 0.5), abs=1e-6)


def at_a_kink(**changes):
    """w = (1, 0), x = (1, 1), (0, 1): c = (1/4, -1/2), decays 1/4, so that the slope 1/2 at the second point is it."""
    return model(
        rows=np.array([[1.0, 1.0], [0.0, 1.0]]),
        weights=np.array([[1.0, 0.0]]),
        on=np.array([[True, False]]),
        kink=np.array([[False, True]]),
        counted=np.array([True, True]),
        allowed=np.array([[True, True]]),
        hidden=0.25,
        output=0.25,
        size=0.5,
        side=np.array([1.0, -1.0]),
        best=np.array([0.25, 0.5]),
        least=np.zeros(2),
        most=np.full(2, np.inf),
        lean=np.zeros(2),
        bend=np.ones(2),
        **changes,
    )


def test_slopes_at_kinks():
    found = fit_losses(at_a_kink(), 0.0)
    assert found.epsilon < 1e-7
    assert found.kink_products == {(1, 0): pytest.approx(-0.25, abs=1e-7)}
    assert fit_losses(replace(at_a_kink(), slope=0.75), 0.0).kink_products == {(1, 0): pytest.approx(-0.375, abs=1e-7)}


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_the_sign_of_a_multiplier_at_a_kink_is_found(side):
    """Where it may have either sign, whichever side it is started from."""
    straight = replace(
        at_a_kink(),
        side=np.array([1.0, side]),
        best=np.array([0.25, 0.0]),
        least=np.array([0.0, -1.0]),
        most=np.array([0.25, 1.0]),
        lean=np.array([-1.0, 0.0]),
        bend=np.zeros(2),
    )
    found = fit_losses(straight, 0.0)
    assert found.epsilon < 1e-6
    assert found.kink_products[1, 0] == pytest.approx(-0.25, abs=1e-6)
    assert -1 <= found.multipliers[1] <= -0.25 + 1e-6


def test_without_anything_free_the_residual_is_what_it_is():
    still = replace(at_a_kink(), kink=np.zeros((1, 2), bool))
    found = fit_losses(still, 0.0)
    assert found.kink_products == {}
    assert found.epsilon == pytest.approx(np.linalg.norm([0.0, -0.25, 0.0]) / 0.5 / np.sqrt(0.5))


def test_a_program_that_fails_is_told(monkeypatch):
    from solvers.instance import Solution, Status
    from solvers.kkt import loss_residual

    monkeypatch.setattr(loss_residual, "solve_cone_program", lambda *_: Solution(Status.FAILED, np.nan))
    assert fit_losses(model(), 0.0) is None
