"""A KKT point on a line in floats becomes an exact one with rational weights, if its equations can be solved in turn.

The directions e_j are rounded to rational points of the circle, which fixes the points on kinks. For fixed directions
the partial sums V_k = sum_{i > k} mu_i x~_i, with V_0 = T, are given by linear equations: V_k = s e for a right-facing
neuron in the gap k, T - V_k = s e for a left-facing one; on the kink at the k-th point e.V_k = e.V_{k-1} = s, or the
same for T - V. From them come mu_i x~_i = V_{i-1} - V_i, hence the points and multipliers; then y_i f(x_i) = 1 is
linear in the sizes a_j, which are split into sums of rational squares: several neurons of one direction.

Incomplete: where there are more equations than unknowns, rational directions need not solve them, and nothing is
returned: three unit vectors with sum 0 are never rational, which is why 4 linear regions with one label are not found.
What is returned is exact.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import pairwise
from math import isqrt

import numpy as np
from numpy.typing import NDArray

from verify.deciders.rounding import solve_exactly
from verify.problem.network import Network
from verify.problem.problem import Bias, Dataset, Goal, Problem
from verify.strategies.kkt import KKTPoint
from verify.strategies.line_equations import LineEquations
from verify.strategies.line_patterns import Place

__all__ = ["exact_line_point"]

_DENOMINATORS = (4, 10, 30, 100, 1000, 10**5)
_ROUNDED = 10**6
_Vector = tuple[Fraction, Fraction]


def exact_line_point(equations: LineEquations, z: NDArray[np.float64]) -> KKTPoint | None:
    """An exact KKT point of this pattern near a root z, with numbers as short as they come; None when none is found."""
    for denominator in _DENOMINATORS:
        found = _attempt(equations, z, denominator)
        if found is not None:
            return found
    return None


def _attempt(equations: LineEquations, z: NDArray[np.float64], denominator: int) -> KKTPoint | None:
    labels, places = equations.labels, equations.places
    floats = equations.values(z)
    units = _units(len(labels), places, floats.breaks.tolist(), denominator)
    if any(e[0] == 0 for e in units):
        return None
    near = floats.multipliers[:, None] * np.c_[floats.points, np.ones(len(labels))]
    sums = _sums(len(labels), places, units, np.cumsum(near[::-1], axis=0)[::-1])
    if sums is None:
        return None
    steps = [(a[0] - b[0], a[1] - b[1]) for a, b in pairwise(sums)]
    if any(step[1] * label <= 0 for step, label in zip(steps, labels, strict=True)):
        return None
    points = [step[0] / step[1] for step in steps]
    if any(a >= b for a, b in pairwise(points)):
        return None
    slopes = _slopes(places, units, sums, points)
    if slopes is None:
        return None
    lifted = [(x, Fraction(1)) for x in points]
    table = [
        [place.sign * max(e[0] * x + e[1], Fraction(0)) for place, e in zip(places, units, strict=True)]
        for x, _ in lifted
    ]
    sizes = _near(table, [Fraction(label) for label in labels], floats.sizes.tolist())
    if sizes is None or min(sizes) <= 0:
        return None
    return _made(labels, places, units, points, [step[1] for step in steps], slopes, sizes)


def _units(n: int, places: Sequence[Place], breaks: Sequence[float], denominator: int) -> list[_Vector]:
    """Rational e_j near the floats. Where the outermost point is alone in a smooth partial sum, its kink is given."""
    tilts: dict[tuple[int, int], Fraction] = {}  # half the angle of the right-facing direction, as a tangent
    units: list[_Vector] = []
    for place, t in zip(places, breaks, strict=True):
        spot = (0 if place.is_kink else place.facing, place.at)
        if spot not in tilts:
            cosine = 1 / (1 + t * t) ** 0.5
            tilts[spot] = Fraction(-t * cosine / (1 + cosine)).limit_denominator(denominator)
        u = tilts[spot]
        e = ((1 - u * u) / (1 + u * u), 2 * u / (1 + u * u))
        units.append((place.facing * e[0], place.facing * e[1]))
    for j, place in enumerate(places):
        if place.spot in ((1, 1), (-1, 2 * n - 1)):
            smooth = (-place.facing, 2 if place.facing > 0 else 2 * n - 2)
            for other, e in zip(places, units, strict=True):
                if other.spot == smooth and e[1]:
                    turned = (e[1], -e[0]) if e[1] * place.facing > 0 else (-e[1], e[0])
                    units[j] = turned
    return units


def _sums(n: int, places: Sequence[Place], units: Sequence[_Vector], near: NDArray[np.float64]) -> list[_Vector] | None:
    """V_0, .., V_n, V_n = 0, that satisfy the equations, near the given ones."""
    lines: list[list[Fraction]] = []
    right: list[Fraction] = []

    def add(place: Place, k: int, line: _Vector, value: Fraction) -> None:
        row = [Fraction(0)] * (2 * n + 2)
        for c in (0, 1):
            row[2 * k + c] += place.facing * line[c]
            if place.facing < 0:
                row[c] += line[c]
        lines.append(row[: 2 * n])
        right.append(value)

    for place, e in zip(places, units, strict=True):
        if place.is_kink:
            for k in ((place.at - 1) // 2, (place.at + 1) // 2):
                add(place, k, e, Fraction(place.sign))
        else:
            for line, value in zip(((Fraction(1), Fraction(0)), (Fraction(0), Fraction(1))), e, strict=True):
                add(place, place.at // 2, line, place.sign * value)
    found = _near(lines, right, near.ravel().tolist())
    if found is None:
        return None
    return [(found[2 * k], found[2 * k + 1]) for k in range(n)] + [(Fraction(0), Fraction(0))]


def _near(matrix: list[list[Fraction]], right: list[Fraction], start: Sequence[float]) -> list[Fraction] | None:
    """A solution near floats: the free unknowns keep their rounded values."""
    rounded = [Fraction(round(value * _ROUNDED), _ROUNDED) for value in start]
    rest = [b - sum(p * q for p, q in zip(line, rounded, strict=True)) for line, b in zip(matrix, right, strict=True)]
    change = solve_exactly(matrix, rest)
    return None if change is None else [p + q for p, q in zip(rounded, change, strict=True)]


def _slopes(
    places: Sequence[Place], units: Sequence[_Vector], sums: Sequence[_Vector], points: Sequence[Fraction]
) -> list[Fraction] | None:
    """The slopes on kinks (0 for the others); None when one is not in [0, 1] or a breakpoint is not in its place."""
    found: list[Fraction] = []
    n = len(points)
    for place, e in zip(places, units, strict=True):
        t, k = -e[1] / e[0], place.at // 2
        if not place.is_kink:
            if (k > 0 and t <= points[k - 1]) or (k < n and t >= points[k]):
                return None
            found.append(Fraction(0))
            continue
        if t != points[k]:
            return None
        before, after = (sums[k + 1], sums[k]) if place.facing > 0 else (_minus(sums, k), _minus(sums, k + 1))
        share = (place.sign * e[1] - before[1]) / (after[1] - before[1])
        if not 0 <= share <= 1:
            return None
        found.append(share)
    return found


def _minus(sums: Sequence[_Vector], k: int) -> _Vector:
    return sums[0][0] - sums[k][0], sums[0][1] - sums[k][1]


def _made(
    labels: Sequence[int],
    places: Sequence[Place],
    units: Sequence[_Vector],
    points: Sequence[Fraction],
    multipliers: Sequence[Fraction],
    slopes: Sequence[Fraction],
    sizes: Sequence[Fraction],
) -> KKTPoint:
    parts = [(j, r) for j, size in enumerate(sizes) for r in squares(size)]
    network = Network.two_layer(
        [[r * units[j][0]] for j, r in parts],
        [places[j].sign * r for j, r in parts],
        b=[r * units[j][1] for j, r in parts],
    )
    data = Dataset([[x] for x in points], list(labels))
    problem = Problem(data, network.architecture, goal=Goal.MAX_MARGIN, bias=Bias.PENALISED)
    products = tuple(
        (place.at // 2, q, abs(multipliers[place.at // 2]) * slopes[j])
        for q, (j, _) in enumerate(parts)
        if (place := places[j]).is_kink
    )
    return KKTPoint(problem, network, tuple(abs(value) for value in multipliers), products)


def squares(number: Fraction) -> list[Fraction]:
    """Positive rationals whose squares sum to a positive rational: at most four where a prime turns up, as a rule.

    p/q = p q / q^2; from a whole number none, one or two squares are taken away until a prime 1 mod 4, or twice one, is
    left, which is a sum of two squares. When none turns up, the largest square again and again, which always ends.
    """
    whole = number.numerator * number.denominator
    return [Fraction(root, number.denominator) for root in _whole_squares(whole)]


def _whole_squares(whole: int) -> list[int]:
    if whole % 4 == 0:
        return [2 * root for root in _whole_squares(whole // 4)]
    for some in _starts(whole):
        rest = whole - sum(root * root for root in some)
        if rest == 0:
            return some
        pair = _two_squares(rest)
        if pair is not None:
            return [*some, *(root for root in pair if root)]
    found: list[int] = []
    while whole:
        found.append(isqrt(whole))
        whole -= found[-1] ** 2
    return found


def _starts(whole: int) -> Iterator[list[int]]:
    """Nothing, one or two roots to take away first."""
    top = isqrt(whole)
    yield []
    yield from ([top - q] for q in range(min(top, 200)))
    for p in range(1, min(top, 20)):
        inner = isqrt(whole - p * p)
        yield from ([p, inner - q] for q in range(min(inner, 40)))


def _two_squares(number: int) -> tuple[int, int] | None:
    """(a, b) with a^2 + b^2 = number when it is a prime 1 mod 4, or twice or a square times one; else mostly None."""
    if number % 2 == 0:
        half = _two_squares(number // 2)
        return None if half is None else (abs(half[0] - half[1]), half[0] + half[1])
    if isqrt(number) ** 2 == number:
        return isqrt(number), 0
    if number % 4 != 1 or pow(2, number - 1, number) != 1:
        return None
    for base in range(2, 40):
        root = pow(base, (number - 1) // 4, number)
        if root * root % number == number - 1:
            a, b = number, root
            while b * b > number:
                a, b = b, a % b
            other = isqrt(number - b * b)
            return (b, other) if b * b + other * other == number else None
    return None
