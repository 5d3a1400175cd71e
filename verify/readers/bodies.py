"""First layers that are not trained, as a source stores them: what they give, exactly, is the data of the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import final

from verify.checker.errors import InputError
from verify.checker.exact import dot
from verify.numbers.counts import count
from verify.problem.phrases import FROZEN
from verify.problem.problem import Dataset
from verify.readers.linear_layer import LinearLayer

__all__ = ["Body", "check_frozen", "note_on_frozen"]


@final
@dataclass(frozen=True, slots=True)
class Body:
    """Linear layers with biases, and the slope of the activation after each."""

    layers: tuple[LinearLayer, ...]
    slopes: tuple[Fraction, ...]

    @property
    def has_floats(self) -> bool:
        """Whether any of its numbers is a float."""
        rows = (row for layer in self.layers for row in (*layer.weights, layer.bias or ()))
        return any(isinstance(number, float) for row in rows for number in row)

    def data(self, data: Dataset) -> Dataset:
        """What the layers give at the points, exactly, with the targets as they are."""
        points: Sequence[Sequence[Fraction]] = data.inputs
        for layer, slope in zip(self.layers, self.slopes, strict=True):
            matrix = [[Fraction(number) for number in row] for row in layer.weights]
            shifts = [Fraction(number) for number in layer.bias or [0] * len(matrix)]
            values = ([dot(row, x) + b for row, b in zip(matrix, shifts, strict=True)] for x in points)
            points = [[z if z > 0 else slope * z for z in at_point] for at_point in values]
        return data.mapped(inputs=points).placed(None)


def check_frozen(layers: int, depth: int) -> None:
    """Whether a network of this depth has so many first layers beside those asked about. Raises InputError."""
    if layers >= depth:
        rest = "of which at least the last is asked about" if depth > 1 else "which is what is asked about"
        raise InputError(f"frozen is {layers}, but the network has {count(depth, 'layer')}, {rest}")


def note_on_frozen(layers: int, data: Dataset) -> str:
    """What has to be said of data that the first layers gave."""
    first = "the first layer is" if layers == 1 else f"the first {layers} layers are"
    gives, those = ("it gives", "it") if layers == 1 else ("they give", "them")
    return (
        f"{first}{FROZEN}{gives}, {count(data.dimension, 'feature')} for each point; layers are counted after {those}"
    )
