"""How many there are of something, in words."""

from __future__ import annotations

__all__ = ["count"]


def count(number: int, name: str, plural: str = "") -> str:
    """Such as "1 point", "2 points", "0 points"; `plural` where it is not `name` with an s."""
    return f"{number} {name if number == 1 else plural or f'{name}s'}"
