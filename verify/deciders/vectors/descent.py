"""A descent from a network with several outputs, in all its parameters, at its own width."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from verify.checker.vector_statement import VectorNetwork, VectorProblem
from verify.deciders.time_limits import is_late
from verify.deciders.vectors.arrays import as_vector_instance, exact_network, float_network

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

__all__ = ["descents"]

STEPS = 2000
JITTER = 0.02
"""Of the size of the weights: by so much a network is moved off a saddle, where no gradient leads away."""


def descents(
    problem: VectorProblem, network: VectorNetwork, hidden: Array, output: Array, deadline: float | None = None
) -> Iterator[VectorNetwork]:
    """Where L-BFGS ends, of a loss, at the width of the network: from it, from near it, and from as many neurons of
    another, w_j (width, c) and V_j (width, K), the largest of them.
    """
    if not problem.rules.IS_LOSS:
        return
    own_hidden, own_output, shift = float_network(network)
    random = np.random.default_rng(0)
    moved = [
        part + JITTER * max(float(np.abs(part).max()), 1e-3) * random.normal(size=part.shape)
        for part in (own_hidden, own_output)
    ]
    sizes = np.linalg.norm(hidden, axis=1) * np.linalg.norm(output, axis=1)
    largest = np.argsort(-sizes)[: len(own_hidden)]
    for w, v in ((own_hidden, own_output), (moved[0], moved[1]), (hidden[largest], output[largest])):
        yield _descended(problem, w, v, shift, deadline)


def _descended(
    problem: VectorProblem, hidden: Array, output: Array, shift: Array | None, deadline: float | None
) -> VectorNetwork:
    from scipy.optimize import minimize

    instance = as_vector_instance(problem)
    parts = [hidden.ravel(), output.ravel(), *([] if shift is None else [shift])]
    sizes = np.cumsum([part.size for part in parts])[:-1]

    def split(parameters: Array) -> tuple[Array, Array, Array | None]:
        w, v, *b = np.split(parameters, sizes)
        return w.reshape(hidden.shape), v.reshape(output.shape), b[0] if b else None

    def value(parameters: Array) -> tuple[float, Array]:
        now = split(parameters)
        slopes = instance.gradient(*now)
        return instance.objective(*now), np.concatenate([part.ravel() for part in slopes if part is not None])

    def ended(_: Array) -> None:
        if is_late(deadline):
            raise StopIteration

    options = {"maxiter": STEPS}
    found = minimize(value, np.concatenate(parts), jac=True, method="L-BFGS-B", callback=ended, options=options)
    return exact_network(problem, *split(np.asarray(found.x)))
