"""The losses that users name, against their formulas, with the reductions and decays of optimisers."""

import math
from fractions import Fraction

import numpy as np
import pytest

from verify import InputError
from verify.problem.objectives import LOSSES, a_loss, loss_asked, named_losses

VALUES = [Fraction(k, 4) for k in range(-9, 10)]
FORMULAS = {
    "squared": lambda y, f: (y - f) ** 2,
    "half-squared": lambda y, f: (y - f) ** 2 / 2,
    "absolute": lambda y, f: abs(y - f),
    "epsilon-insensitive:1/2": lambda y, f: max(Fraction(0), abs(y - f) - Fraction(1, 2)),
    "huber:3/4": lambda y, f: (
        (y - f) ** 2 / 2 if abs(y - f) <= Fraction(3, 4) else Fraction(3, 4) * (abs(y - f) - Fraction(3, 8))
    ),
    "hinge": lambda y, f: max(Fraction(0), 1 - y * f),
    "squared-hinge": lambda y, f: max(Fraction(0), 1 - y * f) ** 2,
}


@pytest.mark.parametrize("name", FORMULAS)
@pytest.mark.parametrize(("reduction", "points"), [("mean", 5), ("sum", 5), ("mean", 1)])
def test_a_loss_is_its_formula(name, reduction, points):
    asked = loss_asked(name, "0.01", reduction)
    loss, times = asked.on(points).loss, Fraction(1, points) if reduction == "mean" else 1
    targets = [Fraction(1), Fraction(-1)] if asked.has_labels else VALUES
    for y in targets:
        for f in VALUES:
            assert loss.value(y, f) == times * FORMULAS[name](y, f)


@pytest.mark.parametrize(("reduction", "weight"), [("mean", Fraction(1, 5)), ("sum", Fraction(1))])
def test_the_logistic_loss_is_its_formula(reduction, weight):
    loss = loss_asked("logistic", "0.01", reduction).on(5).loss
    for q in map(float, VALUES):
        for y in (Fraction(1), Fraction(-1)):
            assert float(loss.value(y, y * Fraction(q))) == pytest.approx(float(weight) * math.log1p(math.exp(-q)))


def test_every_loss_has_a_formula_here():
    assert {name.partition(":")[0] for name in FORMULAS} | {"logistic"} == set(LOSSES)
    assert named_losses()[:3] == ["squared", "half-squared", "absolute"]
    assert "huber[:δ]" in named_losses()


def test_numbers_by_default():
    assert loss_asked("huber", 1).number == 1
    assert loss_asked("epsilon-insensitive", 1).number == Fraction(1, 10)


@pytest.mark.parametrize(
    ("decay", "wanted"),
    [
        ("0.01", (Fraction(1, 100),) * 2),
        ("1e-3,1/3", (Fraction(1, 1000), Fraction(1, 3))),
        (0.5, (Fraction(1, 2),) * 2),
        (0.1, (Fraction(0.1),) * 2),
        ((1, "0.25"), (Fraction(1), Fraction(1, 4))),
        (np.float64(0.25), (Fraction(1, 4),) * 2),
        (".5", (Fraction(1, 2),) * 2),
    ],
)
def test_decays_are_exact(decay, wanted):
    """Text is the decimal that it says, a float the double that it is."""
    assert loss_asked("squared", decay).decay == wanted


@pytest.mark.parametrize("decay", ["", "x", "1,", "-1", "e5", ".", "1/0", True, float("nan"), (1, 2, 3), [], -1, "0,1"])
def test_what_is_no_decay(decay):
    with pytest.raises(InputError, match="decay"):
        loss_asked("squared", decay)


@pytest.mark.parametrize("loss", ["cubic", "", 3, None, "huber:", "huber:x", "hinge:1", "squared:"])
def test_what_is_no_loss(loss):
    with pytest.raises(InputError, match="loss"):
        loss_asked(loss, 1)


def test_the_reduction_is_one_of_two():
    with pytest.raises(InputError, match="mean or sum"):
        loss_asked("squared", 1, "median")


def test_options_that_go_together():
    assert a_loss("min-norm", None, None, None) is None
    assert a_loss(None, "squared", 1, None).reduction == "mean"
    for options in [(None, None, 1, None), (None, None, None, "sum"), ("min-norm", "squared", 1, None)]:
        with pytest.raises(InputError):
            a_loss(*options)


def test_the_gradient_of_the_decay_is_that_of_an_optimiser():
    """weight_decay = wd adds wd theta to the gradient of the loss: the derivative of 1/2 wd theta^2."""
    objective = loss_asked("squared", "0.25").on(4)
    step, theta = Fraction(1, 10**6), Fraction(3)
    squares = ([(theta + d) ** 2, Fraction(0)] for d in (step, -step))
    above, below = map(objective.of_weights, squares)
    assert (above - below) / (2 * step) == Fraction(1, 4) * theta
