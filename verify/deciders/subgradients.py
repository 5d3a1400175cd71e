"""The subdifferential of a loss at an output, as what a multiplier may be there; exactly, but for the logistic loss.

Source: `docs/mathematics.md`, 14.1 "Losses by their duals".
"""

from __future__ import annotations

from fractions import Fraction
from math import exp

from verify.checker.objectives import PointLoss
from verify.numbers.floats import to_float

__all__ = ["subgradients"]

FARTHEST = 700
"""Beyond this e^-q is 0 in floats, nearly."""


def subgradients(loss: PointLoss, target: Fraction, output: Fraction) -> tuple[Fraction, Fraction]:
    """The least and the greatest c with -c in the subdifferential of l(y, .) at z.

    Of the logistic loss, whose slope is irrational, one c that is near to it and admissible.
    """
    if not loss.is_exact:
        d = (loss.high or Fraction(0)) * _logistic_slope(target * output)
        return target * d, target * d
    rest = 1 - target * output if loss.labels else target - output
    found = [_end(loss, rest, side) for side in (-1, 1)]
    factor = target if loss.labels else Fraction(1)
    low, high = sorted(factor * d for d in found)
    return low, high


def _logistic_slope(q: Fraction) -> Fraction:
    """1 / (1 + e^q), nearly, from 0 to 1."""
    x = min(max(q, Fraction(-FARTHEST)), Fraction(FARTHEST))
    small = exp(-to_float(abs(x)))
    return Fraction((small if x > 0 else 1.0) / (1.0 + small))


def _end(loss: PointLoss, rest: Fraction, side: int) -> Fraction:
    """The least (side -1) or the greatest d at which d r - tube |d| - 1/2 curvature d^2 is largest within the ends."""
    shrunk = rest - min(max(rest, -loss.tube), loss.tube)
    if loss.curvature:
        ends = (loss.low, loss.high)
        d = shrunk / loss.curvature
        d = d if ends[0] is None else max(d, ends[0])
        return d if ends[1] is None else min(d, ends[1])
    low, high = loss.low or Fraction(0), loss.high or Fraction(0)
    if shrunk:
        return high if shrunk > 0 else low
    at_top, at_bottom = rest == loss.tube, rest == -loss.tube
    if side > 0:
        return high if at_top else Fraction(0)
    return low if at_bottom else Fraction(0)
