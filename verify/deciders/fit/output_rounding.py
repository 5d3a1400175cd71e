"""How far the outputs that a computer finds for a network may be from its exact ones, whatever the order of its sums.

Let u be the unit roundoff of the arithmetic. A sum of products takes at most as many roundings on each path as it has
terms, an activation s(z) = max(z, a z) one more, and |s(z)| <= |z|, |s(z') - s(z)| <= |z' - z|. So with m roundings on
the longest path from an input to the output

    |computed f(x) - f(x)| <= g (|A_m| ... |A_1| |x| + |b|),     g = m u / (1 - m u),     b an output bias,

the matrices and x entry by entry in absolute value. Data that are no numbers of the arithmetic are rounded first: one
more rounding of x, and u |y| of the target. Without overflow and underflow.

Source: N. Higham, Accuracy and Stability of Numerical Algorithms, 2nd edition, lemmas 3.1 and 3.3, section 3.5.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain
from typing import final

import numpy as np

from verify.numbers.decimals import at_most
from verify.numbers.floats import to_float
from verify.problem.network import Network
from verify.problem.problem import Problem

__all__ = ["OutputRounding", "output_rounding"]

PRECISIONS = (("float32", 24), ("float64", 53))
ROOM = 1 + 2.0**-20
"""For the rounding of these sums of positive numbers themselves."""


@final
@dataclass(frozen=True, slots=True)
class OutputRounding:
    """bound: what |f(x_i) - y_i| may be by rounding alone at any of the points.   precision: of which arithmetic."""

    bound: Fraction
    precision: str


def output_rounding(problem: Problem, network: Network) -> OutputRounding | None:
    """The bound for the arithmetic that the weights are numbers of: float32 where all are, else float64.

    Rounded up to two digits. None beyond the range of floats.
    """
    weights = list(chain(*network.parameters))
    precision, bits = next((kind for kind in PRECISIONS if _are_of(weights, kind[1])), PRECISIONS[-1])
    unit = 2.0**-bits
    targets = problem.data.targets
    roundings = sum(layer.columns + 1 for layer in network.architecture.layers)
    roundings += len(network.parameters) - len(network.architecture.layers)  # that of an output bias
    roundings += not all(_is_power_of_two(unit) and _are_short(row, bits) for row, unit in problem.points.rows)
    try:
        sizes = np.array([[abs(whole / unit) for whole in row] for row, unit in problem.points.rows])
        matrices = [
            np.array([[abs(to_float(value)) for value in row] for row in layer.matrix(parameters)])
            for layer, parameters in zip(network.architecture.layers, network.parameters, strict=False)
        ]
        bias = abs(to_float(network.output_bias))
        misses = np.array([0.0 if _are_of([y], bits) else unit * abs(to_float(y)) for y in targets])
    except OverflowError:
        return None
    with np.errstate(all="ignore"):
        for matrix in matrices:
            sizes = sizes @ matrix.T
        factor = roundings * unit / (1 - roundings * unit)
        bound = float((factor * (sizes[:, 0] + bias) + misses).max()) * ROOM
    return OutputRounding(Fraction(at_most(Fraction(bound), 2)), precision) if np.isfinite(bound) else None


def _are_of(numbers: Iterable[Fraction], bits: int) -> bool:
    """Whether every number is an integer of at most so many bits times a power of two."""
    ratios = [number.as_integer_ratio() for number in numbers]
    return all(_is_power_of_two(below) for _, below in ratios) and _are_short((whole for whole, _ in ratios), bits)


def _is_power_of_two(positive: int) -> bool:
    return not positive & (positive - 1)


def _are_short(numbers: Iterable[int], bits: int) -> bool:
    """Whether each is an integer of at most so many bits times a power of two."""
    return all(whole.bit_length() - (whole & -whole).bit_length() < bits for whole in numbers)
