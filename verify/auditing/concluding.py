"""The questions about a network that fits: is it stationary, a global optimum, a local one; in this order, as the
answer to one often decides the next.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from functools import partial

from verify.auditing.asked import Asked
from verify.auditing.beaten import all_beaten, beaten_by
from verify.auditing.clock import INTERRUPTED, LATE, Clock
from verify.auditing.endings import why_open
from verify.auditing.fitting import fit_finding, follows
from verify.auditing.steps import Known, Step, proposed, unless_floats_fail
from verify.checker.answers import answers
from verify.checker.certificate import Certificate
from verify.checker.local import NotLocal
from verify.checker.optimal import OptimalWithin
from verify.checker.questions import asked_within
from verify.checker.width import OptimalWithinWidth
from verify.deciders.enclosure.findings import (
    lacks_exact_point,
    local_without_exact_point,
    strengthened,
    without_nearby,
)
from verify.deciders.finding import Finding, Question, Verdict, decide, undecided
from verify.deciders.global_optimality.better import end_of_descent, none_is_better
from verify.deciders.global_optimality.bracket import with_networks
from verify.deciders.global_optimality.record import Bracket
from verify.deciders.local_optimality import local_optimality, multiplier_dimension
from verify.deciders.proposal import Proposal
from verify.deciders.subjects import Chosen, Subject, choose
from verify.deciders.time_limits import TimeIsUpError, is_late
from verify.numbers.floats import to_float
from verify.problem.members import trains_all
from verify.problem.phrases import (
    A_LOSS_AT_WIDTH,
    AN_OUTPUT_BIAS_AT_WIDTH,
    NOT_BY_MORE,
    nearly_only,
    not_exactly,
    of_width,
)
from verify.problem.problem import Problem, objective

__all__ = [
    "DIMENSION",
    "EXACTLY_REFUTED",
    "FOLLOWED",
    "GLOBAL_OPTIMALITY",
    "LOCAL_OPTIMALITY",
    "NEARBY_POINT",
    "STATIONARITY",
    "STATIONARITY_FOLLOWED",
]

GLOBAL_QUESTIONS = (Question.GLOBAL_OPTIMUM, Question.GLOBAL_ANY_WIDTH)


def _fits(_: Asked, found: Known) -> bool:
    return found.fits


# ------------------------------------------------------------------------------------------------- stationarity


def _stationary(asked: Asked, clock: Clock, found: Known) -> Known:
    """Which of the networks that fit the answers are about, and whether that one is stationary."""
    end = clock.share(0.3)
    chosen = choose(asked.problem, asked.network, found.fitting, asked.stationary_tolerance, end, asked.reach)
    is_cut = not trains_all(asked.problem.trained) and is_late(end)  # exact KKT points near it are looked for there
    return _with_stationary(asked, replace(found, is_settled=found.is_settled and not is_cut), chosen)


def _without_stationary(asked: Asked, found: Known, reason: str) -> Known:
    unsettled = replace(found, is_settled=False)
    return _with_stationary(asked, unsettled, Chosen(found.subject.asked, Proposal(reason=reason)))


def _with_stationary(asked: Asked, found: Known, chosen: Chosen) -> Known:
    subject, proposal = _subject_of_all(found, chosen), chosen.stationary
    finding = decide(Question.STATIONARY, asked.problem, asked.network, proposal, asked.stationary_tolerance)
    if proposal.beside is not None:
        finding = replace(finding, certificates=(*finding.certificates, proposal.beside))
    if subject is not found.subject:
        found = found.with_findings(fit_finding(subject))
    return replace(found, subject=subject).with_findings(finding)


def _subject_of_all(found: Known, chosen: Chosen) -> Subject:
    """What the objective and global optimality are of, where `chosen` is what stationarity is said of.

    With given output weights a given network that fits: an exact KKT point near it may have another objective.
    """
    is_given = not found.subject.problem.asks_any_width and found.subject.network is found.subject.given
    return found.subject if is_given else found.subject.at(chosen.network)


def _with_dimension(asked: Asked, _: Clock, found: Known) -> Known:
    """With the dimension of the set of multipliers, of an exact KKT point."""
    stationary = found.findings[Question.STATIONARY]
    if stationary.verdict is not Verdict.PROVED or stationary.level == "approximate":
        return found
    subject = stationary.subject or asked.network
    dimension = unless_floats_fail(partial(multiplier_dimension, asked.problem, subject), lambda _: None)
    known = {} if dimension is None else {"multiplier_dimension": Fraction(dimension)}
    return found.with_findings(replace(stationary, numbers={**stationary.numbers, **known}))


# ------------------------------------------------------------------------------------------- global optimality


def _global(asked: Asked, _: Clock, found: Known) -> Known:
    """Both global questions, from the bracket and the networks that the search found."""
    subject, bracket = found.subject, found.bracket
    if bracket is None or subject.network is None:
        return found
    problem, network, tolerance = asked.problem, asked.network, asked.terms.tol
    proposal = none_is_better(problem, network, subject.network, bracket.lower, tolerance)
    if proposal is not None:
        return found.with_findings(*(decide(q, problem, network, proposal, tolerance) for q in GLOBAL_QUESTIONS))
    beaten = all_beaten(subject, bracket, tolerance, GLOBAL_QUESTIONS)
    numbers = {"tolerance": tolerance}
    rest = [question for question in GLOBAL_QUESTIONS if question not in beaten]
    left = [undecided(question, _why_open(problem, question, beaten, bracket), numbers) for question in rest]
    return found.with_findings(*beaten.values(), *left)


def _without_global(_: Asked, found: Known, reason: str) -> Known:
    return found.with_findings(*(undecided(question, reason) for question in GLOBAL_QUESTIONS))


def _why_open(problem: Problem, question: Question, found: dict[Question, Finding], bracket: Bracket) -> str:
    wider = found.get(Question.GLOBAL_ANY_WIDTH)
    if question is Question.GLOBAL_OPTIMUM and wider is not None and wider.verdict is Verdict.REFUTED:
        if not problem.asks_fit:
            return A_LOSS_AT_WIDTH
        return AN_OUTPUT_BIAS_AT_WIDTH if problem.has_output_bias else "a wider network is better"
    return why_open(bracket)


# -------------------------------------------------------------------------------------------- local optimality


def local_finding(asked: Asked, found: Known, deadline: float | None = None) -> Finding:
    """Whether the network is a local optimum: what follows from the other answers, then a decision about exact KKT
    points.
    """
    question, stationary = Question.LOCAL_OPTIMUM, found.findings[Question.STATIONARY]
    if stationary.verdict is Verdict.REFUTED:
        return follows(question, found.subject, stationary, "it is not even stationary")
    for best in (found.findings.get(asked_globally) for asked_globally in reversed(GLOBAL_QUESTIONS)):
        if best is not None and best.verdict is Verdict.PROVED:
            local = follows(question, found.subject, best, _none_is_better(asked, best.question))
            if local.verdict is Verdict.PROVED:
                return local
    if stationary.verdict is Verdict.UNDECIDED:
        return undecided(question, "it is not known whether the network is stationary")
    if stationary.level == "approximate":
        return undecided(question, nearly_only(asked.problem))
    subject = stationary.subject or asked.network
    proposal = proposed(partial(local_optimality, asked.problem, subject, asked.network, deadline=deadline))
    return decide(question, asked.problem, asked.network, proposal)


def _local(asked: Asked, clock: Clock, found: Known) -> Known:
    """Whether it is a local optimum; where it is none, what follows for the global questions that are open."""
    return _with_local(asked, clock, found, local_finding(asked, found, clock.share(0.5)))


def _without_local(_: Asked, found: Known, reason: str) -> Known:
    return found.with_findings(undecided(Question.LOCAL_OPTIMUM, reason))


def _with_local(asked: Asked, clock: Clock, found: Known, local: Finding) -> Known:
    """What is found of local optimality, and what follows of it for the global questions that are open."""
    found = found.with_findings(local)
    if local.verdict is not Verdict.REFUTED:
        return found
    if _left_open(found):
        found = _with_descent(asked, clock, found, local)
    left = _left_open(found)
    return found.with_findings(*(_not_global(found.subject, before, local, asked.terms.tol) for before in left))


def _left_open(found: Known) -> list[Finding]:
    questions = GLOBAL_QUESTIONS if found.subject.problem.asks_any_width else GLOBAL_QUESTIONS[:1]
    known = (found.findings[question] for question in questions)
    return [finding for finding in known if finding.verdict is Verdict.UNDECIDED]


def _with_descent(asked: Asked, clock: Clock, found: Known, local: Finding) -> Known:
    """With the end of the descent among the networks that are known, and the global questions asked again."""
    proof, bracket = local.certificates[0], found.bracket
    if not isinstance(proof, NotLocal) or bracket is None:
        return found
    end = end_of_descent(asked.problem, asked.network, proof)
    value, mine = objective(asked.problem, end), found.subject.objective
    if value is None or (mine is not None and value >= mine):
        return found
    try:
        more = with_networks(asked.problem, bracket, [(value, end)], to_float(asked.terms.tol))
        return _global(asked, clock, replace(found, bracket=more))
    except TimeIsUpError:
        return found


def _not_global(subject: Subject, before: Finding, local: Finding, tolerance: Fraction) -> Finding:
    """The global question of a network that is no local optimum: better ones lie near, which are better by little.

    Refuted within 0; within more when the end of the descent is better by that much; else open, as `before`.
    """
    question, proof = before.question, local.certificates[0]
    is_followed = subject.problem.asks_any_width and subject.problem.asks_fit
    is_here = is_followed or (local.subject or subject.given) == subject.asked
    lie = "better networks of the same architecture lie arbitrarily near"
    reason = lie if isinstance(proof, NotLocal) else f"{not_exactly(subject.problem)}, so that {lie}"
    refuted = follows(question, subject, local, reason, tolerance)
    if is_here and refuted.verdict is not Verdict.UNDECIDED:
        return replace(refuted, numbers={"tolerance": Fraction(0)})
    if isinstance(proof, NotLocal):
        end = end_of_descent(subject.problem, subject.given, proof)
        moved = subject.at(local.subject or subject.given) if is_here else subject
        beaten = beaten_by(question, moved, [end], tolerance, own_width=True)
        if beaten is not None:
            return beaten
    if not is_here:  # they lie near another network
        return before
    if before.reason in (LATE, INTERRUPTED):  # what the search found was not looked at
        return replace(before, reason=f"{before.reason}; {lie}")
    return replace(before, reason=f"{before.reason}; {lie}, {NOT_BY_MORE}")


# ------------------------------------------------------------------------- an exact KKT point near the network


NEARBY = "the search for an exact KKT point near the network"


def _nearby(asked: Asked, clock: Clock, found: Known) -> Known:
    """What is known of the exact KKT point near the network, or that none was looked for.

    And whether that is all there is to know: not where more time might have found such a point.
    """
    if clock.is_interrupted or clock.is_late:
        reason = INTERRUPTED if clock.is_interrupted else LATE
        clock.add(NEARBY, reason)
        is_told = found.findings[Question.STATIONARY].reason == INTERRUPTED
        return replace(found if is_told else _without_nearby(asked, found, reason), is_settled=False)
    end = clock.share(0.5)
    found = clock.attempt(
        NEARBY,
        partial(_strengthened, asked, found, end),
        partial(_without_nearby, asked, found),
        clock.deadline,
    )
    return replace(found, is_settled=not (clock.has(NEARBY) or is_late(end)))


def _strengthened(asked: Asked, found: Known, deadline: float | None) -> Known:
    more = strengthened(asked.problem, asked.network, found.findings, asked.reach, deadline, found.bracket)
    return found.with_findings(*more.values())


def _without_nearby(asked: Asked, found: Known, reason: str) -> Known:
    return found.with_findings(*without_nearby(asked.problem, found.findings, reason).values())


def _exactly_refuted(asked: Asked, clock: Clock, found: Known) -> Known:
    """What follows where stationarity holds within its tolerance only, or is open, and is exactly refuted."""
    if found.subject.network is None:
        return found
    local = local_without_exact_point(
        asked.problem, asked.network, found.findings, found.subject.network, clock.deadline
    )
    return found if local is found.findings[Question.LOCAL_OPTIMUM] else _with_local(asked, clock, found, local)


# ----------------------------------------------------------------------------------------- what one says of the others


def _followed(asked: Asked, _: Clock, found: Known) -> Known:
    """With the questions that are open, and that a certificate about another question, or a better network, answers."""
    known = tuple(found.findings.values())
    proofs = [(other.question, proof) for other in known for proof in other.certificates if not proof.distance]
    for finding in known:
        found = _with_answer(asked, found, finding, proofs)
    left = [q for q in GLOBAL_QUESTIONS if found.findings[q].verdict is Verdict.UNDECIDED]  # where time was short
    return found.with_findings(*all_beaten(found.subject, found.bracket, asked.terms.tol, left).values())


def _stationarity_followed(asked: Asked, _: Clock, found: Known) -> Known:
    """With stationarity, where it is open and the network, or the one that is moved for all answers, is the best."""
    best = found.findings[Question.GLOBAL_OPTIMUM]
    proofs = [(best.question, proof) for proof in best.certificates if best.verdict is Verdict.PROVED]
    return _with_answer(asked, found, found.findings[Question.STATIONARY], proofs)


def _with_answer(asked: Asked, found: Known, finding: Finding, proofs: Iterable[tuple[Question, Certificate]]) -> Known:
    """With the answer of the first of these certificates that gives one, where the question is open."""
    if finding.verdict is not Verdict.UNDECIDED:
        return found
    within = asked_within(finding.question, asked.terms.tol, asked.stationary_tolerance)
    for question, proof in proofs:
        answer = answers(asked.problem, asked.network, proof).get(finding.question)
        if answer is None or answer.within(within) is Verdict.UNDECIDED:
            continue
        reason = f"it follows from the certificate about {question.value.replace('_', ' ')}"
        if isinstance(proof, OptimalWithin | OptimalWithinWidth):
            is_of_all = isinstance(proof, OptimalWithin)
            reason = _none_is_better(asked, Question.GLOBAL_ANY_WIDTH if is_of_all else Question.GLOBAL_OPTIMUM)
        proposal = Proposal(certificate=proof, reason=reason, numbers=finding.numbers)
        return found.with_findings(decide(finding.question, asked.problem, asked.network, proposal, within))
    return found


def _none_is_better(asked: Asked, question: Question) -> str:
    """Of the best network of any width, or of its own."""
    best_of = "at all" if question is Question.GLOBAL_ANY_WIDTH else f"of {of_width(asked.problem)}"
    return f"no network {best_of} is better"


STATIONARITY = Step(
    name="stationarity",
    accepts=_fits,
    run=_stationary,
    without=_without_stationary,
    end=lambda clock: clock.share(0.35),
)

DIMENSION = Step(
    name="the number of multipliers",
    accepts=_fits,
    run=_with_dimension,
    without=lambda _, found, __: found,
    end=lambda clock: clock.share(0.1),
)

GLOBAL_OPTIMALITY = Step(
    name="global optimality",
    accepts=_fits,
    run=_global,
    without=_without_global,
    end=lambda clock: clock.with_grace(clock.deadline),
)

LOCAL_OPTIMALITY = Step(
    name="local optimality",
    accepts=_fits,
    run=_local,
    without=_without_local,
    end=lambda clock: clock.with_grace(clock.share(0.5)),
)

NEARBY_POINT = Step(
    name=NEARBY,
    accepts=lambda asked, found: found.fits and lacks_exact_point(found.findings, asked.reach),
    run=_nearby,
)

EXACTLY_REFUTED = Step(
    name="local optimality",
    accepts=lambda _, found: found.fits and found.is_settled,
    run=_exactly_refuted,
    without=lambda _, found, __: found,
    end=lambda clock: clock.with_grace(clock.deadline),
)

STATIONARITY_FOLLOWED = Step(
    name="stationarity",
    accepts=_fits,
    run=_stationarity_followed,
    without=lambda _, found, __: found,
    end=lambda clock: clock.with_grace(clock.deadline),
)

FOLLOWED = Step(
    name="what follows from the other answers", accepts=_fits, run=_followed, without=lambda _, found, __: found
)
