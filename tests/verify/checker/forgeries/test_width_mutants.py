"""Certificates of own widths and given output weights, changed at random: what is accepted is true, for both checkers.

The truth is the table of `tests/width_cases.py`, by hand. Every mutant is sealed anew: hashes and claim are right.
"""

import copy
import json
from fractions import Fraction
from functools import cache
from random import Random

import pytest

import verify.checker as trusted
from tests import exact_states, second_checker
from tests.exact_states import network, posed
from tests.second_checker import questions
from tests.second_checker.texts import RefusedError
from tests.width_cases import CASES, FAR, H16_ROWS, H16_TARGETS, LINE, NEAR, equal_neurons, nodes_of
from verify.checker.bounds import UpperBound
from verify.checker.errors import CertificateError
from verify.checker.exact import sqrt_upper
from verify.checker.fit import Fits
from verify.checker.local import Local, NotLocal
from verify.checker.optimal import BetterNetwork
from verify.checker.stationary import NotStationary, Stationary
from verify.checker.width import DoesNotFitWidth, InfeasibleWidth, LowerBoundWidth, OptimalWithinWidth
from verify.deciders.proposal import sealed

F = Fraction
FIXED = {"schema", "kind", "problem", "network", "claim", "architecture", "scope"}
MUTANTS = 60  # of each certificate


@cache
def bounds():
    """{name: (problem, lower bound or infeasible, square of the best value or None)}."""
    found = {}
    for name, known in CASES.items():
        nodes, square = nodes_of(known), known.root if known.best is None else known.best**2
        if square is None:
            found[name] = known.problem, InfeasibleWidth(nodes=nodes), None
        else:
            low = known.best or 1 / sqrt_upper(1 / square) * (1 - F(1, 2**38))
            found[name] = known.problem, LowerBoundWidth(nodes=nodes, bracket=(low, None)), square
    problem, leaf, best, _ = equal_neurons(H16_ROWS, H16_TARGETS, 2, 1)
    found["H16"] = problem, LowerBoundWidth(nodes=(leaf,), bracket=(best, None)), best**2
    return found


@cache
def about_networks():
    """{name: (problem, network, certificate)}, all accepted."""
    H1, H5 = CASES["H1 a point to be off at"], CASES["H5 a label of the other sign"]
    one, three = H1.problem, posed(LINE, [2, 1], "min-norm", [1, 1, 1])
    far, best = network(one, [[1, -2]]), network(one, [[1, -1]])
    left, poor = network(three, [[2], ["-1/2"], ["-1/2"]]), network(three, [[2], [-1], [0]])
    wide = network(three, [[1], [1], [-1]])
    sides = {(j, i): (1 if (j == 0) is (i == 0) else -1) for j in range(3) for i in range(2)}
    lower = sealed(one, None, LowerBoundWidth(nodes=nodes_of(H1), bracket=(F(1), None)))
    margin = posed([[1]], [1], "max-margin", ["1/10"])
    return {
        "fits": (one, far, Fits(margin=F(0))),
        "stationary": (one, best, Stationary(multipliers=((0, F(2)), (1, F(-1))), kink_products=((1, 0, F(-1)),))),
        "stationary-margin": (margin, network(margin, [[2]]), Stationary(multipliers=((0, F(20)),))),
        "not-stationary": (one, far, NotStationary(vectors=(((F(0), F(-1)), (F(0),)),), epsilon=F(1, 9))),
        "local": (three, left, Local(nodes=(exact_states.leaf(three, sides, {0: 2, 1: "1/2"}),))),
        "local-tie": (one, best, Local(nodes=((0, 1), *[exact_states.leaf(one, {(0, 0): 1, (0, 1): s}, {0: 2, 1: -1})
                                                       for s in (1, -1)]))),
        "not-local": (three, poor, NotLocal(end=network(three, [[1], [-1], [1]]).parameters)),
        "better": (three, left, BetterNetwork(witness=wide, tolerance=F(1, 3), scope="own-width")),
        "upper-bound": (margin, None, UpperBound(witness=network(margin, [[2]]), bracket=(None, F(50)))),
        "optimal": (one, best, OptimalWithinWidth(tolerance=F(0), lower=lower)),
        "does-not-fit": (H5.problem, network(H5.problem, [[1, 0]]), DoesNotFitWidth(nodes=nodes_of(H5))),
    }  # fmt: skip


def places(value, path=()):
    """The paths to all numbers, texts of numbers and lists that may be changed."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in items:
        if key not in FIXED:
            yield (*path, key)
            yield from places(part, (*path, key))


def changed(value, random):
    """Another value, mostly of the same kind."""
    if isinstance(value, str) and value not in "+-e":
        number = Fraction(value)
        small = F(1, random.choice([3, 1000, 10**9]))
        return str(random.choice((number + small, number - small, number * (1 + small), -number, 1 - number, F(0))))
    if type(value) is int:
        return random.choice((value + 1, value - 1, -value, 2 * value, 0, None, "e"))
    if isinstance(value, list) and value:
        one, other = random.randrange(len(value)), random.randrange(len(value))
        swapped = [*value]
        swapped[one], swapped[other] = value[other], value[one]
        return random.choice((value[1:], value[:-1], value[::-1], value + value[-1:], swapped, [*value, value[one]]))
    return value if isinstance(value, list | dict) else {"+": "-", "-": "+", "e": 0, None: 0}[value]


def mutant(problem, proof, random):
    """The certificate with a few places changed, and the claims that go with it; None where it has no claim."""
    made = copy.deepcopy(proof)
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        *above, key = random.choice(list(places(made)))
        part = made
        for step in above:
            part = part[step]
        part[key] = changed(part[key], random)
    try:
        for inner in (made.get("lower"), made):
            if isinstance(inner, dict):
                inner["claim"] = second_checker.claim(questions.Question(problem), inner)
    except (RefusedError, ValueError, TypeError, KeyError):
        return None
    return made


def judged(problem, given, made):
    """(whether the trusted checker accepts, what it says), once the second one says the same."""
    try:
        second_checker.check(problem.to_json(), None if given is None else given.to_json(), made)
        mine = None
    except RefusedError as error:
        mine = str(error)
    try:
        result = trusted.check(problem, given, trusted.read_certificate(json.dumps(made)))
        said = None if isinstance(result, trusted.Accepted) else f"{result.place}: {result.reason}"
    except CertificateError as error:
        said = str(error)
    assert (mine is None) == (said is None), (mine, said, made)
    return said is None, said


@pytest.mark.parametrize("name", [*CASES, "H16"])
def test_mutants_of_bounds_prove_nothing_false(name):
    problem, proof, square = bounds()[name]
    plain, random, taken = sealed(problem, None, proof).to_json(), Random(name), 0
    assert judged(problem, None, plain) == (True, None)
    for _ in range(MUTANTS):
        made = mutant(problem.to_json(), plain, random)
        if made is None:
            continue
        is_accepted, _ = judged(problem, None, made)
        taken += is_accepted
        if is_accepted and square is not None:
            assert made["kind"] == "lower-bound-width"
            assert Fraction(made["bracket"][0]) ** 2 <= square
    assert taken < MUTANTS


@pytest.mark.parametrize("name", [name for name, (_, _, square) in bounds().items() if square is not None])
def test_no_mutant_with_a_raised_claim_is_accepted(name):
    """The claim is a thousandth above the truth; changed are multipliers, squares, slopes, splits and leaves."""
    problem, proof, square = bounds()[name]
    random = Random(f"raised {name}")
    raised = 1 / sqrt_upper(1 / square) * F(1001, 1000)
    plain = sealed(problem, None, LowerBoundWidth(nodes=proof.nodes, bracket=(raised, None))).to_json()
    for _ in range(MUTANTS):
        made = mutant(problem.to_json(), plain, random)
        if made is not None and made["bracket"][0] is not None and Fraction(made["bracket"][0]) ** 2 > square:
            assert not judged(problem, None, made)[0]
        if made is not None and isinstance(made["nodes"], list):
            nothing = {key: value for key, value in made.items() if key != "bracket"} | {"kind": "infeasible-width"}
            nothing["claim"] = second_checker.claim(questions.Question(problem.to_json()), nothing)
            assert not judged(problem, None, nothing)[0]


@pytest.mark.parametrize("name", about_networks())
def test_both_checkers_agree_about_networks(name, monkeypatch):
    problem, given, proof = about_networks()[name]
    plain, random, agreed = sealed(problem, given, proof).to_json(), Random(name), 0
    assert judged(problem, given, plain) == (True, None)
    monkeypatch.setattr(questions, "COARSER", Fraction(0))
    for _ in range(MUTANTS):
        made = mutant(problem.to_json(), plain, random)
        if made is not None:
            judged(problem, given, made)
            agreed += 1
    assert agreed


@pytest.mark.parametrize("name", about_networks())
def test_both_checkers_refuse_another_problem(name):
    problem, given, proof = about_networks()[name]
    others = [posed(FAR, NEAR, "min-norm", v) for v in ([2], [1, 1], ["1/3"])]
    for other in others:
        made = sealed(other, given, proof).to_json()
        if (other.architecture, other.output_weights) != (problem.architecture, problem.output_weights):
            assert not judged(other, given, made)[0]
