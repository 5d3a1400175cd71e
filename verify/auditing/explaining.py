"""What comes after the five questions: what is wrong with the network, and the best objective as a formula."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

from verify.auditing.asked import Asked
from verify.auditing.beaten import beaten_by
from verify.auditing.clock import INTERRUPTED, Clock
from verify.auditing.concluding import GLOBAL_QUESTIONS
from verify.auditing.steps import Known, Step, unless_floats_fail
from verify.checker.bounds import LowerBound, UpperBound
from verify.checker.exact import is_rational, sqrt_upper, squared_norm
from verify.deciders.finding import Question, Verdict, decide, undecided
from verify.deciders.global_optimality.better import none_is_better
from verify.diagnosis import diagnose
from verify.diagnosis.ladder import rescaled
from verify.problem.network import Network
from verify.problem.phrases import of_width
from verify.problem.problem import Problem

if TYPE_CHECKING:
    from verify.deciders.closed_forms import Symbolic

__all__ = ["CLOSED_FORM", "DIAGNOSIS"]

FINE_BITS = 300
"""To so many bits a network is balanced that shows what a formula says."""

NO_RATIONAL_ONE = (
    "the closed form is below its objective by more than the tolerance, but no network of rational weights that is was "
    "written down"
)


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
    if found.infeasible is not None:
        formula = _no_formula("no network fits the data")
    elif not asked.problem.asks_any_width:
        formula = _no_formula(_why_no_formula_at_width(asked, found))
    elif clock.is_interrupted:
        formula = _no_formula(INTERRUPTED)
    else:
        formula = clock.attempt(FORMULA, partial(_formula, asked, clock), _no_formula, clock.deadline)
    return _with_answers(asked, replace(found, symbolic=formula))


def _why_no_formula_at_width(asked: Asked, found: Known) -> str:
    if found.own_width is not None and found.own_width.nothing is not None:
        return f"no network of {of_width(asked.problem)} fits the data"
    if found.subject.network is None and (found.own_width is None or not found.own_width.witnesses):
        return f"it is not known whether a network of {of_width(asked.problem)} fits the data"
    return "with given output weights the best objective is a rational number, which needs no formula"


def _with_answers(asked: Asked, found: Known) -> Known:
    """With the global questions that the bracket left open and the formula answers.

    A better network of rational weights is one that has the value of the formula but for the balance of its neurons,
    balanced to `FINE_BITS`; where the weights are not rational the question stays open, and says so.
    """
    open_ones = [found.findings[q] for q in GLOBAL_QUESTIONS if found.findings[q].verdict is Verdict.UNDECIDED]
    symbolic, subject, mine = found.symbolic, found.subject, found.subject.objective
    if symbolic is None or symbolic.exact is None or subject.network is None or mine is None or not open_ones:
        return found
    lower, upper = (symbolic.certificates.get(f"symbolic-{end}-bound.json") for end in ("lower", "upper"))
    problem, network, tolerance = asked.problem, asked.network, asked.terms.tol
    if isinstance(lower, LowerBound) and is_rational(symbolic.exact):
        proposal = none_is_better(problem, network, subject.network, lower, tolerance)
        if proposal is not None:
            return found.with_findings(
                *(decide(finding.question, problem, network, proposal, tolerance) for finding in open_ones)
            )
    for finding in open_ones:
        own_width = finding.question is Question.GLOBAL_OPTIMUM
        known = [_finely_balanced(problem, upper)] if isinstance(upper, UpperBound) else []
        beaten = beaten_by(finding.question, subject, filter(None, known), tolerance, own_width=own_width)
        if beaten is None and mine > symbolic.exact * (1 + tolerance):
            beaten = undecided(finding.question, NO_RATIONAL_ONE, finding.numbers)
        if beaten is not None:
            found = found.with_findings(beaten)
    return found


def _finely_balanced(problem: Problem, upper: UpperBound) -> Network | None:
    """The witness with |v| = |w| for each neuron, nearly; None where its weights are not rational."""
    witness = Network.of(upper.witness)
    if not all(map(is_rational, (w for layer in witness.parameters for w in layer))):
        return None
    factors: list[Fraction] = []
    for w, v in zip(witness.hidden_weights, witness.output_weights, strict=True):
        size = squared_norm(w[c] for c in problem.norm_columns)
        ratio = v * v / size if size and v else Fraction(1)
        factors.append(sqrt_upper(sqrt_upper(ratio, FINE_BITS), FINE_BITS))
    return rescaled(witness, factors)


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
