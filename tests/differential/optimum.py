"""The best objective over networks of every width, or of one width, by the enumeration of all cells.

In a cell of the arrangement of the points that a neuron sees the network is linear in u = |v| w, the cost is ||u|| over
the counted columns, and neurons in one cell with one sign merge. So the best of any width is one cone program over all
(mask, cell, sign); the best of one width is the least over all choices of one (cell, sign) for each neuron.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import combinations_with_replacement, groupby, product
from math import comb, prod

from tests.differential.cells import cells
from tests.differential.conic import ConeProgram
from tests.differential.exact_linear import in_span, kernel, nonnegative_solution

GOOD = 1e-7
MOST_CHOICES = 3000


@dataclass(frozen=True)
class Piece:
    """A closed cell of the neurons that see `seen`: slopes a_i by point, and signs tau_i of x_i.u."""

    seen: tuple[int, ...]
    sides: tuple[int, ...]
    sign: int


@lru_cache(maxsize=64)
def _pieces(rows, seen, is_linear):
    found = [tuple([1] * len(rows))]
    if not is_linear:
        found = list(cells([tuple(row[c] for c in seen) for row in rows], len(seen)))
    return tuple(Piece(seen, sides, sign) for sides in found for sign in (1, -1))


def pieces(instance, seen):
    """All (cell, sign) of a neuron that sees these columns."""
    return _pieces(instance.rows, seen, instance.slope == 1)


def _slope(instance, side):
    return 1 if side > 0 else instance.slope


def is_feasible(instance):
    """Whether some network of some width fits: exactly.

    The values that networks take are a linear space, the sum over cells of the column spaces: a cell has inner points.
    """
    vectors = []
    for seen in sorted(set(instance.seen)):
        for piece in pieces(instance, seen):
            if piece.sign > 0:
                slopes = [_slope(instance, side) for side in piece.sides]
                vectors += [[a * row[c] for a, row in zip(slopes, instance.rows, strict=True)] for c in seen]
    if not instance.is_margin:
        return in_span(vectors, list(instance.y))
    normal = kernel(vectors, len(instance.y))  # Gordan: infeasible iff lambda >= 0, not 0, with lambda y in the kernel
    rows = [[y * z[i] for z in normal] for i, y in enumerate(instance.y)]  # lambda_i = y_i (normal beta)_i
    n, m = len(rows), len(normal)
    if m == 0:
        return True
    table = [[*row, *(-x for x in row), *(Fraction(-(i == k)) for k in range(n))] for i, row in enumerate(rows)]
    total = [sum(column, Fraction(0)) for column in zip(*rows, strict=True)]
    table.append([*total, *(-x for x in total), *([Fraction(0)] * n)])
    return nonnegative_solution(table, [*([Fraction(0)] * n), Fraction(1)]) is None


def _program(instance, chosen):
    """The cone program over the chosen pieces: unknowns (u, t) for each."""
    starts, size = [], 0
    for piece in chosen:
        starts.append(size)
        size += len(piece.seen) + 1
    program = ConeProgram(size)
    lines = [{} for _ in instance.y]
    signs, cones = [], []
    for start, piece in zip(starts, chosen, strict=True):
        t = start + len(piece.seen)
        program.cost[t] = 1.0
        for i, (row, side) in enumerate(zip(instance.rows, piece.sides, strict=True)):
            factor = piece.sign * _slope(instance, side)
            for k, c in enumerate(piece.seen):
                lines[i][start + k] = factor * row[c]
            if side and instance.slope != 1:
                signs.append({start + k: -side * row[c] for k, c in enumerate(piece.seen)})
        counted = [start + k for k, c in enumerate(piece.seen) if c in instance.counted]
        cones.append([{t: -1}, *({k: -1} for k in counted)])
    if instance.is_margin:
        program.block(
            "nonnegative",
            [{k: -y * x for k, x in line.items()} for line, y in zip(lines, instance.y, strict=True)],
            [-1] * len(lines),
        )
    else:
        program.block("zero", lines, instance.y)
    program.block("nonnegative", signs, [0] * len(signs))
    for cone in cones:
        program.block("second-order", cone, [0] * len(cone))
    return program


def _has_near_points(instance):
    """Whether two different points are within a millionth of each other, relative to their largest entry."""
    for i, x in enumerate(instance.X):
        for z in instance.X[:i]:
            apart = max(abs(a - b) for a, b in zip(x, z, strict=True))
            if 0 < apart < Fraction(1, 10**6) * max(map(abs, (*x, *z))):
                return True
    return False


@lru_cache(maxsize=16)
def best_of_any_width(instance):
    """The infimum over all widths of a feasible problem, in floats; None when Clarabel does not solve it well.

    None also for points that doubles hardly tell apart: a constraint on their difference is lost in the tolerances.
    """
    if _has_near_points(instance):
        return None
    chosen = [piece for seen in sorted(set(instance.seen)) for piece in pieces(instance, seen)]
    solved = _program(instance, chosen).solve()
    if solved is None or (solved.gap > GOOD and abs(solved.value) > 1e-8):
        return None
    return max(0.0, solved.value)


def beats_at_own_width(instance, value):
    """Whether some network with these masks has an objective below `value` (1 - 1e-6): True, False, or None."""
    groups = [(list(pieces(instance, seen)), len(list(same))) for seen, same in groupby(sorted(instance.seen))]
    if prod(comb(len(options) + count - 1, count) for options, count in groups) > MOST_CHOICES:
        return None
    for parts in product(*(combinations_with_replacement(options, count) for options, count in groups)):
        solved = _program(instance, [piece for part in parts for piece in part]).solve()
        if solved is None or solved.value >= value * (1 - 1e-6):
            continue
        if solved.gap < 1e-6 or abs(solved.value) < 1e-8:
            return True
    return False


def optimal_pieces(instance):
    """[(u, sign)] of an optimum of any width in floats, pieces that are nearly 0 left out; None when there is none."""
    if not is_feasible(instance):
        return None
    chosen = [piece for seen in sorted(set(instance.seen)) for piece in pieces(instance, seen)]
    solved = _program(instance, chosen).solve()
    if solved is None:
        return None
    found, start = [], 0
    for piece in chosen:
        u = solved.x[start : start + len(piece.seen)]
        start += len(piece.seen) + 1
        if max(abs(u)) > 1e-5:
            found.append((u, piece.sign))
    return found
