"""The search for a loss with weight decay: exact optima, an independent program over all cells, early ends."""

from fractions import Fraction

import numpy as np
import pytest

from solvers import clock
from solvers.any_width import loss_search
from solvers.any_width.loss_search import solve_loss
from solvers.any_width.master import Column
from solvers.instance import SearchStatus, Status
from solvers.pricing.dual_function import evaluate
from tests.losses import over_all_cells, posed, random_problem
from verify import Bias
from verify.deciders.global_optimality.instance import as_decay_instance


def searched(problem, *start, **options):
    return solve_loss(as_decay_instance(problem), *start, **options)


@pytest.mark.parametrize("seed", range(320))
@pytest.mark.one_in(4)
def test_the_bracket_holds_the_optimum_over_all_cells(seed):
    problem, name = random_problem(np.random.default_rng(seed))
    found, wanted = searched(problem), over_all_cells(problem, name)
    upper, lower = found.candidates[0].value, found.proof.lower
    if wanted < 1e-8:
        assert upper < 1e-6
        return
    assert found.status is SearchStatus.OPTIMAL
    assert lower <= wanted * (1 + 1e-6) + 1e-9
    assert upper >= wanted * (1 - 1e-6) - 1e-9
    assert upper <= lower * (1 + 2e-6)


@pytest.mark.parametrize("b2", [None, 0, Fraction(1, 2)])
@pytest.mark.parametrize("seed", range(20))
@pytest.mark.one_in(3)
def test_the_logistic_bracket_holds_the_optimum_over_all_cells(seed, b2):
    problem, name = random_problem(np.random.default_rng(300 + seed), "logistic", b2)
    found, wanted = searched(problem), over_all_cells(problem, name)
    if wanted < 1e-6 or len(set(problem.targets)) == 1:  # a constant has nearly no loss
        assert found.candidates[0].value >= wanted * (1 - 1e-6) - 1e-8
        return
    upper, lower = found.candidates[0].value, found.proof.lower
    assert found.status is SearchStatus.OPTIMAL
    assert wanted * (1 - 1e-6) - 1e-8 <= upper <= lower * (1 + 2e-6)
    assert lower <= wanted * (1 + 1e-6) + 1e-8


@pytest.mark.parametrize("seed", range(12))
def test_the_trees_are_of_the_multipliers(seed):
    """h is nowhere above the bound that the trees are said to prove."""
    problem, _ = random_problem(np.random.default_rng(seed))
    instance = as_decay_instance(problem)
    proof = searched(problem).proof
    c = proof.multipliers * instance.loss.sides(instance.data.targets)
    directions = np.random.default_rng(0).normal(size=(500, instance.data.columns))
    body = directions[:, :-1] if instance.data.free else directions
    reached = np.abs(evaluate(instance.data.rows, c, instance.data.slope, directions)) / np.linalg.norm(body, axis=1)
    assert reached.max(initial=0.0) <= proof.beta * (1 + 1e-9)
    assert instance.bound(c, proof.beta) == pytest.approx(proof.lower)


def larger(seed=0, points=40, name="squared"):
    random = np.random.default_rng(seed)
    rows = [[Fraction(int(x), 8) for x in random.integers(-16, 17, size=3)] for _ in range(points)]
    return posed(name, rows, [Fraction(int(y), 8) for y in random.integers(-16, 17, size=points)], Fraction(1, 4))


def test_the_own_network_is_the_best_of_the_given_columns():
    problem = posed("squared", [[1], [-1]], [3, 3])
    column = Column(0, 1, np.array([True, False]))
    found = searched(problem, [column])
    assert found.own.value == pytest.approx(Fraction(5, 2) + Fraction(9, 2))
    assert found.candidates[0].value == pytest.approx(5)


def test_known_multipliers_and_columns_begin_a_search():
    problem = larger()
    first = searched(problem)
    again = searched(problem, multipliers=first.proof.multipliers, further=[Column(0, 1, np.ones(40, bool))])
    assert again.status is SearchStatus.OPTIMAL
    assert again.candidates[0].value == pytest.approx(first.candidates[0].value, rel=1e-6)


def test_progress_is_told_in_the_units_of_the_problem():
    told = []
    found = searched(larger(), on_progress=told.append)
    assert tuple(told) == found.history
    assert told[-1].upper == pytest.approx(found.candidates[0].value)
    assert told[-1].lower <= told[-1].upper


@pytest.mark.parametrize("name", ["squared", "absolute"])
def test_a_late_search_has_a_bound_all_the_same(name):
    found = searched(larger(name=name), deadline=clock.now() + 0.05)
    assert found.status in (SearchStatus.TIME, SearchStatus.OPTIMAL)
    assert found.proof is not None
    assert 0 <= found.proof.lower <= found.candidates[0].value


def test_an_interrupted_search_has_a_bound_all_the_same(monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(loss_search, "solve_loss_master", interrupted)
    found = searched(larger())
    assert found.status is SearchStatus.INTERRUPTED
    assert found.proof is not None


def test_a_master_that_fails_ends_the_search(monkeypatch):
    solve = loss_search.solve_loss_master

    def failed(*given, **options):
        return type(solution := solve(*given, **options))(
            Status.FAILED, np.inf, solution.multipliers, solution.directions, 0.0
        )

    monkeypatch.setattr(loss_search, "solve_loss_master", failed)
    found = searched(larger())
    assert found.status is SearchStatus.STALLED
    assert found.proof is not None


def test_idle_columns_are_dropped_where_there_are_many(monkeypatch):
    monkeypatch.setattr(loss_search, "TOO_MANY", 10)
    found = searched(larger())
    assert found.status is SearchStatus.OPTIMAL
    assert found.candidates[0].value == pytest.approx(searched(larger(seed=0)).candidates[0].value, rel=1e-6)


@pytest.mark.parametrize("bias", list(Bias))
def test_where_no_neuron_helps(bias):
    problem = posed("squared", [[1], [2]], [1, -1], 20, bias=bias)
    found = searched(problem)
    assert found.status is SearchStatus.OPTIMAL
    assert found.candidates[0].value == pytest.approx(1, rel=1e-6)
