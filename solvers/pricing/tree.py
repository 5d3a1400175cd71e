"""Pricing: the largest value of |h(u)| on the unit ball, h(u) = sum_i c_i s_a(x_i . u), with a proof tree.

A node of the tree is a cone: the signs of x_i . u are decided for some points. On it h is bounded by a linear function
plus a constant, one *slope* per point (`verify.checker.dual_trees.Bound` states the rule and the certificates carry
it):

    c_i s_a(x_i . u) <= (a c_i + t_i) x_i . u + R_i ||u||,      e_i = (1 - a) c_i,
    decided on: t_i >= e_i;   decided off: t_i <= 0;   undecided, c_i < 0: e_i <= t_i <= 0   (R_i = 0 in the three)
    undecided, c_i > 0: 0 <= t_i <= e_i,  R_i = max(t_i l_i, (e_i - t_i) r_i),  -l_i ||u|| <= x_i . u <= r_i ||u||.

So h(u) <= ||p|| + R on the cone, p = sum_i (a c_i + t_i) x_i. Every point has one variable in an interval and the bound
is minimised by coordinate descent, for hundreds of nodes at once (the loop is over points, the arrays over nodes).
Only points with c_i > 0 are ever split: with those decided h is linear minus convex and the bound is the maximum.

With a free bias u = (w, b), ||u|| is ||w||, and the weights sum to 0. Then only |b| <= B ||w|| matters, B the largest
norm of a point (`docs/mathematics.md`, 5.4 "A free bias"): ||p_w|| + B |p_b| is in the place of ||p||, and the same for
the vectors of ranges. The points are taken from the midpoint of their bounding box, and b in units of B, so that a row
is (x, B).

This is the reference, in numpy; what it does not close quickly goes to `solvers.pricing.compiled`.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module

import numpy as np
from numpy.typing import NDArray

from solvers.clock import is_late, poll, seconds_left
from solvers.instance import Status
from solvers.programs.interior_point import Cone, solve_cone_program

Array = NDArray[np.float64]

UNBOUNDED = 1e30  # stands for "no range known" (free bias): a chord with such a range never closes a node
BIAS_SWEEPS = 3  # sweeps with a free bias, for each one without: the multiplier of the bias is found on the way
STIFFNESS = 4.0  # of the bias coordinate of p in the method of multipliers, relative to the others
KERNELS = "ISOPTIMAL_KERNELS"  # environment: "numpy" or "numba" forces the one or the other
COMPILATION_SECONDS = 10.0  # of the time that is left are enough to compile kernels that are not kept on disk
LARGE, LARGE_FREE = 1000, 100  # entries of the rows from which on compiled climbs save more time than they take to load
FIRST_NODES = 1000  # nodes of a tree up to which numpy is the quicker one


@dataclass(slots=True)
class Leaf:
    """A closed cone: the variables t (S,) of its bound and, where they were tightened, ranges with their multipliers.

    ranges: point -> ({decided point: multiplier for l}, {decided point: multiplier for r}); they define l and r.
    """

    slopes: Array
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
    violators: Array
    count: int


@dataclass(frozen=True, slots=True)
class Limits:
    """When `bound_tree` stops early: see there."""

    deadline: float | None
    truncate: bool
    max_violators: int | None


def evaluate(rows: Array, weights: Array, slope: float, directions: Array) -> Array:
    """h at each direction: rows (S, D), weights (S,), directions (V, D) -> (V,)."""
    z = directions @ rows.T
    return np.maximum(z, slope * z) @ weights


def normalise(rows: Array, weights: Array, slope: float, vectors: Array, *, free: bool) -> Array:
    """Vectors (V, D) scaled to norm one; with a free bias its coordinate is replaced by the best one for that
    direction.

    For a fixed direction h is piecewise linear in the bias and, when the weights sum to zero, largest at a breakpoint.
    """
    if not free:
        return _unit(vectors)
    heads = _unit(vectors[:, :-1])
    z = heads @ rows[:, :-1].T
    last = np.where(rows[:, -1] == 0, 1.0, rows[:, -1])
    candidates = -z / last
    inner = z[:, None, :] + candidates[:, :, None] * rows[:, -1]
    values = np.maximum(inner, slope * inner) @ weights
    best = candidates[np.arange(len(heads)), np.argmax(values, axis=1)]
    return np.concatenate([heads, best[:, None]], axis=1)


def _unit(vectors: Array) -> Array:
    """The vectors (V, D) scaled to norm one, 0 where they are 0: also where their squares are out of range."""
    largest = np.abs(vectors).max(axis=1, initial=0.0, keepdims=True)
    moderate = np.ldexp(vectors, -np.frexp(largest)[1])
    return moderate / np.where(largest > 0, np.linalg.norm(moderate, axis=1, keepdims=True), 1.0)


def boxes(excess: Array, signs: NDArray[np.int8]) -> tuple[Array, Array]:
    """The interval of each slope variable: excess (S,), signs (..., S) of the decided points, 0 where open."""
    low = np.where(signs > 0, excess, np.where(signs < 0, -np.inf, np.minimum(excess, 0.0)))
    high = np.where(signs > 0, np.inf, np.where(signs < 0, 0.0, np.maximum(excess, 0.0)))
    return low, high


def bias_frame(rows: Array) -> tuple[Array, Array, float]:
    """Rows (x, 1) with a free bias as (x - o, B), and o, B: see the module."""
    body = rows[:, :-1]
    middle = (body.min(axis=0) + body.max(axis=0)) / 2 if len(rows) else np.zeros(rows.shape[1] - 1)
    body = body - middle
    reach = float(np.linalg.norm(body, axis=1).max(initial=0.0)) or 1.0
    return np.column_stack([body, reach * rows[:, -1]]), middle, reach


def from_frame(directions: Array, middle: Array, reach: float) -> Array:
    """Directions (V, D) for the rows of `bias_frame` as directions for the given ones."""
    return np.column_stack([directions[:, :-1], reach * directions[:, -1] - directions[:, :-1] @ middle])


def to_frame(directions: Array, middle: Array, reach: float) -> Array:
    """The inverse of `from_frame`."""
    return np.column_stack([directions[:, :-1], (directions[:, -1] + directions[:, :-1] @ middle) / reach])


def size(vectors: Array, *, free: bool) -> Array:
    """||p|| along the last axis; with a free bias ||p_w|| + |p_b|, of vectors in the frame."""
    if not free:
        return np.linalg.norm(vectors, axis=-1)
    return np.linalg.norm(vectors[..., :-1], axis=-1) + np.abs(vectors[..., -1])


class _Kernel:
    """Coordinate descent on ||p||^2 / (2 beta) + R over the slope variables, for a batch of nodes.

    With a free bias on ||p_w||^2 / (2 beta) + |p_b| + R; for |p_b| the method of multipliers takes a function with the
    derivative clip(stiffness p_b + theta, -1, 1), where theta, the bias at which the bound is largest, becomes that
    derivative after each sweep.
    """

    def __init__(self, rows: Array, weights: Array, slope: float, *, free: bool, beta: float) -> None:
        self.rows, self.weights, self.slope, self.free = rows, weights, slope, free
        self.beta: float | Array = beta  # or one for each node
        self.excess = (1.0 - slope) * weights
        self.base = slope * (weights @ rows)
        self.curvature = np.maximum((rows**2).sum(axis=1), 1e-300)
        self.positive = self.excess > 0

    def descend(
        self,
        t: Array,
        low: Array,
        high: Array,
        chord: NDArray[np.bool_],
        left: Array,
        right: Array,
        sweeps: int,
        theta: Array | None = None,
    ) -> Array:
        """Improve t (B, S) in place, and theta (B,); return p (B, D). chord (B, S): undecided with c_i > 0."""
        e, beta = self.excess, self.beta
        bias: Array = np.zeros(len(t)) if theta is None else theta
        vectors = self.base + t @ self.rows
        for _ in range(sweeps * (BIAS_SWEEPS if self.free else 1)):
            largest = 0.0
            for i in range(len(e)):
                ti = t[:, i]
                ci = chord[:, i]
                if self.positive[i] and ci.any():
                    l, r = left[:, i], right[:, i]
                    kink = e[i] * r / (l + r)
                    above = ti + self._step(vectors, bias, i, beta * l)
                    below = ti + self._step(vectors, bias, i, -beta * r)
                    new = np.where(above > kink, above, np.minimum(below, kink))
                    if not ci.all():
                        new = np.where(ci, new, ti + self._step(vectors, bias, i, 0.0))
                else:
                    new = ti + self._step(vectors, bias, i, 0.0)
                new = np.minimum(np.maximum(new, low[:, i]), high[:, i])
                step = new - ti
                t[:, i] = new
                vectors += step[:, None] * self.rows[i]
                largest = max(largest, float(np.abs(step).max(initial=0.0)) * self.curvature[i] ** 0.5)
            if self.free:
                moved = np.clip(bias + (STIFFNESS / beta) * vectors[:, -1], -1.0, 1.0)
                largest = max(largest, float(np.max(beta)) * float(np.abs(moved - bias).max(initial=0.0)))
                bias[:] = moved
            if largest <= 1e-10 * float(np.max(beta)):
                break
        return self.base + t @ self.rows

    def _step(self, p: Array, theta: Array, i: int, pull: Array | float) -> Array:
        """The step of t_i to where beta times the derivative along row i, plus `pull`, is 0."""
        row, curvature = self.rows[i], self.curvature[i]
        if not self.free:
            return -(p @ row + pull) / curvature
        one, head = row[-1], max(curvature - row[-1] ** 2, 1e-300)
        gradient = p[:, :-1] @ row[:-1] + pull
        inner = -(gradient + one * (STIFFNESS * p[:, -1] + self.beta * theta)) / (head + STIFFNESS * one * one)
        slope = STIFFNESS * (p[:, -1] + one * inner) + self.beta * theta
        far = -(gradient + one * self.beta * np.sign(slope)) / head
        return np.where(np.abs(slope) <= self.beta, inner, far)

    def offsets(self, t: Array, chord: NDArray[np.bool_], left: Array, right: Array) -> Array:
        """R (B,): the sum of the chords' offsets."""
        each = np.maximum(t * left, (self.excess - t) * right)
        return np.where(chord, each, 0.0).sum(axis=1)

    def size(self, p: Array) -> Array:
        """||p||, with a free bias ||p_w|| + |p_b|."""
        return size(p, free=self.free)


def ascend(
    rows: Array,
    weights: Array,
    slope: float,
    starts: Array,
    *,
    free: bool = False,
    rounds: int = 6,
    sweeps: int = 4,
    finalists: int = 64,
    compiled: bool | None = None,
) -> tuple[Array, Array]:
    """Local maxima of h on the unit ball from many starts: (directions (B, D), values (B,)), best value first.

    All starts get a few rounds, the best `finalists` of them with distinct patterns many more.
    With the pattern on the points with c_i > 0 fixed, h is bounded below by a concave function that touches it: its
    maximiser is p / ||p||; the pattern is read off again there until nothing changes. Values never decrease.
    With a free bias the directions have ||w|| = 1 and the best bias for that w.
    compiled: whether to use the compiled kernels; None: where that is worthwhile.
    """
    middle, reach = np.zeros(rows.shape[1] - 1), 1.0
    if free:
        rows, middle, reach = bias_frame(rows)
        starts = to_frame(starts, middle, reach)
    kernel = _Kernel(rows, weights, slope, free=free, beta=1.0)
    wanted = _wanted(compiled, free=False)
    large = LARGE_FREE if free else LARGE
    if wanted is None:
        wanted = rows.size >= large and _is_compiled_in_time("climb_free" if free else "climb")
    climb = _climb_compiled if wanted else _climb
    directions = normalise(rows, weights, slope, starts, free=free)
    directions, _ = climb(kernel, directions, rounds, sweeps)
    on = directions @ rows[kernel.positive].T > 0
    _, distinct = np.unique(on, axis=0, return_index=True)
    best = np.sort(distinct)[:finalists]
    directions, values = climb(kernel, directions[best], 6 * rounds, 5 * sweeps)
    return (from_frame(directions, middle, reach) if free else directions), values


def _wanted(compiled: bool | None, *, free: bool) -> bool | None:
    """Whether the compiled kernels are to be used, by the caller or the environment; None: where they save time."""
    if free or compiled is not None:
        return bool(compiled) and not free
    choice = os.environ.get(KERNELS)
    return choice == "numba" if choice else None


def _is_compiled_in_time(name: str, deadline: float | None = None) -> bool:
    """Whether there is a kernel of that name: numba at all, and where it is yet to be compiled, the time for that."""
    if not _can_compile():
        return False
    left = seconds_left(deadline)
    if left > COMPILATION_SECONDS:
        return True
    kernel = getattr(import_module("solvers.pricing.kernels"), name)
    return left > 0 and import_module("solvers.compilation").is_at_hand(kernel)


@cache
def _can_compile() -> bool:
    """Whether there is a numba that works with this numpy."""
    try:
        import_module("solvers.pricing.kernels")
    except ImportError:
        return False
    return True


def _climb_compiled(kernel: _Kernel, directions: Array, rounds: int, sweeps: int) -> tuple[Array, Array]:
    from solvers.pricing.compiled import climb

    return climb(kernel.rows, kernel.weights, kernel.slope, directions, rounds, sweeps, free=kernel.free)


def _climb(kernel: _Kernel, directions: Array, rounds: int, sweeps: int) -> tuple[Array, Array]:
    values = evaluate(kernel.rows, kernel.weights, kernel.slope, directions)
    e = kernel.excess
    t = np.zeros((len(directions), len(e)))
    moving = np.arange(len(directions))
    for _ in range(rounds):
        poll()
        on = directions[moving] @ kernel.rows.T > 0
        fixed = np.where(on, e, 0.0)
        low = np.where(kernel.positive, fixed, np.minimum(e, 0.0))
        high = np.where(kernel.positive, fixed, 0.0)
        part = np.clip(np.where(kernel.positive, fixed, t[moving] if t.any() else fixed), low, high)
        if kernel.free:
            kernel.beta = np.maximum(values[moving], 1e-300)  # about ||p||, which weighs the bias
        p = kernel.descend(part, low, high, np.zeros(part.shape, bool), part, part, sweeps)
        t[moving] = part
        new = normalise(kernel.rows, kernel.weights, kernel.slope, p, free=kernel.free)
        reached = evaluate(kernel.rows, kernel.weights, kernel.slope, new)
        better = reached > values[moving] + 1e-12 * np.abs(values[moving])
        if not better.any():
            break
        moving = moving[better]
        directions[moving], values[moving] = new[better], reached[better]
    order = np.argsort(-values, kind="stable")
    return directions[order], values[order]


def crossings(rows: Array, count: int, random: np.random.Generator) -> Array:
    """Directions orthogonal to D - 1 random rows (and their opposites), (count, D): where maxima of h tend to lie."""
    size, dimension = rows.shape
    if size < dimension or dimension < 2:
        return np.empty((0, dimension))
    chosen = np.argsort(random.random((count // 2, size)), axis=1)[:, : dimension - 1]
    _, _, right = np.linalg.svd(rows[chosen])
    return np.concatenate([right[:, -1], -right[:, -1]])


def sweep_angles(rows: Array, weights: Array, slope: float) -> tuple[Array, Array]:
    """Every local maximum of h on the circle (D <= 2): (directions (V, D), values (V,)), best first. Exact up to
    rounding.

    Between two neighbouring breakpoints (the normals of the rows) h is linear.
    """
    if rows.shape[1] == 1:
        directions = np.array([[1.0], [-1.0]])
    else:
        angle = np.arctan2(rows[:, 0], -rows[:, 1])
        breaks = np.sort(np.unique(np.concatenate([angle, angle + np.pi, angle - np.pi]) % (2 * np.pi)))
        if not len(breaks):
            breaks = np.zeros(1)
        middle = breaks + np.diff(np.append(breaks, breaks[0] + 2 * np.pi)) / 2
        on = np.stack([np.cos(middle), np.sin(middle)], axis=1) @ rows.T > 0
        gradients = np.where(on, weights, slope * weights) @ rows
        inner = np.arctan2(gradients[:, 1], gradients[:, 0])
        width = np.diff(np.append(breaks, breaks[0] + 2 * np.pi))
        inside = ((inner - breaks) % (2 * np.pi)) < width
        angles = np.concatenate([breaks, inner[inside]])
        directions = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    values = evaluate(rows, weights, slope, directions)
    order = np.argsort(-values, kind="stable")
    return directions[order], values[order]


@dataclass(slots=True)
class _Open:
    """An unresolved node: signs (S,), slopes (S,), and per positive point range vectors (2, P, D), multipliers (2, P,
    P); theta: the bias at which the bound was largest.
    """

    identity: int
    signs: NDArray[np.int8]
    slopes: Array
    vectors: Array
    multipliers: Array
    theta: float = 0.0


def bound_tree(
    rows: Array,
    weights: Array,
    slope: float,
    beta: float,
    *,
    free: bool = False,
    batch: int = 256,
    max_nodes: int = 500_000,
    deadline: float | None = None,
    truncate: bool = False,
    max_violators: int | None = None,
    compiled: bool | None = None,
) -> Tree:
    """Prove h(u) <= beta on the unit ball by a tree of cones, or find violators.

    rows (S, D), weights (S,) all nonzero. free: the last column is a bias that does not count in ||u||.
    Stops early (nodes None) at `deadline` (of clock.now), at `max_nodes`, or with `max_violators` violators.
    truncate: at the deadline the open cones become leaves as they are; the tree then proves a larger `bound` than beta.
    The compiled kernels do so as well at `max_nodes`, and where a certificate would be too long.
    compiled: whether to use the compiled kernels (they know no batches); None: after `FIRST_NODES` nodes.
    Sound up to rounding (the checker decides exactly); complete for beta above the maximum.
    """
    dimension = rows.shape[1]
    if not len(rows):
        return Tree([Leaf(np.zeros(0))], 0.0, np.empty((0, dimension)), 1)
    limits = Limits(deadline, truncate, max_violators)
    if free:
        framed, middle, reach = bias_frame(rows)
        tree = _search_tree(framed, weights, slope, beta, limits, max_nodes, free=True, batch=batch, compiled=compiled)
        tree.violators = from_frame(tree.violators, middle, reach)
        return tree
    return _search_tree(rows, weights, slope, beta, limits, max_nodes, free=False, batch=batch, compiled=compiled)


def _search_tree(
    rows: Array,
    weights: Array,
    slope: float,
    beta: float,
    limits: Limits,
    max_nodes: int,
    *,
    free: bool,
    batch: int,
    compiled: bool | None,
) -> Tree:
    wanted = _wanted(compiled, free=free)
    if wanted is None:
        tree = _bound_tree(rows, weights, slope, beta, limits, min(FIRST_NODES, max_nodes), free=free, batch=batch)
        if tree.nodes is not None or tree.count <= FIRST_NODES:
            return tree
        wanted = _is_compiled_in_time("search", limits.deadline)
    if not wanted:
        return _bound_tree(rows, weights, slope, beta, limits, max_nodes, free=free, batch=batch)
    from solvers.pricing.compiled import bound_tree as search

    return search(rows, weights, slope, beta, limits, max_nodes)


def _bound_tree(
    rows: Array, weights: Array, slope: float, beta: float, limits: Limits, max_nodes: int, *, free: bool, batch: int
) -> Tree:
    dimension = rows.shape[1]
    kernel = _Kernel(rows, weights, slope, free=free, beta=beta)
    positive = np.flatnonzero(kernel.positive)
    start_vectors = np.stack([-rows[positive], rows[positive]])
    root = _Open(
        0,
        np.zeros(len(rows), np.int8),
        np.clip(kernel.excess / 2, None, None),
        start_vectors,
        np.zeros((2, len(positive), len(positive))),
    )
    results: list[int | Leaf | None] = [None]
    children: dict[int, tuple[int, int]] = {}
    stack = [root]
    violators: list[Array] = []
    bound = 0.0
    count = 0

    def finish(*, closed: bool) -> Tree:
        found = np.array(violators) if violators else np.empty((0, dimension))
        nodes = preorder(results, children) if closed and not violators else None
        return Tree(nodes, bound if nodes is not None else np.inf, found, count)

    while stack:
        if is_late(limits.deadline):
            if not limits.truncate or violators:
                return finish(closed=False)
            bound = max(bound, _close_as_they_are(kernel, stack, results, positive))
            return finish(closed=True)
        if count > max_nodes or (limits.max_violators is not None and len(violators) >= limits.max_violators):
            return finish(closed=False)
        chosen, stack = stack[-batch:], stack[:-batch]
        count += len(chosen)
        signs = np.stack([node.signs for node in chosen])
        t = np.stack([node.slopes for node in chosen])
        vectors = np.stack([node.vectors for node in chosen])
        multipliers = np.stack([node.multipliers for node in chosen])
        low, high = boxes(kernel.excess, signs)
        t = np.clip(t, low, high)
        chord = (signs == 0) & kernel.positive
        left, right = _ranges(kernel, vectors, positive, len(rows))
        theta = np.array([node.theta for node in chosen])
        p = kernel.descend(t, low, high, chord, left, right, 4, theta)
        total = kernel.size(p) + kernel.offsets(t, chord, left, right)
        open_nodes = np.flatnonzero(total > beta)
        if len(open_nodes):
            directions, gains = _probe(kernel, p[open_nodes])
            violators.extend(directions[gains > beta])
            sub = open_nodes
            v, m, s = vectors[sub], multipliers[sub], signs[sub]
            _tighten(kernel, s, v, m, positive)
            vectors[sub], multipliers[sub] = v, m
            l, r = _ranges(kernel, v, positive, len(rows))
            ts = t[sub]
            decided_out = ~chord[sub].any(axis=1)
            thetas = theta[sub]
            ps = kernel.descend(ts, low[sub], high[sub], chord[sub], l, r, 10, thetas)
            theta[sub] = thetas
            if decided_out.any():
                rest = np.flatnonzero(decided_out)
                tr = ts[rest]
                edges = low[sub][rest], high[sub][rest], chord[sub][rest]
                pr = kernel.descend(tr, *edges, l[rest], r[rest], 30, thetas[rest])
                for b in np.flatnonzero(kernel.size(pr) > beta):
                    edges = low[sub][rest][b], high[sub][rest][b]
                    tr[b] = solve_decided(kernel.rows, kernel.base, *edges, tr[b], free=free)
                ts[rest], ps[rest] = tr, kernel.base + tr @ kernel.rows
                directions, gains = _probe(kernel, ps[rest])
                violators.extend(directions[gains > beta])
            t[sub], p[sub], left[sub], right[sub] = ts, ps, l, r
            total[sub] = kernel.size(ps) + kernel.offsets(ts, chord[sub], l, r)
        for b, node in enumerate(chosen):
            if total[b] <= beta or not chord[b].any():
                bound = max(bound, float(total[b]))
                results[node.identity] = _leaf(t[b], chord[b], multipliers[b], positive)
                continue
            point = _widest_gap(kernel, t[b], chord[b], left[b], right[b], p[b])
            results[node.identity] = point
            pair = (len(results), len(results) + 1)
            results.extend([None, None])
            children[node.identity] = pair
            for identity, sign in zip(pair, (1, -1), strict=True):
                child_signs = signs[b].copy()
                child_signs[point] = sign
                parts = t[b].copy(), vectors[b].copy(), multipliers[b].copy()
                stack.append(_Open(identity, child_signs, *parts, float(theta[b])))
    return finish(closed=True)


def _close_as_they_are(
    kernel: _Kernel, nodes: list[_Open], results: list[int | Leaf | None], positive: NDArray[np.intp]
) -> float:
    """Make leaves of open nodes with the slopes they inherited; the largest of their bounds."""
    largest = 0.0
    for node in nodes:
        low, high = boxes(kernel.excess, node.signs[None])
        t = np.clip(node.slopes[None], low, high)
        chord = (node.signs[None] == 0) & kernel.positive
        left, right = _ranges(kernel, node.vectors[None], positive, len(kernel.rows))
        total = kernel.size(kernel.base + t @ kernel.rows) + kernel.offsets(t, chord, left, right)
        largest = max(largest, float(total[0]))
        results[node.identity] = _leaf(t[0], chord[0], node.multipliers, positive)
    return largest


def solve_decided(rows: Array, base: Array, low: Array, high: Array, t: Array, *, free: bool) -> Array:
    """The minimiser of ||p|| (with a free bias ||p_w|| + |p_b|) over the intervals, by an interior-point method.

    For cones without undecided points that coordinate descent does not close: few, and they need the accuracy.
    """
    count, dimension = len(t), rows.shape[1]
    head = dimension - 1 if free else dimension
    up, down = np.flatnonzero(np.isfinite(low)), np.flatnonzero(np.isfinite(high))
    identity = np.eye(count)
    bias = rows[:, head:].T  # its absolute value is bounded by one more variable
    matrix = np.concatenate([-identity[up], identity[down], bias, -bias, np.zeros((1, count)), -rows[:, :head].T])
    right = np.concatenate([-low[up], high[down], -base[head:], base[head:], np.zeros(1), base[:head]])
    sides = len(up) + len(down) + 2 * len(bias)
    extra = np.zeros((len(matrix), 1 + len(bias)))
    extra[sides, 0] = -1.0
    extra[sides - 2 * len(bias) : sides, 1:] = -1.0
    cones: list[tuple[Cone, int]] = [("nonnegative", sides), ("second-order", 1 + head)]
    cost = np.concatenate([np.zeros(count), np.ones(1 + len(bias))])
    solution = solve_cone_program(cost, np.hstack([matrix, extra]), right, cones, accuracy=1e-11)
    return t if solution.status is Status.FAILED else np.clip(solution.primal[:count], low, high)


def _probe(kernel: _Kernel, p: Array) -> tuple[Array, Array]:
    directions = normalise(kernel.rows, kernel.weights, kernel.slope, p, free=kernel.free)
    return directions, evaluate(kernel.rows, kernel.weights, kernel.slope, directions)


def _ranges(kernel: _Kernel, vectors: Array, positive: NDArray[np.intp], count: int) -> tuple[Array, Array]:
    """l and r (B, S) from the range vectors (B, 2, P, D): their sizes."""
    sizes = kernel.size(vectors)
    left = np.full((len(vectors), count), 1.0)
    right = left.copy()
    left[:, positive], right[:, positive] = sizes[:, 0], sizes[:, 1]
    return left + 1e-300, right + 1e-300


def _tighten(
    kernel: _Kernel, signs: NDArray[np.int8], vectors: Array, multipliers: Array, positive: NDArray[np.intp]
) -> None:
    """Shorten the range vectors (B, 2, P, D) by nonnegative multiples of decided rows, in place."""
    for _ in range(3):
        for q, k in enumerate(positive):
            nodes = np.flatnonzero(signs[:, k])
            if not len(nodes):
                continue
            step_rows = kernel.rows[k] * signs[nodes, k, None]
            w = vectors[nodes]
            old = multipliers[nodes, :, :, q]
            new = np.maximum(old - np.einsum("bzpd,bd->bzp", w, step_rows) / kernel.curvature[k], 0.0)
            vectors[nodes] = w + (new - old)[..., None] * step_rows[:, None, None, :]
            multipliers[nodes, :, :, q] = new
    signed = multipliers * signs[:, None, None, positive]
    start = np.stack([-kernel.rows[positive], kernel.rows[positive]])
    vectors[:] = start + np.einsum("bzpq,qd->bzpd", signed, kernel.rows[positive])


def _widest_gap(kernel: _Kernel, t: Array, chord: NDArray[np.bool_], left: Array, right: Array, p: Array) -> int:
    """The undecided point whose chord lies farthest above the activation at p / ||p||."""
    direction = normalise(kernel.rows, kernel.weights, kernel.slope, p[None, :], free=kernel.free)[0]
    z = kernel.rows @ direction
    e = kernel.excess
    offset = np.minimum(np.maximum(t * left, (e - t) * right), 1e20)
    gap = np.where(chord, t * z + offset - e * np.maximum(z, 0.0), -np.inf)
    return int(np.argmax(gap))


def _leaf(
    t: Array,
    chord: NDArray[np.bool_],
    multipliers: Array,
    positive: NDArray[np.intp],
) -> Leaf:
    ranges: dict[int, tuple[dict[int, float], ...]] = {}
    sides, places, terms = np.nonzero(multipliers)
    for z, q, k in zip(sides.tolist(), places.tolist(), terms.tolist(), strict=True):
        i = int(positive[q])
        if chord[i]:
            ranges.setdefault(i, ({}, {}))[z][int(positive[k])] = float(multipliers[z, q, k])
    return Leaf(t.copy(), ranges)


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
