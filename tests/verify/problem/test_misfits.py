"""How far a network is from fitting."""

from fractions import Fraction

import pytest

from tests.words import check_words
from verify.auditing.loop import audit
from verify.problem.misfits import misfit
from verify.problem.network import Network
from verify.problem.posing import pose
from verify.problem.problem import Dataset
from verify.report import as_text
from verify.report.wording import wording

RAMPS = Network.two_layer([[1, 0], [0, 1], [0, 0]], [1, -1, 0])
LOST = "points that are not on their sides, so that f(x) = 0 there"


def test_margins_and_points_that_no_neuron_sees():
    data = Dataset([[1, 0], [0, 2], [-1, -1], [-1, 0], [2, 1]], [1, 1, 1, -1, -1])
    found = misfit(pose(RAMPS, data), RAMPS)
    assert found is not None
    assert found.missed == (1, 2, 3, 4)
    assert (found.worst, found.amount) == (1, -2)
    assert found.unseen == (2, 3)
    assert found.far == ()
    assert found.norm == 2
    assert found.to_json()["amount"] == "-2"


def test_residuals():
    data = Dataset([[1, 0], [0, 2], [-1, -1], [4, 1]], [1, -1, Fraction(2, 5), Fraction(13, 4)])
    found = misfit(pose(RAMPS, data, goal="min-norm"), RAMPS)
    assert found is not None
    assert found.missed == (1, 2, 3)
    assert (found.worst, found.amount, found.far) == (1, 1, (1,))
    assert found.unseen == (2,)
    within = misfit(pose(RAMPS, data, goal="min-norm", fit_tol=Fraction(1, 2)), RAMPS)
    assert within is not None
    assert within.missed == (1,)
    assert misfit(pose(RAMPS, data, goal="min-norm", fit_tol=1), RAMPS) is None


def test_the_report_says_what_is_missed_and_what_the_best_one_would_do():
    data = Dataset([[1, 0], [0, 1], [-1, -1], [-1, -2], [3, 1]], [1, 1, 1, 1, 1])
    text = " ".join(as_text(audit(RAMPS, data)).split())
    assert f"no neuron is active at 2 of the 3 {LOST}: points 2 and 3" in text
    assert "at the norm of this network the best one has a least margin between" in text
    assert "what to do next" in text
    assert "no neuron is active at points 2 and 3 (counting from 0), so that none learns from what is missed" in text
    assert "isoptimal train DATA --width 20 --out wider.npz --audit" in text


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ([[1, 0], [-1, -1]], "no neuron is active at point 1, so that f(x) = 0 there"),
        ([[-1, -2], [-1, -1]], f"no neuron is active at any of the 2 {LOST}: points 0 and 1"),
        ([[0, -1], [-1, -1], [1, 0], [0, 0]], f"no neuron is active at any of the 3 {LOST}: points 0, 1 and 3"),
        ([[0, -1], [1, 0], [-2, 3]], "no neuron is active at point 0, so that f(x) = 0 there"),
        ([[0, -1], [1, 0], [-2, 3], [-1, 0]], f"no neuron is active at 2 of the 3 {LOST}: points 0 and 3"),
    ],
)
def test_of_points_that_no_neuron_sees_one_sentence_tells(rows, told):
    result = audit(RAMPS, Dataset(rows, [1] * len(rows)), time_limit=5)
    assert [text for text in wording(result).faults if "is active" in text] == [told]
    check_words(result)


def test_the_zero_network_has_one_sentence_of_what_nobody_sees():
    zero = Network.two_layer([[0, 0]], [0])
    for goal in ("max-margin", "min-norm"):
        text = str(audit(zero, Dataset([[1, 2], [3, 1], [-1, 4]], [1, -1, 1]), goal=goal, time_limit=5))
        assert text.count("is active at") == (goal == "max-margin") + text.count("so that none learns")


def test_nothing_is_said_of_misfits_where_a_repair_fits():
    network = Network.two_layer([[1.0, 0.0], [0.0, 1.0]], [1.0, 1.0])
    result = audit(network, Dataset([[1.0, 0.0], [0.0, 1.0]], [1.0 + 1e-6, 1.0]))
    assert "targets are missed" not in str(result)
    assert "misfit" not in (result.to_json()["diagnosis"] or {})
