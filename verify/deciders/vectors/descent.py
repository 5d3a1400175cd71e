"""A descent from a network with several outputs, in all its parameters, at its own width."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from verify.checker.vector_statement import VectorNetwork, VectorProblem
from verify.deciders.vectors.arrays import as_vector_instance, exact_network, float_network

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

__all__ = ["descended"]

STEPS = 2000


def descended(problem: VectorProblem, network: VectorNetwork) -> VectorNetwork | None:
    """Where L-BFGS ends from the network, of a loss; None for constraints."""
    if not problem.rules.IS_LOSS:
        return None
    from scipy.optimize import minimize

    instance = as_vector_instance(problem)
    hidden, output, shift = float_network(network)
    parts = [hidden.ravel(), output.ravel(), *([] if shift is None else [shift])]
    sizes = np.cumsum([part.size for part in parts])[:-1]

    def split(parameters: Array) -> tuple[Array, Array, Array | None]:
        w, v, *b = np.split(parameters, sizes)
        return w.reshape(hidden.shape), v.reshape(output.shape), b[0] if b else None

    def value(parameters: Array) -> tuple[float, Array]:
        now = split(parameters)
        slopes = instance.gradient(*now)
        return instance.objective(*now), np.concatenate([part.ravel() for part in slopes if part is not None])

    found = minimize(value, np.concatenate(parts), jac=True, method="L-BFGS-B", options={"maxiter": STEPS})
    return exact_network(problem, *split(np.asarray(found.x)))
