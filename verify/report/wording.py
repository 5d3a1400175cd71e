"""What a report says, as text in rows: which network, which problem, what is proved, the numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from shlex import quote
from typing import final

from verify.checker.objectives import Objective
from verify.deciders.finding import Verdict
from verify.numbers.counts import count
from verify.numbers.decimals import kept, value
from verify.problem.members import goal_words, trains_all
from verify.problem.network import Network
from verify.problem.phrases import QUESTIONS, any_width
from verify.problem.problem import Problem
from verify.report.advice import IN_PYTHON, filled, next_steps, reading_options
from verify.report.audited import Audited
from verify.report.depth import is_of_other_depth
from verify.report.faults import faults
from verify.report.layers import layer_rows
from verify.report.quantities import quantities
from verify.report.regularised import asked_for, biases_counted
from verify.report.verdicts import legend, level, statement


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """A report as text: title lines, notes, one row (question, verdict, level, what is proved) per question,
    a legend of the levels that occur, (label, text) rows of numbers, what is wrong, a sentence a line, and what to do
    next, a sentence with a command a line; such rows about single layers.
    """

    title: tuple[str, ...]
    notes: tuple[str, ...]
    rows: tuple[tuple[str, Verdict, str, str], ...]
    legend: tuple[str, ...]
    numbers: tuple[tuple[str, str], ...]
    faults: tuple[str, ...]
    steps: tuple[str, ...] = ()
    layers: tuple[tuple[str, Verdict, str, str], ...] = ()


def wording(audit: Audited, *, folder: str | None = None, given: Mapping[str, str] | None = None) -> Wording:
    """The text of the report. folder: where the certificates were written, None when they are only in memory.

    given: what stands for NETWORK, DATA and the like in the commands that are named (`verify.report.advice`).
    """
    asked = [
        (name, found) for name, found in audit.findings.items() if audit.problem.asks_fit or found is not audit.fits
    ]
    questions = [(QUESTIONS[name], found) for name, found in asked]
    texts = [statement(audit, found) for _, found in questions]
    for place in range(len(texts) - 1, 0, -1):
        if texts[place] == texts[place - 1] and len(texts[place]) > 30:
            texts[place] = "the same"
    return Wording(
        title=tuple(_title(audit.problem, audit.network)),
        notes=audit.notes,
        rows=tuple(
            (asked, found.verdict, level(found), text) for (asked, found), text in zip(questions, texts, strict=True)
        ),
        legend=tuple(legend(audit.problem, (found for _, found in questions))),
        numbers=tuple(quantities(audit, folder)),
        faults=tuple(faults(audit)),
        steps=tuple(_steps(audit, folder, given)),
        layers=tuple(layer_rows(audit)),
    )


def _steps(audit: Audited, folder: str | None, given: Mapping[str, str] | None) -> Iterator[str]:
    """What to do next, and what the words in capitals are where no files were given."""
    steps = list(next_steps(audit))
    words = dict(reading_options(audit) if given is None else given)
    if folder is not None:
        words["PROOFS"] = quote(folder)
    yield from (step.told(words) for step in steps)
    if given is None and any("DATA" in filled(step.command, words) for step in steps):
        yield IN_PYTHON


def _title(problem: Problem, network: Network) -> Iterator[str]:
    points = count(len(problem.data), "point")
    others = f"; compared with networks of {any_width(problem)}" if is_of_other_depth(problem) else ""
    yield f"{network.description}, on {points} in dimension {problem.data.dimension}{others}"
    within = problem.fit_tolerance
    met = f"|f(x) − y| ≤ {kept(within)}" if within else goal_words(problem.goal).met
    if isinstance(problem.goal, Objective):
        asked = asked_for(problem.goal, len(problem.data))
    else:
        asked = f"{problem.goal.value}: the least norm with {met} at every point"
    bias = biases_counted(problem.bias, problem.decay.output_bias)
    yield f"{asked}; {bias}{_given_outputs(problem)}"


MOST_SHOWN = 8
"""Output weights that are listed."""


def _given_outputs(problem: Problem) -> str:
    """That only the hidden layer is trained, and at which output weights."""
    if trains_all(problem.trained):
        return ""
    outgoing = problem.output_weights or ()
    numbers = [value(v) for v in outgoing[:MOST_SHOWN]]
    shown = (
        f" (output weights {', '.join(numbers)}{', …' if len(outgoing) > MOST_SHOWN else ''} fixed)" if numbers else ""
    )
    return f"; only the hidden layer is trained{shown}"
