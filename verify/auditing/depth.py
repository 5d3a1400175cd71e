"""Networks of other depths than 2, and with shared weights: the questions about one that fits.

Stationarity, local optimality by second derivatives and ways down are decided at any depth; the best objective lies
between a bound of the whole family and the best network that was found.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import partial

from verify.auditing.asked import Asked
from verify.auditing.clock import Clock
from verify.auditing.fitting import follows
from verify.auditing.steps import Known, Step, proposed, unless_floats_fail
from verify.checker.certificate import OTHER_DEPTH
from verify.checker.depth_near import DeepStationaryNear
from verify.checker.depth_stationary import NOTHING, DeepNotStationary, DeepStationary
from verify.deciders.depth.crossing import better_beside, distance_up_to_scale
from verify.deciders.depth.descents import descent
from verify.deciders.depth.local import local_optimum
from verify.deciders.depth.nearby import nearby
from verify.deciders.depth.record import PowerBounds
from verify.deciders.depth.searching import (
    better,
    bounds,
    is_bracketed,
    is_closed,
    none_is_better,
    over_widths,
    searched,
    with_networks,
)
from verify.deciders.depth.stationarity import stationarity
from verify.deciders.finding import Finding, Question, Verdict, decide, undecided
from verify.deciders.global_optimality.record import SMALLEST_GAP
from verify.deciders.proposal import Proposal
from verify.numbers.decimals import small
from verify.numbers.floats import to_float
from verify.problem.network import Network
from verify.problem.phrases import NOT_BY_MORE, any_width, nearly_only
from verify.problem.problem import Problem, power_of_objective

__all__ = [
    "DEPTH_BOUNDS",
    "DEPTH_CONCLUSIONS",
    "DEPTH_NEARBY",
    "DEPTH_SEARCH",
    "DEPTH_STATIONARITY",
    "DEPTH_WIDTHS",
    "is_of_other_depth",
]

GLOBAL_QUESTIONS = (Question.GLOBAL_OPTIMUM, Question.GLOBAL_ANY_WIDTH)
NOT_PROVED = "no better network was found near it; that there is none is not proved yet at this depth"
NO_RULE = "it has no multipliers, and whether a local optimum needs any there is not known"

WIDTHS_SHARE = 0.5
"""Of the time that is left, for the search over any widths."""

NOT_LOCAL = "whether the exact KKT point near it is a local optimum is open"
EXACT = {"stationary point": "an exact KKT point", "local optimum": "an exact local optimum"}
"""By what a `DeepStationaryNear` says that its point is."""

LARGEST = 10**6
"""Parameters times points up to which every gradient is looked at exactly: some ten seconds."""
LARGE = "the network has too many parameters, or the data too many points, to look at each gradient exactly"


def is_of_other_depth(problem: Problem) -> bool:
    """Whether what is decided of any depth is decided of this problem, and not what is of two layers."""
    return OTHER_DEPTH.holds(problem)


def _is_asked(asked: Asked, found: Known) -> bool:
    return is_of_other_depth(asked.problem) and found.subject.network is not None


def _is_large(asked: Asked) -> bool:
    return asked.problem.architecture.parameter_count * len(asked.problem.data) > LARGEST


def _stationary(asked: Asked, _: Clock, found: Known) -> Known:
    network = found.subject.asked
    if _is_large(asked):
        return found.with_findings(undecided(Question.STATIONARY, LARGE))
    search = partial(stationarity, asked.problem, network, asked.stationary_tolerance)
    finding = decide(Question.STATIONARY, asked.problem, asked.network, proposed(search), asked.stationary_tolerance)
    return found.with_findings(finding)


def _bounded(asked: Asked, _: Clock, found: Known) -> Known:
    """With lower bounds of the best objective."""
    return replace(found, powers=unless_floats_fail(partial(bounds, asked.problem), lambda _: PowerBounds()))


def _over_widths(asked: Asked, clock: Clock, found: Known) -> Known:
    """With the bracket over any widths, or any number of channels."""
    known, gap = found.powers or PowerBounds(), max(to_float(asked.terms.tol), SMALLEST_GAP)
    search = partial(over_widths, asked.problem, known, found.subject.asked, gap, clock.share(WIDTHS_SHARE))
    return replace(found, powers=unless_floats_fail(search, lambda _: known))


def _searched(asked: Asked, clock: Clock, found: Known) -> Known:
    """With networks that fit, the given one among them."""
    known, mine = found.powers or PowerBounds(), power_of_objective(asked.problem, found.subject.asked)
    if mine is not None:
        best = none_is_better(asked.problem, found.subject.asked, mine[0] / mine[1], known, asked.terms.tol)
        if best is not None or is_closed(asked.problem, known, asked.terms.tol):  # nothing is left to look for
            return replace(found, powers=with_networks(asked.problem, known, [found.subject.asked]))
    search = partial(searched, asked.problem, known, (found.subject.asked, *found.farther), clock.share(0.8))
    return replace(found, powers=unless_floats_fail(search, lambda _: known))


def _concluded(asked: Asked, _: Clock, found: Known) -> Known:
    found = found.with_findings(*_global(asked, found))
    local = _local(asked, found)
    return found.with_findings(local, *(_not_global(asked, found, question, local) for question in GLOBAL_QUESTIONS))


def _near(asked: Asked, clock: Clock, found: Known) -> Known:
    """With an exact point near the network, where it is no exact KKT point itself: proved of that, or told beside."""
    stationary, local = found.findings[Question.STATIONARY], found.findings[Question.LOCAL_OPTIMUM]
    problem, network = asked.problem, asked.network
    is_exact = stationary.verdict is Verdict.PROVED and stationary.level == "exact"
    if is_exact or not asked.reach or _is_large(asked):
        return found
    search = partial(nearby, problem, found.subject.asked, clock.share(0.5))
    proof = unless_floats_fail(search, lambda _: None)
    if proof is None:
        return found
    if proof.moved > asked.reach:
        return found.with_findings(_with_far(stationary, proof))
    proposal = Proposal(
        certificate=proof, reason=f"{EXACT[proof.optimality]} lies within {small(proof.moved)} of its norm"
    )
    proved = decide(Question.STATIONARY, problem, network, replace(proposal, numbers={"distance": proof.moved}))
    kept = [c for c in stationary.certificates if isinstance(c, DeepStationary)]
    found = found.with_findings(replace(proved, certificates=(*proved.certificates, *kept)))
    stronger = decide(Question.LOCAL_OPTIMUM, problem, network, proposal)
    if stronger.verdict is Verdict.PROVED:  # also where a curve leads down from the network: it was rounded
        if local.verdict is Verdict.REFUTED:  # what is open was told with that
            opened = (found.findings[question] for question in GLOBAL_QUESTIONS)
            why = _why_open(found.powers, asked.terms.tol)
            left = [replace(finding, reason=why) for finding in opened if finding.verdict is Verdict.UNDECIDED]
            found = found.with_findings(*left)
        return _with_better_beside(asked, clock, found.with_findings(stronger), proof)
    is_followed = bool(local.certificates) and local.certificates[:1] == stationary.certificates[:1]
    if is_followed or local.verdict is Verdict.UNDECIDED:  # refuted only as not stationary, or open
        return found.with_findings(undecided(Question.LOCAL_OPTIMUM, NOT_LOCAL))
    return found


def _with_better_beside(asked: Asked, clock: Clock, found: Known, proof: DeepStationaryNear) -> Known:
    """With a better network that lies just beyond where the proof of a local optimum ends, told with that."""
    search = partial(better_beside, asked.problem, found.subject.asked, proof, asked.terms.tol, clock.share(0.5))
    beside = unless_floats_fail(search, lambda _: None)
    if beside is None:
        return found
    powers = with_networks(asked.problem, found.powers or PowerBounds(), [Network.of(beside.witness)])
    found = replace(found, powers=powers)
    best, *others = _global(asked, found)
    if beside not in best.certificates:
        best = replace(best, certificates=(*best.certificates, beside))
    local = found.findings[Question.LOCAL_OPTIMUM]
    apart = small(distance_up_to_scale(found.subject.asked, beside.witness))
    told = replace(local, reason=f"{local.reason}; a better network lies within {apart} of this one")
    return found.with_findings(told, best, *others)


def _with_far(stationary: Finding, proof: DeepStationaryNear) -> Finding:
    """The finding with the exact point that is too far away to be called near; beside another proof with its proof."""
    if stationary.verdict is Verdict.UNDECIDED:
        more = f"{EXACT[proof.optimality]} lies farther away than what is called near"
        return replace(stationary, reason=f"{stationary.reason}; {more}")
    return replace(stationary, certificates=(*stationary.certificates, proof))


def _global(asked: Asked, found: Known) -> list[Finding]:
    problem, network, tolerance = asked.problem, found.subject.asked, asked.terms.tol
    mine, known = power_of_objective(problem, network), found.powers
    if mine is None or known is None:
        return [undecided(question, _why_open(None, tolerance)) for question in GLOBAL_QUESTIONS]
    value, numbers = mine[0] / mine[1], {"tolerance": tolerance}
    best = none_is_better(problem, network, value, known, tolerance)
    if best is not None:
        return [decide(question, problem, asked.network, best, tolerance) for question in GLOBAL_QUESTIONS]
    findings: list[Finding] = []
    for question in GLOBAL_QUESTIONS:
        is_own = question is Question.GLOBAL_OPTIMUM
        beaten = better(problem, network, value, known, tolerance, own_width=is_own)
        if beaten is not None:
            findings.append(decide(question, problem, asked.network, replace(beaten, numbers=numbers), tolerance))
        else:
            findings.append(undecided(question, _why_open(known, tolerance), numbers))
    return findings


def _why_open(known: PowerBounds | None, tolerance: Fraction) -> str:
    if known is None:
        return "nothing was searched"
    if not any(proof.bracket[0] for proof in known.lower):
        return "no bound above 0 of the best objective is known"
    by = " by more than the tolerance" if tolerance else ""
    return f"no network was found that is better{by}, and the bound of the best objective is lower"


def _local(asked: Asked, found: Known) -> Finding:
    """What follows from the other answers, then a way down."""
    question, stationary = Question.LOCAL_OPTIMUM, found.findings[Question.STATIONARY]
    best = found.findings[Question.GLOBAL_ANY_WIDTH]
    if best.verdict is Verdict.PROVED:
        local = follows(question, found.subject, best, f"no network of {any_width(asked.problem)} is better")
        if local.verdict is Verdict.PROVED:
            return local
    proof = stationary.certificates[0] if stationary.certificates else None
    if isinstance(proof, DeepNotStationary):
        if proof.qualification == NOTHING:
            return undecided(question, NO_RULE)
        return follows(question, found.subject, stationary, "it is not even stationary")
    if stationary.level == "approximate":
        return undecided(question, nearly_only(asked.problem))
    if _is_large(asked):
        return undecided(question, LARGE)
    multipliers = proof if isinstance(proof, DeepStationary) else None
    found_way = proposed(lambda: _second_order(asked, found, multipliers) or _way_down(asked, found, multipliers))
    return decide(question, asked.problem, asked.network, found_way)


def _second_order(asked: Asked, found: Known, multipliers: DeepStationary | None) -> Proposal | None:
    return None if multipliers is None else local_optimum(asked.problem, found.subject.asked, multipliers)


def _way_down(asked: Asked, found: Known, multipliers: DeepStationary | None) -> Proposal:
    return descent(asked.problem, found.subject.asked, multipliers) or Proposal(reason=NOT_PROVED)


def _not_global(asked: Asked, found: Known, question: Question, local: Finding) -> Finding:
    """The global question where the network is no local optimum: refuted within 0, else as it was, with that."""
    before = found.findings[question]
    if local.verdict is not Verdict.REFUTED or before.verdict is not Verdict.UNDECIDED:
        return before
    lie = "better networks of the same shape lie arbitrarily near"
    refuted = follows(question, found.subject, local, lie, asked.terms.tol)
    if refuted.verdict is not Verdict.UNDECIDED:
        return refuted
    return replace(before, reason=f"{lie}, {NOT_BY_MORE}")


def _left_out(questions: tuple[Question, ...], _: Asked, found: Known, reason: str) -> Known:
    return found.with_findings(*(undecided(question, reason) for question in questions))


DEPTH_STATIONARITY = Step(
    name="stationarity",
    accepts=_is_asked,
    run=_stationary,
    without=partial(_left_out, (Question.STATIONARY,)),
    end=lambda clock: clock.share(0.3),
)
DEPTH_BOUNDS = Step(
    name="the bound of the best objective",
    accepts=_is_asked,
    run=_bounded,
    without=lambda _, found, __: found,
    end=lambda clock: clock.share(0.3),
)
DEPTH_WIDTHS = Step(
    name="the search over any widths",
    accepts=lambda asked, found: _is_asked(asked, found) and is_bracketed(asked.problem),
    run=_over_widths,
    without=lambda _, found, __: found,
    end=lambda clock: clock.before(0.1),
)
DEPTH_SEARCH = Step(
    name="the search for better networks",
    accepts=_is_asked,
    run=_searched,
    without=lambda _, found, __: found,
    end=lambda clock: clock.before(0.2),
)
DEPTH_NEARBY = Step(
    name="the search for an exact KKT point near the network",
    accepts=_is_asked,
    run=_near,
    without=lambda _, found, __: found,
    end=lambda clock: clock.with_grace(clock.deadline),
)
DEPTH_CONCLUSIONS = Step(
    name="local and global optimality",
    accepts=_is_asked,
    run=_concluded,
    without=partial(_left_out, (Question.LOCAL_OPTIMUM, *GLOBAL_QUESTIONS)),
    end=lambda clock: clock.with_grace(clock.deadline),
)
