"""Leaves that prove the best objective itself, where a bound by cells has floats' room below it."""

from fractions import Fraction

import numpy as np
import pytest

from benchmarks.jobs.own_width import hidden_teacher
from solvers.hidden.inner_cells import ByCells, by_cells, without_chords
from tests.exact_states import posed
from tests.verify.deciders.hidden.test_search import on_gaussian_points
from verify import Network
from verify.checker.statement import pattern
from verify.deciders.hidden.networks import KnownNetworks
from verify.deciders.hidden.search import HiddenSearch
from verify.deciders.hidden.sharp import sharp_leaf
from verify.deciders.hidden.states import NeuronState
from verify.deciders.proposal import certified
from verify.problem.problem import objective

F = Fraction


def at_root(problem):
    """What is known, the state in which nothing is decided, and its bound by cells."""
    known = KnownNetworks(problem)
    known.start(None)
    state = NeuronState(known.geometry, {})
    points = np.arange(len(problem.targets))
    return known, state, by_cells(known.points, state.floats, state.cell, points, float("inf"), lambda: None)


@pytest.mark.parametrize(("columns", "width", "points"), [(2, 2, 10), (3, 2, 8)])
def test_a_bound_by_cells_is_made_the_best_objective(columns, width, points):
    known, state, cells = at_root(on_gaussian_points(0, columns, width, points, "min-norm"))
    assert cells.value == pytest.approx(float(known.upper), rel=1e-6)
    leaf = known.sharp_leaf(state, cells, lambda: None)
    assert leaf.value == known.upper
    leaf.node.value(known.problem, state.cases)


def test_another_network_than_the_best_has_no_such_leaf():
    problem = on_gaussian_points(0, 2, 2, 10, "min-norm")
    known, state, cells = at_root(problem)
    best = known.found[0][1]
    longer = Network(best.architecture, ([F(5, 4) * z for z in best.parameters[0]], best.parameters[1]))
    for network, is_best in ((best, True), (longer, False)):
        sides = dict(enumerate(np.array(pattern(problem, network), np.int8)))
        owners = [[0], [1]] if len(state.cases) == 2 else [[0, 1]]
        cut = without_chords(known.points, cells, state.cell, [[sides[j] for j in own] for own in owners], lambda: None)
        leaf = sharp_leaf(known.geometry, state.cases, cut, network, owners, sides)
        assert (leaf is not None) is is_best


def test_cells_of_a_direction_are_cut_until_no_chord_is_left_in_them():
    problem = on_gaussian_points(0, 2, 2, 10, "min-norm")
    known, state, cells = at_root(problem)
    sides = np.array(pattern(problem, known.found[0][1]), np.int8)
    owners = [[0], [1]] if len(state.cases) == 2 else [[0, 1]]
    inside = [[sides[j] for j in own] for own in owners]
    cut = without_chords(known.points, cells, state.cell, inside, lambda: None)
    assert isinstance(cut, ByCells)
    assert cut.value == pytest.approx(cells.value, rel=1e-6)
    sizes = np.abs(cut.found.multipliers)
    lifts = np.where(sizes > 1e-6 * sizes.max(), cut.found.multipliers, 0.0)
    for q, tree in enumerate(cut.trees):
        for node in tree:
            if not isinstance(node, int) and any((node.floats.cone * z >= 0).all() for z in inside[q]):
                assert not ((node.floats.cone == 0) & (node.floats.sign * lifts > 0)).any()


@pytest.mark.parametrize(("goal", "columns", "width", "points"), [("min-norm", 2, 3, 10), ("max-margin", 3, 2, 20)])
def test_searches_end_with_both_ends_equal_after_few_states(goal, columns, width, points):
    problem = on_gaussian_points(1, columns, width, points, goal)
    found = HiddenSearch(problem).run()
    assert certified(problem, None, found.lower) is not None
    assert found.lower.bracket[0] == objective(problem, found.networks[0])
    assert found.nodes <= 40
    assert found.sharpening <= 20


@pytest.mark.parametrize(
    ("seed", "columns", "width", "points", "margin", "bias"),
    [(1, 4, 2, 10, False, True), (1, 3, 3, 8, True, False), (1, 2, 4, 10, False, True)],
)
def test_cells_without_a_neuron_need_no_room(seed, columns, width, points, margin, bias):
    """At the slopes of the guess a cell that holds no neuron costs as much as one that does, but for rounding."""
    problem = hidden_teacher(seed, columns, width, points, margin=margin, bias=bias)
    found = HiddenSearch(problem).run()
    assert certified(problem, None, found.lower) is not None
    assert found.lower.bracket[0] == objective(problem, found.networks[0])
    assert found.sharpening == 0


def test_a_tolerance_and_a_zero_neuron_are_no_obstacle():
    problem = posed([[1, 0], [0, 1], [1, 1]], [1, 1, 2], "min-norm", [1, 1, -1]).within(F(1, 10))
    found = HiddenSearch(problem).run()
    assert certified(problem, None, found.lower) is not None
    assert found.lower.bracket[0] == objective(problem, found.networks[0])
