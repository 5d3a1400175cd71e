"""The node loop of `solvers.pricing.reference.bound_tree` (no free bias) and its local ascents, compiled by numba
(optional).

The bound, the intervals and the ranges are those of `solvers.pricing.tree`, and `solvers.pricing.reference` is what
they do in readable form; a node here is worked on alone, so that every step can stop when it has done enough:

    relax     coordinate descent, whole sweeps and then only the slopes that moved; until ||p|| + R <= beta or progress
              is too slow for that
    tighten   each range vector is the shortest x + sum m_k s_k x_k, m >= 0, up to rounding (Lawson and Hanson, 1974,
              chapter 23): at most D terms, warm from the parent; a new decided row changes few of them
    split     at the point whose chord, at its best slope, lies highest above the activation

The search state is arrays of slots, so that it stops and goes on at any node; `solvers.pricing.compiled` drives it.
All in one file: what numba keeps on disk of a function is renewed when its own file changes, not those that it calls.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from solvers.arrays import Bits, Floats, Signs
from solvers.compilation import compiled, inlined

SMALLEST_SQUARE = 1e-280  # of a norm that needs no scaling: squares of smaller entries lose their digits
TINY = 1e-300  # keeps quotients of zero rows and ranges defined
CLOSED = 1.0 - 1e-13  # a node closes below this part of beta: total is summed again afterwards
STILL = 1e-8  # steps of the descent below this part of beta are none
FLAT = 1e-10  # the same for the ascents, as in `solvers.pricing.slope_descent` ...
BIAS_SWEEPS, STIFFNESS = 3, 4.0  # ... from where these are, too
SWEEPS = (3, 60, 1000)  # whole sweeps: with the parent's ranges, with this node's own, where nothing is undecided
PATIENCE = (10.0, 10.0, np.inf)  # sweeps of the last progress within which the node must close
INNER_SWEEPS = 10  # over the slopes that moved, after each whole sweep
SHORT = 1e-8  # a range vector below this part of ||x_i|| is as good as zero
ALIGNED = 1e-6  # rows at a larger angle than pi/2 + this would shorten a range vector
EDGE = 1e-9  # a direction this near to a point's hyperplane counts as on it
SLACK = 1.0 + 1e-12  # a leaf's bound may grow by this to save multipliers
DEPENDENT = 1e-11  # a pivot below this part of ||x_k||^2: the row depends on those before it

OPEN, SPARE, NODES, LEAVES, ENTRIES, VIOLATORS, VISITED = range(7)  # places in `counts`


class Pricing(NamedTuple):
    """The function h and what to prove; S points of dimension D, P of them with c_i > 0. See `solvers.pricing.tree`."""

    rows: Floats  # (S, D)
    coefficients: Floats  # (S,) c
    slope: float
    beta: float
    slope_jumps: Floats  # (S,) e
    linear_part: Floats  # (D,) a sum_i c_i x_i
    curvature: Floats  # (S,) ||x_i||^2
    positive: NDArray[np.int64]  # (P,) the points with e_i > 0
    gram: Floats  # (P, P) their inner products


class Nodes(NamedTuple):
    """Unresolved nodes, one in each of C slots. Ranges: side 0 is l, side 1 is r; terms are places in `positive`."""

    signs: Signs  # (C, S)
    slopes: Floats  # (C, S) t
    lengths: Floats  # (C, P, 2) l and r
    terms: NDArray[np.int32]  # (C, P, 2, D) the rows of each range vector, filled up with -1
    multipliers: Floats  # (C, P, 2, D) theirs
    bounds: Floats  # (C,) ||p|| + R of the parent
    fresh: NDArray[np.int64]  # (C,) the place that was decided last; -1 at the root
    identity: NDArray[np.int64]  # (C,)
    settled: Bits  # (C,) whether the slopes are final
    stack: NDArray[np.int64]  # (C,) the slots in use
    spare: NDArray[np.int64]  # (C,) the others


class FoundNodes(NamedTuple):
    """What the search has written."""

    splits: NDArray[np.int64]  # (N,) the point that a node splits on; -1 - leaf for a leaf
    children: NDArray[np.int64]  # (N,) its first child; the second is the next one
    slopes: Floats  # (L, S) of each leaf
    ends: NDArray[np.int64]  # (L,) where its entries end
    entries: NDArray[np.int32]  # (E, 3) point, side, decided point
    multipliers: Floats  # (E,)
    violators: Floats  # (V, D)
    patterns: NDArray[np.uint64]  # (V,) their signs, hashed
    bound: Floats  # (1,) the largest ||p|| + R of a leaf


class Work(NamedTuple):
    """Room for the node at hand."""

    low: Floats  # (S,)
    high: Floats  # (S,)
    chord: Bits  # (S,) undecided, with c_i > 0
    left: Floats  # (S,)
    right: Floats  # (S,)
    p: Floats  # (D,)
    moved: NDArray[np.int64]  # (S,)
    decided: NDArray[np.int64]  # (P,) places
    vector: Floats  # (D,)
    factor: Floats  # (D, D)
    solution: Floats  # (D,)


@compiled
def search(pricing, nodes, found, work, counts, width, budget, max_violators, closing):
    """Work on up to `budget` nodes, the one with the largest bound first, beyond `width` open ones depth first.

    Fewer when an array is full: `found` must have room for 2 `budget` nodes, `budget` leaves and violators, and for the
    entries of one leaf; there must be a spare slot. closing: nodes become leaves as they are.
    Returns -1, or the slot of a node without undecided points that the descent could not close: its slopes are the
    caller's to find, who then puts the slot back as `settled`.
    """
    terms_of_a_leaf = nodes.terms.shape[1] * 2 * nodes.terms.shape[3]
    for _ in range(budget):
        if counts[OPEN] == 0 or counts[VIOLATORS] >= max_violators:
            break
        if counts[SPARE] == 0 or counts[ENTRIES] + terms_of_a_leaf > len(found.multipliers):
            break
        slot = _take(nodes, counts, width)
        undecided = _enter(pricing, nodes, slot, work)
        if nodes.settled[slot]:
            total = _total(pricing, work, nodes.slopes[slot])
        else:
            total = _bound(pricing, nodes, slot, work, undecided, 2 if closing else 3)
        if total > pricing.beta and not closing:
            _probe(pricing, work, found, counts)
            if not undecided and not nodes.settled[slot]:
                return slot
        counts[VISITED] += 1
        if total <= pricing.beta or not undecided or closing:
            _write_leaf(pricing, nodes, slot, work, total, found, counts)
        else:
            _split(pricing, nodes, slot, work, total, found, counts)
    return -1


@compiled
def _take(nodes, counts, width):
    at = counts[OPEN] - 1
    if at < width:
        for k in range(at):
            if nodes.bounds[nodes.stack[k]] > nodes.bounds[nodes.stack[at]]:
                at = k
    slot = nodes.stack[at]
    counts[OPEN] -= 1
    nodes.stack[at] = nodes.stack[counts[OPEN]]
    return slot


@compiled
def _enter(pricing, nodes, slot, work):
    """Fill in the intervals and ranges of a node, bring its slopes into them; the number of undecided points."""
    t = nodes.slopes[slot]
    for i in range(len(t)):
        e, sign = pricing.slope_jumps[i], nodes.signs[slot, i]
        work.low[i] = e if sign > 0 else -np.inf if sign < 0 else min(e, 0.0)
        work.high[i] = np.inf if sign > 0 else 0.0 if sign < 0 else max(e, 0.0)
        work.chord[i] = sign == 0 and e > 0
        t[i] = min(max(t[i], work.low[i]), work.high[i])
    decided = 0
    for q in range(len(pricing.positive)):
        i = pricing.positive[q]
        work.left[i], work.right[i] = nodes.lengths[slot, q, 0], nodes.lengths[slot, q, 1]
        if nodes.signs[slot, i] != 0:
            work.decided[decided] = q
            decided += 1
    return len(pricing.positive) - decided


# -- the bound -----------------------------------------------------------------------------------------------------


@compiled
def _bound(pricing, nodes, slot, work, undecided, stages):
    """||p|| + R at good slopes: with the parent's ranges, with tighter ones, and longer if it is the last attempt."""
    total = np.inf
    for stage in range(stages):
        if stage == 1:
            _tighten(pricing, nodes, slot, work, undecided)
        if stage == 2 and undecided:
            break
        total = _relax(pricing, work, nodes.slopes[slot], SWEEPS[stage], PATIENCE[stage])
        if total <= pricing.beta:
            break
    return total


@compiled
def _relax(pricing, work, t, sweeps, patience):
    """Lower ||p||^2 / (2 beta) + R by coordinate descent on t, in place; ||p|| + R."""
    still = (STILL * pricing.beta) ** 2
    total = _total(pricing, work, t)
    for sweep in range(sweeps):
        moved = 0
        largest = 0.0
        for i in range(len(t)):
            change = _slide(pricing, work, t, i)
            if change > 0.0:
                work.moved[moved] = i
                moved += 1
                largest = max(largest, change)
        for _ in range(INNER_SWEEPS if largest > still else 0):
            change = 0.0
            for k in range(moved):
                change = max(change, _slide(pricing, work, t, work.moved[k]))
            if change <= 0.01 * largest:
                break
        before = total
        total = _norm(work.p) + _offsets(pricing, work, t)
        if total <= CLOSED * pricing.beta or largest <= still:
            break
        if sweep >= 2 and (before - total) * patience < total - pricing.beta:
            break
    return _total(pricing, work, t)


@inlined
def _slide(pricing, work, t, i):
    """Put t_i where it is best, the others fixed, and p with it; the squared length of p's step."""
    curvature = pricing.curvature[i]
    new = t[i] - _product(pricing.rows, i, work.p) / curvature
    if work.chord[i]:
        left, right = work.left[i], work.right[i]
        kink = pricing.slope_jumps[i] * right / (left + right)
        above = new - pricing.beta * left / curvature
        new = above if above > kink else min(new + pricing.beta * right / curvature, kink)
    new = min(max(new, work.low[i]), work.high[i])
    step = new - t[i]
    if step != 0.0:
        t[i] = new
        for d in range(len(work.p)):
            work.p[d] += step * pricing.rows[i, d]
    return step * step * curvature


@compiled
def _total(pricing, work, t):
    for d in range(len(work.p)):
        work.p[d] = pricing.linear_part[d]
    for i in range(len(t)):
        for d in range(len(work.p)):
            work.p[d] += t[i] * pricing.rows[i, d]
    return _norm(work.p) + _offsets(pricing, work, t)


@compiled
def _offsets(pricing, work, t):
    total = 0.0
    for i in pricing.positive:
        if work.chord[i]:
            total += max(t[i] * work.left[i], (pricing.slope_jumps[i] - t[i]) * work.right[i])
    return total


@compiled
def _product(rows, i, vector):
    total = 0.0
    for d in range(len(vector)):
        total += rows[i, d] * vector[d]
    return total


@compiled
def _norm(vector):
    total = 0.0
    for entry in vector:
        total += entry * entry
    if total >= SMALLEST_SQUARE:
        return total**0.5
    largest, total = 0.0, 0.0  # squares that are no floats any more
    for entry in vector:
        largest = max(largest, abs(entry))
    for entry in vector:
        total += (entry / max(largest, TINY)) ** 2
    return largest * total**0.5


# -- ranges --------------------------------------------------------------------------------------------------------


@compiled
def _tighten(pricing, nodes, slot, work, undecided):
    """Shorten the range vectors of the undecided points as far as the decided rows allow."""
    count = len(pricing.positive) - undecided
    if count == 0:
        return
    for q in range(len(pricing.positive)):
        i = pricing.positive[q]
        if work.chord[i]:
            for side in range(2):
                nodes.lengths[slot, q, side] = _shorten(pricing, nodes, slot, work, count, q, side)
            work.left[i], work.right[i] = nodes.lengths[slot, q, 0], nodes.lengths[slot, q, 1]


@compiled
def _shorten(pricing, nodes, slot, work, count, place, side):
    """The length of one range vector after its terms were made optimal; only the fresh row can have made them less."""
    terms, multipliers = nodes.terms[slot, place, side], nodes.multipliers[slot, place, side]
    used = 0
    while used < len(terms) and terms[used] >= 0:
        used += 1
    for step in range(3 * len(terms) + 20):
        _range_vector(pricing, nodes.signs[slot], work.vector, terms, multipliers, used, place, side)
        size = _norm(work.vector)
        if used == len(terms) or size <= SHORT * pricing.gram[place, place] ** 0.5:
            break
        entering = -1
        worst = -ALIGNED * size
        for k in range(count if step > 0 else 1):
            q = work.decided[k] if step > 0 else nodes.fresh[slot]
            i = pricing.positive[q]
            cosine = nodes.signs[slot, i] * _product(pricing.rows, i, work.vector) / pricing.curvature[i] ** 0.5
            if cosine < worst and not _contains(terms, used, q):
                worst, entering = cosine, q
        if entering < 0:
            break
        terms[used], multipliers[used] = entering, 0.0
        used = _solve(pricing, nodes.signs[slot], work, terms, multipliers, used + 1, place, side)
        if not _contains(terms, used, entering):
            break
    _range_vector(pricing, nodes.signs[slot], work.vector, terms, multipliers, used, place, side)
    terms[used:] = -1
    multipliers[used:] = 0.0
    return _norm(work.vector) + TINY


@compiled
def _contains(values, count, value):
    is_there = False
    for k in range(count):
        is_there = is_there or values[k] == value
    return is_there


@inlined
def _range_vector(pricing, signs, vector, terms, multipliers, used, place, side):
    for d in range(len(vector)):
        row = pricing.rows[pricing.positive[place], d]
        vector[d] = row if side == 1 else -row
    for k in range(used):
        i = pricing.positive[terms[k]]
        factor = multipliers[k] * signs[i]
        for d in range(len(vector)):
            vector[d] += factor * pricing.rows[i, d]


@compiled
def _solve(pricing, signs, work, terms, multipliers, used, place, side):
    """Least squares over the given terms, leaving those out whose multipliers would be negative; how many are left."""
    while True:
        used = _factorise(pricing, signs, work, terms, multipliers, used)
        factor, solution = work.factor, work.solution
        for a in range(used):
            product = pricing.gram[terms[a], place] * signs[pricing.positive[terms[a]]]
            solution[a] = -product if side == 1 else product
            for b in range(a):
                solution[a] -= factor[a, b] * solution[b]
            solution[a] /= factor[a, a]
        for a in range(used - 1, -1, -1):
            for b in range(a + 1, used):
                solution[a] -= factor[b, a] * solution[b]
            solution[a] /= factor[a, a]
        share = 1.0
        leaving = -1
        for a in range(used):
            if solution[a] <= 0.0:
                ratio = multipliers[a] / max(multipliers[a] - solution[a], TINY)
                if leaving < 0 or ratio < share:
                    share, leaving = ratio, a
        kept = 0
        for a in range(used):
            value = multipliers[a] + share * (solution[a] - multipliers[a])
            if a != leaving and value > 0.0:
                terms[kept], multipliers[kept] = terms[a], value
                kept += 1
        used = kept
        if leaving < 0:
            return used


@compiled
def _factorise(pricing, signs, work, terms, multipliers, used):
    """The Cholesky factor of the terms' Gram matrix; terms that depend on those before them are left out."""
    factor = work.factor
    kept = 0
    for a in range(used):
        sign = signs[pricing.positive[terms[a]]]
        for b in range(kept):
            product = pricing.gram[terms[a], terms[b]] * sign * signs[pricing.positive[terms[b]]]
            for k in range(b):
                product -= factor[kept, k] * factor[b, k]
            factor[kept, b] = product / factor[b, b]
        pivot = pricing.gram[terms[a], terms[a]]
        for k in range(kept):
            pivot -= factor[kept, k] ** 2
        if pivot > DEPENDENT * pricing.gram[terms[a], terms[a]]:
            factor[kept, kept] = pivot**0.5
            terms[kept], multipliers[kept] = terms[a], multipliers[a]
            kept += 1
    return kept


# -- results -------------------------------------------------------------------------------------------------------


@compiled
def _probe(pricing, work, found, counts):
    """Note p / ||p|| if h is above beta there and its signs are new."""
    size = max(_norm(work.p), TINY)
    value = 0.0
    pattern = np.uint64(14695981039346656037)  # FNV-1a
    for i in range(len(pricing.coefficients)):
        z = _product(pricing.rows, i, work.p) / size
        value += pricing.coefficients[i] * max(z, pricing.slope * z)
        side = z > -EDGE * pricing.curvature[i] ** 0.5
        pattern = (pattern ^ np.uint64(side)) * np.uint64(1099511628211)
    if value > pricing.beta and not _contains(found.patterns, counts[VIOLATORS], pattern):
        found.patterns[counts[VIOLATORS]] = pattern
        for d in range(len(work.p)):
            found.violators[counts[VIOLATORS], d] = work.p[d] / size
        counts[VIOLATORS] += 1


@compiled
def _write_leaf(pricing, nodes, slot, work, total, found, counts):
    """The slopes and those multipliers that the bound needs, or that keep it below the largest bound so far."""
    t = nodes.slopes[slot]
    leaf = counts[LEAVES]
    counts[LEAVES] += 1
    for i in range(len(t)):
        found.slopes[leaf, i] = t[i]
    ceiling = max(found.bound[0], total, min(total * SLACK, pricing.beta))
    for q in range(len(pricing.positive)):
        i = pricing.positive[q]
        if not work.chord[i]:
            continue
        plain = pricing.curvature[i] ** 0.5
        shares = (t[i], pricing.slope_jumps[i] - t[i])
        offset = max(shares[0] * work.left[i], shares[1] * work.right[i])
        for side in range(2):
            larger = max(offset, shares[side] * plain)
            if total - offset + larger <= ceiling:
                total += larger - offset
                offset = larger
                continue
            for k in range(nodes.terms.shape[3]):
                if nodes.terms[slot, q, side, k] < 0:
                    break
                entry = counts[ENTRIES]
                found.entries[entry, 0], found.entries[entry, 1] = i, side
                found.entries[entry, 2] = pricing.positive[nodes.terms[slot, q, side, k]]
                found.multipliers[entry] = nodes.multipliers[slot, q, side, k]
                counts[ENTRIES] += 1
    found.bound[0] = max(found.bound[0], total)
    found.ends[leaf] = counts[ENTRIES]
    found.splits[nodes.identity[slot]] = -1 - leaf
    nodes.spare[counts[SPARE]] = slot
    counts[SPARE] += 1


@compiled
def _split(pricing, nodes, slot, work, total, found, counts):
    """Split at the point whose chord can be highest; the first child stays in the slot."""
    place, highest = -1, -1.0
    for q in range(len(pricing.positive)):
        i = pricing.positive[q]
        height = pricing.slope_jumps[i] * work.left[i] / (work.left[i] + work.right[i]) * work.right[i]
        if work.chord[i] and height > highest:
            place, highest = q, height
    counts[SPARE] -= 1
    other = nodes.spare[counts[SPARE]]
    _copy(nodes, slot, other)
    point = pricing.positive[place]
    found.splits[nodes.identity[slot]] = point
    found.children[nodes.identity[slot]] = counts[NODES]
    sign = 1
    for child in (slot, other):
        nodes.signs[child, point] = sign
        nodes.bounds[child] = total
        nodes.fresh[child] = place
        nodes.settled[child] = False
        nodes.identity[child] = counts[NODES]
        counts[NODES] += 1
        sign = -1
    nodes.stack[counts[OPEN]], nodes.stack[counts[OPEN] + 1] = other, slot
    counts[OPEN] += 2


@compiled
def _copy(nodes, slot, other):
    for i in range(nodes.signs.shape[1]):
        nodes.signs[other, i] = nodes.signs[slot, i]
        nodes.slopes[other, i] = nodes.slopes[slot, i]
    for q in range(nodes.terms.shape[1]):
        for side in range(2):
            nodes.lengths[other, q, side] = nodes.lengths[slot, q, side]
            for k in range(nodes.terms.shape[3]):
                nodes.terms[other, q, side, k] = nodes.terms[slot, q, side, k]
                nodes.multipliers[other, q, side, k] = nodes.multipliers[slot, q, side, k]


# -- local ascents -------------------------------------------------------------------------------------------------


@compiled
def climb(rows, coefficients, slope_jumps, slope, directions, values, t, p, rounds, sweeps):
    """`solvers.pricing.reference.climb` without its last sorting: directions (B, D) and values (B,) in place."""
    size, dimension = rows.shape
    for b in range(len(directions)):
        values[b] = _height(rows, coefficients, slope, directions[b])
        for turn in range(rounds):
            p[:] = 0.0
            for i in range(size):
                on = _product(rows, i, directions[b]) > 0
                if slope_jumps[i] > 0 or turn == 0:
                    t[i] = slope_jumps[i] if on else 0.0
                factor = t[i] + slope * coefficients[i]
                for d in range(dimension):
                    p[d] += factor * rows[i, d]
            _descend(rows, slope_jumps, t, p, sweeps)
            length = max(_norm(p), TINY)
            reached = _height(rows, coefficients, slope, p) / length
            if reached <= values[b] + 1e-12 * abs(values[b]):
                break
            values[b] = reached
            for d in range(dimension):
                directions[b, d] = p[d] / length


@compiled
def _descend(rows, slope_jumps, t, p, sweeps):
    """Coordinate descent on ||p|| over the slopes of the points with c_i < 0."""
    for _ in range(sweeps):
        largest = 0.0
        for i in range(len(t)):
            if slope_jumps[i] < 0:
                curvature = max(_product(rows, i, rows[i]), TINY)
                new = min(max(t[i] - _product(rows, i, p) / curvature, slope_jumps[i]), 0.0)
                step = new - t[i]
                t[i] = new
                for d in range(len(p)):
                    p[d] += step * rows[i, d]
                largest = max(largest, abs(step) * curvature**0.5)
        if largest <= FLAT:
            break


@compiled
def climb_free(rows, coefficients, slope_jumps, slope, directions, values, t, z, p, rounds, sweeps):
    """The same with a free bias: rows (x, B) of `solvers.pricing.dual_function.bias_frame`, directions of norm one
    but for it.
    """
    size, last = rows.shape[0], rows.shape[1] - 1
    for b in range(len(directions)):
        values[b] = _height(rows, coefficients, slope, directions[b])
        theta = min(max(directions[b, last], -1.0), 1.0)
        for turn in range(rounds):
            p[:] = 0.0
            for i in range(size):
                on = _product(rows, i, directions[b]) > 0
                if slope_jumps[i] > 0 or turn == 0:
                    t[i] = slope_jumps[i] if on else 0.0
                factor = t[i] + slope * coefficients[i]
                for d in range(last + 1):
                    p[d] += factor * rows[i, d]
            theta = _descend_free(rows, slope_jumps, t, p, BIAS_SWEEPS * sweeps, max(values[b], TINY), theta)
            length = max(_norm(p[:last]), TINY)
            for d in range(last):
                p[d] /= length
            reached = _best_bias(rows, coefficients, slope, p, z)
            if reached <= values[b] + 1e-12 * abs(values[b]):
                break
            values[b] = reached
            for d in range(last + 1):
                directions[b, d] = p[d]


@compiled
def _descend_free(rows, slope_jumps, t, p, sweeps, beta, theta):
    """`_descend` on ||p_w||^2 / (2 beta) + |p_b|, as in `solvers.pricing.slope_descent`; the bias that it ends at."""
    last = rows.shape[1] - 1
    for _ in range(sweeps):
        largest = 0.0
        for i in range(len(t)):
            if slope_jumps[i] < 0:
                one, square = rows[i, last], _product(rows, i, rows[i])
                head = max(square - one * one, TINY)
                gradient = _product(rows, i, p) - one * p[last]
                step = -(gradient + one * (STIFFNESS * p[last] + beta * theta)) / (head + STIFFNESS * one * one)
                pull = STIFFNESS * (p[last] + one * step) + beta * theta
                if abs(pull) > beta:
                    step = -(gradient + one * (beta if pull > 0 else -beta)) / head
                step = min(max(t[i] + step, slope_jumps[i]), 0.0) - t[i]
                t[i] += step
                for d in range(last + 1):
                    p[d] += step * rows[i, d]
                largest = max(largest, abs(step) * square**0.5)
        moved = min(max(theta + STIFFNESS / beta * p[last], -1.0), 1.0)
        largest = max(largest, beta * abs(moved - theta))
        theta = moved
        if largest <= FLAT * beta:
            break
    return theta


@compiled
def _best_bias(rows, coefficients, slope, direction, z):
    """Put the bias of the direction where h is largest, on the kink of a point; h there."""
    last, best, place = len(direction) - 1, -np.inf, 0.0
    direction[last] = 0.0
    for i in range(len(z)):
        z[i] = _product(rows, i, direction)
    for i in range(len(z)):
        bias = -z[i] / (rows[i, last] if rows[i, last] != 0.0 else 1.0)
        value = 0.0
        for k in range(len(z)):
            inner = z[k] + bias * rows[k, last]
            value += coefficients[k] * max(inner, slope * inner)
        if value > best:
            best, place = value, bias
    direction[last] = place
    return best


@compiled
def _height(rows, coefficients, slope, direction):
    total = 0.0
    for i in range(len(coefficients)):
        z = _product(rows, i, direction)
        total += coefficients[i] * max(z, slope * z)
    return total
