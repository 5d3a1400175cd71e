"""The master of a loss against the exact optimum of its columns, and what its multipliers are."""

from fractions import Fraction

import numpy as np
import pytest

from solvers.any_width.loss_master import solve_loss_master
from solvers.any_width.master import Column
from solvers.instance import Status
from solvers.programs.restricted import all_columns
from tests.losses import PARAMETERS, over_all_cells, posed, random_problem
from verify.deciders.global_optimality.instance import as_decay_instance


def every_column(instance):
    """A column for each cell and sign."""
    return [Column(c.mask, c.output, c.pattern >= 0) for c in all_columns(instance.data)]


@pytest.mark.parametrize("name", PARAMETERS)
@pytest.mark.parametrize("seed", range(4))
def test_over_all_cells_it_is_the_optimum(name, seed):
    problem, _ = random_problem(np.random.default_rng(seed), name)
    instance = as_decay_instance(problem)
    found = solve_loss_master(instance, every_column(instance))
    assert found.status is not Status.FAILED
    assert found.value == pytest.approx(over_all_cells(problem, name), rel=1e-6, abs=1e-7)


@pytest.mark.parametrize("name", PARAMETERS)
@pytest.mark.parametrize("seed", range(4))
def test_its_multipliers_are_a_dual_point_without_a_gap(name, seed):
    problem, _ = random_problem(np.random.default_rng(seed + 10), name)
    instance = as_decay_instance(problem)
    found = solve_loss_master(instance, every_column(instance))
    c, y = found.multipliers, instance.data.targets
    assert np.array_equal(instance.loss.admissible(y, c), c)
    assert float(instance.loss.duals(y, c).sum()) == pytest.approx(found.value, rel=1e-5, abs=1e-6)


@pytest.mark.parametrize(("name", "c"), [("hinge", 0.5), ("absolute", 0.5), ("huber", 0.25), ("squared", 0.5)])
def test_multipliers_by_hand(name, c):
    """x = 2, decay 1: c x is the price, or c its end."""
    problem = posed(name, [[2]], [1 if PARAMETERS[name][0] else Fraction(3)])
    instance = as_decay_instance(problem)
    found = solve_loss_master(instance, [Column(0, 1, np.array([True]))])
    assert found.multipliers == pytest.approx([c], abs=1e-7)
    assert bool(name == "huber") is bool(found.multipliers[0] == 0.25)
