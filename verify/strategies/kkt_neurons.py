"""The neurons of a random KKT point, and what their signs and slopes on points mean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from random import Random
from typing import final

from verify.checker.exact import dot
from verify.problem.members import has_bias, has_margin, is_free, is_penalised
from verify.problem.problem import Bias, Goal

__all__ = ["UnitNeurons", "Wanted"]

_UNITS: dict[int, tuple[tuple[Fraction | int, ...], ...]] = {
    1: ((1,),),
    2: ((1, 0), (0, 1), (Fraction(3, 5), Fraction(4, 5)), (Fraction(5, 13), Fraction(12, 13))),
    3: (
        (1, 0, 0),
        (0, 1, 0),
        (0, Fraction(3, 5), Fraction(4, 5)),
        tuple(Fraction(q, 3) for q in (1, 2, 2)),
        tuple(Fraction(q, 7) for q in (2, 3, 6)),
    ),
}
_UNITS[4] = (*((*row, 0) for row in _UNITS[3]), (Fraction(1, 2),) * 4)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What a random KKT point is to be like; None leaves a number to chance.

    ties: points on kinks.   zeros: neurons with weights 0.   masks: neurons that do not see every column.
    extras: duplicates, points without a multiplier, split neurons.   both_signs: output weights of both signs.
    """

    goal: Goal
    bias: Bias
    slope: Fraction
    dimension: int | None = None
    neurons: int | None = None
    points: int | None = None
    ties: bool = True
    zeros: bool = True
    masks: bool = True
    extras: bool = True
    both_signs: bool = False


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class UnitNeurons:
    """w_j = r_j e_j, v_j = s_j r_j.   units: e_j, of length 1 on the columns that count.   signs: s_j.   sizes: r_j."""

    wanted: Wanted
    dimension: int
    masks: list[tuple[int, ...]]
    units: list[list[Fraction]]
    signs: list[int]
    sizes: list[Fraction]

    @classmethod
    def drawn(cls, random: Random, wanted: Wanted) -> UnitNeurons:
        """Random neurons."""
        bias = wanted.bias
        d = wanted.dimension or random.choice((1, 2, 2, 2, 3, 3) if not has_bias(bias) else (1, 2, 2, 3))
        count = wanted.neurons or random.choice((1, 1, 2, 2, 2, 3))
        masks = _masks(random, wanted, d, count)
        units = [_unit(random, mask, d, bias) for mask in masks]
        signs = [1] * count if random.random() < 0.5 else [random.choice((1, -1)) for _ in units]
        if random.random() < 0.3:
            signs = [-s for s in signs]
        if wanted.both_signs and count > 1:
            signs[random.randrange(1, count)] = -signs[0]
        sizes = [random.choice((Fraction(1), Fraction(1, 2), Fraction(3, 2), Fraction(2))) for _ in units]
        return cls(wanted=wanted, dimension=d, masks=masks, units=units, signs=signs, sizes=sizes)

    @property
    def slope(self) -> Fraction:
        """The slope of the activation."""
        return self.wanted.slope

    def lifted(self, row: Sequence[Fraction]) -> Sequence[Fraction]:
        """The point with the appended 1 when there is a bias."""
        return row if not has_bias(self.wanted.bias) else (*row, Fraction(1))

    def value(self, row: Sequence[Fraction]) -> Fraction:
        """f(x)."""
        x = self.lifted(row)
        found = Fraction(0)
        for s, r, e in zip(self.signs, self.sizes, self.units, strict=True):
            z = dot(e, x)
            found += s * r * r * (z if z > 0 else self.slope * z)
        return found

    def pattern(self, random: Random, rows: Sequence[Sequence[Fraction]], share: float) -> list[list[int]]:
        """Signs of e_j.x_i, some replaced by ties (0)."""
        share = share if self.wanted.ties else -1.0
        found: list[list[int]] = []
        for unit in self.units:
            z = [dot(unit, row) for row in rows]
            found.append([0 if value == 0 or random.random() < share else (1 if value > 0 else -1) for value in z])
        return found

    def slopes(self, random: Random, pattern: Sequence[Sequence[int]]) -> list[list[Fraction]]:
        """The slope of each neuron at each point, one of several at a kink."""
        a = self.slope
        free = (Fraction(1), a, (1 + a) / 2, (1 + 3 * a) / 4)
        return [[Fraction(1) if s > 0 else a if s < 0 else random.choice(free) for s in row] for row in pattern]

    def linear_at(self, pattern: Sequence[Sequence[int]], i: int) -> list[Fraction]:
        """The linear function that f is at the point i."""
        factors = [
            s * r * r * (1 if row[i] > 0 else self.slope if row[i] < 0 else 0)
            for s, r, row in zip(self.signs, self.sizes, pattern, strict=True)
        ]
        return [dot(factors, column) for column in zip(*self.units, strict=True)]

    def end(self, random: Random, pattern: Sequence[Sequence[int]], i: int, row: Sequence[Fraction]) -> int:
        """The sign of the coefficient at x_i: that of f(x_i) for max-margin, else often of a neuron with a tie there.

        A kink where the two agree is what makes a point worth leaving: there a s_j c_i < g s_j c_i.
        """
        is_free = not has_margin(self.wanted.goal)
        value = dot(self.linear_at(pattern, i), row)
        tied = [s for s, signs in zip(self.signs, pattern, strict=True) if signs[i] == 0]
        if tied and random.random() < 0.6 and (is_free or not value):
            return tied[0]
        if is_free and random.random() < 0.5:
            return random.choice((1, -1))
        return (value > 0) - (value < 0) or random.choice((1, -1))


def _masks(random: Random, wanted: Wanted, d: int, count: int) -> list[tuple[int, ...]]:
    columns = tuple(range(d + has_bias(wanted.bias)))
    masks: list[tuple[int, ...]] = []
    for _ in range(count):
        mask = columns
        if wanted.masks and d + (is_penalised(wanted.bias)) > 1 and random.random() < 0.12:
            hidden = random.randrange(d)
            mask = tuple(c for c in columns if c != hidden)
        masks.append(mask)
    return masks


def _unit(random: Random, mask: Sequence[int], d: int, bias: Bias) -> list[Fraction]:
    """A direction on the mask, shape (columns,), of length 1 on the columns that count; the free bias is small."""
    columns = d + has_bias(bias)
    counted = [c for c in mask if c < d or is_penalised(bias)]
    unit = [Fraction(0)] * columns
    if not counted:
        return unit
    values = list(random.choice(_UNITS[len(counted)]))
    random.shuffle(values)
    for c, value in zip(counted, values, strict=True):
        unit[c] = Fraction(value) * random.choice((1, -1))
    if is_free(bias) and d in mask:
        unit[d] = Fraction(random.randint(-2, 2), 2)
    return unit
