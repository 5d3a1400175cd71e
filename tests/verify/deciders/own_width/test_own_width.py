"""Brackets at a width: every certificate is accepted, what it says is so, and it is not more than is true."""

import json
from fractions import Fraction

import numpy as np
import pytest

from tests.forging import accepted
from tests.solvers.own_width.cells import best_by_cells
from tests.width_cases import CASES
from verify import Bias, Dataset, Goal, Network, Problem
from verify.checker.dual_trees import Dual
from verify.checker.states import Nothing
from verify.deciders.global_optimality.better import optimal_within
from verify.deciders.global_optimality.instance import as_instance
from verify.deciders.own_width.searching import bracket_at_width
from verify.problem.problem import Trained, objective
from verify.readers import read_data

F = Fraction
BOTH = [name for name, known in CASES.items() if known.problem.trained is Trained.BOTH and known.root is not None]


@pytest.mark.parametrize("name", BOTH)
def test_cases_by_hand(name):
    problem, square = CASES[name].problem, CASES[name].root
    found = bracket_at_width(problem, [])
    lower, upper = found.ends
    accepted(problem, None, found.lower)
    assert lower**2 <= square <= upper**2
    assert upper <= lower * (1 + F(1, 10**6))
    assert (found.status, found.left) == ("optimal", 0)
    best = found.witnesses[0]
    assert objective(problem, best) == upper
    assert best.width <= len(problem.architecture.masks)
    proof = optimal_within(problem, best, best, found.lower, F(1, 10**6))
    accepted(problem, best, proof)
    assert optimal_within(problem, best, best, found.lower, upper / lower - 1 - F(1, 10**12)) is None


def drawn(seed):
    """A problem with rational data, small enough for all tuples of cells."""
    random = np.random.default_rng([seed, 7])
    goal = Goal.MAX_MARGIN if random.integers(2) else Goal.MIN_NORM
    bias = Bias.PENALISED if random.random() < 0.4 else Bias.NONE
    n, columns = int(random.integers(2, 5)), 1 if bias is Bias.PENALISED else 2
    rows = random.integers(-3, 4, (n, columns)).tolist()
    targets = (random.choice([-1, 1], n) if goal is Goal.MAX_MARGIN else random.integers(-2, 3, n)).tolist()
    width, slope = int(random.integers(1, 3)), F(int(random.integers(0, 2)), 3)
    shape = Network.two_layer(
        [[0] * columns] * width, [1] * width, slope=slope, b=[0] * width if bias is Bias.PENALISED else None
    ).architecture
    return Problem(Dataset(rows, targets), shape, goal=goal, bias=bias)


@pytest.mark.parametrize("seed", range(10))
def test_brackets_hold_the_best_of_all_tuples_of_cells(seed):
    problem = drawn(seed)
    if not any(problem.targets) or not all(map(any, problem.rows)):
        return
    truth = best_by_cells(as_instance(problem), [0] * len(problem.architecture.masks))
    found = bracket_at_width(problem, [], max_nodes=300)
    lower, upper = found.ends
    if lower is not None:
        accepted(problem, None, found.lower)
        assert float(lower) <= truth * (1 + 1e-7)
    if np.isfinite(truth):
        assert lower is not None
        assert float(upper) == pytest.approx(truth, rel=1e-5)
        assert upper <= lower * (1 + F(1, 10**6))
    else:
        assert upper is lower is None
        accepted(problem, None, found.nothing)


def test_copies_of_points_and_masks_are_no_obstacle():
    shape = Network.two_layer([[1, 0], [0, 1]], [1, 1], masks=[[0], [1]]).architecture
    data = Dataset([[1, 2], [1, 2], [-1, 1]], [1, 1, 1])
    problem = Problem(data, shape, goal=Goal.MAX_MARGIN, bias=Bias.NONE)
    found = bracket_at_width(problem, [])
    accepted(problem, None, found.lower)
    assert found.status == "optimal"
    assert all(sorted(witness.architecture.masks) in ([(0,), (1,)], [(1,)]) for witness in found.witnesses)
    assert all(1 not in dict(node.multipliers) for node in found.lower.nodes if isinstance(node, Dual))


def test_a_search_that_is_cut_short_still_proves_something():
    problem = CASES["H15 one"].problem
    found = bracket_at_width(problem, [], max_nodes=1)
    assert found.status == "nodes"
    assert found.left > 0
    lower, upper = found.ends
    accepted(problem, None, found.lower)
    assert 0 < lower < upper
    with pytest.raises(TypeError, match="no truth value"):
        bool(found)


NOTHING = [name for name, known in CASES.items() if known.problem.trained is Trained.BOTH and known.root is None]


@pytest.mark.parametrize("name", NOTHING)
def test_nothing_fits(name):
    problem = CASES[name].problem
    found = bracket_at_width(problem, [])
    accepted(problem, None, found.nothing)
    assert found.ends == (None, None)
    assert found.left == 0


@pytest.mark.parametrize("bias", [Bias.PENALISED, Bias.FREE])
def test_nothing_fits_within_a_tolerance_either(bias):
    shape = Network.two_layer([[0], [0]], [1, 1], b=[0, 0]).architecture
    problem = Problem(Dataset([[0], [1], [2], [3]], [0, 1, -1, 1]), shape, goal=Goal.MIN_NORM, bias=bias)
    found = bracket_at_width(problem.within(F(1, 10)), [], max_nodes=300)
    accepted(problem.within(F(1, 10)), None, found.nothing)


def of_example(name, width):
    """The max-margin problem of an example, with penalised biases."""
    data = read_data(f"examples/{name}/data.npz")
    columns = len(data.inputs[0])
    shape = Network.two_layer([[0] * columns] * width, [0] * width, b=[0] * width).architecture
    return Problem(data, shape, goal=Goal.MAX_MARGIN, bias=Bias.PENALISED)


def test_no_three_neurons_have_the_signs_of_the_line():
    problem = of_example("signs-1d", 3)
    found = bracket_at_width(problem, [], max_nodes=46)
    accepted(problem, None, found.nothing)
    assert (found.status, found.left, found.lower) == ("infeasible", 0, None)
    shared = [node for node in found.nothing.nodes if isinstance(node, Nothing) and max(map(len, node.trees)) > 1]
    assert len(shared) > 0
    assert len(json.dumps(found.nothing.to_json())) < 20_000


@pytest.mark.slow
def test_the_moons_take_four_neurons_and_six_are_9_per_cent_better():
    for width, most in ((2, 20), (3, 90)):
        nothing = bracket_at_width(of_example("moons-40", width), [], max_nodes=most)
        accepted(of_example("moons-40", width), None, nothing.nothing)
    four = bracket_at_width(of_example("moons-40", 4), [], max_nodes=200)
    accepted(of_example("moons-40", 4), None, four.lower)
    lower, upper = four.ends
    assert F(2201509, 10**5) < lower <= upper < F(2201511, 10**5)
    assert four.nodes <= 100


def test_an_earlier_tree_is_taken_up_again():
    """Leaky, where no neuron is needed on anywhere: then more than one state is looked at."""
    shape = Network.two_layer([[0] * 4], [1], slope=F(1, 3)).architecture
    problem = Problem(CASES["H15 one"].problem.data, shape, goal=Goal.MAX_MARGIN, bias=Bias.NONE)
    first = bracket_at_width(problem, [], max_nodes=3)
    again = bracket_at_width(problem, first.witnesses, earlier=first.lower)
    accepted(problem, None, again.lower)
    assert again.status == "optimal"
    assert again.ends[0] > first.ends[0]
    assert again.ends[0] <= again.ends[1] <= again.ends[0] * (1 + F(1, 10**6))
    done = bracket_at_width(problem, again.witnesses, earlier=again.lower)
    assert done.nodes == 0
    assert done.lower.bracket == again.lower.bracket
    short = bracket_at_width(problem, first.witnesses, earlier=first.lower, max_nodes=1)
    accepted(problem, None, short.lower)
    assert short.ends[0] >= first.ends[0]


UNITS = {
    "small": [Fraction(10) ** -100] * 4,
    "large": [Fraction(2) ** 300] * 4,
    "each its own": [Fraction(10) ** power for power in (30, -12, 6, -40)],
}


@pytest.mark.parametrize("units", UNITS.values(), ids=UNITS)
@pytest.mark.parametrize("width", [1, 2])
def test_nothing_fits_whatever_the_units_of_the_points(units, width):
    """Whether a margin network without biases fits does not depend on the lengths of its points."""
    directions, labels = [[0, 1], [1, 0], [1, 1], [-1, 0]], [1, -1, 1, -1]
    rows = [[unit * z for z in row] for unit, row in zip(units, directions, strict=True)]
    shape = Network.two_layer([[0, 0]] * width, [0] * width).architecture
    problem = Problem(Dataset(rows, labels), shape, goal=Goal.MAX_MARGIN, bias=Bias.NONE)
    found = bracket_at_width(problem, [], max_nodes=40)
    assert found.nothing is not None
    accepted(problem, None, found.nothing)
    assert found.left == 0
