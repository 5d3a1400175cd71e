"""Docstrings as they are written here, for the reference of the site: a line "name: what it is" becomes a list item."""  # noqa: INP001

from __future__ import annotations

import re
from typing import Any

import griffe

_ITEM = re.compile(r"^(?P<names>\w+(?:, \w+)*): (?P<text>.*)$")
_NEXT = re.compile(r"(?<=\S)\s{3,}(?=\w+(?:, \w+)*: )")


class Lists(griffe.Extension):
    """Turns the lines on parameters and fields into lists; what follows such a line belongs to it."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Rewrite the docstring of a function or a class."""
        if obj.docstring is None or not isinstance(obj, griffe.Function | griffe.Class):
            return
        obj.docstring.value = listed(obj.docstring.value, _names(obj))


def _names(obj: griffe.Function | griffe.Class) -> set[str]:
    if isinstance(obj, griffe.Function):
        return {parameter.name for parameter in obj.parameters}
    return set(obj.members) | {parameter.name for parameter in obj.parameters}


def listed(text: str, names: set[str]) -> str:
    """The docstring as Markdown: consecutive "name: text" lines about one of `names` as a list."""
    lines: list[str] = []
    is_item = False
    for line in (part for whole in text.splitlines() for part in _NEXT.split(whole)):
        found = _ITEM.match(line)
        if found and set(found["names"].split(", ")) <= names:
            if not is_item and lines and lines[-1].strip():
                lines.append("")
            named = ", ".join(f"`{name}`" for name in found["names"].split(", "))
            lines.append(f"- {named}: {found['text']}")
            is_item = True
        elif is_item and line.strip():
            lines.append(f"    {line.strip()}")
        else:
            is_item = False
            lines.append(line)
    return "\n".join(lines)
