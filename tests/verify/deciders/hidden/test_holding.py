"""Pieces of a relaxed network in the states below it: where they lie, what they cost, and that no bound is missed."""

import numpy as np
import pytest
from scipy.optimize import minimize

from benchmarks.jobs.own_width import hidden_teacher
from solvers.hidden.holding import least_cost, lying_in
from tests.exact_states import posed
from verify.deciders.hidden import holding, search
from verify.deciders.hidden.branching import decided
from verify.deciders.hidden.geometry import Geometry
from verify.deciders.hidden.holding import held_in
from verify.deciders.hidden.search import HiddenSearch
from verify.deciders.hidden.states import NeuronState
from verify.numbers.floats import float_near


def test_what_has_one_place_is_there():
    cost, shares = least_cost(np.array([3.0, 1.0]), np.array([[True, False], [False, True]]), np.array([1.0, 2.0]))
    assert cost == pytest.approx(9 / 2 + 1 / 4)
    assert shares.tolist() == [[1, 0], [0, 1]]


def test_what_has_two_places_is_spread_as_evenly_as_neurons_are():
    cost, shares = least_cost(np.array([3.0]), np.array([[True, True]]), np.array([1.0, 2.0]))
    assert cost == pytest.approx(9 / 6)  # of all three neurons
    assert shares[0] == pytest.approx([1 / 3, 2 / 3])
    cost, shares = least_cost(np.array([9.0, 1.0]), np.array([[True, False], [True, True]]), np.array([1.0, 1.0]))
    assert cost == pytest.approx(81 / 2 + 1 / 2)
    assert shares[1] == pytest.approx([0, 1])


@pytest.mark.parametrize("seed", range(8))
def test_no_other_shares_cost_less(seed):
    random = np.random.default_rng(seed)
    sizes, weights = random.random(4), random.choice([1.0, 2.0, 4.0], 3)
    places = random.random((4, 3)) < 0.6
    places[np.arange(4), random.integers(0, 3, 4)] = True
    cost, shares = least_cost(sizes, places, weights)
    assert shares.sum(axis=1) == pytest.approx(np.ones(4))
    assert (shares[~places] == 0).all()
    assert (shares >= 0).all()
    other = minimize(
        lambda z: (((sizes @ z.reshape(4, 3)) ** 2) / (2 * weights)).sum(),
        shares.ravel() * 0.5 + 0.5 * (places / places.sum(axis=1)[:, None]).ravel(),
        bounds=[(0, 1 if place else 0) for place in places.ravel()],
        constraints={"type": "eq", "fun": lambda z: z.reshape(4, 3).sum(axis=1) - 1},
        method="SLSQP",
    )
    assert cost <= other.fun * (1 + 1e-6)
    assert cost == pytest.approx(other.fun, rel=1e-3)


def test_pieces_of_a_state_in_those_below():
    problem = posed([[1, 0], [0, 1]], [1, 1], "min-norm", [1, 1])
    geometry = Geometry(problem)
    root = NeuronState(geometry, {})
    left, right = (NeuronState(geometry, known) for known in decided(problem, {}, (0, 0)))
    pieces = [np.array([[3.0, 1.0], [-1.0, 2.0], [1e-12, 1e-12]])]
    sizes = np.linalg.norm(pieces[0][:2], axis=1)
    found = held_in(root, root, pieces)
    assert found.cost == pytest.approx(sizes.sum() ** 2 / 4)  # V = 2
    assert len(found.pieces[0]) == 2
    assert held_in(root, right, pieces) is None  # where all are off at the first point
    found = held_in(root, left, pieces)
    assert [len(own) for own in found.pieces] == [1, 2]  # the first piece is longer than the other and lies in both
    assert found.cost == pytest.approx(sizes.sum() ** 2 / 4)
    on, case = np.array([1.0, -1.0]), left.floats[0]
    assert lying_in(on, case)
    assert not lying_in(-on, case)


def test_what_is_not_looked_at_is_below_the_goal(monkeypatch):
    split, bounds = [], []
    splits = holding.HeldPieces.splits

    def noted(self, node, forced, points, goal):
        found = splits(self, node, forced, points, goal)
        if found:
            split.append((node.state, goal))
        return found

    monkeypatch.setattr(search.HeldPieces, "splits", noted)
    problem = hidden_teacher(2, 3, 3, 8, margin=False)
    HiddenSearch(problem, sharpens=False).run()
    assert split
    monkeypatch.setattr(search.HeldPieces, "splits", lambda *_: False)
    for state, goal in split[:3]:
        node = search.SearchNode(state)
        known = HiddenSearch(problem, sharpens=False)
        known.known.least = goal
        known._bound(node)
        node.cells = None
        known._is_closed_by_cells(node)
        bounds.append(node.own / goal)
    assert max(bounds) < 1


@pytest.mark.long
def test_fewer_states_are_looked_at_with_them(monkeypatch):
    problem = hidden_teacher(2, 3, 3, 8, margin=False)
    few = HiddenSearch(problem, sharpens=False).run()
    monkeypatch.setattr(search.HeldPieces, "splits", lambda *_: False)
    many = HiddenSearch(problem, sharpens=False).run()
    assert few.nodes < many.nodes
    assert float_near(few.lower.bracket[0]) == pytest.approx(float_near(many.lower.bracket[0]), rel=3e-6)
