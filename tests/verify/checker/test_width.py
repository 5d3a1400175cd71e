"""Own width and hidden layers only: cases by hand, with certificates of exactly their value, and kinds about a network.

The cases are `tests/width_cases.py`; what must be refused is in `test_faults_in_widths.py`.
"""

import json
import re
from dataclasses import replace
from fractions import Fraction

import pytest

from tests import exact_states
from tests.exact_states import network, posed
from tests.forging import accepted, refused
from tests.width_cases import CASES, FAR, H16_ROWS, H16_TARGETS, LINE, NEAR, equal_neurons, nodes_of
from verify import Bias, Dataset, Goal, Network, Problem, audit
from verify.checker.answers import Question, Verdict, answers
from verify.checker.bounds import Infeasible, LowerBound, UpperBound
from verify.checker.certificate import claim_text
from verify.checker.codec import reader
from verify.checker.errors import CertificateError, InputError
from verify.checker.exact import sqrt_upper
from verify.checker.fit import DoesNotFit, Fits
from verify.checker.local import Local, NotLocal
from verify.checker.optimal import BetterNetwork, OptimalWithin
from verify.checker.statement import Problem as Statement
from verify.checker.states import HiddenDual, Nothing
from verify.checker.stationary import NotStationary, Stationary
from verify.checker.width import DoesNotFitWidth, InfeasibleWidth, LowerBoundWidth, OptimalWithinWidth
from verify.deciders.proposal import sealed
from verify.problem.problem import Trained, objective

F = Fraction
FITTING = {name: known for name, known in CASES.items() if known.best or known.root}
EXACT = {name: known for name, known in CASES.items() if known.best}
IMPOSSIBLE = {name: known for name, known in CASES.items() if name not in FITTING}
NODE = re.compile(r"nodes\[\d+\](\..*)?")


def bound(known):
    """The lower bound of a case: the best value itself, or a little less than a root."""
    lower = known.best or 1 / sqrt_upper(1 / known.root) * (1 - F(1, 2**38))
    return LowerBoundWidth(nodes=nodes_of(known), bracket=(lower, None))


def raised(proof):
    return replace(proof, bracket=(proof.bracket[0] * F(10**6 + 1, 10**6), None))


def within(problem, proof, tolerance=0):
    return OptimalWithinWidth(tolerance=F(tolerance), lower=sealed(problem, None, proof))


# ------------------------------------------------------------------------------------------------- the table


@pytest.mark.parametrize("name", FITTING)
def test_the_best_value_is_proved_and_nothing_above_it(name):
    known = FITTING[name]
    accepted(known.problem, None, bound(known))
    refused(known.problem, None, raised(bound(known)), NODE)


@pytest.mark.parametrize("name", EXACT)
def test_a_best_network_is_optimal_exactly_and_others_are_not(name):
    known = EXACT[name]
    problem, best = known.problem, network(known.problem, known.weights)
    assert objective(problem, best) == known.best
    proof = within(problem, bound(known))
    accepted(problem, best, proof)
    assert [*answers(problem, best, proof)] == [*Question][:4]
    accepted(problem, None, UpperBound(witness=best, bracket=(None, known.best)))
    refused(problem, None, UpperBound(witness=best, bracket=(None, known.best - F(1, 10**30))), "bracket")
    refused(problem, best, replace(proof, lower=raised(proof.lower)), "lower.claim")
    turned = network(problem, known.weights[::-1], problem.output_weights[::-1])
    accepted(problem, turned, proof)  # the neurons in another order


@pytest.mark.parametrize("name", IMPOSSIBLE)
def test_nothing_of_that_width_fits(name):
    problem, nodes = IMPOSSIBLE[name].problem, nodes_of(IMPOSSIBLE[name])
    accepted(problem, None, InfeasibleWidth(nodes=nodes))
    accepted(problem, None, LowerBoundWidth(nodes=nodes, bracket=(F(10**9), None)))  # of those that fit: of none
    zero = [F(0)] * problem.architecture.layers[0].parameter_count
    given = Network(problem.architecture, (zero, problem.output_weights or [F(1)] * len(problem.architecture.masks)))
    proof = DoesNotFitWidth(nodes=nodes)
    accepted(problem, given, proof)
    found = answers(problem, given, proof)
    assert {answer.verdict for answer in found.values()} == {Verdict.REFUTED}
    assert len(found) == (5 if problem.asks_any_width else 4)
    assert answers(problem, given, InfeasibleWidth(nodes=nodes)) == {}


def test_a_few_values_by_known_formulas():
    """m copies of the network of one neuron cost 1/m, on one side of a hyperplane; H6: 1/2 (1/m + 1/(k - m))."""
    for copies in (1, 2, 5):
        problem = posed(FAR, NEAR, "min-norm", [1] * copies)
        nodes = exact_states.grown(problem, [{0: F(2, copies), 1: F(-1, copies)}])
        rows = [[F(1, copies), F(-1, copies)]] * copies
        proof = within(problem, LowerBoundWidth(nodes=nodes, bracket=(F(1, copies), None)))
        accepted(problem, network(problem, rows), proof)
    two, split = (posed(FAR, NEAR, "min-norm", v) for v in ([2], [1, 1]))  # v = 2 costs 1/4, not the 1/2 of (1, 1)
    assert exact_states.value_of(two, {}, exact_states.leaf(two, {}, {0: 2, 1: -1})) == F(1, 4)
    assert exact_states.value_of(split, {}, exact_states.leaf(split, {}, {0: 2, 1: -1})) == F(1, 2)


def test_an_any_width_bound_is_one_of_each_width():
    """H11: 9 / sqrt 2 with three neurons, from the float search."""
    given = Network.two_layer([[-1], [1], [0]], [1, 1, -1], b=["1/2", "-3/2", "1"])
    found = audit(given, Dataset([[0], [1], [2]], [1, -1, 1]), bias="penalised")
    (lower,) = (proof for proof in found.bounds if isinstance(proof, LowerBound))
    leaf = exact_states.Dual(lower.multipliers, lower.beta, lower.denominator, lower.trees)
    assert 81 / F(2) * (1 - F(1, 10**6)) < lower.bracket[0] ** 2 <= 81 / F(2)
    accepted(found.problem, None, LowerBoundWidth(nodes=(leaf,), bracket=lower.bracket))


@pytest.mark.parametrize(("plus", "minus"), [(2, 1), (1, 1), (2, 2), (3, 2)])
def test_equal_neurons_are_optimal_by_one_leaf(plus, minus):
    """H16 and its like: no splits at all, nothing lost."""
    problem, leaf, best, weights = equal_neurons(H16_ROWS, H16_TARGETS, plus, minus)
    proof = LowerBoundWidth(nodes=(leaf,), bracket=(best, None))
    accepted(problem, network(problem, weights), within(problem, proof))
    refused(problem, None, replace(proof, bracket=(best + F(1, 10**30), None)), "nodes[0]")
    assert (plus, minus) != (2, 1) or best == F(1596757, 31760450)
    assert len(json.dumps(proof.to_json())) < 2000


def test_without_exchanges_the_same_value_needs_a_larger_tree():
    """H6 with k = 3: a tree that decides each neuron by itself is accepted too, where neurons differ a little."""
    problem = posed(LINE, [1, 1], "max-margin", ["1001/1000", "501/500", 1])
    signs = {True: 0, False: 1}

    def items(sides):
        if len(sides) < 3:
            return [(len(sides), 0), *items([*sides, True]), *items([*sides, False])]
        masses = {signs[side]: F(0) for side in sides}
        for side, v in zip(sides, problem.output_weights, strict=True):
            masses[signs[side]] += v * v
        return [{i: 1 / mass for i, mass in masses.items()} if len(masses) == 2 else {1 - next(iter(masses)): 1}]

    whole = items([])
    assert len(whole) == 15
    same, other = (exact_states.grown(one, CASES["H6 three"].tree) for one in (CASES["H6 three"].problem, problem))
    assert isinstance(same[-1], Nothing)
    assert not isinstance(other[-1], Nothing)  # to the right of (0, 0) neuron 1, of another weight, is not decided
    best = min(
        value
        for leaf in exact_states.grown(problem, whole, lambda *found: found)
        if not isinstance(leaf[0], int)
        for value in [exact_states.value_of(problem, leaf[1], exact_states.leaf(*leaf))]
        if value is not None
    )
    accepted(problem, None, LowerBoundWidth(nodes=exact_states.grown(problem, whole), bracket=(best, None)))
    assert F(747, 1000) < best < F(3, 4)


# ------------------------------------------------------------------------------------------------- a network


def test_a_network_whose_kink_could_be_nearer():
    """H12: w = (1, -2) is off at the second point, where it has to be at its kink."""
    problem = posed(FAR, NEAR, "min-norm", [1])
    given, best = network(problem, [[1, -2]]), network(problem, [[1, -1]])
    accepted(problem, given, Fits(margin=F(0)))
    away = NotStationary(vectors=(((F(0), F(-1)), (F(0),)),))
    accepted(problem, given, away)
    accepted(problem, given, NotLocal(end=best.parameters))
    better = BetterNetwork(witness=best, tolerance=F("149/100"), scope="own-width")
    accepted(problem, given, better)
    refused(problem, given, replace(better, tolerance=F("3/2")), "witness")
    kkt = Stationary(multipliers=((0, F(2)), (1, F(-1))), kink_products=((1, 0, F(-1)),))
    accepted(problem, best, kkt)
    refused(problem, best, replace(kkt, kink_products=()), "epsilon")
    refused(problem, best, away, "vectors")
    accepted(problem, best, Local(nodes=(exact_states.leaf(problem, {(0, 0): 1}, {0: 2, 1: -1}),)))


def test_local_and_not_global():
    """H13: two neurons on the left cost more than two on the right; one that is 0 may go to either side."""
    problem = posed(LINE, [2, 1], "min-norm", [1, 1, 1])
    local, poor, best = (
        network(problem, rows) for rows in ([[2], ["-1/2"], ["-1/2"]], [[2], [-1], [0]], [[1], [1], [-1]])
    )
    assert [objective(problem, one) for one in (local, poor, best)] == [F(9, 4), F(5, 2), F(3, 2)]
    sides = {(j, i): (1 if (j == 0) is (i == 0) else -1) for j in range(3) for i in range(2)}
    proof = Local(nodes=(exact_states.leaf(problem, sides, {0: 2, 1: "1/2"}),))
    accepted(problem, local, proof)
    accepted(problem, local, BetterNetwork(witness=best, tolerance=F("1/3"), scope="own-width"))
    accepted(problem, poor, Stationary(multipliers=((0, F(2)), (1, F(1)))))
    accepted(problem, poor, NotLocal(end=network(problem, [[1], [-1], [1]]).parameters))
    refused(problem, local, NotLocal(end=best.parameters), "end")
    refused(problem, poor, proof, "nodes[0].squares")
    assert {*answers(problem, local, proof)} == {Question.FITS, Question.STATIONARY, Question.LOCAL_OPTIMUM}


def test_a_given_weight_of_0_has_no_case():
    """A neuron with v = 0 is 0 at an optimum; near it any w costs something and helps nothing."""
    problem = posed([[1]], [1], "max-margin", [1, 0])
    best, waste = network(problem, [[1], [0]]), network(problem, [[1], [1]])
    (leaf,) = exact_states.grown(problem, [{0: 1}])
    assert len(leaf.squares) == 1
    accepted(problem, best, within(problem, LowerBoundWidth(nodes=(leaf,), bracket=(F(1, 2), None))))
    accepted(problem, best, Local(nodes=(exact_states.leaf(problem, {(0, 0): 1}, {0: 1}),)))
    accepted(problem, best, Stationary(multipliers=((0, F(1)),)))
    accepted(problem, waste, NotStationary(vectors=(((F(0), F(1)), (F(0), F(0))),)))
    accepted(problem, waste, NotLocal(end=best.parameters))
    refused(problem, None, LowerBoundWidth(nodes=((1, 0), leaf, leaf), bracket=(F(1, 2), None)), "nodes[0]")
    none = posed([[1]], [1], "max-margin", [0])
    accepted(none, None, InfeasibleWidth(nodes=(Nothing(((0, F(1)),), 1, ()),)))


def test_nothing_costs_less_than_nothing():
    """Targets that 0 meets within the tolerance: the best value is 0, and D is at most 0 at every leaf."""
    shape = Network.two_layer([[1]], [1]).architecture
    problem = Problem(
        Dataset([[1]], ["1/2"]), shape, goal=Goal.MIN_NORM, bias=Bias.NONE, trained=Trained.HIDDEN, fit_tolerance=1,
        output_weights=[1],
    )  # fmt: skip
    tree = (0, exact_states.Bound((1,)), exact_states.Bound((0,)))
    leaf = HiddenDual(((0, F(1)),), (F(1),), 1, (tree,))  # D = 1/2 - 1
    zero = network(problem, [[0]])
    accepted(problem, zero, within(problem, LowerBoundWidth(nodes=(leaf,), bracket=(F(0), None))))
    refused(problem, None, LowerBoundWidth(nodes=(leaf,), bracket=(F(1, 100), None)), "nodes[0]")
    accepted(problem, zero, Local(nodes=(leaf,)))


def test_a_margin_counts_squared():
    """max-margin, hidden: 1/2 ||W||^2 / m^2; nothing is balanced, so that v = 1/10 costs 50."""
    problem = posed([[1]], [1], "max-margin", ["1/10"])
    for size in (F(10), F(1), F(3, 7)):
        assert objective(problem, network(problem, [[size]])) == 50
    given = network(problem, [[2]])
    accepted(problem, None, UpperBound(witness=given, bracket=(None, F(50))))
    refused(problem, None, UpperBound(witness=given, bracket=(None, F("4999/100"))), "bracket")
    (leaf,) = exact_states.grown(problem, [{0: 1}])
    accepted(problem, given, within(problem, LowerBoundWidth(nodes=(leaf,), bracket=(F(50), None))))
    kkt = Stationary(multipliers=((0, F(20)),))  # w = v lambda x, at any scale
    accepted(problem, given, kkt)
    accepted(problem, given, Local(nodes=(exact_states.leaf(problem, {(0, 0): 1}, {0: 1}),)))


@pytest.mark.parametrize("bias", [Bias.PENALISED, Bias.FREE])
def test_biases(bias):
    """x = 0, 1 -> 0, 1. Free: w = 1, b = 0, and the multipliers have sum 0. Penalised: w = 1/2 b = ... (1, 0) too."""
    problem = posed([[0], [1]], [0, 1], "min-norm", [1], bias=bias)
    best = network(problem, [[1, 0]])
    multipliers = ((0, F(-1)), (1, F(1)))
    kkt = Stationary(multipliers=multipliers, kink_products=((0, 0, F(-1)),))
    accepted(problem, best, kkt)
    unit = exact_states.Bound((-1, 1))
    leaf = HiddenDual(multipliers, (F(1),), 1, ((1, unit, exact_states.Bound((0, 0))),))
    accepted(problem, best, within(problem, LowerBoundWidth(nodes=(leaf,), bracket=(F(1, 2), None))))
    refused(problem, None, LowerBoundWidth(nodes=(replace(leaf, squares=(F("99/100"),)),), bracket=(F(1, 2), None)),
            "nodes[0].trees[0][1]")  # fmt: skip


# ------------------------------------------------------------------------------------------------- the statement


def test_output_weights_belong_to_the_statement():
    one, other = (posed(FAR, NEAR, "min-norm", v) for v in (["1/2"], ["1/3"]))
    assert one.to_json()["output_weights"] == ["1/2"]
    assert one.sha256() != other.sha256()
    assert reader(Statement)(one.to_json()) == one == Problem.from_json(one.to_json())
    assert "hidden trained at the output weights 1/2, half" in claim_text(one, Fits(margin=F(0)))
    trained = posed(FAR, NEAR, "min-norm", width=1)
    assert "output_weights" not in trained.to_json()
    assert "both trained, half" in claim_text(trained, Fits(margin=F(0)))


def test_a_problem_that_states_none_is_the_one_that_it_was():
    """Its hash is that of a stored one; only whether it fits is asked."""
    old = posed([[1, 0]], [1], "max-margin", [1])
    without = Problem(old.data, old.architecture, goal=old.goal, bias=old.bias, trained=Trained.HIDDEN)
    assert without.to_json() == {key: value for key, value in old.to_json().items() if key != "output_weights"}
    given = Network.two_layer([[1, 0]], [1])
    accepted(without, given, Fits(margin=F(1)))
    assert not without.is_decided
    for proof in (Stationary(multipliers=((0, F(1)),)), Infeasible(multipliers=((0, F(1)),))):
        about = given if isinstance(proof, Stationary) else None
        assert refused(without, about, proof, "problem").reason.endswith("only fits is decided then")
    with pytest.raises(CertificateError, match="output_weights: must be left out where it is None"):
        reader(Statement)({**without.to_json(), "output_weights": None})


@pytest.mark.parametrize("change", [{"trained": Trained.BOTH}, {"output_weights": [1, 1]}])
def test_output_weights_are_stated_for_hidden_problems_only_and_for_each_neuron(change):
    data, shape = Dataset(FAR, NEAR), Network.two_layer([[1, 0]], [1]).architecture
    options = {"trained": Trained.HIDDEN, "output_weights": [1]} | change
    with pytest.raises(InputError, match="output_weights: must be one for each neuron of two layers"):
        Problem(data, shape, goal=Goal.MIN_NORM, bias=Bias.NONE, **options)


def test_other_data_and_other_shapes():
    problem = posed(FAR, NEAR, "min-norm", [1])
    moved = problem.posed_on(Dataset([[2, 0]], [1]))
    assert moved.output_weights == (1,)
    wide = Network.two_layer([[1, 0], [0, 1]], [1, 1]).architecture
    assert problem.posed_on(problem.data, architecture=wide).output_weights is None
    assert problem.posed_on(problem.data, architecture=wide, output_weights=[1, 1]).output_weights == (1, 1)
    assert problem.within("1/2").output_weights == (1,)


def test_neurons_are_compared_with_their_masks():
    """The pairs (mask, v) in any order: the weights of both may not change places."""
    rows, masks = [[1, 0], [0, 1]], [[0], [1]]
    problem = posed(rows, [1, -1], "min-norm", [1, -1], masks=masks)
    given = Network.two_layer([[1, 0], [0, 1]], [1, -1], masks=masks)
    other = Network.two_layer([[1, 0], [0, 1]], [-1, 1], masks=masks)
    accepted(problem, given, Fits(margin=F(0)))
    assert "output weights" in refused(problem, other, DoesNotFit(point=0), "network").reason
    (leaf,) = exact_states.grown(problem, [{0: 1, 1: -1}])
    lower = LowerBoundWidth(nodes=(leaf,), bracket=(F(1), None))
    accepted(problem, given, within(problem, lower))
    assert "width 2 with these masks and output weights" in claim_text(problem, lower)
    turned = posed(rows, [1, -1], "min-norm", [-1, 1], masks=masks[::-1])
    assert refused(turned, given, Fits(margin=F(0)), "network").reason == "has another architecture than the problem"


def test_any_width_is_not_asked():
    problem, given = posed(FAR, NEAR, "min-norm", [1]), Network.two_layer([[1, -1]], [1])
    wide = Network.two_layer([["1/2", "-1/2"], ["1/2", "-1/2"]], [1, 1])
    refused(problem, given, BetterNetwork(witness=wide, tolerance=F(0), scope="any-width"), "witness")
    poor = Network.two_layer([[1, -2]], [1])
    refused(problem, poor, BetterNetwork(witness=given, tolerance=F(0), scope="any-width"), "scope")
    lower = LowerBound(
        multipliers=(), beta=F(1), denominator=1, trees=([exact_states.Bound(())],) * 2, bracket=(F(0), None)
    )
    assert refused(problem, None, lower, "problem").reason.startswith("is not of depth 2 without sharing, all trained")
    refused(problem, given, OptimalWithin(tolerance=F(1), lower=sealed(problem, None, lower)), "problem")
    clash = posed([[1, 0], [2, 0]], [1, -1], "max-margin", [1])
    nothing = Infeasible(multipliers=((0, F(2)), (1, F(1))))
    accepted(clash, None, nothing)
    assert Question.GLOBAL_ANY_WIDTH not in answers(clash, given, nothing)
