"""Networks near one with several outputs: neurons put onto the kinks that they are nearly at, or to 0 where they are
nearly nothing.

Training with weight decay ends near kinks, and floats meet none exactly: read as it is, such a network is far from
stationary. What is found is told with how far it is from the given network.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import numpy as np

from verify.checker.exact import dot
from verify.checker.vector_goals import Vector
from verify.checker.vector_statement import VectorNetwork, VectorProblem
from verify.deciders.rounding import dyadic, solve_by_few
from verify.deciders.time_limits import poll
from verify.deciders.vectors.arrays import as_vector_instance, float_network
from verify.deciders.witnesses import dot_product_scales
from verify.numbers.floats import to_floats, to_matrix

__all__ = ["networks_at_kinks"]

KINK_TOLERANCES = (1e-9, 1e-7, 1e-6, 1e-5, 1e-4, 3e-4, 1e-3, 3e-3)
"""Preactivations below these parts of their `verify.deciders.witnesses.dot_product_scales` are tried as kinks."""

VANISHED, LARGEST_STEP = 1e-6, 0.1
"""Below this part of the largest ||w|| and ||V|| a neuron is tried as 0; by at most this part of it one is moved."""


def networks_at_kinks(problem: VectorProblem, network: VectorNetwork) -> Iterator[VectorNetwork]:
    """The network with more and more of its near-kinks as kinks, exactly; nothing for linear networks."""
    if problem.slope == 1:
        return
    rows = as_vector_instance(problem).rows
    network = _without_vanished(network)
    hidden, _, _ = float_network(network)
    sizes = dot_product_scales(rows, hidden, bias=network.bias)
    near = np.abs(hidden @ rows.T) / np.maximum(sizes, 1e-300)
    near[sizes == 0] = np.inf
    tried = b""
    for share in KINK_TOLERANCES:
        close = near <= share
        if close.tobytes() == tried:
            continue
        tried = close.tobytes()
        moved = [
            _moved(problem, w, [int(i) for i in np.flatnonzero(at)])
            for w, at in zip(network.hidden, close, strict=True)
        ]
        yield replace(network, hidden=tuple(moved))


def _without_vanished(network: VectorNetwork) -> VectorNetwork:
    """With zeros for what decay has made nearly nothing of."""
    hidden, output, _ = float_network(network)
    sizes = np.linalg.norm(hidden, axis=1), np.linalg.norm(output, axis=1)
    is_zero = np.logical_and(*(size <= VANISHED * max(float(size.max()), 1e-300) for size in sizes))
    rows = tuple(tuple(Fraction(0) for _ in w) if gone else w for w, gone in zip(network.hidden, is_zero, strict=True))
    columns = tuple(
        tuple(Fraction(0) if gone else v for v, gone in zip(row, is_zero, strict=True)) for row in network.output
    )
    return replace(network, hidden=rows, output=columns)


def _moved(problem: VectorProblem, w: Vector, points: list[int]) -> Vector:
    """w with x_i.w = 0 exactly at these points, moved as little as floats can tell; as it is where that is far."""
    poll()
    lines = [list(problem.rows[i]) for i in points if dot(problem.rows[i], w)]
    if not lines:
        return w
    lines = [list(problem.rows[i]) for i in points]
    numbers, start = to_matrix(lines), to_floats(w)
    step = np.linalg.lstsq(numbers, -numbers @ start, rcond=1e-10)[0]
    if np.linalg.norm(step) > LARGEST_STEP * np.linalg.norm(start):
        return w
    near = [dyadic(entry, 53) for entry in (start + step).tolist()]
    correction = solve_by_few(lines, [-dot(line, near) for line in lines])
    return w if correction is None else tuple(p + q for p, q in zip(near, correction, strict=True))
