"""Free biases of several outputs, and subjects near a network: exact answers by hand, and faults, by both checkers.

Of `verify.checker.vector_statement`, `verify.checker.vector_bounds` and `verify.checker.vector_stationary`.
"""

import json
from dataclasses import replace
from fractions import Fraction

import pytest

from tests.second_checker.texts import RefusedError
from tests.second_checker.vectors import check_vector as second_check
from tests.vector_cases import PLAIN, optimal, sealed_vector, step, step_bound
from verify.checker.checking import Refused
from verify.checker.dual_trees import Empty
from verify.checker.errors import CertificateError
from verify.checker.objectives import Decay
from verify.checker.questions import Question, Verdict
from verify.checker.vector_bounds import Cells, Linear, VectorDual
from verify.checker.vector_certificates import VectorBound, VectorDoesNotFit, VectorValue, vector_about
from verify.checker.vector_checking import VectorAccepted, check_vector, read_vector_certificate, vector_answers
from verify.checker.vector_statement import VectorNetwork, VectorProblem, vector_objective, weight_of
from verify.checker.vector_stationary import Move, VectorNotLocal, VectorNotStationary, VectorStationary

F = Fraction
ACROSS = Linear([[0, 1, "1/2"]])
FREE_MARGINS = Decay("1", "1", "0")


def place(problem, network, certificate):
    """Where it is refused, by both checkers; "" where both accept it."""
    sealed = sealed_vector(problem, certificate, network if certificate.IS_ABOUT_NETWORK else None)
    found = check_vector(problem, network, sealed)
    told = None if network is None else network.to_json()
    if isinstance(found, VectorAccepted):
        second_check(problem.to_json(), told, sealed.to_json())
        return ""
    assert isinstance(found, Refused)
    with pytest.raises(RefusedError):
        second_check(problem.to_json(), told, sealed.to_json())
    return found.place


def test_a_step_costs_its_length_over_the_distance():
    """From (0, 0) at -1 to y at 1, constants free: ||y|| / 2, here 4, by one neuron with its kink at -1."""
    problem, network = step()
    assert vector_objective(problem, network) == (4, 4)
    assert place(problem, None, step_bound(problem)) == ""
    proof = optimal(problem, network, step_bound(problem), "0")
    assert place(problem, network, proof) == ""
    answers = vector_answers(problem, network, proof)
    assert all(answers[q].verdict is Verdict.PROVED for q in (Question.LOCAL_OPTIMUM, Question.GLOBAL_ANY_WIDTH))
    assert "bias free" in vector_about(problem)
    assert "bias" not in vector_about(problem).partition("bias free")[2]


def test_the_same_by_cells():
    """w^2 - ((w + b) / 2)^2 is at least (w + b)(w - b) / 2 and a square, where w + b >= 0 >= b - w."""
    problem, _ = step()
    proof = step_bound(problem)

    def by(*nodes):
        return replace(proof, proof=Cells(nodes))

    plain = Linear([])
    assert place(problem, None, by(0, 1, plain, ACROSS, 1, ACROSS, plain)) == ""
    assert place(problem, None, by(0, 1, plain, plain, 1, ACROSS, plain)) == "nodes[3]"
    assert place(problem, None, by(0, 1, plain, Linear([[0, 1, "1/4"]]), 1, ACROSS, plain)) == "nodes[3]"
    assert place(problem, None, by(0, 1, plain, ACROSS, 1, plain, plain)) == "nodes[5]"


def test_a_bias_that_counts_makes_it_dearer():
    """With a bias that counts the network has 6, and the same multipliers prove less: its directions are in the way."""
    problem, network = step()
    counted = replace(problem, bias="penalised")
    assert vector_objective(counted, network) == (6, 6)
    assert weight_of(problem, network) == 8
    assert weight_of(counted, network) == 12
    assert place(counted, network, VectorValue("6", "6")) == ""
    assert place(problem, network, VectorValue("6", "6")) == "low"
    assert place(counted, None, step_bound(counted)) == ""  # true as well, and not the best


@pytest.mark.parametrize("second", [["-3/10", "-2/5"], ["-3/10", "-3/10"], ["0", "0"]])
def test_free_biases_need_multipliers_that_add_up_to_0(second):
    """H(0, b) = b sum_i C_i for b > 0, while ||w|| = 0."""
    problem, _ = step()
    proof = replace(step_bound(problem), multipliers=[[0, ["3/10", "2/5"]], [1, second]])
    assert place(problem, None, proof) == ("" if second == ["-3/10", "-2/5"] else "multipliers")
    none = VectorBound([], "1", Cells([Linear([])]), "0")
    assert place(problem, None, none) == ""
    linear = replace(problem, slope="1")
    level = VectorDual([[0, ["3/10", "2/5"]], [1, second]], "1", Cells([Linear([])]))
    if second == ["-3/10", "-2/5"]:
        assert level.value(linear) == 4
    else:
        with pytest.raises(CertificateError, match="do not add up to 0"):
            level.value(linear)


def test_stationary_at_a_kink_with_a_free_bias():
    """r_w = 2 - 1 - g and, of the bias, -(1 - g): both vanish for the slope 1 at the kink."""
    problem, network = step()
    proof = VectorStationary([[0, ["3/10", "2/5"]], [1, ["-3/10", "-2/5"]]], [[1, 0, "1"]])
    assert place(problem, network, proof) == ""
    assert place(problem, network, replace(proof, kinks=[[1, 0, "9/10"]])) == "epsilon"
    assert place(problem, network, replace(proof, kinks=[[1, 0, "9/10"]], epsilon="1/20")) == ""  # 2/100 <= 8/400
    assert place(problem, network, replace(proof, kinks=[[1, 0, "9/10"]], epsilon="49/1000")) == "epsilon"
    assert place(replace(problem, bias="penalised"), network, proof) == "epsilon"


def test_what_moves_a_free_bias_alone_has_a_length():
    """f(1) = (2, 0) and the target (1, 0): along the bias Gamma = 1, ||z|| = 1 and M = 2."""
    problem = VectorProblem([["1"], ["-1"]], [["1", "0"], ["0", "0"]], "0", "free", "squared", PLAIN)
    network = VectorNetwork("0", True, [["1", "1"]], [["1"], ["0"]], None)
    up, down = (Move([["0", s]], [["0"], ["0"]], None) for s in ("1", "-1"))
    assert place(problem, network, VectorNotStationary(up)) == ""
    assert place(problem, network, VectorNotStationary(up, "7/10")) == ""
    assert place(problem, network, VectorNotStationary(up, "3/4")) == "move"
    assert place(problem, network, VectorNotStationary(down)) == "move"
    assert place(problem, network, VectorNotLocal(down)) == ""
    assert place(problem, network, VectorNotLocal(up)) == "move"
    residual = VectorStationary([[0, ["-1", "0"]]])  # 2 of w, 1 of the bias, 3 of V: 14 = 7 M
    assert place(problem, network, replace(residual, epsilon="1323/500")) == ""
    assert place(problem, network, replace(residual, epsilon="529/200")) == "epsilon"


# ------------------------------------------------------------------------------------------------- output biases


def margins(scale="1"):
    """x = 1 of the second class and x = 3 of the first: f_1 - f_2 = x - 2 times scale^2."""
    t = F(scale)
    problem = VectorProblem([["1"], ["3"]], [["0", "1"], ["1", "0"]], "0", "none", "max-margin", FREE_MARGINS)
    return problem, VectorNetwork("0", False, [[t]], [[t / 2], [-t / 2]], [-t * t, t * t])


def test_a_margin_with_a_free_output_bias():
    """Both layers over sqrt(m) and b over m have margin 1: the objective is the same at every scale."""
    problem, network = margins()
    assert vector_objective(problem, network) == vector_objective(*margins("3")) == (F(3, 4), F(3, 4))
    assert "a free output bias" in vector_about(problem)
    bare = replace(problem, decay=PLAIN)
    assert place(bare, replace(network, output_bias=None), VectorDoesNotFit(0)) == ""
    assert place(problem, network, VectorDoesNotFit(0)) == "point"
    for change in (Decay("1", "1", "1"), Decay("1", "2", "0")):
        with pytest.raises(CertificateError) as error:
            replace(problem, decay=change)
        assert error.value.place == "decay"


def test_its_bound_needs_multipliers_that_add_up_to_0():
    """C = l (1, -1) at 3 and -l (1, -1) at 1: H(u) = 2 l (1, -1) for u = 1, of length 2 sqrt(2) l; D = 2 l."""
    problem, network = margins()
    on = Linear([])

    def bound(rate, other=None):
        c = [[0, [-(other or rate), other or rate]], [1, [rate, -rate]]]
        cells = Cells([0, 1, on, on, 1, Empty([[0, 3], [1, 1]]), on])
        return sealed_vector(problem, VectorBound(c, "1", cells, rate + (other or rate)))

    assert place(problem, None, bound(F(1, 3))) == ""  # (2 / 3)^2 2 <= 1
    assert place(problem, None, bound(F(1, 2))) == "nodes[2]"
    assert place(problem, None, bound(F(1, 3), F(1, 4))) == "multipliers"
    assert place(problem, network, optimal(problem, network, bound(F(1, 3)), "1/8")) == ""
    assert place(problem, network, optimal(problem, network, bound(F(1, 3)), "1/9")) == "tolerance"


def test_its_residual_is_that_of_margin_1():
    """r_w = 1 - 2 l, r_V = (1/2 - 2 l)(1, -1), r_b = 0; with another sum r_b counts as much as the scale asks."""
    for scale in ("1", "2", "7/3"):
        problem, network = margins(scale)
        level = VectorStationary([[0, ["-2/5", "2/5"]], [1, ["2/5", "-2/5"]]])
        square = F(1, 25) + 2 * F(3, 10) ** 2  # of M = 3/2
        least = F(38298, 100000)
        assert least**2 * F(3, 2) > square > (least - F(1, 10**5)) ** 2 * F(3, 2)
        assert place(problem, network, replace(level, epsilon=least)) == ""
        assert place(problem, network, replace(level, epsilon=least - F(1, 10**5))) == "epsilon"
        tilted = VectorStationary([[0, ["-2/5", "2/5"]], [1, ["1/2", "-1/2"]]])
        gaps, residual = tilted.misses(problem, network)
        assert gaps == 0
        wanted = F(1, 100) + 2 * F(3, 5) ** 2 + 2 * F(1, 10) ** 2  # 1 - 11/10, 1/2 - 11/10, 1/10 of b
        assert residual / weight_of(problem, network) == wanted / F(3, 2)


def test_targets_met_with_a_free_output_bias():
    """A constant is free: least norm 0 for equal targets."""
    problem = VectorProblem([["1"], ["2"]], [["5", "7"]] * 2, "0", "none", "min-norm", FREE_MARGINS)
    network = VectorNetwork("0", False, [["0"]], [["0"], ["0"]], ["5", "7"])
    assert vector_objective(problem, network) == (0, 0)
    assert place(problem, network, VectorStationary([])) == ""
    assert place(problem, network, VectorDoesNotFit(0)) == "point"


# ------------------------------------------------------------------------------------------------- subjects


def near_kink():
    """V.C_2 = 1 at the kink x_2 = (0, 1) of w = (1, 0): stationary there, and far from it where w leans by 1/1000."""
    problem = VectorProblem([["1", "0"], ["0", "1"]], [["2", "0"], ["1", "1"]], "0", "none", "squared", PLAIN)
    at = VectorNetwork("0", False, [["1", "0"]], [["1"], ["0"]], None)
    return problem, replace(at, hidden=[["1", "1/1000"]]), at


def test_a_subject_that_is_near():
    problem, network, at = near_kink()
    c = [[0, ["1", "0"]], [1, ["1", "1"]]]
    proof = VectorStationary(c, [[1, 0, "0"]], subject=at, moved="1/1400")  # 1/1000 of a norm of sqrt(2)
    assert place(problem, at, VectorStationary(c, [[1, 0, "0"]])) == ""
    assert place(problem, network, proof) == ""
    assert proof.own_tolerance == F(1, 1400)
    assert proof.is_approximate
    claim = sealed_vector(problem, proof, network).claim
    assert "the subject, within 1/1400 of the network relative to its norm, is stationary" in claim
    assert place(problem, network, replace(proof, moved="1/1500")) == "moved"
    assert place(problem, network, replace(proof, moved="0")) == "moved"
    assert place(problem, network, replace(proof, subject=None)) == "moved"
    assert place(problem, at, replace(proof, moved="0")) == ""
    wide = replace(at, hidden=[["1", "0"], ["0", "0"]], output=[["1", "0"], ["0", "0"]])
    assert place(problem, network, replace(proof, subject=wide)) == "subject"
    assert place(problem, network, replace(proof, subject=replace(at, hidden=[["1"]]))) == "subject"
    lying = VectorStationary([[0, ["1", "0"]], [1, ["999/1000", "1"]]], subject=network, moved="1/1400")
    assert place(problem, network, lying) == "epsilon"
    fits = replace(problem, goal="min-norm", targets=[["1", "0"], ["0", "0"]])
    assert place(fits, at, VectorStationary([[0, ["1", "0"]]])) == ""
    assert place(fits, network, VectorStationary([[0, ["1", "0"]]], subject=at, moved="1/1400")) == "subject"


def test_it_is_read_as_it_is_written():
    problem, network, at = near_kink()
    for proof in (VectorStationary([]), VectorStationary([], subject=at, moved="1/1400")):
        sealed = sealed_vector(problem, proof, network)
        assert read_vector_certificate(sealed.canonical_text()) == sealed
        assert ("subject" in sealed.to_json()) is (proof.subject is not None)
    told = sealed.to_json()
    for wrong in ({"moved": "0"}, {"subject": None}):
        with pytest.raises(CertificateError):
            read_vector_certificate(json.dumps(told | wrong))
        with pytest.raises(RefusedError):
            second_check(problem.to_json(), network.to_json(), told | wrong)
