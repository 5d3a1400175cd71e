"""The shortest vector that satisfies linear equations and inequalities, with its multipliers.

    min 1/2 ||x||^2  subject to  A x >= b, with equality in some rows;      x = A^T u

Lawson and Hanson turn it into nonnegative least squares: with mu >= 0 that makes ||A^T mu||^2 + (b.mu - 1)^2 least,
x = A^T mu / (1 - b.mu), and nothing satisfies the rows where that is 0. The rows with u != 0 are independent.

Source: C. L. Lawson, R. J. Hanson, Solving Least Squares Problems (1974), chapter 23, "Problem LDP".
"""

from __future__ import annotations

import numpy as np

from solvers.arrays import Bits, Floats
from solvers.programs.nonnegative import nonnegative_least_squares

__all__ = ["least_distance"]

INFEASIBLE = 1e-9
"""Below this part of 1 what is left of 1 - b.mu is 0."""

MOST_ENTRIES = 4_000_000
"""Of the matrix, beyond which no answer is looked for."""


def least_distance(matrix: Floats, right: Floats, equal: Bits) -> Floats | None:
    """The multipliers u (m,) of the rows, >= 0 but where `equal`; None where nothing satisfies them, or none is found.

    matrix (m, c), right (m,), equal (m,). A row of zeros asks for nothing.
    """
    sizes = np.linalg.norm(matrix, axis=1)
    if matrix.size > MOST_ENTRIES or not np.isfinite(matrix).all():
        return None
    if ((sizes == 0) & np.where(equal, right != 0, right > 0)).any():
        return None
    units = np.where(sizes > 0, sizes, 1.0)
    rows, wanted = matrix / units[:, None], np.where(sizes > 0, right, 0.0) / units
    scale = float(np.abs(wanted).max(initial=0.0))
    if not scale:
        return np.zeros(len(right))
    signed = np.vstack([np.column_stack([rows, wanted / scale]), -np.column_stack([rows, wanted / scale])[equal]])
    target = np.zeros(matrix.shape[1] + 1)
    target[-1] = 1.0
    try:
        found = nonnegative_least_squares(np.ascontiguousarray(signed.T), target)
    except RuntimeError:
        return None
    left = 1.0 - float(signed[:, -1] @ found)
    if left <= INFEASIBLE:
        return None
    multipliers = found[: len(right)].copy()
    multipliers[equal] -= found[len(right) :]
    return multipliers / left * scale / units
