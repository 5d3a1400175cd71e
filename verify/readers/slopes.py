"""The slope of the activation on the negative side, as users give it."""

from __future__ import annotations

import re
from fractions import Fraction

from verify.checker.errors import InputError
from verify.numbers.floats import to_float
from verify.numbers.values import rational

__all__ = ["in_range", "slope_given"]

_DECIMAL = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,3})?")


def slope_given(given: object) -> Fraction:
    """The slope that the user says. Raises InputError."""
    return in_range(_slope_number(given), "the slope given")


def in_range(slope: Fraction, place: str) -> Fraction:
    """The slope, when it is one."""
    if not 0 <= slope <= 1:
        raise InputError(f"{place} is {to_float(slope):.6g}: it must lie between 0 (ReLU) and 1 (linear)")
    return slope


def _slope_number(given: object) -> Fraction:
    # Text is exact as "p/q" or an integer; a decimal means the nearest double, as it would in Python source.
    if isinstance(given, str) and "/" not in given and _DECIMAL.fullmatch(given):
        return rational(float(given), "the slope given")
    try:
        return rational(given, "the slope given")
    except InputError:
        if not isinstance(given, str):
            raise
        remedy = "give a number, 0 for ReLU, 0.01 for the LeakyReLU of PyTorch, 1 for a linear network"
        raise InputError(f"the slope given is {given!r:.60}: {remedy}") from None
