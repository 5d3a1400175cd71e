"""All cells of a central hyperplane arrangement, streamed.

The arrangement is {u : x_i.u = 0}, i = 1..n, in R^c; a cell is a maximal set of u on which no sign of x_i.u is zero. In
general position there are 2 sum_{j < c} C(n - 1, j) of them (Cover 1965; Zaslavsky 1975).

**One solve per cell, no memory.** Take a generic orthonormal basis z_1..z_r of the row space and the subspaces
L_j = {z_1 = .. = z_j = 0}. A cell C meets L_0, .., L_j for some largest j, and C n L_j lies on one side of z_(j+1) = 0:
it is a bounded cell of an affine arrangement in the chart z_(j+1) = +-1 of L_j. Write B_j for the positive ones; every
cell is in exactly one B_j or -B_j. A cell that is bounded below by f = z_(j+2) in that chart has one lowest vertex;
those cells are V_j = B_j u B_(j+1), because the section at infinity of an unbounded one is itself bounded in the chart
z_(j+2) = 1 of L_(j+1). Hence

    cells = P u -P,   P = B_0 u B_1 u B_2 u .. = V_0 u V_2 u V_4 u ..   (disjoint),

and V_j is listed vertex by vertex. With M = (z_(j+1); x_S), S the m = r - 1 - j hyperplanes through a vertex, the first
column of M^-1 is the vertex, the others are the edges, and the second row holds the multipliers of f, whose signs name
the one cell above the vertex. More than m hyperplanes through a vertex: the cells above it are found in the same way
one dimension lower. (ours; the counts agree by C(n, m) = C(n - 1, m) + C(n - 1, m - 1).)
"""

from __future__ import annotations

from itertools import combinations, islice
from typing import TYPE_CHECKING, Final

import numpy as np

from solvers.arrays import Bits, Floats, Indices, Signs

if TYPE_CHECKING:
    from collections.abc import Iterator


INCIDENCE: Final = 1e-9
"""A unit vector u lies on the hyperplane of a unit row x when |x.u| is at most this (radians). Rows closer than this to
parallel are one hyperplane."""

SUSPICIOUS: Final = 1e-4
"""Unit rows whose determinant is below this count as a basis only after a look at their singular values."""

BATCH: Final = 4096
"""Vertices per numpy call."""


def cells(rows: Floats) -> Iterator[tuple[Signs, Floats]]:
    """Every cell of the arrangement of `rows` once, as (signs of x_i.u, a point u of norm 1 inside).

    rows: shape (n, c). Yields signs, shape (n,), and witness, shape (c,). A zero row splits nothing and has sign 0;
    rows on one line are one hyperplane, and all other signs are +-1. Without a nonzero row there is one cell.
    Memory does not grow with the number of cells. Complete up to `INCIDENCE`: cells thinner than that can be missed.
    """
    for signs, witnesses in cell_blocks(rows):
        yield from zip(signs, witnesses, strict=True)


def cell_blocks(rows: Floats) -> Iterator[tuple[Signs, Floats]]:
    """The cells of `cells` in blocks: signs, shape (m, n), and witnesses, shape (m, c)."""
    rows = np.asarray(rows, dtype=np.float64)
    normals, place, side = hyperplanes(rows)
    if not normals.size:
        yield np.zeros((1, len(rows)), dtype=np.int8), np.eye(1, rows.shape[1])
        return
    for half, witnesses in _half(normals):
        signs = np.where(place >= 0, half[:, place] * side, 0).astype(np.int8)
        yield signs, witnesses
        yield -signs, -witnesses


def hyperplanes(rows: Floats) -> tuple[Floats, Indices, Signs]:
    """The distinct hyperplanes of `rows`: (unit normals (m, c), place of each row or -1 for a zero row, its side).

    Row i is a positive multiple of side[i] * normals[place[i]].
    """
    place = np.full(len(rows), -1, dtype=np.intp)
    side = np.ones(len(rows), dtype=np.int8)
    largest = np.abs(rows).max(axis=1, initial=0.0)
    units = rows / np.where(largest > 0, largest, 1.0)[:, None]
    units /= np.maximum(np.linalg.norm(units, axis=1), 0.5)[:, None]
    normals = np.empty_like(units)
    count = 0
    for i in np.flatnonzero(largest > 0):
        known = normals[:count]
        turn = np.sign(known @ units[i])
        parallel = np.flatnonzero(np.linalg.norm(known - turn[:, None] * units[i], axis=1) <= INCIDENCE)
        if parallel.size:
            place[i], side[i] = parallel[0], turn[parallel[0]]
        else:
            normals[count], place[i] = units[i], count
            count += 1
    return normals[:count], place, side


def generic_count(points: int, dimension: int) -> int:
    """The number of cells of `points` hyperplanes in general position: 2 sum_{j < dimension} C(points - 1, j)."""
    total, binomial = 0, 1
    for j in range(min(dimension, points)):
        total += binomial
        binomial = binomial * (points - 1 - j) // (j + 1)
    return 2 * total


def _half(normals: Floats) -> Iterator[tuple[Signs, Floats]]:
    """P of the module's text: one of each pair of opposite cells, in blocks; `normals` are distinct unit rows."""
    _, sizes, axes = np.linalg.svd(normals, full_matrices=False)
    rank = int((sizes > INCIDENCE * sizes[0]).sum())
    flag = _rotation(rank) @ axes[:rank]
    coordinates = normals @ flag.T
    for level in range(0, rank, 2):
        for signs, points in _above_vertices(coordinates[:, level:]):
            witnesses = points @ flag[level:]
            yield signs, witnesses / np.linalg.norm(witnesses, axis=1)[:, None]


def _rotation(size: int) -> Floats:
    """A fixed orthogonal matrix that no reasonable data is aligned with."""
    return np.linalg.qr(np.random.default_rng(20240229).standard_normal((size, size)))[0]


def _above_vertices(rows: Floats) -> Iterator[tuple[Signs, Floats]]:
    """V_j: the cells that are bounded below by coordinate 1 in the chart `coordinate 0 = 1`; rows of shape (n, m + 1).

    The coordinates must be generic.
    """
    count, dimension = rows.shape
    order = dimension - 1
    if order == 0:
        yield np.sign(rows[:, :1].T).astype(np.int8), np.ones((1, 1))
        return
    units = rows / np.linalg.norm(rows, axis=1)[:, None]
    subsets = combinations(range(count), order)
    while block := list(islice(subsets, BATCH)):
        chosen = np.array(block, dtype=np.intp)
        yield from _above(units, chosen[_independent(units, chosen)])


def _independent(units: Floats, chosen: Indices) -> Bits:
    """Which of the subsets (rows of `chosen`) are linearly independent."""
    matrices = units[chosen]
    gram = matrices @ matrices.transpose(0, 2, 1)
    good = np.linalg.det(gram) > SUSPICIOUS**2
    doubtful = np.flatnonzero(~good)
    if doubtful.size:
        good[doubtful] = np.linalg.svd(matrices[doubtful], compute_uv=False)[:, -1] > INCIDENCE
    return good


def _above(units: Floats, chosen: Indices) -> Iterator[tuple[Signs, Floats]]:
    """The cells above the vertices of the independent subsets `chosen` (b, m), each vertex counted once."""
    if not len(chosen):
        return
    batch, order = chosen.shape
    system = np.zeros((batch, order + 1, order + 1))
    system[:, 0, 0] = 1.0
    system[:, 1:] = units[chosen]
    inverse = np.linalg.inv(system)
    vertices = inverse[:, :, 0] / np.linalg.norm(inverse[:, :, 0], axis=1)[:, None]
    heights = vertices @ units.T
    here = np.arange(batch)[:, None]
    heights[here, chosen] = 0.0
    through = np.abs(heights) <= INCIDENCE
    simple = through.sum(axis=1) == order
    directions = np.where(inverse[:, 1, 1:] > 0, 1, -1)
    signs = np.sign(heights).astype(np.int8)
    signs[here, chosen] = directions
    edges = inverse[:, :, 1:] / np.linalg.norm(inverse[:, :, 1:], axis=1)[:, None, :]
    up = np.einsum("bij,bj->bi", edges, directions)
    if simple.any():
        yield signs[simple], _step(units, vertices[simple], heights[simple], through[simple], up[simple])
    for k in np.flatnonzero(~simple):
        members = np.flatnonzero(through[k])
        if _first_basis(units[members], order) == np.searchsorted(members, chosen[k]).tolist():
            yield from _above_degenerate(units, vertices[k], heights[k], members)


def _above_degenerate(
    units: Floats, vertex: Floats, heights: Floats, members: Indices
) -> Iterator[tuple[Signs, Floats]]:
    """The cells above a vertex through which more hyperplanes go than its codimension.

    They are the local cells, in the space orthogonal to the vertex, on which f = z_2 - (v_2 / v_1) z_1 is positive
    throughout: those that do not meet f = 0.
    """
    frame = np.linalg.svd(vertex[None, :])[2][1:]
    functional = frame[:, 1] - (vertex[1] / vertex[0]) * frame[:, 0]
    functional /= np.linalg.norm(functional)
    local = units[members] @ frame.T
    local /= np.linalg.norm(local, axis=1)[:, None]
    level = np.linalg.svd(functional[None, :])[2][1:]
    meeting = {signs.tobytes() for block, _ in cell_blocks(local @ level.T) for signs in block}
    for block, witnesses in _half(local):
        keep = [place for place, signs in enumerate(block) if signs.tobytes() not in meeting]
        if not keep:
            continue
        turn = np.where(witnesses[keep] @ functional > 0, 1, -1)[:, None]
        signs = np.tile(np.sign(heights).astype(np.int8), (len(keep), 1))
        signs[:, members] = block[keep] * turn
        up = (witnesses[keep] * turn) @ frame
        through = np.zeros((len(keep), len(units)), dtype=bool)
        through[:, members] = True
        points = np.tile(vertex, (len(keep), 1))
        yield signs, _step(units, points, np.tile(heights, (len(keep), 1)), through, up)


def _step(units: Floats, vertices: Floats, heights: Floats, through: Bits, up: Floats) -> Floats:
    """From each vertex half-way along `up` to the first hyperplane that does not pass through it (at most one unit)."""
    slopes = np.abs(up @ units.T)
    free = ~through & (slopes > 0)
    reach = np.where(free, np.abs(heights) / np.where(free, slopes, 1.0), 2.0)
    return vertices + 0.5 * np.minimum(reach.min(axis=1), 1.0)[:, None] * up


def _first_basis(vectors: Floats, rank: int) -> list[int]:
    """The lexicographically first set of `rank` independent rows: the greedy one."""
    basis: list[int] = []
    frame = np.zeros((0, vectors.shape[1]))
    for place, vector in enumerate(vectors):
        rest = vector - frame.T @ (frame @ vector)
        rest -= frame.T @ (frame @ rest)
        size = np.linalg.norm(rest)
        if size > INCIDENCE:
            basis.append(place)
            frame = np.vstack([frame, rest / size])
            if len(basis) == rank:
                break
    return basis
