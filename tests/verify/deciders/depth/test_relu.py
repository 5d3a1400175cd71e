"""Bounds of deep ReLU networks by both labels: below every network that fits, and what linear programs reach."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import linprog, minimize

from solvers.instance import SearchStatus
from tests.depth_cases import both_labels, case, chain, relu_of_ones, shape
from verify import Bias, Dataset, Goal, Network, Problem
from verify.checker import Accepted, check
from verify.checker.exact import root_ends
from verify.deciders.depth import relu as module
from verify.deciders.depth.relu import has_relu_layers, relu_search
from verify.deciders.depth.searching import bounds, is_bracketed, over_widths
from verify.numbers.floats import float_rows, float_targets
from verify.problem.problem import power_of_objective

F = Fraction
GAP = 1e-6
ANGLES = np.linspace(0.0, 2 * np.pi, 5761)[:-1]


def drawn(seed, labels=None):
    """A random problem in the plane; with `labels` all targets are of that sign."""
    random = np.random.default_rng(seed)
    slopes = ([0, 0], [0, 0, 0], [0, 1, 0], [1, 0, 0])[seed % 4]
    points = int(random.integers(2, 6))
    X = random.integers(-4, 5, (points, 2))
    X[~X.any(axis=1)] = 1
    goal = (Goal.MAX_MARGIN, Goal.MIN_NORM)[seed % 3 == 2]
    y = random.choice([-1, 1], points) if goal is Goal.MAX_MARGIN else random.integers(-3, 4, points)
    y = y if labels is None else np.abs(y) * labels
    architecture = shape([2, *[3] * len(slopes), 1], slopes)
    eps = F(1, 4) if seed % 9 == 2 else 0
    return Problem(Dataset(X.tolist(), y.tolist()), architecture, goal=goal, bias=Bias.NONE, fit_tolerance=eps)


def value(problem, power):
    return float(root_ends(power, len(problem.architecture.layers))[0])


@pytest.mark.parametrize("found", [relu_of_ones, both_labels])
def test_cases_3_and_4_are_exact(found):
    made = found()
    bound = relu_search(made.problem, GAP, None).lower
    assert isinstance(check(made.problem, None, bound), Accepted)
    assert bound.bracket[0] == made.proofs["lower"].bracket[0]
    known = over_widths(made.problem, bounds(made.problem), made.network, GAP, None)
    assert known.lower[0] == bound


@pytest.mark.parametrize("seed", range(24))
@pytest.mark.one_in(3)
def test_one_label_is_decided_by_networks_with_positive_output_weights(seed):
    """sum_k a_k s(u_k.x) with a_k >= 0 and unit u_k costs (m/2) (sum a_k)^(2/m): a linear program on a dense grid."""
    problem = drawn(seed, labels=(1, -1)[seed % 2])
    X, y, eps = float_rows(problem), np.abs(float_targets(problem)), float(problem.fit_tolerance)
    phi = np.maximum(X @ np.stack([np.cos(ANGLES), np.sin(ANGLES)]), 0.0)
    sides, limits = (-phi, -np.ones(len(y))) if problem.goal is Goal.MAX_MARGIN else (-phi, eps - y)
    found = linprog(np.ones(phi.shape[1]), A_ub=sides, b_ub=limits, method="highs")
    bound = relu_search(problem, GAP, None).lower
    if not found.fun:
        assert bound is None
        return
    assert isinstance(check(problem, None, bound), Accepted)
    m = len(problem.architecture.layers)
    reached = m / 2 * found.fun ** (2 / m)
    assert reached * (1 - 1e-5) <= value(problem, bound.bracket[0]) <= reached * (1 + 1e-6)


def trained(problem, seed):
    """The least ½N at margin 1, or with the targets met nearly, of a few descents in floats, written here anew."""
    random, layers = np.random.default_rng(seed), problem.architecture.layers
    sizes = [(one.outputs, one.inputs) for one in layers]
    X, y, m = float_rows(problem), float_targets(problem), len(layers)

    def output(theta):
        h, start = X.T, 0
        for (rows, columns), one in zip(sizes, layers, strict=True):
            h = theta[start : start + rows * columns].reshape(rows, columns) @ h
            h = np.maximum(h, 0.0) if one.slope == 0 else h
            start += rows * columns
        return h[0]

    def cost(theta):
        margins = y * output(theta)
        soft = margins.min() - np.log(np.exp(-30 * (margins - margins.min())).mean()) / 30
        return (theta @ theta) / max(soft, 1e-3) ** (2 / m)

    best = np.inf
    for _ in range(12):
        theta = random.normal(size=sum(a * b for a, b in sizes))
        if (y * output(theta)).min() <= 0:
            fitted = minimize(lambda t: np.logaddexp(0.0, -3 * y * output(t)).sum(), theta, method="BFGS")
            theta = fitted.x
        if (y * output(theta)).min() > 0:
            theta = minimize(cost, theta / (y * output(theta)).min() ** (1 / m), method="BFGS").x
            margin = (y * output(theta)).min()
            if margin > 0:
                best = min(best, theta @ theta / 2 / margin ** (2 / m))
    return best


@pytest.mark.parametrize("seed", [0, 3, 4, 6, 7, 9, 10, 13])
@pytest.mark.one_in(4)
def test_no_training_is_better_than_the_bound(seed):
    problem = drawn(seed)
    assert problem.goal is Goal.MAX_MARGIN
    bound = relu_search(problem, GAP, None).lower
    assert isinstance(check(problem, None, bound), Accepted)
    assert trained(problem, seed) >= value(problem, bound.bracket[0]) * (1 - 1e-9)


@pytest.mark.parametrize("seed", range(8))
def test_networks_that_are_drawn_and_meet_their_own_targets(seed):
    """J of a random network with its own outputs as targets is at least the bound."""
    random = np.random.default_rng(seed)
    slopes = ([0, 0], [0, 0, 0], [0, 1, 0])[seed % 3]
    architecture = shape([2, *[3] * len(slopes), 1], slopes)
    network = Network(architecture, [random.integers(-2, 3, n.parameter_count).tolist() for n in architecture.layers])
    X = random.integers(-3, 4, (4, 2)).tolist()
    y = [network(x) for x in X]
    problem = Problem(Dataset(X, y), architecture, goal=Goal.MIN_NORM, bias=Bias.NONE)
    bound = relu_search(problem, GAP, None).lower
    if not any(y):
        assert bound is None
        return
    above, below = power_of_objective(problem, network)
    assert isinstance(check(problem, None, bound), Accepted)
    assert bound.bracket[0] * below <= above


@pytest.mark.parametrize("scale", [F(1, 10**9), F(10**9)])
def test_the_bound_of_scaled_points_is_the_same(scale):
    """Weights of the first layer over the scale: J to the power m over its square."""
    X, y = [[1, 0], [0, 1], [-1, 2], [2, -1]], [1, -1, 1, -1]

    def power(factor):
        architecture = shape([2, 2, 2, 1], [0, 0])
        data = Dataset([[factor * z for z in x] for x in X], y)
        bound = relu_search(Problem(data, architecture, goal=Goal.MAX_MARGIN, bias=Bias.NONE), GAP, None).lower
        return bound.bracket[0] * factor**2

    assert power(scale) == pytest.approx(power(F(1)), rel=1e-6)


def test_which_problems_have_it():
    assert has_relu_layers(both_labels().problem)
    assert is_bracketed(both_labels().problem)
    shared = shape([2, 2, 2, 1], [0, 0], [[[0, None], [None, 0]], None, None])
    for other, parameters in (
        (shape([2, 2, 2, 1], [0, 1]), [[1] * 4, [1] * 4, [1] * 2]),
        (shape([2, 2, 2, 1], [0, "1/2"]), [[1] * 4, [1] * 4, [1] * 2]),
        (shared, [[1], [1] * 4, [1] * 2]),
    ):
        assert not has_relu_layers(case(other, parameters, [[1, 0]], [1]).problem)
    assert not has_relu_layers(chain().problem)


def test_where_nothing_is_proved(monkeypatch):
    at_zero = case(shape([2, 2, 2, 1], [0, 0]), [[1] * 4, [1] * 4, [1] * 2], [[0, 0], [1, 0]], [1, 1]).problem
    assert relu_search(at_zero, GAP, None).lower is None
    assert relu_search(at_zero, GAP, None).lower is None
    problem = both_labels().problem
    monkeypatch.setattr(module, "MOST_ROWS", 1)
    assert relu_search(problem, GAP, None).lower is None
    monkeypatch.setattr(module, "LARGEST", 1)
    assert relu_search(problem, GAP, None).status is SearchStatus.LARGE


def test_what_cannot_be_made_exact_is_left(monkeypatch):
    problem = both_labels().problem
    monkeypatch.setattr(module, "certified", lambda *_: None)
    assert relu_search(problem, GAP, None).lower is None
