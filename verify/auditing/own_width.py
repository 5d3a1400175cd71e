"""The search at the network's own width, where better networks are known and all of them are wider.

What the answer for any width decides is not asked again: nothing runs where no network at all is better, where one that
is no wider is, or where it is open whether any is. Of a network that does not fit it is asked whether any of its width
does, where all that are known to fit are wider.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import partial

from solvers.instance import SearchStatus
from verify.auditing.asked import Asked
from verify.auditing.clock import INTERRUPTED, LATE, Clock
from verify.auditing.concluding import beaten_by
from verify.auditing.searching import SMALLEST_GAP
from verify.auditing.steps import Known, Step, unless_floats_fail
from verify.deciders.finding import Question, Verdict, decide, undecided
from verify.deciders.global_optimality.better import is_no_wider, none_is_better
from verify.deciders.own_width.record import WidthBracket
from verify.deciders.own_width.searching import bracket_at_width
from verify.deciders.time_limits import is_late, now
from verify.numbers.counts import count
from verify.numbers.decimals import at_least, at_most
from verify.numbers.floats import to_float
from verify.problem.phrases import of_width

__all__ = ["OWN_WIDTH", "OWN_WIDTH_WITHOUT_FIT"]

NAME = "the search at the network's own width"

LONGEST, LONGEST_WITHOUT_FIT = 10.0, 3.0
"""Seconds without a time limit."""

KEPT_SHARE = 0.05
"""Of a time limit, for what comes after."""


def _is_asked(asked: Asked, found: Known) -> bool:
    """Whether the question is open, and a better network is known, which is wider."""
    own, best = (found.findings.get(question) for question in (Question.GLOBAL_OPTIMUM, Question.GLOBAL_ANY_WIDTH))
    is_open = own is not None and own.verdict is Verdict.UNDECIDED
    is_wider = best is not None and best.verdict is Verdict.REFUTED
    return found.fits and asked.problem.asks_any_width and is_open and is_wider


def _may_fit(asked: Asked, found: Known) -> bool:
    """Whether the network does not fit, wider ones do, and none of its width is known to."""
    if not found.is_open or found.fits or not asked.problem.asks_any_width or found.bracket is None:
        return False
    is_refuted = found.findings[Question.FITS].verdict is Verdict.REFUTED
    known = found.bracket.witnesses
    return is_refuted and len(known) > 0 and not any(is_no_wider(asked.problem, witness) for witness in known)


def _searched_without_fit(asked: Asked, clock: Clock, found: Known) -> Known:
    """Whether a network of this width fits, and how well."""
    end = now() + LONGEST_WITHOUT_FIT if clock.deadline is None else clock.before(KEPT_SHARE)
    if clock.is_interrupted or is_late(end):
        return found
    search = partial(
        bracket_at_width, asked.problem, (), tol=max(to_float(asked.terms.tol), SMALLEST_GAP), deadline=end
    )
    bracket = unless_floats_fail(search, lambda _: None)
    if bracket is not None and bracket.status is SearchStatus.INTERRUPTED:
        clock.add(NAME, INTERRUPTED)
    return found if bracket is None else replace(found, own_width=bracket)


def _searched(asked: Asked, clock: Clock, found: Known) -> Known:
    """The bracket at this width and what it says of the network."""
    subject = found.subject.network
    if subject is None:
        return found
    if clock.is_interrupted:
        return _left_open(found, INTERRUPTED)
    end = now() + LONGEST if clock.deadline is None else clock.before(KEPT_SHARE)
    if is_late(end):
        clock.add(NAME, LATE)
        return _left_open(found, f"{LATE} before the search at this width")
    known = [] if found.bracket is None else list(found.bracket.witnesses)
    search = partial(
        bracket_at_width,
        asked.problem,
        [subject, *known],
        tol=max(to_float(asked.terms.tol), SMALLEST_GAP),
        deadline=end,
        earlier=None if found.earlier is None else found.earlier.lower_width,
    )
    bracket = unless_floats_fail(search, lambda _: None)
    if bracket is None:
        return _left_open(found, "the floating-point search at this width failed")
    if bracket.status is SearchStatus.INTERRUPTED:
        clock.add(NAME, INTERRUPTED)
    elif bracket.status is SearchStatus.TIME and clock.deadline is not None:
        clock.add(NAME, LATE)
    return _concluded(asked, clock, replace(found, own_width=bracket), bracket)


def _concluded(asked: Asked, clock: Clock, found: Known, bracket: WidthBracket) -> Known:
    """Refuted by a better network of the width, proved by the bound, or open with both ends."""
    question, tolerance, subject = Question.GLOBAL_OPTIMUM, asked.terms.tol, found.subject
    refuted = beaten_by(question, subject, bracket.witnesses, tolerance, own_width=True)
    if refuted is not None:
        return found.with_findings(refuted)
    proposal = None
    if subject.network is not None:
        proposal = none_is_better(asked.problem, asked.network, subject.network, bracket.lower, tolerance)
    if proposal is None:
        return _left_open(found, _why_open(asked, clock, found, bracket))
    return found.with_findings(decide(question, asked.problem, asked.network, proposal, tolerance))


def _left_open(found: Known, why: str) -> Known:
    """The question open, for what was said of it before and for this reason."""
    before = found.findings[Question.GLOBAL_OPTIMUM]
    return found.with_findings(undecided(before.question, f"{before.reason}; {why}", before.numbers))


def _why_open(asked: Asked, clock: Clock, found: Known, bracket: WidthBracket) -> str:
    """Such as "the best of 3 neurons is between 2.711 and 2.934, which this one has; the time limit was reached after
    412 states of the neurons, 38 of them open".
    """
    ended = {
        SearchStatus.TIME: LATE
        if clock.deadline is not None
        else f"the search ended, which has {LONGEST:g} s without a limit,",
        SearchStatus.INTERRUPTED: INTERRUPTED,
    }.get(bracket.status, "the search ended")
    left = f", {bracket.left} of them open" if bracket.left else ""
    ended += f" after {count(bracket.nodes, 'state')} of the neurons{left}"
    lower, mine = _best_lower(found, bracket), found.subject.objective
    if lower is None or mine is None:
        return ended
    return f"the best of {of_width(asked.problem)} is between {at_least(lower)} and {at_most(mine)}; {ended}"


def _best_lower(found: Known, bracket: WidthBracket) -> Fraction | None:
    """The larger bound, of this width and of any."""
    known = None if found.bracket is None else found.bracket.ends[0]
    return max(filter(None, (bracket.ends[0], known)), default=None)


OWN_WIDTH = Step(name=NAME, accepts=_is_asked, run=_searched)

OWN_WIDTH_WITHOUT_FIT = Step(name=NAME, accepts=_may_fit, run=_searched_without_fit)
