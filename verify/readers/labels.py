"""Labels: what a target column may hold, and which class is the negative one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, cast

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


def classed_targets(
    labels: Sequence[object], classes: Sequence[object], place: str
) -> tuple[Sequence[Number], tuple[str, ...]]:
    """The labels as -1 for classes[0] and 1 for classes[1], and a note that says so.

    Labels that are numbers, also as text, are compared as numbers: the class "1" is the label 1.0.
    """
    if isinstance(classes, str) or len(classes) != 2 or _key(classes[0]) == _key(classes[1]):
        raise InputError(
            "classes must be two different labels, the negative and the positive one, such as ('no', 'yes'): a margin "
            "is between two"
        )
    sign = {_key(classes[0]): -1, _key(classes[1]): 1}
    signed: list[Number] = []
    for i, label in enumerate(labels):
        if (key := _key(label)) not in sign:
            raise InputError(
                f"{place}[{i}] is {label!s:.40}, which is neither {classes[0]!s:.40} nor {classes[1]!s:.40}: "
                "leave that point out, or correct the classes"
            )
        signed.append(sign[key])
    return signed, (f"{place}: the classes {classes[0]!s:.40} and {classes[1]!s:.40} are read as -1 and 1",)


def _key(label: object) -> object:
    try:
        return float(cast("Any", label))
    except (TypeError, ValueError, OverflowError):
        return str(label).strip()


def are_names(values: Iterable[str]) -> bool:
    """Whether each text holds a letter, as the names of classes do."""
    return all(any(map(str.isalpha, value)) for value in values)


def text_labels(values: Iterable[str], place: str) -> InputError:
    """The error for a target that holds text where a number is needed."""
    classes = sorted(set(values))
    shown = ", ".join(repr(name[:30]) for name in classes[:4]) + (", ..." if len(classes) > 4 else "")
    remedy = (
        "name the negative and the positive class (--classes NEGATIVE,POSITIVE, in Python classes=(negative, "
        "positive)), or write them as -1 and 1"
    )
    if len(classes) > 2:
        remedy = f"there are {len(classes)} classes and a margin is between two, so keep two and write them as -1 and 1"
    return InputError(f"{place} holds text ({shown}): {remedy}")
