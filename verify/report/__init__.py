"""The report of an audit: the words of `wording`, drawn in a terminal, as text or in a notebook.

Characters outside ASCII appear only where they can be shown.
"""

from __future__ import annotations

import html
import io
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from textwrap import wrap
from typing import final

from rich.box import SIMPLE_HEAD, Box
from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from verify.deciders.finding import Verdict
from verify.report.audited import Audited
from verify.report.layers import LAYERS
from verify.report.wording import Wording, wording

__all__ = ["Report", "as_html", "as_text", "drawn", "render"]

_STYLES = {Verdict.PROVED: "bold green", Verdict.REFUTED: "bold red", Verdict.UNDECIDED: "bold yellow"}
_COLOURS = {Verdict.PROVED: "#1a7f37", Verdict.REFUTED: "#cf222e", Verdict.UNDECIDED: "#9a6700"}
_ASCII = {
    "½‖θ‖²": "1/2 |theta|^2", "½‖W‖²": "1/2 |W|^2",
    "y·f(x)": "y f(x)", "λ": "lambda", "ε": "epsilon", "δ": "delta", "≥": ">=", "≤": "<=",
    "…": "...", "·(": "*(", "·": "-", "√": "sqrt ", "°": " degrees",
}  # fmt: skip
FAULTS = "what is wrong (neurons and points are counted from 0; amounts are rounded to the nearest)"
STEPS = "what to do next"
_ASCII_RULE = Box("    \n    \n -- \n    \n    \n    \n    \n    \n", ascii=True)


@final
@dataclass(frozen=True, slots=True)
class Report:
    """A report that rich can print; as wide as the console, in the characters that it has."""

    words: Wording

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Title and notes, the table of verdicts, the numbers, what is wrong."""

        def shown(text: str, style: str = "") -> _Paragraph:
            return _Paragraph(_in_ascii(text) if options.ascii_only else text, style)

        first, *others = self.words.title
        yield shown(first, "bold")
        yield from map(shown, others)
        for note in self.words.notes:
            yield _listed(shown("·", "dim"), shown(note, "dim"))
        table = _verdicts(is_ascii=options.ascii_only)
        _add_rows(table, self.words.rows, shown)
        yield table
        for line in self.words.legend:
            yield shown(line, "dim")
        if self.words.legend:
            yield ""
        grid = Table.grid(padding=(0, 2, 0, 0))
        grid.add_column(no_wrap=True, style="dim")
        grid.add_column()
        for label, text in self.words.numbers:
            grid.add_row(label, shown(text, "bold" if label == "excess" else ""))
        yield grid
        if self.words.layers:
            yield ""
            yield shown(LAYERS, "dim")
            table = _verdicts(is_ascii=options.ascii_only)
            _add_rows(table, self.words.layers, shown)
            yield table
        if self.words.faults:
            if not self.words.layers:  # a table ends with a line of its own
                yield ""
            yield shown(FAULTS, "dim")
        for fault in self.words.faults:
            yield _listed(shown("·", "dim"), shown(fault))
        if self.words.steps:
            if self.words.faults or not self.words.layers:
                yield ""
            yield shown(STEPS, "dim")
        for step in self.words.steps:
            yield _listed(shown("·", "dim"), shown(step))


def _verdicts(*, is_ascii: bool) -> Table:
    """A table of verdicts, still empty."""
    box = _ASCII_RULE if is_ascii else SIMPLE_HEAD
    table = Table(box=box, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("question", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    table.add_column("what is proved")
    return table


def _add_rows(table: Table, rows: Iterable[tuple[str, Verdict, str, str]], shown: Callable[[str], _Paragraph]) -> None:
    """Rows (question, verdict, level, what is proved)."""
    for question, verdict, level, text in rows:
        word = Text(verdict.value, _STYLES[verdict])
        table.add_row(question, word.append(f" ({level})", "dim") if level else word, shown(text))


@final
@dataclass(frozen=True, slots=True)
class _Paragraph:
    """Text broken at plain spaces only, so that "12.8 %" with its no-break space stays together."""

    text: str
    style: str

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        lines = wrap(self.text, options.max_width, break_on_hyphens=False) or [""]
        yield from (Text(line.replace("\u00a0", " "), self.style, no_wrap=True, overflow="ignore") for line in lines)

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        longest = max(map(len, self.text.split(" ")))
        return Measurement(longest, len(self.text)).with_maximum(options.max_width)


def _listed(mark: _Paragraph, text: _Paragraph) -> Table:
    grid = Table.grid(padding=(0, 1, 0, 0))
    grid.add_row(mark, text)
    return grid


def render(audit: Audited, *, folder: str | None = None, given: Mapping[str, str] | None = None) -> Report:
    """The report of `audit`, for `rich.console.Console.print`.

    folder: where its certificates were written.   given: what stands for NETWORK and DATA in commands.
    """
    return Report(wording(audit, folder=folder, given=given))


def as_text(
    audit: Audited,
    width: int = 100,
    *,
    folder: str | None = None,
    given: Mapping[str, str] | None = None,
    encoding: str | None = None,
) -> str:
    """The report as plain lines of at most `width` characters, for an output in `encoding` (None: that of stdout)."""
    return drawn(render(audit, folder=folder, given=given), width, encoding)


def drawn(report: Report, width: int, encoding: str | None) -> str:
    """A report as plain lines, for an output in `encoding` (None: that of stdout)."""
    encoding = encoding or getattr(sys.stdout, "encoding", None) or "utf-8"
    buffer = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    console = Console(
        file=buffer,
        width=width,
        color_system=None,
        force_terminal=False,
        force_jupyter=False,  # which would show the text and write nothing
        highlight=False,
        emoji=False,
    )
    console.print(report)
    buffer.flush()
    buffer.seek(0)
    return "\n".join(line.rstrip() for line in buffer.read().splitlines())


def _in_ascii(text: str) -> str:
    for character, plain in _ASCII.items():
        text = text.replace(character, plain)
    return "\u00a0".join(part.encode("ascii", "replace").decode() for part in text.split("\u00a0"))


def as_html(audit: Audited, *, folder: str | None = None) -> str:
    """The report as one self-contained piece of HTML, for `_repr_html_` in notebooks."""
    words = wording(audit, folder=folder)
    left = ' style="text-align:left;vertical-align:top;padding:2px 16px 2px 0"'

    def row(*cells: str, tag: str = "td") -> str:
        return "<tr>" + "".join(f"<{tag}{left}>{cell}</{tag}>" for cell in cells) + "</tr>"

    first, *others = map(html.escape, words.title)
    notes = "".join(f"<li>{html.escape(note)}</li>" for note in words.notes)
    faults = "".join(f"<li>{html.escape(fault)}</li>" for fault in words.faults)
    steps = "".join(f"<li>{html.escape(step)}</li>" for step in words.steps)
    rows, layers = (
        "".join(
            row(
                html.escape(question),
                f'<b style="color:{_COLOURS[verdict]}">{verdict.value}</b>' + (f" ({level})" if level else ""),
                html.escape(text),
            )
            for question, verdict, level, text in answers
        )
        for answers in (words.rows, words.layers)
    )
    return "".join(
        (
            f"<div><p><b>{first}</b><br>{'<br>'.join(others)}</p>",
            f"<ul>{notes}</ul>" if notes else "",
            f"<table>{row('question', 'verdict', 'what is proved', tag='th')}{rows}</table>",
            f"<table>{''.join(row(html.escape(label), html.escape(text)) for label, text in words.numbers)}</table>",
            f"<p>{LAYERS}</p><table>{layers}</table>" if layers else "",
            f"<p>{FAULTS}</p><ul>{faults}</ul>" if faults else "",
            f"<p>{STEPS}</p><ul>{steps}</ul>" if steps else "",
            "".join(f"<p><small>{html.escape(line)}</small></p>" for line in words.legend),
            "</div>",
        )
    )
