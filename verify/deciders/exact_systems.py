"""Exact solutions of linear systems near float ones, and exact least-norm points of a shifted cone."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import cast

import numpy as np

from solvers.arrays import Floats, Indices
from verify.checker.exact import dot
from verify.deciders.rounding import dyadic, solve_exactly
from verify.numbers.floats import to_float, to_floats, to_matrix

Vector = list[Fraction]

NOTHING = 1e-7  # what counts as zero in a float solution, relative to its largest entry
BITS = 40


def floats(lines: Sequence[Sequence[Fraction]], width: int) -> Floats:
    """The lines as a matrix of so many columns, also when there are none."""
    return to_matrix(lines).reshape(len(lines), width)


def solution_near(
    matrix: Sequence[Sequence[Fraction]],
    right: Sequence[Fraction],
    guess: Floats,
    nonnegative: Sequence[bool],
    units: Floats | None = None,
    bits: int = BITS,
) -> Vector | None:
    """x near `guess` with matrix x = right exactly, x >= 0 where asked; None when the guess does not lead to one.

    Entries that should not be negative and are nearly 0 become 0. As many of the others as the rank, large ones first,
    are solved for; the rest are rounded to so many bits. units: what is about 1 for each entry.
    """
    if not matrix:
        return [max(dyadic(float(x), bits), Fraction(0)) if low else dyadic(float(x), bits)
                for x, low in zip(guess, nonnegative, strict=True)]  # fmt: skip
    from scipy.linalg import qr

    units = np.ones(len(guess)) if units is None else units
    size = float(np.abs(guess / units).max(initial=0.0)) or 1.0
    kept = [q for q, low in enumerate(nonnegative) if not low or guess[q] > NOTHING * size * units[q]]
    solution = [Fraction(0)] * len(guess)
    if kept:
        numbers = floats([[line[q] for q in kept] for line in matrix], len(kept))
        weights = np.abs(guess[kept]) + 1e-4 * size * units[kept]
        _, triangle, order = cast(
            "tuple[Floats, Floats, Indices]", qr(numbers * weights, mode="economic", pivoting=True)
        )
        diagonal = np.abs(np.diag(triangle))
        rank = int((diagonal > 1e-11 * max(float(diagonal.max(initial=0.0)), 1e-300)).sum())
        for q in order[rank:]:
            solution[kept[q]] = dyadic(float(guess[kept[q]]), bits)
        chosen = [kept[q] for q in order[:rank]]
        rest = [b - dot(line, solution) for line, b in zip(matrix, right, strict=True)]
        found = solve_exactly([[line[q] for q in chosen] for line in matrix], rest) if chosen else None
        if found is None:
            if any(rest):
                return None
            found = [Fraction(0)] * len(chosen)
        for q, value in zip(chosen, found, strict=True):
            solution[q] = value
    elif any(right):
        return None
    is_allowed = all(value >= 0 or not low for value, low in zip(solution, nonnegative, strict=True))
    return solution if is_allowed else None


def shortest(start: Vector, generators: Sequence[Vector], counted: Sequence[int]) -> Vector | None:
    """nu >= 0 with the least norm of start + sum nu_k generators[k] over the counted places, other places 0.

    The generators in use are found in floats, their weights exactly. None where that fails.
    """
    from solvers.programs.nonnegative import nonnegative_least_squares

    others = [c for c in range(len(start)) if c not in counted]
    if not generators:
        return None if any(start[c] for c in others) else []
    size = max((abs(to_float(value)) for vector in (start, *generators) for value in vector), default=1.0) or 1.0
    numbers = to_matrix(generators).T / size
    goal = -to_floats(start) / size
    heavy = np.ones(len(start))
    heavy[others] = 1e4
    if not len(start):
        return [Fraction(0)] * len(generators)
    try:
        guess = nonnegative_least_squares(numbers * heavy[:, None], goal * heavy)
    except RuntimeError:
        return None
    used = [k for k in range(len(generators)) if guess[k] > 1e-9 * max(float(guess.max()), 1e-300)]
    lines = [
        [*(sum((generators[a][c] * generators[b][c] for c in counted), Fraction(0)) for b in used),
         *(generators[a][c] for c in others)]
        for a in used
    ]  # fmt: skip
    right = [-sum((generators[a][c] * start[c] for c in counted), Fraction(0)) for a in used]
    lines += [[*(generators[b][c] for b in used), *(Fraction(0) for _ in others)] for c in others]
    right += [-start[c] for c in others]
    found = solve_exactly(lines, right) if lines else []
    if found is None:
        return None
    weights = [Fraction(0)] * len(generators)
    for k, value in zip(used, found, strict=False):
        weights[k] = value
    if any(value < 0 for value in weights):
        return None
    end = [
        s + sum((w * g[c] for w, g in zip(weights, generators, strict=True)), Fraction(0)) for c, s in enumerate(start)
    ]
    return weights if not any(end[c] for c in others) else None
