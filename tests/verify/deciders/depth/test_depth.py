"""Networks of any depth: what is found about the cases, and about trained and random ones, against other ways."""

from fractions import Fraction
from itertools import chain as chained

import numpy as np
import pytest

from solvers.depth import DeepDescent, random_start
from tests import depth_cases
from tests.depth_cases import CASES, case, convolution, pooled, shape
from verify import Bias, Dataset, Goal, Network, Problem
from verify.checker import Accepted, check
from verify.checker.depth import power_of, powered
from verify.checker.depth_bounds import LowerBoundCrude, LowerBoundLinear
from verify.checker.depth_stationary import DeepNotStationary, DeepStationary
from verify.checker.exact import dot, root_ends
from verify.checker.fit import ends
from verify.deciders.depth.arrays import activated, layers_of, network_of, parameters_of, shaped
from verify.deciders.depth.bounds import crude_bound, is_linear, linear_bound
from verify.deciders.depth.descents import descent
from verify.deciders.depth.improving import balanced, candidates, refitted
from verify.deciders.depth.searching import better, bounds, none_is_better, searched, with_networks
from verify.deciders.depth.stationarity import stationarity
from verify.deciders.depth.subgradients import MOST_TIES, generators
from verify.numbers.floats import float_rows, float_targets
from verify.problem.problem import power_of_objective

F = Fraction
KKT = {name for name in CASES if name[:2] not in ("17", "21")}
DOWN = {"5 ", "8 ", "9 ", "10", "12", "13", "14"}


@pytest.mark.parametrize("name", CASES)
def test_stationarity_of_the_cases(name):
    found = CASES[name]()
    proposal = stationarity(found.problem, found.network, F(0))
    kind = DeepStationary if name in KKT else DeepNotStationary
    assert isinstance(proposal.certificate, kind)
    assert isinstance(check(found.problem, found.network, proposal.certificate), Accepted)
    if kind is DeepStationary:
        assert proposal.certificate.own_tolerance(found.problem) == 0


def test_why_a_min_norm_network_that_is_not_stationary_may_be_optimal():
    best = depth_cases.optimal_without_multipliers()
    assert stationarity(best.problem, best.network, F(0)).certificate.qualification == "nothing"
    smooth = depth_cases.unbalanced_layers(Goal.MIN_NORM)
    assert stationarity(smooth.problem, smooth.network, F(0)).certificate.qualification == "independent gradients"


@pytest.mark.parametrize("name", CASES)
def test_ways_down_from_the_cases(name):
    found = CASES[name]()
    proof = stationarity(found.problem, found.network, F(0)).certificate
    way = descent(found.problem, found.network, proof if isinstance(proof, DeepStationary) else None)
    is_down = name[:2] in DOWN or name.startswith("21")
    assert (way is not None) is is_down
    if way is not None:
        assert isinstance(check(found.problem, found.network, way.certificate), Accepted)


def test_a_point_with_many_ties_is_left_open():
    many = MOST_TIES + 1
    found = case(shape([2, many + 1, 1, 1], [0, 0]), [[1, 0] + [0, 0] * many, [1] + [0] * many, [1]], [[1, 0]], [1])
    assert generators(found.problem, found.network, ends(found.problem, found.network)) is None
    assert stationarity(found.problem, found.network, F(0)).certificate is None
    apart = Network(found.network.architecture, [[2, *found.network.parameters[0][1:]], *found.network.parameters[1:]])
    assert isinstance(stationarity(found.problem, apart, F(0)).certificate, DeepNotStationary)  # by balance


def test_ties_that_depend_on_each_other_are_met_along_directions():
    """Both patches are the same: the units open together."""
    found = case(
        convolution(0), [[1, 0], [1, 1]], [[0, 1, 0, 1], [2, 0, 2, 0]], [1, 1], goal=Goal.MIN_NORM, fit_tolerance=4
    )
    every = generators(found.problem, found.network, ends(found.problem, found.network))
    tied = [one for one in every if one.point == 0]
    assert len(tied) == 2
    assert all(one.direction is not None for one in tied)
    assert {one.gradient for one in tied} == {(0, 0, 0, 0), (0, 2, 0, 0)}


def test_the_zero_network_and_copies():
    zero = case(shape([1, 1, 1, 1], [0, 0]), [[0], [0], [0]], [[1]], [0], goal=Goal.MIN_NORM)
    assert stationarity(zero.problem, zero.network, F(0)).certificate.parts == ()


KINDS = {
    "relu": (shape([2, 3, 2, 1], [0, 0]), False),
    "leaky": (shape([2, 2, 2, 1], ["1/4", "1/4"]), False),
    "linear": (shape([3, 2, 2, 1], [1, 1]), True),
    "convolution": (convolution("1/2"), False),
    "pooled": (pooled(0), False),
    "deep linear": (shape([2, 2, 2, 2, 1], [1, 1, 1]), True),
}


def data(architecture, seed, goal, points=4):
    random = np.random.default_rng(seed)
    X = random.integers(-8, 9, (points, architecture.inputs)) / 4
    teacher = random.integers(1, 5, architecture.inputs)
    y = X @ teacher
    labels = np.where(y >= 0, 1, -1) if goal is Goal.MAX_MARGIN else np.round(4 * np.maximum(y, y / 4)) / 4
    return Dataset([[F(z) for z in row] for row in X.tolist()], [F(z) for z in labels.tolist()])


def trained(problem, seed):
    """A network of the problem's shape that descent leads to, and that fits; None where it does not."""
    layers = layers_of(problem.architecture)
    search = DeepDescent(layers, float_rows(problem), float_targets(problem), problem.goal is Goal.MAX_MARGIN)
    theta = search.ended(random_start(layers, np.random.default_rng(seed)), 30.0)
    return refitted(problem, network_of(problem.architecture, theta))


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_trained_networks_are_nearly_stationary_and_above_every_bound(name, seed):
    architecture, is_exact = KINDS[name]
    problem = Problem(data(architecture, seed, Goal.MAX_MARGIN), architecture, goal=Goal.MAX_MARGIN, bias=Bias.NONE)
    network = trained(problem, seed)
    if network is None:
        return
    proposal = stationarity(problem, network, F(1, 20))
    assert proposal.certificate is None or isinstance(check(problem, network, proposal.certificate), Accepted)
    above, below = powered(problem, network)
    known = bounds(problem)
    assert known.lower
    for lower in known.lower:
        assert lower.bracket[0] * below <= above
    if is_exact:
        assert isinstance(known.lower[0], LowerBoundLinear)
        assert above <= known.lower[0].bracket[0] * below * (1 + F(1, 50))
        best = none_is_better(problem, network, above / below, known, F(1, 10))
        assert isinstance(check(problem, network, best.certificate), Accepted)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("goal", Goal)
def test_the_linear_bound_is_that_of_the_least_norm(goal, seed):
    """Against the program min ||b|| by another solver."""
    from scipy.optimize import minimize

    architecture = shape([3, 2, 1, 1], [1, 1])
    problem = Problem(data(architecture, seed, goal, points=3), architecture, goal=goal, bias=Bias.NONE)
    X, y = float_rows(problem), float_targets(problem)
    if goal is Goal.MAX_MARGIN:
        constraint = {"type": "ineq", "fun": lambda b: y * (X @ b) - 1}
    else:
        constraint = {"type": "eq", "fun": lambda b: X @ b - y}
    start = np.linalg.lstsq(X, y, rcond=None)[0] * 2
    found = minimize(
        lambda b: b @ b, start, jac=lambda b: 2 * b, method="SLSQP", constraints=[constraint], options={"ftol": 1e-14}
    )
    lower = linear_bound(problem)
    if lower is None or not found.success:
        return
    assert float(lower.bracket[0]) == pytest.approx((3 / 2) ** 3 * found.fun, rel=1e-6)


def test_a_separable_pair_has_the_crude_bound_of_its_distance():
    architecture = shape([1, 1, 1, 1], [0, 0])
    problem = Problem(Dataset([[4], [3]], [1, -1]), architecture, goal=Goal.MAX_MARGIN, bias=Bias.NONE)
    lower = crude_bound(problem)
    assert isinstance(lower, LowerBoundCrude)
    assert (lower.points, lower.bracket[0]) == ((0, 1), F(27, 8) * 4)
    nothing = Problem(Dataset([[1]], [0]), architecture, goal=Goal.MIN_NORM, bias=Bias.NONE)
    assert crude_bound(nothing).bracket == (0, None)
    origin = Problem(Dataset([[0]], [0]), architecture, goal=Goal.MIN_NORM, bias=Bias.NONE)
    assert crude_bound(origin) is None
    assert bounds(origin).lower == ()


# ------------------------------------------------------------------------------------------------- better networks


@pytest.mark.parametrize("name", [name for name in CASES if name[:2] not in ("8 ", "14", "15")])
def test_candidates_fit_and_are_of_the_family(name):
    found = CASES[name]()
    known = searched(found.problem, bounds(found.problem), [found.network], None)
    assert known.upper is not None
    assert isinstance(check(found.problem, None, known.upper), Accepted)
    values = [value for value, _ in known.witnesses]
    assert values == sorted(values)
    mine = power_of_objective(found.problem, found.network)
    assert values[0] * mine[1] <= mine[0]
    assert known.lower[0].bracket[0] <= values[0]


def test_what_is_better_is_better_by_more_than_the_tolerance():
    found = depth_cases.diagonal_of_ones()  # J = 27/4, best 27/8: 2^(1/3) = 1.2599
    known = with_networks(found.problem, bounds(found.problem), [found.network, depth_cases.vertex().network])
    arguments = (found.problem, found.network, F(27, 4), known)
    assert better(*arguments, F(1, 4), own_width=True).certificate.scope == "own-width"
    assert better(*arguments, F(26, 100), own_width=True) is None
    assert none_is_better(*arguments, F(1, 10)) is None
    assert none_is_better(*arguments, F(6, 10)) is not None  # the bound is 27/16: 4^(1/3) = 1.5874
    poor = Network(depth_cases.chain().network.architecture, [[2], [1], [1]])
    chain = depth_cases.chain()
    wide = with_networks(chain.problem, bounds(chain.problem), [depth_cases.wider_chain()])
    assert better(chain.problem, poor, F(27, 4), wide, F(0), own_width=True) is None
    assert better(chain.problem, poor, F(27, 4), wide, F(0), own_width=False).certificate.scope == "any-width"


def test_layers_are_balanced_and_the_function_kept():
    network = Network(shape([1, 1, 1, 1], [0, 0]), [[8], [1], [1]])
    problem = Problem(Dataset([[1]], [1]), network.architecture, goal=Goal.MAX_MARGIN, bias=Bias.NONE)
    made = balanced(problem, network)
    assert made([1]) == 8
    assert all(abs(layer[0] - 2) < F(1, 10**9) for layer in made.parameters)
    zero = Network(network.architecture, [[0], [1], [1]])
    assert balanced(problem, zero) == zero
    assert power_of_objective(problem, zero) is None
    assert balanced(problem, made) == made or balanced(problem, made)([1]) == 8


def test_targets_are_met_exactly_by_the_last_layer():
    shaped_ = shape([2, 3, 2, 1], [0, 0])
    network = Network(shaped_, [[1, 0, 0, 1, 1, 1], [1, 2, 0, 1, 0, 1], [1, 1]])
    problem = Problem(Dataset([[1, 2], [3, 1]], [5, F(7, 3)]), shaped_, goal=Goal.MIN_NORM, bias=Bias.NONE)
    made = refitted(problem, network)
    assert [made(x) for x in problem.inputs] == [5, F(7, 3)]
    assert made.parameters[:2] == network.parameters[:2]
    too_many = Problem(Dataset([[1, 2], [3, 1], [1, 1]], [5, 2, 9]), shaped_, goal=Goal.MIN_NORM, bias=Bias.NONE)
    assert refitted(too_many, network) is None
    margin = Problem(Dataset([[1, 2]], [-1]), shaped_, goal=Goal.MAX_MARGIN, bias=Bias.NONE)
    assert refitted(margin, network) is None


def test_large_networks_are_not_trained():
    wide = shape([200, 200, 1, 1], [0, 0])
    problem = Problem(Dataset([[1] * 200], [1]), wide, goal=Goal.MAX_MARGIN, bias=Bias.NONE)
    network = Network(wide, [[F(1, 100)] * 40_000, [1] * 200, [1]])
    assert len(list(candidates(problem, network))) == 1


def test_arrays_and_back():
    found = depth_cases.pooled_tie()
    theta = parameters_of(found.network)
    assert network_of(found.network.architecture, theta) == found.network
    assert shaped(found.network.architecture, chained(*found.network.parameters)) == found.network.parameters
    layers = layers_of(found.network.architecture)
    assert layers.outputs(theta, float_rows(found.problem)) == pytest.approx([1.0])
    assert activated(found.network, found.problem.rows[0], 1) == (1, 0)
    assert activated(found.network, found.problem.rows[0], 2) == (1,)
    assert power_of(found.problem) == 2
    assert is_linear(depth_cases.linear_of_ones().problem)
    assert not is_linear(depth_cases.wrong_singular_vector().problem)
    assert dot([1], [2]) == 2
    assert root_ends(F(4), 2) == (2, 2)
