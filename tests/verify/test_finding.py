"""Verdicts come from accepted certificates alone, and only for the questions that their kinds answer."""

from dataclasses import FrozenInstanceError, replace
from fractions import Fraction
from itertools import product

import pytest

from verify import Bias, Dataset, Goal, IsoptimalError, Network, Problem
from verify.certificate import (
    BetterNetwork,
    DoesNotFit,
    Fits,
    Infeasible,
    NotStationary,
    OptimalWithin,
    Stationary,
    UpperBound,
    claim_text,
)
from verify.finding import Finding, Question, Verdict, decide, undecided
from verify.global_optimality import bracket_optimum
from verify.proposal import Proposal, certified, sealed

# arXiv:2110.02732, Theorem 3.2: a KKT point that two neurons beat
NETWORK = Network.two_layer([[0, 2], [0, 0]], [2, 0])
DATA = Dataset([["1", "1/4"], ["-1", "1/4"]], [1, 1])
PROBLEM = Problem(DATA, NETWORK.architecture, goal=Goal.MAX_MARGIN, bias=Bias.NONE)
BETTER = Network.two_layer([[1, 0], [-1, 0]], [1, 1])
WIDER = Network.two_layer([[1, 0], [-1, 0], [0, 0]], [1, 1, 0])
UNBALANCED = Network.two_layer([[0, 4], [0, 0]], [1, 0])
UNBALANCE = (tuple(map(Fraction, (0, 4, 0, 0))), (Fraction(-1), Fraction(0)))  # (w, -v)
MISFIT = Network.two_layer([[1, 0], [0, 0]], [1, 0])
IMPOSSIBLE = Problem(Dataset([[1, 0], [2, 0]], [1, -1]), NETWORK.architecture, goal=Goal.MAX_MARGIN, bias=Bias.NONE)

ALL, GLOBAL = set(Question), {Question.GLOBAL_OPTIMUM, Question.GLOBAL_ANY_WIDTH}
PROVED, REFUTED, UNDECIDED = Verdict.PROVED, Verdict.REFUTED, Verdict.UNDECIDED


def optimal():
    return OptimalWithin(tolerance=Fraction(2), lower=bracket_optimum(PROBLEM, None).lower)


# (certificate, problem, network, verdict, the questions that it answers)
ANSWERS = {
    "fits": (Fits(margin=Fraction(1)), PROBLEM, NETWORK, PROVED, {Question.FITS}),
    "does not fit": (DoesNotFit(point=1), PROBLEM, MISFIT, REFUTED, ALL),
    "infeasible": (Infeasible(multipliers=((0, Fraction(2)), (1, Fraction(1)))), IMPOSSIBLE, NETWORK, REFUTED, ALL),
    "stationary": (
        Stationary(multipliers=((0, Fraction(2)), (1, Fraction(2)))), PROBLEM, NETWORK, PROVED, {Question.STATIONARY},
    ),
    "not stationary": (
        NotStationary(vectors=(UNBALANCE,)), PROBLEM, UNBALANCED, REFUTED,
        {Question.STATIONARY, Question.LOCAL_OPTIMUM},
    ),
    "better": (
        BetterNetwork(witness=BETTER, tolerance=Fraction(0), scope="own-width"), PROBLEM, NETWORK, REFUTED, GLOBAL,
    ),
    "wider": (
        BetterNetwork(witness=WIDER, tolerance=Fraction(0), scope="any-width"), PROBLEM, NETWORK, REFUTED,
        {Question.GLOBAL_ANY_WIDTH},
    ),
    "optimal within": (optimal(), PROBLEM, NETWORK, PROVED, GLOBAL),
    "upper bound": (UpperBound(witness=BETTER, bracket=(None, Fraction(2))), PROBLEM, NETWORK, UNDECIDED, set()),
    "lower bound": (bracket_optimum(PROBLEM, None).lower, PROBLEM, NETWORK, UNDECIDED, set()),
}  # fmt: skip


@pytest.mark.parametrize(("name", "question"), list(product(ANSWERS, Question)))
def test_what_a_kind_answers(name, question):
    certificate, problem, network, verdict, questions = ANSWERS[name]
    finding = decide(question, problem, network, Proposal(certificate=certificate, reason="because"))
    assert finding.question is question
    if question in questions:
        assert (finding.verdict, finding.reason, finding.level, finding.moved) == (verdict, "because", "exact", 0)
        assert finding.certificates == (sealed(problem, network, certificate),)
        assert finding.claim == claim_text(problem, sealed(problem, network, certificate))
    else:
        assert finding.verdict is UNDECIDED
        assert finding.certificates == ()
        assert finding.claim == ""
        assert "does not answer this question" in finding.reason


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
    finding = decide(
        Question.FITS, PROBLEM, given, Proposal(certificate=certificate, reason="because", subject=NETWORK)
    )
    assert (finding.verdict, finding.level, finding.moved, finding.subject) == (
        PROVED, "near", Fraction(1, 1000), NETWORK,
    )  # fmt: skip
    far = replace(certificate, moved=Fraction(1, 10**6))
    assert decide(Question.FITS, PROBLEM, given, Proposal(certificate=far, reason="")).verdict is UNDECIDED


def test_approximate_stationarity_has_its_level():
    certificate = Stationary(multipliers=((0, Fraction(2)), (1, Fraction(2))), epsilon=Fraction(1, 9))
    finding = decide(Question.STATIONARY, PROBLEM, NETWORK, Proposal(certificate=certificate, reason=""))
    assert (finding.verdict, finding.level) == (PROVED, "approximate")
