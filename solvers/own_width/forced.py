"""Decisions that leave no choice: a point whose output some neuron has to serve, when only neurons that are alike can.

For the ReLU f(x_i) > 0 needs a neuron of output sign 1 that is on there, f(x_i) < 0 one of sign -1. A state in which a
point has none is excluded by one multiplier. A split whose one child is so needs no relaxed problem of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from solvers.arrays import Bits, Signs
from solvers.own_width.states import DecidedSplits, Split

__all__ = ["Forced", "Serving"]

Forced: TypeAlias = tuple[Split, int]
"""A split, and the side that is left of it: 1 or -1."""


@dataclass(frozen=True, slots=True, eq=False)
class Serving:
    """able (k, n): whether a neuron sees anything of a point.   wanted (n,): the sign that the output has to have, 0
    for either one, or where the slope is not 0.   children: of a state, left and right of a split.
    """

    able: Bits
    wanted: Signs
    children: Callable[[DecidedSplits, Split], tuple[DecidedSplits, DecidedSplits]]

    def candidates(self, known: DecidedSplits, point: int) -> list[int]:
        """The neurons that can serve a point with a wanted sign."""
        sign = int(self.wanted[point])
        return [
            j
            for j in range(len(self.able))
            if self.able[j, point] and known.get((j, point), 1) > 0 and known.get((j, None), sign) == sign
        ]

    def unserved(self, known: DecidedSplits) -> int | None:
        """A point that no neuron can serve in a state; None without one."""
        return next((int(i) for i in np.flatnonzero(self.wanted) if not self.candidates(known, int(i))), None)

    def steps(self, known: DecidedSplits, points: Iterable[int]) -> list[Forced]:
        """Splits that leave one side, one after the other, so that what is wanted at the points is decided."""
        asked = [i for i in points if self.wanted[i]]
        found: list[Forced] = []
        while (step := self._next(known, asked)) is not None:
            known = self.children(known, step[0])[0 if step[1] > 0 else 1]
            found.append(step)
        return found

    def _next(self, known: DecidedSplits, points: Sequence[int]) -> Forced | None:
        for i in points:
            serve, sign = self.candidates(known, i), int(self.wanted[i])
            if any(known.get((j, i)) == 1 and known.get((j, None)) == sign for j in serve) or not serve:
                continue
            j = serve[0]
            if known.get((j, None)) is None:
                split: Split = (j, None)
            elif known.get((j, i)) is None:
                split = (j, i)
            else:
                continue
            left, right = self.children(known, split)
            if not self.candidates(right, i):
                return split, 1
            if not self.candidates(left, i):
                return split, -1
        return None
