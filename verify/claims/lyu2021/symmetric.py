"""Separable symmetric data, and their max-margin separator.

Source: arXiv:2110.13905, Assumptions 3.2, 4.1 and 4.5.
"""

from __future__ import annotations

from fractions import Fraction

from verify.checker.exact import dot
from verify.claims.exact_programs import least_norm
from verify.claims.predicates import is_fully_connected, is_margin_problem
from verify.claims.records import Instance
from verify.strategies import mean_signed

__all__ = ["SYMMETRIC", "Vector", "is_general", "is_leaky", "is_separable", "is_symmetric", "separator"]

Vector = list[Fraction]


def is_leaky(instance: Instance) -> bool:
    """A max-margin problem of a network without biases and masks, of a slope strictly between 0 and 1."""
    return is_margin_problem(instance) and is_fully_connected(instance) and 0 < instance.slope < 1


def is_general(instance: Instance) -> bool:
    """<mu, x_i> != 0 at every point."""
    mu = mean_signed(instance.data)
    return all(dot(mu, row) for row in instance.data.inputs)


def _signed(instance: Instance) -> list[Vector]:
    data = instance.data
    return [[y * x for x in row] for row, y in zip(data.inputs, data.targets, strict=True)]


def separator(instance: Instance) -> Vector | None:
    """The w of least norm with y_i w.x_i >= 1; 1 / |w| is the linear margin."""
    rows = _signed(instance)
    found = least_norm([], [], rows, [Fraction(1)] * len(rows))
    return None if found is None else found[0]


def is_separable(instance: Instance) -> bool:
    """Some w has y_i w.x_i > 0 at every point."""
    return separator(instance) is not None


def is_symmetric(instance: Instance) -> bool:
    """With each point its antipode, labelled oppositely."""
    data = instance.data
    points = {(row, y) for row, y in zip(data.inputs, data.targets, strict=True)}
    return all((tuple(-x for x in row), -y) in points for row, y in points)


SYMMETRIC = {"symmetric": is_symmetric, "separable": is_separable}
