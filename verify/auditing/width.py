"""The search among the networks of the network's own width, where its output weights are given."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import partial

from verify.auditing.asked import Asked
from verify.auditing.clock import INTERRUPTED, LATE, Clock
from verify.auditing.fitting import without_fit
from verify.auditing.steps import Known, Step, unless_floats_fail
from verify.deciders.finding import Question, decide, undecided
from verify.deciders.global_optimality.at_width import AtWidth, WidthStatus, bracket_at_width
from verify.deciders.global_optimality.better import none_is_better
from verify.deciders.subjects import Chosen, Subject
from verify.numbers.counts import count
from verify.numbers.decimals import at_least, at_most
from verify.problem.phrases import ANY_WIDTH_NOT_ASKED, of_width

__all__ = ["SEARCH_AT_WIDTH", "found_at_width", "subject_of_all", "why_open_at_width"]

NAME = "the search for the best network of its width"

KEPT_SHARE = 0.15
"""Of a time limit, for what comes after the search: its proof is made exact and checked late."""

WITH_RELAXED_SHARE = 0.5
"""Of a time limit, kept where the relaxed question is asked as well."""

_ENDED = {
    WidthStatus.TIME: LATE,
    WidthStatus.INTERRUPTED: INTERRUPTED,
    WidthStatus.NODES: "the search was ended",
    WidthStatus.STALLED: "floating point could not decide the rest",
}


def _searched(asked: Asked, clock: Clock, found: Known) -> Known:
    """With what is found at the width; where the network does not fit, also what follows of that."""
    if clock.is_interrupted:
        at_width = AtWidth(status=WidthStatus.INTERRUPTED)
        clock.add(NAME, INTERRUPTED)
    else:
        kept = KEPT_SHARE if found.ask_relaxed is None else WITH_RELAXED_SHARE
        search = partial(
            bracket_at_width,
            asked.problem,
            found.subject.network,
            also=(*found.fitting, *found.farther),
            tol=asked.terms.tol,
            deadline=clock.before(kept),
        )
        at_width = unless_floats_fail(search, lambda why: AtWidth(status=WidthStatus.FAILED, reason=why))
        if at_width.status in (WidthStatus.TIME, WidthStatus.INTERRUPTED):
            clock.add(NAME, _ENDED[at_width.status])
    found = replace(found, at_width=at_width)
    if found.fits:
        return found
    if at_width.nothing is not None:
        fits = found.findings[Question.FITS]
        found = found.with_findings(
            replace(fits, reason=f"{fits.reason}; no network of {of_width(asked.problem)} does")
        )
    return without_fit(found)


def subject_of_all(found: Known, chosen: Chosen) -> Subject:
    """What the objective and global optimality are of, where `chosen` is what stationarity is said of.

    With given output weights a given network that fits: an exact KKT point near it may have another objective.
    """
    is_given = not found.subject.problem.asks_any_width and found.subject.network is found.subject.given
    return found.subject if is_given else found.subject.at(chosen.network)


def found_at_width(asked: Asked, found: Known) -> Known:
    """Whether the network is optimal at its width, as the search there says."""
    question, subject, at_width = Question.GLOBAL_OPTIMUM, found.subject, found.at_width
    found = found.with_findings(undecided(Question.GLOBAL_ANY_WIDTH, ANY_WIDTH_NOT_ASKED))
    if at_width is None or subject.network is None:
        return found
    problem, tolerance = asked.problem, asked.terms.tol
    proposal = none_is_better(problem, asked.network, subject.network, at_width.lower, tolerance)
    return (
        found
        if proposal is None
        else found.with_findings(decide(question, problem, asked.network, proposal, tolerance))
    )


def why_open_at_width(at_width: AtWidth | None, mine: Fraction | None) -> str:
    """Why the question about the own width is open: the bracket, and how the search ended."""
    if at_width is None or at_width.status is WidthStatus.LARGE:
        return "the network has too many neurons, or the data too many points, for a search at its width"
    if at_width.status is WidthStatus.FAILED:
        return f"the floating-point search failed ({at_width.reason})"
    ended = _ENDED.get(at_width.status, "the search could not narrow the bracket far enough")
    left = f", {at_width.open_nodes} of them open" if at_width.open_nodes else ""
    after = f"{ended} after {count(at_width.nodes, 'state')}{left}"
    low, high = at_width.ends
    if low is None or high is None:
        return after
    own = "" if mine is None else f" (this one {at_most(mine, 4)})"
    return f"the best of its width has between {at_least(low, 4)} and {at_most(high, 4)}{own}; {after}"


SEARCH_AT_WIDTH = Step(
    name=NAME, accepts=lambda asked, found: found.is_open and not asked.problem.asks_any_width, run=_searched
)
