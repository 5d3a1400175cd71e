"""Trees that prove |h(u)| <= ||u|| with equality at the directions of an enclosed point: the point is a global optimum.

At the exact multipliers of an optimal point h reaches 1 at each of its directions, so that no tree with strict leaves
covers their cells. In such a cell the equations of the point close the leaf (`verify.checker.dual_trees.Active`);
everywhere else h is less than 1, and a leaf with slopes closes with room for what the box leaves open.

Cells are split point by point with coordinate descent at each node, without range vectors: supports of an audit's
size, not those that `solvers.pricing.tree` handles.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from math import floor
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from solvers.arrays import Bits, Floats, Indices
from solvers.pricing.tree import boxes
from verify.checker.dual_trees import Active, Bound, Cell, Dual, Nodes
from verify.checker.enclosure import StationaryNear
from verify.checker.exact import sqrt_upper, squared_norm
from verify.checker.goals import rules
from verify.deciders.time_limits import is_late
from verify.numbers.floats import float_rows, to_float, to_floats
from verify.problem.members import factors
from verify.problem.problem import Problem

__all__ = ["with_pricing"]


ROOM = 1e-8
"""A leaf closes when its bound is this part below what it may be."""

EXCEEDED = 1e-6
"""By this part h(u) is above what it may be where that is no rounding."""

MOST_NODES = 4000
SWEEPS = 200
MANY, FEW_SWEEPS = 30, 24
"""With more points than this there are so many sweeps where there is something to split on."""
DENOMINATOR = 1 << 44


def with_pricing(
    problem: Problem,
    proof: StationaryNear,
    cells: Sequence[Cell],
    deadline: float | None = None,
    *,
    is_likely: bool = False,
) -> StationaryNear | None:
    """The certificate with trees, as a global optimum; None where h exceeds 1 or the trees become too large.

    is_likely: whether its objective is that of the best; else a search in floats comes first, where a loss is asked.
    """
    support, numbers, fixed = list(proof.support), iter(zip(proof.centre, proof.radii, strict=True)), dict(proof.fixed)
    pairs = [(fixed[i], Fraction(0)) if i in fixed else next(numbers) for i in support]
    multipliers, price = [value for value, _ in pairs], rules(problem.goal).least_scale(Fraction(1))
    slope, every = Fraction(problem.architecture.slope), factors(problem)
    trees: list[Nodes] = []
    if not (problem.asks_fit or is_likely) and _is_exceeded(problem, support, multipliers, to_float(price), deadline):
        return None
    for mask in problem.architecture.mask_classes:
        rows = float_rows(problem, clamp=False)[np.ix_(support, mask)]
        for step in (1, -1):
            signs = (1, -1) if problem.architecture.slope == 1 else (step,)
            mine = {
                q: [sides[i] for i in support]
                for q, (seen, own, sides) in enumerate(cells)
                if seen == mask and own in signs
            }
            exact = [step * every[i] * m for i, m in zip(support, multipliers, strict=True)]
            grower = _Grower(rows, exact, slope, support, mine, to_float(price), deadline)
            nodes = grower.grow()
            if nodes is None:
                return None
            trees.append(tuple(nodes))
    room = sum(
        (r * sqrt_upper(squared_norm(problem.rows[i])) for (_, r), i in zip(pairs, support, strict=True)), Fraction(0)
    )
    pricing = Dual(
        multipliers=tuple(zip(support, multipliers, strict=True)),
        beta=price - room,
        denominator=DENOMINATOR,
        trees=tuple(trees),
    )
    return replace(proof, optimality="optimum of any width", pricing=pricing)


def _is_exceeded(
    problem: Problem, support: Sequence[int], multipliers: Sequence[Fraction], price: float, deadline: float | None
) -> bool:
    """Whether a search in floats meets an h(u) above price ||u||; no tree needs to be begun then."""
    from solvers.pricing.search import bound_tree

    every = factors(problem)
    weights = to_floats([every[i] * value for i, value in zip(support, multipliers, strict=True)])
    for mask in problem.mask_classes:
        rows = float_rows(problem)[np.ix_(support, mask)]
        for step in (1.0, -1.0):
            limit = price * (1 + EXCEEDED)
            tree = bound_tree(
                rows, step * weights, to_float(problem.architecture.slope), limit, deadline=deadline, max_violators=1
            )
            if len(tree.violators):
                return True
    return False


class _Grower:
    """Grows one tree: s h(u) = sum_i c_i s(x_i.u), c = `exact` and `weights` in floats; cells: sides of directions."""

    def __init__(
        self,
        rows: Floats,
        exact: Sequence[Fraction],
        slope: Fraction,
        support: Sequence[int],
        cells: dict[int, list[int]],
        price: float,
        deadline: float | None,
    ) -> None:
        self.rows, self.support, self.cells, self.deadline = rows, support, cells, deadline
        self.most = price * (1 - ROOM)
        self.exact_excess = [(1 - slope) * c for c in exact]
        weights = to_floats(exact)
        self.slope_jumps, self.linear_part = (1 - to_float(slope)) * weights, to_float(slope) * (weights @ rows)
        self.sizes = np.linalg.norm(rows, axis=1)
        self.curvature = np.maximum(self.sizes**2, 1e-300)
        self.ups = np.flatnonzero(self.slope_jumps > 0)

    def grow(self) -> list[int | Bound | Active] | None:
        """The nodes in pre-order; None when it is too large or a cell is above 1."""
        nodes: list[int | Bound | Active] = []
        pending: list[tuple[NDArray[np.int8], Floats]] = [
            (np.zeros(len(self.support), np.int8), np.zeros(len(self.support)))
        ]
        while pending:
            if is_late(self.deadline) or len(nodes) > MOST_NODES:
                return None
            signs, start = pending.pop()
            bound, t, p = self._bound(signs, start)
            if bound <= self.most:
                nodes.append(Bound(tuple(self._rounded(t, signs))))
                continue
            open_ = self.ups[signs[self.ups] == 0]
            if not open_.size:
                active = self._active(signs)
                if active is None:
                    return None
                nodes.append(Active(active))
                continue
            i = self._widest(open_, t, p)
            nodes.append(self.support[i])
            for side in (-1, 1):  # the left child, side 1, comes first
                child = signs.copy()
                child[i] = side
                pending.append((child, t))
        return nodes

    def _bound(self, signs: NDArray[np.int8], start: Floats) -> tuple[float, Floats, Floats]:
        """At least min ||p|| + R over the slopes, by coordinate descent on ||p||^2 / 2 + R; the slopes and p.

        No longer than until the leaf closes; of many points, where there are undecided ones to split on, not for long.
        """
        e = self.slope_jumps
        low, high = boxes(e, signs)
        chord = (signs == 0) & (e > 0)
        t = np.clip(start, low, high)
        p = self.linear_part + t @ self.rows
        most = FEW_SWEEPS if len(e) > MANY and chord.any() else SWEEPS
        for sweep in range(1, most + 1):
            largest = 0.0
            for i, row in enumerate(self.rows):
                new = t[i] - (p @ row) / self.curvature[i]
                if chord[i]:  # R = |x| max(t, e - t): slope -|x| below e / 2, |x| above
                    kick = self.sizes[i] / self.curvature[i]
                    above, below = new - kick, new + kick
                    new = above if above > e[i] / 2 else min(below, e[i] / 2)
                new = min(max(new, low[i]), high[i])
                p = p + (new - t[i]) * row
                largest = max(largest, abs(new - t[i]) * self.sizes[i])
                t[i] = new
            is_looked_at = sweep & (sweep - 1) == 0  # 1, 2, 4, 8, ...
            if largest < 1e-13 or (is_looked_at and self._sum(p, t, chord) <= self.most):
                break
        return self._sum(p, t, chord), t, p

    def _sum(self, p: Floats, t: Floats, chord: Bits) -> float:
        """||p|| + R."""
        offset = float((self.sizes * np.maximum(t, self.slope_jumps - t))[chord].sum())
        return float(np.linalg.norm(p)) + offset

    def _widest(self, open_: Indices, t: Floats, p: Floats) -> int:
        """The undecided point whose chord is farthest above the activation at p / ||p||."""
        u = p / max(float(np.linalg.norm(p)), 1e-300)
        z = self.rows[open_] @ u
        e, s = self.slope_jumps[open_], t[open_]
        gaps = s * z + self.sizes[open_] * np.maximum(s, e - s) - e * np.maximum(z, 0.0)
        return int(open_[np.argmax(gaps)])

    def _active(self, signs: NDArray[np.int8]) -> int | None:
        """The direction whose cell this is."""
        for place, sides in self.cells.items():
            if all(sides[i] == int(signs[i]) for i in self.ups):
                return place
        return None

    def _rounded(self, t: Floats, signs: NDArray[np.int8]) -> list[int | Literal["e"]]:
        """Numerators over the denominator, rounded within their intervals; "e": exactly the slope of ON."""
        slopes: list[int | Literal["e"]] = []
        for value, sign, excess in zip(t, signs, self.exact_excess, strict=True):
            end = excess * DENOMINATOR
            whole = round(Fraction(float(value)) * DENOMINATOR)
            if sign > 0:
                slopes.append("e" if whole <= end else whole)
            elif sign < 0:
                slopes.append(min(whole, 0))
            elif excess > 0:
                slopes.append(min(max(whole, 0), floor(end)))
            else:
                slopes.append("e" if whole <= end else min(whole, 0))
        return slopes
