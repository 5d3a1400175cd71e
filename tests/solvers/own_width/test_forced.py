"""Decisions that leave no choice, against all signs and sides of a few neurons."""

from itertools import product

import numpy as np
import pytest

from benchmarks.jobs.own_width import teacher
from solvers.own_width.forced import Serving
from solvers.own_width.search import search
from solvers.own_width.states import children_of


def serving(wanted, neurons=2, able=None):
    masks = (0,) * neurons
    seen = np.ones((neurons, len(wanted)), bool) if able is None else np.array(able, bool)
    return Serving(seen, np.array(wanted, np.int8), lambda known, split: children_of(masks, known, split))


def test_one_neuron_has_the_sign_of_the_targets_and_is_on_at_all_of_them():
    assert serving([1, 1], 1).steps({}, [1, 0]) == [((0, None), 1), ((0, 1), 1), ((0, 0), 1)]
    assert serving([-1, 0], 1).steps({}, [0, 1]) == [((0, None), -1), ((0, 0), 1)]
    assert serving([1, -1], 1).unserved({(0, None): 1}) == 1
    assert serving([0, 0], 1).steps({}, [0, 1]) == []


def test_two_that_are_alike_leave_one_choice_for_each_sign():
    assert serving([1, -1]).steps({}, [0, 1]) == [((0, None), 1), ((1, None), -1), ((0, 0), 1), ((1, 1), 1)]


def test_neurons_that_are_not_alike_leave_a_choice():
    known = {(0, None): 1, (1, None): 1, (0, 0): 1}
    assert serving([1, 1]).steps(known, [1]) == []
    assert serving([1, 1]).steps({**known, (1, 1): -1}, [1]) == [((0, 1), 1)]
    assert serving([1, 1], able=[[1, 1], [1, 0]]).steps(known, [1]) == [((0, 1), 1)]


@pytest.mark.parametrize("seed", range(20))
def test_what_is_left_out_serves_no_network(seed):
    """Sides and signs of all neurons that meet what is wanted are on the side of each step, when alike ones change."""
    random = np.random.default_rng(seed)
    neurons, points = int(random.integers(1, 4)), 2
    asked = serving(random.integers(-1, 2, points), neurons)
    known = {}
    for (j, point), side in asked.steps(known, range(points)):
        left, right = asked.children(known, (j, point))
        other = right if side > 0 else left
        for signs in product((1, -1), repeat=neurons):
            for sides in product((1, -1), repeat=neurons * points):
                whole = {(m, None): sign for m, sign in enumerate(signs)}
                whole |= {(m, i): sides[m * points + i] for m in range(neurons) for i in range(points)}
                if all(whole[split] == value for split, value in other.items()):
                    assert any(
                        asked.wanted[i] and not any(
                            signs[m] == asked.wanted[i] and whole[m, i] > 0 for m in range(neurons)
                        )
                        for i in range(points)
                    )  # fmt: skip
        known = left if side > 0 else right


def test_what_leaves_no_choice_takes_no_state():
    found = search(teacher(0, 2, 1, 30, margin=True), [0], tol=1e-6)
    assert found.status == "optimal"
    assert found.nodes <= 3 < len(found.tree)
