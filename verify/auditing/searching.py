"""The search for the best network: the bracket of the best objective, shared with the relaxed question in time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

from solvers.instance import SearchStatus
from verify.auditing.asked import Asked
from verify.auditing.clock import INTERRUPTED, LATE, Clock
from verify.auditing.fitting import without_fit
from verify.auditing.steps import Known, Step, unless_floats_fail
from verify.checker.stationary import Stationary
from verify.deciders.estimates import estimate
from verify.deciders.finding import Ending, Finding, Question, Verdict
from verify.deciders.global_optimality.bracket import bracket_optimum, with_networks
from verify.deciders.global_optimality.record import SMALLEST_GAP, Bracket, free_constant, nearly_free
from verify.deciders.global_optimality.warm_start import WarmStart
from verify.deciders.time_limits import is_late, now
from verify.diagnosis.ladder import Rung, RungKind, improvements, kept_objective
from verify.numbers.arguments import a_time_limit, a_tolerance, instance_of
from verify.numbers.floats import to_float
from verify.problem.network import Network
from verify.problem.problem import Problem, objective

if TYPE_CHECKING:
    from solvers.any_width.dual_cuts import Progress
    from verify.auditing.record import Audit

__all__ = ["EXACT_OPTIMUM", "IMPROVED", "SEARCH", "SEARCH_WITHOUT_FIT", "WITNESSED", "certified_bracket"]

KEPT_SHARE = 0.15
"""Of a time limit, for what comes after the search: its last proof is made exact and checked late."""

LAST_SHARE = 0.1
"""Of a time limit, what is kept of it once a search came back in time, with its last proof, and is taken up again."""

FAR_BELOW = 1000
"""How far below the given network a constant is, where constants come as near to 0 as asked."""

WORTH_SHARE = 0.05
"""Of a time limit: what is worth a search that is taken up again."""

ASKED_SHARE = 0.45
"""Of a time limit, for the question as it is asked before the relaxed one; then what that leaves."""

TRIAL_SHARE = 0.1
"""Of a time limit, in which the relaxed question is tried before."""

DIAGNOSIS_SHARE = 0.05
"""Of a time limit, for what comes after the relaxed question."""

IMPROVED_SHARE = 0.15
"""Of the time that is left before the search, to balance the network and to drop its dead neurons."""

NAME = "the search for the best network"
NOT_SEARCHED = Bracket(lower=None, upper=None, witnesses=(), status=SearchStatus.INTERRUPTED, history=())


def certified_bracket(
    problem: Problem, tol: float = 1e-6, time_limit: float | None = None, network: Network | None = None
) -> Bracket:
    """The bracket of the best objective over all widths, without an audit of a network."""
    instance_of(Problem, problem, "problem", "give a Problem, such as pose(network, data) makes")
    seconds, gap = a_time_limit(time_limit), to_float(a_tolerance(tol, "tol"))
    deadline = None if seconds is None else now() + seconds
    return bracketed(problem, network, tol=gap, deadline=deadline)


def bracketed(
    problem: Problem,
    network: Network | None,
    subject: Network | None = None,
    *,
    tol: float,
    deadline: float | None,
    progress: Callable[[Progress], None] | None = None,
    earlier: WarmStart | None = None,
) -> Bracket:
    """The bracket, as narrow as `tol` and, where the subject is near the edge of "within tol", as narrow as that takes.

    An arithmetic failure of the float solvers leaves it open.
    """
    search = partial(bracket_optimum, problem, network, subject=subject, deadline=deadline, on_progress=progress)
    gap = max(tol, SMALLEST_GAP)
    found = unless_floats_fail(partial(search, tol=gap, warm_start=earlier), _failed)
    while gap > SMALLEST_GAP and _is_at_the_edge(problem, subject, found, tol) and not is_late(deadline):
        gap = max(gap / 100, SMALLEST_GAP)
        again = unless_floats_fail(partial(search, tol=gap, warm_start=_known(found)), lambda _: None)
        if again is None:
            break
        status = again.status if again.status in (SearchStatus.TIME, SearchStatus.INTERRUPTED) else found.status
        found = replace(again, status=status, history=(*found.history, *again.history))
    return found


def _failed(why: str) -> Bracket:
    return Bracket(lower=None, upper=None, witnesses=(), status=SearchStatus.FAILED, reason=why, history=())


def _is_at_the_edge(problem: Problem, subject: Network | None, found: Bracket, tol: float) -> bool:
    """Whether a finished search leaves it open that the subject is within `tol` of the best."""
    mine = None if subject is None else objective(problem, subject)
    lower, upper = found.ends
    if found.status is not SearchStatus.OPTIMAL or mine is None or lower is None or upper is None:
        return False
    return lower < mine / (1 + Fraction(tol)) <= upper


def _known(found: Bracket) -> WarmStart:
    """What a search found, for the next one."""
    multipliers = () if found.lower is None else found.lower.multipliers
    return WarmStart(lower=found.lower, multipliers=multipliers, witnesses=found.witnesses)


def _search_until(asked: Asked, found: Known, deadline: float | None, earlier: WarmStart | None = None) -> Bracket:
    """The bracket that is found until the deadline."""
    return bracketed(
        asked.problem,
        asked.network,
        found.subject.network,
        tol=to_float(asked.terms.tol),
        deadline=deadline,
        progress=asked.terms.progress,
        earlier=found.earlier if earlier is None else earlier,
    )


def _noted(clock: Clock, search: Callable[[], Bracket]) -> Bracket:
    """What the search finds, which notices Ctrl-C itself; nothing after an earlier interruption."""
    bracket = NOT_SEARCHED if clock.is_interrupted else search()
    if bracket.status in (SearchStatus.INTERRUPTED, SearchStatus.TIME):
        clock.add(NAME, INTERRUPTED if bracket.status is SearchStatus.INTERRUPTED else LATE)
    return bracket


def _searched(asked: Asked, clock: Clock, found: Known) -> Known:
    """The bracket that is found in the time there is: a search that came back in time is taken up again."""
    return _searched_again(asked, clock, _searched_once(asked, clock, found, KEPT_SHARE), LAST_SHARE)


def _searched_once(asked: Asked, clock: Clock, found: Known, kept: float) -> Known:
    """The bracket that is found until a share `kept` of the time limit is left."""
    search = partial(_search_until, asked, found, clock.before(kept))
    return replace(found, bracket=_noted(clock, search))


def _searched_again(asked: Asked, clock: Clock, found: Known, kept: float) -> Known:
    """The search taken up again until a share `kept` is left, where the time ended it and there is still some."""
    is_ended = found.bracket is not None and found.bracket.status is SearchStatus.TIME
    if not is_ended or is_late(clock.before(kept + WORTH_SHARE)):
        return found
    return _searched_further(asked, clock, found, kept)


def _searched_and_relaxed(asked: Asked, clock: Clock, found: Known) -> Known:
    """The bracket of the question asked, and the relaxed audit: neither is left with less time than there is.

    A relaxed audit that is short comes first, so that the search has the rest in one piece. Else the search has its
    share, the relaxed audit what is left, and the search what that leaves.
    """
    ask = found.ask_relaxed
    if ask is None or clock.seconds is None:
        return without_fit(_searched(asked, clock, found))
    known = ask(TRIAL_SHARE * clock.seconds)
    if known is None or not _is_cut_short(known):
        if known is not None and known.ending is Ending.INTERRUPTED:
            clock.add(NAME)
        found = _searched(asked, clock, replace(found, ask_relaxed=None, relaxed=known))
        return without_fit(_searched_again(asked, clock, found, DIAGNOSIS_SHARE))
    found = _searched_once(asked, clock, found, 1 - ASKED_SHARE)
    if found.bracket is None or found.bracket.status is not SearchStatus.TIME:
        return without_fit(found)
    known = ask(clock.left(DIAGNOSIS_SHARE))
    found = replace(found, ask_relaxed=None, relaxed=known)
    if known is not None and known.ending is not Ending.INTERRUPTED:
        found = _searched_again(asked, clock, found, LAST_SHARE)
    return without_fit(found)


def _is_cut_short(known: Audit) -> bool:
    """Whether more time may decide more, of the bracket or of a question."""
    open_ones = (finding for finding in known.findings.values() if finding.verdict is Verdict.UNDECIDED)
    return known.ending is Ending.TIME or any(LATE in finding.reason for finding in open_ones)


def _searched_further(asked: Asked, clock: Clock, found: Known, kept: float) -> Known:
    """The search taken up again where it ended, until a share `kept` of the time limit is left."""
    if found.bracket is None:
        return found
    first = found.bracket
    again = _search_until(asked, found, clock.before(kept), _known(first))
    if again.status is SearchStatus.FAILED:
        return found
    clock.withdraw(NAME, LATE)
    both = replace(again, history=(*first.history, *again.history))
    return replace(found, bracket=_noted(clock, lambda: both))


def _without_gap(asked: Asked, clock: Clock, found: Known) -> Known:
    """The bracket; with a bound that is the subject's objective, where the question is sharper than floats."""
    bracket, subject, tolerance = found.bracket, found.subject.network, asked.terms.tol
    if bracket is None or subject is None or tolerance >= Fraction(SMALLEST_GAP):
        return found
    stationary = found.findings[Question.STATIONARY]
    is_at_the_edge = _is_at_the_edge(asked.problem, subject, bracket, to_float(tolerance))
    if not is_at_the_edge or not _is_exact(stationary) or clock.is_late:
        return found
    from verify.deciders.closed_forms.gapless import gapless_bound

    multipliers = next((c.multipliers for c in stationary.certificates if isinstance(c, Stationary)), ())
    lower = unless_floats_fail(partial(gapless_bound, asked.problem, subject, multipliers), lambda _: None)
    return found if lower is None else replace(found, bracket=replace(bracket, lower=lower))


def _is_exact(stationary: Finding) -> bool:
    """Whether an exact KKT point is known."""
    return stationary.verdict is Verdict.PROVED and stationary.level != "approximate"


def _improved(asked: Asked, _: Clock, found: Known) -> Known:
    """With what is made of the network that fits."""
    problem, subject = asked.problem, found.subject.network
    if subject is None:
        return found
    rungs = unless_floats_fail(lambda: improvements(problem, subject, estimate(problem, subject)), lambda _: ())
    return replace(found, improved=rungs)


def _not_improved(_: Asked, found: Known, __: str) -> Known:
    """With the network that fits alone."""
    value, subject = found.subject.objective, found.subject.network
    alone = () if value is None else (Rung(step=RungKind.GIVEN, objective=value, network=subject, excess=None),)
    return replace(found, improved=alone)


def _witnessed(asked: Asked, _: Clock, found: Known) -> Known:
    """With all networks that the audit came across and that fit, as well as those of the search."""
    problem, bracket, rungs = asked.problem, found.bracket, found.improved or ()
    if bracket is None:
        return found
    upper = bracket.ends[1]
    is_better = bool(rungs) and (upper is None or rungs[0].objective < upper)
    known = [(rung.objective, rung.network) for rung in rungs[0 if is_better else 1 :] if rung.network is not None]
    for network in found.farther:
        value = kept_objective(problem, network)
        if value is not None and (upper is None or value < upper):
            known.append((value, network))
    known += _constant(asked, found)
    if not known:
        return found
    return replace(found, bracket=with_networks(problem, bracket, known, to_float(asked.terms.tol)))


def _constant(asked: Asked, found: Known) -> Iterator[tuple[Fraction, Network]]:
    """A constant far below a network that fits, where constants cost nothing or next to nothing."""
    mine = found.subject.objective
    upper = None if found.bracket is None else found.bracket.ends[1]
    network = free_constant(asked.problem)
    if not mine or (network is None and upper is not None and upper * (1 + asked.terms.tol) < mine):
        return
    network = network or nearly_free(asked.problem, mine / (FAR_BELOW * (1 + asked.terms.tol)))
    value = None if network is None else kept_objective(asked.problem, network)
    if network is not None and value is not None:
        yield value, network


SEARCH_WITHOUT_FIT = Step(
    name=NAME,
    accepts=lambda _, found: found.is_open and not found.fits,
    run=_searched_and_relaxed,
)

SEARCH = Step(name=NAME, accepts=lambda _, found: found.fits, run=_searched)

EXACT_OPTIMUM = Step(
    name="the exact optimum",
    accepts=lambda _, found: found.fits,
    run=_without_gap,
    without=lambda _, found, __: found,
    end=lambda clock: clock.with_grace(clock.deadline),
)

IMPROVED = Step(
    name="what balancing the network brings",
    accepts=lambda _, found: found.fits,
    run=_improved,
    without=_not_improved,
    end=lambda clock: clock.with_grace(clock.share(IMPROVED_SHARE)),
)

WITNESSED = Step(
    name="the networks found on the way",
    accepts=lambda _, found: found.is_open,
    run=_witnessed,
    without=_not_improved,
    end=lambda clock: clock.with_grace(clock.deadline),
)
