"""Verdicts: the only place where one is made, from certificates that the checker accepted in this process."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from typing import final

from verify.certificate import BetterNetwork, Certificate, OptimalWithin, Stationary, WithSubject
from verify.checker import Accepted
from verify.enclosure_checks import StationaryNear
from verify.errors import IsoptimalError
from verify.network import Network
from verify.problem import Problem, objective
from verify.proposal import Proposal, checked, sealed

__all__ = ["Finding", "Question", "Verdict", "decide", "undecided"]


@final
class Verdict(Enum):
    """What is known; UNDECIDED is not a no."""

    PROVED = "proved"
    REFUTED = "refuted"
    UNDECIDED = "undecided"


@final
class Question(Enum):
    """The questions of an audit, in the order in which they are asked."""

    FITS = "fits"
    STATIONARY = "stationary"
    LOCAL_OPTIMUM = "local_optimum"
    GLOBAL_OPTIMUM = "global_optimum"
    GLOBAL_ANY_WIDTH = "global_any_width"


# What an accepted certificate answers. A network that does not fit is no candidate for anything else; one that is not
# stationary is no local optimum (depth 2 without sharing: MATHEMATICS.md, section 2) and no global one.
_ANSWERS: dict[str, dict[Question, Verdict]] = {
    "fits": {Question.FITS: Verdict.PROVED},
    "does-not-fit": dict.fromkeys(Question, Verdict.REFUTED),
    "stationary": {Question.STATIONARY: Verdict.PROVED},
    "stationary-near": {Question.STATIONARY: Verdict.PROVED},
    "not-stationary": {Question.STATIONARY: Verdict.REFUTED, Question.LOCAL_OPTIMUM: Verdict.REFUTED},
    "local": {Question.STATIONARY: Verdict.PROVED, Question.LOCAL_OPTIMUM: Verdict.PROVED},
    "not-local": dict.fromkeys(
        (Question.LOCAL_OPTIMUM, Question.GLOBAL_OPTIMUM, Question.GLOBAL_ANY_WIDTH), Verdict.REFUTED
    ),
    "better-network": {Question.GLOBAL_OPTIMUM: Verdict.REFUTED, Question.GLOBAL_ANY_WIDTH: Verdict.REFUTED},
    "optimal-within": {Question.GLOBAL_OPTIMUM: Verdict.PROVED, Question.GLOBAL_ANY_WIDTH: Verdict.PROVED},
    "infeasible": dict.fromkeys(Question, Verdict.REFUTED),
}

# What an enclosed KKT point is proved to be, besides.
_OPTIMALITY: dict[str | None, tuple[Question, ...]] = {
    "local optimum": (Question.LOCAL_OPTIMUM,),
    "optimum of any width": (Question.LOCAL_OPTIMUM, Question.GLOBAL_OPTIMUM, Question.GLOBAL_ANY_WIDTH),
}


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """An answer to one question about one network.

    claim: the exact statement that the checker accepted, "" when undecided.   reason: one sentence for people.
    level: "exact", "near" or "approximate", None when undecided or not applicable.
    subject: the network that the statement is about (None: the given one); moved: its relative distance from the given
    one.
    numbers: further exact values (epsilon, delta, tolerance, ...).
    """

    question: Question
    verdict: Verdict
    reason: str
    claim: str = ""
    level: str | None = None
    subject: Network | None = None
    moved: Fraction | None = None
    certificates: tuple[Certificate, ...] = ()
    numbers: Mapping[str, Fraction] = field(default_factory=dict[str, Fraction])

    def __post_init__(self) -> None:
        if self.verdict is not Verdict.UNDECIDED and not (self.certificates and self.claim):
            raise IsoptimalError(f"{self.question.value}: a verdict needs a certificate that was accepted")


def undecided(question: Question, reason: str, numbers: Mapping[str, Fraction] | None = None) -> Finding:
    """The finding that leaves `question` open, with the reason."""
    return Finding(question=question, verdict=Verdict.UNDECIDED, reason=reason, numbers=numbers or {})


def _level(certificate: Certificate) -> str:
    """A claim about a moved subject is "near", stationarity up to a positive bound "approximate"."""
    if isinstance(certificate, Stationary) and (certificate.epsilon or certificate.delta):
        return "approximate"
    is_moved = isinstance(certificate, WithSubject) and certificate.moved != 0
    return "near" if is_moved or isinstance(certificate, StationaryNear) else "exact"


def decide(question: Question, problem: Problem, network: Network, proposal: Proposal) -> Finding:
    """The finding that a proposal supports: its certificate is sealed and checked here and now.

    The verdict follows from the kind of the accepted certificate, never from the caller; UNDECIDED when there is no
    certificate, when the checker refuses it, or when its kind does not answer the question.
    """
    if proposal.certificate is None:
        return undecided(question, proposal.reason, proposal.numbers)
    certificate = sealed(problem, network, proposal.certificate)
    result = checked(problem, network, certificate)
    if not isinstance(result, Accepted):
        return undecided(question, f"the certificate was refused by the checker ({result.place}: {result.reason})")
    verdict = _ANSWERS.get(certificate.KIND, {}).get(question)
    if isinstance(certificate, OptimalWithin) and question is Question.LOCAL_OPTIMUM:
        subject = network if certificate.subject is None else Network(network.architecture, certificate.subject)
        is_best = objective(problem, subject) == certificate.lower.bracket[0]  # no network at all is better
        verdict = Verdict.PROVED if is_best else None
    if isinstance(certificate, StationaryNear) and question in _OPTIMALITY.get(certificate.optimality, ()):
        verdict = Verdict.PROVED
    is_wider = isinstance(certificate, BetterNetwork) and certificate.scope == "any-width"
    if verdict is None or (question is Question.GLOBAL_OPTIMUM and is_wider):
        return undecided(question, f"a certificate of kind {certificate.KIND} does not answer this question")
    return Finding(
        question=question,
        verdict=verdict,
        reason=proposal.reason,
        claim=certificate.claim,
        level=_level(certificate),
        subject=proposal.subject,
        moved=certificate.moved if isinstance(certificate, WithSubject | StationaryNear) else Fraction(0),
        certificates=(certificate,),
        numbers=proposal.numbers,
    )
