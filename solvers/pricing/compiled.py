"""Trees and local ascents by the compiled kernels: room for them, deadlines, results as trees.

Numba is optional and takes half a second to import, more to compile; so only problems that are large enough come here
(`solvers.pricing.search`).
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from solvers.arrays import Floats
from solvers.clock import now, poll, seconds_left, spend
from solvers.pricing.tree import Leaf, Limits, Tree, preorder, solve_decided

if TYPE_CHECKING:
    from solvers.pricing import kernels

WIDTH = 256  # open nodes up to which the worst is worked on first
ROOM = 2**26  # bytes for them
TICK = 0.02  # seconds, about, between two looks at the clock
MOST_NODES = 1024  # between them
UNPACKING = 1e-6  # seconds to make a range multiplier part of a leaf
CLIMBERS = 16  # directions between two looks at the clock
ALL = 2**62  # no limit to the violators
NODE_SECONDS, CLIMB_SECONDS = 1e-6, 1e-9  # for each entry of the rows, of a node and of a sweep of a climb
MOST_NUMBERS = 10**7  # slopes and range multipliers of a proof: a certificate with more is too long to be read


def climb(
    rows: Floats,
    coefficients: Floats,
    slope: float,
    directions: Floats,
    rounds: int,
    sweeps: int,
    *,
    free: bool = False,
) -> tuple[Floats, Floats]:
    """Local maxima of h from each direction (B, D) of norm one, and their values, best first.

    free: the last column is that of a free bias, which has the best value in each direction.
    """
    from solvers.pricing import kernels

    directions = np.array(directions, order="C")
    values = np.empty(len(directions))
    size, dimension = rows.shape
    room = *np.zeros((2 if free else 1, size)), np.zeros(dimension)
    slope_jumps = (1.0 - slope) * coefficients
    run = kernels.climb_free if free else kernels.climb
    given = _plain(rows), _plain(coefficients), slope_jumps, float(slope)
    for first in range(0, len(directions), CLIMBERS):
        poll()
        some = slice(first, first + CLIMBERS)
        spend(len(directions[some]) * rows.size * rounds * sweeps * CLIMB_SECONDS)
        run(*given, directions[some], values[some], *room, rounds, sweeps)
    order = np.argsort(-values, kind="stable")
    return directions[order], values[order]


def bound_tree(
    rows: Floats,
    coefficients: Floats,
    slope: float,
    beta: float,
    limits: Limits,
    max_nodes: int,
) -> Tree:
    """`solvers.pricing.search.bound_tree` without a free bias."""
    search = _Search(rows, coefficients, slope, beta)
    limit = ALL if limits.max_violators is None else limits.max_violators
    budget = 1
    while search.is_open:
        began = now()
        full = search.visited > max_nodes or search.numbers > MOST_NUMBERS
        late = full or seconds_left(limits.deadline) <= limits.truncate * search.unpacking
        if (late and (not limits.truncate or search.violators)) or search.violators >= limit:
            break
        before = search.visited
        search.advance(budget if full else min(budget, max_nodes + 1 - search.visited), limit, closing=late)
        spend((search.visited - before) * rows.size * NODE_SECONDS)
        budget = min(2 * budget, MOST_NODES) if now() - began < TICK else (budget + 1) // 2
    return search.result()


class _Search:
    def __init__(self, rows: Floats, coefficients: Floats, slope: float, beta: float) -> None:
        from solvers.pricing import kernels

        self.kernels = kernels
        self.pricing = _pricing(rows, coefficients, slope, beta)
        count, (size, dimension) = len(self.pricing.positive), rows.shape
        node_bytes = 9 * size + count * (16 + 24 * dimension)
        self.width = int(np.clip(ROOM // node_bytes, 1, WIDTH))
        self.nodes = _root(self.pricing, self.width + 1)
        self.found = _nothing_found(size, dimension)
        self.work = _work(count, size, dimension)
        self.counts = np.zeros(7, np.int64)
        self.counts[[kernels.OPEN, kernels.SPARE, kernels.NODES]] = 1, self.width, 1

    @property
    def is_open(self) -> bool:
        return bool(self.counts[self.kernels.OPEN])

    @property
    def violators(self) -> int:
        return int(self.counts[self.kernels.VIOLATORS])

    @property
    def visited(self) -> int:
        return int(self.counts[self.kernels.VISITED])

    @property
    def numbers(self) -> int:
        return int(self.counts[self.kernels.LEAVES]) * self.found.slopes.shape[1] + int(
            self.counts[self.kernels.ENTRIES]
        )

    @property
    def unpacking(self) -> float:
        """Seconds that `result` will take."""
        return UNPACKING * float(self.counts[self.kernels.ENTRIES])

    def advance(self, budget: int, limit: int, *, closing: bool) -> None:
        self._make_room(budget)
        slot = self.kernels.search(
            self.pricing, self.nodes, self.found, self.work, self.counts, self.width, budget, limit, closing
        )
        if slot >= 0:
            pricing, work, t = self.pricing, self.work, self.nodes.slopes[slot]
            t[:] = solve_decided(pricing.rows, pricing.linear_part, work.low, work.high, t, free=False)
            self.nodes.settled[slot] = True
            self.nodes.stack[self.counts[self.kernels.OPEN]] = slot
            self.counts[self.kernels.OPEN] += 1

    def _make_room(self, budget: int) -> None:
        kernels, found, counts = self.kernels, self.found, self.counts
        if counts[kernels.SPARE] == 0:
            old = len(self.nodes.stack)
            self.nodes = kernels.Nodes(*(_longer(array, old + 1) for array in self.nodes))
            counts[kernels.SPARE] = len(self.nodes.stack) - old
            self.nodes.spare[: counts[kernels.SPARE]] = np.arange(old, len(self.nodes.stack))
        entries = 2 * self.nodes.terms.shape[1] * self.nodes.terms.shape[3]
        nodes, leaves, violators = (counts[k] for k in (kernels.NODES, kernels.LEAVES, kernels.VIOLATORS))
        needed = {
            "splits": nodes + 2 * budget,
            "children": nodes + 2 * budget,
            "slopes": leaves + budget,
            "ends": leaves + budget,
            "entries": counts[kernels.ENTRIES] + entries,
            "multipliers": counts[kernels.ENTRIES] + entries,
            "violators": violators + budget,
            "patterns": violators + budget,
        }
        self.found = found._replace(
            **{name: _longer(getattr(found, name), int(length)) for name, length in needed.items()}
        )

    def result(self) -> Tree:
        violators = self.found.violators[: self.violators].copy()
        if self.is_open or len(violators):
            return Tree(None, np.inf, violators, self.visited)
        leaves = self._leaves()
        splits = self.found.splits[: self.counts[self.kernels.NODES]].tolist()
        first = self.found.children.tolist()
        children = {k: (first[k], first[k] + 1) for k, point in enumerate(splits) if point >= 0}
        nodes = [point if point >= 0 else leaves[-1 - point] for point in splits]
        return Tree(preorder(nodes, children), float(self.found.bound[0]), violators, self.visited)

    def _leaves(self) -> list[Leaf]:
        found, count = self.found, int(self.counts[self.kernels.LEAVES])
        leaves = [Leaf(slopes) for slopes in found.slopes[:count].copy()]
        used = int(self.counts[self.kernels.ENTRIES])
        if not used:
            return leaves
        owners = np.repeat(np.arange(count), np.diff(found.ends[:count], prepend=0))
        keys = np.column_stack([owners, found.entries[:used, :2]])
        starts = np.flatnonzero(np.append(True, (keys[1:] != keys[:-1]).any(axis=1)))
        decided, multipliers = found.entries[:used, 2].tolist(), found.multipliers[:used].tolist()
        for (leaf, point, side), (start, end) in zip(
            keys[starts].tolist(), pairwise([*starts.tolist(), used]), strict=True
        ):
            terms = dict(zip(decided[start:end], multipliers[start:end], strict=True))
            leaves[leaf].ranges.setdefault(point, ({}, {}))[side].update(terms)
        return leaves


def _pricing(rows: Floats, coefficients: Floats, slope: float, beta: float) -> kernels.Pricing:
    from solvers.pricing import kernels

    slope_jumps = (1.0 - slope) * coefficients
    positive = np.flatnonzero(slope_jumps > 0).astype(np.int64)
    return kernels.Pricing(
        _plain(rows),
        _plain(coefficients),
        float(slope),
        float(beta),
        slope_jumps,
        slope * (coefficients @ rows),
        np.maximum((rows**2).sum(axis=1), kernels.TINY),
        positive,
        _plain(rows[positive] @ rows[positive].T),
    )


def _root(pricing: kernels.Pricing, slots: int) -> kernels.Nodes:
    """Room for `slots` nodes, and the root in the first: nothing decided, the middle of each slope's interval."""
    from solvers.pricing import kernels

    count, (size, dimension) = len(pricing.positive), pricing.rows.shape
    nodes = kernels.Nodes(
        np.zeros((slots, size), np.int8),
        np.empty((slots, size)),
        np.empty((slots, count, 2)),
        np.empty((slots, count, 2, dimension), np.int32),
        np.empty((slots, count, 2, dimension)),
        np.empty(slots),
        np.empty(slots, np.int64),
        np.zeros(slots, np.int64),
        np.zeros(slots, bool),
        np.zeros(slots, np.int64),
        np.arange(1, slots + 1),
    )
    nodes.slopes[0] = pricing.slope_jumps / 2
    nodes.lengths[0] = np.sqrt(pricing.curvature[pricing.positive])[:, None] + kernels.TINY
    nodes.terms[0] = -1
    nodes.multipliers[0] = 0.0
    nodes.bounds[0] = np.inf
    nodes.fresh[0] = -1
    return nodes


def _nothing_found(size: int, dimension: int) -> kernels.FoundNodes:
    from solvers.pricing import kernels

    return kernels.FoundNodes(
        np.empty(0, np.int64),
        np.empty(0, np.int64),
        np.empty((0, size)),
        np.empty(0, np.int64),
        np.empty((0, 3), np.int32),
        np.empty(0),
        np.empty((0, dimension)),
        np.empty(0, np.uint64),
        np.zeros(1),
    )


def _work(count: int, size: int, dimension: int) -> kernels.Work:
    from solvers.pricing import kernels

    return kernels.Work(
        np.empty(size),
        np.empty(size),
        np.empty(size, bool),
        np.ones(size),
        np.ones(size),
        np.empty(dimension),
        np.empty(size, np.int64),
        np.empty(count, np.int64),
        np.empty(dimension),
        np.empty((dimension, dimension)),
        np.empty(dimension),
    )


def _plain(values: Floats) -> Floats:
    """A writable copy, rows contiguous: every other kind of array would be compiled for anew."""
    return np.array(values, dtype=np.float64, order="C")


def _longer(values: NDArray, length: int) -> NDArray:
    """The array with room for at least `length` elements."""
    if length <= len(values):
        return values
    longer = np.empty((max(length, 2 * len(values)), *values.shape[1:]), values.dtype)
    longer[: len(values)] = values
    return longer
