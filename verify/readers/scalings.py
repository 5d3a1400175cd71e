"""Scalings x -> factor x + offset of each column, in rationals: what a scaler does to the data or the targets."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, cast, final

from verify.checker.errors import InputError, ShapeError
from verify.numbers.counts import count
from verify.numbers.values import Number
from verify.surroundings import Surroundings

if TYPE_CHECKING:
    from verify.problem.problem import Dataset

__all__ = ["Scaling", "scaled_inputs", "scaled_targets"]


@final
@dataclass(frozen=True, slots=True)
class Scaling:
    """x_c -> factors[c] x_c + offsets[c]; one of each for all columns, or for each column its own. No factor is 0."""

    factors: tuple[Fraction, ...]
    offsets: tuple[Fraction, ...]

    @classmethod
    def of(cls, *, factors: Iterable[Number] = (1,), offsets: Iterable[Number] = (0,), place: str) -> Scaling:
        """The scaling with these numbers; one of a kind stands for all columns. InputError names the place."""
        scales, shifts = [Fraction(number) for number in factors], [Fraction(number) for number in offsets]
        width = max(len(scales), len(shifts))
        if len({len(scales), len(shifts), width} - {1}) > 1:
            raise ShapeError(
                f"{place} scales {len(scales)} columns but shifts {len(shifts)}: give one of each a column"
            )
        if any(not scale for scale in scales):
            at = scales.index(Fraction(0))
            raise InputError(
                f"{place} scales column {at} by 0, which no column can be: correct it, or leave that column out"
            )
        return cls(tuple(scales * (width // len(scales))), tuple(shifts * (width // len(shifts))))

    @classmethod
    def standardising(cls, mean: Iterable[Number], scale: Iterable[Number], place: str) -> Scaling:
        """x -> (x - mean) / scale. InputError names the place of a scale that is 0."""
        shift = cls.of(offsets=[-Fraction(number) for number in mean], place=place)
        return shift.then(cls.of(factors=scale, place=place).inverse(), place)

    def __len__(self) -> int:
        """The number of columns; 1 also when it is the same for all."""
        return len(self.factors)

    @property
    def is_identity(self) -> bool:
        """Whether it changes nothing."""
        return set(self.factors) == {1} and set(self.offsets) == {0}

    @property
    def changes_signs_only(self) -> bool:
        """Whether it leaves every size, and so every norm, as it is."""
        return {*map(abs, self.factors)} == {1} and set(self.offsets) == {0}

    def wide(self, columns: int, place: str) -> Scaling:
        """The scaling of that many columns."""
        if len(self) == columns:
            return self
        if len(self) != 1:
            raise ShapeError(
                f"{place} scales {count(len(self), 'column')}, but there {'is' if columns == 1 else 'are'} {columns}: "
                "give the data that it was made for"
            )
        return Scaling(self.factors * columns, self.offsets * columns)

    def of_columns(self, places: Sequence[int], place: str) -> Scaling:
        """The scaling of the columns at these places, in this order."""
        own = self.wide(len(places), place)
        return Scaling(tuple(own.factors[j] for j in places), tuple(own.offsets[j] for j in places))

    def then(self, following: Scaling, place: str) -> Scaling:
        """Both, one after the other."""
        width = max(len(self), len(following))
        first, second = self.wide(width, place), following.wide(width, place)
        factors = zip(first.factors, second.factors, strict=True)
        offsets = zip(first.offsets, second.factors, second.offsets, strict=True)
        return Scaling(tuple(a * b for a, b in factors), tuple(a * b + c for a, b, c in offsets))

    def inverse(self) -> Scaling:
        """The scaling that takes it back."""
        pairs = list(zip(self.factors, self.offsets, strict=True))
        return Scaling(tuple(1 / a for a, _ in pairs), tuple(-c / a for a, c in pairs))

    def of_row(self, row: Sequence[Fraction]) -> tuple[Fraction, ...]:
        """The scaled row, of as many entries as there are columns."""
        return tuple(a * x + c for a, x, c in zip(self.factors, row, self.offsets, strict=True))

    def before(
        self, weights: Sequence[Sequence[Number]], bias: Sequence[Number] | None, place: str
    ) -> tuple[list[list[Fraction]], list[Fraction] | None]:
        """Weights and bias of the linear map after this scaling, as one map."""
        rows = [[Fraction(weight) for weight in row] for row in weights]
        own = self.wide(len(rows[0]), place)
        shifts = [sum((w * c for w, c in zip(row, own.offsets, strict=True)), Fraction(0)) for row in rows]
        has_bias = bias is not None or any(shifts)
        biases = [Fraction(b) + s for b, s in zip(bias or [0] * len(rows), shifts, strict=True)] if has_bias else None
        return [[w * a for w, a in zip(row, own.factors, strict=True)] for row in rows], biases

    def after(
        self, weights: Sequence[Sequence[Number]], bias: Sequence[Number] | None, place: str
    ) -> tuple[list[list[Fraction]], list[Fraction] | None]:
        """Weights and bias of the linear map before this scaling, as one map."""
        own = self.wide(len(weights), place)
        rows = [[Fraction(w) * a for w in row] for row, a in zip(weights, own.factors, strict=True)]
        if bias is None and not any(own.offsets):
            return rows, None
        return rows, list(own.of_row([Fraction(b) for b in bias or [0] * len(rows)]))


def scaled_inputs(data: Dataset, scaling: Scaling, place: str) -> Dataset:
    """The data with every point scaled, exactly."""
    own = scaling.wide(data.dimension, place)
    known = data.surroundings or Surroundings()
    before = own if known.inputs is None else Scaling(*known.inputs).then(own, place)
    around = replace(known, inputs=(before.factors, before.offsets))
    return data.mapped(inputs=[own.of_row(row) for row in data.inputs]).placed(around)


def scaled_targets(data: Dataset, scaling: Scaling, place: str) -> Dataset:
    """The data with every target scaled, exactly."""
    own = scaling.wide(1, place)
    known = data.surroundings or Surroundings()
    before = own if known.outputs is None else Scaling(*known.outputs).inverse().then(own, place)
    back = before.inverse()
    around = replace(known, outputs=(back.factors, back.offsets))
    return data.mapped(targets=[cast("Fraction", own.of_row((target,))[0]) for target in data.targets]).placed(around)
