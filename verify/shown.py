"""Tables for a terminal and for a notebook: the same rows of text, lined up or as escaped HTML."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence

__all__ = ["as_html", "as_lines", "as_text"]

_CELL = ' style="text-align:left;vertical-align:top;padding:2px 16px 2px 0"'


def as_lines(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """A table in columns, without a head where that is empty."""
    every = [list(head)] if head else []
    every += [list(row) for row in rows]
    widths = [max(len(row[column]) for row in every) for column in range(len(every[0]))] if every else []
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in every]


def as_text(title: str, head: Sequence[str], rows: Iterable[Sequence[str]], rest: Iterable[str] = ()) -> str:
    """A title, the table below it, further lines."""
    return "\n".join((title, *(f"  {line}" for line in as_lines(head, rows)), *(f"  {line}" for line in rest)))


def as_html(title: str, head: Sequence[str], rows: Iterable[Sequence[str]], rest: Iterable[str] = ()) -> str:
    """The same as one piece of HTML for `_repr_html_`; every text is escaped."""

    def row(cells: Sequence[str], tag: str) -> str:
        return f"<tr>{''.join(f'<{tag}{_CELL}>{html.escape(cell)}</{tag}>' for cell in cells)}</tr>"

    body = "".join(row(cells, "td") for cells in rows)
    table = f"<table>{row(head, 'th') if head else ''}{body}</table>" if body else ""
    lines = "".join(f"<p>{html.escape(line)}</p>" for line in rest)
    return f"<div><p><b>{html.escape(title)}</b></p>{table}{lines}</div>"
