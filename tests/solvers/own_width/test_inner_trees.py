"""States in which nothing fits: what the inner trees say, against sampled directions and all tuples of cells."""

import numpy as np
import pytest

from solvers.any_width.scaling import scaled
from solvers.instance import ProblemInstance
from solvers.own_width.farkas import CaseCell, FarkasProgram, StateNothing, excluding
from solvers.own_width.inner_trees import excluding_by_cells
from solvers.own_width.search import search
from solvers.own_width.states import StateCase, cases_of
from solvers.pricing.dual_function import evaluate
from tests.solvers.own_width.cells import best_by_cells

STEPS = ProblemInstance(  # two of one sign and one of the other fit four pieces at most, and these are five
    rows=[[x, 1.0] for x in (-2, -1.5, -1, -0.5, 0, 0.25, 1, 1.5, 2.25)],
    targets=[1, 1, 1, -1, -1, -1, 1, 1, -1],
    margin=True,
)
ALL = np.arange(9)


def never():
    """No deadline."""


def leaves_of(nothing):
    """Each leaf of the inner trees with its case, its sides and its slopes."""
    for case, tree in zip(nothing.cases, nothing.trees, strict=True):
        waiting = [dict(case.cone)]
        for node in tree:
            sides = waiting.pop()
            if isinstance(node, int):
                waiting += [{**sides, node: -1}, {**sides, node: 1}]
            else:
                yield case, sides, node
        assert waiting == []


def examined(instance, nothing):
    """D > 0 of the multipliers, p = 0 in each cell with slopes that it allows, and s h(u) <= 0 in each cone."""
    c = nothing.multipliers * instance.targets if instance.margin else nothing.multipliers
    assert not instance.margin or nothing.multipliers.min() >= 0
    assert c @ instance.targets > 0
    size = np.abs(c).max()
    for case, sides, slopes in leaves_of(nothing):
        e = (1 - instance.slope) * case.sign * c
        on, off = (np.array([sides.get(i, 0) == side for i in range(len(c))]) for side in (1, -1))
        assert (slopes >= e - 1e-7 * size)[on].all()
        assert (slopes <= 1e-7 * size)[off].all()
        assert ((slopes >= e - 1e-7 * size) & (slopes <= 1e-7 * size))[~on & ~off].all()
        p = (instance.slope * case.sign * c + slopes) @ instance.rows[:, instance.masks[case.mask]]
        assert np.abs(p).max() <= 1e-6 * size
    for case in nothing.cases:
        rows = instance.rows[:, instance.masks[case.mask]]
        u = np.random.default_rng(0).standard_normal((2000, rows.shape[1]))
        inside = u[[all(side * (rows[i] @ v) >= 0 for i, side in case.cone) for v in u]]
        if len(inside):
            assert evaluate(rows, case.sign * c, instance.slope, inside).max() <= 1e-6 * size


def test_cells_exclude_a_state_that_one_leaf_for_each_case_does_not():
    problem = scaled(STEPS)
    known = {(0, None): 1, (1, None): 1, (2, None): -1, (2, 2): -1, (2, 5): 1}
    cases = list(cases_of([0, 0, 0], known))
    assert excluding(problem, cases) is None
    found = excluding_by_cells(problem, cases, ALL, never)
    assert found is not None
    examined(STEPS, found)
    assert max(len(tree) for tree in found.trees) > 1
    assert sum(len(tree) for tree in found.trees) <= 30


def test_no_cells_exclude_a_state_in_which_something_fits():
    problem = scaled(STEPS)
    assert excluding_by_cells(problem, list(cases_of([0, 0, 0], {})), ALL, never) is None  # as many pieces as wanted
    assert excluding_by_cells(problem, [StateCase(0, 1), StateCase(0, -1)], np.arange(0), never) is None


def test_a_deadline_ends_it():
    def late():
        raise TimeoutError

    with pytest.raises(TimeoutError):
        excluding_by_cells(scaled(STEPS), [StateCase(0, 1)], ALL, late)


def test_what_is_missing_is_help_for_free():
    """One neuron of sign + and the labels +, - at x = 1, -1: the first is helped, the second cannot be."""
    problem = scaled(ProblemInstance(rows=[[1.0], [-1.0]], targets=[1, 1], margin=True))
    most, missing = FarkasProgram(problem, [CaseCell(StateCase(0, 1), {})], np.arange(2)).most()
    assert most == pytest.approx(0, abs=1e-9)
    assert missing.free.max() > 0.1  # one direction is on at one point only
    most, missing = FarkasProgram(problem, [CaseCell(StateCase(0, 1), {0: 1, 1: -1})], np.arange(2)).most()
    assert most == pytest.approx(1)


def drawn(seed):
    """(instance, masks): small, of both goals, often with nothing that fits."""
    random = np.random.default_rng([seed, 3])
    margin, columns, n = bool(random.integers(2)), int(random.integers(1, 4)), int(random.integers(4, 7))
    rows = random.integers(-3, 4, (n, columns)).astype(float)
    rows[~rows.any(axis=1), 0] = 1.0
    targets = random.choice([-1.0, 1.0], n) if margin else random.integers(-2, 3, n).astype(float)
    return ProblemInstance(rows=rows, targets=targets, margin=margin, slope=float(random.choice([0.0, 0.25]))), [0]


@pytest.mark.parametrize("seed", range(16))
@pytest.mark.one_in(2)
def test_nothing_is_excluded_that_fits(seed):
    instance, masks = drawn(seed)
    if not instance.targets.any():
        return
    found = search(instance, masks, max_nodes=60)
    is_excluded = bool(found.tree) and np.isinf(found.lower)
    assert is_excluded == np.isinf(best_by_cells(instance, masks))
    for leaf in found.tree:
        if isinstance(leaf, StateNothing):
            examined(instance, leaf)


def test_a_state_whose_proof_is_not_accepted_is_searched_on():
    accepted = search(STEPS, [0, 0, 0], max_nodes=60)
    assert accepted.status == "optimal"
    assert np.isinf(accepted.lower)
    assert accepted.nodes <= 40
    refused = []

    def excludes(nothing):
        is_shared = max(len(tree) for tree in nothing.trees) > 1
        refused.append(is_shared)
        return not is_shared

    found = search(STEPS, [0, 0, 0], max_nodes=accepted.nodes + 10, excludes=excludes)
    assert any(refused)
    assert found.nodes > accepted.nodes
