"""Infeasible data, brackets, better networks: through the public functions, and every certificate checked."""

import sys
import time
from fractions import Fraction
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from solvers.instance import SearchStatus
from solvers.programs.restricted import solve_all_cells
from tests import losses
from tests.problems import instance_of, random_problems
from verify import Architecture, Bias, Dataset, Goal, Network, Problem
from verify.checker import Accepted, check
from verify.checker.bounds import Infeasible
from verify.checker.optimal import BetterNetwork, OptimalWithin
from verify.deciders.global_optimality import float_search
from verify.deciders.global_optimality.better import better_network, optimal_within
from verify.deciders.global_optimality.bracket import bracket_optimum
from verify.deciders.global_optimality.infeasibility import infeasibility
from verify.deciders.global_optimality.record import trivial_lower_bound, zero_network
from verify.deciders.global_optimality.tree_walks import with_signs
from verify.deciders.proposal import sealed
from verify.problem.posing import pose
from verify.problem.problem import objective
from verify.strategies import contradictory, odd, separable, slopes


def posed(rows, targets, *, slope=0, bias=Bias.NONE, goal=Goal.MAX_MARGIN, masks=None, width=1):
    masks = masks or [range(len(rows[0]) + (bias is not Bias.NONE))] * width
    shape = Architecture.two_layer(len(rows[0]), len(masks), slope=slope, bias=bias is not Bias.NONE, masks=masks)
    return Problem(Dataset(rows, targets), shape, goal=goal, bias=bias)


def accepted(problem, network, certificate):
    result = check(problem, network, sealed(problem, network, certificate))
    assert isinstance(result, Accepted), result
    return result


def is_infeasible(problem):
    certificate = infeasibility(problem)
    if certificate is None:
        return False
    assert isinstance(certificate, Infeasible)
    accepted(problem, None, certificate)
    return True


def assert_is_a_bracket(problem, found, tol=Fraction(1, 10**6)):
    """Both ends are certified, near each other, and the upper one is the best witness."""
    lower, upper = found.ends
    assert accepted(problem, None, found.lower).certificate.bracket == (lower, None)
    assert accepted(problem, None, found.upper).certificate.bracket == (None, upper)
    assert lower <= upper <= lower * (1 + tol)
    values = [objective(problem, witness) for witness in found.witnesses]
    assert None not in values
    assert min(values) == upper
    return lower, upper


# ------------------------------------------------------------------------------------------------- infeasible data


ODD = [[1, 0], [0, 1], [1, 1], [-1, 0], [0, -1], [-1, -1]]
ODD_LABELS = [1, 1, -1, -1, -1, 1]


@pytest.mark.parametrize("slope", [0, "1/3", "9/10", 1])
@pytest.mark.parametrize("goal", Goal)
def test_odd_data(slope, goal):
    """No two points conflict, but the odd part of a network without biases is linear."""
    assert is_infeasible(posed(ODD, ODD_LABELS, slope=slope, goal=goal))
    assert not is_infeasible(posed(ODD[:-1], ODD_LABELS[:-1], goal=goal))
    assert not is_infeasible(posed(ODD, ODD_LABELS, slope="1/3", goal=goal, bias=Bias.PENALISED))
    assert is_infeasible(posed(ODD, ODD_LABELS, slope=1, goal=goal, bias=Bias.FREE))


FAR = pytest.mark.xfail(reason="multipliers are compared without the sizes of their points")


@pytest.mark.parametrize(
    "scale",
    [Fraction(1, 10**6), Fraction(1, 3), 10**6, *(pytest.param(Fraction(10) ** p, marks=FAR) for p in (-12, 12))],
)
def test_odd_data_at_any_scale(scale):
    factors = [scale if i % 2 else 1 for i in range(6)]
    rows = [[f * value for value in row] for f, row in zip(factors, ODD, strict=True)]
    assert is_infeasible(posed(rows, ODD_LABELS))
    targets = [f * y for f, y in zip(factors, ODD_LABELS, strict=True)]
    assert is_infeasible(posed(rows, targets, goal=Goal.MIN_NORM))


@given(odd(), slopes())
@settings(max_examples=25)
def test_odd_data_of_all_kinds(data, slope):
    assert is_infeasible(posed(data.inputs, data.targets, slope=slope))


@given(contradictory(), slopes(), st.booleans())
@settings(max_examples=25)
def test_contradictory_data(data, slope, margin):
    goal = Goal.MAX_MARGIN if margin else Goal.MIN_NORM
    assert is_infeasible(posed(data.inputs, data.targets, slope=slope, goal=goal))


@given(separable(), slopes())
@settings(max_examples=25)
def test_separable_data_are_feasible(data, slope):
    assert not is_infeasible(posed(data.inputs, data.targets, slope=slope))


@pytest.mark.parametrize("scale", [10**8, pytest.param(10**9, marks=FAR), pytest.param(10**30, marks=FAR)])
def test_two_points_on_one_ray(scale):
    assert is_infeasible(posed([[1, 2], [scale, 2 * scale]], [1, -1]))
    assert is_infeasible(posed([[1, 2], [scale, 2 * scale]], [1, 2 * scale], goal=Goal.MIN_NORM))


def test_plain_cases():
    assert is_infeasible(posed([[0, 0]], [1]))
    assert is_infeasible(posed([[0, 0]], [1], goal=Goal.MIN_NORM))
    assert not is_infeasible(posed([[0, 0], [1, 0]], [0, 1], goal=Goal.MIN_NORM))
    assert not is_infeasible(posed([[0, 0]], [1], bias=Bias.FREE))
    assert is_infeasible(posed([[1, 2], [2, 4]], [1, 3], goal=Goal.MIN_NORM))
    assert not is_infeasible(posed([[1, 2], [2, 4]], [1, 2], goal=Goal.MIN_NORM))
    assert not is_infeasible(posed([[1, 2], [-2, -4]], [1, 3], goal=Goal.MIN_NORM))
    assert is_infeasible(posed([[1, 2], [-2, -4]], [1, 3], goal=Goal.MIN_NORM, slope=1))
    assert is_infeasible(posed([[1, 1], [1, 1]], [1, -1], bias=Bias.PENALISED))


def test_masks_hide_the_difference():
    rows, targets = [[1, 1], [1, 2]], [1, -1]
    assert is_infeasible(posed(rows, targets, masks=[(0,)]))
    assert not is_infeasible(posed(rows, targets, masks=[(0,), (1,)]))
    assert not is_infeasible(posed(rows, targets, masks=[(0, 1)]))
    parity = [[1, 1], [1, -1], [-1, 1], [-1, -1]], [1, -1, -1, 1]
    assert is_infeasible(posed(*parity, masks=[(0,), (1,)]))  # a sum of functions of one coordinate each
    assert not is_infeasible(posed(*parity, masks=[(0, 1)]))


@pytest.mark.parametrize("gap", [Fraction(1, 10**6), Fraction(1, 10**9), Fraction(1, 10**12)])
@pytest.mark.parametrize("goal", Goal)
@pytest.mark.parametrize("bias", [Bias.NONE, Bias.PENALISED, Bias.FREE])
def test_nearly_the_same_points_with_opposite_labels_are_feasible(gap, goal, bias):
    """A certificate is exact: that the points are near is no contradiction."""
    rows = [[1, 0], [1, gap], [-1, 1], [0, -1]]
    assert not is_infeasible(posed(rows, [1, -1, 1, -1], goal=goal, bias=bias))


@pytest.mark.parametrize("goal", Goal)
def test_nearly_the_same_points_have_a_bracket(goal):
    problem = posed([[1, 0], [1, Fraction(1, 10**3)]], [1, -1], goal=goal)
    lower, upper = assert_is_a_bracket(problem, bracket_optimum(problem, None))
    assert lower > 1000
    assert upper < 10000


def test_points_1e_9_apart_stay_feasible_in_the_search():
    """Whatever floats make of it: no false certificate, and a bracket that holds what is known."""
    problem = posed([[1, 0], [1, Fraction(1, 10**9)]], [1, -1])
    found = bracket_optimum(problem, None, deadline=time.monotonic() + 5)
    lower, upper = found.ends
    assert lower is not None
    fits = Network.two_layer([[1, 0], [0, 2]], [1, -(10**9)])  # 1 at the first point, -1 at the other
    assert lower <= objective(problem, fits)
    assert upper is None or lower <= upper


NEARLY_ONE = Fraction(2**60 + 1, 2**60)


@pytest.mark.parametrize(
    ("rows", "targets", "options"),
    [
        ([[1], [2]], [1, 2 * NEARLY_ONE], {}),
        ([[1], [1]], [1, NEARLY_ONE], {}),
        ([[1, 2]] * 2 + [[3, 1]], [1, NEARLY_ONE, 5], {"slope": Fraction(1, 4)}),
        ([[1, 0], [0, 1], [1, 1]], [1, 1, 2 * NEARLY_ONE], {"slope": 1}),
        ([[1, 0], [-1, 0], [0, 1], [0, -1], [1, 1], [-1, -1]], [1, 0, 0, 1, NEARLY_ONE, 1], {}),
        ([[0], [1]], [NEARLY_ONE - 1, 1], {}),
        ([[1, 3], [1, 4]], [1, NEARLY_ONE], {"masks": [[0]]}),
        ([[2], [2]], [1, NEARLY_ONE], {"bias": Bias.FREE}),
    ],
)
def test_targets_that_are_contradictory_by_a_rounding_have_no_fit(rows, targets, options):
    problem = posed(rows, targets, goal=Goal.MIN_NORM, **options)
    proof = infeasibility(problem)
    assert isinstance(proof, Infeasible)
    accepted(problem, None, proof)
    exact = [y if y == round(y) else round(y) for y in targets]
    assert infeasibility(posed(rows, exact, goal=Goal.MIN_NORM, **options)) is None


def test_infeasibility_agrees_with_all_cells_on_random_problems():
    """The oracle is a float one: it may fail, but not contradict."""
    found = {True: 0, False: 0}
    for problem, _ in random_problems(77, 60):
        infeasible = is_infeasible(problem)
        found[infeasible] += 1
        status = solve_all_cells(instance_of(problem)).status.value
        assert status in (("infeasible", "failed") if infeasible else ("optimal", "inaccurate", "failed"))
    assert min(found.values()) > 5


# ------------------------------------------------------------------------------------------------- brackets


def test_theorem_3_2():
    problem = posed([["1", "1/4"], ["-1", "1/4"]], [1, 1])  # 8 / sqrt(17)
    lower, upper = assert_is_a_bracket(problem, bracket_optimum(problem, None))
    assert lower**2 <= Fraction(64, 17) <= upper**2


def test_the_given_network_is_where_the_search_starts():
    problem = posed([["1", "1/4"], ["-1", "1/4"]], [1, 1], width=2)
    network = Network.two_layer([[0, 2], [0, 0]], [2, 0])
    found = bracket_optimum(problem, network, subject=network)
    assert_is_a_bracket(problem, found)
    assert network in found.witnesses
    assert objective(problem, found.witnesses[0]) < 2
    assert found.status == "optimal"
    assert found.history


@pytest.mark.parametrize("bias", [Bias.NONE, Bias.PENALISED, Bias.FREE])
def test_zero_targets(bias):
    problem = posed([[1, 2], [3, 4], [0, 0]], [0, 0, 0], goal=Goal.MIN_NORM, bias=bias)
    found = bracket_optimum(problem, None)
    assert found.ends == (0, 0)
    assert_is_a_bracket(problem, found)


@pytest.mark.parametrize("label", [1, -1])
@pytest.mark.parametrize("goal", Goal)
@pytest.mark.parametrize("slope", [0, "1/3", 1])
def test_one_class_with_a_free_bias(label, goal, slope):
    """A constant fits; it costs as little as one likes, and 0 is attained by no network."""
    problem = posed([[1, 2], [3, 4], [0, 0]], [label] * 3, goal=goal, slope=slope, bias=Bias.FREE)
    found = bracket_optimum(problem, None)
    accepted(problem, None, found.lower)
    accepted(problem, None, found.upper)
    lower, upper = found.ends
    assert lower == 0
    assert 0 < upper < Fraction(1, 10**6)


@pytest.mark.parametrize("scale", [Fraction(1, 10**12), 10**12])
def test_the_bracket_follows_the_scale(scale):
    rows, targets = [[1, Fraction(1, 4)], [-1, Fraction(1, 4)], [2, -3]], [1, 1, -1]
    one = posed(rows, targets)
    large = posed([[scale * value for value in row] for row in rows], targets)
    lower, upper = assert_is_a_bracket(one, bracket_optimum(one, None))
    low, high = assert_is_a_bracket(large, bracket_optimum(large, None))
    assert low * scale <= upper
    assert lower <= high * scale


def test_no_time():
    problem = posed([["1", "1/4"], ["-1", "1/4"]], [1, 1])
    network = Network.two_layer([[0, 2]], [2])
    found = bracket_optimum(problem, network, subject=network, deadline=time.monotonic() - 1)
    accepted(problem, None, found.lower)
    lower, upper = found.ends
    assert 0 <= lower <= upper <= 4
    assert found.status == "time"


def test_an_interrupt_gives_what_is_known():
    problem = posed(ODD, [1, 1, 1, -1, 1, -1], bias=Bias.PENALISED, width=2)

    def interrupt(_):
        raise KeyboardInterrupt

    found = bracket_optimum(problem, None, on_progress=interrupt)
    assert found.status == "interrupted"
    lower, _ = found.ends
    accepted(problem, None, found.lower)
    best, upper = assert_is_a_bracket(problem, bracket_optimum(problem, None))
    assert 0 <= lower <= upper
    assert best > 0


@pytest.mark.parametrize("step", ["lower_bound", "narrow_first"])
def test_an_interrupt_while_the_bracket_is_made_exact_loses_nothing(monkeypatch, step):
    problem = posed(ODD, [1, 1, 1, -1, 1, -1], bias=Bias.PENALISED, width=2)
    module = sys.modules["verify.deciders.global_optimality.float_search"]
    whole, calls = getattr(module, step), []

    def once(*given):
        calls.append(given)
        if len(calls) == 1:
            raise KeyboardInterrupt
        return whole(*given)

    monkeypatch.setattr(module, step, once)
    found = bracket_optimum(problem, None)
    assert found.status == "interrupted"
    accepted(problem, None, found.lower)
    lower, upper = assert_is_a_bracket(problem, found)
    assert 0 < lower <= upper

    def always(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(module, step, always)
    with pytest.raises(KeyboardInterrupt):
        bracket_optimum(problem, None)


def test_nothing_below_zero():
    for masks in (None, [(0,), (1,)]):
        problem = posed([[1, 2]], [1], masks=masks)
        assert accepted(problem, None, trivial_lower_bound(problem)).certificate.bracket == (0, None)


def test_the_zero_network():
    problem = posed([[1, 2]], [0], goal=Goal.MIN_NORM, masks=[(0, 1), (1,)])
    zero = zero_network(problem)
    assert objective(problem, zero) == 0
    assert set(zero.architecture.masks) <= set(problem.mask_classes)


# ------------------------------------------------------------------------------------------------- better networks


PAIR = [["1", "1/4"], ["-1", "1/4"]], [1, 1]
NARROW = Network.two_layer([[0, 2]], [2])  # the best of width 1: objective 4
WIDE = Network.two_layer([[1, 0], [-1, 0]], [1, 1])  # 2


def test_a_wider_network_is_better_only_at_any_width():
    problem = posed(*PAIR)
    zero = Fraction(0)
    assert better_network(problem, NARROW, NARROW, [WIDE], zero, own_width=True) is None
    better = better_network(problem, NARROW, NARROW, [WIDE], zero, own_width=False)
    assert isinstance(better, BetterNetwork)
    assert (better.scope, better.witness, better.subject, better.moved) == ("any-width", WIDE, None, 0)
    assert accepted(problem, NARROW, better).certificate.scope == "any-width"


def test_a_network_of_the_same_width_is_better_in_both_scopes():
    problem = posed(*PAIR, width=2)
    padded = Network.two_layer([[0, 2], [0, 0]], [2, 0])
    for own_width, scope in ((True, "own-width"), (False, "any-width")):
        better = better_network(problem, padded, padded, [WIDE], Fraction(0), own_width=own_width)
        assert accepted(problem, padded, better).certificate.scope == scope


def test_better_means_by_more_than_the_tolerance():
    problem = posed(*PAIR)
    for tolerance, is_better in ((Fraction(99, 100), True), (Fraction(1), False), (Fraction(2), False)):
        better = better_network(problem, NARROW, NARROW, [WIDE], tolerance, own_width=False)
        assert (better is not None) == is_better
        if better is not None:
            assert better.tolerance == tolerance
            accepted(problem, NARROW, better)


def test_witnesses_that_do_not_fit_or_are_worse_are_passed_over():
    problem = posed(*PAIR)
    misfit, worse = Network.two_layer([[1, 0]], [1]), Network.two_layer([[0, 4]], [2])
    assert better_network(problem, NARROW, NARROW, [misfit, worse], Fraction(0), own_width=False) is None
    better = better_network(problem, NARROW, NARROW, [misfit, worse, WIDE], Fraction(0), own_width=False)
    assert better.witness == WIDE


def test_a_moved_subject_is_named():
    given_ = Network.two_layer([[0.0, 2.001]], [2.0])
    better = better_network(posed(*PAIR), given_, NARROW, [WIDE], Fraction(0), own_width=False)
    assert better.subject == NARROW.parameters
    assert 0 < better.moved < Fraction(1, 1000)
    accepted(posed(*PAIR), given_, better)


def test_own_width_is_counted_for_each_mask():
    """Two neurons of mask (0,) are more than one, whatever neurons of other masks are missing."""
    rows, targets, masks = [[1, 1], [-1, 1]], [1, 1], [(0,), (1,)]
    problem = posed(rows, targets, masks=masks)
    bad = Network.two_layer([[0, 0], [0, 9]], [0, 1], masks=masks)
    one = Network.two_layer([[0, 1]], [1], masks=[(1,)])
    two = Network.two_layer([[1, 0], [-1, 0]], [1, 1], masks=[(0,), (0,)])
    for witness, is_own in ((one, True), (two, False)):
        own = better_network(problem, bad, bad, [witness], Fraction(0), own_width=True)
        wide = better_network(problem, bad, bad, [witness], Fraction(0), own_width=False)
        assert (own is not None) == is_own
        if own is not None:
            accepted(problem, bad, own)
        assert accepted(problem, bad, wide).certificate.scope == "any-width"


def test_masked_brackets_have_masked_witnesses():
    masks = [(0,), (1,)]
    problem = posed([[1, 2], [-1, 1], [2, -1]], [1, 1, 1], masks=masks)
    found = bracket_optimum(problem, None)
    assert_is_a_bracket(problem, found)
    assert all(set(witness.architecture.masks) <= set(masks) for witness in found.witnesses)
    free = posed([[1, 2], [-1, 1], [2, -1]], [1, 1, 1])
    assert bracket_optimum(free, None).ends[0] < found.ends[0]


@pytest.mark.parametrize(
    ("rows", "targets", "masks", "squared_optimum"),
    [
        ([[1], [-1]], [1, -1], [(0,)], 4),
        ([[1, 0], [0, 1]], [1, 1], [(0, 1)], 2),
        ([[1, 0], [-1, 1], [0, -1]], [1, -1, 1], [(0, 1), (0, 1, 2)], Fraction(8, 9)),
    ],
)
def test_masks_that_hide_a_free_bias(rows, targets, masks, squared_optimum):
    problem = posed(rows, targets, masks=masks, bias=Bias.FREE)
    lower, upper = assert_is_a_bracket(problem, bracket_optimum(problem, None))
    assert lower**2 <= squared_optimum <= upper**2


@pytest.mark.parametrize("shift", [0, 17 * 10**8, Fraction(1, 3) - 10**12])
def test_a_free_bias_takes_up_any_translation(shift):
    """x = k + shift, labels 1, 1, -1, 1, -1: three hats of the steepest slopes, 8."""
    problem = posed([[k + shift] for k in range(5)], [1, 1, -1, 1, -1], bias=Bias.FREE)
    lower, upper = assert_is_a_bracket(problem, bracket_optimum(problem, None))
    assert lower <= 8 <= upper
    assert upper - lower < Fraction(1, 10**5)


@pytest.mark.parametrize("goal", list(Goal))
def test_regressions_with_free_biases_close(goal):
    """Twelve points in the plane: the trees are a few dozen nodes."""
    random = Random(5)
    X = [[Fraction(random.randint(-99, 99), 100) for _ in range(2)] for _ in range(12)]
    y = [random.choice([-1, 1]) if goal is Goal.MAX_MARGIN else Fraction(random.randint(-99, 99), 100) for _ in X]
    problem = posed(X, y, goal=goal, bias=Bias.FREE)
    optimum = bracket_optimum(problem, None)
    lower, upper = assert_is_a_bracket(problem, optimum)
    assert upper <= lower * (1 + Fraction(1, 10**5))


# ------------------------------------------------------------------------------------------------- optimal within


def test_optimal_within_the_tolerance():
    problem = posed(*PAIR)
    found = bracket_optimum(problem, None)
    excess = 4 / found.ends[0] - 1
    assert optimal_within(problem, NARROW, NARROW, found.lower, excess - Fraction(1, 10**9)) is None
    proof = optimal_within(problem, NARROW, NARROW, found.lower, excess)
    assert isinstance(proof, OptimalWithin)
    assert (proof.subject, proof.moved, proof.tolerance) == (None, 0, excess)
    assert accepted(problem, NARROW, proof).certificate.lower.bracket == (found.ends[0], None)
    given_ = Network.two_layer([[0.0, 2.001]], [2.0])
    moved = optimal_within(problem, given_, NARROW, found.lower, excess)
    assert moved.subject == NARROW.parameters
    accepted(problem, given_, moved)


def test_what_does_not_fit_is_not_optimal():
    problem = posed(*PAIR)
    found = bracket_optimum(problem, None)
    misfit = Network.two_layer([[1, 0]], [1])
    assert optimal_within(problem, misfit, misfit, found.lower, Fraction(100)) is None


@pytest.mark.parametrize(
    ("rows", "targets"),
    [
        ([[2, -2], [-1, -1], [-2, 1], [-2, 2]], [2, 0, 2, 3]),
        ([[1, 1, 0], [0, 1, 1], [1, 0, 1], [0, 0, 0]], [1, 1, 1, 0]),
        ([[1, 1, 0], [0, 1, 1], [1, 0, 1]], [3, 2, 2]),
        ([[1, 1, 0], [0, 1, 1], [1, 0, 1], [1, 1, 1]], [1, 1, 1, 0]),
    ],
)
def test_symmetric_data_with_a_free_bias(rows, targets):
    """Ascents whose p vanishes must not count as violators: the search would stop at half the optimum."""
    bracket = bracket_optimum(posed(rows, targets, goal=Goal.MIN_NORM, bias=Bias.FREE), None)
    low, high = bracket.ends
    assert bracket.status == "optimal"
    assert high <= low * (1 + Fraction(1, 10**6))


@pytest.mark.parametrize("goal", ["max-margin", "min-norm"])
def test_brackets_of_linear_networks_in_many_columns_close(goal):
    random = np.random.default_rng(0)
    X, w = random.normal(size=(20, 60)), random.normal(size=60)
    y = X @ w if goal == "min-norm" else np.sign(X @ w)
    problem = pose(Network.two_layer([w], [1.0], slope=1.0), (X, y), goal=goal)
    found = bracket_optimum(problem, None, tol=1e-6)
    lower, upper = found.ends
    assert found.status == "optimal"
    assert lower <= upper <= lower * (1 + Fraction(1, 10**6))
    assert len(found.witnesses[0].output_weights) == 1


def test_each_node_of_a_tree_comes_with_the_signs_of_its_path():
    """On the side 1 of point 0 nothing more is decided, on its side -1 points 2 and 1."""
    nodes = [0, "a", 2, 1, "b", "c", "d"]
    walked = [(node, tuple(signs)) for node, signs in with_signs(nodes, 3)]
    assert walked == [
        (0, (0, 0, 0)),
        ("a", (1, 0, 0)),
        (2, (-1, 0, 0)),
        (1, (-1, 0, 1)),
        ("b", (-1, 1, 1)),
        ("c", (-1, -1, 1)),
        ("d", (-1, 0, -1)),
    ]
    assert [(node, tuple(signs)) for node, signs in with_signs(["whole"], 2)] == [("whole", (0, 0))]


def test_a_bracket_of_a_loss_that_is_wider_than_asked_is_not_called_optimal(monkeypatch):
    asked = losses.posed("hinge", [[1, 0], [0, 1], [1, 1]], [1, -1, 1], decay=Fraction(1, 4))
    assert bracket_optimum(asked, None).status is SearchStatus.OPTIMAL
    monkeypatch.setattr(float_search, "lower_bound", lambda *_: None)  # a proof that could not be made exact
    found = bracket_optimum(asked, None)
    assert found.ends[0] == 0 < found.ends[1]
    assert found.status is SearchStatus.STALLED
