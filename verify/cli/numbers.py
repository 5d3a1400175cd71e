"""Numbers on the command line, taken exactly."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any, final

import click

from verify.numbers.arguments import is_decimal

__all__ = ["Amount", "NumberType"]

_LONG = re.compile(r"([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?|[0-9]+/[0-9]*[1-9][0-9]*")
"""Numbers that are as they should be but for their size."""


@final
class NumberType(click.ParamType):
    """A decimal or a fraction, taken exactly: 1e-6 is one millionth, not the nearest double."""

    name = "number"

    def __init__(self, *, is_positive: bool = False) -> None:
        self.is_positive = is_positive

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> Fraction:
        """The number in `value`, refused when it is negative."""
        if isinstance(value, Fraction):
            return value
        text = str(value).strip()
        number = Fraction(text) if is_decimal(text) and not text.startswith("-") else None
        if number is None and _LONG.fullmatch(text):
            few = "has too many digits, or too large an exponent: take at most 40 digits and two of an exponent"
            raise click.BadParameter(f"{text!r:.60} {few}", ctx, param)
        if number is None or number < 0 or (self.is_positive and number == 0):
            least = "more than 0" if self.is_positive else "at least 0"
            raise click.BadParameter(f"{text!r:.60} is not a number of {least}, such as 1e-6 or 1/3", ctx, param)
        return number


@final
class Amount(click.FloatRange):
    """A positive number of seconds or minutes; inf is one, and nan, which is never reached, is not."""

    def __init__(self) -> None:
        super().__init__(min=0, min_open=True)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The number in `value`."""
        number = float(super().convert(value, param, ctx))
        if number != number:
            raise click.BadParameter(f"{value!r:.60} is no number", ctx, param)
        return number
