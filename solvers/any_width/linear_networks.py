"""The best linear networks of any width: their outputs are x.w, and sum_j |u_j| is least for one neuron, |w|.

    margins: min |w|, x_i.w / y_i >= 1;   min-norm: min |w|, |x_i.w - y_i| <= tolerance;   both: G w >= h

At the optimum w = G^T mu with mu >= 0 and |w|^2 = h.mu, so mu / |w| is a dual point of the same value: h(u) = x(u) is
linear, and |sum_i c_i x_i| <= 1 bounds it. Nothing is to be searched: mu comes from one nonnegative least-squares
problem, min |(G, h)^T u - (0, 1)| over u >= 0, as mu = u / (1 - h.u); with equalities from a linear system.
Source: C. L. Lawson, R. J. Hanson, Solving Least Squares Problems (1974), chapter 23, section 4.
"""

from __future__ import annotations

import numpy as np

from solvers.any_width.records import Atoms, DualGuess, Progress, SearchOutcome
from solvers.arrays import Floats
from solvers.instance import ProblemInstance, SearchStatus
from solvers.pricing.tree import Leaf, Tree
from solvers.programs.nonnegative import nonnegative_least_squares

__all__ = ["solve_linear"]

BITS = 44
"""Multipliers are multiples of 2^-BITS of the largest."""

MOST_POINTS = 2000
"""Beyond this many constraints one least-squares problem takes longer than a search with few of them."""

NOTHING = 1e-7
"""Room of the least residual: below it, where rounding is, the constraints contradict each other or nearly so."""


def solve_linear(instance: ProblemInstance, tol: float) -> SearchOutcome | None:
    """The optimum with its proof, to the relative gap `tol`; None where the network is not linear, some neurons see
    other columns than others, a bias is free, or double precision does not suffice.
    """
    columns = np.arange(instance.columns)
    if instance.slope != 1.0 or instance.free or any(not np.array_equal(seen, columns) for seen in instance.masks):
        return None
    if len(instance.masks) != 1 or instance.points > MOST_POINTS:
        return None
    sizes = np.linalg.norm(instance.rows, axis=1)
    units: Floats = np.asarray(2.0 ** -np.round(np.log2(np.where(sizes > 0, sizes, 1.0))), dtype=np.float64)
    rows = instance.rows * units[:, None]
    sides: Floats = instance.signs * instance.targets * units
    height = float(np.abs(sides).max()) or 1.0
    for found in (_least_norm, _constrained):
        multipliers = found(instance, rows, sides / height, instance.tolerance * units / height)
        if multipliers is not None and (outcome := _outcome(instance, multipliers * height * units, tol)) is not None:
            return outcome
    return None


def _least_norm(instance: ProblemInstance, rows: Floats, sides: Floats, _: Floats) -> Floats | None:
    """c (n,) with w = sum_i c_i x_i and x_i.w = y_i, by a QR factorisation and two refinements; None for margins."""
    if instance.margin or len(rows) > rows.shape[1]:
        return None
    basis, triangle = np.linalg.qr(rows.T)
    sizes = np.abs(np.diag(triangle))
    if sizes.min() <= NOTHING * sizes.max():
        return None
    weights: Floats = np.zeros(rows.shape[1])
    for _step in range(3):
        weights += basis @ np.linalg.solve(triangle.T, sides - rows @ weights)
    return np.asarray(np.linalg.solve(triangle, basis.T @ weights), dtype=np.float64)


def _constrained(instance: ProblemInstance, rows: Floats, sides: Floats, tolerances: Floats) -> Floats | None:
    """c (n,) with w = sum_i c_i x_i the shortest vector that meets the inequalities."""
    if instance.margin:
        matrix, limits = instance.signs[:, None] * rows, sides
    else:
        matrix, limits = np.concatenate([rows, -rows]), np.concatenate([sides - tolerances, -sides - tolerances])
    system = np.concatenate([matrix.T, limits[None]])
    goal = np.zeros(len(system))
    goal[-1] = 1.0
    try:
        found = nonnegative_least_squares(system, goal)
    except RuntimeError:
        return None
    room = 1.0 - float(limits @ found)
    if room <= NOTHING:
        return None
    found /= room
    return instance.signs * found if instance.margin else found[: len(rows)] - found[len(rows) :]


def _outcome(instance: ProblemInstance, coefficients: Floats, tol: float) -> SearchOutcome | None:
    """The network and the proof that these coefficients make, unless the bracket is wider than `tol`."""
    largest = float(np.abs(coefficients).max())
    weights = coefficients @ instance.rows
    outputs = instance.rows @ weights
    if instance.margin:
        least = float((instance.signs * outputs).min())
        if least <= 0:
            return None
        weights = weights / least
    value = float(np.linalg.norm(weights))
    if not (largest > 0 and value > 0):
        return None
    quantum = 2.0 ** (np.floor(np.log2(largest)) - BITS)
    rounded = np.round(coefficients / quantum) * quantum
    multipliers = rounded / instance.signs
    beta = float(np.linalg.norm(rounded @ instance.rows))
    gain = float(rounded @ instance.targets) - instance.tolerance * float(np.abs(rounded).sum())
    apart = np.abs(outputs - instance.targets) - instance.tolerance
    if not instance.margin and apart.max() > NOTHING * float(np.abs(instance.targets).max()):
        return None
    lower = gain / beta
    if not (np.isfinite(lower) and 0 < value <= lower * (1.0 + tol)):
        return None
    support = np.flatnonzero(multipliers)
    tree = Tree([Leaf(np.zeros(len(support)))], beta, np.empty((0, instance.columns)), 1)
    atoms = Atoms(weights[None], np.ones(1, np.int8), np.zeros(1, np.intp), value)
    progress = Progress(round=1, lower=lower, upper=value, columns=1, points=len(support), seconds=0.0)
    proof = DualGuess(multipliers, beta, support, (tree, tree), lower)
    return SearchOutcome(SearchStatus.OPTIMAL, proof, (atoms,), atoms, (progress,))
