"""Distributions on a line with labels that switch: samples in rationals, and the exact error of a network."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, pairwise
from random import Random

from verify.problem.network import Network
from verify.problem.problem import Dataset

__all__ = ["Population"]

_GRID = 10**6
"""Samples are at multiples of 1 / _GRID of the distribution function."""


@dataclass(frozen=True, slots=True)
class Population:
    """x has a piecewise constant density, and y = first * (-1)^(number of switches to the left of x).

    pieces: (low, high, density), in order, without gaps, of total mass 1.   switches: in increasing order, inside.
    """

    pieces: tuple[tuple[Fraction, Fraction, Fraction], ...]
    switches: tuple[Fraction, ...]
    first: int = 1

    @property
    def densest(self) -> Fraction:
        """C, the largest density."""
        return max(density for *_, density in self.pieces)

    @property
    def shortest(self) -> Fraction:
        """rho, the length of the shortest interval of one label."""
        ends = [self.pieces[0][0], *self.switches, self.pieces[-1][1]]
        return min(b - a for a, b in pairwise(ends))

    def label(self, x: Fraction) -> int:
        """The label at x; right of a switch at one."""
        return self.first * (-1) ** bisect_right(self.switches, x)

    def sample(self, random: Random, points: int) -> Dataset:
        """Independent points, in order, with their labels; no two are the same."""
        places: set[int] = set()
        while len(places) < points:
            places.add(random.randrange(_GRID))
        rows = [self._quantile(Fraction(2 * place + 1, 2 * _GRID)) for place in sorted(places)]
        return Dataset([(x,) for x in rows], [self.label(x) for x in rows])

    def has_labelled(self, data: Dataset) -> bool:
        """All points are in the support and have their label."""
        low, high = self.pieces[0][0], self.pieces[-1][1]
        return data.dimension == 1 and all(
            low <= x <= high and y == self.label(x) for (x,), y in zip(data.inputs, data.targets, strict=True)
        )

    def error(self, network: Network) -> Fraction:
        """P[sign f(x) != y] of a network of one input with a bias; the sign of 0 is -1. Exact."""
        ends = sorted({end for low, high, _ in self.pieces for end in (low, high)} | {*self.switches})
        wrong = Fraction(0)
        for low, high, is_positive in _intervals(network, ends):
            middle = (low + high) / 2
            if is_positive != (self.label(middle) > 0):
                wrong += (high - low) * self._density(middle)
        return wrong

    def _density(self, x: Fraction) -> Fraction:
        return next(density for low, high, density in self.pieces if low <= x <= high)

    def _quantile(self, mass: Fraction) -> Fraction:
        masses = list(accumulate((high - low) * density for low, high, density in self.pieces))
        place = bisect_right(masses, mass)
        low, _, density = self.pieces[place]
        return low + (mass - (masses[place - 1] if place else 0)) / density


def _intervals(network: Network, ends: Sequence[Fraction]) -> Iterator[tuple[Fraction, Fraction, bool]]:
    """Consecutive intervals from the first to the last end that contain no end, with whether f > 0 inside."""
    low, high = ends[0], ends[-1]
    breaks = {-b / w for w, b in network.hidden_weights if w}
    knots = sorted({*ends, *(x for x in breaks if low < x < high)})
    values = [_value(network, x) for x in knots]
    for (a, p), (b, q) in pairwise(zip(knots, values, strict=True)):  # f is linear in between
        if p * q < 0:
            zero = a + (b - a) * p / (p - q)
            yield a, zero, p > 0
            yield zero, b, q > 0
        else:
            yield a, b, p + q > 0


def _value(network: Network, x: Fraction) -> Fraction:
    slope = network.architecture.slope
    z = [w * x + b for w, b in network.hidden_weights]
    return sum((v * (q if q > 0 else slope * q) for v, q in zip(network.output_weights, z, strict=True)), Fraction(0))
