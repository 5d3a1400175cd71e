"""Certificates about several outputs: hand cases with exact answers, every condition by a fault, a second checker.

The modules: `verify.checker.vector_goals`, `verify.checker.vector_statement`, `verify.checker.vector_bounds`,
`verify.checker.vector_certificates`, `verify.checker.vector_stationary` and `verify.checker.vector_checking`.
"""

from dataclasses import replace
from fractions import Fraction

import pytest

from tests.second_checker.texts import RefusedError
from tests.second_checker.vectors import check_vector as second_check
from tests.vector_cases import (
    PLAIN,
    RATE,
    UNITS,
    both_pairs,
    classes_bound,
    first_pair,
    optimal,
    saddle,
    saddle_bound,
    sealed_vector,
    three_units,
    tree_of,
    units_bound,
)
from verify.checker.checking import Refused
from verify.checker.codec import reader
from verify.checker.dual_trees import Empty
from verify.checker.errors import CertificateError
from verify.checker.objectives import Decay
from verify.checker.questions import Question, Verdict
from verify.checker.vector_bounds import Cells, Linear, inverse_of, is_semidefinite
from verify.checker.vector_certificates import (
    VectorBetterNetwork,
    VectorBound,
    VectorCertificate,
    VectorDoesNotFit,
    VectorOptimalWithin,
    VectorUpperBound,
    VectorValue,
    vector_bracket,
)
from verify.checker.vector_checking import (
    VECTOR_KINDS,
    VectorAccepted,
    check_vector,
    read_vector_certificate,
    vector_answers,
)
from verify.checker.vector_goals import VECTOR_RULES, OutputRules
from verify.checker.vector_statement import VectorNetwork, VectorProblem, vector_objective, vector_without_neurons
from verify.checker.vector_stationary import Move, VectorNotLocal, VectorNotStationary, VectorStationary

F = Fraction


def accepted(problem, network, certificate):
    """Whether the trusted base and the second checker accept it; both must say the same."""
    sealed = sealed_vector(problem, certificate, network if certificate.IS_ABOUT_NETWORK else None)
    found = check_vector(problem, network, sealed)
    is_accepted = isinstance(found, VectorAccepted)
    if is_accepted:
        assert found.certificate == read_vector_certificate(sealed.canonical_text())
    try:
        second_check(problem.to_json(), None if network is None else network.to_json(), sealed.to_json())
        agrees = True
    except RefusedError:
        agrees = False
    assert agrees is is_accepted, "the checkers differ"
    return is_accepted


def place(problem, network, certificate):
    """Where the certificate is refused, by both."""
    sealed = sealed_vector(problem, certificate, network if certificate.IS_ABOUT_NETWORK else None)
    found = check_vector(problem, network, sealed)
    assert isinstance(found, Refused), "it is accepted"
    with pytest.raises(RefusedError):
        second_check(problem.to_json(), None if network is None else network.to_json(), sealed.to_json())
    return found.place


# ------------------------------------------------------------------------------------------------- exact answers


def test_three_orthonormal_points_with_their_own_targets_have_least_norm_3():
    problem, network = three_units()
    proof = optimal(problem, network, units_bound(problem), "0")
    assert accepted(problem, network, proof)
    found = vector_answers(problem, network, proof)
    assert {question for question, answer in found.items() if answer.verdict is Verdict.PROVED} == {
        Question.FITS, Question.LOCAL_OPTIMUM, Question.GLOBAL_OPTIMUM, Question.GLOBAL_ANY_WIDTH,
    }  # fmt: skip
    assert accepted(problem, network, VectorStationary([[i, row] for i, row in enumerate(UNITS)]))
    assert vector_objective(problem, network) == (3, 3)


def test_three_classes_of_orthonormal_points_have_least_norm_sqrt_6():
    """6 lambda for each rational lambda with 6 lambda^2 <= 1, and for no larger one."""
    problem, network = three_units("max-margin")
    assert accepted(problem, None, classes_bound(problem))
    assert classes_bound(problem).lower ** 2 < 6 < (classes_bound(problem).lower + F(1, 1000)) ** 2
    assert place(problem, None, classes_bound(problem, F(21, 51))) == "orthants[0]"
    assert vector_objective(problem, network) == (3, 3)  # of margin 1
    assert accepted(problem, network, optimal(problem, network, classes_bound(problem), F(3) / (6 * RATE) - 1))
    assert place(problem, network, optimal(problem, network, classes_bound(problem), "1/5")) == "tolerance"


def test_the_rank_one_saddle_is_stationary_and_no_local_optimum():
    """F = 6; along the first pair it falls in the second order; the first pair alone has 9/2, any width 4."""
    problem, network = saddle()
    assert vector_objective(problem, network) == (6, 6)
    stationary = VectorStationary([[0, ["3", "0"]], [1, ["0", "1"]]])
    assert accepted(problem, network, stationary)
    move = Move([["1", "0"]], [["1"], ["0"]], None)
    proof = VectorNotLocal(move)
    assert accepted(problem, network, proof)
    assert vector_answers(problem, network, proof)[Question.LOCAL_OPTIMUM].verdict is Verdict.REFUTED
    assert place(problem, network, replace(proof, move=Move([["0", "1"]], [["0"], ["1"]], None))) == "move"
    assert place(problem, network, replace(proof, move=Move([["0", "0"]], [["0"], ["0"]], None))) == "move"
    better = VectorBetterNetwork(first_pair(), "1/4", "own-width")
    assert accepted(problem, network, better)
    answer = vector_answers(problem, network, better)[Question.GLOBAL_OPTIMUM]
    assert (answer.verdict, answer.limit) == (Verdict.REFUTED, F(1, 4))
    low, _ = vector_objective(problem, first_pair())
    assert F(9, 2) < low < F(451, 100)
    assert accepted(problem, None, saddle_bound(problem))
    assert accepted(problem, both_pairs(), optimal(problem, both_pairs(), saddle_bound(problem), "1/1000"))


def test_a_zero_neuron_where_the_price_is_exceeded_is_no_local_optimum():
    """X = I, targets diag(3, 2), ReLU, one zero neuron: H(u) = (3 max(u_1, 0), 2 max(u_2, 0)) is longer than ||u||."""
    problem, _ = saddle("0")
    network = VectorNetwork("0", False, [["0", "0"]], [["0"], ["0"]], None)
    multipliers = [[0, ["3", "0"]], [1, ["0", "2"]]]
    assert accepted(problem, network, VectorStationary(multipliers))
    assert accepted(problem, network, VectorNotLocal(Move([["1", "0"]], [["1"], ["0"]], None)))
    assert place(problem, network, VectorNotLocal(Move([["-1", "0"]], [["1"], ["0"]], None))) == "move"
    softmax = replace(problem, goal="cross-entropy", targets=[["1", "0"], ["0", "1"]], decay=Decay("1/9", "1/9"))
    assert accepted(softmax, network, VectorNotLocal(Move([["1", "0"]], [["1"], ["-1"]], None)))


# ------------------------------------------------------------------------------------------------- statements


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ({"targets": [["3", "0"]]}, "targets"),
        ({"inputs": [["1", "0"], ["1"]]}, "inputs[1]"),
        ({"inputs": [[], []]}, "inputs[0]"),
        ({"targets": [["3"], ["1"]]}, "targets[0]"),
        ({"targets": [["3", "0"], ["1", "2", "3"]]}, "targets[1]"),
        ({"slope": "2"}, "slope"),
        ({"bias": "learned"}, "bias"),
        ({"goal": "cross-entropy"}, "targets[0]"),
        ({"goal": "max-margin"}, "targets[0]"),
        ({"goal": "min-norm", "decay": Decay("1", "2")}, "decay"),
        ({"goal": "hinge"}, "goal"),
    ],
)
def test_what_is_no_problem(change, where):
    with pytest.raises(CertificateError) as error:
        replace(saddle()[0], **change)
    assert error.value.place == where


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ({"slope": "-1"}, "slope"),
        ({"hidden": []}, "hidden"),
        ({"hidden": [["1", "0"], ["1"]]}, "hidden"),
        ({"bias": True, "hidden": [["1"]]}, "hidden"),
        ({"output": [["1"]]}, "output"),
        ({"output": [["1"], ["1", "2"]]}, "output"),
        ({"output_bias": ["1"]}, "output_bias"),
    ],
)
def test_what_is_no_network(change, where):
    with pytest.raises(CertificateError) as error:
        replace(saddle()[1], **change)
    assert error.value.place == where


def test_the_rules_that_are_not_said_of_constraints():
    with pytest.raises(NotImplementedError):
        VECTOR_RULES["min-norm"].steepest((F(1), F(0)), (F(1), F(0)))
    with pytest.raises(NotImplementedError):
        VectorCertificate().check(saddle()[0], None)
    assert isinstance(VECTOR_RULES["squared"], OutputRules)


def test_a_network_of_zeros():
    assert vector_without_neurons(saddle()[0]) == (F(13, 2), F(13, 2))
    assert vector_without_neurons(replace(saddle()[0], decay=Decay("1", "1", "0"))) == (F(13, 2), F(13, 2))
    assert vector_without_neurons(three_units()[0]) is None


def test_other_problems_networks_and_objects_are_refused():
    problem, network = saddle()
    proof = sealed_vector(problem, VectorValue("6", "6"), network)
    assert isinstance(check_vector(problem, network, proof), VectorAccepted)
    assert check_vector(problem, None, proof) == Refused(
        "network", "the certificate speaks of a network, and none is given"
    )
    assert check_vector(problem, first_pair(), proof).place == "network"
    assert check_vector(replace(problem, slope="1/2"), network, proof).place == "problem"
    assert check_vector(problem, network, replace(proof, claim="it is perfect")).place == "claim"
    assert check_vector("problem", network, proof).place == "problem"
    assert check_vector(problem, "network", proof).place == "problem"
    assert check_vector(problem, network, "proof").place == "certificate"
    other = VectorNetwork("1", False, [["1"]], [["0"], ["1"]], None)
    assert place(problem, other, VectorValue("0", "9")) == "network"
    biased = replace(network, output_bias=["0", "0"])
    assert place(problem, biased, VectorValue("0", "9")) == "network"
    bound = saddle_bound(problem)
    assert check_vector(problem, None, replace(bound, network=network.sha256())).place == "network"
    with pytest.raises(TypeError, match="truth value"):
        bool(check_vector(problem, network, proof))
    with pytest.raises(CertificateError):
        read_vector_certificate('{"kind": "fits"}')
    with pytest.raises(CertificateError):
        read_vector_certificate("[]")
    assert {kind: cls.KIND for kind, cls in VECTOR_KINDS.items()} == {kind: kind for kind in VECTOR_KINDS}


def test_numbers_that_are_too_long_together_are_refused(monkeypatch):
    problem, _ = three_units("max-margin")
    proof = classes_bound(problem)
    monkeypatch.setattr("verify.checker.exact.MAX_BITS", 20)
    assert check_vector(problem, None, proof).place == "certificate"


# ------------------------------------------------------------------------------------------------- bounds


def test_faults_of_a_fan():
    problem, _ = three_units("max-margin")
    proof = classes_bound(problem)
    fan = proof.proof

    def at_fan(**changes):
        return place(problem, None, replace(proof, proof=replace(fan, **changes)))

    assert at_fan(basis=[]) == "basis"
    assert at_fan(basis=[["1", "-1", "0"], ["2", "-2", "0"]]) == "basis"
    assert at_fan(basis=[["1", "-1"], ["0", "1"]]) == "basis"
    assert at_fan(basis=[["1", "-1", "0"]]) == "multipliers of point 0"
    assert at_fan(orthants=fan.orthants[:3]) == "orthants"
    assert at_fan(orthants=[[None], *fan.orthants[1:]]) == "orthants[0]"  # a cone that is too wide
    assert at_fan(orthants=[[[4, 0, 1], None], *fan.orthants[1:]]) == "orthants[0]"
    assert at_fan(orthants=[[None, None], *fan.orthants[1:]]) == "orthants[0]"
    assert at_fan(orthants=[[[9, 0, 1], None, None], *fan.orthants[1:]]) == "orthants[0]"
    assert at_fan(orthants=[[[4, 1, 0], None, None], *fan.orthants[1:]]) == "orthants[0]"
    assert at_fan(orthants=[[[5, 0, 1], None, None], *fan.orthants[1:]]) == "orthants[0]"  # on the other side
    assert at_fan(orthants=[[[0, 0, 1], None, None], *fan.orthants[1:]]) == "orthants[0]"  # a generator itself
    assert at_fan(directions=fan.directions[1:]) == "orthants[0]"
    low = replace(fan.directions[0], bound=2 * RATE)
    assert at_fan(directions=[low, *fan.directions[1:]]).startswith("directions[0].trees[0]")
    assert at_fan(directions=[replace(fan.directions[0], coordinates=["1"]), *fan.directions[1:]]) == "directions[0]"
    other = replace(fan.directions[0], tree=tree_of(1, 2))
    assert at_fan(directions=[other, *fan.directions[1:]]).startswith("directions[0].trees[0]")


def test_a_fan_of_one_direction_and_its_opposite():
    """Two classes are a line: C along (1, -1)."""
    from verify.checker.vector_bounds import Fan, Priced

    problem = VectorProblem([["1"]], [["1", "0"]], "0", "none", "max-margin", PLAIN)
    listed = [[0, ["2/3", "-2/3"]]]
    up = Priced(["1"], "4/3", 3, tree_of(0, 0))
    down = Priced(["-1"], "0", 3, [0, tree_of(0, 0)[2], tree_of(0, 0)[2]])
    proof = VectorBound(listed, "1", Fan([["1", "-1"]], [up, down], [[None], [None]]), "2/3")
    assert accepted(problem, None, proof)  # n = (2/3, -2/3), of squared norm 8/9
    assert accepted(problem, None, replace(proof, scale="21/20", lower="7/10"))
    assert place(problem, None, replace(proof, scale="11/10", lower="11/15")) == "orthants[0]"


def test_faults_of_multipliers_and_bounds():
    problem, _ = saddle()
    proof = saddle_bound(problem)
    assert place(problem, None, replace(proof, lower="41/10")) == "lower"
    assert place(problem, None, replace(proof, lower="39/10")) == "lower"
    assert place(problem, None, replace(proof, scale="2", lower="6")) == "nodes[0]"
    assert place(problem, None, replace(proof, multipliers=[[0, ["1", "0"]], [7, ["0", "1"]]])) == "multipliers[1]"
    assert place(problem, None, replace(proof, multipliers=[[0, ["1"]], [1, ["0", "1"]]])) == "multipliers[0]"
    assert accepted(problem, None, replace(proof, scale="1/2", lower="9/4"))
    margins, _ = three_units("max-margin")
    wrong = classes_bound(margins)
    signs = [[0, [RATE, RATE, -2 * RATE]], *wrong.multipliers[1:]]
    assert place(margins, None, replace(wrong, multipliers=signs)) == "multipliers[0]"
    softmax, _ = three_units("cross-entropy")
    beyond = VectorBound([[0, ["3/2", "-3/2", "0"]]], "1", Cells([0, Linear([]), Linear([])]), "0")
    assert place(softmax, None, beyond) == "multipliers[0]"
    assert place(softmax, None, replace(beyond, scale="1/2", multipliers=[[0, ["3/2", "-1", "0"]]])) == "multipliers[0]"


def test_the_domain_is_asked_of_what_is_scaled():
    """C = (1, -1) at scale 10 would "prove" an entropy that is none: p would be negative."""
    softmax, _ = three_units("cross-entropy")
    softmax = replace(softmax, decay=Decay("40", "40"))
    cells = Cells([0, Linear([]), Linear([])])
    fair = VectorBound([[0, ["1/2", "-1/2", "0"]]], "1", cells, "17/25")  # log 2 is 0.693...
    assert accepted(softmax, None, fair)
    assert place(softmax, None, replace(fair, lower="7/10")) == "lower"
    assert place(softmax, None, replace(fair, scale="10")) == "multipliers[0]"


def test_an_output_bias():
    """Penalised it costs the square of what the multipliers add up to; free they have to add up to 0."""
    problem, _ = saddle()
    proof = saddle_bound(problem)
    penalised = replace(problem, decay=Decay("1", "1", "2"))
    assert accepted(penalised, None, replace(proof, lower=F(4) - F(1, 2)))
    assert place(penalised, None, proof) == "lower"
    free = replace(problem, decay=Decay("1", "1", "0"))
    assert place(free, None, proof) == "multipliers"
    level = VectorBound([[0, ["1/2", "-1/2"]], [1, ["-1/2", "1/2"]]], "1", Cells([Linear([])]), F(2))
    assert accepted(free, None, level)


def test_faults_of_cells():
    problem, _ = three_units()
    proof = units_bound(problem)
    nodes = proof.proof.nodes

    def at_cells(*changed):
        return place(problem, None, replace(proof, proof=Cells(changed)))

    assert at_cells(*nodes[:-1]) == "nodes"
    assert at_cells(0, 1, Linear([]), Linear([]), Linear([])) == "nodes[2]"
    assert at_cells(*nodes, Linear([])) == f"nodes[{len(nodes)}]"
    assert at_cells(0, 1, 2, Linear([[0, 1, "-1"]]), *nodes[4:]) == "nodes[3].pairs"
    assert at_cells(0, 1, 2, Linear([[1, 0, "1"]]), *nodes[4:]) == "nodes[3].pairs"
    assert at_cells(0, 1, 2, Linear([[0, 0, "1"]]), *nodes[4:]) == "nodes[3]"
    assert at_cells(0, 1, 2, Empty([[0, 1]]), *nodes[4:]) == "nodes[3]"
    assert at_cells(0, 1, 2, Empty([]), *nodes[4:]) == "nodes[3]"
    assert at_cells(0, 1, 2, Empty([[7, 1]]), *nodes[4:]) == "nodes[3]"


def test_a_cell_without_interior():
    """x = 1 and 2 have one sign."""
    problem = VectorProblem([["1"], ["2"]], [["1", "0"], ["0", "1"]], "0", "none", "min-norm", PLAIN)
    both = Linear([])
    nodes = [0, 1, both, Empty([[0, 2], [1, 1]]), 1, Empty([[0, 2], [1, 1]]), both]
    listed = [[0, ["1/3", "0"]], [1, ["0", "1/3"]]]
    proof = VectorBound(listed, "1", Cells(nodes), "2/3")
    assert accepted(problem, None, proof)
    assert place(problem, None, replace(proof, proof=Cells([0, 1, both, both, 1, both, Empty([[0, 1]])]))) == "nodes[6]"


def test_pairs_of_decided_points_prove_what_the_whole_space_does_not():
    """x_1.x_2 = -3/5, C_i = e_i: where both are on, H is longer than u along x_1 - x_2, which is not in that cell."""
    problem = VectorProblem([["1", "0"], ["-3/5", "4/5"]], [["1", "0"], ["0", "1"]], "0", "none", "min-norm", PLAIN)
    whole = Linear([])

    def bound(both):
        return VectorBound([[0, ["1", "0"]], [1, ["0", "1"]]], "1", Cells([0, 1, both, whole, 1, whole, whole]), "2")

    assert accepted(problem, None, bound(Linear([[0, 1, "1"]])))  # anything from 3/4 to 3
    assert accepted(problem, None, bound(Linear([[0, 1, "3/4"]])))
    assert place(problem, None, bound(whole)) == "nodes[2]"
    assert place(problem, None, bound(Linear([[0, 1, "7/10"]]))) == "nodes[2]"
    assert place(problem, None, bound(Linear([[0, 1, "31/10"]]))) == "nodes[2]"
    assert place(problem, None, bound(Linear([[0, 1, "1"], [1, 1, "2"]]))) == "nodes[2]"


def test_matrices():
    assert inverse_of([[F(0), F(1)], [F(2), F(0)]]) == [(0, F(1, 2)), (1, 0)]
    assert inverse_of([[F(1), F(1)], [F(1), F(1)]]) is None
    assert is_semidefinite([[F(1), F(1)], [F(1), F(1)]])
    assert is_semidefinite([[F(0), F(0)], [F(0), F(1)]])
    assert not is_semidefinite([[F(0), F(1)], [F(1), F(1)]])
    assert not is_semidefinite([[F(1), F(2)], [F(2), F(1)]])
    assert not is_semidefinite([[F(-1)]])


# ------------------------------------------------------------------------------------------------- networks


def test_values_and_other_networks():
    problem, network = saddle()
    assert accepted(problem, network, VectorValue("6", "6"))
    assert accepted(problem, network, VectorValue("5", "7"))
    assert place(problem, network, VectorValue("5", "59/10")) == "low"
    assert place(problem, network, VectorValue("61/10", "7")) == "low"
    assert accepted(problem, None, VectorUpperBound(network, "6"))
    assert place(problem, None, VectorUpperBound(network, "59/10")) == "upper"
    wide = both_pairs()
    assert place(problem, network, VectorBetterNetwork(wide, "1/4", "own-width")) == "scope"
    assert accepted(problem, network, VectorBetterNetwork(wide, "1/4", "any-width"))
    assert place(problem, network, VectorBetterNetwork(wide, "1/2", "any-width")) == "witness"
    assert place(problem, network, VectorBetterNetwork(network, "0", "any-width")) == "witness"
    bound = saddle_bound(problem)
    certificates = {"a": bound, "b": sealed_vector(problem, VectorUpperBound(first_pair(), "9/2"))}
    assert vector_bracket(problem, {}, None) == (0, None)
    assert vector_bracket(problem, certificates, (F(6), F(6))) == (4, F(9, 2))
    better = VectorBetterNetwork(wide, "1/4", "any-width")
    assert vector_bracket(problem, {"c": better, "d": optimal(problem, network, bound, "1")}, None) == (
        4, vector_objective(problem, wide)[1],
    )  # fmt: skip


def test_the_value_of_cross_entropy_is_enclosed():
    problem, network = three_units("cross-entropy")
    low, high = vector_objective(problem, network)
    assert 0 < high - low < F(1, 2**200)
    assert accepted(problem, network, VectorValue(low, high))
    assert place(problem, network, VectorValue(high + 1, high + 2)) == "low"
    assert F(46543, 10**4) < low < F(46544, 10**4)  # 3 log(1 + 2 / e) + 3


def test_what_does_not_fit():
    problem, network = three_units()
    half = replace(network, output=[["1/2", "0", "0"], *UNITS[1:]])
    assert accepted(problem, half, VectorDoesNotFit(0))
    assert place(problem, half, VectorDoesNotFit(1)) == "point"
    assert place(problem, half, VectorDoesNotFit(3)) == "point"
    assert place(problem, half, VectorValue("0", "9")) == "network"
    assert place(problem, half, VectorStationary([])) == "network"
    squared = replace(problem, goal="squared")
    assert place(squared, half, VectorDoesNotFit(0)) == "problem"
    margins = replace(problem, goal="max-margin")
    assert not accepted(margins, half, VectorDoesNotFit(0))
    dead = replace(network, output=[["0", "0", "0"], *UNITS[1:]])
    assert accepted(margins, dead, VectorDoesNotFit(0))
    found = vector_answers(margins, dead, VectorDoesNotFit(0))
    assert {answer.verdict for answer in found.values()} == {Verdict.REFUTED}


# ------------------------------------------------------------------------------------------------- stationarity


def test_stationary_at_kinks_and_up_to_epsilon():
    """x = 1 and -1 with w = 0 is a kink of everything; a slope between is needed where C leans on it."""
    problem = VectorProblem([["1", "0"], ["0", "1"]], [["2", "0"], ["0", "2"]], "0", "none", "squared", PLAIN)
    network = VectorNetwork("0", False, [["1", "0"]], [["1"], ["0"]], None)
    exact = VectorStationary([[0, ["1", "0"]], [1, ["0", "2"]]])
    assert accepted(problem, network, exact)
    assert accepted(problem, network, replace(exact, kinks=[[1, 0, "1/2"]]))
    assert place(problem, network, replace(exact, kinks=[[0, 0, "1/2"]])) == "kinks[0]"
    assert place(problem, network, replace(exact, kinks=[[1, 0, "3/2"]])) == "kinks[0]"
    assert place(problem, network, replace(exact, kinks=[[1, 4, "1/2"]])) == "kinks[0]"
    assert place(problem, network, replace(exact, multipliers=[[0, ["1", "0"]]])) == "delta"
    assert place(problem, network, replace(exact, multipliers=[[0, ["1", "0"]], [9, ["0", "2"]]])) == "multipliers[1]"
    near = replace(network, hidden=[["11/10", "0"]])
    c = [[0, ["9/10", "0"]], [1, ["0", "2"]]]
    assert place(problem, near, VectorStationary(c)) == "epsilon"
    assert accepted(problem, near, VectorStationary(c, epsilon="1/5"))
    assert place(problem, near, VectorStationary(c, epsilon="1/10")) == "epsilon"
    rough = VectorStationary([[0, ["1", "0"]], [1, ["0", "2"]]], epsilon="1/5", delta="1/100")
    assert accepted(problem, near, rough)
    assert rough.own_tolerance == F(1, 5)
    assert rough.is_approximate
    assert not accepted(problem, near, replace(rough, delta="1/1000"))


@pytest.mark.parametrize("decay", ["2", "0"])
def test_stationary_with_an_output_bias(decay):
    problem = replace(saddle()[0], decay=Decay("1", "1", decay))
    network = replace(saddle()[1], output_bias=["1", "0"])
    c = [[0, ["2", "0"]], [1, ["-1", "1"]]]
    assert not accepted(problem, network, VectorStationary(c))
    assert accepted(problem, network, VectorStationary(c, epsilon="2"))
    moves = Move([["0", "0"]], [["0"], ["0"]], ["-1", "0"])
    assert accepted(problem, network, VectorNotLocal(moves)) is (decay == "2")
    forward = Move([["0", "0"]], [["0"], ["0"]], ["0", "1"])
    assert accepted(problem, network, VectorNotLocal(forward))
    assert place(problem, network, VectorNotLocal(saddle_move())) == "move"
    zero = replace(network, output=[["0"], ["0"]], hidden=[["0", "0"]], output_bias=["0", "0"])
    assert place(problem, zero, VectorStationary([])) == "delta"


def saddle_move():
    return Move([["1", "0"]], [["1"], ["0"]], None)


def test_not_stationary():
    problem = VectorProblem([["1", "0"], ["0", "1"]], [["2", "0"], ["0", "2"]], "0", "none", "squared", PLAIN)
    network = VectorNetwork("0", False, [["1/2", "0"]], [["1"], ["0"]], None)
    # C = (3/2, 0), (0, 2); r_w = 1/2 - 3/2 = -1, r_V = 1 - 3/4; at the kink of x_2 nothing of V leans on C
    proof = VectorNotStationary(Move([["-1", "0"]], [["1/4"], ["0"]], None))
    assert accepted(problem, network, proof)
    assert accepted(problem, network, replace(proof, epsilon="1/2"))
    assert place(problem, network, replace(proof, epsilon="1")) == "move"
    assert place(problem, network, replace(proof, delta="1/100")) == "kappa"
    firm = replace(proof, epsilon="1/100", delta="1/100", kappa="10")
    assert accepted(problem, network, firm)
    assert firm.own_tolerance == F(1, 100)
    assert place(problem, network, replace(firm, kappa="100")) == "move"
    assert place(problem, network, replace(firm, kappa="1/1000")) == "move"
    assert place(problem, network, replace(proof, move=Move([["1", "0"]], [["1/4"], ["0"]], None))) == "move"
    assert place(problem, network, replace(proof, move=Move([["1", "0"]] * 2, [["1", "1"]] * 2, None))) == "move"
    kinked = replace(network, output=[["1"], ["1"]])
    sideways = VectorNotStationary(Move([["0", "-1"]], [["0"], ["0"]], None))
    assert place(problem, kinked, sideways) == "move"  # slope 0 there makes it stationary along it
    assert accepted(problem, kinked, VectorNotLocal(Move([["0", "1"]], [["0"], ["0"]], None)))
    margins, units = three_units("max-margin")
    nothing = Move([["0", "0", "0"]] * 3, [["0", "0", "0"]] * 3, None)
    assert place(margins, units, VectorNotStationary(nothing)) == "problem"
    assert place(margins, units, VectorNotLocal(nothing)) == "problem"


def test_not_stationary_of_cross_entropy_with_biases():
    problem = VectorProblem(
        [["1"], ["-1"]], [["1", "0"], ["0", "1"]], "1/4", "penalised", "cross-entropy", Decay("1/4", "1/4", "0")
    )
    network = VectorNetwork("1/4", True, [["1", "1"]], [["1/2"], ["-1/2"]], ["0", "0"])
    up, down = (Move([["0", "0"]], [["0"], ["0"]], [s, t]) for s, t in (("1", "-1"), ("-1", "1")))
    # f = 0 at x = -1, and f_1 - f_2 = 2 at x = 1: C adds up to (-0.38, 0.38), so that b_2 is to grow
    assert accepted(problem, network, VectorNotStationary(up))
    assert place(problem, network, VectorNotStationary(down)) == "move"
    assert accepted(problem, network, VectorNotLocal(down))
    assert place(problem, network, VectorNotLocal(up)) == "move"
    assert accepted(problem, network, VectorNotStationary(up, "1/100", "1/1000", "10"))
    assert place(problem, network, VectorNotStationary(up, "10", "1/1000", "10")) == "move"


def test_every_kind_is_read_as_it_is_written():
    problem, network = saddle()
    samples = [
        saddle_bound(problem),
        VectorUpperBound(network, "6"),
        VectorValue("6", "6"),
        VectorDoesNotFit(0),
        VectorStationary([[0, ["3", "0"]]], [[0, 0, "1/2"]], "1", "2"),
        VectorNotStationary(saddle_move(), "1", "1", "1"),
        VectorNotLocal(saddle_move()),
        VectorBetterNetwork(network, "1", "any-width"),
        VectorOptimalWithin("1", saddle_bound(problem)),
    ]
    assert {sample.KIND for sample in samples} == set(VECTOR_KINDS)
    for sample in samples:
        assert read_vector_certificate(sample.canonical_text()) == sample
    assert reader(VectorProblem)(problem.to_json()) == problem
    assert reader(VectorNetwork)(network.to_json()) == network
