"""The search at a width against brute force, and its parts; proofs are made exact and checked elsewhere."""

import numpy as np
import pytest

from benchmarks.jobs.own_width import teacher
from solvers import clock
from solvers.any_width.scaling import scaled
from solvers.instance import ProblemInstance
from solvers.own_width.pricing import CasePricing
from solvers.own_width.records import StateProof
from solvers.own_width.search import search
from solvers.own_width.states import StateCase, cases_of, children_of
from solvers.pricing.dual_function import evaluate
from tests.solvers.own_width.cells import best_by_cells
from tests.timing import cpu_seconds

TOL = 1e-6
WASTE = ProblemInstance(rows=[[1, 0.25], [-1, 0.25]], targets=[1, 1], margin=True)  # arXiv:2110.02732, Theorem 3.2
TWICE = ProblemInstance(
    rows=[[1, 0.25, 0, 0], [-1, 0.25, 0, 0], [0, 0, 1, 0.25], [0, 0, -1, 0.25]], targets=[1] * 4, margin=True
)


def drawn(seed):
    """(instance, mask classes of the neurons): small ones of every kind."""
    random = np.random.default_rng(seed)
    margin, columns = bool(random.integers(2)), int(random.choice([1, 2, 2, 3]))
    n = int(random.integers(2, 6 if columns < 3 else 5))
    width = int(random.integers(1, 3))
    rows = random.integers(-3, 4, (n, columns)).astype(float)
    rows[~rows.any(axis=1), 0] = 1.0
    targets = random.choice([-1.0, 1.0], n) if margin else random.integers(-2, 3, n).astype(float)
    masks = [np.arange(columns)]
    if columns > 1 and random.random() < 0.25:
        masks = [np.arange(1), np.arange(columns)]
    slope = float(random.choice([0.0, 0.0, 0.5]))
    return (
        ProblemInstance(rows=rows, targets=targets, slope=slope, masks=tuple(masks), margin=margin),
        sorted(int(mask) for mask in random.integers(0, len(masks), width)),
    )


def agrees(seed, max_nodes=400):
    """Whether the search finds the best value by cells, and how many states that took; None where all targets are 0."""
    instance, masks = drawn(seed)
    if not instance.targets.any():
        return None
    truth = best_by_cells(instance, masks)
    found = search(instance, masks, tol=TOL, max_nodes=max_nodes if np.isfinite(truth) else 25)
    upper = min((atoms.value for atoms in found.networks), default=np.inf)
    assert upper >= truth * (1 - 1e-6), (seed, upper, truth)
    assert found.lower <= truth * (1 + 1e-6), (seed, found.lower, truth)
    if not np.isfinite(truth):
        assert found.networks == (), seed
        return True
    assert found.status == "optimal", (seed, found.status, found.nodes)
    assert found.lower * (1 + TOL) >= upper * (1 - 1e-7), (seed, found.lower, upper)
    assert upper <= truth * (1 + 2e-6), (seed, upper, truth)
    return True


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.one_in(2)
def test_the_search_agrees_with_all_tuples_of_cells(seed):
    agrees(seed)


# ------------------------------------------------------------------------------------------------- states


def test_neurons_that_are_alike_are_decided_together_on_the_right():
    masks = (0, 0, 1)
    left, right = children_of(masks, {}, (0, 3))
    assert left == {(0, 3): 1}
    assert right == {(0, 3): -1, (1, 3): -1}
    assert cases_of(masks, left) == {
        StateCase(0, 1, ((3, 1),)): [0], StateCase(0, -1, ((3, 1),)): [0],
        StateCase(0, 1): [1], StateCase(0, -1): [1], StateCase(1, 1): [2], StateCase(1, -1): [2],
    }  # fmt: skip
    left, right = children_of(masks, right, (1, None))
    assert left[1, None] == 1
    assert (0, None) not in left
    assert {right[j, None] for j in (0, 1)} == {-1}
    assert list(cases_of(masks, right)) == [StateCase(0, -1, ((3, -1),)), StateCase(1, 1), StateCase(1, -1)]
    assert StateCase(0, 1, ((3, 1),)).contains({3: 1, 4: -1})
    assert not StateCase(0, 1, ((3, 1),)).contains({3: -1})


# ------------------------------------------------------------------------------------------------- pricing in a cone


@pytest.mark.parametrize("columns", [2, 3, 4])
@pytest.mark.parametrize("slope", [0.0, 0.5])
def test_pricing_in_a_cone_is_above_all_that_is_in_it(columns, slope):
    random = np.random.default_rng(columns)
    rows, weights = random.standard_normal((6, columns)), random.standard_normal(6)
    weights[[0, 1, 3]] = 0.0, 1.0, 1.0  # the first is decided, without a multiplier
    problem = scaled(ProblemInstance(rows=rows, targets=np.ones(6), slope=slope, margin=False))
    case = StateCase(0, 1, ((0, 1), (2, -1)))
    pricing = CasePricing.of(problem, case, weights, np.arange(6))
    directions, values = pricing.maxima(np.empty((0, columns)), random)
    sample = random.standard_normal((20000, columns))
    sample /= np.linalg.norm(sample, axis=1)[:, None]
    inside = sample[(sample @ pricing.rows[0] >= 0) & (sample @ pricing.rows[2] <= 0)]
    most = float(evaluate(pricing.rows, pricing.weights, slope, inside).max())
    assert values[0] >= most - 1e-9
    assert pricing.contains(directions).all()
    assert pricing.contains(inside).all()
    below = pricing.tree(0.9 * float(values[0]), None)
    assert below.nodes is None
    assert pricing.contains(below.violators).all()
    assert (evaluate(pricing.rows, pricing.weights, slope, below.violators) > 0.9 * values[0]).all()
    above = pricing.tree(float(values[0]) * (1 + 1e-7), None)
    assert above.nodes is not None
    assert above.bound <= float(values[0]) * (1 + 1e-7)
    assert len(above.violators) == 0


# ------------------------------------------------------------------------------------------------- the search


@pytest.mark.one_in(2)
@pytest.mark.parametrize(("seed", "points"), [(0, 10), (1, 10), (2, 12)])
def test_the_best_network_is_known_before_the_first_state(seed, points):
    """Walks over kinks find it where descents alone end 1.1 to 2.3 times as high."""
    instance = teacher(seed, 4, 3, points, margin=False, bias=True)
    start, whole = search(instance, [0] * 3, tol=TOL, max_nodes=0), search(instance, [0] * 3, tol=TOL)
    assert start.nodes == 0
    assert start.networks[0].value == pytest.approx(whole.networks[0].value, rel=1e-6)


def test_two_neurons_are_better_than_the_best_one():
    one, two = search(WASTE, [0], tol=TOL), search(WASTE, [0, 0], tol=TOL)
    assert one.networks[0].value == pytest.approx(4, rel=1e-6)
    assert two.networks[0].value == pytest.approx(8 / 17**0.5, rel=1e-6)
    assert (one.status, two.status) == ("optimal", "optimal")
    assert one.lower > two.networks[0].value


def test_what_is_known_is_not_searched_again():
    found = search(WASTE, [0], upper=4.0, tol=TOL)
    assert found.networks == () or found.networks[0].value == pytest.approx(4)
    assert found.lower * (1 + TOL) >= 4


def test_a_state_that_is_left_open_keeps_a_bound():
    found = search(TWICE, [0], tol=TOL, max_nodes=1)
    assert found.status == "nodes"
    assert found.nodes == 1
    assert found.left > 0
    assert 8 * 2**0.5 / 17**0.5 <= found.lower * (1 + 1e-6) < 4 * 2**0.5
    leaves = [node for node in found.tree if not isinstance(node, tuple)]
    assert 2 * len(leaves) == len(found.tree) + 1
    assert any(isinstance(leaf, StateProof) for leaf in leaves)


def test_time_and_interruption_end_the_search_with_what_is_proved():
    with clock.reading(iter(np.arange(0.0, 1e6, 0.5)).__next__):
        late = search(TWICE, [0], tol=TOL, deadline=clock.now() + 8)
    assert late.status == "time"
    assert late.lower >= 0

    def stop(nodes, left, lower, upper):
        assert left >= 1
        assert lower <= upper
        if nodes == 1:
            raise KeyboardInterrupt

    found = search(TWICE, [0], tol=TOL, on_progress=stop)
    assert (found.status, found.nodes) == ("interrupted", 1)
    assert found.lower > 0


def test_a_free_bias_is_searched_as_well():
    rows = [[0, 1], [1, 1], [2, 1]]
    instance = ProblemInstance(rows=rows, targets=[1, -1, 1], margin=True, free=True)
    found = search(instance, [0, 0, 0], tol=1e-5, max_nodes=100)
    assert found.status == "optimal"
    assert found.lower * (1 + 1e-5) >= found.networks[0].value >= found.lower * (1 - 1e-9)
    assert search(instance, [0, 0], tol=1e-5, max_nodes=6).networks == ()  # +, -, + takes two neurons up and one down


def test_a_known_objective_of_0_is_no_division():
    found = search(WASTE, [0], upper=0.0, tol=TOL, max_nodes=3)
    assert 0 < found.lower <= 4 * (1 + TOL)  # the best is 4


@pytest.mark.parametrize(
    ("columns", "width", "points", "most"),
    [(2, 1, 10, 6), (2, 2, 10, 26), (2, 3, 10, 66), (2, 4, 10, 86), (3, 1, 8, 6), (3, 2, 8, 34), (3, 3, 8, 366)],
)
def test_few_states_are_looked_at_where_a_teacher_of_the_width_fits(columns, width, points, most):
    for margin in (True, False):
        found = search(teacher(0, columns, width, points, margin=margin), [0] * width, tol=TOL, max_nodes=most)
        assert found.status == "optimal"
        assert found.networks[0].value <= found.lower * (1 + TOL)


@pytest.mark.parametrize(("columns", "width", "points"), [(2, 4, 50), (2, 2, 50), (3, 2, 30)])
def test_few_states_where_many_outputs_are_given_exactly(columns, width, points):
    """More targets than weights leave multipliers free: patterns that no network uses still hold them back."""
    found = search(teacher(2, columns, width, points, margin=False), [0] * width, tol=TOL, max_nodes=12)
    assert found.status == "optimal"
    assert found.networks[0].value <= found.lower * (1 + TOL)


def test_time_taken_is_short():
    assert search(TWICE, [0, 0], tol=TOL).nodes <= 18
    assert cpu_seconds(lambda: search(TWICE, [0, 0], tol=TOL)) < 5
