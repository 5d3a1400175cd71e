"""Exact KKT points near a network with given output weights: the shortest networks with its sides and its kinks."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from verify.checker.exact import dot
from verify.checker.statement import pattern
from verify.deciders.hidden.geometry import Geometry
from verify.deciders.hidden.least_norm import NeuronAndPoint, Solved, least_norm
from verify.deciders.rounding import dyadic
from verify.deciders.time_limits import is_late
from verify.deciders.witnesses import dot_product_scales, network_with
from verify.numbers.floats import float_near, float_rows, float_weights
from verify.problem.members import has_margin
from verify.problem.network import Network
from verify.problem.problem import Problem, objective

__all__ = ["nearby_points"]

NEAR_KINKS = (1e-3, 1e-5, 1e-7, 1e-9, 1e-12, 0.0)
"""Preactivations below these parts of their `verify.deciders.witnesses.dot_product_scales` are held at 0."""

MOST = 2000
"""WantedOutputs times neurons beyond which none is looked for."""


def nearby_points(problem: Problem, network: Network, deadline: float | None = None) -> Iterator[Network]:
    """Networks that fit, the shortest ones with the sides of `network`, for each set of kinks near which it is.

    Every KKT point is one, with its own sides and kinks: its multipliers make it shortest.
    deadline: a moment of `solvers.clock.now()` after which no further one is looked for.
    """
    if problem.output_weights is None or len(problem.rows) * len(problem.neurons) > MOST:
        return
    weights, rows = float_weights(network), float_rows(problem)
    scales = dot_product_scales(rows, weights, bias=problem.architecture.bias)
    ratio = np.abs(weights @ rows.T) / np.where(scales > 0, scales, 1.0)
    signs, geometry = np.array(pattern(problem, network)), Geometry(problem)
    is_bent = problem.architecture.slope < 1
    tried: set[bytes] = set()
    for share in NEAR_KINKS if is_bent else (0.0,):
        held = (signs == 0) | (ratio < share)
        if held.tobytes() in tried or is_late(deadline):
            continue
        tried.add(held.tobytes())
        sides = np.where(held & is_bent, 0, signs)
        pairs: list[NeuronAndPoint] = [(int(j), int(i)) for j, i in np.argwhere(sides == 0)] if is_bent else []
        solved = least_norm(geometry, sides.tolist(), pairs)
        found = None if solved is None else _scaled(problem, network, solved)
        if found is not None and objective(problem, found) is not None:
            yield found


def _scaled(problem: Problem, network: Network, solved: Solved) -> Network | None:
    """The network of the solution, for max-margin of about the size of the given one; None where that is too long."""
    if not has_margin(problem.goal):
        return solved.network(network)
    size = sum((dot(row, row) for row in solved.hidden), Fraction(0))
    along = sum((dot(a, b) for a, b in zip(solved.hidden, network.hidden_weights, strict=True)), Fraction(0))
    factor = dyadic(float_near(along / size), 40) if size else Fraction(0)
    if factor <= 0:
        return None
    return network_with(network, [[factor * z for z in row] for row in solved.hidden])
