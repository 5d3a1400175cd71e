"""Convolutions and pooling as matrices: which parameter stands at each place, for values in channels and positions.

A value of shape (channels, length) or (channels, height, width) is one row of features, channel by channel and each row
by row, as `Flatten` of PyTorch lays it out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import final

from verify.checker.errors import InputError, ShapeError
from verify.checker.statement import MAX_WEIGHTS

__all__ = ["Convolution", "Entries", "Shape", "pooled"]

Shape = tuple[int, ...]
Entries = tuple[tuple[int | None, ...], ...]
"""For each output and each input the index of a parameter, None where there is no weight."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Convolution:
    """A filter of each output channel over the inputs: one number for each spatial axis.

    inputs: (channels, length, ...).   kernel, stride, dilation: of each axis.   padding: zeros before the first place.
    after: zeros behind the last one; None: as many as before.   groups: into which the channels are divided.
    The filters are counted as PyTorch stores them: (output channels, input channels / groups, *kernel), row by row.
    """

    inputs: Shape
    channels: int
    kernel: Shape
    stride: Shape
    padding: Shape
    dilation: Shape
    after: Shape | None = None
    groups: int = 1

    @property
    def outputs(self) -> Shape:
        """(channels, length, ...) of what comes out. Raises ShapeError where nothing does."""
        sizes = zip(
            self.inputs[1:], self.kernel, self.stride, self.padding, self.after or self.padding, self.dilation,
            strict=True,
        )  # fmt: skip
        found = [(size + p + q - d * (k - 1) - 1) // s + 1 for size, k, s, p, q, d in sizes]
        if min(found) < 1:
            raise ShapeError(
                f"a kernel of {_shown(self.kernel)} does not fit into a value of {_shown(self.inputs[1:])}"
            )
        return (self.channels, *found)

    @property
    def entries(self) -> Entries:
        """The index of a weight at each place, one row for each output. Raises InputError for too many places."""
        outputs, seen = self.outputs, self.inputs[0] // self.groups
        if prod(outputs) * prod(self.inputs) > MAX_WEIGHTS:
            raise InputError(
                f"its matrix has {prod(outputs)} rows of {prod(self.inputs)} places, and {MAX_WEIGHTS} is the most: "
                "give smaller inputs"
            )
        taps = [*product(*map(range, self.kernel))]
        rows: list[tuple[int | None, ...]] = []
        for at in product(*map(range, outputs)):
            row: list[int | None] = [None] * prod(self.inputs)
            group = at[0] * self.groups // self.channels
            for channel, (t, tap) in product(range(seen), enumerate(taps)):
                place = self._place(at[1:], tap)
                if place is not None:
                    row[_index((group * seen + channel, *place), self.inputs)] = (at[0] * seen + channel) * len(
                        taps
                    ) + t
            rows.append(tuple(row))
        return tuple(rows)

    def _place(self, at: Shape, tap: Shape) -> Shape | None:
        """Where a tap of the filter falls; None in the padding."""
        axes = zip(at, tap, self.stride, self.padding, self.dilation, strict=True)
        found = tuple(i * s - p + t * d for i, t, s, p, d in axes)
        return found if all(0 <= i < size for i, size in zip(found, self.inputs[1:], strict=True)) else None


def pooled(inputs: Shape, kernel: Shape, stride: Shape) -> tuple[tuple[int | None, ...], Shape]:
    """For each feature the sum that it is a term of, None for none; and the shape of the sums.

    Raises InputError for windows that overlap, where a weight after them would be the sum of several.
    """
    sizes = zip(inputs[1:], kernel, stride, strict=True)
    outputs = (inputs[0], *((size - k) // s + 1 for size, k, s in sizes))
    if min(outputs) < 1:
        raise ShapeError(f"a window of {_shown(kernel)} does not fit into a value of {_shown(inputs[1:])}")
    found: list[int | None] = [None] * prod(inputs)
    for at in product(*map(range, outputs)):
        for place in _window(at[1:], kernel, stride):
            feature = _index((at[0], *place), inputs)
            if found[feature] is not None:
                raise InputError(
                    f"its windows of {_shown(kernel)} overlap, so that places of the matrix after it hold sums of "
                    "weights, which no network here does: pool with a stride of at least the window"
                )
            found[feature] = _index(at, outputs)
    return tuple(found), outputs


def _window(at: Shape, kernel: Shape, stride: Shape) -> Iterator[Shape]:
    for tap in product(*map(range, kernel)):
        yield tuple(i * s + t for i, s, t in zip(at, stride, tap, strict=True))


def _index(at: Sequence[int], shape: Shape) -> int:
    """The place of an entry of an array, row by row."""
    found = 0
    for i, size in zip(at, shape, strict=True):
        found = found * size + i
    return found


def _shown(sizes: Sequence[int]) -> str:
    return " × ".join(map(str, sizes))
