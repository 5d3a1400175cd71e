"""What came of the claims, as tables for a terminal and as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from importlib import import_module
from typing import Any, cast

from rich.table import Table
from rich.text import Text

from verify.checker.codec import rational_text
from verify.checker.errors import InputError
from verify.claims.chances import interval_text
from verify.claims.collection import PAPERS
from verify.claims.power import is_survivor
from verify.claims.records import OPEN, Claim
from verify.claims.running import Run, RunOutcome
from verify.numbers.counts import count
from verify.numbers.floats import to_float

__all__ = ["as_json", "listing", "number_text", "overview", "paper_tables", "sharp_text", "tables_of", "variant_table"]

PaperTables = Mapping[str, Mapping[str, Sequence[Sequence[str]]]]

_SHORT = 9
"""Characters of a number that is shown as it is."""

_SIMPLE = 1000
"""The largest denominator of a fraction that is shown as it is."""

_STYLES = {
    RunOutcome.HELD: "green",
    RunOutcome.CONSISTENT: "green",
    RunOutcome.FAILED: "bold red",
    RunOutcome.UNDECIDED: "yellow",
    RunOutcome.UNTESTED: "yellow",
    RunOutcome.NOT_RUN: "dim",
}


def overview(results: Iterable[Run]) -> list[Table]:
    """One line for each claim: outcome, instances on which it held, could have failed, failed or stayed open, seconds,
    and the medians of their points, dimensions and neurons (n, d, k).

    Below what was measured, and those claims that cannot be decided yet, with what they need.
    """
    found = list(results)
    run_ones = [result for result in found if result.claim.is_decidable]
    waiting = [result.claim for result in found if not result.claim.is_decidable]
    drawn: list[Table] = []
    for title, kept in (
        ("", [result for result in run_ones if not result.claim.trains]),
        ("trainings: what happens on the way is measured in floats", [one for one in run_ones if one.claim.trains]),
    ):
        if not kept:
            continue
        table = _table("claim", "outcome", "held", "could\nfail", "failed", "open", "n,d,k", "s", title=title)
        table.padding = (0, 0)  # the box leaves one column between two
        remarks = Table.grid(padding=(0, 2, 0, 1))
        for column in table.columns:
            column.no_wrap = True
        for column in table.columns[2:]:
            column.justify = "right"
        for result in kept:
            outcome = Text(result.outcome, style=_STYLES[result.outcome])
            counts = (result.held, shown_power(result), result.failed, result.undecided, sizes_text(result.medians))
            table.add_row(result.claim.id, outcome, *map(str, counts), f"{result.seconds:.1f}")
            if remark := _remark(result):
                remarks.add_row(result.claim.id, Text(remark), style="dim")
        drawn.append(table)
        if remarks.row_count:
            remarks.add_row("", "")
            drawn.append(remarks)
    if waiting:
        table = _table("not yet decidable here", "needs", "statement")
        table.columns[0].no_wrap = True
        for claim in waiting:
            table.add_row(claim.id, Text(claim.needs), Text(claim.statement), style="dim")
        drawn.append(table)
    return drawn


def _remark(result: Run) -> str:
    claim, parts = result.claim, list[str]()
    if result.measured is not None:
        low, high = map(number_text, result.measured)
        parts.append(f"{claim.quantity or 'measured'}: {low}" + (f" to {high}" if high != low else ""))
    if result.interval is not None:
        parts.append(f"probability in {interval_text(*result.interval)} at 99 %, claimed at least {claim.chance}")
        parts.append(_refutation(result))
    if result.could_fail is not None and 2 * result.could_fail < result.tried and claim.few_could_fail:
        parts.append(f"few could fail: {claim.few_could_fail}")
    if result.rejected * 20 > result.tried:
        parts.append(f"{result.rejected} draws given up")
    if not result.is_complete and result.counterexample is None and not result.faults:
        parts.append("time limit")
    return "; ".join(parts)


def _refutation(result: Run) -> str:
    """How many failures of the draws made would have refuted the probability."""
    least = result.refuting_failures
    enough = "no number of failures" if least is None else count(least, "failure")
    return f"{enough} in {count(result.tried, 'draw')} would refute it"


def shown_power(result: Run) -> str:
    """On how many instances the claim could have failed; a dash where it does not say."""
    return "-" if result.could_fail is None else str(result.could_fail)


def sizes_text(medians: Sequence[int]) -> str:
    """Such as 4,64,2."""
    return ",".join(map(str, medians))


def number_text(value: Fraction) -> str:
    """A rational number where it is short, else six digits of it."""
    text = rational_text(value)
    return text if len(text) <= _SHORT and value.denominator <= _SIMPLE else f"{to_float(value):.6g}"


def listing(claims: Iterable[Claim]) -> Table:
    """The claims with what they say, where they are from, and the hypotheses that they are known to need."""
    table = _table("claim", "statement", "hypotheses (* a case shows that it is needed)")
    table.columns[0].no_wrap = True
    for claim in claims:
        names = [f"{name}{'*' if claim.sharp_case(name) != OPEN else ''}" for name in claim.hypotheses]
        status = "" if claim.is_decidable else f" ({claim.status})"
        said = f"{claim.statement} [{claim.source}]{status}"  # as Text: a string in brackets would be taken for a style
        table.add_row(claim.id, Text(said), Text(", ".join(names)))
    return table


def sharp_text(claims: Iterable[Claim]) -> str:
    """How many of the hypotheses of claims that run have a case that shows them to be needed."""
    known = [claim.sharp_case(name) != OPEN for claim in claims if claim.is_decidable for name in claim.hypotheses]
    return f"{sum(known)} of {count(len(known), 'hypothesis', 'hypotheses')} are shown to be needed by a case"


def variant_table(results: Iterable[Run]) -> Table:
    """One line for each variant: whether it is refuted, after how many draws, and what is false in it."""
    table = _table("variant", "outcome", "draws", "s", "what is false in it")
    for result in results:
        survives = is_survivor(result)
        outcome = Text("survives" if survives else "refuted", style="bold red" if survives else "green")
        said = Text("; ".join([result.claim.statement, *result.faults]))
        table.add_row(Text(result.claim.id), outcome, str(result.tried), f"{result.seconds:.1f}", said)
    table.columns[0].no_wrap = True
    for column in table.columns[2:4]:
        column.justify = "right"
    return table


def tables_of(paper: str) -> PaperTables:
    """The tables of a paper; InputError when it has none here."""
    if paper in PAPERS:
        found = getattr(import_module(f"verify.claims.{paper}"), "TABLES", None)
        if found is not None:
            return found
    known = [name for name in PAPERS if hasattr(import_module(f"verify.claims.{name}"), "TABLES")]
    raise InputError(f"--table {paper}: there is no table of that paper, only of {', '.join(known)}")


def paper_tables(tables: PaperTables, results: Iterable[Run]) -> list[Table]:
    """The paper's tables with what became of the claims behind every cell."""
    found = {result.claim.id: result for result in results}
    drawn: list[Table] = []
    for title, rows in tables.items():
        table = _table("", "linear", "ReLU", title=title)
        for name, cells in rows.items():
            table.add_row(Text(name), *(_cell(cell, found) for cell in cells))
        drawn.append(table)
    return drawn


def _cell(cell: Sequence[str], found: Mapping[str, Run]) -> Text:
    says, *ids = cell
    text = Text(says)
    for name in ids:
        result = found.get(name)
        outcome = RunOutcome.NOT_RUN if result is None else result.outcome
        count = f" on {result.held}" if result is not None and result.held else ""
        text.append(f"\n{name}: ")
        text.append(f"{outcome}{count}", style=_STYLES[outcome])
    return text


def as_json(results: Iterable[Run], *, examples: int, seed: int) -> dict[str, object]:
    """The results as a JSON object of schema "claims-1"; long numbers of `measured` have six digits."""
    return {"schema": "claims-1", "examples": examples, "seed": seed, "claims": [_json(result) for result in results]}


def _json(result: Run) -> dict[str, object]:
    claim = result.claim
    value: dict[str, Any] = {
        "id": claim.id,
        "source": claim.source,
        "statement": claim.statement,
        "status": claim.status,
        "needs": claim.needs,
        "trains": claim.trains,
        "regime": claim.regime,
        "hypotheses": {name: claim.sharp_case(name) for name in claim.hypotheses},
        "variants": {variant.name: variant.statement for variant in claim.variants},
        "outcome": result.outcome.value,
    }
    if not claim.is_decidable:
        return value
    value |= {name: getattr(result, name) for name in ("tried", "held", "failed", "undecided", "rejected")}
    value |= {"could_fail": result.could_fail, "few_could_fail": claim.few_could_fail}
    value |= {"medians": dict(zip(("points", "dimension", "neurons"), result.medians, strict=False))}
    value |= {"undecided_because": result.reasons, "faults": result.faults, "complete": result.is_complete}
    value |= {"seconds": round(result.seconds, 3), "counterexample": None}
    if result.measured is not None:
        value["measured"] = {"quantity": claim.quantity, "range": [number_text(end) for end in result.measured]}
    if result.interval is not None:
        value["interval"] = list(result.interval)
        value["chance"] = str(claim.chance)
        value["refuting_failures"] = result.refuting_failures
    if result.counterexample is not None:
        instance = result.counterexample.instance
        value["counterexample"] = {
            "reason": result.counterexample.reason,
            "problem": cast("object", instance.problem.to_json()),
            "network": instance.network.to_json(),
        }
    return value


def _table(*columns: str, title: str = "") -> Table:
    from rich.box import SIMPLE_HEAD

    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim", title=title or None,
                  title_justify="left", title_style="bold")  # fmt: skip
    for name in columns:
        table.add_column(name, overflow="fold")
    return table
