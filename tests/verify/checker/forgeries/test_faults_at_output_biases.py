"""The rows about output biases of docs/certificates.md, "Faults that must be refused"."""

import json
from dataclasses import replace
from fractions import Fraction

import pytest

from tests.losses import posed
from verify import Bias, Dataset, Decay, Goal, InputError, Network, Objective, Problem, audit
from verify.checker import Accepted, Refused, check
from verify.checker.bounds import LowerBound, UpperBound
from verify.checker.certificate import NO_OUTPUT_BIAS
from verify.checker.codec import reader
from verify.checker.errors import CertificateError
from verify.checker.fit import Fits
from verify.checker.local import Local, NotLocal
from verify.checker.statement import Problem as Record
from verify.checker.statement import objective, outputs, squared_norms
from verify.checker.stationary import NotStationary, Stationary
from verify.deciders.local_optimality import local_optimality
from verify.deciders.proposal import sealed
from verify.deciders.stationarity import loss_stationarity

HALF = Fraction(1, 2)
POINTS = [[1], [-1]]
NETWORK = Network.two_layer([[1]], [1], b2=1)


def free():
    """f = (2, 1), c = (1/2, -1/2): stationary, and a local optimum."""
    return posed("squared", POINTS, [Fraction(5, 2), HALF], HALF, b2=0)


def penalised():
    """c = (1/2, 0), sum c = 1/2 = mu_b b."""
    return posed("squared", POINTS, [Fraction(5, 2), 1], HALF, b2=HALF)


def refusal(problem, network, proof):
    found = check(problem, network, sealed(problem, network, proof))
    return (found.place, found.reason) if isinstance(found, Refused) else None


def found(problem):
    stationary = loss_stationarity(problem, NETWORK, NETWORK, Fraction(0)).certificate
    local = local_optimality(problem, NETWORK, NETWORK).certificate
    assert isinstance(stationary, Stationary)
    assert isinstance(local, Local)
    assert refusal(problem, NETWORK, stationary) is None
    assert refusal(problem, NETWORK, local) is None
    return stationary, local


def bound(problem):
    result = audit(NETWORK, problem.data, goal=problem.goal)
    (lower,) = (proof for proof in result.bounds if isinstance(proof, LowerBound))
    assert isinstance(check(problem, None, lower), Accepted)
    return lower


# ------------------------------------------------------------------------------------------------- 81


def test_81_multipliers_that_do_not_add_up_to_0():
    """The bound of the same problem without a bias, or with a penalised one, is none with a free one."""
    for other in (posed("squared", POINTS, [2, 0], HALF), posed("squared", POINTS, [2, 0], HALF, b2=HALF)):
        lower = bound_of_problem(other)
        problem = posed("squared", POINTS, [2, 0], HALF, b2=0)
        assert sum(value for _, value in lower.multipliers) != 0
        reason = "do not add up to 0, as a free output bias needs"
        assert refusal(problem, None, lower) == ("multipliers", reason)


def bound_of_problem(problem):
    from verify.auditing import certified_bracket

    return certified_bracket(problem).lower


def test_81_the_square_left_out():
    """sum D - (sum c)^2 / (2 mu_b), not sum D."""
    problem = posed("squared", POINTS, [2, 0], HALF, b2=HALF)
    lower = bound_of_problem(problem)
    assert lower.bracket[0] <= Fraction(19, 24)
    plain = bound_of_problem(posed("squared", POINTS, [2, 0], HALF))
    assert plain.bracket[0] > Fraction(19, 24)
    assert refusal(problem, None, plain)[0] == "bracket"
    pull = sum(value for _, value in lower.multipliers)
    raised = replace(lower, bracket=(lower.bracket[0] + pull**2, None))
    assert refusal(problem, None, raised)[0] == "bracket"


def test_81_local_with_multipliers_that_pull_at_the_bias():
    _, local = found(penalised())
    assert refusal(free(), NETWORK, local)[0] in ("nodes[0]", "nodes[0].multipliers")
    _, local = found(free())
    other = posed("squared", POINTS, [Fraction(5, 2), HALF], HALF, b2=HALF)
    assert refusal(other, NETWORK, local)[0] == "nodes[0]"


# ------------------------------------------------------------------------------------------------- 82


def test_82_the_residual_of_the_bias():
    for problem, other in ((free(), penalised()), (penalised(), free())):
        stationary, _ = found(problem)
        moved = Network.two_layer([[1]], [1], b2=Fraction(3, 2))
        targets = [y + HALF for y in problem.targets]  # the same residuals, at another bias
        shifted = Problem(Dataset(POINTS, targets), problem.architecture, goal=problem.goal, bias=Bias.NONE)
        is_free = problem.goal.decay.output_bias == 0
        assert (refusal(shifted, moved, stationary) is None) is is_free
        assert refusal(other, NETWORK, stationary)[0] in ("delta", "epsilon")


def test_82_the_decay_of_the_bias():
    """F = loss + 1/2 (1/2 + 1/2 + 1/2): a bound below that with the bias left out is none of the network."""
    problem = penalised()
    value = objective(problem, NETWORK)
    assert value == Fraction(1, 8) + Fraction(3, 4)
    assert squared_norms(problem, NETWORK) == [1, 1, 1]
    for bracket, is_accepted in ((value, True), (value - Fraction(1, 10**9), False), (value - Fraction(1, 4), False)):
        proof = UpperBound(witness=NETWORK, bracket=(None, bracket))
        assert (refusal(problem, None, proof) is None) is is_accepted
    assert objective(free(), NETWORK) == Fraction(1, 4) + HALF


def test_82_a_way_down_that_pays_nothing_for_its_bias():
    """b from 1 to 2 brings a loss of 1/8 nearer to 0 and costs 3/4 more."""
    problem = posed("squared", POINTS, [Fraction(5, 2), Fraction(3, 2)], HALF, b2=HALF)
    end = ((Fraction(1),), (Fraction(1),), (Fraction(3, 2),))
    assert refusal(problem, NETWORK, NotLocal(end=end))[0] == "end"
    unpaid = posed("squared", POINTS, [Fraction(5, 2), Fraction(3, 2)], HALF, b2=0)
    assert refusal(unpaid, NETWORK, NotLocal(end=end)) is None


def test_82_a_vector_along_the_bias():
    """Free, sum c = 1: excluded up to epsilon with epsilon^2 M mu_v < 1; of a penalised bias mu_b is in its place."""
    targets = [3, 1]  # c = (1, 0)
    vector = ((Fraction(0),), (Fraction(0),), (Fraction(-1),))
    for b2, most in ((Fraction(0), Fraction(1)), (Fraction(1, 4), Fraction(1, 4))):
        problem = posed("squared", POINTS, targets, HALF, b2=b2)
        unit, size = b2 or HALF, 1 + b2
        pull = 1 - b2
        for epsilon in (Fraction(1, 2), Fraction(9, 10), Fraction(11, 10), Fraction(3)):
            proof = NotStationary(vectors=(vector,), epsilon=epsilon, kappa=Fraction(10**9))
            is_true = pull**2 > epsilon**2 * size * unit
            assert (refusal(problem, NETWORK, proof) is None) is is_true, (b2, epsilon, most)


# ------------------------------------------------------------------------------------------------- 83


def test_83_an_output_bias_where_there_is_none():
    problem = posed("squared", POINTS, [2, 0], HALF)
    plain = Network.two_layer([[1]], [1])
    zero = Network.two_layer([[1]], [1], b2=0)
    for network in (NETWORK, zero):
        assert refusal(problem, network, Stationary(multipliers=())) == ("network", NO_OUTPUT_BIAS)
        assert refusal(problem, None, UpperBound(witness=network, bracket=(None, Fraction(9)))) == (
            "witness",
            NO_OUTPUT_BIAS,
        )
    rows = NETWORK.parameters
    assert refusal(problem, plain, NotLocal(end=rows)) == ("end", NO_OUTPUT_BIAS)
    assert refusal(problem, plain, NotStationary(vectors=(rows,))) == ("vectors[0]", NO_OUTPUT_BIAS)
    lacks = "has an output bias and the network has none, or the other way round"
    assert refusal(problem, plain, Stationary(multipliers=(), subject=rows, moved=Fraction(9))) == ("subject", lacks)
    biased = posed("squared", POINTS, [2, 0], HALF, b2=0)
    subject = Stationary(multipliers=(), subject=plain.parameters, moved=Fraction(9))
    assert refusal(biased, NETWORK, subject) == ("subject", lacks)


@pytest.mark.parametrize("goal", list(Goal))
def test_83_constraints_have_none(goal):
    problem = Problem(Dataset(POINTS, [1, 1]), NETWORK.architecture, goal=goal, bias=Bias.NONE)
    assert refusal(problem, NETWORK, Fits(margin=Fraction(1)))[0] == "network"
    with pytest.raises(InputError, match="has an output bias"):
        audit(NETWORK, problem.data, goal=goal)


def test_83_of_two_layers_only_and_of_one_number():
    for rows in (((1,), (1,), (1, 2)), ((1,), (1,), ()), ((1,), (1,), (1,), (1,))):
        with pytest.raises(InputError, match="need 1, 1"):
            Network(NETWORK.architecture, rows)
    text = json.loads(NETWORK.canonical_text())
    text["parameters"].append(["1"])
    with pytest.raises(CertificateError, match="as the layers need"):
        reader(type(NETWORK).__mro__[1])(text)


@pytest.mark.parametrize("decay", [-1, Fraction(-1, 10**9)])
def test_83_no_negative_decay(decay):
    with pytest.raises(CertificateError, match="null or not negative"):
        Decay(Fraction(1), Fraction(1), Fraction(decay))


def test_83_other_curves_and_depths_have_none():
    from verify.checker.curves import NotLocalCurve
    from verify.checker.depth_stationary import DeepNotStationary

    problem = Problem(Dataset(POINTS, [1, 1]), NETWORK.architecture, goal=Goal.MIN_NORM, bias=Bias.NONE)
    plain = Network.two_layer([[1]], [1])
    problem = Problem(Dataset([[1]], [1]), NETWORK.architecture, goal=Goal.MIN_NORM, bias=Bias.NONE)
    curve = NotLocalCurve(rows=(NETWORK.parameters,), until=Fraction(1))
    assert refusal(problem, plain, curve) == ("rows[0]", NO_OUTPUT_BIAS)
    vectors = DeepNotStationary(
        vectors=(NETWORK.parameters,), qualification="nothing", splits=(), epsilon=Fraction(0), delta=Fraction(0),
        kappa=Fraction(0),
    )  # fmt: skip
    assert refusal(problem, plain, vectors) == ("vectors[0]", NO_OUTPUT_BIAS)


def test_the_text_of_a_problem_is_as_it_was_without_one():
    problem = posed("squared", POINTS, [2, 0], HALF)
    assert "output_bias" not in problem.canonical_text()
    biased = posed("squared", POINTS, [2, 0], HALF, b2=0)
    text = json.loads(biased.canonical_text())
    assert text["goal"]["decay"]["output_bias"] == "0"
    assert reader(Record)(text).sha256() == biased.sha256()
    text["goal"]["decay"]["output_bias"] = None
    with pytest.raises(CertificateError, match="must be left out"):
        reader(Record)(text)
    assert "with a free output bias" in str(biased.goal)
    assert "+ 1/2 b^2), b the output bias" in str(replace(biased.goal, decay=Decay(HALF, HALF, HALF)))


def test_outputs_have_it():
    problem = free()
    assert outputs(problem, NETWORK) == (2, 1)
    assert NETWORK([1]) == 2
    assert Objective(problem.goal.loss, problem.goal.decay) == problem.goal
