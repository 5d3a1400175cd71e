"""Multipliers of other states: what they prove by trees is true, and is made exact; what they do not is not claimed."""

from fractions import Fraction

import numpy as np
import pytest

from benchmarks.jobs.own_width import hidden_teacher
from tests.exact_states import posed
from verify.deciders.hidden.leaves import celled_leaf
from verify.deciders.hidden.networks import KnownNetworks
from verify.deciders.hidden.other_leaves import OtherLeaves
from verify.deciders.hidden.search import HiddenSearch
from verify.deciders.hidden.states import NeuronState
from verify.numbers.floats import float_near

F = Fraction


def best_of(problem):
    """What is known of a problem, with the multipliers of its best network as those of another leaf."""
    known = KnownNetworks(problem)
    known.started(None)
    others = OtherLeaves(known.points)
    others.add(np.array([float_near(known.champion[0].multipliers.get(i, F(0))) for i in range(len(problem.targets))]))
    return known, others


@pytest.mark.parametrize("seed", range(3))
def test_what_they_prove_the_checker_accepts(seed):
    problem = hidden_teacher(seed, 3, 2, 8, margin=False)
    known, others = best_of(problem)
    state = NeuronState(known.geometry, {})
    found = others.cells(state, 1e-3 * known.least)
    leaf = celled_leaf(known.geometry, state.cases, found)
    assert 1e-3 * known.least * (1 - 1e-6) <= float_near(leaf.value) <= known.least * (1 + 1e-9)
    assert float_near(leaf.value) == pytest.approx(found.value, rel=1e-6)
    assert others.cells(state, 1.001 * known.least) is None
    tried = {mask: len(own) for mask, own in others.directions.items()}
    assert others.cells(state, 1e9 * known.least) is None
    assert tried == {mask: len(own) for mask, own in others.directions.items()}  # the known directions say so


def test_the_best_network_of_one_neuron_is_proved_where_its_sides_are_decided():
    problem = posed([[1, 0], [1, 1]], [1, 0], "min-norm", [1])
    known, others = best_of(problem)
    state = NeuronState(known.geometry, {(0, 0): 1, (0, 1): -1})
    found = others.cells(state, 1 - 1e-7)
    assert found.value == pytest.approx(1, abs=1e-6)
    assert celled_leaf(known.geometry, state.cases, found).value > 1 - F(1, 10**6)


def test_nothing_is_tried_without_multipliers_or_with_a_free_bias():
    problem = posed([[1, 0], [1, 1]], [1, 0], "min-norm", [1])
    known, others = best_of(problem)
    assert OtherLeaves(known.points).cells(NeuronState(known.geometry, {}), 0.1) is None
    assert others.cells(NeuronState(known.geometry, {}), 0.0) is None
    others.add(others.multipliers[0].copy())
    assert len(others.multipliers) == 1


def test_fewer_states_are_looked_at_with_them(monkeypatch):
    problem = hidden_teacher(2, 3, 3, 8, margin=False)
    few = HiddenSearch(problem, sharpens=False).run()
    monkeypatch.setattr(OtherLeaves, "cells", lambda self, state, goal: None)
    many = HiddenSearch(problem, sharpens=False).run()
    assert few.nodes < many.nodes
    assert float_near(few.lower.bracket[0]) == pytest.approx(float_near(many.lower.bracket[0]), rel=3e-6)
