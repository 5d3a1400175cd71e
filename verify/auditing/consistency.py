"""No report contradicts itself: what the findings of one audit say of each other.

About one network the checker's claims exclude each other only if it is unsound; about two networks near each other both
may be true, and together they mislead. Where a pair is found, what is said of a network that only the audit brought up,
or both where they speak of the same one, is left open, and the reason says so.

A min-norm optimum of another depth may have no multipliers: that it is not stationary contradicts nothing then.

Source: an optimum is a local optimum, what is better than all networks is better than those of one width, and a local
optimum is stationary (depth 2 without sharing: `docs/mathematics.md`, 4.5 "A local optimum is a KKT point").
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from verify.checker.depth import power_objective
from verify.checker.depth_bounds import DeepOptimalWithin
from verify.checker.depth_near import DeepStationaryNear
from verify.checker.depth_stationary import NOTHING, DeepNotStationary
from verify.checker.enclosure import StationaryNear
from verify.checker.optimal import OptimalWithin
from verify.checker.width import OptimalWithinWidth
from verify.deciders.finding import Finding, Question, Verdict, undecided
from verify.problem.network import Network
from verify.problem.problem import Problem, objective

__all__ = ["consistent", "contradictions"]

_STRONGER: dict[Question, tuple[Question, ...]] = {
    Question.FITS: (
        Question.STATIONARY,
        Question.LOCAL_OPTIMUM,
        Question.GLOBAL_OPTIMUM,
        Question.GLOBAL_ANY_WIDTH,
    ),
    Question.STATIONARY: (Question.LOCAL_OPTIMUM, Question.GLOBAL_OPTIMUM, Question.GLOBAL_ANY_WIDTH),
    Question.LOCAL_OPTIMUM: (Question.GLOBAL_OPTIMUM, Question.GLOBAL_ANY_WIDTH),
    Question.GLOBAL_OPTIMUM: (Question.GLOBAL_ANY_WIDTH,),
}
"""The questions whose proof, without room, is one of the first question too."""


def contradictions(
    problem: Problem, network: Network, findings: Mapping[Question, Finding]
) -> Iterator[tuple[Question, Question]]:
    """(a, b): a is refuted, and b is proved, which would prove a if both were about one network and b left no room."""
    for weak, strong in ((a, b) for a, questions in _STRONGER.items() for b in questions):
        refuted, proved = findings[weak], findings[strong]
        if refuted.verdict is not Verdict.REFUTED or proved.verdict is not Verdict.PROVED:
            continue
        leaves_room = _leaves_room(problem, network, proved)
        if weak is Question.STATIONARY:
            leaves_room = leaves_room or _needs_no_multipliers(refuted)
        if weak is Question.GLOBAL_OPTIMUM:  # both within the same tolerance
            leaves_room = refuted.numbers.get("tolerance") != proved.numbers.get("tolerance")
        is_elsewhere = _subject(refuted) == "" != _subject(proved)
        if weak is Question.FITS or not (leaves_room or is_elsewhere):
            yield weak, strong


def consistent(problem: Problem, network: Network, findings: Mapping[Question, Finding]) -> dict[Question, Finding]:
    """The findings, without those that contradict others."""
    found = dict(findings)
    for weak, strong in contradictions(problem, network, findings):
        refuted, proved = findings[weak], findings[strong]
        why = f"it is refuted of one network and {_name(strong)} is proved of another near it"
        if _subject(refuted) == _subject(proved):
            why = "accepted certificates contradict each other: please report this"
            found[strong] = undecided(strong, why, proved.numbers)
        found[weak] = undecided(weak, why, refuted.numbers)
    return found


def _name(question: Question) -> str:
    return question.value.replace("_", " ")


def _subject(finding: Finding) -> str:
    """What the statement is about: "" for the given network, the hash of another, or of the enclosure of a point."""
    enclosed = next((c for c in finding.certificates[:1] if isinstance(c, StationaryNear | DeepStationaryNear)), None)
    found = finding.subject if enclosed is None else enclosed
    return "" if found is None else found.sha256()


def _leaves_room(problem: Problem, network: Network, finding: Finding) -> bool:
    """Whether better networks may exist beside an optimum within a tolerance."""
    deep = [c for c in finding.certificates if isinstance(c, DeepOptimalWithin)]
    if deep:
        mine = power_objective(problem, finding.subject or network)
        return all(proof.lower.bracket[0] != mine for proof in deep)
    proofs = [c for c in finding.certificates if isinstance(c, OptimalWithin | OptimalWithinWidth)]
    best = objective(problem, finding.subject or network)
    return bool(proofs) and all(proof.lower.bracket[0] != best for proof in proofs)


def _needs_no_multipliers(finding: Finding) -> bool:
    """Whether what is refuted is not what every optimum satisfies."""
    proofs = [c for c in finding.certificates if isinstance(c, DeepNotStationary)]
    return any(proof.qualification == NOTHING for proof in proofs)
