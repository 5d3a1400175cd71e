"""One linear map as a source stores it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

from verify.numbers.values import Number
from verify.readers.positions import Entries

__all__ = ["NAMELESS", "LinearLayer"]

NAMELESS = "no bias"
"""The name of a bias that a framework has no name for."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class LinearLayer:
    """One linear map: weights, one row for each output, and bias, one number for each output, or None.

    weights_name, bias_name: what the framework calls them, for messages.
    entries: of a layer that shares weights, the index of the parameter at each place, None where there is none (the
    weight there is 0).   bias_entries: likewise of its biases, numbered by themselves.
    """

    weights: Sequence[Sequence[Number]]
    bias: Sequence[Number] | None
    weights_name: str
    bias_name: str
    entries: Entries | None = None
    bias_entries: Sequence[int] | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """(outputs, inputs)."""
        return len(self.weights), len(self.weights[0])
