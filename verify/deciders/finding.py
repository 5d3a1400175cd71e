"""Verdicts: the only place where one is made, from certificates that the checker accepted in this process."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from typing import NoReturn, final

from verify.checker import Accepted
from verify.checker.answers import Answer, Question, Verdict, answers, distance, level, subject, why_open
from verify.checker.certificate import Certificate
from verify.checker.errors import IsoptimalError
from verify.deciders.proposal import Proposal, checked, sealed
from verify.numbers.decimals import about, allowed, small
from verify.problem.network import Network
from verify.problem.problem import Problem
from verify.shown import as_html, as_text

__all__ = ["Answer", "Ending", "Finding", "Question", "Verdict", "decide", "shortfall", "undecided"]


class Ending(StrEnum):
    """How the search for answers ended, which says nothing about the network."""

    DONE = "done"
    """The bracket is as narrow as asked."""
    TIME = "time"
    """The time limit was reached."""
    INTERRUPTED = "interrupted"
    STALLED = "stalled"
    """The bracket is wider than asked, or there is none."""
    INFEASIBLE = "infeasible"
    """It is proved that no network fits: none of any width, or none of those that are asked about."""
    FAILED = "failed"
    """The floats of the search did."""


MOST_CLAIM = 1000
"""Characters of a claim that are shown; the certificate holds it whole."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """An answer to one question about one network.

    claim: the exact statement that the checker accepted, "" when undecided.   reason: one sentence for people.
    level: "exact", "near" or "approximate", None when undecided or not applicable.
    subject: the network that the statement is about (None: the given one, or one that is not written down); moved: how
    far it may be from the given one, relative to the norm of that; 0: the statement is about the given one.
    certificates: the first one gives the answer; others say more.
    numbers: further exact values (epsilon, delta, tolerance, ...).

    It has no truth value: `if audit.stationary` would hold for what is refuted.
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

    def __repr__(self) -> str:
        return f"<Finding: {self._title()}; {self.reason:.120}>"

    def __str__(self) -> str:
        return as_text(self._title(), (), self._rows())

    def _repr_html_(self) -> str:
        return as_html(self._title(), (), self._rows())

    def _title(self) -> str:
        level = f" ({self.level})" if self.level else ""
        return f"{self.question.value.replace('_', ' ')}: {self.verdict.value}{level}"

    def _rows(self) -> list[tuple[str, str]]:
        """What is known, a line each; the claim as far as it can be read."""
        claim = self.claim if len(self.claim) <= MOST_CLAIM else f"{self.claim[:MOST_CLAIM]} …"
        told = [("reason", self.reason), ("claim", claim)]
        told += [(name, about(number, 6)) for name, number in self.numbers.items()]
        if self.moved:
            told.append(("moved", f"at most {small(self.moved)} of the norm"))
        kinds = ", ".join(certificate.KIND for certificate in self.certificates)
        return [(name, text) for name, text in (*told, ("certificates", kinds)) if text]

    def __bool__(self) -> NoReturn:
        raise TypeError("a finding has no truth value: ask `.verdict is Verdict.PROVED`")


def undecided(question: Question, reason: str, numbers: Mapping[str, Fraction] | None = None) -> Finding:
    """The finding that leaves `question` open, with the reason."""
    return Finding(question=question, verdict=Verdict.UNDECIDED, reason=reason, numbers=numbers or {})


def decide(
    question: Question, problem: Problem, network: Network, proposal: Proposal, within: Fraction = Fraction(0)
) -> Finding:
    """The finding that a proposal supports, for the question within a tolerance: its certificate is checked here.

    Verdict, level, subject and distance follow from the accepted certificate (`verify.checker.answers`), never from the
    caller; UNDECIDED when there is no certificate, when the checker refuses it, or when it leaves the question open.
    """
    if proposal.certificate is None:
        return undecided(question, proposal.reason, proposal.numbers)
    certificate = sealed(problem, network, proposal.certificate)
    result = checked(problem, network, certificate)
    if not isinstance(result, Accepted):
        return undecided(question, f"the certificate was refused by the checker ({result.place}: {result.reason})")
    answer = answers(problem, network, certificate).get(question)
    verdict = Verdict.UNDECIDED if answer is None else answer.within(within)
    if verdict is Verdict.UNDECIDED:
        return undecided(question, why_open(question, certificate, answer, within))
    other = subject(network, certificate)
    return Finding(
        question=question,
        verdict=verdict,
        reason=proposal.reason,
        claim=certificate.claim,
        level=level(question, certificate),
        subject=None if other is None else Network(network.architecture, other.parameters),
        moved=distance(certificate),
        certificates=(certificate,),
        numbers=proposal.numbers,
    )


def shortfall(
    problem: Problem,
    network: Network,
    finding: Finding,
    within: Fraction = Fraction(0),
    near: Fraction = Fraction(0),
    option: str = "near=",
) -> str | None:
    """What the finding lacks of a proof, within this tolerance, about a network at most `near` away; None for nothing.

    near: relative to the norm of the given network; 0 demands a proof about that one itself. Every certificate of the
    finding counts, as one about a network nearby may stand before one about the given network.
    option: how the caller is given `near`.
    """
    proofs = [
        certificate
        for certificate in finding.certificates
        if (answer := answers(problem, network, certificate).get(finding.question)) is not None
        and answer.within(within) is Verdict.PROVED
    ]
    nearest = min((distance(certificate) for certificate in proofs), default=None)
    if nearest is None:
        return f"{finding.verdict.value}, {finding.reason}"
    if nearest <= near:
        return None
    asked = f"one within {allowed(near)}" if near else "the given one"
    return (
        f"it is proved of another network only, which may be {small(nearest)} of the norm away, not of {asked}; "
        f"to accept that, give {option}{small(nearest)}"
    )
