"""A case is decided again, from nothing but its problem and network, and compared with what it expects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import final

from verify.auditing.asking_several import of_one_output
from verify.auditing.loop import audit
from verify.auditing.record import Audit
from verify.deciders.finding import Ending
from verify.deciders.layers.answering import LayerAnswers, layer_answers
from verify.numbers.decimals import at_least, at_most
from verify.problem.members import has_bias
from verify.readers.cases import Case, ExpectedBracket, ExpectedLayers

__all__ = [
    "TOLERANCE",
    "Difference",
    "bracket_text",
    "differences",
    "is_inside",
    "layer_differences",
    "layers_of",
    "outcome_text",
    "redecide",
]

TOLERANCE = Fraction(1, 10**7)
"""The relative gap within which every case is decided. Stationarity is decided exactly, as the numbers are exact,
of the network or of a point as near to it as the case says."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """What a case expects and does not get.   what: the question, or the stored file.   reason: why, in a sentence."""

    what: str
    expected: str
    got: str
    reason: str = ""

    def __str__(self) -> str:
        because = f" ({self.reason})" if self.reason else ""
        return f"{self.what}: expected {self.expected}, got {self.got}{because}"


def redecide(case: Case) -> Audit:
    """The audit of the network of a case within `TOLERANCE`. Raises KeyboardInterrupt when it is interrupted."""
    problem = case.problem
    within = problem.fit_tolerance or None
    found = of_one_output(
        audit(
            case.network,
            problem.data,
            goal=problem.goal,
            bias=problem.bias,
            trained=problem.trained,
            tol=TOLERANCE,
            fit_tol=within,
            output_bias=problem.output_bias.value if has_bias(problem.output_bias) else "refuse",
            relax=False,
            near=case.near or None,
        )
    )
    if found.ending is Ending.INTERRUPTED:
        raise KeyboardInterrupt
    return found


def differences(case: Case, found: Audit) -> list[Difference]:
    """What the case expects and the audit does not say.

    A bracket is as expected when it lies inside the expected one, which is unbounded at an end that is None.
    """
    result: list[Difference] = []
    for question, expected in case.verdicts.items():
        finding = found.findings[question]
        got = finding.verdict.value
        if got != expected:
            result.append(Difference(what=question, expected=expected, got=got, reason=finding.reason))
    if case.bracket is not None and not is_inside(best_bracket(found) or (None, None), case.bracket):
        expected = f"one inside {bracket_text(case.bracket)}"
        got = bracket_text(best_bracket(found))
        result.append(Difference(what="bracket", expected=expected, got=got, reason=f"the audit ended: {found.status}"))
    if case.infeasible is not None and case.infeasible is not is_infeasible(found):
        expected, got = ("proved" if value else "not proved" for value in (case.infeasible, is_infeasible(found)))
        result.append(Difference(what="infeasible", expected=expected, got=got))
    if case.layers is not None:
        pairs = [(one.local.verdict.value, one.optimal.verdict.value) for one in layers_of(found)]
        result += layer_differences(case.layers, pairs)
    return result


def layers_of(found: Audit) -> tuple[LayerAnswers, ...]:
    """Each layer of a case by itself."""
    return layer_answers(found.problem, found.network, TOLERANCE)


def layer_differences(expected: ExpectedLayers, got: Sequence[tuple[str, str]]) -> list[Difference]:
    """What is expected of layers by themselves and is not got."""
    texts = [", ".join(f"{local} and {best}" for local, best in pairs) for pairs in (expected, got)]
    return [] if texts[0] == texts[1] else [Difference(what="layers", expected=texts[0], got=texts[1] or "none")]


def best_bracket(found: Audit) -> ExpectedBracket | None:
    """The bracket of what is asked: of any width, or of the own one where the output weights are given."""
    return found.bracket if found.problem.asks_any_width else found.bracket_own_width


def is_infeasible(found: Audit) -> bool:
    """Whether it is proved that nothing fits of the width that is asked about."""
    return found.infeasible or (found.is_infeasible_at_width and not found.problem.asks_any_width)


def is_inside(bracket: ExpectedBracket, expected: ExpectedBracket) -> bool:
    """Whether `bracket` has an end wherever the expected one has, and does not reach beyond it."""
    (low, high), (least, most) = bracket, expected
    is_above = least is None or (low is not None and low >= least)
    return is_above and (most is None or (high is not None and high <= most))


def outcome_text(found: Audit | None) -> str:
    """The bracket, or that nothing fits, in short."""
    if found is None:
        return "no audit"
    return "infeasible" if is_infeasible(found) else bracket_text(best_bracket(found))


def bracket_text(bracket: ExpectedBracket | None) -> str:
    """A bracket in decimals, rounded outwards, for people."""
    low, high = bracket or (None, None)
    return f"[{'-' if low is None else at_least(low, 10)}, {'-' if high is None else at_most(high, 10)}]"
