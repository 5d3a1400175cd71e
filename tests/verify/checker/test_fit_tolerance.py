"""Min-norm within a fit tolerance in the trusted core: every kind, and what must be refused.

The data are such that everything can be read off: f must lie in [1, 3] at x = 1 and in [-3, -1] at x = -1, so that the
least objective is 1 for one of the points and 2 for both.
"""

import json
import re
from dataclasses import replace
from fractions import Fraction
from random import Random

import pytest

from tests.forging import accepted, refused
from verify import Architecture, Bias, Dataset, Goal, Network, Problem
from verify.checker import Refused, check, from_json
from verify.checker.bounds import Infeasible, LowerBound, UpperBound
from verify.checker.codec import load_json, reader
from verify.checker.dual_trees import Bound, Dual
from verify.checker.enclosure import StationaryNear
from verify.checker.errors import CertificateError, InputError
from verify.checker.fit import DoesNotFit, Fits
from verify.checker.local import Local, NotLocal
from verify.checker.optimal import BetterNetwork, OptimalWithin
from verify.checker.statement import Problem as Statement
from verify.checker.stationary import NotStationary, Stationary
from verify.deciders.finding import Question, Verdict, decide
from verify.deciders.proposal import Proposal, sealed
from verify.problem.problem import objective

ONE = Fraction(1)


def problem_of(X, y, eps, width=2, slope=0):
    shape = Architecture.two_layer(len(X[0]), width, slope=slope)
    return Problem(Dataset(X, y), shape, goal=Goal.MIN_NORM, bias=Bias.NONE, fit_tolerance=eps)


def two_sided(eps=1):
    """f(1) in [2 - eps, 2 + eps], f(-1) in [-2 - eps, -2 + eps]."""
    return problem_of([[1], [-1]], [2, -2], eps)


def ramps(size):
    """f(1) = size^2, f(-1) = -size^2."""
    return Network.two_layer([[size], [-size]], [size, -size])


SPLIT = (0, Bound(("e", 0)), Bound((0, 0)))  # one neuron sees the first point only
SIGNS = (SPLIT, (1, Bound((0, "e")), Bound((0, 0))))
"""Trees for c = (1, -1): h(u) = max(u, 0) - max(-u, 0)."""


def lower(bracket=2, multipliers=(1, -1)):
    listed = tuple(enumerate(map(Fraction, multipliers)))
    return LowerBound(multipliers=listed, beta=ONE, bracket=(Fraction(bracket), None), denominator=1, trees=SIGNS)


# ------------------------------------------------------------------------------------------------- the statement


def test_the_tolerance_is_part_of_the_problem_and_left_out_where_it_is_0():
    exact, within = two_sided(0), two_sided(Fraction(1, 1000))
    assert "fit_tolerance" not in exact.to_json()
    assert within.to_json()["fit_tolerance"] == "1/1000"
    assert len({exact.sha256(), within.sha256(), two_sided(1).sha256()}) == 3
    for problem in (exact, within):
        assert reader(Statement)(load_json(problem.canonical_text())) == problem
        assert Problem.from_json(problem.to_json()).fit_tolerance == problem.fit_tolerance
    assert exact.within(Fraction(1, 1000)) == within
    assert within.within(0) == exact


def test_the_hash_of_a_problem_without_a_tolerance_is_that_of_its_old_text():
    old = {**two_sided(0).to_json()}
    assert sorted(old) == ["architecture", "bias", "goal", "inputs", "schema", "targets", "trained"]
    assert two_sided(0).canonical_text() == json.dumps(old, sort_keys=True, separators=(",", ":"))


@pytest.mark.parametrize(
    ("given", "said"),
    [("0", "left out"), ("-1", "at least 0"), ("1.5", "rational"), (1, "rational"), (None, "rational"), ("2/2", "low")],
)
def test_what_a_tolerance_in_a_file_may_not_be(given, said):
    value = two_sided(1).to_json() | {"fit_tolerance": given}
    with pytest.raises(CertificateError, match=f"fit_tolerance.*{said}"):
        reader(Statement)(value)


def test_max_margin_has_no_tolerance():
    problem = Problem(Dataset([[1]], [1]), Architecture.two_layer(1, 1), goal=Goal.MAX_MARGIN, bias=Bias.NONE)
    with pytest.raises(CertificateError, match=r"fit_tolerance: must be left out"):
        reader(Statement)(problem.to_json() | {"fit_tolerance": "1/2"})
    with pytest.raises(InputError, match=r"fit_tolerance is 1/2; max-margin has none"):
        problem.within(Fraction(1, 2))
    with pytest.raises(InputError, match=r"fit_tolerance is -1; it must be at least 0"):
        two_sided(-1)


def test_claims_say_the_tolerance():
    claim = sealed(two_sided(Fraction(1, 3)), ramps(1), Fits(margin=Fraction(0))).claim
    assert "half squared norm, every target within 1/3), the network fits" in claim
    assert "(0 means every target within 1/3)" in claim
    assert "within" not in sealed(two_sided(0), ramps(1), Fits(margin=Fraction(0))).claim


# ------------------------------------------------------------------------------------------------- does it fit?


def test_it_fits_up_to_the_very_end_of_the_tolerance():
    just, least = Network.two_layer([[1], [-1]], [1, -1]), Fraction(1, 10**12)
    accepted(two_sided(1), just, Fits(margin=Fraction(0)))
    refused(two_sided(1), just, DoesNotFit(point=1), "point")
    refused(two_sided(1 - least), just, Fits(margin=Fraction(0)), "subject")
    accepted(two_sided(1 - least), just, DoesNotFit(point=0))
    assert objective(two_sided(1), just) == 2
    assert objective(two_sided(1 - least), just) is None


@pytest.mark.parametrize("point", [0, 1])
def test_one_point_beyond_either_end_is_enough(point):
    for factor in (Fraction(99, 100), Fraction(301, 100)):
        outgoing = [ONE, -ONE]
        outgoing[point] *= factor
        network = Network.two_layer([[1], [-1]], outgoing)
        refused(two_sided(1), network, Fits(margin=Fraction(0)), "subject")
        accepted(two_sided(1), network, DoesNotFit(point=point))


# ------------------------------------------------------------------------------------------------- bounds


def test_the_bound_and_what_it_proves():
    problem, network = two_sided(), ramps(1)
    proof = accepted(problem, None, lower()).certificate
    best = accepted(problem, network, OptimalWithin(tolerance=Fraction(0), lower=proof)).certificate
    assert best.claim.count("every target within 1") == 1


def test_the_term_of_the_tolerance_cannot_be_dropped():
    """Without it the dual value is 4, as it is for interpolation."""
    accepted(two_sided(0), None, lower(4))
    for bracket in (4, 3, Fraction(2) + Fraction(1, 10**12), 1):
        refused(two_sided(), None, lower(bracket), "bracket")


def test_it_is_taken_of_the_absolute_values():
    """Beyond the targets the dual value is negative and proves nothing; with signed multipliers it were 4."""
    for bracket in (-2, 0, 2, 4):
        refused(two_sided(3), None, lower(bracket), "bracket")


def test_a_bound_of_another_tolerance_is_about_another_problem():
    proof = sealed(two_sided(1), None, lower())
    for other in (two_sided(0), two_sided(Fraction(1, 2)), two_sided(Fraction(3, 2))):
        result = check(other, None, proof)
        assert isinstance(result, Refused)
        assert result.place == "problem"
        refused(other, None, lower(), "bracket")


def test_witnesses_beyond_the_tolerance():
    problem, network = two_sided(), ramps(Fraction(3, 2))
    for size, fits in ((1, True), (Fraction(99, 100), False)):
        witness = ramps(size)
        value = size**2 * Fraction(2)
        bound = UpperBound(witness=witness, bracket=(None, value))
        better = BetterNetwork(witness=witness, tolerance=Fraction(1), scope="own-width")
        if fits:
            accepted(problem, None, bound)
            accepted(problem, network, better)
        else:
            refused(problem, None, bound, "witness")
            refused(problem, network, better, "witness")
    refused(problem, None, UpperBound(witness=ramps(1), bracket=(None, Fraction(199, 100))), "bracket")


# ------------------------------------------------------------------------------------------------- infeasible


def test_no_network_fits():
    """One point with targets 4 and 0, which differ by twice the tolerance at least."""
    proof = Infeasible(multipliers=((0, ONE), (1, -ONE)))
    mirrored = Infeasible(multipliers=((0, -ONE), (1, ONE)))
    for eps, is_impossible in ((0, True), (1, True), (2 - Fraction(1, 10**9), True), (2, False), (3, False)):
        problem = problem_of([[1], [1]], [4, 0], eps)
        if is_impossible:
            accepted(problem, None, proof)
        else:
            refused(problem, None, proof, "multipliers")
        if eps == 0:
            accepted(problem, None, mirrored)  # both sides are equal
        else:
            refused(problem, None, mirrored, "multipliers")
    reached = Network.two_layer([[1]], [2])
    accepted(problem_of([[1], [1]], [4, 0], 2, width=1), reached, Fits(margin=Fraction(0)))


# ------------------------------------------------------------------------------------------------- stationary


def test_multipliers_where_the_ends_are_reached():
    problem, network = two_sided(), ramps(1)
    accepted(problem, network, Stationary(multipliers=((0, ONE), (1, -ONE))))
    refused(problem, network, Stationary(multipliers=((0, ONE), (1, ONE))), "delta")
    refused(problem, network, Stationary(multipliers=((0, ONE),)), "epsilon")
    upper = problem_of([[1], [-1]], [0, -2], 1)  # f(1) is at the upper end of its interval
    refused(upper, network, Stationary(multipliers=((0, ONE), (1, -ONE))), "delta")


def test_the_slackness_of_multipliers():
    """f(2) = 2 is half a unit above the lower end of [3/2, 7/2]; the multiplier 1/4 there costs an eighth, N is 2."""
    problem = problem_of([[1], [2]], [2, Fraction(5, 2)], 1, width=1)
    network = Network.two_layer([[1]], [1])
    proof = Stationary(multipliers=((0, Fraction(1, 2)), (1, Fraction(1, 4))), delta=Fraction(1, 16))
    accepted(problem, network, proof)
    refused(problem, network, replace(proof, delta=Fraction(1, 16) - Fraction(1, 10**9)), "delta")
    below = problem_of([[1], [2]], [2, Fraction(3, 2)], 1, width=1)  # half a unit below the upper end
    tilted = Stationary(multipliers=((0, Fraction(3, 2)), (1, -Fraction(1, 4))), delta=Fraction(1, 16))
    accepted(below, network, tilted)
    refused(below, network, replace(tilted, delta=Fraction(0)), "delta")
    exact = problem_of([[1], [2]], [1, 2], 0, width=1)
    refused(exact, network, proof, "delta")


def inner():
    """f(1) = 121/100 is inside, where nothing keeps it from becoming smaller."""
    return problem_of([[1]], [2], 1, width=1), Network.two_layer([[Fraction(11, 10)]], [Fraction(11, 10)])


def test_a_vector_that_leaves_nothing_active():
    problem, network = inner()
    along = ((Fraction(11, 10),), (Fraction(11, 10),))
    proof = NotStationary(vectors=(along,), kappa=Fraction(12))
    found = accepted(problem, network, proof).certificate
    refused(problem, network, replace(proof, kappa=Fraction(11)), "vectors")
    refused(problem, network, replace(proof, vectors=()), "vectors")
    finding = decide(Question.LOCAL_OPTIMUM, problem, network, Proposal(certificate=found, reason="it is"))
    assert finding.verdict is Verdict.REFUTED


def test_both_constraints_of_a_point_must_be_served_by_each_vector():
    """At 0 multipliers of either sign are those of other constraints: branches of signs are for equations."""
    problem, network = two_sided(), ramps(1)
    along = ((ONE, ONE), (ONE, -ONE))
    for vectors in ((along,), (along, along)):
        refused(problem, network, NotStationary(vectors=vectors, kappa=Fraction(1000)), "vectors")


def test_no_vector_refutes_a_kkt_point():
    problem, network = two_sided(), ramps(1)
    random = Random(5)
    for _ in range(300):
        z = [Fraction(random.randint(-9, 9), 3) for _ in range(4)]
        kappa = Fraction(random.randint(0, 50))
        refused(
            problem, network, NotStationary(vectors=((tuple(z[:2]), tuple(z[2:])),), kappa=kappa), re.compile("v.*")
        )


# ------------------------------------------------------------------------------------------------- local optima


def leaf():
    split = (SPLIT[1],)
    return Dual(multipliers=((0, ONE), (1, -ONE)), beta=ONE, denominator=1, trees=(split, (Bound((0, "e")),)))


def test_a_local_optimum():
    problem, network = two_sided(), ramps(1)
    proof = Local(nodes=(leaf(),))
    accepted(problem, network, proof)
    refused(problem, network, Local(nodes=()), "nodes")
    wider = ramps(Fraction(11, 10))
    refused(problem, wider, proof, "nodes[0]")
    half = Dual(multipliers=((0, ONE),), beta=ONE, denominator=1, trees=((Bound(("e",)),), (Bound((0,)),)))
    refused(problem, network, Local(nodes=(half,)), "nodes[0]")


def test_the_descent_ends_within_the_tolerance():
    problem, network = inner()
    accepted(problem, network, NotLocal(end=((Fraction(1),), (ONE,))))
    refused(problem, network, NotLocal(end=((Fraction(99, 100),), (ONE,))), "end")
    refused(problem.within(0), network, NotLocal(end=((Fraction(1),), (ONE,))), re.compile("end|subject"))


def test_no_enclosure_is_checked_with_a_tolerance():
    """Its equations are those of interpolation."""
    proof = StationaryNear(
        moved=ONE, factor=ONE, optimality="stationary point", support=(), directions=(), centre=(), radii=(),
        inverse=(), denominator=1,
    )  # fmt: skip
    refused(two_sided(1), ramps(1), proof, "problem")
    refused(two_sided(0), ramps(1), proof, "support")


@pytest.mark.parametrize("eps", ["1", "1/1000"])
def test_a_certificate_survives_its_text(eps):
    problem = two_sided(Fraction(eps))
    proof = sealed(problem, None, lower(2 * (2 - Fraction(eps))))
    assert from_json(proof.to_json()) == proof
    accepted(problem, None, proof)
