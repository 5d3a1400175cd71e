"""The problem as float arrays for the solvers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from verify.checker.exact import sqrt_lower
from verify.checker.goals import rules
from verify.numbers.floats import float_rows, float_targets, to_float
from verify.problem.members import has_margin, is_free
from verify.problem.problem import Problem

if TYPE_CHECKING:
    from solvers.any_width.convex_losses import DecayInstance
    from solvers.instance import ProblemInstance

__all__ = ["as_decay_instance", "as_instance"]


def as_instance(problem: Problem) -> ProblemInstance:
    """The problem as float arrays for the solvers."""
    from solvers.instance import ProblemInstance

    return ProblemInstance(
        rows=float_rows(problem),
        targets=float_targets(problem),
        slope=to_float(problem.architecture.slope),
        masks=tuple(np.array(mask, int) for mask in problem.mask_classes),
        margin=problem.asks_fit and has_margin(problem.goal),
        free=is_free(problem.bias),
        tolerance=to_float(problem.fit_tolerance),
    )


def as_decay_instance(problem: Problem) -> DecayInstance:
    """A problem as float arrays, its decays as the price of a neuron; constraints as a loss that is 0 or infinite."""
    from solvers.any_width.convex_losses import ConvexLoss, DecayInstance

    loss, decay = rules(problem.goal).loss(problem.fit_tolerance), problem.decay
    floats = ConvexLoss(
        labels=loss.labels,
        low=-np.inf if loss.low is None else to_float(loss.low),
        high=np.inf if loss.high is None else to_float(loss.high),
        tube=to_float(loss.tube),
        curvature=to_float(loss.curvature),
        is_logistic=not loss.is_exact,
    )
    price = sqrt_lower(decay.hidden * decay.output)
    bias = None if decay.output_bias is None else to_float(decay.output_bias)
    return DecayInstance(replace(as_instance(problem), margin=False), floats, to_float(price), bias)
