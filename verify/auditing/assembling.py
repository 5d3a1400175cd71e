"""What the steps found, as the record of the audit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import assert_never

from solvers.instance import SearchStatus
from verify.auditing.asked import Asked
from verify.auditing.clock import Clock
from verify.auditing.consistency import consistent
from verify.auditing.record import Audit
from verify.auditing.steps import Known
from verify.checker.bounds import LowerBound
from verify.checker.certificate import Certificate
from verify.checker.derived import bracket_and_excess
from verify.checker.distances import distance_to_best
from verify.checker.exact import is_rational
from verify.checker.optimal import BetterNetwork
from verify.deciders.finding import Ending, Finding, Question, undecided
from verify.deciders.global_optimality.at_width import AtWidth, WidthStatus
from verify.deciders.global_optimality.better import is_no_wider
from verify.deciders.global_optimality.record import Bracket
from verify.deciders.own_width.record import WidthBracket
from verify.deciders.time_limits import now
from verify.diagnosis import Diagnosis, explained_by
from verify.numbers.decimals import at_most, open_at
from verify.numbers.intervals import Interval
from verify.problem.network import Network
from verify.problem.problem import objective

__all__ = ["assembled"]


def assembled(asked: Asked, clock: Clock, found: Known) -> Audit:
    """The audit of what was found, with a closed form in place of the bracket."""
    known = {question: undecided(question, "it was not asked") for question in Question} | dict(found.findings)
    findings = consistent(asked.problem, asked.network, known)
    bracket, mine = found.bracket, found.subject.objective
    lower, upper = (None, None) if bracket is None else bracket.ends
    both, excess = map(Interval.of, bracket_and_excess(lower, upper, mine))
    better, own = _better(asked, found, findings)
    own_bracket, own_excess = map(Interval.of, _own_width(asked, found, own))
    if found.at_width is None:
        ending, reason = _ending(bracket, both, asked.terms.tol, findings[Question.GLOBAL_ANY_WIDTH])
    else:
        own_bracket, own_excess = map(Interval.of, bracket_and_excess(*found.at_width.ends, mine))
        ending, reason = _ending_at_width(found.at_width, own_bracket, asked.terms.tol)
    if found.infeasible is not None:
        ending, reason = Ending.INFEASIBLE, ""
    elif clock.is_interrupted or (found.relaxed is not None and found.relaxed.ending is Ending.INTERRUPTED):
        ending, reason = Ending.INTERRUPTED, ""
    left_out = () if found.infeasible is not None else tuple(clock.notes())
    audited = Audit(
        problem=asked.problem,
        network=asked.network,
        objective=mine,
        fits=findings[Question.FITS],
        stationary=findings[Question.STATIONARY],
        local_optimum=findings[Question.LOCAL_OPTIMUM],
        global_optimum=findings[Question.GLOBAL_OPTIMUM],
        global_any_width=findings[Question.GLOBAL_ANY_WIDTH],
        bracket=both,
        excess=excess,
        better=better,
        better_own_width=own,
        bracket_own_width=own_bracket,
        excess_own_width=own_excess,
        distance_own_width=_distance(asked, found, own_bracket),
        infeasible=found.infeasible is not None,
        tolerance=asked.terms.tol,
        stationary_tolerance=asked.stationary_tolerance,
        ending=ending,
        ending_reason=reason,
        seconds=now() - clock.began,
        bounds=tuple(_bounds(found)),
        notes=(*asked.notes, *found.notes, *left_out),
        history=() if bracket is None else bracket.history,
        diagnosis=found.diagnosis,
        symbolic=found.symbolic,
        relaxed=found.relaxed,
    )
    return _closed(audited) if found.is_open else audited


def _distance(asked: Asked, found: Known, bracket: Interval | None) -> Interval | None:
    """How far the given network is from the nearest best one of its width, where the lower bound says."""
    lower = None if found.at_width is None else found.at_width.lower
    if lower is None or bracket is None:
        return None
    return Interval.of(distance_to_best(asked.problem, asked.network, lower, bracket.upper))


def _better(asked: Asked, found: Known, findings: dict[Question, Finding]) -> tuple[Network | None, Network | None]:
    """The best network that is better, of any width, and of at most the given one's."""
    mine = found.subject.objective
    of_width = found.own_width if found.at_width is None else found.at_width
    known, searched = (_below(mine, bracket) for bracket in (found.bracket, of_width))
    narrow = [pair for pair in known if is_no_wider(asked.problem, pair[1])][:1] + searched[:1]
    better = known[0][1] if known else None
    own = min(narrow, key=lambda pair: pair[0])[1] if narrow else None
    better = better or _witness(findings[Question.GLOBAL_ANY_WIDTH])
    own = own or _witness(findings[Question.GLOBAL_OPTIMUM])
    around = asked.network.surroundings
    return None if better is None else better.placed(around), None if own is None else own.placed(around)


def _below(mine: Fraction | None, bracket: Bracket | WidthBracket | AtWidth | None) -> list[tuple[Fraction, Network]]:
    """The networks of a bracket that are better than this objective, in its order."""
    known = () if bracket is None else zip(bracket.objectives, bracket.witnesses, strict=True)
    return [(value, witness) for value, witness in known if mine is None or value < mine]


def _own_width(
    asked: Asked, found: Known, better: Network | None
) -> tuple[tuple[Fraction, Fraction] | None, tuple[Fraction, Fraction] | None]:
    """The bracket and the excess at the network's own width, where a bound of that width is proved."""
    lower = None if found.own_width is None else found.own_width.ends[0]
    known = found.bracket
    ends = [] if better is None else [objective(asked.problem, better)]
    if known is not None and known.upper is not None and is_no_wider(asked.problem, Network.of(known.upper.witness)):
        ends.append(known.ends[1])
    mine = found.subject.objective
    return bracket_and_excess(lower, min(filter(None, (*ends, mine)), default=None), mine)


def _witness(finding: Finding) -> Network | None:
    """The better network of a finding that has one."""
    proofs = (proof for proof in finding.certificates if isinstance(proof, BetterNetwork))
    return next((Network.of(proof.witness) for proof in proofs), None)


def _bounds(found: Known) -> Iterator[Certificate]:
    """What proves the bracket, or that there is none."""
    if found.infeasible is not None:
        yield found.infeasible
    if found.bracket is not None:
        yield from (end for end in (found.bracket.lower, found.bracket.upper) if end is not None)
    if found.own_width is not None:
        yield from (proof for proof in (found.own_width.lower, found.own_width.nothing) if proof is not None)
    if found.at_width is not None:
        known = found.at_width
        yield from (proof for proof in (known.lower, known.upper, known.nothing) if proof is not None)


def _ending(
    bracket: Bracket | None, ends: tuple[Fraction, Fraction] | None, tolerance: Fraction, best: Finding
) -> tuple[Ending, str]:
    """How the audit ended: done only when the bracket is as narrow as asked, else why it is not."""
    if bracket is None:
        return Ending.STALLED, best.reason
    match bracket.status:
        case SearchStatus.TIME:
            return Ending.TIME, bracket.reason
        case SearchStatus.INTERRUPTED:
            return Ending.INTERRUPTED, bracket.reason
        case SearchStatus.FAILED:
            return Ending.FAILED, bracket.reason
        case SearchStatus.OPTIMAL | SearchStatus.STALLED:
            return _narrow_enough(bracket.ends, ends, tolerance)
        case other:
            assert_never(other)


def _narrow_enough(
    known: tuple[Fraction | None, Fraction | None], ends: tuple[Fraction, Fraction] | None, tolerance: Fraction
) -> tuple[Ending, str]:
    """Of a search that ended by itself."""
    if ends is None:
        missing = [name for name, end in zip(("lower", "upper"), known, strict=True) if end is None]
        return Ending.STALLED, f"no {' and no '.join(missing)} end of the bracket was proved"
    lower, upper = ends
    if upper <= (1 + tolerance) * lower:
        return Ending.DONE, ""
    if not lower:
        return Ending.STALLED, "the lower end of the bracket is 0, and the upper one is not"
    wide = f"the bracket is {at_most(upper / lower - 1, 3)} wide (relative)"
    return Ending.STALLED, f"{wide}, and {open_at(tolerance)} was asked"


def _ending_at_width(
    at_width: AtWidth, ends: tuple[Fraction, Fraction] | None, tolerance: Fraction
) -> tuple[Ending, str]:
    """The same of an audit that asks about the own width alone."""
    match at_width.status:
        case WidthStatus.INFEASIBLE:
            return Ending.INFEASIBLE, ""
        case WidthStatus.TIME:
            return Ending.TIME, at_width.reason
        case WidthStatus.INTERRUPTED:
            return Ending.INTERRUPTED, at_width.reason
        case WidthStatus.FAILED:
            return Ending.FAILED, at_width.reason
        case WidthStatus.LARGE:
            return Ending.STALLED, "too large for a search at its width"
        case WidthStatus.OPTIMAL | WidthStatus.NODES | WidthStatus.STALLED:
            return _narrow_enough(at_width.ends, ends, tolerance)
        case other:
            assert_never(other)


def _closed(audited: Audit) -> Audit:
    """The audit with the bounds of a rational closed form, which meet, as its bracket."""
    if audited.symbolic is None:
        return audited
    exact, proofs = audited.symbolic.exact, audited.symbolic.certificates
    lower, upper = (proofs.get(f"symbolic-{end}-bound.json") for end in ("lower", "upper"))
    if exact is None or not is_rational(exact) or lower is None or upper is None:
        return audited
    bracket, excess = map(Interval.of, bracket_and_excess(exact, exact, audited.objective))
    if audited.ending is Ending.STALLED:
        audited = replace(audited, ending=Ending.DONE, ending_reason="")
    return replace(
        audited,
        bracket=bracket,
        excess=excess,
        bounds=(lower, upper),
        diagnosis=_explained(audited, lower, exact),
    )


def _explained(audited: Audit, lower: Certificate, best: Fraction) -> Diagnosis | None:
    """The diagnosis, with the excess as the bound of the closed form splits it, and the ladder over the best value."""
    found, judged = audited.diagnosis, audited.fits.subject or audited.network
    if found is None or not isinstance(lower, LowerBound):
        return found
    return explained_by(found, audited.problem, judged, lower, (best, best))
