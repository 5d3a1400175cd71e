"""Cone programs in floats, by Clarabel: min c.x with A x + s = b, s in a product of cones."""

from dataclasses import dataclass

import clarabel
import numpy as np
from scipy import sparse

TOLERANCES = (1e-10, 1e-9, 1e-8)
"""Asked for in turn: where the first cannot be had, the solver may lose what it had."""


@dataclass(frozen=True)
class Solved:
    """value: the mean of the primal and the dual value, whose relative difference is `gap`."""

    x: np.ndarray
    z: np.ndarray
    value: float
    gap: float


class ConeProgram:
    """Built row by row; `solve` returns None when Clarabel does not end with a solution."""

    def __init__(self, size):
        self.cost = np.zeros(size)
        self._rows, self._right, self._cones = [], [], []

    def block(self, kind, rows, right):
        """Rows a of right - a.x in a cone, each {column: a}: "zero", "nonnegative", "second-order" (head first), or one
        "exponential" (three rows: p, q, r with q e^(p/q) <= r).
        """
        if not rows:
            return
        self._rows += rows
        self._right += right
        self._cones.append((kind, len(rows)))

    def solve(self):
        kinds = {
            "zero": clarabel.ZeroConeT,
            "nonnegative": clarabel.NonnegativeConeT,
            "second-order": clarabel.SecondOrderConeT,
            "exponential": lambda _: clarabel.ExponentialConeT(),
        }
        entries = [(r, c, float(a)) for r, row in enumerate(self._rows) for c, a in row.items() if a]
        r, c, a = zip(*entries, strict=True) if entries else ((), (), ())
        size = len(self.cost)
        matrix = sparse.csc_matrix((a, (r, c)), shape=(len(self._rows), size))
        cones = [kinds[kind](count) for kind, count in self._cones]
        right = np.array([float(b) for b in self._right])
        for tolerance in TOLERANCES:
            solver = clarabel.DefaultSolver(
                sparse.csc_matrix((size, size)), self.cost, matrix, right, cones, _settings(tolerance)
            )
            solution = solver.solve()
            value = (solution.obj_val + solution.obj_val_dual) / 2
            gap = abs(solution.obj_val - solution.obj_val_dual) / max(1e-9, abs(value))
            is_close = gap < 1e-7 and max(solution.r_prim, solution.r_dual) < 1e-8
            if str(solution.status) in ("Solved", "AlmostSolved") or is_close:
                return Solved(np.array(solution.x), np.array(solution.z), value, gap)
        return None


def _settings(tolerance):
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_threads = 1
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tolerance
    settings.reduced_tol_gap_abs = settings.reduced_tol_gap_rel = settings.reduced_tol_feas = 100 * tolerance
    return settings
