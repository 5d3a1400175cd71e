"""How far a network is from fitting."""

from fractions import Fraction

from verify.auditing.loop import audit
from verify.problem.misfits import misfit
from verify.problem.network import Network
from verify.problem.posing import pose
from verify.problem.problem import Dataset
from verify.report import as_text

RAMPS = Network.two_layer([[1, 0], [0, 1], [0, 0]], [1, -1, 0])


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
    assert "no neuron is active at 2 of these 3 points, so that f(x) = 0 there: points 2 and 3" in text
    assert "at the norm of this network the best one has a least margin between" in text
    assert "what to do next" in text
    assert "no neuron is active at points 2 and 3 (counting from 0), so that none learns from what is missed" in text
    assert "isoptimal train DATA --width 20 --out wider.npz --audit" in text


def test_nothing_is_said_of_misfits_where_a_repair_fits():
    network = Network.two_layer([[1.0, 0.0], [0.0, 1.0]], [1.0, 1.0])
    result = audit(network, Dataset([[1.0, 0.0], [0.0, 1.0]], [1.0 + 1e-6, 1.0]))
    assert "targets are missed" not in str(result)
    assert "misfit" not in (result.to_json()["diagnosis"] or {})
