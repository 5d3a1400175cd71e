"""What an audit makes of the given network is known: no question stays open, and no bracket ends, above it."""

from fractions import Fraction
from random import Random

import numpy as np
import pytest

from solvers import clock
from solvers.instance import SearchStatus
from tests.problems import random_problems
from tests.words import check_words
from verify import Dataset, Network, Verdict, audit
from verify.checker.bounds import UpperBound
from verify.checker.folder import decide_folder
from verify.deciders.global_optimality.better import is_no_wider
from verify.deciders.global_optimality.record import Bracket
from verify.diagnosis.ladder import RungKind
from verify.problem.problem import objective

TWINS = (
    Network.two_layer([[-1, 1], [-1, 1]], [1, 1]),
    Dataset(
        [[2, Fraction(1, 3)], [Fraction(1, 3), -2], [Fraction(5, 7), 1], [-2, Fraction(5, 7)]],
        [0, 0, Fraction(4, 7), Fraction(38, 7)],
    ),
    {"goal": "min-norm", "time_limit": 0.001},
)
CLOSE = (
    Network.two_layer([[0, 1], [2, -3]], [1, -2], b=[1, Fraction(1, 2)], slope=Fraction(1, 4)),
    Dataset(
        [[-1, 0], [Fraction(-1000000000001, 10**12), Fraction(-1, 1000)], [-1, 2]],
        [Fraction(7, 4), Fraction(1747500000001, 10**12), Fraction(27, 4)],
    ),
    {"goal": "min-norm", "bias": "penalised"},
)


def check_one_best(result):
    """No network of the ladder is better than the bracket's upper end, or leaves a question open that it answers."""
    found = [rung for rung in result.diagnosis.ladder if rung.network is not None] if result.diagnosis else []
    for rung in found:
        assert rung.objective == objective(result.problem, rung.network)
        if result.bracket is not None:
            assert rung.objective >= result.bracket[1]
        if result.objective is not None and rung.objective * (1 + result.tolerance) < result.objective:
            assert result.global_any_width.verdict is Verdict.REFUTED
            assert not is_no_wider(result.problem, rung.network) or result.global_optimum.verdict is Verdict.REFUTED
            assert objective(result.problem, result.better) <= rung.objective * (1 + Fraction(1, 10**7))
    if result.relaxed is not None:
        check_one_best(result.relaxed)


@pytest.mark.parametrize(("network", "data", "options"), [TWINS, CLOSE], ids=["twins", "close"])
def test_the_balanced_network_refutes_and_ends_the_bracket(network, data, options):
    result = audit(network, data, **options)
    balanced = next(rung for rung in result.diagnosis.ladder if rung.step is RungKind.BALANCED)
    assert balanced.objective * (1 + result.tolerance) < result.objective
    assert result.global_optimum.verdict is result.global_any_width.verdict is Verdict.REFUTED
    check_one_best(result)
    check_words(result)


@pytest.mark.parametrize("seconds", [0.001, 0.3])
@pytest.mark.parametrize("network_number", range(0, 40, 3))
def test_every_rung_is_a_witness(network_number, seconds):
    problem, network = list(random_problems(29, 40))[network_number]
    result = audit(network, problem.data, goal=problem.goal, bias=problem.bias, time_limit=seconds)
    check_one_best(result)


@pytest.mark.parametrize("seed", range(6))
def test_unbalanced_networks_of_floats_that_get_no_time(seed):
    random = np.random.default_rng(seed)
    points, weights = random.normal(size=(20, 2)).round(3), random.normal(size=(5, 2)).astype(np.float32)
    outgoing = (random.normal(size=5) * 30).astype(np.float32)
    outputs = np.maximum(points @ weights.T.astype(float), 0) @ outgoing.astype(float)
    network = Network.two_layer(weights.tolist(), outgoing.tolist())
    kept = np.abs(outputs) > 0.1
    data = Dataset(points[kept].tolist(), np.sign(outputs[kept]).tolist())
    result = audit(network, data, time_limit=0.001)
    assert result.global_optimum.verdict is result.global_any_width.verdict is Verdict.REFUTED
    check_one_best(result)


def test_a_search_that_fails_leaves_what_is_made_of_the_network(monkeypatch):
    def fails(*_, **__):
        raise ArithmeticError("singular")

    monkeypatch.setattr("verify.auditing.searching.bracket_optimum", fails)
    result = audit(Network.two_layer([[3]], [1]), Dataset([[1]], [3]), goal="min-norm")
    assert result.bracket is None
    assert result.global_any_width.verdict is Verdict.REFUTED
    assert result.global_optimum.verdict is Verdict.REFUTED
    assert objective(result.problem, result.better) < result.objective
    check_words(result)


def test_a_closed_form_measures_the_ladder_as_well():
    result = audit(Network.two_layer([[3], [1]], [1, 2]), Dataset([[1], [2]], [1, 1]), tol=0.3, symbolic=True)
    assert result.bracket[0] == result.bracket[1] == result.symbolic.exact
    check_words(result)


def test_a_repair_that_is_not_near_is_a_network_that_fits(monkeypatch):
    nothing = Bracket(lower=None, upper=None, witnesses=(), status=SearchStatus.TIME, history=())
    rounded = Network.two_layer([[0.9, -1.1], [-1, 1.05]], [1, 1])
    xor = Dataset([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0])
    monkeypatch.setattr("verify.auditing.searching.bracket_optimum", lambda *_, **__: nothing)
    result = audit(rounded, xor, goal="min-norm", relax=False)
    assert result.fits.verdict is Verdict.REFUTED
    assert "exact repair" in result.fits.reason
    assert objective(result.problem, result.better) is not None
    assert any(isinstance(bound, UpperBound) for bound in result.bounds)
    check_words(result)


@pytest.mark.parametrize("seconds", [0.001, 0.01])
def test_what_an_optimum_says_of_the_other_questions_is_said(seconds, tmp_path):
    result = audit(Network.two_layer([[1, 0]], [-1]), Dataset([[1, 0]], [-1]), time_limit=seconds)
    assert result.local_optimum.verdict is result.stationary.verdict is Verdict.PROVED
    check_words(result)
    result.save(tmp_path / "proofs")
    assert decide_folder(tmp_path / "proofs").is_accepted


@pytest.mark.parametrize("seed", range(12))
def test_time_that_ends_anywhere_leaves_no_question_open_that_a_network_answers(seed):
    """A clock that jumps at random; constants by a free bias come as near to 0 as asked, and are known early."""
    random, at = Random(seed), [0.0]

    def jumping():
        at[0] += random.choice([0, 0, 0, 0.01, 0.1, 1, 1])
        return at[0]

    problem, network = list(random_problems(29, 40))[18]
    with clock.reading(jumping):
        result = audit(
            network, problem.data, goal=problem.goal, bias=problem.bias, time_limit=random.choice([0.05, 0.5, 1, 5, 13])
        )
    check_one_best(result)
    check_words(result)
