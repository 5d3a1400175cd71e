"""Labels: what a target column may hold, and when 0 means the negative class."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from verify.errors import InputError
from verify.readers.shorthand import Number


def signed_targets(targets: Sequence[Number], place: str) -> tuple[Sequence[Number], tuple[str, ...]]:
    """The targets with 0 and 1 read as the classes -1 and 1, and a note that says so; all other targets unchanged.

    Only when both 0 and 1 occur, and nothing else: other numbers are values to fit.
    """
    if set(targets) != {0, 1}:
        return targets, ()
    note = f"{place} holds the labels 0 and 1: they are read as -1 and 1"
    return [1 if target == 1 else -1 for target in targets], (note,)


def are_names(values: Iterable[str]) -> bool:
    """Whether each text holds a letter, as the names of classes do."""
    return all(any(map(str.isalpha, value)) for value in values)


def text_labels(values: Iterable[str], place: str) -> InputError:
    """The error for a target that holds text where a number is needed."""
    classes = sorted(set(values))
    shown = ", ".join(repr(name[:30]) for name in classes[:4]) + (", ..." if len(classes) > 4 else "")
    remedy = "write the two classes as -1 and 1, or as 0 and 1"
    if len(classes) > 2:
        remedy = f"there are {len(classes)} classes and a margin is between two, so keep two and write them as -1 and 1"
    return InputError(f"{place} holds text ({shown}): {remedy}")
