"""The losses against their definitions in many digits, and their derivatives against difference quotients."""

from decimal import Decimal, localcontext

import numpy as np
import pytest

from solvers.layers import two_layers
from solvers.training import losses
from solvers.training.descent.gradient_descent import gradient_descent
from solvers.training.flow.gradient_flow import gradient_flow
from solvers.training.loss_names import LOSSES
from solvers.training.losses import LossRule, Valued, rule_of, value

TARGETS = np.array([1.0, -1.0, 1.0, 1.0])
OUTPUTS = np.array([0.3, -2.1, 40.0, -1.5])


@pytest.mark.parametrize("loss", ["exponential", "logistic"])
@pytest.mark.parametrize("scale", [1e-8, 1.0, 30.0, 1e5])
def test_log_loss_and_pull_at_any_margin(loss, scale):
    q = scale * np.array([1.0, 1.0 + 1e-4, 2.0])
    found = value(loss, np.array([1.0, -1.0, 1.0]), q * [1, -1, 1])
    with localcontext() as context:
        context.prec = 80
        context.Emin = -(10**9)
        powers = [(-Decimal(z)).exp() for z in q.tolist()]
        terms = powers if loss == "exponential" else [(1 + p).ln() if p > Decimal("1e-40") else p for p in powers]
        total = sum(terms)
        parts = powers if loss == "exponential" else [p / (1 + p) for p in powers]
        log_loss = float((total / 3).ln())
        pull = [float(s * p / total) for s, p in zip((1, -1, 1), parts, strict=True)]
    assert found.objective == found.log_loss == pytest.approx(log_loss, rel=1e-12, abs=1e-12)
    assert found.pull == pytest.approx(pull, rel=1e-9, abs=1e-300)


@pytest.mark.parametrize("loss", LOSSES)
def test_derivatives(loss):
    """To seven digits, and to what the quotient of differences loses: the rounding of F and of c over the step."""
    found, step = value(loss, TARGETS, OUTPUTS), 1e-6
    lost = 4 * np.finfo(float).eps / step
    allowed = {"rel": 1e-7, "abs": max(1e-9, lost * abs(found.objective))}
    allowed_of_pull = {"rel": 1e-6, "abs": max(1e-9, lost * np.abs(found.pull).max())}
    curvature = -np.diag(found.diagonal) + (np.outer(found.pull, found.pull) if found.is_ranked else 0)
    for j, unit in enumerate(np.eye(4)):
        after, before = (value(loss, TARGETS, OUTPUTS + s * step * unit) for s in (1, -1))
        assert -found.pull[j] == pytest.approx((after.objective - before.objective) / (2 * step), **allowed)
        assert curvature[:, j] == pytest.approx((after.pull - before.pull) / (2 * step), **allowed_of_pull)


def test_the_squared_loss():
    found = value("squared", TARGETS, TARGETS)
    assert (found.objective, found.log_loss) == (0.0, -np.inf)
    assert value("squared", np.array([1.0, 2.0]), np.zeros(2)).objective == 1.25


def test_every_name_has_a_record_and_the_kernel_has_its_numbers():
    kernel = pytest.importorskip("solvers.training.descent.kernel")
    numbers = {loss: number for loss in LOSSES if (number := rule_of(loss).kernel) is not None}
    assert numbers == {"exponential": kernel.EXPONENTIAL, "logistic": kernel.LOGISTIC, "squared": kernel.SQUARED}
    assert sorted(losses._RULES) == sorted(LOSSES)


def pseudo_huber(targets, outputs):
    """1/n sum sqrt(1 + (f - y)^2) - 1."""
    n, rest = len(targets), targets - outputs
    size = np.sqrt(1 + rest**2)
    loss = float((rest**2 / (1 + size)).sum()) / n
    return Valued(loss, float(np.log(loss)) if loss else -np.inf, rest / size / n, 1 / size**3 / n, is_ranked=False)


@pytest.mark.parametrize("train", [gradient_descent, gradient_flow])
def test_a_new_record_is_trained_with(train, monkeypatch):
    """x = 1, 2 with targets 1, 2: both get to f(x) = x, and the loss says so; the kernel lacks it and is left out."""
    monkeypatch.setitem(losses._RULES, "pseudo-huber", LossRule(pseudo_huber, "min-norm"))
    monkeypatch.setattr(f"{gradient_descent.__module__}.LOSSES", (*LOSSES, "pseudo-huber"))
    monkeypatch.setattr(f"{gradient_flow.__module__}.LOSSES", (*LOSSES, "pseudo-huber"))
    layers, rows, targets = two_layers(1, 1, 0.0), np.array([[1.0], [2.0]]), np.array([1.0, 2.0])
    given = {"step": 0.2, "max_steps": 2000, "compiled": None} if train is gradient_descent else {}
    found = train(layers, rows, targets, np.array([0.5, 0.7]), loss="pseudo-huber", **given)
    outputs = layers.outputs(found.theta, rows)
    assert outputs == pytest.approx(targets, abs=1e-6)
    assert found.trajectory.log_losses[-1] == pytest.approx(value("pseudo-huber", targets, outputs).log_loss, rel=1e-6)
