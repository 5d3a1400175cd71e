"""The audit of the relaxed question, beside that of the question asked, and the lower bound that both share."""

from __future__ import annotations

from dataclasses import replace

from solvers.instance import SearchStatus
from verify.auditing.asked import Asked
from verify.auditing.clock import Clock
from verify.auditing.record import Audit
from verify.auditing.relaxing import bound_of_all
from verify.auditing.steps import Known
from verify.checker.bounds import LowerBound
from verify.checker.errors import InputError
from verify.deciders.global_optimality.record import Bracket, lower_end
from verify.diagnosis.ladder import measured

__all__ = ["with_relaxed"]


def with_relaxed(asked: Asked, clock: Clock, found: Known) -> Known:
    """With the audit of the relaxed question, unless the audit was interrupted before it, and with what it proves."""
    if clock.is_interrupted or (found.bracket is not None and found.bracket.status is SearchStatus.INTERRUPTED):
        return replace(found, relaxed=None)
    easier = found.relaxed
    if easier is None and found.ask_relaxed is not None:
        easier = found.ask_relaxed(clock.left())
    if easier is None:
        return found
    found = replace(found, relaxed=easier)
    if found.diagnosis is not None:
        found = replace(found, diagnosis=replace(found.diagnosis, relaxed=easier.diagnosis))
    if found.bracket is None or found.infeasible is not None:
        return found
    raised = _raised(asked, found.bracket, easier)
    if found.diagnosis is not None and raised is not found.bracket:
        ladder = measured(found.diagnosis.ladder, *raised.ends)
        found = replace(found, diagnosis=replace(found.diagnosis, ladder=ladder))
    return replace(found, bracket=raised)


def _raised(asked: Asked, bracket: Bracket, easier: Audit) -> Bracket:
    """The bracket with the bound of the relaxed question as its lower end, where that is the higher one."""
    proof = next((bound for bound in easier.bounds if isinstance(bound, LowerBound)), None)
    if proof is None:
        return bracket
    try:
        lower = bound_of_all(asked.problem, asked.network, easier.problem, proof)
    except InputError:  # of numbers that are longer than certificates hold
        return bracket
    if lower is None or (bracket.lower is not None and lower_end(lower) <= lower_end(bracket.lower)):
        return bracket
    raised = replace(bracket, lower=lower)
    low, high = raised.ends
    is_narrow = low is not None and high is not None and high <= (1 + asked.terms.tol) * low
    return replace(raised, status=SearchStatus.OPTIMAL) if is_narrow and bracket.status is SearchStatus.TIME else raised
