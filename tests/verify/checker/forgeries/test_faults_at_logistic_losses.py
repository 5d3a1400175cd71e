"""The row about the logistic loss of docs/certificates.md, "Faults that must be refused".

Each on a valid certificate; what it proves is compared with decimals of many digits.
"""

import math
import re
from dataclasses import replace
from fractions import Fraction
from functools import cache
from random import Random

import pytest

from tests.forging import refused
from tests.losses import point_loss, posed
from verify import Bias, Decay, Network, Objective, Problem, audit
from verify.checker import Accepted, Refused, check, statement
from verify.checker.bounds import LowerBound, UpperBound, witness_value
from verify.checker.dual_trees import Bound
from verify.checker.errors import CertificateError
from verify.checker.exact import Field
from verify.checker.fit import objective_least_at, rounded_up
from verify.checker.local import NotLocal
from verify.checker.logarithms import entropy_below, softplus
from verify.checker.objectives import PointLoss
from verify.checker.optimal import BetterNetwork, OptimalWithin
from verify.checker.statement import objective, without_neurons
from verify.checker.stationary import NotStationary, Stationary
from verify.deciders.proposal import sealed
from verify.deciders.stationarity import loss_stationarity

ZERO, ONE, HALF = Fraction(0), Fraction(1), Fraction(1, 2)
TINY = Fraction(1, 2**240)


def one_point(r, decay, multiplier, beta, bracket, weight=1, y=1):
    """The bound of one point at distance r: s h(u) <= |c| r ||u||."""
    problem = posed("logistic", [[r]], [y], decay, weight=weight)
    c = Fraction(multiplier) * y
    trees = tuple((0, Bound(("e",)), Bound((0,))) if sign * c > 0 else (Bound((0,)),) for sign in (1, -1))
    proof = LowerBound(((0, Fraction(multiplier)),), Fraction(beta), c.denominator, trees, bracket=(bracket, None))
    return problem, sealed(problem, None, proof)


def entropy(p):
    return -p * math.log(p) - (1 - p) * math.log(1 - p)


@cache
def audited():
    """A network of the logistic loss, and its audit."""
    random = Random(3)
    rows = [[Fraction(random.randint(-8, 8), 4) for _ in range(2)] for _ in range(6)]
    network = Network.two_layer([[1, HALF], [-1, 1]], [1, HALF], b=[0, 1], b2=Fraction(1, 8))
    problem = posed("logistic", rows, [1, -1, 1, -1, 1, 1], Fraction(1, 8), bias=Bias.PENALISED, b2=Fraction(1, 8))
    return audit(network, problem.data, goal=problem.goal, bias=problem.bias)


def place(problem, proof, network=None):
    """Where it is refused as it is, not sealed anew; None where it is accepted."""
    found = check(problem, network, proof)
    return found.place if isinstance(found, Refused) else None


# ------------------------------------------------------------------------------------------------- what is true


@pytest.mark.parametrize("y", [1, -1])
def test_the_optimum_of_one_point(y):
    """The entropy of mu / r; r = 4, mu = 1: 0.562335144618808..."""
    problem, proof = one_point(4, 1, Fraction(1, 4), 1, entropy_below(Fraction(1, 4)), y=y)
    assert isinstance(check(problem, None, proof), Accepted)
    assert float(proof.bracket[0]) == pytest.approx(0.562335144618808, rel=1e-15)
    assert float(without_neurons(problem)) == pytest.approx(math.log(2), rel=1e-15)
    assert "log(1 + exp(-y f(x))) (logistic loss), plus" in proof.claim


def test_a_weight_goes_into_the_end():
    """omega log(1 + e^-q) has the D omega H(d / omega): with omega and mu times 3 the optimum is 3 times that."""
    problem, proof = one_point(4, 3, Fraction(3, 4), 3, 3 * entropy_below(Fraction(1, 4)), weight=3)
    assert isinstance(check(problem, None, proof), Accepted)
    assert str(problem.goal.loss).startswith("3 log(1 + exp(-y f(x)))")


def test_objectives_are_rounded_up_and_down():
    problem = posed("logistic", [[1]], [1], Fraction(1, 2))
    network = Network.two_layer([[1]], [1])
    high, low = objective(problem, network), objective_least_at(problem, network)
    assert (low, high) == tuple(HALF + end for end in softplus(ONE))
    assert ZERO < rounded_up(problem, network) == high - low < TINY
    assert witness_value(problem, network) >= high
    exact = posed("hinge", [[1]], [1], HALF)
    assert rounded_up(exact, network) == 0
    assert exact.goal.rounded_up([ONE], [ONE]) == 0


def test_an_audit_of_this_loss():
    """All kinds but `local` say something of it."""
    found = audited()
    kinds = {type(proof) for finding in found.findings.values() for proof in finding.certificates}
    kinds |= {type(proof) for proof in found.bounds}
    assert {LowerBound, UpperBound, BetterNetwork, NotStationary} <= kinds
    best = audit(found.better, found.problem.data, goal=found.problem.goal, bias=found.problem.bias)
    kinds = {type(proof) for finding in best.findings.values() for proof in finding.certificates}
    assert {Stationary, OptimalWithin} <= kinds


def test_a_network_of_zeros_is_stationary_exactly():
    problem = posed("logistic", [[1], [2]], [1, -1])
    network = Network.two_layer([[0]], [0])
    proof = sealed(problem, network, Stationary(multipliers=((0, HALF), (1, HALF))))
    assert isinstance(check(problem, network, proof), Accepted)
    for other in ((0, HALF),), ((0, HALF), (1, HALF + TINY)), ((0, HALF), (1, HALF - TINY)):
        refused(problem, network, sealed(problem, network, Stationary(multipliers=other)), "delta")


# ------------------------------------------------------------------------------------------------- 84


@pytest.mark.parametrize("multiplier", [ONE + TINY, Fraction(2)])
def test_84_multipliers_beyond_the_end(multiplier):
    problem, proof = one_point(1, 4, multiplier, multiplier, ZERO)
    refused(problem, None, replace(proof, beta=4 * ONE), "multipliers[0]")
    problem, proof = one_point(1, 4, -HALF, ONE, ZERO)
    refused(problem, None, proof, "multipliers[0]")


def test_84_a_bound_above_the_value():
    """D = y c, of max-margin, or log 2, or the entropy rounded up; below it each number is accepted."""
    value = entropy_below(Fraction(1, 4))
    for forged in (value + Fraction(1, 2**300), value + TINY, softplus(ZERO)[1], 2 * value):
        problem, proof = one_point(4, 1, Fraction(1, 4), 1, forged)
        refused(problem, None, proof, "bracket")
    for lower in (value, value - TINY, ZERO):
        problem, proof = one_point(4, 1, Fraction(1, 4), 1, lower)
        assert isinstance(check(problem, None, proof), Accepted)
    problem, proof = one_point(4, 1, Fraction(1, 4), 1, -TINY)
    refused(problem, None, proof, "bracket")


def test_84_a_bound_must_state_its_lower_end_alone():
    problem, proof = one_point(4, 1, Fraction(1, 4), 1, ZERO)
    for bracket in ((None, None), (ZERO, ONE)):
        refused(problem, None, replace(proof, bracket=bracket), "bracket")


@pytest.mark.parametrize("weight", [HALF, 2])
def test_84_another_weight(weight):
    """The loss is half as large, or twice: what is stated is above one bound and below the other."""
    problem, proof = one_point(4, 1, Fraction(1, 4), 1, entropy_below(Fraction(1, 4)))
    asked = problem.goal
    other = Objective(point_loss("logistic", weight), asked.decay)
    forged = Problem(problem.data, problem.architecture, goal=other, bias=problem.bias)
    assert place(forged, proof) == "problem"
    assert place(forged, sealed(forged, None, proof)) == ("bracket" if weight < 1 else None)


def test_84_values_rounded_the_wrong_way():
    """A network is not beaten by one that may be as good; an upper bound is no lower end."""
    problem = posed("logistic", [[1]], [1], HALF)
    network = Network.two_layer([[1]], [1])
    high, low = objective(problem, network), objective_least_at(problem, network)
    for value, is_true in ((high, True), (high - Fraction(1, 2**257), False), (low, False)):
        proof = sealed(problem, None, UpperBound(witness=network, bracket=(None, value)))
        assert isinstance(check(problem, None, proof), Accepted) is is_true
    beaten = BetterNetwork(witness=network, tolerance=ZERO, scope="any-width")
    refused(problem, network, sealed(problem, network, beaten), "witness")


def test_84_a_better_network_whose_lead_is_rounding():
    """The witness is the same function at the same cost: it is not below the lower bound of the network."""
    problem = posed("logistic", [[1]], [1], HALF)
    network, other = Network.two_layer([[1]], [1]), Network.two_layer([[1], [0]], [1, 0])
    assert objective(problem, other) == objective(problem, network) > objective_least_at(problem, network)
    beaten = BetterNetwork(witness=other, tolerance=ZERO, scope="any-width")
    refused(problem, network, sealed(problem, network, beaten), "witness")


def test_84_multipliers_of_another_point_or_none():
    """phi needs the entropy: with D = 0, or of multipliers that are not the slopes, it is above delta M."""
    found = audited()
    best = audit(found.better, found.problem.data, goal=found.problem.goal, bias=found.problem.bias)
    (proof,) = (one for one in best.stationary.certificates if isinstance(one, Stationary))
    problem, network = best.problem, best.network
    assert isinstance(check(problem, network, proof), Accepted)
    refused(problem, network, sealed(problem, network, replace(proof, delta=ZERO)), "delta")
    moved = tuple((i, value * (1 - Fraction(1, 10**6))) for i, value in proof.multipliers)
    refused(problem, network, sealed(problem, network, replace(proof, multipliers=moved)), "delta")
    refused(problem, network, sealed(problem, network, replace(proof, multipliers=(), kink_products=())), "delta")
    refused(problem, network, sealed(problem, network, replace(proof, epsilon=proof.epsilon / 2)), "epsilon")


def test_84_separating_vectors():
    """Enlarged within, turned, or with another kappa: each is refused, and without kappa the ends 0 and 1 count."""
    problem = posed("logistic", [[1], [2]], [1, 1], Fraction(1, 8))
    network = Network.two_layer([[1]], [1])
    proof = loss_stationarity(problem, network, network, Fraction(1, 1000)).certificate
    assert isinstance(proof, NotStationary)
    assert proof.kappa > 0
    assert isinstance(check(problem, network, proof), Accepted)
    (vector,) = proof.vectors
    turned = tuple(tuple(-z for z in row) for row in vector)
    changes = {"epsilon": 10 * ONE, "delta": ONE, "kappa": ZERO}
    for forged in (
        *(replace(proof, **{name: value}) for name, value in changes.items()),
        replace(proof, vectors=(turned,)),
    ):
        refused(problem, network, sealed(problem, network, forged), "vectors[0]")
    one = posed("logistic", [[1]], [1], Fraction(1, 4))
    pair = Network.two_layer([[1]], [1])
    along = NotStationary(vectors=(((ONE,), (-ONE,)),))
    refused(one, pair, sealed(one, pair, along), "vectors[0]")
    unbalanced = Network.two_layer([[2]], [1])
    along = NotStationary(vectors=(((2 * ONE,), (-ONE,)),))
    assert isinstance(check(one, unbalanced, sealed(one, unbalanced, along)), Accepted)


def test_84_a_segment_that_leads_up():
    problem = posed("logistic", [[1]], [1], Fraction(1, 8))
    network = Network.two_layer([[1]], [1])
    for end, is_true in ((Fraction(3, 2), True), (HALF, False), (ONE, False)):
        proof = sealed(problem, network, NotLocal(end=((end,), (ONE,))))
        assert isinstance(check(problem, network, proof), Accepted) is is_true


@pytest.mark.parametrize(
    "change",
    [{"labels": False}, {"low": -ONE}, {"high": ZERO}, {"high": None}, {"tube": ONE}, {"curvature": ONE}],
)
def test_84_what_is_no_logistic_loss(change):
    fields = {"labels": True, "low": ZERO, "high": ONE, "tube": ZERO, "curvature": ZERO, "kind": "logistic"}
    with pytest.raises(CertificateError) as caught:
        PointLoss(**{**fields, **change})
    assert caught.value.place == "kind"


def test_84_irrational_outputs():
    root = Field((-2, 0, 1), (ONE, 2 * ONE)).number([ZERO, ONE])
    problem = posed("logistic", [[1]], [1])
    network = statement.Network(statement.Architecture(problem.architecture.layers), ((root,), (ONE,)))
    proof = sealed(problem, None, UpperBound(witness=Network.two_layer([[1]], [1]), bracket=(None, 9 * ONE)))
    assert isinstance(check(problem, None, proof), Accepted)
    refused(problem, None, replace(proof, witness=network), "")


def test_84_a_decay_of_its_own():
    """The decay of another layer, or of the bias, is another problem."""
    found = audited()
    lower = next(proof for proof in found.bounds if isinstance(proof, LowerBound))
    problem, asked = found.problem, found.problem.goal
    for decay in (
        Decay(asked.decay.hidden, asked.decay.output, ZERO),
        Decay(asked.decay.hidden / 2, asked.decay.output / 2),
    ):
        forged = Problem(problem.data, problem.architecture, goal=replace(asked, decay=decay), bias=problem.bias)
        refused(forged, None, sealed(forged, None, lower), re.compile(r"bracket|multipliers.*"))
