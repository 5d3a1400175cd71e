"""The report of an audit as one HTML file: words, pictures and hashes, readable offline and on paper.

The words are those of `verify.report`, the pictures those of `verify.plots`, in it as SVG. The file loads nothing and
runs nothing: a content security policy in its head forbids it.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from verify.files.writing import write_text
from verify.html_report.content import AuditOnPage, Page, page
from verify.html_report.escaping import visible
from verify.html_report.html_page import HtmlPage

if TYPE_CHECKING:
    from jinja2 import Template

__all__ = ["AuditOnPage", "HtmlPage", "html_report"]


def html_report(
    audit: AuditOnPage,
    path: str | Path | None = None,
    *,
    folder: str | Path | None = None,
    command: str | None = None,
    given: Mapping[str, str] | None = None,
) -> HtmlPage:
    """The page of `audit`; written to `path` as well, when one is given.

    folder: where its certificates were written, for links to them that are relative to the folder of `path`.
    command: the command line that made it, as it is to be shown.   given: what stands for NETWORK, DATA and the like in
    the commands that it names.

    Raises OSError when the file cannot be written.
    """
    place = None if path is None else Path(path)
    text = _render(page(audit, place=place, folder=folder, command=command, given=given))
    if path is not None:
        write_text(path, text)
    return HtmlPage(text, path)


def _render(content: Page) -> str:
    return _template().render(page=content, style=_resource("page.css"))


@cache
def _template() -> Template:
    from jinja2 import Environment, StrictUndefined

    environment = Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=StrictUndefined, finalize=visible
    )
    return environment.from_string(_resource("page.html.jinja"))


def _resource(name: str) -> str:
    return (files("verify.html_report") / name).read_text(encoding="utf-8")
