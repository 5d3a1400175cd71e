"""Unknowns moved onto linear equations exactly while signs are kept: for KKT points by construction."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from random import Random

import numpy as np

from verify.numbers.floats import to_float, to_floats, to_matrix

__all__ = ["moved"]

_Rows = list[list[Fraction]]
_Line = Sequence[Fraction | int]

_ROOM = 0.25  # of the inequalities, in the linear program
_REACH = 6  # of the unknowns


def moved(
    random: Random,
    start: Sequence[Sequence[Fraction]],
    lines: Sequence[_Line],
    right: Sequence[Fraction],
    above: Sequence[tuple[_Line, Fraction | int]],
    is_kept: Callable[[_Rows], bool],
) -> _Rows | None:
    """Unknowns z near `start` and shaped like it: lines.z = right, and line.z + offset > 0 for the pairs in `above`.

    A linear program in floats (least L1 distance, room of 1/4), rounded to eighths, then exact elimination. None when
    that fails.
    """
    from scipy.optimize import linprog

    width = len(start[0])
    origin = np.array([to_float(value) for row in start for value in row])
    size = len(origin)
    level = to_matrix(lines).reshape(len(lines), size)
    inside = np.array([[to_float(value) for value in line] for line, _ in above]).reshape(len(above), size)
    offsets = np.array([to_float(offset) for _, offset in above])
    eye = np.eye(size)
    found = linprog(
        np.r_[np.zeros(size), np.array([random.uniform(0.5, 1.5) for _ in range(size)])],
        A_ub=np.vstack([np.hstack([-inside, 0 * inside]), np.hstack([eye, -eye]), np.hstack([-eye, -eye])]),
        b_ub=np.r_[offsets - _ROOM, origin, -origin],
        A_eq=np.hstack([level, 0 * level]),
        b_eq=to_floats(right),
        bounds=[(-_REACH, _REACH)] * size + [(0, None)] * size,
    )
    if found.status != 0:
        return None
    z = [Fraction(round(8 * value), 8) for value in found.x[:size]]
    for _ in range(4 if lines else 1):
        order = random.sample(range(size), size)
        shifted = list(z)
        if lines:
            change = _eliminated(
                [[line[q] for q in order] for line in lines],
                [b - sum(p * q for p, q in zip(line, z, strict=True)) for line, b in zip(lines, right, strict=True)],
            )
            if change is None:
                return None
            for q, value in zip(order, change, strict=True):
                shifted[q] += value
        rows = [shifted[i : i + width] for i in range(0, size, width)]
        if is_kept(rows):
            return rows
    return None


def _eliminated(lines: Sequence[_Line], right: Sequence[Fraction]) -> list[Fraction] | None:
    """A solution of lines.z = right with the unknowns that come first, the others 0; None when there is none."""
    table = [[*map(Fraction, line), Fraction(b)] for line, b in zip(lines, right, strict=True)]
    width, pivots, place = len(lines[0]), [], 0
    for column in range(width):
        pivot = next((r for r in range(place, len(table)) if table[r][column]), None)
        if pivot is None:
            continue
        table[place], table[pivot] = table[pivot], table[place]
        lead = table[place][column]
        table[place] = [value / lead for value in table[place]]
        for r, row in enumerate(table):
            if r != place and row[column]:
                factor = row[column]
                table[r] = [value - factor * other for value, other in zip(row, table[place], strict=True)]
        pivots.append(column)
        place += 1
    if any(row[-1] for row in table[place:]):
        return None
    found = [Fraction(0)] * width
    for r, column in enumerate(pivots):
        found[column] = table[r][-1]
    return found
