"""A page as text that does not fill a notebook with its source."""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import final

__all__ = ["HtmlPage"]

HEIGHT = 640
"""Pixels of the frame in a notebook."""


@final
class HtmlPage(str):
    """The text of a page; its repr is one line, and a notebook shows the page itself.

    path: where it was written; then a notebook shows the line, and not the page once more.
    """

    __slots__ = ("path",)

    path: Path | None

    def __new__(cls, text: str, path: str | Path | None = None) -> HtmlPage:
        """The page of this text."""
        page = super().__new__(cls, text)
        page.path = None if path is None else Path(path)
        return page

    def __getnewargs__(self) -> tuple[str, Path | None]:
        return str(self), self.path

    def __repr__(self) -> str:
        where = "" if self.path is None else f", written to {self.path}"
        return f"<HtmlPage of {len(self):,} characters{where}>"

    def _repr_html_(self) -> str | None:
        if self.path is not None:
            return None
        style = f"width:100%; height:{HEIGHT}px; border:1px solid #ccc"
        frame = f'<iframe title="report" sandbox="allow-popups" style="{style}" srcdoc="{escape(self)}"></iframe>'
        return f"<div>{frame}</div>"
