"""Linear algebra and linear programs over the rationals, in integers."""

from fractions import Fraction
from math import lcm


def _integers(row):
    unit = lcm(*(x.denominator for x in row)) if row else 1
    return [int(x * unit) for x in row]


def rank(rows):
    """The rank of rational rows."""
    rows = [_integers(row) for row in rows]
    found = 0
    for c in range(len(rows[0]) if rows else 0):
        place = next((r for r in range(found, len(rows)) if rows[r][c]), None)
        if place is None:
            continue
        rows[found], rows[place] = rows[place], rows[found]
        pivot = rows[found]
        for r in range(found + 1, len(rows)):
            if rows[r][c]:
                rows[r] = [x * pivot[c] - rows[r][c] * p for x, p in zip(rows[r], pivot, strict=True)]
        found += 1
    return found


def in_span(vectors, target):
    """Whether `target` is a linear combination of `vectors`."""
    return rank(vectors) == rank([*vectors, target]) if vectors else not any(target)


def kernel(rows, columns):
    """A basis of {z : row.z = 0 for all rows}."""
    reduced, pivots = [], []
    for given in rows:
        row = list(given)
        for p, r in zip(pivots, reduced, strict=True):
            row = [x - row[p] * q for x, q in zip(row, r, strict=True)]
        place = next((c for c, x in enumerate(row) if x), None)
        if place is None:
            continue
        row = [x / row[place] for x in row]
        reduced = [[x - r[place] * q for x, q in zip(r, row, strict=True)] for r in reduced]
        reduced.append(row)
        pivots.append(place)
    basis = []
    for free in (c for c in range(columns) if c not in pivots):
        z = [Fraction(0)] * columns
        z[free] = Fraction(1)
        for p, r in zip(pivots, reduced, strict=True):
            z[p] = -r[free]
        basis.append(z)
    return basis


def nonnegative_solution(rows, right):
    """Some x >= 0 with rows x = right, as Fractions, or None when there is none.

    The first phase of the simplex method on an integer tableau (every entry over the last pivot): the largest reduced
    cost first, the least index once that has taken long, so that it ends.
    """
    if not rows:
        return []
    n = len(rows[0])
    table = []
    for row, b in zip(rows, right, strict=True):
        line = _integers([*row, b])
        table.append([-x for x in line] if line[-1] < 0 else line)
    cost = [-sum(column) for column in zip(*table, strict=True)]
    basis = [n + r for r in range(len(table))]
    unit, steps = 1, 0
    while cost[-1] < 0:
        steps += 1
        entering = _entering(cost, steps)
        if entering is None:
            return None
        leaving = _leaving(table, basis, entering)
        pivot = table[leaving]
        p = pivot[entering]
        for r, line in enumerate([*table, cost]):
            if r == leaving:
                continue
            factor = line[entering]
            new = [(x * p - factor * q) // unit for x, q in zip(line, pivot, strict=True)]
            if r < len(table):
                table[r] = new
            else:
                cost = new
        basis[leaving], unit = entering, p
    x = [Fraction(0)] * n
    for place, line in zip(basis, table, strict=True):
        if place < n:
            x[place] = Fraction(line[-1], unit)
    return x


def _entering(cost, steps):
    if steps > 60:
        return next((c for c in range(len(cost) - 1) if cost[c] < 0), None)
    best = min(range(len(cost) - 1), key=lambda c: cost[c], default=None)
    return best if best is not None and cost[best] < 0 else None


def _leaving(table, basis, entering):
    best = None
    for r, line in enumerate(table):
        if line[entering] <= 0:
            continue
        if best is None:
            best = r
            continue
        left, held = line[-1] * table[best][entering], table[best][-1] * line[entering]
        if left < held or (left == held and basis[r] < basis[best]):
            best = r
    return best


class System:
    """Equations in unknowns that are made as they are named: at least 0, or of either sign."""

    def __init__(self):
        self._columns = {}
        self._free = set()
        self._equations = []

    def unknown(self, name, *, free=False):
        """The name of an unknown, made at its first mention."""
        self._columns.setdefault(name, len(self._columns))
        if free:
            self._columns.setdefault((name, "negative part"), len(self._columns))
            self._free.add(name)
        return name

    def equation(self, terms, right):
        """Sum of factor * unknown = right, `terms` a list of pairs (unknown, factor)."""
        self._equations.append((list(terms), Fraction(right)))

    def solve(self):
        """A solution as a dict of names, or None."""
        width = len(self._columns)
        rows, right = [], []
        for terms, b in self._equations:
            row = [Fraction(0)] * width
            for name, factor in terms:
                row[self._columns[name]] += factor
                if name in self._free:
                    row[self._columns[name, "negative part"]] -= factor
            rows.append(row)
            right.append(b)
        x = nonnegative_solution(rows, right)
        if x is None:
            return None
        if not rows:
            return dict.fromkeys(self._columns, Fraction(0))
        lesser = {name: x[self._columns[name, "negative part"]] for name in self._free}
        return {name: x[c] - lesser.get(name, 0) for name, c in self._columns.items()}
