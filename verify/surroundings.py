"""What stands around a network where it is used: scalers before and after it, names of classes and of columns.

Data carry what was done to them since they were read, and networks what is done around them. It is neither compared
nor a part of any proof: a network is the same with other surroundings.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias, cast, final

from verify.checker.codec import rational_text
from verify.checker.errors import InputError
from verify.numbers.values import rational

__all__ = ["Affine", "Surroundings"]

Affine: TypeAlias = tuple[tuple[Fraction, ...], tuple[Fraction, ...]]
"""Factors and offsets of x_c -> factors[c] x_c + offsets[c], one of each a column or one for all; no factor is 0."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """inputs: what is done to a point before the network.   outputs: what is done to its value afterwards.

    classes: the negative and the positive label.   columns: the names of the inputs.   asks_columns: whether the source
    of the network looks for its inputs by these names.
    """

    inputs: Affine | None = None
    outputs: Affine | None = None
    classes: tuple[object, object] | None = None
    columns: tuple[str, ...] | None = None
    asks_columns: bool = False

    @property
    def is_scaled(self) -> bool:
        """Whether the network is not that of points and targets as they were given."""
        return self.inputs is not None or self.outputs is not None

    def to_json(self) -> dict[str, object]:
        """The record as JSON: exact numbers as text, labels as text, numbers or truth values."""
        return {
            **{
                name: None if part is None else {key: list(map(rational_text, part[i])) for i, key in enumerate(_PARTS)}
                for name, part in (("inputs", self.inputs), ("outputs", self.outputs))
            },
            "classes": None if self.classes is None else list(map(_plain, self.classes)),
            "columns": None if self.columns is None else list(self.columns),
            "asks_columns": self.asks_columns,
        }

    @classmethod
    def from_json(cls, value: object, place: str) -> Surroundings:
        """The record that `to_json` wrote. Raises InputError."""
        try:
            known = cast("Mapping[str, Any]", value)
            classes, columns = known["classes"], known["columns"]
            return cls(
                inputs=_affine(known["inputs"]),
                outputs=_affine(known["outputs"]),
                classes=None if classes is None else _two(classes),
                columns=None if columns is None else tuple(map(str, columns)),
                asks_columns=known["asks_columns"] is True,
            )
        except (KeyError, TypeError, ValueError, InputError):
            raise InputError(f"{place} does not say what stands around the network: audit it anew") from None


_PARTS = ("factors", "offsets")


def _affine(value: Any) -> Affine | None:
    if value is None:
        return None
    factors, offsets = (tuple(rational(number, key) for number in value[key]) for key in _PARTS)
    if not factors or len(factors) != len(offsets) or not all(factors):
        raise ValueError
    return factors, offsets


def _two(labels: Sequence[object]) -> tuple[object, object]:
    negative, positive = labels
    if not all(isinstance(label, str | int | float) for label in labels) or negative == positive:
        raise ValueError
    return negative, positive


def _plain(label: object) -> object:
    """The label as Python has it, where it comes from an array; as text, where JSON knows no such thing."""
    found = cast("Any", label).item() if hasattr(label, "item") else label
    return found if isinstance(found, str | int | float) else str(found)
