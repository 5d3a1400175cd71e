"""The audit of 360 random small problems against the enumeration of all cells by cvxpy, and against plain definitions.

An optimum 0 (a free bias, and targets that a constant meets) is an infimum that no network attains: there the bracket
must be [0, tiny].
"""

import json
from fractions import Fraction
from functools import cache
from random import Random

import pytest

from solvers.instance import Status
from solvers.programs.restricted import solve_all_cells
from tests import naive
from tests.problems import instance_of, random_problems
from verify import Architecture, Bias, Dataset, Goal, Network, Problem, Verdict, audit
from verify.checker import Accepted, check, read_certificate
from verify.checker.bounds import Infeasible, LowerBound, UpperBound

SEED, COUNT, MASKED = 20260727, 300, 60
TOLERANCE = Fraction(1, 10**6)


@cache
def problems():
    """The 300 of `tests.problems`, and 60 with masks on which goals, slopes and biases take turns."""
    return [*random_problems(SEED, COUNT), *masked_problems()]


def masked_problems():
    random = Random(SEED)
    for number in range(MASKED):
        goal, bias = (Goal.MAX_MARGIN, Goal.MIN_NORM)[number % 2], tuple(Bias)[number // 2 % 3]
        slope = (Fraction(0), Fraction(1, 4), Fraction(7, 10), Fraction(1))[number // 6 % 4]
        d, points = random.randint(2, 3), random.randint(1, 6)
        columns = d + (bias is not Bias.NONE)
        masks = [sorted(random.sample(range(columns), random.randint(1, columns))) for _ in range(random.randint(1, 3))]
        shape = Architecture.two_layer(d, len(masks), slope=slope, bias=bias is not Bias.NONE, masks=masks)
        hidden = [Fraction(random.randint(-8, 8), 4) for _ in range(shape.layers[0].parameter_count)]
        network = Network(shape, (hidden, [Fraction(random.choice([-5, -2, 1, 3]), 4) for _ in masks]))
        X = [[Fraction(random.randint(-8, 8), 4) for _ in range(d)] for _ in range(points)]
        values = [network(x) + random.choice([0, 0, Fraction(1, 8)]) for x in X]
        y = values if goal is Goal.MIN_NORM else [1 if value > 0 else -1 for value in values]
        yield Problem(Dataset(X, y), shape, goal=goal, bias=bias), network


def size(problem):
    """The unit of the objective: what scaling the points and the targets multiplies it with."""
    rows = [max(map(abs, x)) for x in problem.data.inputs]
    height = 1 if problem.goal is Goal.MAX_MARGIN else max(map(abs, problem.data.targets))
    return Fraction(height) / (max(rows) or 1)


def accepted_again(problem, network, certificate):
    """The checker's answer after a round trip through text."""
    text = json.dumps(certificate.to_json())
    kept = read_certificate(text)
    assert kept == certificate
    result = check(problem, network, kept)
    assert isinstance(result, Accepted), result
    return result


@pytest.mark.parametrize("number", range(COUNT + MASKED))
@pytest.mark.one_in(8)
def test_the_audit_agrees_with_the_enumeration(number):
    problem, network = problems()[number]
    result = audit(network, problem.data, goal=problem.goal, bias=problem.bias)
    oracle = solve_all_cells(instance_of(problem))

    assert result.problem == problem
    for certificate in result.certificates.values():
        accepted_again(problem, network, certificate)
    assert (result.fits.verdict is Verdict.PROVED) == (result.fits.moved != 0 or naive.fits(problem, network))
    if result.fits.verdict is Verdict.REFUTED:
        assert not naive.fits(problem, network)
        assert all(finding.verdict is Verdict.REFUTED for finding in result.findings.values())

    if result.infeasible:
        assert oracle.status in (Status.INFEASIBLE, Status.FAILED)
        assert any(isinstance(c, Infeasible) for c in result.certificates.values())
        assert result.bracket is None
        assert not naive.fits(problem, network)
        return
    assert oracle.status is not Status.INFEASIBLE
    lower, _ = result.bracket
    witness = next((c.witness for c in result.bounds if isinstance(c, UpperBound)), network)
    assert naive.fits(problem, witness)  # so that the data can be fitted whatever the oracle says
    if oracle.status is not Status.FAILED:
        agree_on_the_optimum(result, Fraction(oracle.value))
    assert any(isinstance(c, LowerBound) and c.bracket[0] == lower for c in result.bounds)


def agree_on_the_optimum(result, optimum):
    problem, (lower, upper) = result.problem, result.bracket
    room = Fraction(1, 10**4) if problem.bias is Bias.FREE else TOLERANCE
    unit = size(problem)
    if optimum <= unit * Fraction(1, 10**6):
        assert 0 == lower <= upper <= unit * Fraction(1, 10**6)
        return
    assert lower <= optimum * (1 + room)
    assert optimum * (1 - room) <= upper
    bias_column = len(problem.rows[0]) - 1
    if problem.bias is Bias.FREE and any(bias_column not in mask for mask in problem.mask_classes):
        return  # sound, but not narrow yet: the dual point is balanced although no neuron may need it
    assert upper - lower <= 2 * room * lower
    decide_by_value(result, optimum, room)


def decide_by_value(result, optimum, room):
    """What the optimum says of the verdicts, where the network's objective is clearly on one side."""
    own = naive.objective(result.problem, result.network)
    if own is None:
        return
    assert result.objective == own
    assert own >= optimum * (1 - room)
    if own > optimum * (1 + 4 * room):
        assert result.global_any_width.verdict is Verdict.REFUTED
        assert result.global_optimum.verdict is not Verdict.PROVED
    elif own < optimum * (1 + TOLERANCE / 4):
        assert result.global_any_width.verdict is result.global_optimum.verdict is Verdict.PROVED
    else:
        assert result.global_any_width.verdict is not Verdict.REFUTED or own > optimum * (1 + TOLERANCE / 4)


def test_both_goals_biases_slopes_and_verdicts_occur():
    for part in (problems()[:COUNT], problems()[COUNT:]):
        kinds = {(p.goal, p.bias, p.architecture.slope in (0, 1)) for p, _ in part}
        assert len(kinds) == 2 * 3 * 2
    assert any(len(p.mask_classes) > 1 for p, _ in problems())
    assert sum(naive.fits(p, n) for p, n in problems()) >= 60


def bracket_width(network, X, y, **options):
    """The relative width of the bracket; 1 when its lower end is 0."""
    lower, upper = audit(network, Dataset(X, y), **options).bracket
    return 1 - lower / upper


@pytest.mark.parametrize(("X", "y"), [([[1]], [1]), ([[1], [2]], [1, 1]), ([[1], [-1]], [1, 1])])
def test_a_free_bias_that_no_mask_class_sees(X, y):
    """Without the bias the optimum is that of the problem without bias, and sum lambda_i y_i need not be 0."""
    network = Network.two_layer([[2]], [1], b=[0], masks=[(0,)])
    assert bracket_width(network, X, y, bias=Bias.FREE) <= Fraction(1, 10**4)


def test_tiny_points_beside_a_penalised_bias():
    X = [[1, 26, 23], [19, 8, -21], [-13, -7, 0], [38, -14, 18], [-29, -21, 5]]
    X = [[Fraction(value, 16 * 10**6) for value in x] for x in X]
    network = Network.two_layer([["-3/2", "-2", "3/4"]], ["5/4"], b=["-7/4"])
    width = bracket_width(network, X, ["3/4", -2, -1, "5/4", 0], goal=Goal.MIN_NORM, bias=Bias.PENALISED)
    assert width <= Fraction(1, 10**4)
