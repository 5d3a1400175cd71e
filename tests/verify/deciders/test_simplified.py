"""Copies, far points and great scales: another problem is searched, what is said is about the given one."""

from fractions import Fraction
from random import Random

import pytest

from tests import exact_states
from tests.forging import accepted
from tests.timing import cpu_seconds
from verify import Bias, Dataset, Goal, Network, Problem, Verdict, audit
from verify.auditing.loop import certified_bracket
from verify.checker import Accepted, check
from verify.checker.bounds import LowerBound
from verify.checker.dual_trees import Bound, Empty, Together
from verify.checker.local import Local
from verify.checker.states import HiddenDual
from verify.checker.width import LowerBoundWidth
from verify.deciders.global_optimality.infeasibility import infeasibility
from verify.deciders.simplified import distinct, simplified
from verify.problem.problem import objective, outputs

XOR = ([[0, 0], [1, 1], [0, 1], [1, 0]], [1, 1, -1, -1])


def posed(X, y, *, bias=Bias.NONE, goal=Goal.MAX_MARGIN, slope=0, masks=None) -> Problem:
    columns = len(X[0]) + (bias is not Bias.NONE)
    shown = masks or [tuple(range(columns))]
    W = [[Fraction(int(c in mask)) for c in range(len(X[0]))] for mask in shown]
    b = None if bias is Bias.NONE else [Fraction(int(len(X[0]) in mask)) for mask in shown]
    network = Network.two_layer(W, [1] * len(W), b=b, slope=slope, masks=masks)
    return Problem(Dataset(X, y), network.architecture, goal=goal, bias=bias)


def closes(problem, tol=1e-6):
    found = certified_bracket(problem, tol)
    low, high = found.ends
    assert low is not None
    assert high is not None
    assert found.lower is not None
    assert found.upper is not None
    for certificate in (found.lower, found.upper):
        assert isinstance(check(problem, None, certificate), Accepted)
    assert low <= high <= low * (1 + Fraction(tol))
    return low, high


def test_ordinary_problems_stay_as_they_are():
    for bias in Bias:
        problem = posed(*XOR, bias=bias)
        assert simplified(problem).is_same
        assert simplified(problem).problem is problem


def test_what_is_simplified():
    problem = posed([[1001], [1000], [1001], [1001], [1003]], [1, 1, -1, 1, 1], bias=Bias.FREE)
    found = simplified(problem)
    assert (found.kept, found.groups) == ((0, 1, 2, 4), (0, 1, 2, 0, 3))
    assert found.shift == (1001,)
    assert [x for (x,) in found.problem.inputs] == [0, -1, 0, 2]
    assert distinct(problem).problem.inputs == ((1001,), (1000,), (1001,), (1003,))
    assert simplified(posed([[1001], [1000]], [1, -1], bias=Bias.PENALISED)).is_same
    tall = simplified(posed([[Fraction(2) ** 80], [1]], [4**40, 1], goal=Goal.MIN_NORM))
    assert (tall.size, tall.height) == (-40, -40)
    assert tall.problem.inputs[0] == (1,)
    assert tall.problem.targets[0] == 1


@pytest.mark.parametrize("bias", Bias)
@pytest.mark.parametrize("goal", Goal)
def test_networks_go_there_and_back(goal, bias):
    random = Random(5)
    far = 0 if bias is not Bias.FREE else 10**9
    scale = Fraction(1) if bias is Bias.PENALISED else Fraction(10) ** 30
    X = [[scale * (far + random.randint(-3, 3)) for _ in range(2)] for _ in range(5)]
    W = [[random.randint(1, 5), random.randint(-5, 5)] for _ in range(3)]
    b = None if bias is Bias.NONE else [random.randint(-4, 4) * scale for _ in range(3)]
    network = Network.two_layer(W, [1, -2, 3], b=b)
    values = [network(x) for x in X]
    y = values if goal is Goal.MIN_NORM else [1 if value > 0 else -1 for value in values]
    problem = Problem(Dataset(X * 2, y * 2), network.architecture, goal=goal, bias=bias)
    simple = simplified(problem)
    there = simple.carried(network)
    assert simple.returned(there) == network
    wanted = [value * Fraction(4) ** simple.height for value in values]
    assert [outputs(simple.problem, there)[simple.groups[i]] for i in range(5)] == wanted
    ours, theirs = objective(problem, network), objective(simple.problem, there)
    assert (ours is None) == (theirs is None)
    if ours is not None and theirs is not None:
        assert ours == theirs * simple.unit


def ranges_of(proof: LowerBound) -> int:
    return sum(len(node.ranges) for tree in proof.trees for node in tree if isinstance(node, Bound))


@pytest.mark.parametrize("scale", [Fraction(10) ** -30, Fraction(1), Fraction(10) ** 30, Fraction(10) ** 400])
def test_bounds_and_networks_are_returned(scale):
    """Three copies of generic data of any scale: bounds with splits and ranges are proved for all points."""
    random = Random(11)
    listed = 0
    for goal in Goal:
        X = [[random.randint(-9, 9), random.randint(-9, 9), 1] for _ in range(6)]
        y = [random.choice([-1, 1]) * (1 if goal is Goal.MAX_MARGIN else random.randint(1, 5)) for _ in X]
        base = posed(X, y, goal=goal)
        low, high = closes(base)
        moved = posed([[scale * value for value in x] for x in X * 3], y * 3, goal=goal)
        lower, upper = closes(moved)
        assert lower <= high / scale
        assert low / scale <= upper
        assert simplified(moved).unit in (1 / scale, Fraction(4) ** simplified(moved).size)
        inner = certified_bracket(simplified(moved).problem, 1e-6).lower
        assert inner is not None
        listed += ranges_of(inner)
        assert ranges_of(simplified(moved).returned_bound(inner)) == ranges_of(inner)
    assert listed


def test_empty_cells_are_returned():
    problem = posed([[4], [4], [-1]], [1, 1, -1])
    proof = LowerBound(
        multipliers=((0, Fraction(1)),),
        beta=Fraction(9),
        bracket=(Fraction(0), None),
        denominator=1,
        trees=((0, 1, Empty(((0, 1), (1, 2))), Bound(("e",))),),
    )
    moved = distinct(problem).returned_bound(proof)
    assert moved.trees == ((0, 2, Empty(((0, 1), (2, 2))), Bound(("e",))),)


def test_a_fit_tolerance_follows_the_targets():
    problem = posed([[1], [2]], [4**10, 1], goal=Goal.MIN_NORM).within(Fraction(1, 3))
    assert simplified(problem).problem.fit_tolerance == Fraction(1, 3 * 4**10)
    assert distinct(posed([[1], [1]], [1, 1], goal=Goal.MIN_NORM).within(2)).problem.fit_tolerance == 2


# ------------------------------------------------------------------------------------------------- translations


@pytest.mark.parametrize("far", [0, 1_700_000_000, 10**15, -(10**30), Fraction(10**12, 7)])
@pytest.mark.parametrize("spread", [1, Fraction(1, 10**9), 10**9])
def test_a_free_bias_takes_up_translations(far, spread):
    X = [[far + spread * k] for k in range(5)]
    low, high = closes(posed(X, [1, 1, -1, 1, -1], bias=Bias.FREE))
    assert low * spread <= 8 <= high * spread


def test_columns_of_a_mask_that_hides_the_bias_stay():
    masks = [(0, 2), (0, 1)]
    problem = posed([[10**9, 1], [10**9 + 1, -1]], [1, -1], bias=Bias.FREE, masks=masks)
    assert simplified(problem).shift == (0, 0)
    masks = [(0, 1), (0, 2), (1,)]
    problem = posed([[10**9, 10**9], [10**9 + 1, 10**9 + 1]], [1, -1], bias=Bias.FREE, masks=masks)
    assert simplified(problem).shift == (0, 0)


# ------------------------------------------------------------------------------------------------- copies


@pytest.mark.parametrize("goal", Goal)
def test_every_verdict_stays_with_copies(goal):
    """One neuron with a kink, which is stationary and no local optimum; 200 copies cost what one costs."""
    network = Network.two_layer([[1, 0]], [1])
    X, y = [[1, 0], [0, 1], [0, -1]], [1, 0, 0]
    if goal is Goal.MAX_MARGIN:
        network, X, y = Network.two_layer([[1, 0], [0, 1]], [1, 1]), [[1, Fraction(-1, 2)], [0, 1]], [1, 1]
    once = audit(network, Dataset(X, y), goal=goal)
    found = []
    assert cpu_seconds(lambda: found.append(audit(network, Dataset(X * 200, y * 200), goal=goal))) < 10
    (often,) = found
    for question in ("fits", "stationary", "local_optimum", "global_optimum", "global_any_width"):
        assert getattr(often, question).verdict is getattr(once, question).verdict, question
        assert getattr(often, question).verdict is not Verdict.UNDECIDED
    assert often.bracket is not None
    assert once.bracket is not None
    assert often.bracket[0] <= once.bracket[1]
    assert once.bracket[0] <= often.bracket[1]


def test_contradictory_copies_are_infeasible():
    problem = posed([[1, 2]] * 40 + [[1, 3]] * 40 + [[1, 2]], [1] * 40 + [-1] * 40 + [-1])
    found = infeasibility(problem)
    assert found is not None
    assert isinstance(check(problem, None, found), Accepted)
    assert {i for i, _ in found.multipliers} == {0, 80}


def test_leaves_of_given_output_weights_and_points_together_are_carried_back():
    """The points (4, 1), (1, 4), the first one twice; w = (1, 1) at its kink nowhere, all of one leaf."""
    known = exact_states.posed([[4, 1], [4, 1], [1, 4]], [5, 5, 5], "min-norm", [1])
    found = distinct(known)
    assert found.problem.output_weights == (1,)
    together = Together(("e", "e"), together=(0, 1))
    leaf = HiddenDual(((0, Fraction(1)), (1, Fraction(1))), (Fraction(50),), 1, ((together,),))
    best = exact_states.network(known, [[1, 1]])
    lower = LowerBoundWidth(nodes=(leaf,), bracket=(Fraction(1), None))
    accepted(found.problem, None, lower)
    returned = found.returned_point(leaf)
    assert returned.multipliers == ((0, 1), (2, 1))
    assert returned.trees[0][0].together == (0, 2)
    accepted(known, None, LowerBoundWidth(nodes=(returned,), bracket=(Fraction(1), None)))
    on = HiddenDual(((0, Fraction(1)), (1, Fraction(1))), (Fraction(50),), 1, ((Bound(("e", "e")),),))
    accepted(found.problem, best, Local(nodes=(on,)))
    accepted(known, best, found.returned_certificate(Local(nodes=(on,))))
