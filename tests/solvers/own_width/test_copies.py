"""States that lie in others when neurons are exchanged: which do, where they are split, and that this saves states."""

import itertools

import numpy as np
import pytest

from benchmarks.jobs.own_width import teacher
from solvers.own_width import search as module
from solvers.own_width.copies import exchanged, followed, original
from solvers.own_width.nodes import WidthNode
from solvers.own_width.search import search
from solvers.own_width.states import children_of


def split(masks, node, split):
    node.split = split
    left, right = (WidthNode(known, 0.0, {}, parent=node) for known in children_of(masks, node.known, split))
    node.children = left, right
    return left, right


def lies_in(masks, above, below):
    """The same by all permutations."""
    return any(
        all(masks[p[j]] == masks[j] for j in range(len(masks)))
        and all(below.get((p[j], i)) == side for (j, i), side in above.items())
        for p in itertools.permutations(range(len(masks)))
    )


def test_neurons_are_exchanged_as_by_all_permutations():
    random = np.random.default_rng(0)
    found = 0
    for _ in range(400):
        masks = sorted(random.integers(0, 2, 3).tolist())
        above, below = (
            {
                (int(j), None if i == 2 else int(i)): int(random.choice([1, -1]))
                for j, i in random.integers(0, 3, (m, 2))
            }
            for m in (2, 7)
        )
        places = exchanged(masks, above, below)
        assert (places is not None) == lies_in(masks, above, below)
        if places is not None:
            found += 1
            assert sorted(places) == [0, 1, 2]
            assert all(masks[m] == masks[j] for j, m in enumerate(places))
            assert all(below[places[j], i] == side for (j, i), side in above.items())
    assert 20 < found < 380


def test_a_copy_lies_to_the_right_of_what_it_is_a_copy_of():
    masks = (0, 0)
    root = WidthNode({}, 0.0, {})
    left, right = split(masks, root, (0, 3))
    both, one = split(masks, left, (0, 4))
    copy, rest = split(masks, one, (1, 3))
    again, other = split(masks, copy, (1, 4))
    assert again.known == {(0, 3): 1, (0, 4): -1, (1, 3): 1, (1, 4): 1}
    assert original(masks, again) is both
    assert all(original(masks, node) is None for node in (root, left, right, both, one, copy, rest, other))
    assert original((0, 1), again) is None  # neurons that see other columns are not exchanged


def test_a_copy_is_split_as_what_it_lies_in():
    masks = (0, 0, 0)
    root = WidthNode({}, 0.0, {})
    left, _ = split(masks, root, (0, 3))
    both, one = split(masks, left, (0, 4))
    above, below = split(masks, both, (1, 5))
    copy, _ = split(masks, one, (1, 3))
    again, _ = split(masks, copy, (1, 4))
    assert original(masks, again) is both
    end, wanted = followed(masks, again, both)
    assert end is both
    assert wanted in {(0, 5), (2, 5)}  # one of those that stand for neurons 1 and 2
    on, off = split(masks, again, wanted)
    assert followed(masks, on, both) == (above, None)
    end, wanted = followed(masks, off, both)
    assert end is both
    assert wanted in {(0, 5), (2, 5)}  # the other one
    on, off = split(masks, off, wanted)
    assert followed(masks, on, both) == (above, None)
    assert followed(masks, off, both) == (below, None)


@pytest.mark.parametrize(
    ("seed", "columns", "width", "points", "bias"), [(1, 4, 3, 10, False), (0, 3, 2, 8, False), (1, 2, 3, 10, False)]
)
@pytest.mark.one_in(2)
def test_fewer_states_are_looked_at_and_the_same_is_proved(seed, columns, width, points, bias, monkeypatch):
    instance = teacher(seed, columns, width, points, margin=False, bias=bias)
    few = search(instance, [0] * width, tol=1e-6)
    monkeypatch.setattr(module, "original", lambda masks, node: None)
    many = search(instance, [0] * width, tol=1e-6)
    assert few.status == many.status == "optimal"
    assert few.lower == pytest.approx(many.lower, rel=2e-6)
    assert few.nodes <= many.nodes
    assert few.nodes < many.nodes or columns < 4


@pytest.mark.parametrize("most", [3, 8, 14])
@pytest.mark.one_in(2)
def test_what_is_left_open_is_bounded_as_what_it_is_a_copy_of(most, monkeypatch):
    instance = teacher(1, 4, 3, 10, margin=False)
    cut = search(instance, [0] * 3, tol=1e-6, max_nodes=most)
    assert cut.status == "nodes"
    assert len(cut.tree) > 1
    monkeypatch.setattr(module, "original", lambda masks, node: None)
    many = search(instance, [0] * 3, tol=1e-6, max_nodes=most)
    assert many.lower * (1 - 1e-3) <= cut.lower <= min(atoms.value for atoms in many.networks) * (1 + 1e-9)
