"""What each strategy promises, and that the checker accepts the KKT points."""

from collections import Counter
from fractions import Fraction
from itertools import combinations

import pytest
from hypothesis import find, given, settings
from hypothesis import strategies as st

from tests.amount import UNSHRUNK
from tests.forging import sparse
from tests.problems import instance_of, random_problems
from verify import strategies
from verify.checker import Accepted, Refused, check
from verify.checker.exact import dot
from verify.checker.statement import pattern
from verify.checker.stationary import Stationary
from verify.deciders.proposal import sealed
from verify.problem.network import Architecture, Network
from verify.problem.problem import Bias, Dataset, Goal, Problem, outputs


@given(st.integers(1, 4).flatmap(strategies.orthonormal))
def test_bases_are_orthonormal(basis):
    for i, row in enumerate(basis):
        assert [dot(row, other) for other in basis] == [int(i == j) for j in range(len(basis))]


@given(st.integers(1, 4).flatmap(strategies.unit_vectors))
def test_unit_vectors_have_norm_one(vector):
    assert dot(vector, vector) == 1


@given(st.data())
def test_separable_data_have_margin_one_in_some_direction(data):
    dimension = data.draw(st.integers(1, 3))
    drawn = data.draw(strategies.separable(dimension))
    assert drawn.dimension == dimension
    assert {abs(y) for y in drawn.targets} == {1}
    normal = Problem(drawn, Architecture.two_layer(dimension, 1), goal=Goal.MAX_MARGIN, bias=Bias.NONE)
    assert solve_status(normal, slope=1) == "optimal"


def solve_status(problem, slope):
    from solvers.programs.restricted import solve_all_cells

    shape = Architecture.two_layer(problem.architecture.inputs, 1, slope=slope)
    return solve_all_cells(instance_of(Problem(problem.data, shape, goal=problem.goal, bias=problem.bias))).status.value


@given(strategies.symmetric())
def test_symmetric_data_hold_the_antipodes(data):
    half = len(data) // 2
    for x, y, z, w in zip(data.inputs, data.targets, data.inputs[half:], data.targets[half:], strict=False):
        assert (tuple(-value for value in x), -y) == (z, w)


@given(strategies.orthogonal())
def test_orthogonal_data(data):
    assert all(dot(x, y) == 0 for x, y in combinations(data.inputs, 2))
    assert all(any(x) for x in data.inputs)


@given(strategies.nearly_orthogonal())
def test_nearly_orthogonal_data(data):
    for x, y in combinations(data.inputs, 2):
        assert 4 * len(data) * abs(dot(x, y)) <= min(dot(x, x), dot(y, y))


@given(strategies.collinear())
def test_collinear_data(data):
    first = data.inputs[0]
    for x, y in zip(data.inputs, data.targets, strict=True):
        assert dot(x, x) * dot(first, first) == dot(x, first) ** 2
        assert dot(x, first) * y * data.targets[0] > 0


@given(strategies.duplicated())
def test_duplicated_data(data):
    pairs = Counter(zip(data.inputs, data.targets, strict=True))
    assert max(pairs.values()) > 1


@given(strategies.scaled())
def test_scaled_data_keep_their_labels(data):
    assert {abs(y) for y in data.targets} == {1}


@pytest.mark.parametrize("slope", [Fraction(0), Fraction(1, 4), Fraction(1)])
@pytest.mark.parametrize("strategy", [strategies.contradictory(), strategies.odd()])
@pytest.mark.one_in(2)
def test_contradictory_and_odd_data_fit_no_network(strategy, slope):
    @given(strategy)
    def infeasible(data):
        shape = Architecture.two_layer(data.dimension, 1)
        problem = Problem(data, shape, goal=Goal.MAX_MARGIN, bias=Bias.NONE)
        assert solve_status(problem, slope) == "infeasible"

    infeasible()


@given(st.sampled_from(Goal).flatmap(strategies.problems))
def test_problems_come_with_a_network_of_their_architecture(pair):
    problem, network = pair
    assert problem.architecture == network.architecture
    assert len(outputs(problem, network)) == len(problem.data)


@given(strategies.datasets())
def test_data_sets_are_small(data):
    assert len(data) <= 12
    assert data.dimension <= 4


@given(strategies.problems(), st.booleans(), st.data())
def test_dead_neurons_change_no_output(pair, outgoing, data):
    problem, network = pair
    wider = data.draw(strategies.with_dead_neurons(network, outgoing=outgoing))
    assert wider.width > network.width
    assert outputs(problem, wider) == outputs(problem, network)


@given(strategies.problems(), st.data())
def test_ties_are_exact(pair, data):
    problem, network = pair
    tied = data.draw(strategies.with_ties(network, problem))
    assert 0 in pattern(problem, tied)[-1]


def stationary(point, **changes):
    proof = Stationary(multipliers=sparse(point.multipliers), kink_products=point.kink_products, **changes)
    return check(point.problem, point.network, sealed(point.problem, point.network, proof))


@pytest.mark.parametrize("goal", Goal)
def test_the_checker_accepts_kkt_points(goal):
    @given(strategies.kkt_points(goal))
    def accepted(point):
        assert isinstance(stationary(point), Accepted)
        assert point.problem.goal is goal

    accepted()


@given(strategies.kkt_points(), st.sampled_from([Fraction(1, 2), Fraction(1001, 1000), Fraction(-1)]))
def test_the_checker_refuses_scaled_multipliers(point, factor):
    wrong = point._replace(
        multipliers=tuple(factor * value for value in point.multipliers),
        kink_products=tuple((i, j, factor * value) for i, j, value in point.kink_products),
    )
    assert isinstance(stationary(wrong), Refused)


def test_kinks_that_matter_zero_neurons_and_slack_points_occur():
    find(strategies.kkt_points(), lambda point: any(value for _, _, value in point.kink_products), settings=UNSHRUNK)
    find(strategies.kkt_points(), lambda point: 0 in point.multipliers, settings=UNSHRUNK)
    find(strategies.kkt_points(), lambda point: 0 in point.network.output_weights, settings=UNSHRUNK)


@pytest.mark.long
def test_examples_shrink_to_what_the_docstrings_say():
    assert find(strategies.rationals(), lambda _: True) == 0
    assert find(strategies.positive_rationals(), lambda _: True) == 1
    assert find(strategies.unit_vectors(3), lambda _: True) == (1, 0, 0)
    assert find(strategies.slopes(), lambda _: True) == 0
    assert find(strategies.orthogonal(), lambda _: True).inputs == ((-1,),)
    assert find(strategies.odd(), lambda _: True) == Dataset([[0]] * 4, [1, 1, -1, -1])
    smallest = find(strategies.kkt_points(), lambda _: True)
    assert smallest.network == Network.two_layer([[1], [-1]], [1, -1])


def test_random_problems_are_the_same_for_the_same_seed():
    first = list(random_problems(7, 40))
    assert first == list(random_problems(7, 40))
    assert first != list(random_problems(8, 40))


def test_random_problems_cover_what_they_say():
    pairs = list(random_problems(0, 300))
    seen = Counter()
    for problem, network in pairs:
        assert len(problem.data) <= 8
        assert problem.data.dimension <= 3
        seen[problem.goal, problem.bias, problem.architecture.slope in (0, Fraction(1, 4), 1)] += 1
        seen["masks"] += len(problem.mask_classes) > 1
        seen["fits"] += all(f == y for f, y in zip(outputs(problem, network), problem.data.targets, strict=True))
        seen["duplicates"] += len(set(problem.rows)) < len(problem.rows)
    assert all(seen[goal, bias, named] for goal in Goal for bias in Bias for named in (True, False))
    assert min(seen["masks"], seen["fits"], seen["duplicates"]) >= 10


def test_searched_kkt_points_often_have_both_labels():
    seen = []

    @settings(max_examples=40)
    @given(strategies.searched_kkt_points())
    def draw(point):
        seen.append(len(set(point.problem.data.targets)))

    draw()
    assert seen.count(2) >= len(seen) / 6
