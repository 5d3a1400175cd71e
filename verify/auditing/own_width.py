"""The search at the network's own width, and what it says of the network.

Where both layers are trained it comes last: what the answer for any width decides is not asked again. Nothing runs
where no network at all is better, where one that is no wider is, or where it is open whether any is; of a network that
does not fit it is asked whether any of its width does, where all that are known to fit are wider. Where the output
weights are given the own width is all that is asked, and the search comes first.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import partial
from operator import itemgetter

from solvers.instance import SearchStatus
from verify.auditing.asked import Asked
from verify.auditing.beaten import beaten_by
from verify.auditing.clock import INTERRUPTED, LATE, Clock
from verify.auditing.endings import why_open_at_width
from verify.auditing.fitting import without_fit
from verify.auditing.steps import Known, Step, unless_floats_fail
from verify.deciders.finding import Question, Verdict, decide, undecided
from verify.deciders.global_optimality.better import is_no_wider, none_is_better
from verify.deciders.global_optimality.bracket import with_networks
from verify.deciders.own_width.record import OnStates, WidthBracket
from verify.deciders.own_width.searching import bracket_at_width, until_done
from verify.deciders.time_limits import elapsed, is_late
from verify.numbers.floats import to_float
from verify.problem.members import trains_all
from verify.problem.network import Network
from verify.problem.phrases import ANY_WIDTH_NOT_ASKED, of_width

__all__ = ["OWN_WIDTH"]

NAME = "the search at the network's own width"

MOST_WORK, MOST_WORK_WITHOUT_FIT = 20.0, 4.0
"""Seconds of work (`solvers.clock.by_work`) without a time limit, where the search comes last."""

MOST_WORK_OF_ALL = 40.0
"""The same where it comes first, and its answer is the only one about better networks."""

KEPT_SHARE_AT_LAST = 0.05
"""Of a time limit, for what comes after a search that comes last."""

KEPT_SHARE, KEPT_SHARE_WITH_RELAXED = 0.15, 0.5
"""The same of one that comes first: its proof is made exact and checked late; and where the relaxed question is asked
as well.
"""


def _is_due(asked: Asked, found: Known) -> bool:
    """Whether the question about the own width is asked, and open."""
    if trains_all(asked.problem.trained):
        return _is_left_open(found) or _may_fit(asked, found)
    return found.is_open


def _is_left_open(found: Known) -> bool:
    """Whether the question is open, and a better network is known, which is wider."""
    own, best = (found.findings.get(question) for question in (Question.GLOBAL_OPTIMUM, Question.GLOBAL_ANY_WIDTH))
    is_open = own is not None and own.verdict is Verdict.UNDECIDED
    is_wider = best is not None and best.verdict is Verdict.REFUTED
    return found.fits and is_open and is_wider


def _may_fit(asked: Asked, found: Known) -> bool:
    """Whether the network does not fit, wider ones do, and none of its width is known to."""
    if not found.is_open or found.fits or found.bracket is None:
        return False
    is_refuted = found.findings[Question.FITS].verdict is Verdict.REFUTED
    known = found.bracket.witnesses
    return is_refuted and len(known) > 0 and not any(is_no_wider(asked.problem, witness) for witness in known)


def _most_work(asked: Asked, clock: Clock, found: Known) -> float | None:
    """What the search may do where there is no time limit; None where there is one."""
    if clock.deadline is not None:
        return None
    if trains_all(asked.problem.trained):
        return MOST_WORK if found.fits else MOST_WORK_WITHOUT_FIT
    return MOST_WORK_OF_ALL


def _end(asked: Asked, clock: Clock, found: Known) -> float | None:
    """The moment at which the search ends, where there is a time limit."""
    if trains_all(asked.problem.trained):
        return clock.before(KEPT_SHARE_AT_LAST)
    return clock.before(KEPT_SHARE if found.ask_relaxed is None else KEPT_SHARE_WITH_RELAXED)


def _networks(found: Known) -> list[Network]:
    """The networks that fit and are known, the one in question first."""
    mine = [] if found.subject.network is None else [found.subject.network]
    mine += [rung.network for rung in found.improved or () if rung.network is not None]
    if found.bracket is not None:
        return [*mine, *found.bracket.witnesses]
    earlier = () if found.earlier is None else found.earlier.witnesses
    return [*mine, *found.fitting, *found.farther, *earlier]


def _searched(asked: Asked, clock: Clock, found: Known) -> Known:
    """With the bracket at this width, and what it says of the network."""
    end = _end(asked, clock, found)
    is_too_late = asked.problem.asks_any_width and is_late(end)  # all networks that are known were asked about before
    if clock.is_interrupted or is_too_late:
        bracket = WidthBracket(status=SearchStatus.INTERRUPTED if clock.is_interrupted else SearchStatus.TIME)
    else:
        search = partial(
            bracket_at_width,
            asked.problem,
            _networks(found),
            tol=asked.terms.tol,
            on_progress=_told(asked),
            earlier=None if found.earlier is None else found.earlier.lower_width,
        )
        within = partial(until_done, search, end, _most_work(asked, clock, found))
        bracket = unless_floats_fail(within, lambda why: WidthBracket(status=SearchStatus.FAILED, reason=why))
    if bracket.status is SearchStatus.INTERRUPTED:
        clock.add(NAME, INTERRUPTED)
    elif bracket.status is SearchStatus.TIME:
        clock.add(NAME, LATE)
    found = _with_its_networks(asked, replace(found, own_width=bracket), bracket)
    return _concluded(asked, found, bracket)


def _told(asked: Asked) -> OnStates | None:
    """What tells the caller of the audit how far the search is, where it wants to know."""
    report, began, width = asked.terms.progress, elapsed(), len(asked.problem.architecture.masks)
    if report is None:
        return None
    from solvers.any_width.dual_cuts import Progress

    def tell(nodes: int, left: int, lower: float, upper: float) -> None:
        seconds, n = elapsed() - began, len(asked.problem.data)
        report(Progress(nodes, lower, upper, columns=0, points=n, seconds=seconds, width=width, left=left))

    return tell


def _with_its_networks(asked: Asked, found: Known, bracket: WidthBracket) -> Known:
    """With what was found at this width among the networks of any width, and that question asked again with them."""
    known, subject = found.bracket, found.subject
    if known is None or not bracket.objectives:
        return found
    upper = known.ends[1]
    if upper is not None and bracket.objectives[0] >= upper:
        return found
    pairs = zip(bracket.objectives, bracket.witnesses, strict=True)
    known = with_networks(asked.problem, known, pairs, to_float(asked.terms.tol))
    found = replace(found, bracket=known)
    before = found.findings.get(Question.GLOBAL_ANY_WIDTH)
    if subject.network is None or before is None or before.verdict is not Verdict.REFUTED:
        return found
    beaten = beaten_by(Question.GLOBAL_ANY_WIDTH, subject, known.witnesses, asked.terms.tol, own_width=False)
    return found if beaten is None else found.with_findings(beaten)


def _concluded(asked: Asked, found: Known, bracket: WidthBracket) -> Known:
    """Refuted by a better network of the width, proved by the bound, or open with both ends."""
    question, tolerance, subject = Question.GLOBAL_OPTIMUM, asked.terms.tol, found.subject
    if subject.network is None:
        return _without_fit(asked, found, bracket)
    refuted = beaten_by(question, subject, bracket.witnesses, tolerance, own_width=True)
    if refuted is not None:
        return _any_width_not_asked(asked, found).with_findings(refuted)
    proposal = none_is_better(asked.problem, asked.network, subject.network, bracket.lower, tolerance)
    if proposal is None:
        lower, mine = _best_lower(found, bracket), subject.objective
        return _left_open(asked, found, why_open_at_width(asked.problem, bracket, lower, mine))
    proved = decide(question, asked.problem, asked.network, proposal, tolerance)
    return _any_width_not_asked(asked, found).with_findings(proved)


def _without_fit(asked: Asked, found: Known, bracket: WidthBracket) -> Known:
    """What follows where the network does not fit; with that none of its width does, where that is proved."""
    if bracket.nothing is not None:
        fits = found.findings[Question.FITS]
        reason = f"{fits.reason}; no network of {of_width(asked.problem)} fits the data"
        found = found.with_findings(replace(fits, reason=reason))
    return found if asked.problem.asks_any_width else without_fit(found)


def _left_open(asked: Asked, found: Known, why: str) -> Known:
    """The question open, for what was said of it before and for this reason."""
    before = found.findings.get(Question.GLOBAL_OPTIMUM)
    reason = why if before is None else f"{before.reason}; {why}"
    open_one = undecided(Question.GLOBAL_OPTIMUM, reason, {"tolerance": asked.terms.tol})
    return _any_width_not_asked(asked, found).with_findings(open_one)


def _any_width_not_asked(asked: Asked, found: Known) -> Known:
    """With that any width is not asked, where it is not."""
    if asked.problem.asks_any_width:
        return found
    return found.with_findings(undecided(Question.GLOBAL_ANY_WIDTH, ANY_WIDTH_NOT_ASKED))


def _best_lower(found: Known, bracket: WidthBracket) -> Fraction | None:
    """The larger bound, of this width and of any."""
    known = None if found.bracket is None else found.bracket.ends[0]
    return max(filter(None, (bracket.ends[0], known)), default=bracket.ends[0])


def _without(asked: Asked, found: Known, reason: str) -> Known:
    """What is known where this was cut short."""
    if found.subject.network is None:
        return found if asked.problem.asks_any_width else without_fit(found)
    is_better = len(found.improved or ()) > 1  # each rung is below the one before
    if asked.problem.asks_any_width or not is_better:  # what is known for any width was asked about before
        return _left_open(asked, found, reason)
    status = SearchStatus.INTERRUPTED if reason == INTERRUPTED else SearchStatus.TIME
    known = [(rung.objective, rung.network) for rung in found.improved or () if rung.network is not None]
    bracket = WidthBracket.of(asked.problem, None, sorted(known, key=itemgetter(0)), status=status, nodes=0, left=0)
    return _concluded(asked, replace(found, own_width=bracket), bracket)


OWN_WIDTH = Step(
    name=NAME,
    accepts=_is_due,
    run=_searched,
    without=_without,
    end=lambda clock: clock.with_grace(clock.deadline),
)
