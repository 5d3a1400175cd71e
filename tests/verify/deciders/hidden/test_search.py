"""The search among given output weights against all choices of sides, and with exact values that are known by hand."""

from fractions import Fraction
from itertools import product
from random import Random

import numpy as np
import pytest

from benchmarks.jobs.own_width import hidden_teacher
from solvers.hidden import relaxation
from solvers.hidden.cases import FloatCase, WantedOutputs
from solvers.hidden.inner_cells import by_cells
from solvers.hidden.relaxation import evaluated, relaxed
from solvers.instance import SearchStatus
from solvers.programs.arrangements import cells
from solvers.programs.interior_point import solve_cone_program
from tests.exact_states import posed
from tests.width_cases import CASES
from verify import Bias, Network
from verify.deciders.hidden.leaves import BITS, celled_leaf
from verify.deciders.hidden.networks import KnownNetworks
from verify.deciders.hidden.search import HiddenSearch
from verify.deciders.hidden.states import NeuronState
from verify.deciders.own_width.searching import bracket_at_width
from verify.deciders.proposal import certified
from verify.problem.problem import Trained, objective, outputs

F = Fraction


@pytest.mark.parametrize("name", [name for name, known in CASES.items() if known.problem.trained is Trained.HIDDEN])
def test_both_ends_are_the_value_that_is_known(name):
    known = CASES[name]
    found = HiddenSearch(known.problem).run()
    proof = found.lower or found.nothing
    assert certified(known.problem, None, proof) is not None
    if known.best is None:
        assert found.status is SearchStatus.INFEASIBLE
    else:
        assert found.lower.bracket[0] == known.best == objective(known.problem, found.networks[0])


def drawn(seed, bias=Bias.NONE):
    random = Random(seed)
    d, k, n, slope = (
        random.choice([1, 2, 2]),
        random.choice([1, 2]),
        random.choice([2, 3, 4]),
        random.choice([0, "1/2"]),
    )
    rows = [[random.randint(-4, 4) for _ in range(d)] for _ in range(n)]
    v = [F(random.choice([1, 1, 2, -1, -2])) for _ in range(k)]
    shape = posed(rows, [1] * n, "min-norm", v, slope=slope, bias=bias)
    size = k * len(shape.rows[0])
    teacher = Network(shape.architecture, ([F(random.randint(-2, 2)) for _ in range(size)], v))
    if random.random() < 0.5:
        return posed(rows, [random.choice([1, -1]) for _ in rows], "max-margin", v, slope=slope, bias=bias)
    is_taught = random.random() < 0.6
    targets = outputs(shape, teacher) if is_taught else [F(random.randint(-3, 3)) for _ in rows]
    return posed(rows, targets, "min-norm", v, slope=slope, bias=bias)


def taught(seed):
    """Ten points of three columns and the outputs of two or three neurons: tens of states."""
    random = Random(seed)
    v = [F(z) for z in [1, 1, -1][: random.choice([2, 3])]]
    rows = [[random.randint(-5, 5) for _ in range(3)] for _ in range(10)]
    shape = posed(rows, [1] * 10, "min-norm", v)
    teacher = Network(shape.architecture, ([F(random.randint(-3, 3)) for _ in range(3 * len(v))], v))
    return posed(rows, outputs(shape, teacher), "min-norm", v)


@pytest.mark.parametrize("seed", [9, 11])
@pytest.mark.one_in(2)
def test_an_earlier_proof_is_taken_up_where_it_ended(seed):
    problem = taught(seed)
    whole = bracket_at_width(problem, ())
    first = bracket_at_width(problem, (), max_nodes=6)
    assert first.status is SearchStatus.NODES
    assert first.ends[0] < whole.ends[0]
    again = bracket_at_width(problem, first.witnesses, earlier=first.lower)
    assert again.ends[0] >= first.ends[0]
    assert again.ends[1] <= again.ends[0] * (1 + F(1, 10**6))
    assert again.nodes < whole.nodes
    assert certified(problem, None, again.lower) is not None
    done = bracket_at_width(problem, again.witnesses, earlier=again.lower)
    assert (done.status, done.nodes, done.ends) == (SearchStatus.OPTIMAL, 0, again.ends)
    short = bracket_at_width(problem, first.witnesses, earlier=first.lower, max_nodes=1)
    assert short.ends[0] >= first.ends[0]


def test_what_is_looked_at_is_told_after_each_state():
    seen = []
    found = bracket_at_width(taught(1), (), on_progress=lambda *told: seen.append(told))
    assert [nodes for nodes, *_ in seen] == sorted(nodes for nodes, *_ in seen)
    assert all(0 < nodes <= found.nodes and left > 0 for nodes, left, *_ in seen)
    assert all(lower <= upper * (1 + 1e-6) for *_, lower, upper in seen)


@pytest.mark.parametrize("turned", [[1, 0], [0, 1]])
def test_networks_of_the_same_neurons_in_another_order_are_known(turned):
    problem = posed([[1], [-1]], [1, 1], "max-margin", [2, 1])
    best = Network(problem.architecture, ([F(1, 2), F(-1)], [F(2), F(1)]))
    hidden, outgoing = ([best.parameters[layer][q] for q in turned] for layer in (0, 1))
    other = Network(problem.architecture, (hidden, outgoing))
    assert KnownNetworks(problem, [other]).found[0] == (F(5, 8), best)
    stranger = Network(problem.architecture, ([F(1), F(-1)], [F(1), F(1)]))
    assert KnownNetworks(problem, [stranger]).found == []


def best_of_all_sides(problem):
    """The least objective over all choices of sides, a cone program for each; infinite where nothing fits."""
    rows, y = np.array(problem.rows, float), np.array([float(z) for z in problem.targets])
    v, slope, (n, d) = [float(z) for z in problem.output_weights], float(problem.architecture.slope), rows.shape
    seen, sides = rows.any(axis=1), [np.ones(n)]
    if seen.any():
        sides = [np.ones(n) for _ in cells(rows[seen])]
        for side, (signs, _) in zip(sides, cells(rows[seen]), strict=True):
            side[seen] = signs
    best = np.inf
    for choice in product(sides, repeat=len(v)):
        fits = np.hstack([v[j] * np.where(side > 0, 1, slope)[:, None] * rows for j, side in enumerate(choice)])
        walls = np.zeros((len(v) * n, len(v) * d))
        for j, side in enumerate(choice):
            walls[j * n : (j + 1) * n, j * d : (j + 1) * d] = side[:, None] * rows
        is_margin = problem.goal.value == "max-margin"
        fits, right = (fits * y[:, None], np.ones(n)) if is_margin else (fits, y)
        counted = [j * d + column for j in range(len(v)) for column in problem.norm_columns]
        norm = np.vstack([np.eye(1, len(v) * d + 1, len(v) * d), np.eye(len(v) * d, len(v) * d + 1)[counted]])
        matrix = np.vstack([np.pad(np.vstack([fits, walls]), ((0, 0), (0, 1))), norm])
        found = solve_cone_program(
            np.eye(1, len(v) * d + 1, len(v) * d)[0],
            -matrix,
            np.concatenate([-right, np.zeros(len(v) * n), np.zeros(len(norm))]),
            [("nonnegative" if is_margin else "zero", n), ("nonnegative", len(v) * n), ("second-order", len(norm))],
        )
        if found.message in ("Solved", "AlmostSolved"):
            best = min(best, found.primal[-1] ** 2 / 2)
    return best


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.one_in(3)
def test_no_choice_of_sides_is_better_and_the_best_is_found(seed):
    problem = drawn(seed)
    found, best = HiddenSearch(problem).run(), best_of_all_sides(problem)
    assert certified(problem, None, found.lower or found.nothing) is not None
    if found.nothing is not None:
        assert best == np.inf
        return
    value = objective(problem, found.networks[0])
    assert found.status is SearchStatus.OPTIMAL
    assert found.lower.bracket[0] <= value <= found.lower.bracket[0] * (1 + F(1, 10**6))
    assert float(value) == pytest.approx(best, rel=1e-5, abs=1e-7)


@pytest.mark.parametrize("seed", range(70))
@pytest.mark.one_in(4)
def test_no_choice_of_sides_is_better_with_a_free_bias(seed):
    """The infimum need not be attained; then networks come near to it only, and a bound is all that is asked."""
    problem = drawn(seed, Bias.FREE)
    found, best = HiddenSearch(problem).run(), best_of_all_sides(problem)
    assert certified(problem, None, found.lower or found.nothing) is not None
    if found.nothing is not None:
        assert best == np.inf
        return
    value, lower = float(objective(problem, found.networks[0])), float(found.lower.bracket[0])
    assert lower <= best * (1 + 1e-5) + 1e-7
    assert value == pytest.approx(best, rel=1e-5, abs=1e-7)
    assert lower == pytest.approx(best, rel=1e-5, abs=1e-7)


@pytest.mark.parametrize(
    ("rows", "targets", "goal"),
    [([[1], [2]], [1, 1], "max-margin"), ([[1]], [3], "min-norm"), ([[1], [2]], [0, -1], "min-norm")],
)
def test_no_output_weight_but_0_fits_nothing_but_0(rows, targets, goal):
    problem = posed(rows, targets, goal, [0, 0])
    found = HiddenSearch(problem).run()
    assert found.status is SearchStatus.INFEASIBLE
    assert certified(problem, None, found.nothing) is not None


def test_no_output_weight_but_0_is_best_with_weights_of_0_where_that_fits():
    problem = posed([[1], [2]], [0, 1], "min-norm", [0, 0]).within(1)
    found = HiddenSearch(problem).run()
    assert objective(problem, found.networks[0]) == 0
    assert certified(problem, None, found.lower) is not None


@pytest.mark.parametrize(("row", "v"), [([-1, -1], 1), ([1, 1], 0), ([-1, 0], 1)])
def test_neurons_that_add_nothing_are_put_to_0_before_anything_is_searched(row, v):
    problem = posed([[1, 0], [0, 1]], [1, 1], "min-norm", [1, v])
    given = Network(problem.architecture, ([F(1), F(1), *map(F, row)], [F(1), F(v)]))
    known = KnownNetworks(problem, [given])
    assert known.upper == objective(problem, given) - sum(F(z * z, 2) for z in row) == 1


def test_other_networks_that_are_known_are_kept():
    problem = posed([[1, 0]], [1], "max-margin", [1])
    best = Network(problem.architecture, ([F(1), F(0)], [F(1)]))
    given = Network(problem.architecture, ([F(1), F(1)], [F(1)]))
    assert KnownNetworks(problem, [given, best]).upper == F(1, 2)


# ------------------------------------------------------------------------------------------------- cells


def on_gaussian_points(seed, columns, width, points, goal, bias=Bias.NONE):
    """What a network of the width says of Gaussian points, in 64ths."""
    random = np.random.default_rng([seed, columns, width, points, 9])

    def drawn(shape):
        return [[F(round(float(z) * 64), 64) for z in row] for row in random.standard_normal(shape)]

    rows, weights = drawn((points, columns)), drawn((width, columns + (bias is not Bias.NONE)))
    v = [F(int(z)) for z in random.choice([-1, 1], width)]
    shape = posed(rows, [1] * points, "min-norm", v, bias=bias)
    told = outputs(shape, Network(shape.architecture, ([z for row in weights for z in row], v)))
    if goal == "min-norm":
        return posed(rows, told, goal, v, bias=bias)
    kept = [i for i, y in enumerate(told) if y]
    return posed([rows[i] for i in kept], [1 if told[i] > 0 else -1 for i in kept], goal, v, bias=bias)


@pytest.mark.parametrize("goal", ["max-margin", "min-norm"])
@pytest.mark.parametrize(
    ("columns", "width", "points", "most"),
    [(2, 2, 10, 74), (2, 2, 30, 74), (2, 3, 10, 74), (3, 2, 8, 60), (3, 3, 8, 62)],
)
def test_few_states_are_looked_at_where_a_network_of_the_width_fits(columns, width, points, most, goal):
    problem = on_gaussian_points(0, columns, width, points, goal)
    found = HiddenSearch(problem, sharpens=False, max_nodes=most).run()
    assert (found.status, found.left) == (SearchStatus.OPTIMAL, 0)
    assert certified(problem, None, found.lower) is not None
    assert found.lower.bracket[0] <= objective(problem, found.networks[0]) <= (1 + F(1, 10**6)) * found.lower.bracket[0]


@pytest.mark.parametrize("seed", [1, 4, 6, 12])
def test_a_free_bias_takes_no_more_states_than_one_that_counts(seed):
    """The chords of undecided points are bounded by the reach of the bias: the first state has a bound, by cells."""
    problem = on_gaussian_points(seed, 2, 2, 10, "min-norm", Bias.FREE)
    found = HiddenSearch(problem, sharpens=False, max_nodes=12).run()
    assert (found.status, found.left) == (SearchStatus.OPTIMAL, 0)
    assert certified(problem, None, found.lower) is not None
    known = KnownNetworks(problem)
    root = relaxed(known.points, NeuronState(known.geometry, {}).floats)
    assert 0 < root.value <= float(found.lower.bracket[0]) * (1 + 1e-6)
    assert {len(u) for u in root.pieces} == {3}


def test_constants_cost_nothing_with_a_free_bias():
    """x = 0, 1 with targets 2, 3: a neuron (0, 2), of no cost, and one that is 1 at x = 1, or one with w = 1, b = 2."""
    problem = posed([[0], [1]], [2, 3], "min-norm", [1, 1], bias=Bias.FREE)
    found = HiddenSearch(problem).run()
    assert found.lower.bracket[0] == objective(problem, found.networks[0]) == F(1, 4)
    known = KnownNetworks(problem)
    root = relaxed(known.points, NeuronState(known.geometry, {}).floats)
    assert root.value == pytest.approx(0.25, rel=1e-5)
    assert (root.endless >= 0).all()


def test_a_range_of_nothing_is_no_room_for_slopes():
    """Slopes outside their interval cost nothing where a range is 0; taken back, they leave no bound."""
    points = WantedOutputs(np.array([1.0, 1.0, 0.5]), margin=False, tolerance=0.0, slope=0.0)
    rows = np.array([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]])
    size = np.linalg.norm(rows, axis=1)
    case = FloatCase(rows, None, 1, 1.0, np.array([1, 1, 0], np.int8), np.array([1.0, 1.0, 0.0]), size)
    found = relaxed(points, [case])
    assert found.value == pytest.approx(evaluated(points, [case], found.multipliers, found.slopes).value)
    decided = FloatCase(rows, None, 1, 1.0, np.array([1, 1, 1], np.int8), size, size)
    assert found.value <= relaxed(points, [decided]).value * (1 + 1e-6)
    assert found.value >= 0.4  # w = (1, 1) costs 1; two of the points alone ask for 1/2 each


def test_cells_prove_no_less_than_one_leaf_and_no_more_than_is_true():
    problem = on_gaussian_points(0, 2, 2, 10, "min-norm")
    state = NeuronState(KnownNetworks(problem).geometry, {})
    known = KnownNetworks(problem)
    one = relaxed(known.points, state.floats)
    found = by_cells(known.points, state.floats, state.cell, np.arange(10), float("inf"), lambda: None)
    best = HiddenSearch(problem).run().networks[0]
    assert one.value * (1 - 1e-6) <= found.value <= float(objective(problem, best)) * (1 + 1e-6)
    leaf = celled_leaf(known.geometry, state.cases, found)
    assert leaf.value is not None
    assert float(leaf.value) == pytest.approx(found.value, rel=1e-6)
    assert any(len(tree) > 1 for tree in leaf.node.trees)
    assert celled_leaf(known.geometry, state.cases, None) is None


def test_multipliers_are_not_held_back_where_points_nearly_agree(monkeypatch):
    problem = hidden_teacher(2, 2, 3, 10, margin=False)
    found = HiddenSearch(problem, sharpens=False, max_nodes=20).run()
    assert found.status is SearchStatus.OPTIMAL
    assert found.lower.bracket[0] * (1 + F(1, 10**6)) >= objective(problem, found.networks[0])
    monkeypatch.setattr(relaxation, "BOXES", relaxation.BOXES[:1])
    assert HiddenSearch(problem, sharpens=False, max_nodes=20).run().status is SearchStatus.NODES


@pytest.mark.parametrize("seed", [0, 4, 5, 12, 24])
def test_a_leaf_with_a_free_bias_is_rounded_to_nearly_the_same(seed):
    known = KnownNetworks(drawn(seed, Bias.FREE))
    known.started(None)
    solved, signs = known.champion
    decided = {(j, i): solved.sides[j][i] for j in known.geometry.live for i in range(len(known.problem.rows))}
    state = NeuronState(known.geometry, decided)
    whole, short = (known.leaf_of(state, solved, signs, bits) for bits in (None, BITS))
    assert whole.value == known.upper
    assert known.upper * (1 - F(1, 10**10)) <= short.value <= known.upper
    assert all((z * 2**60).denominator == 1 for _, z in short.node.multipliers)


@pytest.mark.parametrize(
    ("targets", "v", "slope", "goal", "fits"),
    [
        ([-1, -1, -1], [1], "1/2", "max-margin", True),  # by b = -2, on the slope 1/2
        ([-1, -1, -1], [1], 0, "max-margin", False),
        ([3, 3, 3], [-1, 2, "1/3"], 0, "min-norm", True),
        ([0, 0, 0], [1, -1], 0, "min-norm", True),
    ],
)
def test_a_constant_by_a_free_bias_costs_nothing(targets, v, slope, goal, fits):
    problem = posed([[-4]] * 3, targets, goal, [F(z) for z in v], slope=slope, bias=Bias.FREE)
    found = HiddenSearch(problem).run()
    assert found.status is (SearchStatus.OPTIMAL if fits else SearchStatus.INFEASIBLE)
    if fits:
        assert objective(problem, found.networks[0]) == 0 == found.lower.bracket[0]
