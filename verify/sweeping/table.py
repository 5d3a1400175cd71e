"""The table of a sweep: on a terminal, as text, as HTML, as CSV and as Parquet."""

from __future__ import annotations

import csv
import html
import io
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, astuple, dataclass
from fractions import Fraction
from math import inf
from pathlib import Path
from statistics import median_low
from typing import TYPE_CHECKING, Any, Protocol, final

from rich.console import Console, Group
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from verify.checker.decision import printable
from verify.checker.errors import InputError
from verify.files.writing import write_bytes
from verify.numbers.counts import count
from verify.numbers.decimals import at_least, at_most
from verify.problem.members import goal_words
from verify.problem.phrases import QUESTIONS
from verify.problem.problem import Goal
from verify.sweeping.records import COLUMNS, FAILED, Row, SweepStatus

if TYPE_CHECKING:
    from rich.console import ConsoleOptions, RenderableType, RenderResult

__all__ = ["as_html", "as_text", "headline", "render", "write_csv", "write_parquet"]

SHOWN = 40
"""The most rows that are printed; files have all."""

WIDEST = 10_000
"""More than any line is wide."""

REASONS = 5
"""The most reasons of failures that are printed."""

MARK = "*"
"""Of an excess on what a network does fit, where it does not fit all."""

OUTPUT_BIAS = "the output-bias neuron"
"""What the note of the readers calls the neuron that stands for an output bias."""

REPAIRED = "proved (near)"
"""What is said of fitting where a network near the given one does."""

_VERDICTS = ("proved", "refuted", "undecided")
_STYLES = {"proved": "green", "refuted": "red", "undecided": "yellow"}
_HEADS = ("network", "neurons", *("fits", "stationary", "local", "global", "any width"), "excess", "time")


class SweepInTables(Protocol):
    """What a table reads of a sweep, and its members say (`verify.sweeping.sweeps.Sweep`)."""

    status: SweepStatus
    rows: tuple[Row, ...]
    notes: tuple[str, ...]
    total: int | None

    @property
    def audited(self) -> tuple[Row, ...]: ...
    @property
    def failed(self) -> tuple[Row, ...]: ...


def headline(sweep: SweepInTables) -> str:
    """Such as "87 networks on 1 data set: 85 audited, 2 failed; the last run, of 200 networks, was interrupted"."""
    sets = len({row.data for row in sweep.rows})
    text = f"{count(len(sweep.rows), 'network')} on {count(sets, 'data set')}: {len(sweep.audited)} audited"
    if sweep.failed:
        text += f", {len(sweep.failed)} failed"
    if sweep.status is SweepStatus.DONE:
        return text
    run = "the last run" if sweep.total is None else f"the last run, of {count(sweep.total, 'network')},"
    return (
        f"{text}; {run} {'was interrupted' if sweep.status is SweepStatus.INTERRUPTED else 'has not come to its end'}"
    )


def render(sweep: SweepInTables, *, ascii_only: bool = False) -> RenderableType:
    """What is printed: how many of each verdict, the excess, and the rows, or the first of many."""
    parts: list[RenderableType] = [Text(headline(sweep), "bold")]
    parts += [Text(f"- {note}", "dim") for note in sweep.notes]
    if sweep.audited:
        parts += [_summary(sweep), *map(Text, excess_lines(sweep))]
    if sweep.rows:
        parts += [_Rows(sweep, "..." if ascii_only else "…")]
    if len(sweep.rows) > SHOWN:
        parts += [Text(f"{len(sweep.rows) - SHOWN} more; --export FILE.csv writes all (in Python: .to_csv)", "dim")]
    return Group(*parts, *map(Text, failure_lines(sweep)))


def failure_lines(sweep: SweepInTables) -> Iterator[str]:
    """Why networks failed, the most frequent reasons first."""
    groups: dict[str, list[Row]] = {}
    for row in sweep.failed:
        groups.setdefault(_without_names(row), []).append(row)
    often = sorted(groups.items(), key=lambda group: -len(group[1]))
    for _, rows in often[:REASONS]:
        first, said = printable(rows[0].network), printable(rows[0].failure or "")
        told = said if first in said else f"{first}: {said}"
        yield f"failed: {told}" + (f" (and so {count(len(rows) - 1, 'other network')})" if len(rows) > 1 else "")
    if len(often) > REASONS:
        yield f"and {count(len(often) - REASONS, 'other reason')}: the column failure of --export has them all"


def _without_names(row: Row) -> str:
    """Why it failed, in words that are the same for all networks that failed so."""
    said = printable(row.failure or "")
    for name, what in ((row.network, "NETWORK"), (row.data, "DATA")):
        said = said.replace(printable(name), what)
    return said.removeprefix("NETWORK: ").removeprefix("DATA: ")


def excess_lines(sweep: SweepInTables) -> Iterator[str]:
    """What can be said of the excess of those networks of which it is known."""
    known = [row for row in sweep.rows if row.excess_upper is not None and row.excess_lower is not None]
    if known:
        most = max(row.excess_upper or 0.0 for row in known)
        middle = median_low(row.excess_upper or 0.0 for row in known)
        least = min(row.excess_lower or 0.0 for row in known)
        half = "" if middle == inf or len(known) == 1 else f", half of them at most {_amount(middle)}"
        whole = "" if most == inf else f", {'all ' * (len(known) > 1)}at most {_amount(most)}"
        yield (
            f"excess over the best possible of {count(len(known), 'network')}: at least {_amount(least, up=False)}"
            f"{half}{whole}"
        )
    if repaired := sum(row.fits == REPAIRED for row in known):
        whose = "that network's" if repaired == 1 else "those networks'"
        near = "one near it that fits" if repaired == 1 else "ones near them that fit"
        yield f"of {count(repaired, 'network')} ({REPAIRED} to fit) objective and excess are not {whose} but of {near}"
    misfits = [row for row in sweep.audited if row.fits == "refuted"]
    marked = sum(row.relaxed_excess_upper is not None for row in misfits)
    if misfits:
        do, have = ("does", "has") if len(misfits) == 1 else ("do", "have")
        yield f"{count(len(misfits), 'network')} of {len(sweep.audited)} {do} not fit, and {have} no excess on all data"
    if marked:
        goals = {row.goal for row in misfits if row.relaxed_excess_upper is not None}
        fitted = " or ".join(goal_words(goal).eased for goal in Goal if goal in goals)
        yield f"{MARK} the excess on what the network does fit: {fitted}"
    if widened := sum(OUTPUT_BIAS in (row.notes or "") for row in sweep.audited):
        yield f"of {count(widened, 'network')} one of the neurons that are counted is the output bias"


def _summary(sweep: SweepInTables) -> Table:
    """How many of each verdict."""
    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0), header_style="dim")
    table.add_column("question", no_wrap=True)
    for verdict in _VERDICTS:
        table.add_column(verdict, justify="right", no_wrap=True)
    for name, question in QUESTIONS.items():
        found = Counter(_word(getattr(row, name)) for row in sweep.audited)
        table.add_row(question, *(str(found[verdict]) for verdict in _VERDICTS))
    return table


def _word(verdict: str | None) -> str:
    return (verdict or "").partition(" ")[0]


@final
@dataclass(frozen=True, slots=True)
class _Rows:
    """The rows; where they are too wide with the names of the files, these are numbered and named below."""

    sweep: SweepInTables
    dots: str

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """One table, or a narrow one and the names."""
        shown = self.sweep.rows[:SHOWN]
        has_data = len({row.data for row in self.sweep.rows}) > 1
        names = [(row.network, row.data) if has_data else (row.network,) for row in shown]
        named = self._table(("network", "data")[: 1 + has_data], names, 2)
        if Measurement.get(console, options.update(max_width=WIDEST), named).maximum <= options.max_width:
            yield named
            return
        yield self._table(("",), [(str(place),) for place in range(1, len(shown) + 1)], 1)
        for place, own in enumerate(names, 1):
            yield Text(f"{place}: {' on '.join(map(printable, own))}", overflow="fold")

    def _table(self, heads: Sequence[str], names: Sequence[Sequence[str]], padding: int) -> Table:
        table = Table(box=None, pad_edge=False, padding=(0, padding, 0, 0), header_style="dim")
        for head in heads:
            table.add_column(head, no_wrap=True)
        for head in _HEADS[1:]:
            is_number = head in ("neurons", "excess", "time")
            table.add_column(head, justify="right" if is_number else "left", no_wrap=head in ("neurons", "time"))
        for row, own in zip(self.sweep.rows, names, strict=False):
            table.add_row(*(Text(printable(name)) for name in own), *_cells(row, self.dots))
        return table


def _cells(row: Row, dots: str) -> list[Text]:
    if row.outcome == FAILED:
        return [Text(""), Text("failed", "bold red")]
    verdicts = [getattr(row, name) or "" for name in QUESTIONS]
    return [
        Text(str(row.neurons)),
        *(Text(verdict, _STYLES.get(_word(verdict), "")) for verdict in verdicts),
        Text(_excess(row, dots)),
        Text(f"{row.seconds:.1f} s"),
    ]


def _excess(row: Row, dots: str) -> str:
    """Bounds that are proved, rounded outward: such as "28.2 ... 28.4 %", or "<= 1e-5 %"."""
    low, high, mark = row.excess_lower, row.excess_upper, ""
    if low is None or high is None:
        low, high, mark = row.relaxed_excess_lower, row.relaxed_excess_upper, MARK
    if low is None or high is None:
        return "-"
    return _between(low, high, dots) + mark


def _between(low: float, high: float, dots: str) -> str:
    if high == inf:
        return f">= {_amount(low, up=False)}"
    if low <= 0 or high < 1e-4:
        return "0" if high == 0 else f"<= {_amount(high)}"
    return f"{at_least(100 * Fraction(low), 3)} {dots} {_amount(high)}"


def _amount(excess: float, *, up: bool = True) -> str:
    """In per cent, rounded up or down: to three digits, below 0.01 % to two; beyond doubles at the largest."""
    rounded, number = at_most if up else at_least, Fraction(min(excess, sys.float_info.max))
    return f"{rounded(100 * number, 2 if abs(excess) < 1e-4 else 3)} %"


def as_text(sweep: SweepInTables, width: int = 100) -> str:
    """The table as plain lines."""
    console = Console(
        file=io.StringIO(),
        width=width,
        color_system=None,
        force_terminal=False,
        force_jupyter=False,
        highlight=False,
        emoji=False,
    )
    with console.capture() as captured:
        console.print(render(sweep, ascii_only=console.options.ascii_only))
    return "\n".join(line.rstrip() for line in captured.get().splitlines())


def as_html(sweep: SweepInTables) -> str:
    """The table as one piece of HTML, for notebooks."""

    def line(cells: Sequence[str], tag: str = "td") -> str:
        left = ' style="text-align:left"'
        return "<tr>" + "".join(f"<{tag}{left}>{html.escape(cell)}</{tag}>" for cell in cells) + "</tr>"

    counts = [
        line([question, *(str(sum(_word(getattr(row, name)) == word for row in sweep.audited)) for word in _VERDICTS)])
        for name, question in QUESTIONS.items()
    ]
    rows = [line([row.network, row.data, *(text.plain for text in _cells(row, "…"))]) for row in sweep.rows[:SHOWN]]
    more = f"<p>{len(sweep.rows) - SHOWN} more: .to_dataframe() has all</p>" if len(sweep.rows) > SHOWN else ""
    said = "<br>".join(map(html.escape, (headline(sweep), *sweep.notes, *excess_lines(sweep), *failure_lines(sweep))))
    return (
        f"<div><p>{said}</p><table>{line(['question', *_VERDICTS], 'th')}{''.join(counts)}</table>"
        f"<table>{line(['network', 'data', *_HEADS[1:]], 'th')}{''.join(rows)}</table>{more}</div>"
    )


def write_csv(rows: Sequence[Row], path: Path) -> None:
    """Write all rows; a spreadsheet that opens the file sees text and numbers, no formulas of ours."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows([astuple(row) for row in rows])
    _write(path, text.getvalue().encode("utf-8"))


def write_parquet(rows: Sequence[Row], path: Path) -> None:
    """Write all rows, with the types of the columns also where all is None."""
    try:
        import pyarrow as pa  # pyright: ignore[reportMissingImports]
        import pyarrow.parquet as pq  # pyright: ignore[reportMissingImports]
    except ImportError as error:
        raise InputError(
            f"{path}: Parquet needs pyarrow: pip install pyarrow, or give a name that ends in .csv"
        ) from error
    arrow: Any = pa
    kinds = {"str": arrow.string(), "int": arrow.int64(), "float": arrow.float64(), "bool": arrow.bool_()}
    schema = arrow.schema([(name, kinds[kind]) for name, kind in COLUMNS.items()])
    sink = arrow.BufferOutputStream()
    pq.write_table(arrow.Table.from_pylist([asdict(row) for row in rows], schema=schema), sink)
    _write(path, sink.getvalue().to_pybytes())


def _write(path: Path, content: bytes) -> None:
    try:
        write_bytes(path, content)
    except OSError as error:
        raise InputError(f"{path} cannot be written ({error.strerror or error}): check the folder") from error
