"""Nonnegative least squares whose answer has been looked at: min ||A x - b|| over x >= 0.

scipy's `nnls` is quick, but where columns of A depend on each other it may return a point that is no minimiser, with a
norm that is not the norm of its residual (seen with scipy 1.17, on some processors only). So its answer is tested by
the optimality conditions, x >= 0, A'r <= 0 for r = b - A x, and A'r = 0 where x > 0, and where it fails the active-set
method is run again, in the form that never takes in a column that depends on those in use.

Source: C. L. Lawson, R. J. Hanson, Solving Least Squares Problems (1974), chapter 23.
"""

from __future__ import annotations

import numpy as np

from solvers.arrays import Floats, Indices
from solvers.clock import poll

__all__ = ["nonnegative_least_squares"]

ACCURACY = 1e-11
"""What the gradient may be in parts of ||column|| ||b||; rounding alone leaves about 1e-15 for each row and column."""

INDEPENDENT = 1e-10
"""Part of its norm that a column must keep beside those in use."""

ROUNDS = 20
"""Rounds for each column, after which the search is given up; Lawson and Hanson's takes about half of one."""


def nonnegative_least_squares(matrix: Floats, target: Floats) -> Floats:
    """The minimiser x (n,) of ||matrix x - target|| over x >= 0; matrix (m, n), target (m,), any of them empty.

    The columns with x > 0 are linearly independent, up to rounding. Raises RuntimeError where no minimiser is found.
    """
    from scipy.optimize import nnls

    size = float(np.linalg.norm(target))
    sizes = np.linalg.norm(matrix, axis=0)
    if not (matrix.size and size and sizes.any()):  # scipy aborts the process on an empty matrix
        return np.zeros(matrix.shape[1])
    scaled, goal = matrix / np.where(sizes > 0, sizes, 1.0), target / size
    try:
        weights, _ = nnls(scaled, goal, maxiter=ROUNDS * len(sizes) + 1000)
    except RuntimeError:
        weights = None
    if weights is None or not _is_minimal(scaled, goal, weights):
        weights = _active_set(scaled, goal)
        if not _is_minimal(scaled, goal, weights):
            raise RuntimeError("the nonnegative least-squares problem is too degenerate for double precision")
    return weights * (size / np.where(sizes > 0, sizes, 1.0))


def _is_minimal(matrix: Floats, target: Floats, weights: Floats) -> bool:
    """The optimality conditions, for columns and a target of norm 1, and that the columns in use are independent."""
    used = weights > 0
    allowed = ACCURACY * (1.0 + float(weights.sum()))
    gradient = matrix.T @ (target - matrix @ weights)
    if weights.min() < 0 or gradient.max() > allowed or np.abs(gradient[used]).max(initial=0.0) > allowed:
        return False
    count = int(used.sum())
    return count <= len(matrix) and (count < 2 or np.linalg.matrix_rank(matrix[:, used], tol=INDEPENDENT) == count)


def _active_set(matrix: Floats, target: Floats) -> Floats:
    """Lawson and Hanson's method; a column that depends on those in use, or that leaves at once, waits for a change."""
    weights = np.zeros(matrix.shape[1])
    used: list[int] = []
    refused: set[int] = set()
    for _ in range(ROUNDS * matrix.shape[1]):
        poll()
        gradient = matrix.T @ (target - matrix @ weights)
        gradient[[*used, *refused]] = -np.inf
        entering = int(np.argmax(gradient))
        if gradient[entering] <= ACCURACY / 10:
            break
        if _distance(matrix, used, entering) <= INDEPENDENT:
            refused.add(entering)
            continue
        found = _fitted(matrix, target, [*used, entering])
        if found[-1] <= 0:
            refused.add(entering)
            continue
        refused.clear()
        used.append(entering)
        while (found <= 0).any():
            before = weights[used]
            with np.errstate(divide="ignore", invalid="ignore"):
                steps = np.where(found <= 0, before / (before - found), np.inf)
            reached = before + float(steps.min()) * (found - before)
            reached[int(np.argmin(steps))] = 0.0
            weights[used] = np.maximum(reached, 0.0)
            used = [k for k in used if weights[k] > 0]
            found = _fitted(matrix, target, used)
        weights[:] = 0.0
        weights[used] = found
    return weights


def _distance(matrix: Floats, used: list[int], column: int) -> float:
    """How far a column of norm 1 is from the span of those in use."""
    vector = matrix[:, column]
    if not used:
        return float(np.linalg.norm(vector))
    basis: Floats = np.linalg.qr(matrix[:, used])[0]
    for _ in range(2):  # once more for what rounding left
        vector = vector - basis @ (basis.T @ vector)
    return float(np.linalg.norm(vector))


def _fitted(matrix: Floats, target: Floats, used: list[int] | Indices) -> Floats:
    return np.asarray(np.linalg.lstsq(matrix[:, used], target, rcond=None)[0], np.float64)
