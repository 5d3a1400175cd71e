"""Labels: what a target column may hold, and which class is the negative one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, cast

from verify.checker.errors import InputError
from verify.numbers.values import Number

MISSING = frozenset({"", "nan", "na", "n/a", "null", "none", "?"})
"""Text, in lower case, that stands for a value that is missing."""

_TRUTH = {"false": 0.0, "true": 1.0}


class TextLabelsError(InputError):
    """A target column of text, where no classes are named."""


class UnknownLabelError(InputError):
    """A label that is neither of two classes.   place: where it stands.   label: as it stands there."""

    def __init__(self, place: str, label: object, classes: Sequence[object]) -> None:
        super().__init__(place, label, classes)
        self.place, self.label, self.classes = place, label, classes

    def __str__(self) -> str:
        return (
            f"{self.place} is {self.label!s:.40}, which is neither {self.classes[0]!s:.40} nor "
            f"{self.classes[1]!s:.40}: leave that point out, or correct the classes"
        )


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

    Labels that are numbers, also as text, are compared as numbers: the class "1" is the label 1.0, and True is 1.
    """
    if isinstance(classes, str) or len(classes) != 2 or label_key(classes[0]) == label_key(classes[1]):
        raise InputError(
            "classes must be two different labels, the negative and the positive one, such as ('no', 'yes'): a margin "
            "is between two"
        )
    sign = {label_key(classes[0]): -1, label_key(classes[1]): 1}
    signed: list[Number] = []
    for i, label in enumerate(labels):
        if (key := label_key(label)) not in sign:
            if label is None or str(label).strip().lower() in MISSING:
                raise InputError(
                    f"{place}[{i}] is {label!r:.20}, a missing value: leave that point out, or fill its label in"
                )
            raise UnknownLabelError(f"{place}[{i}]", label, classes)
        signed.append(sign[key])
    return signed, (f"{place}: the classes {classes[0]!s:.40} and {classes[1]!s:.40} are read as -1 and 1",)


def label_key(label: object) -> object:
    """What two labels that are the same have in common."""
    if isinstance(label, str) and (text := label.strip().lower()) in _TRUTH:
        return _TRUTH[text]
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
        remedy = (
            f"there are {len(classes)} classes and a margin is between two, so keep the points of two and name these"
        )
    return TextLabelsError(f"{place} holds text ({shown}): {remedy}")
