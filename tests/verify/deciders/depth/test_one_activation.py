"""Deep networks of which one layer has an activation: the bracket, against linear programs on dense directions."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import linprog

from solvers.instance import SearchStatus
from tests.depth_cases import case, concave_kinks, convolution, linear_of_ones, shape
from verify import Bias, Dataset, Goal, Network, Problem
from verify.checker import Accepted, check
from verify.checker.depth import is_own
from verify.checker.exact import root_ends
from verify.deciders.depth.improving import candidates
from verify.deciders.depth.one_activation import (
    deeper,
    flattened,
    has_one_activation,
    one_activation_search,
    two_layers,
)
from verify.deciders.depth.searching import bounds, is_bracketed, over_widths
from verify.numbers.floats import float_rows, float_targets
from verify.problem.problem import outputs, power_of_objective

F = Fraction
GAP = 1e-6
ANGLES = np.linspace(0.0, 2 * np.pi, 5761)[:-1]


def ends(problem, found):
    """The ends of J to the power 1 / m, in floats; the bound is accepted, and inf where no network fits."""
    m = len(problem.architecture.layers)
    assert isinstance(check(problem, None, found.lower), Accepted)
    values = [power_of_objective(problem, witness) for witness in found.witnesses]
    powers = [a / b for a, b in filter(None, values)]
    upper = min((float(root_ends(power, m)[1]) for power in powers), default=np.inf)
    return float(root_ends(found.lower.bracket[0], m)[0]), upper


def drawn(seed):
    """A random problem in the plane, of depth 3 or 4, with the activation in the first layer."""
    random = np.random.default_rng(seed)
    goal, slope = (Goal.MAX_MARGIN, Goal.MIN_NORM)[seed % 2], (0, 0, "1/4")[seed % 3]
    depth, points = 3 + seed % 2, int(random.integers(2, 5))
    bias = Bias.PENALISED if seed % 5 == 4 else Bias.NONE
    widths = [2 - (bias is Bias.PENALISED), *random.integers(1, 4, depth - 1).tolist(), 1]
    architecture = shape(widths, [slope] + [1] * (depth - 2))
    if bias is Bias.PENALISED:
        architecture = type(architecture)(
            type(one)(inputs=one.inputs, outputs=one.outputs, slope=one.slope, bias=not k)
            for k, one in enumerate(architecture.layers)
        )
    X = random.integers(-4, 5, (points, widths[0])).tolist()
    y = random.choice([-1, 1], points) if goal is Goal.MAX_MARGIN else random.integers(-3, 4, points)
    problem = Problem(Dataset(X, y.tolist()), architecture, goal=goal, bias=bias)
    numbers = [random.integers(-3, 4, layer.parameter_count).tolist() for layer in architecture.layers]
    return problem, Network(architecture, numbers)


def on_a_grid(problem):
    """The least J^(1/m) of networks of this depth that fit, over unit directions of a dense grid; None for none.

    f = sum_k a_k s(u_k.x) with unit u_k costs (m/2) (sum |a_k|)^(2/m), its layers balanced.
    """
    slope, X, y = float(problem.architecture.slope), float_rows(problem), float_targets(problem)
    z = X @ np.stack([np.cos(ANGLES), np.sin(ANGLES)])
    phi = np.maximum(z, slope * z)
    both = np.hstack([phi, -phi])
    if problem.goal is Goal.MAX_MARGIN:
        found = linprog(np.ones(both.shape[1]), A_ub=-y[:, None] * both, b_ub=-np.ones(len(y)), method="highs")
    else:
        found = linprog(np.ones(both.shape[1]), A_eq=both, b_eq=y, method="highs")
    m = len(problem.architecture.layers)
    return m / 2 * found.fun ** (2 / m) if found.status == 0 else None


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.one_in(3)
def test_brackets_close_on_what_a_dense_grid_of_directions_reaches(seed):
    problem, network = drawn(seed)
    assert has_one_activation(problem)
    reached = on_a_grid(problem)
    found = one_activation_search(problem, network, GAP, None)
    if reached is None:
        assert not [w for w in found.witnesses if power_of_objective(problem, w)]
        return
    if not reached:
        return
    lower, upper = ends(problem, found)
    assert lower <= reached * (1 + 1e-9)
    assert reached <= upper * (1 + 1e-3)
    assert upper <= lower * (1 + 2 * GAP)


def test_case_20_is_closed():
    found = concave_kinks()
    known = over_widths(found.problem, bounds(found.problem), found.network, GAP, None)
    assert F(675, 32) * (1 - F(1, 10**6)) <= known.lower[0].bracket[0] <= F(675, 32)
    best, network = known.witnesses[0]
    assert F(675, 32) <= best <= F(675, 32) * (1 + F(1, 10**5))
    assert is_own(network.architecture, found.problem.architecture)


def test_layers_above_are_multiplied_out_and_layers_are_added():
    problem, network = drawn(5)
    flat = flattened(problem, network)
    assert outputs(two_layers(problem), flat) == outputs(problem, network)
    deep = deeper(problem, flat)
    assert [layer.outputs for layer in deep.architecture.layers] == [network.architecture.layers[0].outputs, 1, 1, 1]
    assert outputs(problem.posed_on(problem.data, architecture=deep.architecture), deep) == outputs(problem, network)


@pytest.mark.parametrize("seed", range(4))
def test_linear_layers_below_leave_a_bound(seed):
    random = np.random.default_rng(seed)
    X, y = random.integers(-4, 5, (3, 2)).tolist(), [1, -1, 1]
    architecture = shape([2, 2, 2, 1], [1, 0])
    start = Network(architecture, [random.integers(-3, 4, n).tolist() for n in (4, 4, 2)])
    problem = Problem(Dataset(X, y), architecture, goal=Goal.MAX_MARGIN, bias=Bias.NONE)
    found = one_activation_search(problem, start, GAP, None)
    assert found.witnesses == ()
    if found.lower is None:
        return
    assert isinstance(check(problem, None, found.lower), Accepted)
    for other in candidates(problem, start):
        above, below = power_of_objective(problem, other)
        assert above >= found.lower.bracket[0] * below


def test_which_problems_have_it():
    several = case(shape([2, 2, 2, 1], [0, 0]), [[1] * 4, [1] * 4, [1] * 2], [[1, 0]], [1])
    shared = case(convolution(0), [[1, 1], [1, 1]], [[1, 2, 3, 4]], [1])
    for found in (several, shared, linear_of_ones()):
        assert not has_one_activation(found.problem)
    assert [is_bracketed(found.problem) for found in (several, shared, linear_of_ones())] == [True, False, False]
    assert is_bracketed(concave_kinks().problem)


def test_where_time_is_up_the_bound_is_what_was_reached():
    found = concave_kinks()
    search = one_activation_search(found.problem, found.network, GAP, 0.0)
    assert search.status is SearchStatus.TIME
    assert search.lower is None or isinstance(check(found.problem, None, search.lower), Accepted)
