"""The children of a split, with what points leave no choice about: whole trees whose other ends are excluded."""

from fractions import Fraction

import pytest

from tests.exact_states import posed
from tests.verify.deciders.hidden.test_search import best_of_all_sides, drawn
from verify.deciders.hidden.forcing import ForcedChildren
from verify.deciders.hidden.networks import KnownNetworks
from verify.deciders.hidden.nodes import SearchNode
from verify.deciders.hidden.search import HiddenSearch
from verify.deciders.hidden.states import NeuronState
from verify.deciders.proposal import certified
from verify.problem.problem import objective

F = Fraction


def root_of(problem):
    known = KnownNetworks(problem)
    node = SearchNode(NeuronState(known.geometry, {}), support=frozenset(range(len(problem.targets))))
    return ForcedChildren(known.geometry), node


def test_a_neuron_that_alone_has_a_sign_is_on_at_all_its_points():
    problem = posed([[1, 0], [1, 1], [1, 2], [2, 1]], [1, 2, -1, 1], "min-norm", [1, -1])
    forced, node = root_of(problem)
    left, right = forced.children(node, (0, 0))
    assert right.leaf.value is None
    (end,) = left.open_ends()
    assert end.state.known == {(0, 0): 1, (0, 1): 1, (1, 2): 1, (0, 3): 1}
    assert left.split is not None
    assert end.parent is not None


def test_within_the_tolerance_a_target_asks_for_nothing():
    problem = posed([[1, 0], [1, 1]], [1, F(1, 10)], "min-norm", [1, -1]).within(F(1, 5))
    forced, node = root_of(problem)
    left, _ = forced.children(node, (0, 0))
    assert left.open_ends() == [left]


@pytest.mark.parametrize("goal", ["max-margin", "min-norm"])
def test_two_that_are_alike_leave_one_choice_and_two_that_are_not_leave_two(goal):
    rows, targets = [[1, 0], [0, 1], [1, 1]], [1, 1, -1]
    for v, is_forced in (([1, 1, -1], True), ([1, 2, -1], False)):
        forced, node = root_of(posed(rows, targets, goal, v))
        _, right = forced.children(node, (0, 0))
        assert (right.leaf is not None) is is_forced


@pytest.mark.parametrize("seed", range(40, 70))
@pytest.mark.one_in(3)
def test_searches_still_find_the_best_of_all_sides(seed):
    problem = drawn(seed)
    found, best = HiddenSearch(problem).run(), best_of_all_sides(problem)
    proof = found.lower or found.nothing
    assert certified(problem, None, proof) is not None
    if found.nothing is None:
        assert float(objective(problem, found.networks[0])) == pytest.approx(best, rel=1e-5, abs=1e-7)
        assert float(found.lower.bracket[0]) <= best * (1 + 1e-6) + 1e-7
    else:
        assert best == float("inf")
