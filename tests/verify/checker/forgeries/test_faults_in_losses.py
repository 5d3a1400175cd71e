"""The rows about losses with weight decay of docs/certificates.md, "Faults that must be refused".

One test or more per row, each on a valid certificate; the place of the refusal is part of what is tested.
"""

import re
from dataclasses import replace
from fractions import Fraction
from functools import cache

import pytest

from tests.forging import refused
from tests.losses import PARAMETERS, point_loss, posed
from tests.verify.checker.test_objectives import one_point
from verify import Bias, Dataset, Decay, Goal, Network, Objective, Problem, Trained, audit
from verify.checker import KINDS, Accepted, Refused, check, statement
from verify.checker.answers import answers
from verify.checker.bounds import Infeasible, LowerBound, UpperBound
from verify.checker.errors import CertificateError, InputError
from verify.checker.fit import DoesNotFit, Fits
from verify.checker.optimal import OptimalWithin
from verify.checker.questions import Question
from verify.deciders.proposal import sealed

POINTS = [[1, 0], [0, 1], [1, 1], [-1, 1]]
NETWORK = Network.two_layer([[1, 0], [0, 1]], [1, -1])


@cache
def audited(name, bias=Bias.NONE):
    """The audit of a network for a loss of each kind, with its lower bound."""
    targets = [1, -1, 1, -1] if PARAMETERS[name][0] else [3, -2, 1, 2]
    network = NETWORK if bias is Bias.NONE else Network.two_layer([[1, 0], [0, 1]], [1, -1], b=[1, 0])
    objective = Objective(point_loss(name), Decay(Fraction(1, 4), Fraction(1, 4)))
    found = audit(network, Dataset(POINTS, targets), goal=objective, bias=bias)
    (lower,) = (proof for proof in found.bounds if isinstance(proof, LowerBound))
    assert isinstance(check(found.problem, None, lower), Accepted)
    assert lower.bracket[0] > 0
    return found, lower


def remade(problem, proof, **changes):
    return sealed(problem, None, replace(proof, **changes))


def answer(problem, proof, network=None):
    found = check(problem, network, proof)
    assert isinstance(found, Refused)
    return found.place, found.reason


# ------------------------------------------------------------------------------------------------- 69


def test_69_multipliers_that_are_admissible_before_they_are_scaled():
    """Hinge, x = 1, mu = 10: c = 1 is admissible and h <= 1, but 10 c is not: it would prove 10, the optimum is 1."""
    problem, proof = one_point("hinge", 1, 1, 10, 1, 1, 10)
    assert answer(problem, proof) == ("multipliers[0]", "is beyond what the loss admits, once scaled to the price")
    problem, proof = one_point("hinge", 1, 1, 10, 1, 10, 1)
    assert isinstance(check(problem, None, proof), Accepted)


@pytest.mark.parametrize("name", ["hinge", "absolute", "epsilon-insensitive", "huber"])
def test_69_a_smaller_beta_scales_beyond_an_end(name):
    found, lower = audited(name)
    ends = [abs(value) for _, value in lower.multipliers]
    assert max(ends) > 0
    forged = remade(found.problem, lower, beta=lower.beta / 10**6)
    assert answer(found.problem, forged)[0].startswith(("multipliers", "trees"))


# ------------------------------------------------------------------------------------------------- 70


@pytest.mark.parametrize("multiplier", [2, Fraction(1, 2) + Fraction(1, 10**12)])
def test_70_multipliers_beyond_an_end(multiplier):
    problem, proof = one_point("huber", 1, 3, 1, multiplier, 1, "1")
    assert answer(problem, proof)[0] in ("multipliers[0]", "trees[0].nodes[1]", "trees[0][1]")


@pytest.mark.parametrize("name", ["hinge", "squared-hinge"])
def test_70_a_negative_multiplier_of_labels(name):
    problem, proof = one_point(name, 1, 1, 1, Fraction(-1, 2), 1, "1/2")
    assert answer(problem, proof)[0] == "multipliers[0]"


@pytest.mark.parametrize("name", ["hinge", "squared-hinge"])
def test_70_coefficients_in_the_place_of_multipliers(name):
    """c = lambda y is negative at y = -1: it stands for no multiplier."""
    found, lower = audited(name)
    y = found.problem.targets
    forged = remade(found.problem, lower, multipliers=tuple((i, value * y[i]) for i, value in lower.multipliers))
    assert answer(found.problem, forged)[0].startswith("multipliers")


# ------------------------------------------------------------------------------------------------- 71


@pytest.mark.parametrize("name", PARAMETERS)
def test_71_the_value_without_its_scale(name):
    """D of c itself, or D / beta as max-margin has it."""
    found, lower = audited(name)
    problem, value = found.problem, lower.bracket[0]
    loss, y = problem.goal.loss, problem.targets
    own = {i: number * (y[i] if loss.labels else 1) for i, number in lower.multipliers}
    dual = sum(loss.dual(y[i], c) for i, c in own.items())
    for other in (dual, dual / lower.beta, value * (1 + Fraction(1, 10**12))):
        if other != value:
            refused(problem, None, remade(problem, lower, bracket=(other, None)), "bracket")


def test_71_the_price_rounded_up():
    """mu_w mu_v = 2: t beta <= sqrt 2 needs the root rounded down; the bound of a larger t is refused."""
    problem, proof = one_point("hinge", 2, 1, 2, "1/2", 1, 0, output=1)
    true = proof.value(problem, [((0,), (), 1), ((0,), (), -1)])
    above = problem.goal.price_above / 2
    assert true < above
    assert above**2 >= Fraction(1, 2) > true**2
    assert isinstance(check(problem, None, remade(problem, proof, bracket=(true, None))), Accepted)
    refused(problem, None, remade(problem, proof, bracket=(above, None)), "bracket")


# ------------------------------------------------------------------------------------------------- 72


@pytest.mark.parametrize("name", PARAMETERS)
def test_72_a_certificate_of_another_objective(name):
    found, lower = audited(name)
    problem, asked = found.problem, found.problem.goal
    others = [
        replace(asked, decay=Decay(asked.decay.hidden * 2, asked.decay.output)),
        replace(asked, decay=Decay(asked.decay.hidden, asked.decay.output / 2)),
        replace(asked, loss=replace(asked.loss, tube=asked.loss.tube + Fraction(1, 8))),
        replace(asked, loss=replace(asked.loss, curvature=asked.loss.curvature + 1)),
    ]
    for other in others:
        forged = Problem(problem.data, problem.architecture, goal=other, bias=problem.bias)
        assert answer(forged, lower)[0] == "problem"
        refused(forged, None, lower, re.compile(r"bracket|multipliers\[\d\]"))
    for goal in Goal:
        if goal is Goal.MIN_NORM or asked.loss.labels:
            forged = Problem(problem.data, problem.architecture, goal=goal, bias=problem.bias)
            assert answer(forged, lower)[0] == "problem"
            refused(forged, None, lower, re.compile(r"bracket|trees\[\d\].*"))


def test_72_the_value_of_another_loss():
    """The squared loss with the D of the absolute one: y c rather than y c - c^2 / 2."""
    found, lower = audited("squared")
    t = found.problem.goal.price / lower.beta
    other = sum(t * c * found.problem.targets[i] for i, c in lower.multipliers)
    assert other > lower.bracket[0]
    refused(found.problem, None, remade(found.problem, lower, bracket=(other, None)), "bracket")


# ------------------------------------------------------------------------------------------------- 73


@pytest.mark.parametrize("bias", [Bias.NONE, Bias.FREE])
def test_73_a_neuron_without_weights(bias):
    """w = 0 and v = 2 cost 1/2 mu v^2 = 2, not |v| ||w|| = 0."""
    problem = posed("squared", [[1]], [1], bias=bias)
    witness = Network.two_layer([[0]], [2], b=None if bias is Bias.NONE else [0])
    for bracket, is_accepted in (
        (Fraction(5, 2), True),
        (Fraction(1, 2), False),
        (Fraction(5, 2) - Fraction(1, 10**9), False),
    ):
        proof = sealed(problem, None, UpperBound(witness=witness, bracket=(None, bracket)))
        assert isinstance(check(problem, None, proof), Accepted) is is_accepted


# ------------------------------------------------------------------------------------------------- 74


def test_74_kinds_that_decide_nothing_of_a_loss():
    """All but nine; each is refused for the problem, before anything that it holds is looked at."""
    found, _ = audited("squared")
    others = {kind: cls for kind, cls in KINDS.items() if not cls.DECIDES.objectives}
    bounds = {"lower-bound", "upper-bound", "better-network", "optimal-within"}
    assert set(KINDS) - set(others) == bounds | {
        "stationary", "stationary-near", "not-stationary", "local", "not-local",
    }  # fmt: skip
    assert not any(cls.DECIDES.holds(found.problem) for cls in others.values())
    for proof in (Fits(margin=Fraction(0)), DoesNotFit(point=0), Infeasible(multipliers=())):
        refused(found.problem, found.network, proof, "problem")


@pytest.mark.parametrize("kind", ["fits", "infeasible-width", "does-not-fit-width"])
def test_74_kinds_of_another_problem(kind):
    """A valid one, with the hash of the problem of the loss."""
    from tests.verify.checker.test_planted_members import ITEMS

    _, network, proof = ITEMS[kind]
    shape = Network(network.architecture, network.parameters).architecture
    objective = Objective(point_loss("squared"), Decay(Fraction(1), Fraction(1)))
    bias = Bias.PENALISED if shape.layers[0].bias else Bias.NONE
    problem = Problem(Dataset([[1] * shape.layers[0].inputs], [1]), shape, goal=objective, bias=bias)
    refused(problem, network, proof, "problem")


def test_74_nothing_is_said_of_fitting():
    found, lower = audited("squared")
    best = sealed(found.problem, found.network, OptimalWithin(tolerance=Fraction(1000), lower=lower))
    assert isinstance(check(found.problem, found.network, best), Accepted)
    assert set(answers(found.problem, found.network, best)) == {Question.GLOBAL_OPTIMUM, Question.GLOBAL_ANY_WIDTH}


# ------------------------------------------------------------------------------------------------- 75


DEEP = (statement.Layer(1, 1, Fraction(0)), statement.Layer(1, 1, Fraction(0)), statement.Layer(1, 1, None))
SHARED = (statement.Layer(1, 2, Fraction(0), entries=((0,), (0,))), statement.Layer(2, 1, None))


@pytest.mark.parametrize("layers", [DEEP, SHARED], ids=["deep", "shared"])
def test_75_a_loss_is_of_two_layers(layers):
    objective = Objective(point_loss("squared"), Decay(Fraction(1), Fraction(1)))
    with pytest.raises(InputError, match="a loss with weight decay is asked of two layers"):
        Problem(Dataset([[1]], [1]), statement.Architecture(layers), goal=objective, bias=Bias.NONE)
    with pytest.raises(CertificateError, match="asked of two layers"):
        replace_in_record(posed("squared", [[1]], [1]), architecture=statement.Architecture(layers))


def test_75_both_layers_are_trained():
    objective = Objective(point_loss("squared"), Decay(Fraction(1), Fraction(1)))
    with pytest.raises(InputError, match="both layers are trained"):
        Problem(Dataset([[1, 1]], [1]), NETWORK.architecture, goal=objective, bias=Bias.NONE, trained=Trained.HIDDEN)


def test_75_the_record_refuses_the_same():
    with pytest.raises(CertificateError, match="asked of two layers") as caught:
        replace_in_record(posed("squared", [[1]], [1]), trained=Trained.HIDDEN)
    assert caught.value.place == "goal"


@pytest.mark.parametrize("name", ["hinge", "squared-hinge"])
def test_75_labels_and_tolerances(name):
    problem = posed(name, [[1]], [1])
    with pytest.raises(CertificateError, match="a loss of labels"):
        replace_in_record(problem, targets=(Fraction(2),))
    with pytest.raises(CertificateError, match="left out where a loss is asked"):
        replace_in_record(problem, fit_tolerance=Fraction(1, 2))


def replace_in_record(problem, **changes):
    fields = {name: getattr(problem, name) for name in statement.Problem.__dataclass_fields__}
    fields["architecture"] = statement.Architecture(problem.architecture.layers)
    return statement.Problem(**{**fields, **changes})
