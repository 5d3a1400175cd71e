"""Every sentence of a report and of the reasons in JSON, taken apart by its kind and compared with exact numbers.

A sentence that is of no known kind is an error, also one without numbers: whoever writes a new one says here what it
means.
"""

from __future__ import annotations

import re

from tests.words import depth
from tests.words.faults import OTHERS
from tests.words.layers import check_layers
from tests.words.losses import check_title
from tests.words.notes import NOTES
from tests.words.numbers import NUMBERS
from tests.words.proofs import ROWS
from tests.words.standing import STANDING
from tests.words.steps import STEPS
from verify.auditing.record import Audit
from verify.checker.bounds import Infeasible
from verify.plots.wording import standing
from verify.problem.members import is_free
from verify.report.quantities import RELAXED
from verify.report.wording import wording

__all__ = ["check_words"]

OWN_WORDS = ("verdicts", "near", "approx.", "undecided")
"""Rows about what a network fits that its own report says in other words."""


def check_words(audit: Audit, asked: Audit | None = None) -> int:
    """Assert that every sentence is true; returns how many there were.   asked: of which this is about what fits."""
    words = wording(audit)
    deep = depth.is_deep(audit) and audit.fits.verdict.value == "proved"
    rows, numbers, steps = (
        [*more, *known] if deep else known
        for more, known in ((depth.ROWS, ROWS), (depth.NUMBERS, NUMBERS), (depth.STEPS, STEPS))
    )
    findings = list(audit.findings.values())
    seen = 0
    if not audit.problem.asks_fit:
        check_title(audit)
        seen += _check(_plain(findings.pop(0).reason), ROWS, audit, audit.fits)
    told = ""
    for (_, verdict, _, text), finding in zip(words.rows, findings, strict=True):
        assert verdict is finding.verdict
        told = told if text == "the same" else text
        seen += _check(_plain(told), rows, audit, finding)
        seen += _check(_plain(finding.reason), rows, audit, finding)
    for label, text in words.numbers:
        is_easier = label.startswith(RELAXED) and label.removeprefix(RELAXED) not in OWN_WORDS
        about, name = (audit.relaxed, label.removeprefix(RELAXED)) if is_easier else (audit, label)
        seen += _check(f"{name}: {_plain(text)}", numbers, about, None)
    for text in words.steps:
        seen += _check(_plain(text), steps, audit, None)
        assert not (is_free(audit.problem.bias) and "isoptimal train" in text and "--audit" in text), text
    seen += _check(_plain(standing(audit)), [*depth.STANDING, *STANDING] if deep else STANDING, audit, None)
    seen += check_layers(audit, words.layers)
    _check_ladder(audit)
    if audit.relaxed is not None:
        seen += check_words(audit.relaxed, audit)
    for text in words.notes:
        seen += _check(_plain(text), NOTES, audit, asked)
    for text in (*words.legend, *words.faults):
        seen += _check(_plain(text), OTHERS, audit, None)
    seen += _check(f"status: {audit.status}", OTHERS, audit, None)
    return seen


def _check_ladder(audit: Audit) -> None:
    """Every rung is as far above the best possible as the bracket of the same page says."""
    ladder = () if audit.diagnosis is None or not audit.bracket or not audit.bracket[0] else audit.diagnosis.ladder
    for rung in ladder:
        if rung.network is None:  # the lower bound
            assert rung.excess is None
            continue
        assert rung.excess is not None
        assert rung.excess[1] == rung.objective / audit.bracket[0] - 1
        assert rung.excess[0] == max(rung.objective / audit.bracket[1] - 1, 0)


def _plain(text: str) -> str:
    return text.replace("\u00a0", " ")


def _check(text: str, kinds, audit: Audit, finding) -> int:
    for many in re.findall(r"(\d+) neurons? with (?:th(?:ese masks|is mask) and |these )output weights", text):
        assert audit.problem.output_weights is not None, text
        assert int(many) == len(audit.problem.neurons), text
    is_said = "any width" in text and not text.startswith((f"{RELAXED}verdicts", f"{RELAXED}undecided"))
    is_proved = any(isinstance(bound, Infeasible) for bound in audit.bounds)  # whatever the output weights are
    assert audit.problem.asks_any_width or not is_said or kinds is NOTES or is_proved, text
    for pattern, check in kinds:
        if (found := re.fullmatch(pattern, text)) is not None:
            assert check(audit, finding, found) is not False, text
            return 1
    if not text or re.fullmatch(r"status: \w+", text):
        return 0
    raise AssertionError(f"a sentence of no known kind: {text}")
