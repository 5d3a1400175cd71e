"""A lower bound without a gap: the trees of float pricing, with exact slopes where a leaf is tight.

Multipliers are scaled to beta = 1. A leaf whose bound is below 1 has room for rounding. On the cone of a unit vector u
with s h(u) = 1 there is none: its slopes are those of the activation at u, and at kinks the solution of p = u.
Every point with c_i > 0 must be decided there; leaves that leave one open are split further.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from solvers.arrays import Floats
from solvers.pricing.search import bound_tree
from solvers.pricing.tree import Leaf, boxes, solve_decided
from verify.checker.bounds import LowerBound
from verify.checker.dual_trees import Bound, Nodes
from verify.checker.exact import Algebraic
from verify.checker.multipliers import dual_value
from verify.deciders.closed_forms.active_set import UnitDirection
from verify.deciders.closed_forms.elimination import solve
from verify.deciders.time_limits import poll
from verify.numbers.floats import to_float, to_floats, to_matrix
from verify.problem.members import factors
from verify.problem.problem import Problem

__all__ = ["exact_lower_bound", "kink_products"]

Slope: TypeAlias = Any  # over the denominator: an int, any exact number, or "e" as in a `Bound`
_Nodes: TypeAlias = list[int | list[Slope]]

DENOMINATOR = 2**40
ROOM = 1e-7  # a leaf that stays this far below 1 may be rounded
SAME = 1e-3  # a maximiser in floats is taken to be the nearest known one within this
SLACK = 1e-6  # what the float trees may exceed 1 by
MOST_NODES = 20_000


def exact_lower_bound(
    problem: Problem,
    support: Sequence[int],
    multipliers: Sequence[Fraction],
    directions: Sequence[UnitDirection],
    vectors: Sequence[Sequence[Fraction]],
) -> LowerBound | UnitDirection | None:
    """The lower bound sum lambda_i (y_i) with beta = 1; or a further direction with |h| = 1; or None.

    multipliers: of the support, exact.   vectors: of the directions, exact unit vectors.
    """
    every = factors(problem)
    coefficients = [m * every[i] for i, m in zip(support, multipliers, strict=True)]
    value = dual_value(problem, dict(zip(support, coefficients, strict=True)))
    trees: list[_Nodes] = []
    for mask in range(len(problem.mask_classes)):
        for sign in (1, -1):
            known = [
                (found, [vector[c] for c in problem.mask_classes[mask]])
                for found, vector in zip(directions, vectors, strict=True)
                if (found.mask, found.sign) == (mask, sign)
            ]
            side = _DualSide.of(problem, support, [c * sign for c in coefficients], mask, known)
            nodes = side.nodes()
            if nodes is None or isinstance(nodes, np.ndarray):
                if nodes is None:
                    return None
                full = np.zeros(len(problem.rows[0]))
                full[list(problem.mask_classes[mask])] = nodes
                return UnitDirection(mask, sign, full, ())
            trees.append(nodes)
    leaves = [node for nodes in trees for node in nodes if not isinstance(node, int)]
    factor = math.lcm(*(t.denominator for slopes in leaves for t in slopes if isinstance(t, Fraction)))
    return LowerBound(
        multipliers=tuple(zip(support, multipliers, strict=True)),
        beta=Fraction(1),
        bracket=(value, None),
        denominator=DENOMINATOR * factor,
        trees=tuple(_with_whole_slopes(tree, factor) for tree in trees),
    )


def _with_whole_slopes(nodes: _Nodes, factor: int) -> Nodes:
    """The tree with slopes over a denominator that is larger by this factor, so that rational ones are integers."""
    return tuple(node if isinstance(node, int) else Bound(tuple(_whole(t, factor) for t in node)) for node in nodes)


def _whole(slope: Slope, factor: int) -> Slope:
    return slope if slope == "e" else slope * factor if isinstance(slope, Algebraic) else int(slope * factor)


def kink_products(
    problem: Problem,
    support: Sequence[int],
    multipliers: Sequence[Fraction],
    direction: UnitDirection,
    vector: Sequence[Fraction],
) -> dict[int, Fraction] | None:
    """mu_i = lambda_i g_i at the points of the support on whose kink the unit vector lies, so that p = u; by point."""
    every, slope = factors(problem), problem.architecture.slope
    own = [every[i] * direction.sign for i in support]
    coefficients = [m * f for m, f in zip(multipliers, own, strict=True)]
    side = _DualSide.of(problem, support, coefficients, direction.mask, [])
    unit = [vector[c] for c in problem.mask_classes[direction.mask]]
    found = side.slopes_at(unit, np.zeros(len(support), np.int8))
    if found is None:
        return None
    products: dict[int, Fraction] = {}
    for k, (t, c) in enumerate(zip(found, coefficients, strict=True)):
        if not sum((a * u for a, u in zip(side.exact_rows[k], unit, strict=True)), Fraction(0)):
            gain = (1 - slope) * c if t == "e" else t / Fraction(DENOMINATOR)
            products[support[k]] = (slope * c + gain) / own[k]
    return products


@dataclass(frozen=True, slots=True)
class _DualSide:
    """s h on the columns of one mask: exact rows (S, c), s c_i, known unit vectors; the same in floats."""

    support: Sequence[int]
    exact_rows: list[list[Fraction]]
    coefficients: list[Fraction]
    slope: Fraction
    known: list[tuple[Floats, list[Fraction]]]
    rows: Floats
    slope_jumps: Floats
    linear_part: Floats

    @classmethod
    def of(
        cls,
        problem: Problem,
        support: Sequence[int],
        coefficients: list[Fraction],
        mask: int,
        known: list[tuple[UnitDirection, list[Fraction]]],
    ) -> _DualSide:
        columns = problem.mask_classes[mask]
        exact_rows = [[problem.rows[i][c] for c in columns] for i in support]
        rows = to_matrix(exact_rows)
        weights = to_floats(coefficients)
        slope = problem.architecture.slope
        return cls(
            support,
            exact_rows,
            coefficients,
            slope,
            [(found.vector[list(columns)], vector) for found, vector in known],
            rows,
            (1 - to_float(slope)) * weights,
            to_float(slope) * (weights @ rows),
        )

    def nodes(self) -> _Nodes | Floats | None:
        """The nodes of the tree in pre-order; a unit vector that is missing among the known ones; None on failure."""
        weights = to_floats(self.coefficients)
        tree = bound_tree(self.rows, weights, to_float(self.slope), 1 + SLACK, max_nodes=MOST_NODES, compiled=False)
        if tree.nodes is None:
            return None
        result: _Nodes = []
        signs = np.zeros(len(self.support), np.int8)
        path: list[int] = []
        for node in tree.nodes:
            if isinstance(node, int):
                result.append(self.support[node])
                signs[node] = 1
                path.append(node)
                continue
            part = self._subtree(node, signs)
            if not isinstance(part, list):
                return part
            result += part
            while path and signs[path[-1]] < 0:
                signs[path.pop()] = 0
            if path:
                signs[path[-1]] = -1
        return result

    def _subtree(self, leaf: Leaf, signs: NDArray[np.int8]) -> _Nodes | Floats | None:
        """The leaf itself, or a tree that decides its open points as well."""
        result: _Nodes = []
        pending = [(signs.copy(), leaf.slopes)]
        while pending:
            poll()
            here, t = pending.pop()
            t = np.clip(t, *boxes(self.slope_jumps, here))
            open_points = np.flatnonzero((here == 0) & (self.slope_jumps > 0))
            if not len(open_points):
                t = solve_decided(self.rows, self.linear_part, *boxes(self.slope_jumps, here), t, free=False)
            size = float(np.linalg.norm(self.linear_part + t @ self.rows))
            norms = np.linalg.norm(self.rows[open_points], axis=1)
            room = 1 - size - float(np.maximum(t[open_points], self.slope_jumps[open_points] - t[open_points]) @ norms)
            if room > ROOM:
                result.append([self._rounded(value, e) for value, e in zip(t, self.slope_jumps, strict=True)])
            elif len(open_points):
                point = int(open_points[0])
                result.append(self.support[point])
                for sign in (-1, 1):
                    child = here.copy()
                    child[point] = sign
                    pending.append((child, t))
            else:
                tight = self._tight(here, (self.linear_part + t @ self.rows) / size)
                if not isinstance(tight, list):
                    return tight
                result.append(tight)
        return result

    def _rounded(self, value: float, excess: float) -> Slope:
        """A slope over the denominator; near an end of its interval exactly that end."""
        if abs(value - excess) <= 1e-9 * max(1.0, abs(excess)):
            return "e"
        return 0 if abs(value) <= 1e-9 else round(value * DENOMINATOR)

    def _tight(self, signs: NDArray[np.int8], unit: Floats) -> list[Slope] | Floats | None:
        """The exact slopes at the known unit vector; the vector itself when it is not known; None on failure."""
        apart = [float(np.linalg.norm(near - unit)) for near, _ in self.known]
        if min(apart, default=1.0) > SAME:
            return unit
        exact = self.known[int(np.argmin(apart))][1]
        return self.slopes_at(exact, signs)

    def slopes_at(self, unit: list[Fraction], signs: NDArray[np.int8]) -> list[Slope] | None:
        """Slopes over the denominator with p = u, those of the activation where u has no kink."""
        on = [sum((a * u for a, u in zip(row, unit, strict=True)), Fraction(0)) for row in self.exact_rows]
        kinks = [k for k, z in enumerate(on) if not z]
        slopes: list[Slope] = ["e" if z > 0 else 0 for z in on]
        rest = list(unit)
        for row, c, z in zip(self.exact_rows, self.coefficients, on, strict=True):
            gain = c * (1 if z > 0 else self.slope)
            rest = [r - gain * x for r, x in zip(rest, row, strict=True)]
        found = self._at_kinks(kinks, signs, rest) if kinks else {}
        if found is None:
            return None
        for k, value in found.items():
            slopes[k] = value
        return slopes

    def _at_kinks(self, kinks: list[int], signs: NDArray[np.int8], rest: list[Fraction]) -> dict[int, Slope] | None:
        """Slopes with sum t_i x_i = rest, a vertex of their intervals: some at an end, the others by elimination."""
        low, high = (box[kinks] for box in boxes(self.slope_jumps, signs))
        goal = to_floats(rest)
        matrix = self.rows[kinks].T
        size = len(kinks)
        # nearest to the goal in the 1-norm: a vertex, also with rounded data
        identity = np.eye(len(goal))
        cost = np.concatenate([np.zeros(size), np.ones(2 * len(goal))])
        limits = [*zip(low, high, strict=True), *[(0, np.inf)] * (2 * len(goal))]
        limits = [(None if math.isinf(a) else a, None if math.isinf(b) else b) for a, b in limits]
        found = linprog(cost, A_eq=np.hstack([matrix, identity, -identity]), b_eq=goal, bounds=limits)
        if found.status or found.fun > 1e-7:
            return None
        slopes: dict[int, Slope] = {}
        inner: list[int] = []
        for k, value in zip(kinks, found.x[:size], strict=True):
            rounded = self._rounded(value, self.slope_jumps[k])
            if rounded in ("e", 0):
                slopes[k] = rounded
                if rounded == "e":
                    gain = (1 - self.slope) * self.coefficients[k]
                    rest = [r - gain * x for r, x in zip(rest, self.exact_rows[k], strict=True)]
            else:
                inner.append(k)
        if inner:
            columns = [self.exact_rows[k] for k in inner]
            exact = solve(list(zip(*columns, strict=True)), rest)
            if exact is None:
                return None
            slopes.update({k: value * DENOMINATOR for k, value in zip(inner, exact, strict=True)})
        return slopes
