"""The end of a training: its margin, exactly, and its weights in floats.

Training ends at KKT residuals of 1e-5 relative to the norm. Margins at the end are exact, of the network with the
exact values of its floats; distances are in floats. The best margin is (1 + a)/4 times the linear one (Theorem 4.2).
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from solvers.arrays import Floats
from verify.checker.exact import dot
from verify.claims.lyu2021.symmetric import separator
from verify.claims.records import Instance, Judgement, failed, held
from verify.claims.trainings import margins
from verify.numbers.floats import to_float, to_floats, to_matrix
from verify.problem.problem import half_squared_norm

__all__ = ["ALLOWED", "CLOSE", "STOP_AT", "has_margin", "normalised", "unit_vector", "weights_in_floats"]


STOP_AT = 1e-5
"""KKT residuals at which training ends, relative to the norm."""


CLOSE = Fraction(1, 1000)
"""Of a margin: 100 times the residuals at the end, which a margin differs by to first order."""


ALLOWED = Fraction(3, 100)
"""Of directions and classifiers: ten times the square root of the residuals, which they differ by where margins do not
change to first order."""


def normalised(instance: Instance) -> Fraction:
    """min y_i f(x_i) / |theta|^2, exactly."""
    return min(margins(instance)) / (2 * half_squared_norm(instance.problem, instance.network))


def has_margin(end: Instance, share: Fraction) -> Judgement:
    """The normalised margin is this share of (1 + a) / (4 |w|), w least with y_i <w, x_i> >= 1."""
    w = separator(end)
    if w is None:
        return failed("no linear classifier fits")
    scaled = normalised(end) * 4 / (1 + end.slope)
    square = scaled * abs(scaled) * dot(w, w)  # of the share at the end
    low, high = (share * (1 - CLOSE)) ** 2, (share * (1 + CLOSE if share < 1 else 1)) ** 2
    reached = Fraction(to_float(abs(square)) ** 0.5).limit_denominator(10**9)
    words = f"the margin is {to_float(reached):.6f} of the best"
    return (held if low <= square <= high else failed)(words, measured=reached)


def weights_in_floats(instance: Instance) -> tuple[Floats, Floats]:
    """(W, v), shapes (m, d) and (m,)."""
    network = instance.network
    W = to_matrix(network.hidden_weights)
    return W, to_floats(network.output_weights)


def unit_vector(w: list[Fraction]) -> Floats:
    """w / |w|."""
    found = to_floats(w)
    return found / np.linalg.norm(found)
