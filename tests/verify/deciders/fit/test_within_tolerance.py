"""The least norm of networks that fit within a tolerance: against programs over all patterns, and metamorphic."""

from fractions import Fraction
from itertools import pairwise

import cvxpy as cp
import numpy as np
import pytest

from solvers.any_width.master import Column, solve_master
from solvers.programs.arrangements import cells
from tests.problems import instance_of
from verify import Bias, Dataset, Goal, Network, Problem
from verify.auditing.loop import certified_bracket
from verify.deciders.fit.within_tolerance import within_tolerance
from verify.deciders.global_optimality.infeasibility import infeasibility
from verify.deciders.witnesses import network_of_directions
from verify.problem.problem import objective

GAP = 1e-6


def problem_of(X, y, eps, *, slope=0, bias=Bias.NONE, masks=None, width=1):
    inputs = len(X[0])
    hidden = np.ones((width, inputs), int)
    if masks is not None:
        hidden = [[int(c in mask) for c in range(inputs)] for mask in masks]
    ones = [1] * len(hidden)
    b = None if bias is Bias.NONE else ones
    network = Network.two_layer(hidden, ones, b=b, slope=slope, masks=masks)
    return Problem(Dataset(X, y), network.architecture, goal=Goal.MIN_NORM, bias=bias, fit_tolerance=Fraction(eps))


def random_problem(seed, eps, *, bias=Bias.NONE, slope=0, points=5, masks=None):
    random = np.random.default_rng(seed)
    X = random.integers(-8, 9, (points, 2))
    y = random.integers(-6, 7, points)
    lines = [[Fraction(int(value), 4) for value in row] for row in X]
    return problem_of(lines, [Fraction(int(value), 3) for value in y], eps, slope=slope, bias=bias, masks=masks)


def enumerated(problem):
    """The optimum by one convex program over every cell of every mask class, with no use of duality."""
    instance = instance_of(problem)
    eps, a = float(problem.fit_tolerance), instance.slope
    outputs, cost, cone = 0, 0, []
    for seen in instance.masks:
        rows = instance.rows[:, seen]
        counted = [q for q, column in enumerate(seen) if column in problem.norm_columns]
        live = np.flatnonzero(rows.any(axis=1))
        for sides, _ in cells(rows[live]):
            side = np.ones(len(rows))
            side[live] = sides
            for sign in (1, -1):
                u = cp.Variable(len(seen))
                z = rows @ u
                cone.append(cp.multiply(side, z) >= 0)
                outputs = outputs + sign * cp.multiply(np.where(side > 0, 1.0, a), z)
                cost = cost + cp.norm(u[counted])
    program = cp.Problem(cp.Minimize(cost), [*cone, cp.abs(outputs - instance.targets) <= eps])
    program.solve(solver=cp.CLARABEL)
    return program.value


CASES = [
    (seed, eps, options)
    for seed, eps in ((1, "1/3"), (2, "1/100"), (3, "4/3"))
    for options in (
        {},
        {"slope": Fraction(1, 4)},
        {"slope": 1},
        {"bias": Bias.PENALISED, "points": 4},
        {"bias": Bias.FREE, "points": 4},
        {"masks": ((0,), (0, 1))},
    )
]


@pytest.mark.parametrize(("seed", "eps", "options"), CASES)
def test_the_bracket_holds_the_optimum_over_all_patterns(seed, eps, options):
    problem = random_problem(seed, eps, **options)
    if infeasibility(problem) is not None:
        assert enumerated(problem) == np.inf
        return
    found, optimum = certified_bracket(problem, GAP), enumerated(problem)
    lower, upper = map(float, found.ends)
    assert lower - 1e-6 * (1 + optimum) <= optimum <= upper + 1e-6 * (1 + optimum)
    if problem.bias is Bias.FREE and np.ptp(instance_of(problem).targets) <= 2 * float(problem.fit_tolerance):
        assert (lower, upper) == (0, pytest.approx(0, abs=1e-8))  # a constant comes as near to 0 as one likes
        return
    assert upper <= lower * (1 + GAP)
    assert found.status == "optimal"


def test_a_program_of_the_master_is_that_of_its_patterns():
    problem = random_problem(4, "1/5", points=6)
    instance = instance_of(problem)
    columns = [Column(0, sign, np.array(sides) > 0) for sides, _ in cells(instance.rows) for sign in (1, -1)]
    room = np.full(instance.points, 0.2)
    solution = solve_master(instance, instance.targets, columns, np.arange(6), 1e6, tolerances=room)
    assert solution.value == pytest.approx(enumerated(problem), rel=1e-6)
    gain = solution.multipliers @ instance.targets - 0.2 * np.abs(solution.multipliers).sum()
    assert gain == pytest.approx(solution.value, rel=1e-6)


# ------------------------------------------------------------------------------------------------- metamorphic


SINE = np.linspace(-1, 1, 9)


def sine(eps, *, scale=Fraction(1)):
    X = [[Fraction(float(x))] for x in SINE]
    y = [Fraction(float(np.sin(3 * x))) * scale for x in SINE]
    return problem_of(X, y, Fraction(eps) * scale, bias=Bias.PENALISED)


def ends(problem):
    lower, upper = certified_bracket(problem, GAP).ends
    assert lower <= upper <= lower * (1 + Fraction(2, 10**6))
    return lower, upper


def test_it_falls_with_the_tolerance():
    found = [ends(sine(eps)) for eps in ("0", "1/1000000000000000", "1/1000000", "1/100", "1/10", "1/2", "9/10")]
    for (narrow, _), (_, wide) in pairwise(found):
        assert wide <= narrow * (1 + Fraction(2, 10**6))
    assert found[1][0] == pytest.approx(found[0][0], rel=1e-5)
    assert found[3][1] < found[0][0]


def test_it_scales_with_the_targets_and_the_tolerance():
    lower, upper = ends(sine("1/10"))
    for scale in (Fraction(10) ** 9, Fraction(1, 10**9), Fraction(2, 7)):
        low, high = ends(sine("1/10", scale=scale))
        assert low <= upper * scale
        assert lower * scale <= high


def test_nothing_is_needed_where_the_tolerance_covers_the_targets():
    for eps in (1, 2, Fraction(sine(0).targets[2])):
        problem = sine(abs(eps) if eps in (1, 2) else max(map(abs, sine(0).targets)))
        found = certified_bracket(problem, GAP)
        assert found.ends == (0, 0)
        assert found.status == "optimal"
    assert ends(sine(Fraction(9999, 10000) * max(map(abs, sine(0).targets))))[1] > 0


def test_copies_of_a_point_may_have_targets_that_differ():
    """Within 1/4 of 1 and of 3/2 is [5/4, 5/4]; within less is nothing."""
    one = problem_of([[1]], [Fraction(5, 4)], 0)
    for eps, is_possible in (("1/4", True), ("1/5", False)):
        two = problem_of([[1], [1]], [1, Fraction(3, 2)], eps)
        assert (infeasibility(two) is None) is is_possible
        if is_possible:
            lower, upper = certified_bracket(two, GAP).ends
            assert lower <= certified_bracket(one, GAP).ends[1]
            assert upper >= certified_bracket(one, GAP).ends[0]


# ------------------------------------------------------------------------------------------------- exact networks


@pytest.mark.parametrize("eps", ["1/10", "1/1000000", "1/1000000000000000"])
def test_a_network_up_to_rounding_is_brought_inside(eps):
    """Directions that miss the ends by a billionth; a wide tolerance leaves most points alone."""
    problem = problem_of([[1, 0], [0, 1], [1, 1]], [2, -1, 1], eps)
    directions = np.array([[2 - float(Fraction(eps)) - 1e-9, 0.0], [0.0, 1 - float(Fraction(eps)) - 1e-9]])
    assert objective(problem, network_of_directions(problem, directions, [1, -1], [0, 0])) is None
    found = [objective(problem, network) for network in within_tolerance(problem, directions, [1, -1], [0, 0])]
    assert found[0] == pytest.approx(np.abs(directions).sum(), rel=1e-8)


def test_where_the_pattern_cannot_fit_nothing_is_returned():
    problem = problem_of([[1], [-1]], [1, 1], "1/10")
    assert list(within_tolerance(problem, np.array([[0.9]]), [1], [0], wider=False)) == []
