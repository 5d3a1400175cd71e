"""The option --classes."""

from __future__ import annotations

from verify.checker.errors import InputError

__all__ = ["two_classes"]


def two_classes(text: str | None) -> list[str] | None:
    """The two labels of `--classes`."""
    if text is None:
        return None
    labels = [label.strip() for label in text.split(",")]
    if len(labels) != 2 or not all(labels):
        raise InputError(
            f"--classes {text!r:.60} must name two labels, the negative one first, such as --classes no,yes"
        )
    return labels
