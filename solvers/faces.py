"""Which kinks a restricted program's optimum has: moving it onto the faces of its cells."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from solvers.instance import Floats, Instance, Solution
from solvers.programs.restricted import DEAD, Column, restricted_program

if TYPE_CHECKING:
    from collections.abc import Sequence

FACES: Final = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
"""Angles to a hyperplane (radians) below which a direction is tried on it."""

FACE_COST: Final = 1e-8
"""Relative increase of the value that moving onto faces may cost."""


def settle_on_faces(instance: Instance, columns: Sequence[Column], solution: Solution) -> tuple[list[Column], Solution]:
    """The columns in use, with kinks where the optimum is on a face of its cell, and the solution of that program.

    An interior-point solution keeps a distance from faces on which it could lie, strictly or weakly active; thresholds
    alone would flip patterns there. So points near the boundary of a column become equalities x_i.u = 0, and that is
    kept only if the value stays (up to `FACE_COST`). Without success the columns in use come back as they are.
    """
    size = np.linalg.norm(solution.primal, axis=1)
    live = np.flatnonzero(size > DEAD * size.max(initial=0.0)).tolist()
    used = [columns[k] for k in live]
    if not used:
        return used, Solution(
            solution.status, solution.value, primal=np.zeros((0, instance.columns)), dual=solution.dual
        )
    for angle in FACES:
        settled = [_settled(instance, column, solution.primal[k], angle) for column, k in zip(used, live, strict=True)]
        again = restricted_program(instance, settled)
        if again.is_usable and again.value <= solution.value * (1 + FACE_COST):
            return settled, again
    return used, restricted_program(instance, used)


def _settled(instance: Instance, column: Column, direction: Floats, angle: float) -> Column:
    rows = instance.masked_rows(column.mask)
    u = direction[instance.masks[column.mask]]
    near = np.abs(rows @ u) <= angle * np.linalg.norm(rows, axis=1) * np.linalg.norm(u)
    return column._replace(pattern=np.where(near, 0, column.pattern).astype(np.int8))
