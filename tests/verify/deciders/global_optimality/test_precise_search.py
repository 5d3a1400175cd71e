"""Data that floats cannot tell apart or hold: every bracket closes, and agrees with a value known by another way."""

from fractions import Fraction
from random import Random

import pytest

from verify import Bias, Dataset, Goal, Network, Problem, Verdict, audit
from verify.auditing.loop import certified_bracket
from verify.checker import Accepted, check
from verify.checker.exact import sqrt_lower, sqrt_upper, squared_norm
from verify.deciders.global_optimality.precise_search import precise_bracket
from verify.problem.problem import objective

GAPS = [27, 40]


def posed(X, y, *, bias=Bias.NONE, goal=Goal.MAX_MARGIN, slope=0, masks=None) -> Problem:
    width = len(masks or [0])
    b = None if bias is Bias.NONE else [0] * width
    network = Network.two_layer([[0] * len(X[0])] * width, [1] * width, b=b, slope=slope, masks=masks)
    return Problem(Dataset(X, y), network.architecture, goal=goal, bias=bias)


def closed(problem, tol=1e-6):
    found = certified_bracket(problem, tol)
    low, high = found.ends
    assert low is not None
    assert high is not None
    for certificate in (found.lower, found.upper):
        assert certificate is not None
        assert isinstance(check(problem, None, certificate), Accepted)
    assert low <= high <= low * (1 + Fraction(tol))
    assert found.status == "optimal"
    return low, high


def norm_between(numbers):
    return sqrt_lower(squared_norm(numbers), 80), sqrt_upper(squared_norm(numbers), 80)


@pytest.mark.parametrize("goal", Goal)
@pytest.mark.parametrize("gap", [10, 40, 52])
def test_two_near_points_with_opposite_labels(gap, goal):
    """(1, 1) and (1, 1 + d): neurons orthogonal to the other point, (||x_1|| + ||x_2||) / d."""
    d = Fraction(1, 2**gap)
    X = [[1, 1], [1, 1 + d]]
    ends = [norm_between(x) for x in X]
    low, high = closed(posed(X, [1, -1], goal=goal))
    assert low <= sum(end for _, end in ends) / d
    assert sum(end for end, _ in ends) / d <= high


@pytest.mark.parametrize("kind", ["plain", "leaky", "penalised", "free", "min-norm", "masks", "antipodal", "line"])
@pytest.mark.parametrize("gap", GAPS)
@pytest.mark.one_in(4)
def test_a_near_pair_among_others(kind, gap):
    d = Fraction(1, 2**gap)
    X, y = [[1, 1], [1, 1 + d], [-1, 2], [1, -1]], [1, -1, 1, -1]
    match kind:
        case "plain":
            problem = posed([*X, [0, -3]], [*y, 1])
        case "leaky":
            problem = posed(X, y, slope=Fraction(1, 4))
        case "penalised" | "free":
            problem = posed([[1], [1 + d], [3], [-2]], y, bias=Bias(kind))
        case "min-norm":
            problem = posed(X, [1, -1, 2, 0], goal=Goal.MIN_NORM)
        case "masks":
            problem = posed([[1, 1, 1], [1, 1 + d, 1], [2, 1, -1]], [1, -1, 1], masks=[(0, 1), (1, 2)])
        case "antipodal":
            half = [[1, 0], [0, 1], [1, 1]]  # odd but for d, and the odd part is not linear
            problem = posed([*half, [-1, d], [d, -1], [-1, -1 - d]], [1, 1, -1, -1, -1, 1])
        case _:
            problem = posed([[1, 1], [2, 2 + d]], [1, -1])
    low, _ = closed(problem)
    # f is Lipschitz with the value as constant, and the two points ask for a change of 2 within d
    assert low >= 2 ** (gap - 1) or kind in ("antipodal", "line")


SUBNORMAL = Fraction(5e-324)


@pytest.mark.parametrize(
    ("X", "options"),
    [
        ([[SUBNORMAL, 0], [0, SUBNORMAL]], {}),
        ([[SUBNORMAL, 2 * SUBNORMAL], [3 * SUBNORMAL, SUBNORMAL]], {"goal": Goal.MIN_NORM}),
        ([[SUBNORMAL], [2 * SUBNORMAL]], {"bias": Bias.FREE}),
        ([[SUBNORMAL, 1], [1, SUBNORMAL]], {}),
        ([[10**300, 0], [0, Fraction(1, 10**300)]], {}),
        ([[Fraction(10) ** 400, 0], [0, Fraction(10) ** 390]], {"goal": Goal.MIN_NORM}),
    ],
)
def test_numbers_at_the_ends_of_floats_and_beyond(X, options):
    closed(posed(X, [1, -1], **options))


def test_numbers_that_ask_for_too_many_digits_leave_the_bracket_open():
    """(1e300 k, 1) with a penalised bias: rows that differ by 1e-300."""
    found = certified_bracket(posed([[10**300], [2 * 10**300]], [1, -1], bias=Bias.PENALISED))
    assert found.status == "stalled"
    assert found.lower is not None
    assert found.upper is None


def test_orthogonal_points_of_very_different_norms():
    """1 / ||x|| for each label's point, as ReLU neurons see one each."""
    low, high = closed(posed([[10**300, 0], [0, Fraction(1, 10**300)]], [1, -1]))
    true = Fraction(10) ** 300 + Fraction(1, 10**300)
    assert low <= true <= high


def test_columns_of_very_different_units():
    X = [[Fraction(z) for z in row] for row in ([1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1])]
    units = [Fraction(1, 10**12), Fraction(10**6), Fraction(1), Fraction(1, 1000)]
    X = [[z * unit for z, unit in zip(row, units, strict=True)] for row in X]
    low, high = closed(posed(X, [1, 1, -1, -1]))
    ends = [norm_between([1 / units[a], 1 / units[b]]) for a, b in ((0, 1), (2, 3))]
    assert low <= sum(end for _, end in ends)
    assert sum(end for end, _ in ends) <= high


@pytest.mark.parametrize("seed", range(4))
def test_it_agrees_with_the_search_in_floats(seed):
    """On ordinary data, where the audit never asks it."""
    random = Random(seed)
    goal, bias = list(Goal)[seed % 2], list(Bias)[seed % 3]
    X = [[random.randint(-6, 6), random.randint(-6, 6)] for _ in range(5)]
    y = [random.choice([-1, 1]) for _ in X]
    problem = posed(X, y, goal=goal, bias=bias, slope=Fraction(seed % 2, 3))
    low, high = closed(problem)
    found = precise_bracket(problem, [], 1e-8)
    assert found.lower is not None
    assert isinstance(check(problem, None, found.lower), Accepted)
    best = min(value for witness in found.witnesses if (value := objective(problem, witness)) is not None)
    assert found.lower.bracket[0] <= high
    assert low <= best
    assert best <= found.lower.bracket[0] * (1 + Fraction(1, 10**7))


def test_what_it_does_not_try():
    many = posed([[k, 1] for k in range(17)], [1, -1] * 8 + [1])
    tube = posed([[1], [2]], [1, 3], goal=Goal.MIN_NORM).within(Fraction(1, 8))
    nothing = posed([[1]], [0], goal=Goal.MIN_NORM)
    for problem in (many, tube, nothing):
        found = precise_bracket(problem, [], 1e-6)
        assert found.lower is None
        assert not found.witnesses
    far = precise_bracket(posed([[10**300], [2 * 10**300]], [1, -1], bias=Bias.PENALISED), [], 1e-6)
    assert far.lower is None
    late = precise_bracket(posed([[1, 1], [1, 2]], [1, -1]), [], 1e-6, deadline=0.0)
    assert late.lower is None


def test_an_audit_of_near_points():
    d = Fraction(1, 2**27)
    network = Network.two_layer([[1 + d, -1], [-1, 1]], [1, -1])
    result = audit(network, Dataset([[1, 1], [1, 1 + d]], [1, -1]))
    assert result.global_any_width.verdict is Verdict.REFUTED
    assert result.bracket is not None
    assert result.bracket[1] <= result.bracket[0] * (1 + Fraction(1, 10**6))
    assert result.excess is not None
    assert Fraction(6, 100) < result.excess[0] < Fraction(61, 1000)
