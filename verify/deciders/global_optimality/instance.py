"""The problem as float arrays for the solvers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from verify.numbers.floats import float_rows, float_targets, to_float
from verify.problem.members import has_margin, is_free
from verify.problem.problem import Problem

if TYPE_CHECKING:
    from solvers.instance import ProblemInstance

__all__ = ["as_instance"]


def as_instance(problem: Problem) -> ProblemInstance:
    """The problem as float arrays for the solvers."""
    from solvers.instance import ProblemInstance

    return ProblemInstance(
        rows=float_rows(problem),
        targets=float_targets(problem),
        slope=to_float(problem.architecture.slope),
        masks=tuple(np.array(mask, int) for mask in problem.mask_classes),
        margin=has_margin(problem.goal),
        free=is_free(problem.bias),
        tolerance=to_float(problem.fit_tolerance),
    )
