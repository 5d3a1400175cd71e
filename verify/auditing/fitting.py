"""The first question: does the network fit, or one near it; if not, does any; and what follows where none does."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import partial

from verify.auditing.asked import Asked
from verify.auditing.clock import LATE, Clock
from verify.auditing.relaxing import relaxed
from verify.auditing.steps import Known, Step, unless_floats_fail
from verify.checker.certificate import OTHER_DEPTH, Certificate
from verify.checker.codec import LIMIT, MAX_DIGITS
from verify.checker.errors import InputError
from verify.checker.fit import DoesNotFit, Fits
from verify.deciders.finding import Finding, Question, Verdict, decide, undecided
from verify.deciders.fit.output_rounding import OutputRounding, output_rounding
from verify.deciders.global_optimality.infeasibility import infeasibility
from verify.deciders.global_optimality.warm_start import read_warm_start
from verify.deciders.proposal import Proposal
from verify.deciders.simplified import distinct
from verify.deciders.subjects import Subject, candidates
from verify.deciders.time_limits import is_late, now, until, within
from verify.deciders.witnesses import distance
from verify.numbers.counts import count
from verify.numbers.decimals import about, at_most, kept, small
from verify.numbers.decimals import value as short
from verify.problem.members import has_margin, is_free
from verify.problem.network import Network
from verify.problem.phrases import ANY_WIDTH_NOT_ASKED, OUTPUT_BIAS_REACHES
from verify.problem.posing import exchanged_classes, transposed_weights
from verify.problem.problem import Problem, objective, outputs

__all__ = ["INFEASIBILITY", "UNSUPPORTED", "fit_finding", "fitted", "follows", "without_fit"]

REST = tuple(question for question in Question if question is not Question.FITS)


def fitted(asked: Asked, clock: Clock) -> tuple[Asked, Known]:
    """Whether the network fits, and which networks near it do; and what is asked, within the tolerance it fits in."""
    began = now()
    if asked.terms.symbolic and asked.problem.has_output_bias:
        raise InputError("symbolic is given, but no formula is sought with an output bias: leave it out")
    outputs(asked.problem, asked.network)
    clock.expect(now() - began)
    fitting, farther = _candidates(asked, clock)
    notes = [OUTPUT_BIAS_REACHES] if asked.problem.has_output_bias else list[str]()
    rounding = _rounding(asked) if asked.counts_rounding and not fitting else None
    if rounding is not None:
        asked = replace(asked, problem=asked.problem.within(rounding.bound))
        notes.append(_rounding_note(rounding))
        fitting = (asked.network,)
    problem, network = asked.problem, asked.network
    subject = Subject(problem, network, fitting[0] if fitting else None)
    findings = {Question.FITS: fit_finding(subject, is_farther=bool(farther))}
    earlier = None if asked.terms.warm_start is None else read_warm_start(asked.terms.warm_start, problem)
    if earlier is not None and earlier.note:
        notes.append(earlier.note)
    exchanged = exchanged_classes(problem, network) if subject.network is None else None
    if subject.network is None:
        turned = None if asked.is_model else transposed_weights(problem, network)
        notes += filter(None, (exchanged, turned))
    is_relaxed = asked.terms.relax and subject.network is None and exchanged is None
    return asked, Known(
        subject=subject,
        findings=findings,
        fitting=fitting,
        farther=farther,
        earlier=earlier,
        limits=_limits(problem),
        easier=relaxed(problem, network) if is_relaxed else None,
        notes=tuple(notes),
    )


def _candidates(asked: Asked, clock: Clock) -> tuple[tuple[Network, ...], tuple[Network, ...]]:
    """The networks near the given one that fit; and those that were found and are not near."""
    problem = asked.problem
    with until(clock.share(0.3)):
        simple = distinct(problem).problem
        fitting, farther = candidates(problem, simple, asked.network, asked.repairable, reach=asked.terms.near)
        if not fitting and not has_margin(problem.goal) and is_late(None):
            clock.add("the exact repair", LATE)
    return tuple(fitting), tuple(farther)


def _rounding(asked: Asked) -> OutputRounding | None:
    """What the rounding of the outputs explains, when the network misses no target by more (min-norm)."""
    found = output_rounding(asked.problem, asked.network)
    if found is None or objective(asked.problem.within(found.bound), asked.network) is None:
        return None
    return found


def _rounding_note(within: OutputRounding) -> str:
    return (
        f"fits within {short(within.bound)}, the rounding of its outputs in {within.precision}, and is asked about "
        "with that tolerance (--fit-tol gives another one; 0 asks for exact targets)"
    )


def _limits(problem: Problem) -> str | None:
    """Why the problem is not decided beyond `fits`; None where it is."""
    if problem.is_decided:
        return None
    limits = problem.architecture.limits()
    if limits is not None:
        kept = "biases that do not count" if is_free(problem.bias) else "layers that are not trained"
        return f"with {kept} only whether a network of this shape fits is decided: {limits}"
    return "the problem does not state the output weights, which are not trained: pose it with those of the network"


def fit_finding(subject: Subject, *, is_farther: bool = False) -> Finding:
    """Whether the network fits: proved of the subject's network, the given one or near it; refuted without one.

    is_farther: whether a network that fits was found, but not near enough.
    """
    problem, given = subject.problem, subject.given
    if subject.network is None:
        return _refuted(subject, is_farther=is_farther)
    if has_margin(problem.goal):
        margin = _held(min(subject.margins))
        return _fit(subject, Fits(margin=margin), "every point is classified correctly")
    if subject.network is given:
        return _fit(subject, Fits(margin=Fraction(0)), _met(problem, max(subject.residuals)))
    moved = distance(subject.network, given)
    certificate = Fits(subject=subject.network.parameters, moved=moved, margin=Fraction(0))
    reason = f"every target is met exactly after moving the weights by at most {small(moved)} of their norm"
    return _fit(subject, certificate, reason)


def _refuted(subject: Subject, *, is_farther: bool) -> Finding:
    """That the given network does not fit, at the point that is missed most; with what would take it as fitting."""
    worst, reason = _missed(subject)
    if not has_margin(subject.problem.goal):
        why = (
            "the exact repair that was found is too far from it"
            if is_farther
            else "no network near it that fits was found"
        )
        reason += f"; {why}; --fit-tol {at_most(subject.residuals[worst], 2)} takes it as fitting within that"
    return _fit(subject, DoesNotFit(point=worst), reason)


def _missed(subject: Subject) -> tuple[int, str]:
    """The point that is missed most, and how far."""
    if not has_margin(subject.problem.goal):
        residuals = subject.residuals
        worst = max(range(len(residuals)), key=lambda i: residuals[i])
        return worst, f"the largest residual is {about(residuals[worst], 3)}, at {_point(worst)}"
    margins = subject.margins
    wrong = [i for i, margin in enumerate(margins) if margin <= 0]
    worst = min(wrong, key=lambda i: margins[i])
    are = "is" if len(wrong) == 1 else "are"
    missed = f"{len(wrong)} of {count(len(margins), 'point')} {are} not classified correctly"
    return worst, f"{missed}, worst is {_point(worst)}"


def _held(margin: Fraction) -> Fraction:
    """The least margin; InputError where it is longer than certificates hold."""
    if max(margin.as_integer_ratio()) >= LIMIT:
        raise InputError(
            f"the least margin of the network is a fraction of more than {MAX_DIGITS} digits, which no certificate "
            "holds: round the weights or the data to numbers with shorter denominators"
        )
    return margin


def _met(problem: Problem, largest: Fraction) -> str:
    if problem.fit_tolerance == 0:
        return "every target is met exactly"
    return f"every target is met within {kept(problem.fit_tolerance)}; the largest residual is {about(largest, 3)}"


def _fit(subject: Subject, certificate: Certificate, reason: str) -> Finding:
    proposal = Proposal(certificate=certificate, reason=reason)
    return decide(Question.FITS, subject.problem, subject.given, proposal)


def _point(index: int) -> str:
    return f"point {index} (counting from 0)"


def follows(
    question: Question, subject: Subject, known: Finding, reason: str, within: Fraction = Fraction(0)
) -> Finding:
    """The answer that the certificate of another one gives as well."""
    proposal = Proposal(certificate=known.certificates[0], reason=reason)
    return decide(question, subject.problem, subject.given, proposal, within)


def without_fit(found: Known) -> Known:
    """What follows for the other questions where the network does not fit."""
    fits, rest = found.findings[Question.FITS], list(REST)
    if not found.subject.problem.asks_any_width:
        rest.remove(Question.GLOBAL_ANY_WIDTH)
        found = found.with_findings(undecided(Question.GLOBAL_ANY_WIDTH, ANY_WIDTH_NOT_ASKED))
    if not fits.certificates:
        return found.with_findings(*(undecided(q, "it is not known whether the network fits") for q in rest))
    return found.with_findings(*(follows(q, found.subject, fits, "it does not fit the data") for q in rest))


def _prove_infeasible(asked: Asked, clock: Clock, found: Known) -> Known:
    search = partial(within, clock.share(0.3), partial(infeasibility, asked.problem))
    proof = unless_floats_fail(search, lambda _: None)
    if proof is None:
        return found
    if not has_margin(asked.problem.goal):  # no repair was to be found
        fits = found.findings[Question.FITS]
        found = found.with_findings(replace(fits, reason=f"{_missed(found.subject)[1]}; no network fits the data"))
    return replace(without_fit(found), infeasible=proof)


def _leave_open(_: Asked, __: Clock, found: Known) -> Known:
    """Open, but for a network that does not fit: it is no optimum of anything."""
    if found.findings[Question.FITS].verdict is Verdict.REFUTED:
        return without_fit(found)
    why = str(found.limits)
    return found.with_findings(*(undecided(question, why) for question in REST))


INFEASIBILITY = Step(
    name="whether any network fits",
    accepts=lambda _, found: found.is_open and not found.fits,
    run=_prove_infeasible,
)

UNSUPPORTED = Step(
    name="what is not decided yet",
    accepts=lambda asked, found: (
        found.limits is not None and not (OTHER_DEPTH.holds(asked.problem) and found.subject.network is not None)
    ),
    run=_leave_open,
)
