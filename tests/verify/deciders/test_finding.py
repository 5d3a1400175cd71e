"""Verdicts come from accepted certificates alone, and only for the questions that their kinds answer."""

from dataclasses import FrozenInstanceError, replace
from fractions import Fraction
from itertools import product

import pytest

from verify import Bias, Dataset, Goal, IsoptimalError, Network, Problem
from verify.checker.bounds import Infeasible, UpperBound
from verify.checker.certificate import claim_text
from verify.checker.fit import DoesNotFit, Fits
from verify.checker.optimal import BetterNetwork, OptimalWithin
from verify.checker.stationary import Stationary
from verify.deciders.finding import Finding, Question, Verdict, decide, undecided
from verify.deciders.global_optimality.bracket import bracket_optimum
from verify.deciders.proposal import Proposal, certified, sealed

# arXiv:2110.02732, Theorem 3.2: a KKT point that two neurons beat
NETWORK = Network.two_layer([[0, 2], [0, 0]], [2, 0])
DATA = Dataset([["1", "1/4"], ["-1", "1/4"]], [1, 1])
PROBLEM = Problem(DATA, NETWORK.architecture, goal=Goal.MAX_MARGIN, bias=Bias.NONE)
BETTER = Network.two_layer([[1, 0], [-1, 0]], [1, 1])
UNBALANCED = Network.two_layer([[0, 4], [0, 0]], [1, 0])
MISFIT = Network.two_layer([[1, 0], [0, 0]], [1, 0])

PROVED, REFUTED, UNDECIDED = Verdict.PROVED, Verdict.REFUTED, Verdict.UNDECIDED


def optimal():
    return OptimalWithin(tolerance=Fraction(2), lower=bracket_optimum(PROBLEM, None).lower)


@pytest.mark.parametrize("question", Question)
def test_a_finding_is_what_the_certificate_answers(question):
    """For every kind, tolerance and subject: tests/verify/checker/test_answers.py."""
    certificate = DoesNotFit(point=1)
    finding = decide(question, PROBLEM, MISFIT, Proposal(certificate=certificate, reason="because"))
    assert (finding.question, finding.verdict, finding.reason) == (question, REFUTED, "because")
    assert (finding.level, finding.moved, finding.subject) == ("exact", 0, None)
    assert finding.certificates == (sealed(PROBLEM, MISFIT, certificate),)
    assert finding.claim == claim_text(PROBLEM, sealed(PROBLEM, MISFIT, certificate))


@pytest.mark.parametrize("question", Question)
def test_a_bound_answers_nothing(question):
    certificate = UpperBound(witness=BETTER, bracket=(None, Fraction(2)))
    finding = decide(question, PROBLEM, NETWORK, Proposal(certificate=certificate, reason="because"))
    assert (finding.verdict, finding.certificates, finding.claim) == (UNDECIDED, (), "")
    assert finding.reason == "a certificate of kind upper-bound does not answer this question"


REFUSED = {
    "margin": (Fits(margin=Fraction(2)), PROBLEM, NETWORK),
    "point that is right": (DoesNotFit(point=0), PROBLEM, NETWORK),
    "multipliers": (Stationary(multipliers=((0, Fraction(2)),)), PROBLEM, NETWORK),
    "worse": (BetterNetwork(witness=UNBALANCED, tolerance=Fraction(0), scope="own-width"), PROBLEM, NETWORK),
    "feasible": (Infeasible(multipliers=((0, Fraction(2)), (1, Fraction(1)))), PROBLEM, NETWORK),
    "too near": (replace(optimal(), tolerance=Fraction(1)), PROBLEM, NETWORK),
}


@pytest.mark.parametrize(("name", "question"), list(product(REFUSED, Question)))
def test_a_refused_certificate_decides_nothing(name, question):
    certificate, problem, network = REFUSED[name]
    finding = decide(question, problem, network, Proposal(certificate=certificate, reason="because"))
    assert (finding.verdict, finding.certificates, finding.claim, finding.level) == (UNDECIDED, (), "", None)
    assert "refused by the checker" in finding.reason
    assert certified(problem, network, certificate) is None


def test_the_hashes_are_made_here_and_now():
    """A certificate of another problem is about this one once it is sealed: then it must hold here."""
    foreign = replace(
        Fits(margin=Fraction(1)), problem="sha256:" + "0" * 64, network="sha256:" + "1" * 64, claim="lies"
    )
    finding = decide(Question.FITS, PROBLEM, NETWORK, Proposal(certificate=foreign, reason="because"))
    assert finding.verdict is PROVED
    (kept,) = finding.certificates
    assert (kept.problem, kept.network) == (PROBLEM.sha256(), NETWORK.sha256())
    assert kept.claim != "lies"


def test_no_certificate_no_verdict():
    finding = decide(Question.FITS, PROBLEM, NETWORK, Proposal(reason="out of time", numbers={"epsilon": Fraction(1)}))
    assert (finding.verdict, finding.reason, finding.numbers) == (UNDECIDED, "out of time", {"epsilon": 1})


@pytest.mark.parametrize("verdict", [PROVED, REFUTED])
def test_a_verdict_without_certificate_raises(verdict):
    certificate = sealed(PROBLEM, NETWORK, Fits(margin=Fraction(1)))
    with pytest.raises(IsoptimalError, match="a verdict needs a certificate"):
        Finding(question=Question.FITS, verdict=verdict, reason="because")
    with pytest.raises(IsoptimalError, match="a verdict needs a certificate"):
        Finding(question=Question.FITS, verdict=verdict, reason="because", claim="it fits")
    with pytest.raises(IsoptimalError, match="a verdict needs a certificate"):
        Finding(question=Question.FITS, verdict=verdict, reason="because", certificates=(certificate,))
    with pytest.raises(IsoptimalError, match="fits"):
        replace(undecided(Question.FITS, "why"), verdict=verdict)


def test_undecided():
    finding = undecided(Question.LOCAL_OPTIMUM, "why", {"tolerance": Fraction(1, 2)})
    assert (finding.question, finding.verdict, finding.reason) == (Question.LOCAL_OPTIMUM, UNDECIDED, "why")
    assert finding.numbers == {"tolerance": Fraction(1, 2)}
    assert undecided(Question.FITS, "why").numbers == {}
    assert finding.level is finding.moved is finding.subject is None


def test_findings_are_frozen():
    with pytest.raises(FrozenInstanceError):
        undecided(Question.FITS, "why").verdict = PROVED


def test_a_moved_subject_is_near():
    given = Network.two_layer([[0, "2001/1000"], [0, 0]], [2, 0])
    certificate = Fits(subject=NETWORK.parameters, moved=Fraction(1, 1000), margin=Fraction(1))
    finding = decide(Question.FITS, PROBLEM, given, Proposal(certificate=certificate, reason="because"))
    assert (finding.verdict, finding.level, finding.moved, finding.subject) == (
        PROVED, "near", Fraction(1, 1000), NETWORK,
    )  # fmt: skip
    far = replace(certificate, moved=Fraction(1, 10**6))
    assert decide(Question.FITS, PROBLEM, given, Proposal(certificate=far, reason="")).verdict is UNDECIDED


def test_approximate_stationarity_has_its_level():
    certificate = Stationary(multipliers=((0, Fraction(2)), (1, Fraction(2))), epsilon=Fraction(1, 9))
    proposal = Proposal(certificate=certificate, reason="")
    finding = decide(Question.STATIONARY, PROBLEM, NETWORK, proposal, Fraction(1, 9))
    assert (finding.verdict, finding.level) == (PROVED, "approximate")
    sharper = decide(Question.STATIONARY, PROBLEM, NETWORK, proposal, Fraction(1, 10))
    assert (sharper.verdict, sharper.level) == (UNDECIDED, None)
    assert "proves it from the tolerance 1/9 on" in sharper.reason
