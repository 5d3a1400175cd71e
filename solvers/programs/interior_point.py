"""Conic programs by Clarabel, called directly: for the loops that solve hundreds of small ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from scipy import sparse

from solvers.arrays import Floats
from solvers.clock import TimeIsUpError, real_seconds_left, seconds_left, spend
from solvers.instance import Solution, Status

Cone = Literal["zero", "nonnegative", "second-order", "exponential"]

MAX_ITERATIONS = 200
SECONDS_PER_PRODUCT = 1e-9
"""Of the set-up and one iteration, for each product of two entries of one row: the solver looks at no clock there."""

SECONDS, SECONDS_PER_ENTRY = 1e-3, 2e-7
"""Of one program besides, and of an iteration for each entry of the matrix."""


def solve_cone_program(
    cost: Floats,
    matrix: Floats | sparse.csc_matrix,
    right: Floats,
    cones: Sequence[tuple[Cone, int]],
    *,
    accuracy: float = 1e-10,
    time_limit: float = np.inf,
) -> Solution:
    """Minimise cost.x subject to right - matrix x in the product of `cones`, listed with their sizes in row order.

    Of exponential cones {(a, b, c): b e^(a/b) <= c, b > 0} the size is three times their number.

    primal: x; dual: z with cost + matrix^T z = 0, z in the dual cone.
    accuracy: feasibility and gaps asked of the solver.
    INACCURATE: a finite point came back that does not reach the accuracy; FAILED: none did.
    Raises TimeIsUpError where the step that this thread is in has to end before the first iteration would.
    """
    given = sparse.csc_matrix(matrix)
    if SECONDS_PER_PRODUCT * _products(given) > seconds_left():
        raise TimeIsUpError
    import clarabel

    library: Any = clarabel
    makers = {
        "zero": library.ZeroConeT,
        "nonnegative": library.NonnegativeConeT,
        "second-order": library.SecondOrderConeT,
        "exponential": library.ExponentialConeT,
    }
    settings = library.DefaultSettings()
    settings.verbose = False
    settings.max_threads = 1
    settings.max_iter = MAX_ITERATIONS
    settings.time_limit = max(real_seconds_left(time_limit), 0.1)
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = accuracy
    solver = library.DefaultSolver(
        sparse.csc_matrix((len(cost), len(cost))),
        cost,
        given,
        right,
        [makers[kind](*sizes) for kind, size in cones if size for sizes in _sizes(kind, size)],
        settings,
    )
    found = solver.solve()
    rounds = 1 + int(found.iterations)
    spend(SECONDS + rounds * (SECONDS_PER_PRODUCT * _products(given) + SECONDS_PER_ENTRY * given.nnz))
    primal, dual = np.array(found.x), np.array(found.z)
    if not (np.isfinite(primal).all() and np.isfinite(dual).all()):
        return Solution(Status.FAILED, np.nan, message=str(found.status))
    words = str(found.status)
    status = Status.OPTIMAL if words == "Solved" else Status.INACCURATE
    if "Infeasible" in words:
        status = Status.FAILED
    return Solution(status, float(cost @ primal), primal=primal, dual=dual, message=words)


def _sizes(kind: Cone, size: int) -> list[tuple[int, ...]]:
    """The sizes of the cones that so many rows are: exponential ones have three each, and no size of their own."""
    return [()] * (size // 3) if kind == "exponential" else [(size,)]


def _products(matrix: sparse.csc_matrix) -> float:
    """Pairs of entries in one row, which the elimination of the rows multiplies."""
    counts = np.bincount(matrix.indices, minlength=1).astype(float)
    return float(counts @ counts)
