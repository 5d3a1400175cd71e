"""What the steps found, as the record of the audit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from solvers.instance import SearchStatus
from verify.auditing.asked import Asked
from verify.auditing.clock import Clock
from verify.auditing.consistency import consistent
from verify.auditing.endings import ending_of, narrow_enough
from verify.auditing.record import Audit
from verify.auditing.steps import Known
from verify.checker.bounds import LowerBound, UpperBound
from verify.checker.certificate import Certificate
from verify.checker.depth import power_objective, power_of
from verify.checker.depth_bounds import power_bracket, rooted
from verify.checker.distances import distance_to_best
from verify.checker.exact import is_rational
from verify.checker.fit import rounded_up
from verify.checker.objectives import ZERO
from verify.checker.optimal import BetterNetwork
from verify.checker.told import bracket_and_excess
from verify.checker.width import InfeasibleWidth, LowerBoundWidth
from verify.deciders.depth.record import PowerBounds
from verify.deciders.finding import Ending, Finding, Question, undecided
from verify.deciders.global_optimality.better import is_no_wider
from verify.deciders.global_optimality.record import Bracket
from verify.deciders.own_width.record import WidthBracket
from verify.deciders.time_limits import now
from verify.diagnosis import Diagnosis, explained_by
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
    rounded = rounded_up(asked.problem, found.subject.network) if found.subject.network is not None else ZERO
    both, excess = map(Interval.of, bracket_and_excess(lower, upper, mine, rounded))
    better, own = _better(asked, found, findings)
    own_bracket, own_excess = map(Interval.of, _own_width(asked, found, own))
    if asked.problem.asks_any_width:
        searched, ends, question = bracket, both, Question.GLOBAL_ANY_WIDTH
    else:
        searched, ends, question = found.own_width, own_bracket, Question.GLOBAL_OPTIMUM
    ending, reason = ending_of(searched, ends, asked.terms.tol, findings[question].reason)
    if found.powers is not None:
        both, excess = map(Interval.of, _rooted(asked, found, found.powers))
        ending, reason = _ending_of_powers(found.powers, both, asked.terms.tol)
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
        layers=found.layers,
    )
    return _closed(audited) if found.is_open else audited


def _distance(asked: Asked, found: Known, bracket: Interval | None) -> Interval | None:
    """How far the given network is from the nearest best one of its width, where the lower bound says."""
    lower = None if found.own_width is None else found.own_width.lower
    if lower is None or bracket is None or asked.problem.asks_any_width:
        return None
    return Interval.of(distance_to_best(asked.problem, asked.network, lower, bracket.upper))


def _rooted(
    asked: Asked, found: Known, known: PowerBounds
) -> tuple[tuple[Fraction, Fraction] | None, tuple[Fraction, Fraction] | None]:
    """The bracket and the excess of networks of other depths, whose roots are rounded outward."""
    judged = found.subject.network
    mine = None if judged is None else power_objective(asked.problem, judged)
    ends = power_bracket(asked.problem, {proof.KIND: proof for proof in known.proofs}, mine)
    return (None, None) if ends is None else rooted(asked.problem, *ends, mine)


def _ending_of_powers(
    known: PowerBounds, ends: tuple[Fraction, Fraction] | None, tolerance: Fraction
) -> tuple[Ending, str]:
    """The same of those networks."""
    if known.status is SearchStatus.TIME:
        return Ending.TIME, ""
    lower, upper = ends or (None, None)
    return narrow_enough((lower, upper), ends, tolerance)


def _better(asked: Asked, found: Known, findings: dict[Question, Finding]) -> tuple[Network | None, Network | None]:
    """The best network that is better, of any width, and of at most the given one's.

    At other depths by more than the tolerance: the search rounds what it found, and a float optimum is not one exactly.
    """
    mine = found.subject.objective
    if found.powers is not None and found.subject.network is not None:
        power = power_objective(asked.problem, found.subject.network)
        if power is not None:
            power = power * (1 / (1 + asked.terms.tol) ** power_of(asked.problem))
        shapes = (None, asked.problem.architecture)
        rivals = (next(iter(found.powers.below(power, shape)), None) for shape in shapes)
        better, own = (None if rival is None else rival.placed(asked.network.surroundings) for rival in rivals)
        return better, own
    known, searched = (_below(mine, bracket) for bracket in (found.bracket, found.own_width))
    narrow = [pair for pair in known if is_no_wider(asked.problem, pair[1])][:1] + searched[:1]
    better = known[0][1] if known else None
    own = min(narrow, key=lambda pair: pair[0])[1] if narrow else None
    better = better or _witness(findings[Question.GLOBAL_ANY_WIDTH])
    own = own or _witness(findings[Question.GLOBAL_OPTIMUM])
    around = asked.network.surroundings
    return None if better is None else better.placed(around), None if own is None else own.placed(around)


def _below(mine: Fraction | None, bracket: Bracket | WidthBracket | None) -> list[tuple[Fraction, Network]]:
    """The networks of a bracket that are better than this objective, in its order."""
    known = () if bracket is None else zip(bracket.objectives, bracket.witnesses, strict=True)
    return [(value, witness) for value, witness in known if mine is None or value < mine]


def _own_width(
    asked: Asked, found: Known, better: Network | None
) -> tuple[tuple[Fraction, Fraction] | None, tuple[Fraction, Fraction] | None]:
    """The bracket and the excess at the network's own width, where a bound of that width is proved."""
    lower, upper = (None, None) if found.own_width is None else found.own_width.ends
    known = found.bracket
    of_any = None if known is None else known.ends[0]
    if lower is not None and of_any is not None:
        lower = max(lower, of_any)
    ends = [upper, *([] if better is None else [objective(asked.problem, better)])]
    if known is not None and known.upper is not None and is_no_wider(asked.problem, Network.of(known.upper.witness)):
        ends.append(known.ends[1])
    mine = found.subject.objective
    known_ones = (value for value in (*ends, mine) if value is not None)
    return bracket_and_excess(lower, min(known_ones, default=None), mine)


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
    if found.powers is not None:
        yield from found.powers.proofs
    if found.own_width is not None:
        known = found.own_width
        upper = None if found.subject.problem.asks_any_width else known.upper  # that of any width stands for both
        yield from (proof for proof in (known.lower, upper, known.nothing) if proof is not None)


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
    own, own_excess = map(Interval.of, _own_of_closed(audited, upper, exact))
    of_width = (proof for proof in audited.bounds if isinstance(proof, LowerBoundWidth | InfeasibleWidth))
    return replace(
        audited,
        bracket=bracket,
        excess=excess,
        bracket_own_width=own,
        excess_own_width=own_excess,
        bounds=(lower, upper, *of_width),
        diagnosis=_explained(audited, lower, exact),
    )


def _own_of_closed(
    audited: Audit, upper: Certificate, exact: Fraction
) -> tuple[tuple[Fraction, Fraction] | None, tuple[Fraction, Fraction] | None]:
    """The bracket and the excess at the own width, where the best of any width is known exactly."""
    if audited.bracket_own_width is None:
        return None, None
    low, high = audited.bracket_own_width
    is_narrow = isinstance(upper, UpperBound) and is_no_wider(audited.problem, Network.of(upper.witness))
    return bracket_and_excess(max(low, exact), min(high, exact) if is_narrow else high, audited.objective)


def _explained(audited: Audit, lower: Certificate, best: Fraction) -> Diagnosis | None:
    """The diagnosis, with the excess as the bound of the closed form splits it, and the ladder over the best value."""
    found, judged = audited.diagnosis, audited.fits.subject or audited.network
    if found is None or not isinstance(lower, LowerBound):
        return found
    return explained_by(found, audited.problem, judged, lower, (best, best))
