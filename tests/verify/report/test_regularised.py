"""How a loss with weight decay is named at the head of a report, and the objective in its parts."""

from fractions import Fraction

import pytest

from tests.losses import PARAMETERS, point_loss, posed
from tests.words import check_words
from tests.words.losses import check_title
from verify import Decay, Network, Objective, PointLoss, audit
from verify.problem.objectives import loss_asked
from verify.report.quantities import quantities
from verify.report.regularised import asked_for, objective_rows
from verify.report.wording import wording


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
        ("logistic", "mean", "least mean over 4 points of log(1 + exp(−y·f(x))), plus ½·0.25·‖θ‖²"),
        ("squared-hinge", "sum", "least sum over 4 points of max(0, 1 − y·f(x))², plus ½·0.25·‖θ‖²"),
    ],
)
def test_what_is_least(loss, reduction, wanted):
    assert asked_for(loss_asked(loss, "0.25", reduction).on(4), 4) == wanted


OF_BIASES = {
    ("none", None): ("½·0.5·‖θ‖²", "no biases"),
    ("none", "1/2"): ("½·0.5·‖θ‖²", "no hidden biases, the output bias b counts in the norm"),
    ("none", 0): ("½·0.5·‖θ‖²", "no hidden biases, the output bias b does not count in the norm"),
    ("none", 3): ("½·(0.5·‖W‖² + 0.5·‖v‖² + 3·b²)", "no hidden biases, the output bias b counts in the norm"),
    ("penalised", "1/2"): ("½·0.5·‖θ‖²", "biases count in the norm (penalised)"),
    ("penalised", 0): (
        "½·0.5·‖θ‖²", "hidden biases count in the norm (penalised), the output bias b does not",
    ),
    ("free", 0): ("½·0.5·‖θ‖²", "biases do not count in the norm (free)"),
    ("free", "1/2"): (
        "½·0.5·‖θ‖²", "hidden biases do not count in the norm (free), the output bias b does",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("bias", "of_output"), OF_BIASES)
def test_which_biases_count_is_said_of_those_of_the_output_too(bias, of_output):
    decay = Decay(Fraction(1, 2), Fraction(1, 2), None if of_output is None else Fraction(of_output))
    network = Network.two_layer(
        [[1.0]], [2.0], b=None if bias == "none" else [3.0], b2=None if of_output is None else 5.0
    )
    loss = PointLoss(False, None, None, Fraction(0), Fraction(1))
    found = audit(network, ([[1.0], [2.0]], [1.0, 3.0]), goal=Objective(loss, decay), bias=bias, time_limit=2)
    least, biases = OF_BIASES[bias, of_output]
    title = wording(found).title[1].replace("\u00a0", " ")
    assert title.endswith(f"plus {least}; {biases}")
    counted = {"penalised": 9}.get(bias, 0) + (25 * 2 * Fraction(of_output) if of_output else 0)
    outputs = [2 * (x + (3 if bias != "none" else 0)) + (5 if of_output is not None else 0) for x in (1, 2)]
    losses = sum((y - z) ** 2 for y, z in zip((1, 3), outputs, strict=True)) / Fraction(2)
    assert found.objective == losses + Fraction(5 + counted, 4)
    check_title(found)


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


PAIR = Network.two_layer([[1, 0], [0, 1]], [1, -1])
ONE = Network.two_layer([[1]], [1])
CORNERS = [[1, 0], [0, 1], [2, 1]]


@pytest.mark.parametrize(
    ("network", "rows", "targets", "loss", "decay", "wanted"),
    [
        (PAIR, CORNERS, [1, -1, 1], "hinge", "0.01", "max-margin"),
        (PAIR, CORNERS, [1, -1, 1], "absolute", "0.01", "min-norm"),
        (ONE, [[1]], [Fraction(3, 2)], "epsilon-insensitive:0.5", "0.5", "min-norm within 0.5"),
        (PAIR, CORNERS, [1, -1, 1], "hinge", "10", None),
        (PAIR, CORNERS, [1, -1, 1], "squared-hinge", "0.01", None),
        (PAIR, CORNERS, [1, -1, 1], "logistic", "0.01", None),
    ],
)
def test_soft_is_hard_where_the_best_network_has_no_loss(network, rows, targets, loss, decay, wanted):
    """The optimum of the loss, over the price of a neuron, is that of the constraints."""
    found = audit(network, (rows, targets), loss=loss, decay=decay)
    told = [text for label, text in quantities(found, None) if label == "without loss"]
    if wanted is None:
        assert told == []
        return
    (text,) = told
    assert text.startswith(f"{wanted}: ")
    assert text.endswith("as the best network known has no loss at any point")
    check_words(found)


def test_nothing_hard_is_told_with_an_output_bias():
    network = Network.two_layer([[1.0, 0.0], [0.0, 1.0]], [1.0, -1.0], b2=0.0)
    found = audit(network, ([[1, 0], [0, 1], [2, 1]], [1, -1, 1]), loss="hinge", decay="0.01")
    assert "without loss" not in dict(quantities(found, None))


@pytest.mark.parametrize(
    ("network", "X", "y", "decay", "told"),
    [
        (Network.two_layer([[0]], [0], b=[0], b2="2000/2001"), [[-1], [1]], [1, 1], "1/1000", "at most 0.000499750"),
        (
            Network.two_layer([[1]], [1], b=[1], b2="1/2"),
            [[0], [1], [2], [2]],
            [0, 1, -1, 1],
            "1/10",
            "at most 0.69047",
        ),
    ],
)
def test_without_neurons_an_output_bias_is_left(network, X, y, decay, told):
    """The value of a network of zeros, bias and all, says nothing of whether neurons are worth their cost."""
    found = audit(network, X, y, loss="squared", decay=decay)
    (row,) = [text for label, text in wording(found).numbers if label == "without neurons"]
    assert row.startswith(told)
    check_words(found)


@pytest.mark.parametrize("loss", ["hinge", "absolute", "epsilon-insensitive:1/4", "squared"])
@pytest.mark.parametrize("decay", ["19/100", "1/10,1/5"])
def test_what_approximately_stationary_means_is_what_is_proved(loss, decay):
    """Of the best network known, in doubles and a little off; `check_words` computes both numbers anew."""
    data = ([[1, 0], [0, 1], [1, 1]], [1, -1, 1])
    best = audit(Network.two_layer([[1, 0], [0, 1]], [1, -1]), data, loss=loss, decay=decay).better
    rows = [[float(x) * (1 + 1e-9 * (c - j)) for c, x in enumerate(w)] for j, w in enumerate(best.hidden_weights)]
    off = audit(Network.two_layer(rows, [float(v) for v in best.output_weights]), data, loss=loss, decay=decay)
    assert off.stationary.verdict.value == "proved"
    assert (off.stationary.level == "approximate") == (loss != "squared")
    assert check_words(off)
