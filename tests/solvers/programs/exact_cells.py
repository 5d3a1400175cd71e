"""Sign vectors of a central arrangement by exact arithmetic, with nothing in common with
`solvers.programs.arrangements`.
"""

from itertools import product
from math import gcd


def exact_cells(rows):
    """All sign vectors s in {-1, 1}^n (0 for a zero row) such that s_i x_i.u > 0 has a solution; rows of integers."""
    choices = [(-1, 1) if any(row) else (0,) for row in rows]
    found = set()
    for signs in product(*choices):
        system = {_primitive([s * value for value in row]) for s, row in zip(signs, rows, strict=True) if s}
        if _is_solvable(system):
            found.add(signs)
    return found


def _is_solvable(system):
    """Whether a.u > 0 for all a in `system` has a solution: Fourier-Motzkin elimination."""
    while system:
        if any(not any(row) for row in system):
            return False
        column = next(c for c in range(len(next(iter(system)))) if any(row[c] for row in system))
        up = [row for row in system if row[column] > 0]
        down = [row for row in system if row[column] < 0]
        level = {row for row in system if row[column] == 0}
        level |= {
            _primitive([a * -q[column] + b * p[column] for a, b in zip(p, q, strict=True)]) for p in up for q in down
        }
        system = level
    return True


def _primitive(row):
    size = gcd(*row)
    return tuple(value // size for value in row) if size else tuple(row)
