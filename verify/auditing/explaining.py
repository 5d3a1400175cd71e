"""What comes after the five questions: what is wrong with the network, and the best objective as a formula."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from verify.auditing.asked import Asked
from verify.auditing.clock import INTERRUPTED, Clock
from verify.auditing.steps import Known, Step, unless_floats_fail
from verify.deciders.finding import Question, Verdict
from verify.diagnosis import diagnose

if TYPE_CHECKING:
    from verify.deciders.closed_forms import Symbolic

__all__ = ["CLOSED_FORM", "DIAGNOSIS"]


def _diagnosed(asked: Asked, _: Clock, found: Known) -> Known:
    is_stationary = found.findings[Question.STATIONARY].verdict is Verdict.PROVED
    known = found.bracket if asked.problem.asks_any_width else found.own_width
    search = partial(
        diagnose,
        asked.problem,
        asked.network,
        found.subject.network,
        known,
        is_stationary=is_stationary,
        improved=found.improved,
    )
    diagnosis = unless_floats_fail(search, lambda _: None)
    return replace(found, diagnosis=None if diagnosis is None else diagnosis.placed(asked.network.surroundings))


def _with_formula(asked: Asked, clock: Clock, found: Known) -> Known:
    """With the formula, or that the search for it was interrupted, or would come after an interruption."""
    if not asked.problem.asks_any_width:
        formula = _no_formula(
            "with given output weights the best objective is a rational number, which needs no formula"
        )
    elif found.infeasible is not None:
        formula = _no_formula("no network fits the data")
    elif clock.is_interrupted:
        formula = _no_formula(INTERRUPTED)
    else:
        formula = clock.attempt(FORMULA, partial(_formula, asked, clock), _no_formula, clock.deadline)
    return replace(found, symbolic=formula)


def _formula(asked: Asked, clock: Clock) -> Symbolic:
    from verify.deciders.closed_forms import find_closed_forms

    if clock.is_late:
        return _no_formula("no time was left for the search")
    search = partial(find_closed_forms, asked.problem, asked.network)
    return unless_floats_fail(search, lambda why: _no_formula(f"the search failed ({why})"))


def _no_formula(reason: str) -> Symbolic:
    from verify.deciders.closed_forms import Symbolic

    return Symbolic(reason=reason)


DIAGNOSIS = Step(
    name="what is wrong with the network",
    accepts=lambda _, found: found.is_open,
    run=_diagnosed,
    without=lambda _, found, __: found,
    end=lambda clock: clock.with_grace(clock.deadline),
)

FORMULA = "the closed form"

CLOSED_FORM = Step(name=FORMULA, accepts=lambda asked, _: asked.terms.symbolic, run=_with_formula)
