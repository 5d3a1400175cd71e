"""The function that pricing is about, h(u) = sum_i c_i s_a(x_i . u): its values, directions to look at, and its frame.

With a free bias u = (w, b), ||u|| is ||w||, and the coefficients sum to 0. Then only |b| <= B ||w|| matters, B the
largest norm of a point (`docs/mathematics.md`, 5.4 "A free bias"). The points are taken from the midpoint of their
bounding box, and b in units of B, so that a row is (x, B): the *frame*.
"""

from __future__ import annotations

import numpy as np

from solvers.arrays import Floats


def evaluate(rows: Floats, coefficients: Floats, slope: float, directions: Floats) -> Floats:
    """h at each direction: rows (S, D), coefficients (S,), directions (V, D) -> (V,)."""
    z = directions @ rows.T
    return np.maximum(z, slope * z) @ coefficients


def normalise(rows: Floats, coefficients: Floats, slope: float, vectors: Floats, *, free: bool) -> Floats:
    """Vectors (V, D) scaled to norm one; with a free bias its coordinate is replaced by the best one for that
    direction.

    For a fixed direction h is piecewise linear in the bias and, when the coefficients sum to zero, largest at a
    breakpoint.
    """
    if not free:
        return _unit(vectors)
    heads = _unit(vectors[:, :-1])
    z = heads @ rows[:, :-1].T
    last = np.where(rows[:, -1] == 0, 1.0, rows[:, -1])
    candidates = -z / last
    inner = z[:, None, :] + candidates[:, :, None] * rows[:, -1]
    values = np.maximum(inner, slope * inner) @ coefficients
    best = candidates[np.arange(len(heads)), np.argmax(values, axis=1)]
    return np.concatenate([heads, best[:, None]], axis=1)


def _unit(vectors: Floats) -> Floats:
    """The vectors (V, D) scaled to norm one, 0 where they are 0: also where their squares are out of range."""
    largest = np.abs(vectors).max(axis=1, initial=0.0, keepdims=True)
    moderate = np.ldexp(vectors, -np.frexp(largest)[1])
    return moderate / np.where(largest > 0, np.linalg.norm(moderate, axis=1, keepdims=True), 1.0)


def bias_frame(rows: Floats) -> tuple[Floats, Floats, float]:
    """Rows (x, 1) with a free bias as (x - o, B), and o, B: see the module."""
    body = rows[:, :-1]
    middle = (body.min(axis=0) + body.max(axis=0)) / 2 if len(rows) else np.zeros(rows.shape[1] - 1)
    body = body - middle
    reach = float(np.linalg.norm(body, axis=1).max(initial=0.0)) or 1.0
    return np.column_stack([body, reach * rows[:, -1]]), middle, reach


def from_frame(directions: Floats, middle: Floats, reach: float) -> Floats:
    """Directions (V, D) for the rows of `bias_frame` as directions for the given ones."""
    return np.column_stack([directions[:, :-1], reach * directions[:, -1] - directions[:, :-1] @ middle])


def to_frame(directions: Floats, middle: Floats, reach: float) -> Floats:
    """The inverse of `from_frame`."""
    return np.column_stack([directions[:, :-1], (directions[:, -1] + directions[:, :-1] @ middle) / reach])


def size(vectors: Floats, *, free: bool) -> Floats:
    """||p|| along the last axis; with a free bias ||p_w|| + |p_b|, of vectors in the frame."""
    if not free:
        return np.linalg.norm(vectors, axis=-1)
    return np.linalg.norm(vectors[..., :-1], axis=-1) + np.abs(vectors[..., -1])


def crossings(rows: Floats, count: int, random: np.random.Generator) -> Floats:
    """Directions orthogonal to D - 1 random rows (and their opposites), (count, D): where maxima of h tend to lie."""
    size, dimension = rows.shape
    if size < dimension or dimension < 2:
        return np.empty((0, dimension))
    chosen = np.argsort(random.random((count // 2, size)), axis=1)[:, : dimension - 1]
    _, _, right = np.linalg.svd(rows[chosen])
    return np.concatenate([right[:, -1], -right[:, -1]])


def sweep_angles(rows: Floats, coefficients: Floats, slope: float) -> tuple[Floats, Floats]:
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
        gradients = np.where(on, coefficients, slope * coefficients) @ rows
        inner = np.arctan2(gradients[:, 1], gradients[:, 0])
        width = np.diff(np.append(breaks, breaks[0] + 2 * np.pi))
        inside = ((inner - breaks) % (2 * np.pi)) < width
        angles = np.concatenate([breaks, inner[inside]])
        directions = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    values = evaluate(rows, coefficients, slope, directions)
    order = np.argsort(-values, kind="stable")
    return directions[order], values[order]
