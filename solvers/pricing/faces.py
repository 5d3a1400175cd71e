"""Every local maximum of h(u) = sum_i c_i s_a(x_i . u) on the sphere in few dimensions, from the faces of its cells.

h is linear on each cell of the arrangement of the planes x_i . u = 0. A local maximum is the direction of the gradient
of a cell, or of its projection onto the common points of some planes, where that lies in the cell: onto planes with
c_i < 0, as kinks with c_i > 0 are never maxima, and onto those that bound the cone in which u has to be. Each cell
touches a vertex, where D - 1 planes meet: all cells around all of them are looked at.
"""

from __future__ import annotations

from itertools import combinations, product
from math import comb

import numpy as np

from solvers.arrays import Bits, Floats, Indices, Signs
from solvers.clock import poll, spend
from solvers.pricing.dual_function import evaluate

__all__ = ["are_few", "maxima_of_faces"]

MOST_ENTRIES = 4_000_000  # of the candidates' products with the rows
EDGE = 1e-9  # a product with a row below this part of its size is 0, and a candidate is in its cell up to that
STEP, RISE = 1e-4, 1e-6  # aside, and by how much of sum |c_i| ||x_i|| a value is larger there
SECONDS_PER_ENTRY = 1e-8
FEW_COLUMNS = 4


def are_few(rows: Floats) -> bool:
    """Whether the faces of the rows (S, D) can be listed: D at most 4, and few of them."""
    size, columns = rows.shape
    if not 2 < columns <= FEW_COLUMNS or size < columns - 1:
        return False
    return 2**columns * comb(size, columns - 1) * size <= MOST_ENTRIES


def maxima_of_faces(rows: Floats, coefficients: Floats, slope: float, signs: Signs) -> tuple[Floats, Floats]:
    """The local maxima in the cone (directions (V, D), values (V,)), the largest first, and maybe a few more.

    signs (S,): the sides of x_i . u that are decided, 0 where open. None where no D - 1 planes meet in directions.
    """
    sizes = np.linalg.norm(rows, axis=1)
    kept = np.flatnonzero(sizes > 0)
    units = rows[kept] / sizes[kept, None]
    weights, sides = coefficients[kept] * sizes[kept], signs[kept]
    defining, vertices = _vertices(units)
    spend(SECONDS_PER_ENTRY * len(vertices) * len(units) * 2 ** rows.shape[1])
    walls = (weights < 0) | (sides != 0)
    found = [vertices[walls[defining].all(axis=1)]]
    for corner in product((1.0, -1.0), repeat=rows.shape[1] - 1):
        poll()
        on, at = _cells(units, vertices, defining, np.array(corner), sides)
        gradients = np.where(on, weights, slope * weights) @ units
        found.append(_inside(units, gradients, on, None))
        for few in range(1, rows.shape[1] - 1):
            for places in combinations(range(rows.shape[1] - 1), few):
                planes = defining[at][:, places]
                is_wall = walls[planes].all(axis=1)
                onto = _projected(gradients[is_wall], units[planes[is_wall]])
                found.append(_inside(units, onto, on[is_wall], planes[is_wall]))
    directions = np.concatenate(found)
    directions = directions[(sides * (directions @ units.T) >= -EDGE).all(axis=1)]
    _, first = np.unique(np.round(directions, 9), axis=0, return_index=True)
    directions = directions[np.sort(first)]
    values = evaluate(units, weights, slope, directions)
    best = np.flatnonzero(~_can_rise(units, weights, slope, directions, values, sides))
    best = best[np.argsort(-values[best], kind="stable")]
    return directions[best], values[best]


def _can_rise(units: Floats, weights: Floats, slope: float, directions: Floats, values: Floats, sides: Signs) -> Bits:
    """Which directions (V, D) have a larger value a small step aside within the cone, along one of the axes."""
    found = np.zeros(len(directions), bool)
    for axis in np.eye(units.shape[1]):
        for step in (STEP, -STEP):
            aside = directions + step * axis
            aside /= np.linalg.norm(aside, axis=1)[:, None]
            is_inside = (sides * (aside @ units.T) >= 0).all(axis=1)
            risen = evaluate(units, weights, slope, aside) > values + RISE * np.abs(weights).sum()
            found |= is_inside & risen
    return found


def _vertices(units: Floats) -> tuple[Indices, Floats]:
    """The directions (V, D) in which D - 1 planes meet, both of each, and the numbers of those planes (V, D - 1)."""
    size, columns = units.shape
    chosen = np.array(list(combinations(range(size), columns - 1)), np.intp).reshape(-1, columns - 1)
    minors = [
        (-1) ** k * np.linalg.det(np.delete(units[chosen], k, axis=2)) if columns > 1 else np.ones(len(chosen))
        for k in range(columns)
    ]
    normals = np.stack(minors, axis=1)
    lengths = np.linalg.norm(normals, axis=1)
    is_point = lengths > EDGE
    points = normals[is_point] / lengths[is_point, None]
    return np.concatenate([chosen[is_point]] * 2), np.concatenate([points, -points])


def _cells(units: Floats, vertices: Floats, defining: Indices, corner: Floats, sides: Signs) -> tuple[Bits, Indices]:
    """The cell beside each vertex on the sides `corner` of its own planes: which rows are on there, (V, S).

    Other planes through the vertex are seen from a point of that cell. Cells outside the cone are left out: the numbers
    of the vertices of the others.
    """
    z = vertices @ units.T
    own = units[defining]
    toward = np.einsum("vkd,vk->vd", own, np.linalg.solve(own @ own.transpose(0, 2, 1), np.broadcast_to(
        corner, (len(vertices), len(corner)))[..., None])[..., 0])  # fmt: skip
    near = np.abs(z) <= EDGE
    z[near] = (toward @ units.T)[near]
    np.put_along_axis(z, defining, np.broadcast_to(corner, defining.shape).copy(), axis=1)
    at = np.flatnonzero((z * sides >= 0).all(axis=1))
    on = z[at] > 0
    packed = np.packbits(on, axis=1)
    _, first = np.unique(np.column_stack([packed, defining[at]]), axis=0, return_index=True)
    return on[first], at[first]


def _projected(gradients: Floats, planes: Floats) -> Floats:
    """Gradients (V, D) less their parts along the normals (V, k, D) of some planes."""
    if not len(gradients):
        return gradients
    parts = np.linalg.solve(planes @ planes.transpose(0, 2, 1), np.einsum("vkd,vd->vk", planes, gradients)[..., None])
    return gradients - np.einsum("vkd,vk->vd", planes, parts[..., 0])


def _inside(units: Floats, gradients: Floats, on: Bits, planes: Indices | None) -> Floats:
    """The directions of those gradients that lie in their cells (V, S), on the planes (V, k) where they are given."""
    lengths = np.linalg.norm(gradients, axis=1)
    lives = np.flatnonzero(lengths > EDGE * max(float(lengths.max(initial=0.0)), 1e-300))
    directions = gradients[lives] / lengths[lives, None]
    z = np.where(on[lives], 1.0, -1.0) * (directions @ units.T)
    if planes is not None:
        np.put_along_axis(z, planes[lives], 0.0, axis=1)
    return directions[(z >= -EDGE).all(axis=1)]
