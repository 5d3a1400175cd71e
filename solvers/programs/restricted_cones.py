"""The activation-pattern-restricted convex programs as cones, for Clarabel: what audits solve.

The same program, units and signs as `solvers.programs.restricted`, which states it in cvxpy and is its reference. Here
no modelling layer stands between: importing it alone takes longer than most audits.

    min sum_C t_C   s.t.   (t_C, counted u_C) in a second-order cone for each C, and the rows of that module

Source: Pilanci & Ergen, arXiv:2002.10553, equation (8); `docs/mathematics.md`, 3.2 "The program of a pattern".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from scipy import sparse

from solvers.instance import ProblemInstance, Solution, Status
from solvers.programs.interior_point import Cone, solve_cone_program
from solvers.programs.restricted import ACCURACY, NeuronFamily, ScaledProgram, asked_again, in_scale, judged

__all__ = ["solve_restricted"]

STATUS: Final = {"Solved": Status.OPTIMAL, "AlmostSolved": Status.INACCURATE, "PrimalInfeasible": Status.INFEASIBLE}
"""What the solver's words count for; any other is FAILED: sum |u| >= 0, so that no such program is unbounded."""


def solve_restricted(instance: ProblemInstance, columns: Sequence[NeuronFamily]) -> Solution:
    """`solvers.programs.restricted.restricted_program`, without cvxpy.

    Raises TimeIsUpError where the step that this thread is in has to end before the first iteration would.
    """
    return in_scale(instance, columns, _solve)


def _solve(scaled: ScaledProgram) -> Solution:
    count, points = scaled.slopes.shape
    width = scaled.shown.shape[1]
    fit, cones, kinks = scaled.fit(), scaled.cones(), scaled.kinks()
    inside, on_kinks = scaled.inside(cones), scaled.on_kinks(kinks)
    outputs = sparse.csr_matrix(-scaled.signs[:, None] * fit if scaled.margin else fit)
    ends = np.cumsum([points, len(cones[0]), len(kinks[0])])
    rows = sparse.hstack([sparse.csr_matrix((int(ends[2]), count)), sparse.vstack([outputs, -inside, on_kinks])])
    matrix = sparse.vstack([rows, _norms(scaled)])
    right = np.zeros(ends[2] + count * (width + 1))
    right[:points] = -1.0 if scaled.margin else scaled.targets
    kinds: list[tuple[Cone, int]] = [("nonnegative" if scaled.margin else "zero", points)]
    kinds += [("nonnegative", len(cones[0])), ("zero", len(kinks[0]))] + [("second-order", width + 1)] * count
    cost = np.concatenate([np.ones(count), np.zeros(count * width)])
    for accuracy in (ACCURACY, 100 * ACCURACY):
        found = solve_cone_program(cost, sparse.csc_matrix(matrix), right, kinds, accuracy=accuracy)
        status = STATUS.get(found.message, Status.FAILED)
        if status in (Status.OPTIMAL, Status.INFEASIBLE):
            break
    if found.message == "AlmostPrimalInfeasible":
        status = asked_again(scaled, cones)
    if status not in (Status.OPTIMAL, Status.INACCURATE) or found.primal is None or found.dual is None:
        return Solution.without_point(status, found.message)
    nu = np.zeros((count, points))
    nu[cones] = np.maximum(found.dual[ends[0] : ends[1]], 0.0) / scaled.sizes[cones]
    nu[kinks] = -found.dual[ends[1] : ends[2]] / scaled.sizes[kinks]
    directions = found.primal[count:].reshape(count, width)
    dual = found.dual[:points] if scaled.margin else -found.dual[:points]
    return judged(scaled, status, found.message, directions * scaled.shown, dual, nu)


def _norms(scaled: ScaledProgram) -> sparse.csr_matrix:
    """The rows of (t_C, counted u_C) for each C, negated, over the variables (t, u)."""
    count, width = scaled.shown.shape
    block = np.arange(count)[:, None] * (width + 1)
    bounds = sparse.csr_matrix((-np.ones(count), (block.ravel(), np.arange(count))), (count * (width + 1), count))
    places = (block + 1 + np.arange(width)).ravel()
    entries = (-scaled.counted.ravel(), (places, np.arange(count * width)))
    return sparse.csr_matrix(sparse.hstack([bounds, sparse.csr_matrix(entries, (count * (width + 1), count * width))]))
