"""Does the KKT point near a network have short rational weights? Then it can be written down, and decided completely.

The polished float point is scaled so that its first or no amplitude is 1, and its amplitudes and unit directions are
replaced by the nearest fractions with small denominators. Whether the network so written is a KKT point is for exact
arithmetic to say. Max-margin: it is given the size of the trained network, for which size does not count.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np

from solvers.arrays import Floats
from solvers.kkt.pattern_polish import FloatPoint
from verify.checker.exact import squared_norm
from verify.deciders.rounding import dyadic
from verify.numbers.floats import to_float
from verify.problem.members import has_margin
from verify.problem.network import Network
from verify.problem.problem import Problem

__all__ = ["recognised"]


DENOMINATOR = 1000
NEAR = 1e-6
"""How near a fraction must be, relative to the largest number of its kind."""

LIVE = 1e-6
"""Directions below this part of the largest are those of neurons that are 0."""


def recognised(problem: Problem, network: Network, point: FloatPoint) -> Network | None:
    """The network of short rationals that the point looks like; None when it looks like none.

    Neurons of one direction are not told apart: None when two neurons share one. Nothing is proved.
    """
    columns = list(problem.norm_columns)
    sizes = np.linalg.norm(point.u[:, columns], axis=1)
    largest = sizes.max(initial=0.0)
    if not largest > 0:
        return None
    live = [(j, int(C)) for j, C in enumerate(point.members) if C >= 0 and sizes[C] > LIVE * largest]
    if len({C for _, C in live}) < len(live):
        return None
    amplitudes = np.sqrt([sizes[C] for _, C in live])
    units = [_fractions(point.u[C] / sizes[C]) for _, C in live]
    if any(unit is None or squared_norm(unit[c] for c in columns) != 1 for unit in units):
        return None
    is_margin = has_margin(problem.goal)
    for scale in (1.0, float(amplitudes.max())) if is_margin else (1.0,):
        found = _fractions(amplitudes / scale)
        if found is None:
            continue
        weights = {
            j: (a, unit, int(point.signs[C])) for (j, C), a, unit in zip(live, found, units, strict=True) if unit
        }
        exact = _network(network, weights)
        return _at_the_size_of(network, exact) if is_margin else exact
    return None


def _fractions(numbers: Floats) -> list[Fraction] | None:
    """The nearest fractions with small denominators, if they are near."""
    found = [Fraction(float(number)).limit_denominator(DENOMINATOR) for number in numbers]
    allowed = NEAR * max(1.0, float(np.abs(numbers).max(initial=0.0)))
    return found if all(abs(to_float(q) - x) <= allowed for q, x in zip(found, numbers, strict=True)) else None


def _network(network: Network, weights: Mapping[int, tuple[Fraction, Sequence[Fraction], int]]) -> Network:
    """Of the same architecture: neuron j is a (p, s) for (a, p, s) = weights[j], and 0 where it is not listed."""
    layer = network.architecture.layers[0]
    hidden = [Fraction(0)] * layer.parameter_count
    for j, (a, unit, _) in weights.items():
        for index, entry in zip(layer.places[j], unit, strict=True):
            if index is not None:
                hidden[index] = a * entry
    outgoing = [weights[j][0] * weights[j][2] if j in weights else Fraction(0) for j in range(network.width)]
    return Network(network.architecture, (hidden, outgoing))


def _at_the_size_of(network: Network, exact: Network) -> Network:
    pairs = [
        pair for rows in zip(exact.parameters, network.parameters, strict=True) for pair in zip(*rows, strict=True)
    ]
    along, size = sum(p * q for p, q in pairs), squared_norm(p for p, _ in pairs)
    factor = dyadic(to_float(along / size), 53)
    if factor <= 0 or not math.isfinite(factor):
        return exact
    return Network(exact.architecture, [[factor * weight for weight in layer] for layer in exact.parameters])
