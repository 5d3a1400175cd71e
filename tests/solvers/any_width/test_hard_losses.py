"""Constraints with an output bias: exact optima, an independent program over all cells, penalties that bind."""

from fractions import Fraction

import numpy as np
import pytest

from solvers import clock
from solvers.any_width import hard_losses
from solvers.any_width.hard_losses import solve_hard
from solvers.instance import SearchStatus
from tests.losses import over_all_cells, random_constraints
from verify import Bias, Dataset, Goal, Network, Problem
from verify.deciders.global_optimality.instance import as_decay_instance


def line(mode, goal=Goal.MAX_MARGIN, targets=(-1, 1), points=(1, 3)):
    shape = Network.two_layer([[1]], [1]).architecture
    data = Dataset([[x] for x in points], targets)
    return Problem(data, shape, goal=goal, bias=Bias.NONE, output_bias=mode)


@pytest.mark.parametrize(
    ("problem", "value", "multipliers", "bias"),
    [
        (line(Bias.FREE), 1, [0.5, 0.5], -2),
        (line(Bias.PENALISED), 3, [3.5, 1.5], -2),
        (line(Bias.FREE, Goal.MIN_NORM, (0, 2)), 1, [-0.5, 0.5], -1),
        (line(Bias.PENALISED, Goal.MIN_NORM, (0, 2)), 1.5, [-2, 1], -1),
    ],
)
def test_exact_answers(problem, value, multipliers, bias):
    found = solve_hard(as_decay_instance(problem))
    assert found.status is SearchStatus.OPTIMAL
    assert found.candidates[0].value == pytest.approx(value, rel=1e-6)
    assert found.candidates[0].bias == pytest.approx(bias, rel=1e-6)
    assert found.proof.lower == pytest.approx(value, rel=1e-6)
    assert found.proof.multipliers / found.proof.beta == pytest.approx(multipliers, rel=1e-3)


@pytest.mark.parametrize("seed", range(60))
@pytest.mark.one_in(3)
def test_the_bracket_holds_the_optimum_over_all_cells(seed):
    problem = random_constraints(np.random.default_rng(seed))
    wanted = over_all_cells(problem, "")
    if wanted is None:
        return
    found = solve_hard(as_decay_instance(problem))
    upper, lower = found.candidates[0].value, found.proof.lower
    assert lower <= wanted * (1 + 1e-6) + 1e-7
    if wanted > 1e-6:
        assert wanted * (1 - 1e-6) <= upper <= lower * (1 + 2e-6)


def test_a_penalty_that_binds_is_raised(monkeypatch):
    """The multipliers are 7/2 and 3/2: with the penalty 2 a network that does not fit is better."""
    monkeypatch.setattr(hard_losses, "PENALTIES", (2.0, 100.0))
    found = solve_hard(as_decay_instance(line(Bias.PENALISED)))
    assert found.status is SearchStatus.OPTIMAL
    assert found.candidates[0].value == pytest.approx(3, rel=1e-6)
    monkeypatch.setattr(hard_losses, "PENALTIES", (2.0,))
    found = solve_hard(as_decay_instance(line(Bias.PENALISED)))
    assert found.status is SearchStatus.STALLED
    assert found.candidates[0].value < 2.9


def test_a_time_limit_ends_it():
    found = solve_hard(as_decay_instance(line(Bias.FREE)), deadline=clock.now())
    assert found.status in (SearchStatus.TIME, SearchStatus.OPTIMAL)


def test_targets_of_any_size():
    """Targets times 2^20 make the optimum as many times larger; multipliers of min-norm stay."""
    scale = 2**20
    found = solve_hard(as_decay_instance(line(Bias.FREE, Goal.MIN_NORM, (0, 2 * scale))))
    assert found.candidates[0].value == pytest.approx(scale, rel=1e-6)
    far = solve_hard(as_decay_instance(line(Bias.FREE, points=(Fraction(1, scale), Fraction(3, scale)))))
    assert far.candidates[0].value == pytest.approx(scale, rel=1e-6)
