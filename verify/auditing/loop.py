"""The audit: does the network fit, is it stationary, locally, globally optimal; asked in this order, with proofs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from verify.auditing.consistency import consistent
from verify.auditing.interruptions import INTERRUPTED, LATE, LeftOut
from verify.auditing.record import Audit
from verify.auditing.relaxing import relaxation_note, relaxed
from verify.checker.bounds import Infeasible, LowerBound
from verify.checker.certificate import Certificate
from verify.checker.codec import LIMIT, MAX_DIGITS
from verify.checker.derived import bracket_and_excess
from verify.checker.errors import InputError
from verify.checker.exact import is_rational
from verify.checker.fit import DoesNotFit, Fits
from verify.checker.local import NotLocal
from verify.checker.optimal import BetterNetwork
from verify.checker.stationary import Stationary
from verify.deciders.enclosure.findings import (
    lacks_exact_point,
    local_without_exact_point,
    strengthened,
    without_nearby,
)
from verify.deciders.finding import Finding, Question, Verdict, decide, undecided
from verify.deciders.fit.output_rounding import OutputRounding, output_rounding
from verify.deciders.global_optimality.better import better_network, end_of_descent, is_no_wider, optimal_within
from verify.deciders.global_optimality.bracket import bracket_optimum
from verify.deciders.global_optimality.infeasibility import infeasibility
from verify.deciders.global_optimality.record import Bracket
from verify.deciders.global_optimality.warm_start import WarmStart, read_warm_start
from verify.deciders.local_optimality import local_optimality, multiplier_dimension
from verify.deciders.proposal import FLOAT_FAILURES, Proposal
from verify.deciders.simplified import distinct
from verify.deciders.subjects import Subject, candidates, choose
from verify.deciders.time_limits import is_late, now, poll, share, until, within
from verify.deciders.witnesses import distance
from verify.diagnosis import Diagnosis, diagnose, explained_by
from verify.numbers.arguments import a_flag, a_time_limit, a_tolerance, instance_of, items_of, wrong
from verify.numbers.counts import count
from verify.numbers.decimals import about, allowed, at_most, kept, small
from verify.numbers.decimals import value as short
from verify.numbers.intervals import Interval
from verify.problem import posing
from verify.problem.members import has_margin, trains_all
from verify.problem.network import Network
from verify.problem.phrases import any_width, lower_by
from verify.problem.posing import exchanged_classes, transposed_weights
from verify.problem.problem import Bias, Goal, Problem, Trained, objective, outputs
from verify.readers.given import given
from verify.readers.reading import MissingOptionsError, Options

if TYPE_CHECKING:
    from solvers.any_width.dual_cuts import Progress
    from verify.deciders.closed_forms import Symbolic

__all__ = ["audit", "certified_bracket", "pose"]

STATIONARY_TOLERANCE = Fraction(1, 1000)
KEPT_SHARE = 0.15  # of a time limit, for what comes after the search: its last proof is made exact and checked late
GRACE_SHARE, GRACE_SECONDS = 0.03, 0.25  # what a short step may take beyond a time limit
ASKED_SHARE = 0.45  # of a time limit, for the question as it is asked before the relaxed one; then what that leaves
TRIAL_SHARE = 0.1  # of a time limit, in which the relaxed question is tried before
DIAGNOSIS_SHARE = 0.05  # of a time limit, for what comes after the relaxed question
LEAST_SECONDS = 1.0  # for the relaxed question
SMALLEST_GAP = 1e-9  # what the float solvers are asked for at most, also when the question is sharper


def audit(
    network: object,
    data: object,
    y: object = None,
    *,
    goal: Goal | str | None = None,
    bias: Bias | str | None = None,
    trained: Trained | str = Trained.BOTH,
    tol: float | Fraction = Fraction(1, 10**6),
    stationary_tol: float | Fraction | None = None,
    near: float | Fraction | None = None,
    time_limit: float | None = None,
    progress: Callable[[Progress], None] | None = None,
    warm_start: str | Path | None = None,
    symbolic: bool = False,
    fit_tol: float | Fraction | None = None,
    notes: Iterable[str] = (),
    relax: bool = True,
    slope: object = None,
    output_bias: str = "refuse",
    two_logits: str = "refuse",
    fold: bool = False,
    target: str | None = None,
    classes: Sequence[object] | None = None,
    standardise: object = None,
    trust_pickle: bool = False,
) -> Audit:
    """Is `network` a KKT point, a local, a global optimum of the max-margin or min-norm problem on `data`?

        audit(model, X, y)    audit(model, (X, y))    audit("net.npz", "data.csv")    audit(network, dataset)

    network: whatever `verify.read` takes.   data, y: whatever `verify.read_data` takes. What the readers choose is said
    in the notes.
    slope: of the activation (0 ReLU, 1 linear), for weights that hold none, such as a state dict.
    output_bias: "neuron" turns a bias on the output into one more hidden neuron; "refuse" does not read such a network.
    two_logits: "difference" reads the second of two outputs minus the first; "refuse" does not.
    fold: put layers that scale and shift (a batch normalisation in eval mode, a scaler) into the weights; the scaler of
    a pipeline is else applied to the data.
    target: the column of the targets in a CSV file or a table, by default the last one.
    classes: the two labels that stand for -1 and 1, such as (1, 2); by default those of a classifier of scikit-learn.
    standardise: a fitted scaler, the path of one, or "data", to put the data into the coordinates of the network.
    trust_pickle: read pickles, which run the code that is in them.
    goal: max-margin for targets in {-1, 1} or {0, 1} (0 becomes -1), else min-norm, unless given.
    trained: "both" layers; "hidden" (output weights fixed) is not decided yet.
    bias: "penalised" when the network has hidden biases, else "none"; "free" leaves them out of the norm.
    tol: relative gap that "globally optimal" allows (0: the exact optimum, proved for linear networks and, without
    a free bias, where the closed form is found).   stationary_tol: epsilon and delta that "stationary" allows;
    by default 0 for exactly given input, else 1e-3 (an exact proof is tried first in any case).
    fit_tol: min-norm is then the least norm of networks with |f(x) - y| <= fit_tol at every point. By default 0; for
    floats where no network that fits exactly is found near the given one, what the rounding of its outputs in floating
    point explains, when that is all that it misses.
    near: how far another network may be from the given one, relative to its norm, that an answer may speak of instead:
    a repair, an exact KKT point. By default `stationary_tol`. A repair changes the neurons v_j w_j by at most this or
    1e-3 of their size at the data, whatever the units, and no target may be missed by more than 1e-3 of the largest.
    time_limit: seconds after which the best certified bracket so far is returned; Ctrl-C does the same.
    warm_start: a folder of an earlier audit of the same data (`Audit.save`), whose search is taken up again.
    symbolic: also seek the best objective as a formula, such as 8/sqrt(17), with proofs (small problems).
    progress: called once a round of the search with a `solvers.any_width.dual_cuts.Progress`.
    relax: of a network that does not fit, ask as well what it does fit: the targets within its largest residual, or the
    points that are on their sides. The answer, with certificates of its own, is the audit `.relaxed` of the result.

    The `Audit` prints as a report, and has `.fits`, `.stationary`, `.local_optimum`, `.global_optimum` and
    `.global_any_width` (each with a `.verdict`), `.bracket` and `.excess`, the `.better` network, `.diagnosis` and
    `.next_steps`, `.relaxed`, `.save(folder)`, `.to_html(path)`, `.to_json()` and `.plot(path)`.

    Sound: every verdict has a certificate that the checker accepted. Raises InputError for data or networks that do not
    fit together. Networks of other depths or with sharing are UNDECIDED beyond `fits`.
    """
    began = now()
    seconds = a_time_limit(time_limit)
    deadline = None if seconds is None else began + seconds
    if progress is not None and not callable(progress):
        raise wrong(progress, "progress", "give a function of one argument, or None")
    symbolic, relax = a_flag(symbolic, "symbolic"), a_flag(relax, "relax")
    tolerance = a_tolerance(tol, "tol")
    said = [str(note) for note in items_of(notes, "notes", "give a list of sentences")]
    try:
        brought = given(
            network,
            data,
            y,
            options=Options(
                slope=slope, output_bias=output_bias, two_logits=two_logits, fold=fold, trust_pickle=trust_pickle
            ),
            target=target,
            classes=classes,
            standardise=standardise,
            is_regression=isinstance(goal, str) and goal == Goal.MIN_NORM,
        )
    except MissingOptionsError as error:
        raise error.with_audit(*(("data",) if y is None else ("X", "y"))) from None
    network = brought.network
    said = list(dict.fromkeys((*said, *brought.notes)))
    problem = posing.pose(network, brought.data, goal=goal, bias=bias, trained=trained, fit_tol=fit_tol, notes=said)
    exact = network.is_exact and problem.data.is_exact
    allowed = (
        (Fraction(0) if exact else STATIONARY_TOLERANCE)
        if stationary_tol is None
        else a_tolerance(stationary_tol, "stationary_tol")
    )
    reach = None if near is None else a_tolerance(near, "near")
    repairable = max(allowed, STATIONARY_TOLERANCE) if reach is None else reach
    left_out = LeftOut()
    with until(share(deadline, 0.3)):
        fitting, is_farther = candidates(problem, distinct(problem).problem, network, repairable, reach=reach)
        subject = fitting[0] if fitting else None
        if subject is None and not has_margin(problem.goal) and is_late(None):
            left_out.add("the exact repair", LATE)
    within = _up_to_rounding(problem, network) if subject is None and fit_tol is None and not exact else None
    if within is not None:
        problem, rounding = within
        said.append(_rounding_note(rounding))
        fitting, subject = [network], network
    fits = _fits(problem, network, subject, is_farther=is_farther)
    earlier = None if warm_start is None else read_warm_start(warm_start, problem)
    if earlier is not None and earlier.note:
        said.append(earlier.note)
    exchanged = exchanged_classes(problem, network) if subject is None else None
    if subject is None:
        said += filter(None, (exchanged, transposed_weights(problem, network)))
    mine = objective(problem, subject) if subject is not None else None
    limits = problem.architecture.limits()
    if not trains_all(problem.trained) and limits is None:
        limits = "problems with only the hidden layer trained are not decided yet"
    easier = relaxed(problem, network) if relax and subject is None and exchanged is None else None
    further = None if easier is None else _asking(problem, easier, network, tolerance, allowed, reach, progress)
    impossible = None if limits or subject is not None else _infeasibility(problem, share(deadline, 0.3))
    if impossible is not None:
        refuted = _infeasible(problem, network, impossible, fits, tolerance, tuple(said), began)
        refuted = replace(
            refuted,
            symbolic=_no_closed_form("no network fits the data") if symbolic else None,
            stationary_tolerance=allowed,
        )
        return _with_relaxed(refuted, further, deadline)
    if limits is not None:
        rest = {q: undecided(q, limits) for q in Question if q is not Question.FITS}
        forms = _closed_form(problem, network, deadline, left_out) if symbolic else None
        said += left_out.notes()
        undone = _assemble(problem, network, fits, rest, mine, None, tolerance, tuple(said), began)
        return replace(
            undone,
            stationary_tolerance=allowed,
            symbolic=forms,
            status="interrupted" if left_out.is_interrupted else undone.status,
        )
    if subject is None:
        search = partial(_bracket, problem, network, None, tol=float(tolerance), progress=progress, earlier=earlier)
        bracket, further = _asked_and_relaxed(left_out, search, further, deadline, seconds)
        rest = _not_fitting(problem, network, fits)
    else:
        part = share(deadline, 0.3)
        chosen = left_out.attempt(
            "stationarity",
            partial(choose, problem, network, fitting, allowed, part, allowed if reach is None else reach),
            partial(_open_subject, subject),
            share(deadline, 0.35),
        )
        subject = chosen.network
        fits, mine = _fits(problem, network, subject), objective(problem, subject)
        stationary = _stationary(problem, network, chosen.stationary, allowed)
        stationary = left_out.attempt(
            "the number of multipliers",
            partial(_with_dimension, problem, network, stationary),
            lambda _: stationary,
            share(deadline, 0.1),
        )
        search = partial(_bracket, problem, network, subject, tol=float(tolerance), progress=progress, earlier=earlier)
        found = _searched(left_out, partial(search, deadline=_before(deadline, seconds, KEPT_SHARE)))
        bracket = left_out.attempt(
            "the exact optimum",
            partial(_without_gap, problem, subject, stationary, found, tolerance, deadline),
            lambda _: found,
            _with_grace(deadline, seconds),
        )
        rest = {
            Question.STATIONARY: stationary,
            **left_out.attempt(
                "global optimality",
                partial(_global, problem, network, subject, bracket, tolerance),
                lambda reason: {q: undecided(q, reason) for q in (Question.GLOBAL_OPTIMUM, Question.GLOBAL_ANY_WIDTH)},
                _with_grace(deadline, seconds),
            ),
        }
        rest |= left_out.attempt(
            "local optimality",
            partial(_local_and_global, problem, network, rest, tolerance, share(deadline, 0.5)),
            lambda reason: {Question.LOCAL_OPTIMUM: undecided(Question.LOCAL_OPTIMUM, reason)},
            _with_grace(share(deadline, 0.5), seconds),
        )
        rest, is_settled = _with_nearby(problem, network, rest, allowed if reach is None else reach, deadline, left_out)
        if is_settled:
            rest |= left_out.attempt(
                "local optimality",
                partial(_refuted_exactly, problem, network, rest, subject, tolerance, deadline),
                lambda _: {},
                _with_grace(deadline, seconds),
            )
    diagnosis = left_out.attempt(
        "what is wrong with the network",
        partial(_diagnosis, problem, network, subject, bracket, rest[Question.STATIONARY]),
        lambda _: None,
        _with_grace(deadline, seconds),
    )
    forms = _closed_form(problem, network, deadline, left_out) if symbolic else None
    said += left_out.notes()
    done = _assemble(problem, network, fits, rest, mine, bracket, tolerance, tuple(said), began, diagnosis)
    done = replace(
        done,
        stationary_tolerance=allowed,
        symbolic=forms,
        status="interrupted" if left_out.is_interrupted else done.status,
    )
    return _with_relaxed(done if forms is None else _closed(done, forms), further, deadline)


def _closed(audited: Audit, forms: Symbolic) -> Audit:
    """The audit with the bounds of a rational closed form, which meet, as its bracket."""
    exact = forms.exact
    lower, upper = (forms.certificates.get(f"symbolic-{end}-bound.json") for end in ("lower", "upper"))
    if exact is None or not is_rational(exact) or lower is None or upper is None:
        return audited
    bracket, excess = map(Interval.of, bracket_and_excess(exact, exact, audited.objective))
    return replace(
        audited,
        bracket=bracket,
        excess=excess,
        bounds=(lower, upper),
        diagnosis=_explained(audited, lower),
        status="done" if audited.status.startswith("stalled") else audited.status,
    )


def _explained(audited: Audit, lower: Certificate) -> Diagnosis | None:
    """The diagnosis, with the excess as the bound of the closed form splits it."""
    found, judged = audited.diagnosis, audited.fits.subject or audited.network
    if found is None or not isinstance(lower, LowerBound):
        return found
    return explained_by(found, audited.problem, judged, lower)


def _asking(
    problem: Problem,
    easier: Problem,
    network: Network,
    tolerance: Fraction,
    allowed: Fraction,
    reach: Fraction | None,
    progress: Callable[[Progress], None] | None,
) -> Callable[[float | None], Audit]:
    """The audit of the network about the relaxed problem, for as many seconds as are left."""

    def ask(seconds: float | None) -> Audit:
        return audit(
            network,
            easier.data,
            goal=easier.goal,
            bias=easier.bias,
            fit_tol=easier.fit_tolerance if not has_margin(easier.goal) else None,
            tol=tolerance,
            stationary_tol=allowed,
            near=reach,
            time_limit=seconds,
            progress=progress,
            notes=[relaxation_note(problem, easier)],
            relax=False,
        )

    return ask


def _with_relaxed(done: Audit, ask: Callable[[float | None], Audit] | None, deadline: float | None) -> Audit:
    """The audit with the one about the relaxed question, unless it was interrupted before."""
    if ask is None or done.status == "interrupted":
        return done
    began = now()
    found = _relaxed_in(ask, None if deadline is None else max(deadline - began, LEAST_SECONDS))
    if found is None:
        return done
    status = "interrupted" if found.status == "interrupted" else done.status
    diagnosis = None if done.diagnosis is None else replace(done.diagnosis, relaxed=found.diagnosis)
    return replace(done, relaxed=found, diagnosis=diagnosis, status=status, seconds=done.seconds + now() - began)


def pose(
    network: object,
    data: object,
    y: object = None,
    *,
    goal: Goal | str | None = None,
    bias: Bias | str | None = None,
    trained: Trained | str = Trained.BOTH,
    fit_tol: object = None,
    notes: list[str] | None = None,
) -> Problem:
    """The problem that `audit` decides about this network and these data; what was chosen is appended to `notes`."""
    brought = given(network, data, y, is_regression=isinstance(goal, str) and goal == Goal.MIN_NORM)
    said = notes if notes is not None else []
    said += [note for note in brought.notes if note not in said]
    return posing.pose(
        brought.network, brought.data, goal=goal, bias=bias, trained=trained, fit_tol=fit_tol, notes=said
    )


def _with_grace(deadline: float | None, seconds: float | None) -> float | None:
    """The deadline for a step that is short and comes last: also after a search that took all the time, a little."""
    if deadline is None or seconds is None:
        return None
    return max(deadline, now() + GRACE_SHARE * seconds + GRACE_SECONDS)


SEARCH = "the search for the best network"
NOT_SEARCHED = Bracket(lower=None, upper=None, witnesses=(), status="interrupted", history=())


def _searched(left_out: LeftOut, search: Callable[[], Bracket]) -> Bracket:
    """What the search finds, which notices Ctrl-C itself; nothing after an earlier interruption."""
    bracket = NOT_SEARCHED if left_out.is_interrupted else search()
    if bracket.status in ("interrupted", "time"):
        reason = INTERRUPTED if bracket.status == "interrupted" else LATE
        left_out.add(SEARCH, reason)
    return bracket


def _before(deadline: float | None, seconds: float | None, kept: float) -> float | None:
    """The moment at which a share `kept` of the time limit is still left."""
    return None if deadline is None or seconds is None else deadline - kept * seconds


def _asked_and_relaxed(
    left_out: LeftOut,
    search: Callable[..., Bracket],
    ask: Callable[[float | None], Audit] | None,
    deadline: float | None,
    seconds: float | None,
) -> tuple[Bracket, Callable[[float | None], Audit] | None]:
    """The bracket of the question asked, and what gives the relaxed audit: neither is left with less than there is.

    A relaxed audit that is short comes first, so that the search has the rest in one piece. Else the search has its
    share, the relaxed audit what is left, and the search what that leaves.
    """
    if ask is None or deadline is None or seconds is None:
        return _searched(left_out, partial(search, deadline=_before(deadline, seconds, KEPT_SHARE))), ask
    known = _relaxed_in(ask, TRIAL_SHARE * seconds)
    if known is None or known.status != "time":
        if known is not None and known.status == "interrupted":
            left_out.add(SEARCH)
        bracket = _searched(left_out, partial(search, deadline=_before(deadline, seconds, KEPT_SHARE)))
        return bracket, None if known is None else lambda _: known
    first = bracket = _searched(left_out, partial(search, deadline=_before(deadline, seconds, 1 - ASKED_SHARE)))
    if first.status != "time":
        return first, ask
    easier = _relaxed_in(ask, max(deadline - DIAGNOSIS_SHARE * seconds - now(), LEAST_SECONDS))
    if easier is None:
        return first, None
    end = _before(deadline, seconds, KEPT_SHARE)
    if easier.status != "interrupted" and not is_late(end):
        again = search(deadline=end, earlier=_known(first))
        if not again.status.startswith("failed"):
            left_out.withdraw(SEARCH, LATE)
            bracket = _searched(left_out, lambda: replace(again, history=(*first.history, *again.history)))
    return bracket, lambda _: easier


def _relaxed_in(ask: Callable[[float | None], Audit], seconds: float | None) -> Audit | None:
    """The relaxed audit; None where its numbers are longer than certificates hold."""
    try:
        return ask(seconds)
    except InputError:
        return None


def _with_nearby(
    problem: Problem,
    network: Network,
    known: dict[Question, Finding],
    allowed: Fraction,
    deadline: float | None,
    left_out: LeftOut,
) -> tuple[dict[Question, Finding], bool]:
    """The findings with what is known of the exact KKT point near the network, or that none was looked for.

    And whether that is all there is to know: not where more time might have found such a point.
    """
    step = "the search for an exact KKT point near the network"
    if not lacks_exact_point(known, allowed):
        return known, True
    if left_out.is_interrupted or is_late(deadline):
        reason = INTERRUPTED if left_out.is_interrupted else LATE
        left_out.add(step, reason)
        is_told = known[Question.STATIONARY].reason == INTERRUPTED
        return known if is_told else without_nearby(known, reason), False
    end = share(deadline, 0.5)
    found = left_out.attempt(
        step,
        partial(strengthened, problem, network, known, allowed, end),
        partial(without_nearby, known),
        deadline,
    )
    return found, not (left_out.has(step) or is_late(end))


def _open_subject(subject: Network, reason: str) -> Subject:
    return Subject(subject, Proposal(reason=reason))


def _stationary(problem: Problem, network: Network, proposal: Proposal, allowed: Fraction) -> Finding:
    finding = decide(Question.STATIONARY, problem, network, proposal, allowed)
    if proposal.beside is None:
        return finding
    return replace(finding, certificates=(*finding.certificates, proposal.beside))


def _bracket(
    problem: Problem,
    network: Network | None,
    subject: Network | None,
    *,
    tol: float,
    deadline: float | None,
    progress: Callable[[Progress], None] | None,
    earlier: WarmStart | None,
) -> Bracket:
    """The bracket, as narrow as `tol` and, where the subject is near the edge of "within tol", as narrow as that takes.

    An arithmetic failure of the float solvers leaves it open.
    """
    gap = max(tol, SMALLEST_GAP)
    search = partial(bracket_optimum, problem, network, subject=subject, deadline=deadline, on_progress=progress)
    try:
        with np.errstate(all="ignore"):
            found = search(tol=gap, warm_start=earlier)
    except FLOAT_FAILURES as error:
        return Bracket(lower=None, upper=None, witnesses=(), status=f"failed ({_sentence(error)})", history=())
    while gap > SMALLEST_GAP and _is_at_the_edge(problem, subject, found, tol) and not is_late(deadline):
        gap = max(gap / 100, SMALLEST_GAP)
        try:
            with np.errstate(all="ignore"):
                again = search(tol=gap, warm_start=_known(found))
        except FLOAT_FAILURES:
            break
        status = again.status if again.status in ("time", "interrupted") else found.status
        found = replace(again, status=status, history=(*found.history, *again.history))
    return found


def _is_at_the_edge(problem: Problem, subject: Network | None, found: Bracket, tol: float) -> bool:
    """Whether a finished search leaves it open that the subject is within `tol` of the best."""
    mine = None if subject is None else objective(problem, subject)
    lower, upper = found.ends
    if found.status != "optimal" or mine is None or lower is None or upper is None:
        return False
    return lower < mine / (1 + Fraction(tol)) <= upper


def _without_gap(
    problem: Problem,
    subject: Network,
    stationary: Finding,
    found: Bracket,
    tolerance: Fraction,
    deadline: float | None,
) -> Bracket:
    """The bracket; with a bound that is the subject's objective, where the question is sharper than floats."""
    is_sharp = tolerance < Fraction(SMALLEST_GAP) and _is_at_the_edge(problem, subject, found, float(tolerance))
    if (
        not is_sharp
        or stationary.verdict is not Verdict.PROVED
        or stationary.level == "approximate"
        or is_late(deadline)
    ):
        return found
    from verify.deciders.closed_forms.gapless import gapless_bound

    multipliers = next((c.multipliers for c in stationary.certificates if isinstance(c, Stationary)), ())
    try:
        with np.errstate(all="ignore"):
            lower = gapless_bound(problem, subject, multipliers)
    except FLOAT_FAILURES:
        return found
    return found if lower is None else replace(found, lower=lower)


def _known(found: Bracket) -> WarmStart:
    """What a search found, for the next one."""
    multipliers = () if found.lower is None else found.lower.multipliers
    return WarmStart(lower=found.lower, multipliers=multipliers, witnesses=found.witnesses)


def _proposed(search: Callable[[], Proposal]) -> Proposal:
    """What a decider's search proposes; that it failed leaves the question open."""
    try:
        with np.errstate(all="ignore"):
            return search()
    except FLOAT_FAILURES as error:
        return Proposal(reason=f"the floating-point search failed ({_sentence(error)})")


def _infeasibility(problem: Problem, deadline: float | None) -> Infeasible | None:
    try:
        with np.errstate(all="ignore"):
            return within(deadline, partial(infeasibility, problem))
    except FLOAT_FAILURES:
        return None


def _diagnosis(
    problem: Problem, network: Network, subject: Network | None, bracket: Bracket, stationary: Finding
) -> Diagnosis | None:
    is_stationary = stationary.verdict is Verdict.PROVED
    try:
        found = diagnose(problem, network, subject, bracket, is_stationary=is_stationary)
        return None if found is None else found.placed(network.surroundings)
    except FLOAT_FAILURES:
        return None


def _closed_form(problem: Problem, network: Network, deadline: float | None, left_out: LeftOut) -> Symbolic:
    """The search for a formula, or that it was interrupted, or would come after an interruption."""
    if left_out.is_interrupted:
        return _no_closed_form(INTERRUPTED)
    return left_out.attempt(
        "the closed form", partial(_symbolic, problem, network, deadline), _no_closed_form, deadline
    )


def _symbolic(problem: Problem, network: Network, deadline: float | None) -> Symbolic:
    from verify.deciders.closed_forms import find_closed_forms

    if is_late(deadline):
        return _no_closed_form("no time was left for the search")
    try:
        with np.errstate(all="ignore"):
            return find_closed_forms(problem, network)
    except FLOAT_FAILURES as error:
        return _no_closed_form(f"the search failed ({_sentence(error)})")


def _no_closed_form(reason: str) -> Symbolic:
    from verify.deciders.closed_forms import Symbolic

    return Symbolic(reason=reason)


def _sentence(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"[:200]


def certified_bracket(
    problem: Problem, tol: float = 1e-6, time_limit: float | None = None, network: Network | None = None
) -> Bracket:
    """The bracket of the best objective over all widths, without an audit of a network."""
    instance_of(Problem, problem, "problem", "give a Problem, such as pose(network, data) makes")
    seconds, gap = a_time_limit(time_limit), float(a_tolerance(tol, "tol"))
    deadline = None if seconds is None else now() + seconds
    return _bracket(problem, network, None, tol=gap, deadline=deadline, progress=None, earlier=None)


def _fits(problem: Problem, network: Network, subject: Network | None, *, is_farther: bool = False) -> Finding:
    """Whether the network fits: proved of `subject`, which does (the given one or near it); refuted where it is None.

    is_farther: whether a network that fits was found, but not near enough.
    """
    values = outputs(problem, network)
    targets = problem.data.targets
    if has_margin(problem.goal):
        margins = [value * y for value, y in zip(values, targets, strict=True)]
        if subject is not None:
            return _fit(problem, network, Fits(margin=_held(min(margins))), "every point is classified correctly")
        wrong = [i for i, margin in enumerate(margins) if margin <= 0]
        worst = min(wrong, key=lambda i: margins[i])
        are = "is" if len(wrong) == 1 else "are"
        missed = f"{len(wrong)} of {count(len(margins), 'point')} {are} not classified correctly"
        reason = f"{missed}, worst is {_point(worst)}"
    elif subject is network:
        largest = max(abs(value - y) for value, y in zip(values, targets, strict=True))
        return _fit(problem, network, Fits(margin=Fraction(0)), _met(problem, largest))
    elif subject is not None:
        moved = distance(subject, network)
        certificate = Fits(subject=subject.parameters, moved=moved, margin=Fraction(0))
        reason = f"every target is met exactly after moving the weights by at most {small(moved)} of their norm"
        return _fit(problem, network, certificate, reason)
    else:
        residuals = [abs(value - y) for value, y in zip(values, targets, strict=True)]
        worst = max(range(len(residuals)), key=lambda i: residuals[i])
        why = (
            "the exact repair that was found is too far from it"
            if is_farther
            else "no network near it that fits was found"
        )
        reason = f"the largest residual is {about(residuals[worst], 3)}, at {_point(worst)}; {why}"
        reason += f"; --fit-tol {at_most(residuals[worst], 2)} takes it as fitting within that"
    return _fit(problem, network, DoesNotFit(point=worst), reason)


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
    return f"every target is met within {kept(problem.fit_tolerance)}; the largest residual is {at_most(largest, 3)}"


def _up_to_rounding(problem: Problem, network: Network) -> tuple[Problem, OutputRounding] | None:
    """The problem within what the rounding of the outputs explains, when no target is missed by more (min-norm)."""
    found = output_rounding(problem, network) if not has_margin(problem.goal) else None
    if found is None:
        return None
    other = problem.within(found.bound)
    return None if objective(other, network) is None else (other, found)


def _rounding_note(within: OutputRounding) -> str:
    return (
        f"fits within {short(within.bound)}, the rounding of its outputs in {within.precision}, and is asked about "
        "with that tolerance (--fit-tol gives another one; 0 asks for exact targets)"
    )


def _fit(problem: Problem, network: Network, certificate: Certificate, reason: str) -> Finding:
    proposal = Proposal(certificate=certificate, reason=reason)
    return decide(Question.FITS, problem, network, proposal)


def _point(index: int) -> str:
    return f"point {index} (counting from 0)"


def _not_fitting(problem: Problem, network: Network, fits: Finding) -> dict[Question, Finding]:
    rest = [q for q in Question if q is not Question.FITS]
    if not fits.certificates:
        return {q: undecided(q, "it is not known whether the network fits") for q in rest}
    return {q: _follows(q, problem, network, fits, "it does not fit the data") for q in rest}


def _infeasible(
    problem: Problem,
    network: Network,
    certificate: Infeasible,
    fits: Finding,
    tolerance: Fraction,
    notes: tuple[str, ...],
    began: float,
) -> Audit:
    if not has_margin(problem.goal):  # no repair was to be found
        fits = replace(fits, reason=f"{fits.reason.partition('; ')[0]}; no network fits the data")
    rest = _not_fitting(problem, network, fits)
    audit_ = _assemble(problem, network, fits, rest, None, None, tolerance, notes, began)
    return replace(audit_, infeasible=True, bounds=(certificate,), status="infeasible")


def _with_dimension(problem: Problem, network: Network, stationary: Finding) -> Finding:
    """The finding with the dimension of the set of multipliers, of an exact KKT point."""
    if stationary.verdict is not Verdict.PROVED or stationary.level == "approximate":
        return stationary
    try:
        with np.errstate(all="ignore"):
            dimension = multiplier_dimension(problem, stationary.subject or network)
    except FLOAT_FAILURES:
        return stationary
    known = {} if dimension is None else {"multiplier_dimension": Fraction(dimension)}
    return replace(stationary, numbers={**stationary.numbers, **known})


def _follows(
    question: Question,
    problem: Problem,
    network: Network,
    known: Finding,
    reason: str,
    within: Fraction = Fraction(0),
) -> Finding:
    """The answer that the certificate of another one gives as well."""
    proposal = Proposal(certificate=known.certificates[0], reason=reason)
    return decide(question, problem, network, proposal, within)


def _local_and_global(
    problem: Problem,
    network: Network,
    known: dict[Question, Finding],
    tolerance: Fraction,
    deadline: float | None,
) -> dict[Question, Finding]:
    """Whether it is a local optimum; where it is none, what follows for the global questions that are open."""
    return _with_global(problem, network, known, _local(problem, network, known, deadline), tolerance)


def _refuted_exactly(
    problem: Problem,
    network: Network,
    known: dict[Question, Finding],
    subject: Network,
    tolerance: Fraction,
    deadline: float | None,
) -> dict[Question, Finding]:
    """What follows where stationarity holds within its tolerance only, or is open, and is exactly refuted."""
    local = local_without_exact_point(problem, network, known, subject, deadline)
    if local is known[Question.LOCAL_OPTIMUM]:
        return {}
    return _with_global(problem, network, known, local, tolerance)


def _with_global(
    problem: Problem, network: Network, known: dict[Question, Finding], local: Finding, tolerance: Fraction
) -> dict[Question, Finding]:
    """What is found of local optimality, and what follows of it for the global questions that are open."""
    found = {Question.LOCAL_OPTIMUM: local}
    for question in (Question.GLOBAL_OPTIMUM, Question.GLOBAL_ANY_WIDTH):
        if known[question].verdict is Verdict.UNDECIDED and local.verdict is Verdict.REFUTED:
            found[question] = _not_global(question, problem, network, local, known[question], tolerance)
    return found


def _not_global(
    question: Question, problem: Problem, network: Network, local: Finding, before: Finding, tolerance: Fraction
) -> Finding:
    """The global question of a network that is no local optimum: better ones lie near, which are better by little.

    Refuted within 0; within more when the end of the descent is better by that much; else open, as `before`.
    """
    is_descent = isinstance(local.certificates[0], NotLocal)
    lie = "better networks of the same architecture lie arbitrarily near"
    reason = lie if is_descent else f"it is not stationary, so that {lie}"
    refuted = _follows(question, problem, network, local, reason, tolerance)
    if refuted.verdict is not Verdict.UNDECIDED:
        return replace(refuted, numbers={"tolerance": Fraction(0)})
    if isinstance(proof := local.certificates[0], NotLocal):
        end = end_of_descent(problem, network, proof)
        subject = local.subject or network
        better = better_network(problem, network, subject, [end], tolerance, own_width=True)
        if better is not None:
            proposal = _better_proposal(problem, subject, better, tolerance)
            return decide(question, problem, network, proposal, tolerance)
    return replace(
        before, reason=f"{before.reason}; {lie}, but none that is better by more than the tolerance is known"
    )


def _local(problem: Problem, network: Network, known: dict[Question, Finding], deadline: float | None) -> Finding:
    """What follows from the other answers first, then a decision about exact KKT points."""
    question, stationary = Question.LOCAL_OPTIMUM, known[Question.STATIONARY]
    if stationary.verdict is Verdict.REFUTED:
        return _follows(question, problem, network, stationary, "it is not even stationary")
    best = known[Question.GLOBAL_ANY_WIDTH]
    if best.verdict is Verdict.PROVED:
        local = _follows(question, problem, network, best, "no network at all is better")
        if local.verdict is Verdict.PROVED:
            return local
    if stationary.verdict is Verdict.UNDECIDED:
        return undecided(question, "it is not known whether the network is stationary")
    if stationary.level == "approximate":
        return undecided(question, "it satisfies the KKT conditions nearly, and whether exactly is not known")
    subject = stationary.subject or network
    proposal = _proposed(partial(local_optimality, problem, subject, network, deadline=deadline))
    return decide(question, problem, network, proposal)


def _global(
    problem: Problem, network: Network, subject: Network, bracket: Bracket, tolerance: Fraction
) -> dict[Question, Finding]:
    own, wide = Question.GLOBAL_OPTIMUM, Question.GLOBAL_ANY_WIDTH
    numbers = {"tolerance": tolerance}
    if bracket.lower is not None:
        proof = optimal_within(problem, network, subject, bracket.lower, tolerance)
        if proof is not None:
            reason = f"no network of {any_width(problem)} is better by more than a factor 1 + {allowed(tolerance)}"
            proposal = Proposal(certificate=proof, reason=reason, numbers=numbers)
            return {q: decide(q, problem, network, proposal, tolerance) for q in (own, wide)}
    found: dict[Question, Finding] = {}
    for question, own_width in ((own, True), (wide, False)):
        poll()
        better = better_network(problem, network, subject, bracket.witnesses, tolerance, own_width=own_width)
        if better is None:
            continue
        proposal = _better_proposal(problem, subject, better, tolerance)
        found[question] = decide(question, problem, network, proposal, tolerance)
    for question in (own, wide):
        if question not in found:
            found[question] = undecided(question, _why_open(question, found, bracket), numbers)
    return found


def _better_proposal(problem: Problem, subject: Network, better: BetterNetwork, tolerance: Fraction) -> Proposal:
    value, mine = objective(problem, better.witness), objective(problem, subject)
    saved = f": its objective is {lower_by(value, mine)}" if value is not None and mine else ""
    neurons = better.witness.architecture.layers[0].outputs
    reason = f"a network of {count(neurons, 'neuron')} fits and is better{saved}"
    return Proposal(certificate=better, reason=reason, numbers={"tolerance": tolerance})


def _why_open(question: Question, found: dict[Question, Finding], bracket: Bracket) -> str:
    wider = found.get(Question.GLOBAL_ANY_WIDTH)
    if question is Question.GLOBAL_OPTIMUM and wider is not None and wider.verdict is Verdict.REFUTED:
        return "a wider network is better; a search at this network's own width is not available yet"
    why = {"time": "the time limit was reached", "interrupted": "the search was interrupted"}
    if bracket.status.startswith("failed"):
        return f"the floating-point search {bracket.status}"
    if bracket.status in why:
        return f"{why[bracket.status]} before the bracket was narrow enough"
    return "the search could not narrow the bracket far enough"


def _status(bracket: Bracket | None, ends: tuple[Fraction, Fraction] | None, tolerance: Fraction, best: Finding) -> str:
    """How the audit ended: "done" only when the bracket is as narrow as asked, else why it is not."""
    if bracket is None:
        return f"stalled ({best.reason})"
    if bracket.status not in ("optimal", "stalled"):
        return bracket.status
    if ends is None:
        missing = [name for name, end in zip(("lower", "upper"), bracket.ends, strict=True) if end is None]
        return f"stalled (no {' and no '.join(missing)} end of the bracket was proved)"
    lower, upper = ends
    if upper <= (1 + tolerance) * lower:
        return "done"
    if not lower:
        return "stalled (the lower end of the bracket is 0, and the upper one is not)"
    wide = f"the bracket is {at_most(upper / lower - 1, 3)} wide (relative)"
    return f"stalled ({wide}, and {about(tolerance, 6)} was asked)"


def _assemble(
    problem: Problem,
    network: Network,
    fits: Finding,
    rest: dict[Question, Finding],
    mine: Fraction | None,
    bracket: Bracket | None,
    tolerance: Fraction,
    notes: tuple[str, ...],
    began: float,
    diagnosis: Diagnosis | None = None,
) -> Audit:
    rest = consistent(problem, network, {**rest, Question.FITS: fits})
    lower, upper = (None, None) if bracket is None else bracket.ends
    both, excess = map(Interval.of, bracket_and_excess(lower, upper, mine))
    better = own = None
    known = () if bracket is None else zip(bracket.witnesses, bracket.objectives, strict=True)
    for witness, value in known:
        if mine is not None and value >= mine:
            continue
        better = better or witness
        own = own or (witness if is_no_wider(problem, witness) else None)
    for proof in rest[Question.GLOBAL_OPTIMUM].certificates:
        if own is None and isinstance(proof, BetterNetwork):
            own = Network.of(proof.witness)
    better, own = (None if found is None else found.placed(network.surroundings) for found in (better, own))
    bounds: list[Certificate] = []
    if bracket is not None:
        bounds = [c for c in (bracket.lower, bracket.upper) if c is not None]
    return Audit(
        problem=problem,
        network=network,
        objective=mine,
        fits=rest[Question.FITS],
        stationary=rest[Question.STATIONARY],
        local_optimum=rest[Question.LOCAL_OPTIMUM],
        global_optimum=rest[Question.GLOBAL_OPTIMUM],
        global_any_width=rest[Question.GLOBAL_ANY_WIDTH],
        bracket=both,
        excess=excess,
        better=better,
        better_own_width=own,
        infeasible=False,
        tolerance=tolerance,
        status=_status(bracket, both, tolerance, rest[Question.GLOBAL_ANY_WIDTH]),
        seconds=now() - began,
        bounds=tuple(bounds),
        notes=notes,
        history=() if bracket is None else bracket.history,
        diagnosis=diagnosis,
    )
