"""How a loss with weight decay is named at the head of a report, and the objective in its parts."""

from fractions import Fraction

import pytest

from tests.losses import PARAMETERS, point_loss, posed
from verify import Decay, Network, Objective, PointLoss
from verify.problem.objectives import loss_asked
from verify.report.regularised import asked_for, objective_rows


@pytest.mark.parametrize(
    ("loss", "reduction", "wanted"),
    [
        ("squared", "mean", "least mean over 4 points of (y − f(x))², plus ½·0.25·‖θ‖²"),
        ("squared", "sum", "least sum over 4 points of (y − f(x))², plus ½·0.25·‖θ‖²"),
        ("half-squared", "mean", "least mean over 4 points of ½·(y − f(x))², plus ½·0.25·‖θ‖²"),
        ("half-squared", "sum", "least sum over 4 points of ½·(y − f(x))², plus ½·0.25·‖θ‖²"),
        ("absolute", "mean", "least mean over 4 points of |y − f(x)|, plus ½·0.25·‖θ‖²"),
        ("epsilon-insensitive:0.5", "sum", "least sum over 4 points of max(0, |y − f(x)| − 0.5), plus ½·0.25·‖θ‖²"),
        (
            "huber:0.5",
            "mean",
            "least mean over 4 points of ((y − f(x))²/2 up to |y − f(x)| = 0.5, linear beyond), plus ½·0.25·‖θ‖²",
        ),
        ("hinge", "mean", "least mean over 4 points of max(0, 1 − y·f(x)), plus ½·0.25·‖θ‖²"),
        ("squared-hinge", "sum", "least sum over 4 points of max(0, 1 − y·f(x))², plus ½·0.25·‖θ‖²"),
    ],
)
def test_what_is_least(loss, reduction, wanted):
    assert asked_for(loss_asked(loss, "0.25", reduction).on(4), 4) == wanted


def test_other_weights_and_decays():
    objective = Objective(point_loss("absolute", Fraction(3, 4)), Decay(Fraction(1, 2), Fraction(1, 4)))
    assert asked_for(objective, 2) == "least sum over 2 points of 0.75·|y − f(x)|, plus ½·(0.5·‖W‖² + 0.25·‖v‖²)"
    quantile = PointLoss(False, Fraction(-1, 4), Fraction(3, 4), Fraction(0), Fraction(0))
    told = asked_for(Objective(quantile, Decay(Fraction(1), Fraction(1))), 2)
    assert str(quantile) in told


@pytest.mark.parametrize("name", PARAMETERS)
def test_the_parts_are_those_of_the_objective(name):
    network = Network.two_layer([[1]], [2])
    problem = posed(name, [[1], [1]], [1, -1], 1, weight=Fraction(1, 2))
    (label, text), (other, nothing) = objective_rows(problem, problem.goal, network)
    assert (label, other) == ("this network", "without neurons")
    whole, losses, decay = (Fraction(word) for word in text.replace("mean loss", "").split() if word[0].isdigit())
    assert whole == losses + decay
    assert decay == Fraction(5, 2)
    assert ("mean loss" in text) is True
    assert nothing.endswith("which is what a network of zeros has")
