"""Gradient flow at given times of the loss itself, d theta / dt = -grad L(theta), as in statements about times.

The solver of trainings follows log L, on the same curve in another time, in steps that say little about what is
between them. Here the equation itself is integrated, by a plain method of order 8, for the short times in which
weights grow from nearly 0 to size 1. It goes through kinks; a flow that slides along one uses up its evaluations. In
floats.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from solvers.arrays import Floats
from verify.claims.records import Instance
from verify.training.conversion import layers_of, parameters_of, rows_of, targets_of

if TYPE_CHECKING:
    from verify.claims.records import Instance

__all__ = ["TOLERANCE", "Course", "course"]


Course: TypeAlias = Callable[[float], Floats]
"""t -> theta(t)."""


TOLERANCE = 1e-10
"""Of each step, relative."""


EVALUATIONS = 40_000


class _UsedUpError(Exception):
    """Too many evaluations."""


@lru_cache(maxsize=64)
def course(instance: Instance, until: float, tolerance: float = TOLERANCE) -> Course | None:
    """The flow of the mean logistic loss from the instance's network, from t = 0 to `until`; None where that fails."""
    from scipy.integrate import solve_ivp

    shape = instance.network.architecture
    layers, rows, start = layers_of(shape), rows_of(instance.data, shape), parameters_of(instance.network)
    targets = targets_of(instance.data)
    left = EVALUATIONS

    def rate(_: float, theta: Floats) -> Floats:
        nonlocal left
        left -= 1
        if left < 0:
            raise _UsedUpError
        z = layers.preactivations(theta, rows)
        pull = targets / (1 + np.exp(targets * z[-1][:, 0])) / len(rows)
        return layers.gradient(theta, rows, layers.pattern(z), pull)

    try:
        found: Any = solve_ivp(
            rate, (0.0, until), start, method="DOP853", rtol=tolerance, dense_output=True,
            atol=tolerance * float(np.abs(start).max()),
        )  # fmt: skip
    except _UsedUpError:
        return None
    return found.sol if found.success and np.isfinite(found.y).all() else None
