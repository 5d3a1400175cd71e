"""Trees and local ascents in numpy, for hundreds of cones at once: the readable way, with which kernels are compared.

`solvers.pricing.tree` states the bound that is minimised on each cone, `solvers.pricing.search` who comes here.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from solvers.arrays import Bits, Floats, Indices, Signs
from solvers.clock import is_late, poll, spend
from solvers.pricing.dual_function import evaluate, normalise
from solvers.pricing.slope_descent import SlopeDescent
from solvers.pricing.tree import Leaf, Limits, Tree, boxes, preorder, solve_decided

INSIDE = 1e-8  # a direction has a sign that holds in advance up to this part of ||x_i||
SECONDS, SECONDS_PER_PRODUCT = 2e-4, 1e-8  # of one cone, and of shortening one range by one point in one column
FIRST, TIGHTENED, DECIDED = 4, 10, 30  # sweeps: with the parent's ranges, with a cone's own, with nothing undecided


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
    descent = SlopeDescent(rows, coefficients, slope, free=free, beta=1.0)
    directions = directions.copy()
    values = evaluate(rows, coefficients, slope, directions)
    e = descent.slope_jumps
    t = np.zeros((len(directions), len(e)))
    moving = np.arange(len(directions))
    for _ in range(rounds):
        poll()
        on = directions[moving] @ rows.T > 0
        fixed = np.where(on, e, 0.0)
        low = np.where(descent.positive, fixed, np.minimum(e, 0.0))
        high = np.where(descent.positive, fixed, 0.0)
        part = np.clip(np.where(descent.positive, fixed, t[moving] if t.any() else fixed), low, high)
        if free:
            descent.beta = np.maximum(values[moving], 1e-300)  # about ||p||, which weighs the bias
        p = descent.descend(part, low, high, np.zeros(part.shape, bool), part, part, sweeps)
        t[moving] = part
        new = normalise(rows, coefficients, slope, p, free=free)
        reached = evaluate(rows, coefficients, slope, new)
        better = reached > values[moving] + 1e-12 * np.abs(values[moving])
        if not better.any():
            break
        moving = moving[better]
        directions[moving], values[moving] = new[better], reached[better]
    order = np.argsort(-values, kind="stable")
    return directions[order], values[order]


def bound_tree(
    rows: Floats,
    coefficients: Floats,
    slope: float,
    beta: float,
    limits: Limits,
    max_nodes: int,
    known: Signs,
    *,
    free: bool = False,
    batch: int = 256,
) -> Tree:
    """`solvers.pricing.search.bound_tree`, `batch` cones at once; free: the rows are in the frame of the bias.

    known (S,): the signs that hold in advance.
    """
    search = _BatchSearch(SlopeDescent(rows, coefficients, slope, free=free, beta=beta), beta, known)
    most = np.inf if limits.max_violators is None else limits.max_violators
    while search.stack:
        if is_late(limits.deadline):
            if limits.truncate and not search.violators:
                search.close_as_they_are()
            break
        if search.visited > max_nodes or len(search.violators) >= most:
            break
        search.advance(batch)
    return search.result()


@dataclass(slots=True)
class _Open:
    """An unresolved node: signs (S,), slopes (S,), and per positive point range vectors (2, P, D), multipliers (2, P,
    Q) of the Q points that may be decided; theta: the bias at which the bound was largest.
    """

    identity: int
    signs: Signs
    slopes: Floats
    vectors: Floats
    multipliers: Floats
    theta: float = 0.0


@dataclass(slots=True)
class _Batch:
    """B open nodes as arrays, with the intervals of their slopes, their chords and ranges, p and the bounds."""

    signs: Signs  # (B, S)
    slopes: Floats  # (B, S)
    vectors: Floats  # (B, 2, P, D)
    multipliers: Floats  # (B, 2, P, Q)
    theta: Floats  # (B,)
    low: Floats  # (B, S)
    high: Floats  # (B, S)
    chord: Bits  # (B, S) undecided with c_i > 0
    left: Floats  # (B, S)
    right: Floats  # (B, S)
    p: Floats  # (B, D)
    total: Floats  # (B,) ||p|| + R

    def part(self, which: Indices) -> _Batch:
        """A copy of some of them."""
        return _Batch(*(getattr(self, name.name)[which] for name in fields(self)))

    def put(self, which: Indices, part: _Batch) -> None:
        """Write a part back."""
        for name in fields(self):
            getattr(self, name.name)[which] = getattr(part, name.name)


class _BatchSearch:
    """The open nodes, what the others have become, and the violators found on the way."""

    def __init__(self, descent: SlopeDescent, beta: float, known: Signs) -> None:
        self.descent, self.beta, self.known = descent, beta, known
        rows, self.positive = descent.rows, np.flatnonzero(descent.positive)
        self.decidable = np.flatnonzero(descent.positive | (known != 0))
        root = _Open(
            0,
            known.astype(np.int8),
            descent.slope_jumps / 2,
            np.stack([-rows[self.positive], rows[self.positive]]),
            np.zeros((2, len(self.positive), len(self.decidable))),
        )
        self.stack = [root]
        self.results: list[int | Leaf | None] = [None]
        self.children: dict[int, tuple[int, int]] = {}
        self.violators: list[Floats] = []
        self.bound, self.visited = 0.0, 0

    def advance(self, batch: int) -> None:
        """Close or split the newest nodes, `batch` of them at most."""
        chosen, self.stack = self.stack[-batch:], self.stack[:-batch]
        self.visited += len(chosen)
        nodes = self._batch(chosen)
        self._relax(nodes, FIRST)
        still_open = np.flatnonzero(nodes.total > self.beta)
        if len(still_open):
            part = nodes.part(still_open)
            self._note_violators(part.p)
            self._tighten(part)
            nodes.put(still_open, part)
        for b, node in enumerate(chosen):
            if nodes.total[b] <= self.beta or not nodes.chord[b].any():
                self._close(node, nodes, b)
            else:
                self._split(node, nodes, b)

    def close_as_they_are(self) -> None:
        """Make leaves of the open nodes with the slopes they inherited."""
        for node in self.stack:
            nodes = self._batch([node])
            nodes.p = self.descent.linear_part + nodes.slopes @ self.descent.rows
            self._sum_up(nodes)
            self._close(node, nodes, 0)
        self.stack = []

    def result(self) -> Tree:
        """The tree, closed or not."""
        dimension = self.descent.rows.shape[1]
        violators = np.array(self.violators) if self.violators else np.empty((0, dimension))
        if self.stack or self.violators:
            return Tree(None, np.inf, violators, self.visited)
        return Tree(preorder(self.results, self.children), self.bound, violators, self.visited)

    def _batch(self, chosen: list[_Open]) -> _Batch:
        signs = np.stack([node.signs for node in chosen])
        vectors = np.stack([node.vectors for node in chosen])
        low, high = boxes(self.descent.slope_jumps, signs)
        left, right = self._ranges(vectors)
        return _Batch(
            signs=signs,
            slopes=np.clip(np.stack([node.slopes for node in chosen]), low, high),
            vectors=vectors,
            multipliers=np.stack([node.multipliers for node in chosen]),
            theta=np.array([node.theta for node in chosen]),
            low=low,
            high=high,
            chord=(signs == 0) & self.descent.positive,
            left=left,
            right=right,
            p=np.empty((len(chosen), self.descent.rows.shape[1])),
            total=np.empty(len(chosen)),
        )

    def _relax(self, nodes: _Batch, sweeps: int) -> None:
        """Better slopes, with the ranges as they are."""
        intervals = nodes.low, nodes.high, nodes.chord, nodes.left, nodes.right
        nodes.p = self.descent.descend(nodes.slopes, *intervals, sweeps, nodes.theta)
        self._sum_up(nodes)

    def _sum_up(self, nodes: _Batch) -> None:
        offsets = self.descent.offsets(nodes.slopes, nodes.chord, nodes.left, nodes.right)
        nodes.total = self.descent.size(nodes.p) + offsets

    def _tighten(self, nodes: _Batch) -> None:
        """Shorter ranges and better slopes; where nothing is undecided, the best ones."""
        self._shorten(nodes)
        nodes.left, nodes.right = self._ranges(nodes.vectors)
        self._relax(nodes, TIGHTENED)
        decided = np.flatnonzero(~nodes.chord.any(axis=1))
        if not len(decided):
            return
        part = nodes.part(decided)
        self._relax(part, DECIDED)
        rows, linear_part, free = self.descent.rows, self.descent.linear_part, self.descent.free
        for b in np.flatnonzero(self.descent.size(part.p) > self.beta):
            part.slopes[b] = solve_decided(rows, linear_part, part.low[b], part.high[b], part.slopes[b], free=free)
        part.p = linear_part + part.slopes @ rows
        self._note_violators(part.p)
        nodes.put(decided, part)
        self._sum_up(nodes)

    def _note_violators(self, p: Floats) -> None:
        """Note the directions of p (B, D) at which h is above beta."""
        descent = self.descent
        directions = normalise(descent.rows, descent.coefficients, descent.slope, p, free=descent.free)
        values = evaluate(descent.rows, descent.coefficients, descent.slope, directions)
        self.violators.extend(directions[(values > self.beta) & self._is_known(directions)])

    def _is_known(self, directions: Floats) -> Bits:
        """Which of the directions (V, D) have the signs that hold in advance, up to rounding."""
        decided = np.flatnonzero(self.known)
        rows = self.descent.rows[decided] * self.known[decided, None]
        sizes = np.outer(self.descent.size(directions), self.descent.curvature[decided] ** 0.5)
        return np.count_nonzero(directions @ rows.T < -INSIDE * sizes, axis=1) == 0

    def _ranges(self, vectors: Floats) -> tuple[Floats, Floats]:
        """l and r (B, S) from the range vectors (B, 2, P, D): their sizes."""
        sizes = self.descent.size(vectors)
        left = np.full((len(vectors), len(self.descent.rows)), 1.0)
        right = left.copy()
        left[:, self.positive], right[:, self.positive] = sizes[:, 0], sizes[:, 1]
        return left + 1e-300, right + 1e-300

    def _shorten(self, nodes: _Batch) -> None:
        """Shorten the range vectors by nonnegative multiples of decided rows, in place."""
        rows, positive, decidable = self.descent.rows, self.positive, self.decidable
        spend(SECONDS * len(nodes.signs) + SECONDS_PER_PRODUCT * nodes.vectors.size * len(decidable))
        for _ in range(3):
            for q, k in enumerate(decidable):
                decided = np.flatnonzero(nodes.signs[:, k])
                if not len(decided):
                    continue
                step_rows = rows[k] * nodes.signs[decided, k, None]
                w = nodes.vectors[decided]
                old = nodes.multipliers[decided, :, :, q]
                new = np.maximum(old - np.einsum("bzpd,bd->bzp", w, step_rows) / self.descent.curvature[k], 0.0)
                nodes.vectors[decided] = w + (new - old)[..., None] * step_rows[:, None, None, :]
                nodes.multipliers[decided, :, :, q] = new
        signed = nodes.multipliers * nodes.signs[:, None, None, decidable]
        start = np.stack([-rows[positive], rows[positive]])
        nodes.vectors[:] = start + np.einsum("bzpq,qd->bzpd", signed, rows[decidable])

    def _close(self, node: _Open, nodes: _Batch, b: int) -> None:
        self.bound = max(self.bound, float(nodes.total[b]))
        self.results[node.identity] = _leaf(
            nodes.slopes[b], nodes.chord[b], nodes.multipliers[b], self.positive, self.decidable
        )

    def _split(self, node: _Open, nodes: _Batch, b: int) -> None:
        point = self._widest_gap(nodes, b)
        pair = (len(self.results), len(self.results) + 1)
        self.results[node.identity] = point
        self.results.extend([None, None])
        self.children[node.identity] = pair
        for identity, sign in zip(pair, (1, -1), strict=True):
            signs = nodes.signs[b].copy()
            signs[point] = sign
            parts = nodes.slopes[b].copy(), nodes.vectors[b].copy(), nodes.multipliers[b].copy()
            self.stack.append(_Open(identity, signs, *parts, float(nodes.theta[b])))

    def _widest_gap(self, nodes: _Batch, b: int) -> int:
        """The undecided point whose chord lies farthest above the activation at p / ||p||."""
        descent, t = self.descent, nodes.slopes[b]
        direction = normalise(descent.rows, descent.coefficients, descent.slope, nodes.p[b, None], free=descent.free)[0]
        z = descent.rows @ direction
        e = descent.slope_jumps
        offset = np.minimum(np.maximum(t * nodes.left[b], (e - t) * nodes.right[b]), 1e20)
        gap = np.where(nodes.chord[b], t * z + offset - e * np.maximum(z, 0.0), -np.inf)
        return int(np.argmax(gap))


def _leaf(
    t: Floats,
    chord: Bits,
    multipliers: Floats,
    positive: Indices,
    decidable: Indices,
) -> Leaf:
    ranges: dict[int, tuple[dict[int, float], ...]] = {}
    sides, places, terms = np.nonzero(multipliers)
    for z, q, k in zip(sides.tolist(), places.tolist(), terms.tolist(), strict=True):
        i = int(positive[q])
        if chord[i]:
            ranges.setdefault(i, ({}, {}))[z][int(decidable[k])] = float(multipliers[z, q, k])
    return Leaf(t.copy(), ranges)
