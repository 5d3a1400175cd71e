"""Krawczyk's test: whether a system of equations has a zero within a box, in exact arithmetic.

The equations are sums of products of two linear forms in the unknowns, and of logits of single unknowns. A logit is
irrational, and is enclosed; everything else is exact.

Sound; incomplete: a zero is found where the Jacobian is regular and the box narrow enough.

Source: R. Krawczyk, Computing 4 (1969); `docs/mathematics.md`, 8.2 "Krawczyk's test" and 14.10 "Stationary points of a
loss near a network".
"""

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import chain
from math import lcm
from operator import mul
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

from verify.checker.exact import common_integers
from verify.checker.logarithms import logit

Form: TypeAlias = dict[int, Fraction]
"""A linear form in the unknowns z_1, z_2, ...; the key 0 stands for the constant, z_0 = 1."""

Equation: TypeAlias = Sequence[tuple[Form, Form]]
"""A sum of products of two forms, to be 0."""

ZERO, ONE = Fraction(0), Fraction(1)
UNIT: Form = {0: ONE}


def combined(terms: Iterable[tuple[Fraction | int, Form]]) -> Form:
    """The linear combination of forms."""
    total, unit = in_integers(terms)
    return {k: Fraction(p, unit) for k, p in total.items()}


def in_integers(terms: Iterable[tuple[Fraction | int, Form]]) -> tuple[dict[int, int], int]:
    """The linear combination of forms: integers, and what they are over, a common denominator of all that is added."""
    kept = [(factor, form, lcm(*{a.denominator for a in form.values()})) for factor, form in terms]
    unit = lcm(*(factor.denominator * own for factor, _, own in kept))
    total: dict[int, int] = {}
    for factor, form, own in kept:
        by = factor.numerator * (unit // (factor.denominator * own))
        for k, a in form.items():
            total[k] = total.get(k, 0) + by * a.numerator * (own // a.denominator)
    return total, unit


class Box:
    """All z with |z_k - centre_k| <= radii_k; z_0 = 1 stands for the constant, with radius 0."""

    def __init__(self, centre: Sequence[Fraction], radii: Sequence[Fraction]) -> None:
        self.centre, self.radii = centre, radii
        (self._centre, self._radii), self._unit = common_integers([centre, radii])

    def around(self, form: Form) -> tuple[Fraction, Fraction]:
        """The value of the form at the centre, and the most by which it changes within the box.

        In integers: a_k = p_k / unit, and the centre and the radii are integers over a unit of their own.
        """
        unit = lcm(*(a.denominator for a in form.values()))
        whole, value, change = unit * self._unit, 0, 0
        for k, a in form.items():
            p = a.numerator * (unit // a.denominator)
            value += p * self._centre[k]
            change += abs(p) * self._radii[k]
        return Fraction(value, whole), Fraction(change, whole)

    def range(self, form: Form) -> tuple[Fraction, Fraction]:
        """The least and the greatest value of the form on the box."""
        value, change = self.around(form)
        return value - change, value + change


class Logit(NamedTuple):
    """factor * log((most - z) / z), z the unknown of this number, 0 < z < most."""

    unknown: int
    most: Fraction
    factor: Fraction

    def around(self, box: Box) -> tuple[Fraction, Fraction, Fraction] | None:
        """The value at the centre, the slope there, and by how much at most it differs from what these say on the box.

        None where the box leaves 0 < z < most. With L(z) = log((most - z) / z), L' = -1 / z - 1 / (most - z) and
        L'' = 1 / z^2 - 1 / (most - z)^2, so that |L''| is at most the larger of the two at the nearer ends. L' is
        rounded, which counts as well: numbers of one denominator for all equations are short.
        """
        z, radius = box.centre[self.unknown], box.radii[self.unknown]
        nearest = min(z - radius, self.most - z - radius)
        if nearest <= 0:
            return None
        low, high = logit(z / self.most)
        slope = -_rounded_up(1 / z + 1 / (self.most - z))
        beside = (high - low) / 2 + _rounded_up(radius**2 / nearest**2 / 2) + _GRID * radius
        return self.factor * (low + high) / 2, self.factor * slope, abs(self.factor) * beside


_GRID = Fraction(1, 1 << 256)


def _rounded_up(number: Fraction) -> Fraction:
    """To a multiple of the grid, less than one step of it above."""
    return -(-number // _GRID) * _GRID


NO_LOGITS: Mapping[int, Logit] = MappingProxyType({})


def has_root(
    equations: Sequence[Equation],
    box: Box,
    inverse: Sequence[Sequence[int]],
    denominator: int,
    logits: Mapping[int, Logit] = NO_LOGITS,
) -> bool:
    """Whether Krawczyk's test with Y = inverse / denominator shows a zero of F inside the box.

    logits: what is added to some of the equations, by their places.

    With h = z - centre, F(z) = F + J h + B(h), |B(h)| at most the sum of the products of the forms' changes, and for
    logits of what their second derivatives and their rounding allow. So
    |z - Y F(z) - centre| <= |Y F| + |I - Y J| r + |Y| |B|, r the radii. Where that is < r the map takes the box into
    itself and has a fixed point (Brouwer), a zero of F because Y is invertible: |I - Y J| r < r.
    """
    size, ends, lines = len(box.radii), list[list[Fraction]](), list[tuple[dict[int, int], int]]()
    for place, equation in enumerate(equations):  # F and the bound of B; the Jacobian
        parts = [(a, *box.around(a), b, *box.around(b)) for a, b in equation]
        slopes = chain.from_iterable(((at_b, a), (at_a, b)) for a, at_a, _, b, at_b, _ in parts)
        value = sum((at_a * at_b for _, at_a, _, _, at_b, _ in parts), ZERO)
        bound = sum((in_a * in_b for _, _, in_a, _, _, in_b in parts), ZERO)
        if place in logits:
            more = logits[place].around(box)
            if more is None:
                return False
            value, bound = value + more[0], bound + more[2]
            slopes = chain(slopes, [(more[1], {logits[place].unknown: ONE})])
        ends.append([value, bound])
        lines.append(in_integers(slopes))
    _, unit = common_integers([*ends, [Fraction(1, own) for _, own in lines]])
    columns = list(zip(*([int(unit * z) for z in pair] for pair in ends), strict=True))
    columns += [tuple(line.get(k, 0) * (unit // own) for line, own in lines) for k in range(1, size)]
    whole = unit * denominator
    (radii,), of_radii = common_integers([box.radii[1:]])
    for k, row in enumerate(inverse):
        step = abs(sum(map(mul, row, columns[0]))) + sum(map(mul, map(abs, row), columns[1]))
        image = [(q == k) * whole - sum(map(mul, row, column)) for q, column in enumerate(columns[2:])]
        if not step * of_radii + sum(map(mul, map(abs, image), radii)) < whole * radii[k]:
            return False
    return min(radii, default=1) > 0
