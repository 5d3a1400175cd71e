"""What is said of each layer by itself, the others as they are: a row for each of the two questions."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from verify.checker.exact import squared_norm
from verify.checker.single_layers import LayerBetter, LayerLocal, LayerOptimal
from verify.deciders.finding import Verdict
from verify.deciders.layers.answering import LayerAnswers, LayerFinding
from verify.numbers.decimals import allowed, enclosure
from verify.problem.members import has_margin
from verify.problem.phrases import lower_by
from verify.problem.problem import Problem
from verify.report.audited import Audited

__all__ = ["LAYERS", "layer_rows"]

LAYERS = "each layer by itself, the others as they are (layers are counted from 0)"


def layer_rows(audit: Audited) -> Iterator[tuple[str, Verdict, str, str]]:
    """(layer and question, verdict, level, what is proved); none where layers were not asked about."""
    for one in audit.layers or ():
        name = f"layer {one.layer}"
        yield f"{name}: local optimum", one.local.verdict, _level(one.local), _local(audit.problem, one.local)
        yield f"{name}: global optimum", one.optimal.verdict, _level(one.optimal), _optimal(audit.problem, one)


def _level(finding: LayerFinding) -> str:
    """Whether it is said of a network near the given one, as of one that was repaired."""
    return "near" if finding.certificate is not None and finding.certificate.distance else ""


def _others(problem: Problem) -> str:
    """With which others a layer is compared."""
    return "with no smaller margin" if has_margin(problem.goal) else "that fit"


def _local(problem: Problem, finding: LayerFinding) -> str:
    if finding.certificate is None:
        return finding.reason
    if isinstance(finding.certificate, LayerLocal):
        return f"near it, no parameters of the layer {_others(problem)} have a smaller norm"
    return f"arbitrarily near it, parameters of the layer {_others(problem)} have a smaller norm"


def _optimal(problem: Problem, one: LayerAnswers) -> str:
    match one.optimal.certificate:
        case LayerOptimal() as proof:
            more = f" by more than {allowed(proof.tolerance)} (relative)" if proof.tolerance else ""
            return f"no parameters of the layer {_others(problem)} have a smaller squared norm{more}"
        case LayerBetter() as proof:
            much = lower_by(squared_norm(proof.parameters), one.squared_norm)
            return f"the squared norm of other parameters {_others(problem)} is {much}{_least(one)}"
        case _:
            return f"{one.optimal.reason}{_least(one)}"


def _least(one: LayerAnswers) -> str:
    """Between which ends the least norm lies, where a bound is known."""
    if one.bracket is None:
        return ""
    low, high = enclosure(*one.bracket, 6)
    return f"; the least is {low}" if Fraction(low) == Fraction(high) else f"; the least lies between {low} and {high}"
