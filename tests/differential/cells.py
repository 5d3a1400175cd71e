"""All cells of a central arrangement of hyperplanes, exactly: which signs can (x_1.u, ..., x_m.u) have, none 0?"""

from fractions import Fraction

from tests.differential.instances import times


def cells(rows, columns):
    """{sign vector: an inner point u} over the rows; a row that is 0 has the sign 0 everywhere.

    By deletion and restriction: the cells that a further hyperplane cuts are those of the arrangement that the others
    leave on it.
    """
    rows = [tuple(row) for row in rows]
    kept = []  # one row of each line
    for row in rows:
        if any(row) and not any(_factor(row, other) for other in kept):
            kept.append(row)
    points = _inner_points(kept, columns)
    found = {}
    for u in points:
        found[tuple(_sign(times(row, u)) for row in rows)] = u
    return found


def _sign(z):
    return (z > 0) - (z < 0)


def _factor(row, other):
    """t with row = t other, or None."""
    place = next(c for c, x in enumerate(other) if x)
    t = row[place] / other[place]
    return t if t and all(x == t * o for x, o in zip(row, other, strict=True)) else None


def _inner_points(rows, columns):
    """One point of each cell of rows of which no two are parallel and none is 0."""
    if not rows:
        return [tuple([Fraction(0)] * columns)]
    *others, row = rows
    found = {}
    for u in _inner_points(others, columns):
        if times(row, u):
            found[tuple(_sign(times(r, u)) for r in rows)] = u
    place = next(c for c, x in enumerate(row) if x)  # restrict to row.u = 0 by solving for u[place]
    flat = [tuple(r[c] - r[place] * row[c] / row[place] for c in range(columns) if c != place) for r in others]
    distinct = []
    for r in flat:
        if not any(_factor(r, other) for other in distinct):
            distinct.append(r)
    for q in _inner_points(distinct, columns - 1):
        rest = iter(q)
        u = [Fraction(0) if c == place else next(rest) for c in range(columns)]
        u[place] = -sum((row[c] * u[c] for c in range(columns)), Fraction(0)) / row[place]
        steps = [abs(times(r, u)) / abs(times(r, row)) for r in others if times(r, row)]
        step = min(steps, default=Fraction(1)) / 2
        for side in (1, -1):
            moved = tuple(x + side * step * n for x, n in zip(u, row, strict=True))
            found[tuple(_sign(times(r, moved)) for r in rows)] = moved
    return list(found.values())
