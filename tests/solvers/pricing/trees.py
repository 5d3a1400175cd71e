"""What a proof tree of `solvers.pricing.tree` says, leaf by leaf, in floats."""

import numpy as np

from solvers.pricing.dual_function import bias_frame, crossings, evaluate, size, to_frame
from solvers.pricing.tree import Leaf


def leaves(tree):
    """(leaf, {point: +1 or -1}) for each leaf; the tree must be whole."""
    pending = [{}]
    for node in tree.nodes:
        here = pending.pop()
        if isinstance(node, Leaf):
            yield node, here
        else:
            assert node not in here
            pending += [here | {node: -1}, here | {node: 1}]
    assert not pending


def line(rows, weights, slope, leaf, path, free):
    """(p, R) of a leaf, after a look at the intervals of its slopes and at its ranges."""
    excess = (1 - slope) * weights
    offset = 0.0
    for i, (t, e) in enumerate(zip(leaf.slopes, excess, strict=True)):
        room = 1e-12 * abs(e)
        if path.get(i) == 1:
            assert t >= e - room
        elif path.get(i) == -1:
            assert t <= room
        else:
            assert min(e, 0) - room <= t <= max(e, 0) + room
            if e > 0:
                left, right = (bound(rows, i, k, leaf, path, free) for k in (0, 1))
                offset += max(t * left, (e - t) * right)
        assert i not in leaf.ranges or (e > 0 and i not in path)
    return (slope * weights + leaf.slopes) @ rows, offset


def bound(rows, i, side, leaf, path, free):
    """A bound of -x_i.u (side 0) or x_i.u (side 1) over ||u|| on the leaf's cone."""
    vector = rows[i] * (1 if side else -1)
    for k, m in leaf.ranges.get(i, ({}, {}))[side].items():
        assert m >= 0
        vector = vector + m * path[k] * rows[k]
    return size(vector, free=free)


def assert_proves(tree, rows, weights, slope, beta, *, free=False, seed=0):
    """Random u lie in exactly the leaves whose path they satisfy, and the leaf's bound holds for them.

    With a free bias, for those with |b| <= B ||w||, from the middle of the points and in units of B.
    """
    assert tree.nodes is not None
    assert not len(tree.violators)
    assert tree.bound <= beta
    rng = np.random.default_rng(seed)
    u = rng.standard_normal((400, rows.shape[1]))
    found = crossings(rows, 100, rng)
    u = np.concatenate([u, found, found + 1e-3 * rng.standard_normal(found.shape), rows, -rows])
    if free:
        rows, middle, reach = bias_frame(rows)
        u = to_frame(u, middle, reach)
    length = np.linalg.norm(u[:, :-1] if free else u, axis=1)
    if free:
        u[::2, -1] = length[::2] * rng.uniform(-1.0, 1.0, len(length[::2]))
    near = np.abs(u[:, -1]) <= length if free else np.ones(len(u), dtype=bool)
    z, h = u @ rows.T, evaluate(rows, weights, slope, u)
    scale = 1 + np.linalg.norm(rows)
    times = np.zeros(len(u), dtype=int)
    for leaf, path in leaves(tree):
        inside = np.ones(len(u), dtype=bool)
        strict = inside.copy()
        for point, sign in path.items():
            inside &= sign * z[:, point] >= 0
            strict &= sign * z[:, point] > 0
        p, offset = line(rows, weights, slope, leaf, path, free)
        assert size(p, free=free) + offset <= tree.bound * (1 + 1e-9) + 1e-12
        assert (h <= u @ p + offset * length + 1e-9 * scale * np.abs(weights).sum())[inside & near].all()
        times += strict
    generic = (np.abs(z) > 1e-12)[:, weights > 0].all(axis=1)
    assert (times[generic] == 1).all()
