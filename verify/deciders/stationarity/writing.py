"""The certificate that a network is a KKT point, from its multipliers and kink products."""

from __future__ import annotations

from fractions import Fraction

from verify.checker.stationary import Stationary
from verify.deciders.stationarity.model import KktSubject
from verify.problem.problem import Problem

__all__ = ["stationary"]


def stationary(
    problem: Problem,
    subject: KktSubject,
    multipliers: dict[int, Fraction],
    products: dict[tuple[int, int], Fraction],
    epsilon: Fraction,
    delta: Fraction,
) -> Stationary:
    """The certificate; the two constraints that a point has within a fit tolerance become one signed multiplier."""
    slope, points = problem.architecture.slope, len(problem.rows)
    found: dict[int, Fraction] = {}
    slopes: dict[tuple[int, int], Fraction] = {}  # what the products have beyond slope times the multiplier
    for i, multiplier in multipliers.items():
        sign = -1 if i >= points else 1
        found[i % points] = found.get(i % points, Fraction(0)) + sign * multiplier
    for (i, j), product in products.items():
        sign = -1 if i >= points else 1
        beyond = sign * (product - slope * multipliers.get(i, Fraction(0)))
        slopes[i % points, j] = slopes.get((i % points, j), Fraction(0)) + beyond
    return Stationary(
        subject=subject.parameters,
        moved=subject.moved,
        multipliers=tuple((i, found[i]) for i in sorted(found) if found[i]),
        kink_products=tuple((i, j, slopes[i, j] + slope * found[i]) for i, j in sorted(slopes) if slopes[i, j]),
        epsilon=epsilon,
        delta=delta,
    )
