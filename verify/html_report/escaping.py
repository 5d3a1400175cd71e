"""Text of others on a page: what cannot be seen, or turns the text around it, is written as its escape."""

from __future__ import annotations

import unicodedata
from typing import Any

__all__ = ["visible"]

_TURNING = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff")


def visible(value: Any) -> Any:
    r"""A string in which control characters, lone surrogates and marks of direction stand as \x1b or \u202e.

    HTML has no place for most of them, and a file name that holds them would look like another one. Markup that is
    already safe, and values that are no strings, are left as they are.
    """
    if not isinstance(value, str) or hasattr(value, "__html__"):
        return value
    return "".join(_escaped(character) if _is_hidden(character) else character for character in value)


def _is_hidden(character: str) -> bool:
    return character in _TURNING or (character != "\n" and unicodedata.category(character) in ("Cc", "Cs"))


def _escaped(character: str) -> str:
    return character.encode("unicode_escape", "surrogatepass").decode("ascii")
