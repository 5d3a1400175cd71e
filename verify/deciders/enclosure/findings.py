"""What an exact KKT point near a float network says about its audit.

A trained network is never exactly stationary. Where the box of `verify.deciders.enclosure` holds a KKT point within the
tolerance, "stationary" is proved at level "near", and so is what is proved about that point: that it is a local
optimum, or a global one. Where that point has short rational weights it is written down, and decided completely: it may
also be shown to be no local optimum. A better answer about the network itself is left as it is.

Where no such point is found, the network that nearly satisfies the KKT conditions is no local optimum if it does not
satisfy them exactly; both are said.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from verify.checker.stationary import Stationary
from verify.deciders.enclosure.enclosing import Sought
from verify.deciders.finding import Finding, Question, Verdict, decide, undecided
from verify.deciders.global_optimality.record import Bracket
from verify.deciders.local_optimality import local_optimality
from verify.deciders.proposal import FLOAT_FAILURES, Proposal
from verify.deciders.stationarity import exactly_refuted, loss_refuted_exactly, stationarity
from verify.deciders.stationarity.losses import OUT_OF_RANGE
from verify.deciders.subjects import lost_kinks
from verify.numbers.decimals import small
from verify.numbers.floats import to_float
from verify.problem.network import Network
from verify.problem.phrases import nearly_only, not_exactly, stationary_point
from verify.problem.problem import Problem

if TYPE_CHECKING:
    from verify.deciders.enclosure import Nearby

FARTHEST = 0.1
"""Points of a loss that are farther away than this part of the norm are not enclosed: no report tells of them."""

__all__ = ["lacks_exact_point", "local_without_exact_point", "strengthened", "without_nearby"]


def lacks_exact_point(findings: Mapping[Question, Finding], tolerance: Fraction) -> bool:
    """Whether an exact KKT point near it could say more: none is near at tolerance 0, or looked for beyond floats."""
    stationary = findings[Question.STATIONARY]
    is_exact = stationary.verdict is Verdict.PROVED and stationary.level == "exact"
    return tolerance > 0 and not is_exact and stationary.reason != OUT_OF_RANGE


def without_nearby(problem: Problem, findings: Mapping[Question, Finding], reason: str) -> dict[Question, Finding]:
    """The findings, with why no exact KKT point near the network is known; as they are where they speak of one."""
    stationary = findings[Question.STATIONARY]
    if stationary.verdict is Verdict.PROVED and stationary.level == "near":
        return dict(findings)
    told = _with_reason(stationary, f"no exact {stationary_point(problem)} near it was found: {reason}")
    return {**findings, Question.STATIONARY: told}


def strengthened(
    problem: Problem,
    network: Network,
    findings: Mapping[Question, Finding],
    tolerance: Fraction,
    deadline: float | None = None,
    bracket: Bracket | None = None,
) -> dict[Question, Finding]:
    """The findings, with what is known of the exact KKT point near `network`.

    tolerance: the distance, relative to ||theta||, up to which a point is called near; 0: none is looked for.
    bracket: of the best objective of any width, where that is known.
    Stationarity that holds up to epsilon and delta keeps its certificate beside the new one.
    """
    found = dict(findings)
    stationary = found[Question.STATIONARY]
    if not lacks_exact_point(findings, tolerance):
        return found
    least, most = (None, None) if bracket is None else bracket.ends
    is_open = any(
        found[question].verdict is Verdict.UNDECIDED
        for question in (Question.GLOBAL_OPTIMUM, Question.GLOBAL_ANY_WIDTH)
    )
    nearest = to_float(tolerance)
    farthest = math.inf if problem.asks_fit else max(FARTHEST, nearest)
    sought = Sought(nearest=nearest, farthest=farthest, is_open=is_open, least=least, most=most)
    nearby = _nearby(problem, network, deadline, sought)
    if nearby is not None and nearby.recognised is not None:
        exact = _at(problem, network, found, nearby.recognised, tolerance, deadline)
        if exact is not None:
            return exact
    if nearby is None or nearby.certificate is None:
        return without_nearby(
            problem, findings, nearby.reason if nearby is not None else "the floating-point search failed"
        )
    moved = nearby.certificate.moved
    if moved > tolerance:
        found[Question.STATIONARY] = _far(stationary, nearby)
        return found
    reason = f"{nearby.reason} lies within {small(moved)} of its norm"
    proposal = Proposal(certificate=nearby.certificate, reason=reason, numbers={"distance": moved})
    proved = decide(Question.STATIONARY, problem, network, proposal)
    kept = [certificate for certificate in stationary.certificates if isinstance(certificate, Stationary)]
    found[Question.STATIONARY] = replace(
        proved, certificates=(*proved.certificates, *kept), numbers={**stationary.numbers, **proved.numbers}
    )
    local = found[Question.LOCAL_OPTIMUM]
    is_followed = local.certificates and local.certificates[:1] == stationary.certificates[:1]
    if is_followed or local.reason == nearly_only(problem):  # refuted only as not stationary, or open as nearly so
        found[Question.LOCAL_OPTIMUM] = undecided(
            Question.LOCAL_OPTIMUM, f"whether the exact {stationary_point(problem)} near it is a local optimum is open"
        )
    for question in (Question.LOCAL_OPTIMUM, Question.GLOBAL_OPTIMUM, Question.GLOBAL_ANY_WIDTH):
        if found[question].verdict is Verdict.UNDECIDED:
            stronger = decide(question, problem, network, proposal)
            found[question] = stronger if stronger.verdict is Verdict.PROVED else found[question]
    return found


def local_without_exact_point(
    problem: Problem,
    network: Network,
    findings: Mapping[Question, Finding],
    subject: Network,
    deadline: float | None = None,
) -> Finding:
    """Whether `subject` is a local optimum, where that is open and no exact KKT point near it is known.

    subject: the network that the other findings are about. What is proved to be nearly stationary comes first, so that
    the two lines speak of one network. REFUTED where it is exactly no KKT point; a repair that lost a kink of the given
    network is not held against it.
    """
    local, stationary = findings[Question.LOCAL_OPTIMUM], findings[Question.STATIONARY]
    is_nearly = stationary.verdict is Verdict.PROVED and stationary.level == "approximate"
    if local.verdict is not Verdict.UNDECIDED or not (is_nearly or stationary.verdict is Verdict.UNDECIDED):
        return local
    asked = (stationary.subject if problem.asks_fit else None) or subject
    if asked is not network and lost_kinks(problem, network, asked):
        return local
    try:
        with np.errstate(all="ignore"):
            refute = exactly_refuted if problem.asks_fit else loss_refuted_exactly
            proposal = refute(problem, asked, network, deadline=deadline)
    except FLOAT_FAILURES:
        return local
    reason = f"{not_exactly(problem)}, so that better networks lie arbitrarily near"
    refuted = decide(Question.LOCAL_OPTIMUM, problem, network, replace(proposal, reason=reason))
    return refuted if refuted.verdict is Verdict.REFUTED else local


def _far(stationary: Finding, nearby: Nearby) -> Finding:
    """The finding with the exact point that is too far away to be called near; its proof stays beside the other one."""
    if stationary.verdict is Verdict.UNDECIDED or nearby.certificate is None:
        return _with_reason(stationary, f"{nearby.reason} lies farther away than what is called near")
    moved = nearby.certificate.moved
    told = f"{nearby.reason} lies within {small(moved)} of its norm, which is not called near; {nearby.apart}"
    with_distance = _with_reason(stationary, told, distance=moved)
    return replace(with_distance, certificates=(*stationary.certificates, nearby.certificate))


def _at(
    problem: Problem,
    network: Network,
    findings: Mapping[Question, Finding],
    point: Network,
    tolerance: Fraction,
    deadline: float | None,
) -> dict[Question, Finding] | None:
    """The findings with those about `point`, when that is a KKT point near enough whose local optimality is decided."""
    proposal = stationarity(problem, point, network, Fraction(0), deadline=deadline)
    if not isinstance(proposal.certificate, Stationary) or proposal.certificate.moved > tolerance:
        return None
    moved = proposal.certificate.moved
    reason = f"{proposal.reason} lies within {small(moved)} of its norm"
    local = local_optimality(problem, point, network, deadline=deadline)
    found = {
        Question.STATIONARY: decide(Question.STATIONARY, problem, network, replace(proposal, reason=reason)),
        Question.LOCAL_OPTIMUM: decide(Question.LOCAL_OPTIMUM, problem, network, local),
    }
    if any(finding.verdict is Verdict.UNDECIDED for finding in found.values()):
        return None
    before = findings[Question.STATIONARY]
    kept = [certificate for certificate in before.certificates if isinstance(certificate, Stationary)]
    stationary = found[Question.STATIONARY]
    found[Question.STATIONARY] = replace(
        stationary,
        certificates=(*stationary.certificates, *kept),
        numbers={**before.numbers, **stationary.numbers, "distance": moved},
    )
    return {**findings, **found}


def _nearby(problem: Problem, network: Network, deadline: float | None, sought: Sought) -> Nearby | None:
    from verify.deciders.enclosure import nearby_point

    try:
        with np.errstate(all="ignore"):
            return nearby_point(problem, network, deadline, sought)
    except FLOAT_FAILURES:
        return None


def _with_reason(finding: Finding, more: str, **numbers: Fraction) -> Finding:
    return replace(finding, reason=f"{finding.reason}; {more}", numbers={**finding.numbers, **numbers})
