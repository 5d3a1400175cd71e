"""The report of an audit on a terminal, as plain text, or as a page."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

from verify.cli.commands import command_line, without_places
from verify.files.writing import write_text

if TYPE_CHECKING:
    from verify.auditing.record import Audit

__all__ = ["print_report", "write_json", "write_page"]


def print_report(result: Audit, folder: str | None, *, to_stderr: bool, given: Mapping[str, str] | None = None) -> None:
    """Print it; as wide as the terminal, at most 110 columns.   given: as in `verify.report.wording`."""
    from rich.console import Console

    from verify.report import as_text, render

    console = Console(stderr=to_stderr, highlight=False, emoji=False)
    if console.is_terminal:
        console.width = min(console.width, 110)
        console.print(render(result, folder=folder, given=given))
    else:
        width = console.width if "COLUMNS" in os.environ else 100
        click.echo(as_text(result, width, folder=folder, given=given, encoding=console.encoding), err=to_stderr)


def write_json(value: object, path: str) -> None:
    """Write it to a file, or for - print it."""
    if path == "-":
        click.echo(json.dumps(value, indent=2))
    else:
        write_text(path, json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def write_page(result: Audit, page: str, folder: str | None, given: Mapping[str, str] | None) -> None:
    """Write it as an HTML page, with the command that is running.   folder: of its certificates, if there is one."""
    names = None if given is None else {word: without_places(text) for word, text in given.items()}
    result.to_html(page, certificates=folder, command=command_line(), given=names)
