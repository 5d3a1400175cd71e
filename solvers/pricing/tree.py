"""A proof that h(u) <= beta on the unit ball, h(u) = sum_i c_i s_a(x_i . u): a tree of cones, each with its bound.

A node of the tree is a cone: the signs of x_i . u are decided for some points. On it h is bounded by a linear function
plus a constant, one *slope* per point (`verify.checker.dual_trees.Bound` states the rule and the certificates carry
it):

    c_i s_a(x_i . u) <= (a c_i + t_i) x_i . u + R_i ||u||,      e_i = (1 - a) c_i,
    decided on: t_i >= e_i;   decided off: t_i <= 0;   undecided, c_i < 0: e_i <= t_i <= 0   (R_i = 0 in the three)
    undecided, c_i > 0: 0 <= t_i <= e_i,  R_i = max(t_i l_i, (e_i - t_i) r_i),  -l_i ||u|| <= x_i . u <= r_i ||u||.

So h(u) <= ||p|| + R on the cone, p = sum_i (a c_i + t_i) x_i. Only points with c_i > 0 are ever split: with those
decided h is linear minus convex and the bound is the maximum. With a free bias ||p_w|| + B |p_b| is in the place of
||p||, and the same for the vectors of ranges (`solvers.pricing.dual_function`).

`solvers.pricing.search` finds trees.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from solvers.arrays import Floats, Signs
from solvers.instance import Status
from solvers.programs.interior_point import Cone, solve_cone_program

UNBOUNDED = 1e30  # stands for "no range known" (free bias): a chord with such a range never closes a node


@dataclass(slots=True)
class Leaf:
    """A closed cone: the variables t (S,) of its bound and, where they were tightened, ranges with their multipliers.

    ranges: point -> ({decided point: multiplier for l}, {decided point: multiplier for r}); they define l and r.
    """

    slopes: Floats
    ranges: dict[int, tuple[dict[int, float], ...]] = field(default_factory=dict)


@dataclass(slots=True)
class Tree:
    """The result of `bound_tree`.

    nodes: pre-order, an int for a split on that support point (left child: x_i . u >= 0) or a `Leaf`; None unless
    closed.
    bound: max over leaves of ||p|| + R: an upper bound of h on the unit ball (up to rounding); inf unless closed.
    violators: unit vectors (V, D) found on the way with h(u) > beta.
    """

    nodes: list[int | Leaf] | None
    bound: float
    violators: Floats
    count: int


@dataclass(frozen=True, slots=True)
class Limits:
    """When `bound_tree` stops early: see there."""

    deadline: float | None
    truncate: bool
    max_violators: int | None


def boxes(slope_jumps: Floats, signs: Signs) -> tuple[Floats, Floats]:
    """The interval of each slope variable: slope_jumps (S,), signs (..., S) of the decided points, 0 where open."""
    low = np.where(signs > 0, slope_jumps, np.where(signs < 0, -np.inf, np.minimum(slope_jumps, 0.0)))
    high = np.where(signs > 0, np.inf, np.where(signs < 0, 0.0, np.maximum(slope_jumps, 0.0)))
    return low, high


def solve_decided(rows: Floats, linear_part: Floats, low: Floats, high: Floats, t: Floats, *, free: bool) -> Floats:
    """The minimiser of ||p|| (with a free bias ||p_w|| + |p_b|) over the intervals, by an interior-point method.

    For cones without undecided points that coordinate descent does not close: few, and they need the accuracy.
    """
    count, dimension = len(t), rows.shape[1]
    head = dimension - 1 if free else dimension
    up, down = np.flatnonzero(np.isfinite(low)), np.flatnonzero(np.isfinite(high))
    identity = np.eye(count)
    bias = rows[:, head:].T  # its absolute value is bounded by one more variable
    matrix = np.concatenate([-identity[up], identity[down], bias, -bias, np.zeros((1, count)), -rows[:, :head].T])
    right = np.concatenate(
        [-low[up], high[down], -linear_part[head:], linear_part[head:], np.zeros(1), linear_part[:head]]
    )
    sides = len(up) + len(down) + 2 * len(bias)
    extra = np.zeros((len(matrix), 1 + len(bias)))
    extra[sides, 0] = -1.0
    extra[sides - 2 * len(bias) : sides, 1:] = -1.0
    cones: list[tuple[Cone, int]] = [("nonnegative", sides), ("second-order", 1 + head)]
    cost = np.concatenate([np.zeros(count), np.ones(1 + len(bias))])
    solution = solve_cone_program(cost, np.hstack([matrix, extra]), right, cones, accuracy=1e-11)
    return t if solution.status is Status.FAILED else np.clip(solution.primal[:count], low, high)


def preorder(results: list[int | Leaf | None], children: dict[int, tuple[int, int]]) -> list[int | Leaf]:
    """The nodes of a closed tree (root first in `results`) in pre-order."""
    order: list[int | Leaf] = []
    stack = [0]
    while stack:
        identity = stack.pop()
        node = results[identity]
        if node is None:  # pragma: no cover - unreachable: every node of a closed tree is resolved
            raise RuntimeError("an open node in a closed tree")
        order.append(node)
        if identity in children:
            on, off = children[identity]
            stack += [off, on]
    return order
