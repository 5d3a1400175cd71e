"""Pricing in many decimal digits: a proof tree for |h(u)| <= beta ||u||, or where h is larger.

`solvers.pricing.tree` says what a tree is and which slopes a cone allows. Here a point with c_i > 0 is decided, or the
cone is closed by its chord with the plain ranges ||x_i||; on a decided cone the least ||p|| over the slopes is a
least-squares problem with bounds, solved by an active-set method (P. Stark, R. Parker, Bounded-variable least squares,
1995) in the precision of the current decimal context. For few points: a tree has up to 2^P leaves for P points with
c_i > 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal, getcontext
from typing import Any, TypeAlias

import numpy as np

from solvers.clock import is_late, spend
from solvers.programs.precise_cones import Decimals, backward, cholesky, forward, norm

Bounds: TypeAlias = list[Decimal | None]
Node: TypeAlias = int | list[Any]
"""A split on that point, or the slopes t of a leaf, one for each point."""

SECONDS = 2e-5
"""Of one cone, for each entry of the rows."""


@dataclass(slots=True)
class PreciseSearch:
    """nodes: in pre-order; whole only when there are no violators. violators: vectors p with ||p|| > beta at h."""

    nodes: list[Node] = field(default_factory=list[Node])
    violators: list[Decimals] = field(default_factory=list[Decimals])
    largest: Decimal = Decimal(0)
    is_cut: bool = False


def price(
    rows: Decimals,
    coefficients: Decimals,
    slope: Decimal,
    beta: Decimal,
    *,
    most_nodes: int = 4000,
    most_violators: int = 12,
    deadline: float | None = None,
) -> PreciseSearch:
    """The tree for h(u) = sum_i weights_i s(x_i.u) <= beta ||u||, rows (S, D), or up to `most_violators` violators."""
    slope_jumps = (1 - slope) * coefficients
    linear_part = slope * (coefficients @ rows)
    sizes = np.array([norm(row) for row in rows], object)
    found = PreciseSearch()
    cones = [np.zeros(len(rows), int)]
    order = list(
        np.argsort([-float(e * size / beta) for e, size in zip(slope_jumps, sizes, strict=True)], kind="stable")
    )
    ups = [int(i) for i in order if slope_jumps[i] > 0]
    while cones:
        late = is_late(deadline)
        if late or len(found.nodes) > most_nodes or len(found.violators) >= most_violators:
            found.is_cut = len(found.violators) == 0
            return found
        spend(SECONDS * rows.size)
        signs = cones.pop()
        open_points = [i for i in ups if not signs[i]]
        slopes, p = _shortest(rows, linear_part, slope_jumps, signs)
        size = norm(p)
        offset = sum((_chord(slopes[i], slope_jumps[i], sizes[i]) for i in open_points), Decimal(0))
        if size + offset <= beta:
            found.largest = max(found.largest, size + offset)
            found.nodes.append(list(slopes))
            continue
        if not open_points:
            found.violators.append(p)
            found.largest = max(found.largest, size)
            found.nodes.append(list(slopes))
            continue
        point = _next(rows, slope_jumps, slopes, p, open_points, sizes)
        found.nodes.append(point)
        for sign in (-1, 1):
            child = signs.copy()
            child[point] = sign
            cones.append(child)
    return found


def _chord(t: Decimal, slope_jumps: Decimal, size: Decimal) -> Decimal:
    return max(t, slope_jumps - t) * size


def _next(
    rows: Decimals,
    slope_jumps: Decimals,
    slopes: Decimals,
    p: Decimals,
    open_points: Sequence[int],
    sizes: Decimals,
) -> int:
    """The open point whose chord lies farthest above the activation at p."""
    length = norm(p) or Decimal(1)

    def gap(i: int) -> Decimal:
        z = rows[i] @ p / length
        return slopes[i] * z + _chord(slopes[i], slope_jumps[i], sizes[i]) - slope_jumps[i] * max(z, Decimal(0))

    return max(open_points, key=gap)


def _shortest(rows: Decimals, linear_part: Decimals, slope_jumps: Decimals, signs: Any) -> tuple[Decimals, Decimals]:
    """Slopes (S,) within the intervals of the cone that make p = linear_part + t rows short, and p.

    Open points with c_i > 0 have the middle of their interval.
    """
    low: Bounds = []
    high: Bounds = []
    zero = Decimal(0)
    for e, sign in zip(slope_jumps, signs, strict=True):
        middle = e / 2
        low.append(e if sign > 0 else None if sign < 0 else min(e, zero) if e <= 0 else middle)
        high.append(None if sign > 0 else zero if sign < 0 or e <= 0 else middle)
    start = np.array([_start(a, b, e) for a, b, e in zip(low, high, slope_jumps, strict=True)], object)
    t = bounded_least_squares(rows, linear_part, low, high, start)
    return t, linear_part + t @ rows


def _start(low: Decimal | None, high: Decimal | None, slope_jumps: Decimal) -> Decimal:
    if low is not None and (high is None or slope_jumps > 0):
        return low
    return Decimal(0) if high is None else high


def bounded_least_squares(
    rows: Decimals, linear_part: Decimals, low: Bounds, high: Bounds, start: Decimals, most_steps: int = 200
) -> Decimals:
    """t within the bounds that makes ||linear_part + t rows|| least, from `start`, at whose bounds all are at first."""
    t = start.copy()
    free: list[int] = []
    squares = [row @ row for row in rows]
    small = Decimal(10) ** (-getcontext().prec // 2)
    blocked: set[int] = set()
    for _ in range(most_steps):
        p = linear_part + t @ rows
        length = norm(p)
        if not length:
            return t
        best, chosen = Decimal(0), None
        for i, row in enumerate(rows):
            if i in free or i in blocked or not squares[i] or (low[i] is not None and low[i] == high[i]):
                continue
            slope = row @ p / (squares[i].sqrt() * length)  # cosine: how far this one alone would help
            down = slope > small and (low[i] is None or t[i] > low[i])
            up = slope < -small and (high[i] is None or t[i] < high[i])
            if (down or up) and abs(slope) > best:
                best, chosen = abs(slope), i
        if chosen is None:
            return t
        free.append(chosen)
        if _moved(rows, linear_part, low, high, t, free):
            blocked.clear()
        else:
            free.remove(chosen)
            blocked.add(chosen)
    return t


def _moved(rows: Decimals, linear_part: Decimals, low: Bounds, high: Bounds, t: Decimals, free: list[int]) -> bool:
    """Move the free ones to the least squares, dropping those that reach a bound; whether t changed."""
    changed = False
    while free:
        part = rows[free]
        fixed = t.copy()
        fixed[free] = Decimal(0)
        rest = linear_part + fixed @ rows
        try:
            factor = cholesky(part @ part.T)
            diagonal = min(factor[k, k] ** 2 / (row @ row) for k, row in enumerate(part))
            if diagonal < Decimal(10) ** (-4 * getcontext().prec // 5):
                return changed
        except ArithmeticError:
            return changed
        goal = backward(factor, forward(factor, -(part @ rest)))
        step, hit = Decimal(1), None
        for q, i in enumerate(free):
            change = goal[q] - t[i]
            bound = low[i] if change < 0 else high[i]
            if bound is not None and abs(change) > 0 and (bound - t[i]) / change < step:
                step, hit = (bound - t[i]) / change, i
        for q, i in enumerate(free):
            t[i] = t[i] + step * (goal[q] - t[i])
        changed = changed or step > 0
        if hit is None:
            return changed
        t[hit] = low[hit] if goal[free.index(hit)] < t[hit] else high[hit]
        free.remove(hit)
    return changed
