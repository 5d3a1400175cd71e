"""Multipliers of floats as short exact ones that the goal admits.

Of cross-entropy and of pairwise margins the entries of C_i add up to 0, with none above 0 but that of the class; with a
free output bias the C_i add up to 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from verify.checker.vector_statement import VectorProblem
from verify.problem.members import is_free

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

__all__ = ["exact_multipliers"]

BITS, SHORT = 30, 60
NEARLY = 1e-4
"""How far a fraction with a small denominator may be, relative to the largest multiplier."""

Vectors = dict[int, tuple[Fraction, ...]]


def exact_multipliers(problem: VectorProblem, multipliers: Array) -> Iterator[Vectors]:
    """Candidates, the shortest first: fractions with small denominators where these are near, then dyadic ones.

    Points whose C_i is tiny are left out.
    """
    largest = max(float(np.abs(multipliers).max(initial=0.0)), 1e-300)
    nice = [[Fraction(entry).limit_denominator(SHORT) for entry in row] for row in multipliers.tolist()]
    apart = np.abs(multipliers - np.array(nice, dtype=float)).max(initial=0.0)
    if apart <= NEARLY * largest:
        yield from _admitted(problem, nice)
    unit = Fraction(2) ** int(np.floor(np.log2(largest)) - BITS)
    small = largest * 2.0**-BITS * 4
    rounded = [
        [round(Fraction(entry) / unit) * unit if abs(entry) > small else Fraction(0) for entry in row]
        for row in multipliers.tolist()
    ]
    yield from _admitted(problem, rounded)


def _admitted(problem: VectorProblem, rows: list[list[Fraction]]) -> Iterator[Vectors]:
    """The rows, repaired where the goal bounds them; none where a free bias cannot be repaired."""
    found = [list(row) for row in rows]
    if problem.rules.HAS_CLASSES:
        for row, target in zip(found, problem.targets, strict=True):
            k = target.index(Fraction(1))
            row[:] = [min(entry, Fraction(0)) for entry in row]
            row[k] = Fraction(0)
            row[k] = -sum(row, Fraction(0))
            if problem.rules.IS_LOSS and row[k] > 1:
                row[:] = [entry / row[k] for entry in row]
    has_free = problem.decay.output_bias == 0 or is_free(problem.bias)
    if has_free and not _balanced(problem, found):
        return
    yield {i: tuple(row) for i, row in enumerate(found) if any(row)}


def _balanced(problem: VectorProblem, rows: list[list[Fraction]]) -> bool:
    """Make the sum 0, by what one point can give of all of it, or of two entries; False where none can."""
    while True:
        surplus = [sum(column, Fraction(0)) for column in zip(*rows, strict=True)]
        if not any(surplus):
            return True
        most, least = surplus.index(max(surplus)), surplus.index(min(surplus))
        part = [Fraction(0)] * len(surplus)
        if surplus[most] > 0 > surplus[least]:
            part[most] = min(surplus[most], -surplus[least])
            part[least] = -part[most]
        if not any(_gives(problem, rows, change) for change in (surplus, part) if any(change)):
            return False


def _gives(problem: VectorProblem, rows: list[list[Fraction]], change: list[Fraction]) -> bool:
    """Take the change from the first row that stays admissible without it; whether there is one."""
    for row, target in zip(rows, problem.targets, strict=True):
        other = [entry - rest for entry, rest in zip(row, change, strict=True)]
        try:
            problem.rules.dual(target, tuple(other))
        except ValueError:
            continue
        row[:] = other
        return True
    return False
