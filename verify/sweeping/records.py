"""A row of a sweep's table: what audit.json says of one network, with its numbers as doubles rounded outward."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from enum import StrEnum
from fractions import Fraction
from typing import Any, final

from verify.checker.codec import rational_of
from verify.numbers.floats import to_float
from verify.problem.phrases import QUESTIONS
from verify.sweeping.tasks import TaskOutcome

__all__ = ["AUDITED", "COLUMNS", "FAILED", "MAIN_COLUMNS", "Row", "SweepStatus", "facts_of"]

AUDITED, FAILED = "audited", "failed"


class SweepStatus(StrEnum):
    """How the last run into a sweep's folder ended."""

    DONE = "done"
    INTERRUPTED = "interrupted"
    """The same sweep again goes on from here."""
    UNFINISHED = "unfinished"
    """It was stopped or killed, or is still at work: so says a folder that was read."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One network of a sweep and what is known of it. What is not known, or was not decided, is None.

    network, data: the names under which they were given.   outcome: "audited", or "failed" with the sentence `failure`.
    fits ... global_any_width: "proved", "refuted" or "undecided"; "proved (near)" is of another network near the given
    one, "proved (approximate)" holds up to a tolerance.
    objective: to the nearest double.   best_lower, best_upper, excess_lower, excess_upper: bounds that are proved,
    rounded outward; an excess of 0.1 is 10 % above the best possible.   infeasible: whether no network fits the data.
    relaxed_excess_lower, relaxed_excess_upper: of a network that does not fit, those of the excess on what it does fit;
    `relaxed` says what that is. The certificates of these are not kept: an audit of the network makes them again.
    status: how the audit ended, as in `Audit`.   reason: why the first question that is not proved is not.
    seconds: that the audit took.   certificates: their folder, within that of the sweep.   finished: when, in UTC.
    """

    network: str
    data: str
    outcome: str
    failure: str | None = None
    goal: str | None = None
    bias: str | None = None
    points: int | None = None
    dimension: int | None = None
    neurons: int | None = None
    parameters: int | None = None
    fits: str | None = None
    stationary: str | None = None
    local_optimum: str | None = None
    global_optimum: str | None = None
    global_any_width: str | None = None
    objective: float | None = None
    best_lower: float | None = None
    best_upper: float | None = None
    excess_lower: float | None = None
    excess_upper: float | None = None
    relaxed_excess_lower: float | None = None
    relaxed_excess_upper: float | None = None
    relaxed: str | None = None
    infeasible: bool | None = None
    status: str | None = None
    reason: str | None = None
    notes: str | None = None
    seconds: float | None = None
    certificates: str | None = None
    network_sha256: str | None = None
    data_sha256: str | None = None
    version: str | None = None
    finished: str | None = None


COLUMNS = {field.name: str(field.type).partition(" ")[0] for field in fields(Row)}
"""The names of the columns, and the name of the type of what they hold besides None."""

MAIN_COLUMNS = (
    *("network", "data", "neurons", *QUESTIONS, "objective", "excess_lower", "excess_upper"),
    *("relaxed_excess_lower", "relaxed_excess_upper", "failure", "seconds"),
)
"""Those of a data frame that is to be looked at; none of them holds several lines."""


def facts_of(outcome: TaskOutcome) -> dict[str, Any]:
    """The columns that come from the audit itself."""
    if outcome.files is None:
        return {"outcome": FAILED, "failure": outcome.failure, "version": outcome.version}
    audit = json.loads(outcome.files["audit.json"])
    relaxed = {} if outcome.is_adopted else _relaxed(audit)
    shape = json.loads(outcome.files["network.json"])["architecture"]
    neurons = sum(layer["outputs"] for layer in shape["layers"][:-1])
    return {"outcome": AUDITED, "version": outcome.version, **_facts(audit), "neurons": neurons, **relaxed}


def _facts(audit: Mapping[str, Any]) -> dict[str, Any]:
    problem, network, findings = audit["problem"], audit["network"], audit["findings"]
    lower, upper = _ends(audit["bracket"])
    least, most = _ends(audit["excess"])
    return {
        **{name: problem[name] for name in ("goal", "bias", "points", "dimension")},
        "parameters": network["parameters"],
        **{name: _verdict(findings[name]) for name in QUESTIONS},
        "objective": None if audit["objective"] is None else _double(rational_of(audit["objective"])),
        "best_lower": lower,
        "best_upper": upper,
        "excess_lower": least,
        "excess_upper": most,
        "infeasible": audit["infeasible"],
        "status": audit["status"],
        "reason": _reason(findings),
        "notes": "\n".join(audit["notes"]),
        "seconds": audit["seconds"],
    }


def _relaxed(audit: Mapping[str, Any]) -> dict[str, Any]:
    """What is known of the excess on what the network fits, where it does not fit all."""
    found = (audit["diagnosis"] or {}).get("relaxed")
    if found is None or found["excess"] is None:
        return {}
    least, most = _ends(found["excess"])
    return {"relaxed_excess_lower": least, "relaxed_excess_upper": most, "relaxed": found["notes"][0]}


def _verdict(finding: Mapping[str, Any]) -> str:
    level = finding["level"]
    return finding["verdict"] if level in (None, "exact") else f"{finding['verdict']} ({level})"


def _reason(findings: Mapping[str, Any]) -> str | None:
    """Why the first question that is not proved is not; None where all are."""
    return next((findings[name]["reason"] for name in QUESTIONS if findings[name]["verdict"] != "proved"), None)


def _ends(texts: list[str] | None) -> tuple[float | None, float | None]:
    """Doubles at or below the lower end, and at or above the upper one."""
    if texts is None:
        return None, None
    lower, upper = map(rational_of, texts)
    low, high = _double(lower), _double(upper)
    if low > lower:  # Python compares doubles, infinities too, with fractions exactly
        low = math.nextafter(low, -math.inf)
    if high < upper:
        high = math.nextafter(high, math.inf)
    return low, high


def _double(number: Fraction) -> float:
    """The nearest double; beyond their range, an infinity."""
    try:
        return to_float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf
