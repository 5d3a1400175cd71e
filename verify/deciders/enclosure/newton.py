"""A root of the equations of a KKT point: Newton's method in floats, then exact residuals down to any precision."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction

import numpy as np

from solvers.arrays import Floats
from verify.checker.krawczyk import NO_LOGITS, Box, Equation, Logit
from verify.deciders.rounding import dyadic
from verify.deciders.time_limits import poll
from verify.numbers.counts import count
from verify.numbers.floats import to_float

__all__ = ["Root", "SingularSystemError", "find_root"]


STEPS = 30
REFINEMENTS = 12
DIGITS = Context(prec=60)
RADIUS_BITS = 96
"""The radii are this many bits below the sizes of the unknowns, the grid of the centre a third more."""

NEARER = 0.1
"""To which part of its distance from an end an unknown of a logit may come in a step."""

INEXACT = 2.0**-10
"""How inexact the product of the inverse with the Jacobian may be made by its rounding, in units of the unknowns."""

LEAST, MOST = 1e-100, 1.0 - 1e-15
"""Unknowns of logits are kept between these parts of their range."""

CONDITION = 1e13
"""A Jacobian whose condition is larger, in units of the unknowns, is called singular."""


class SingularSystemError(ArithmeticError):
    """The Jacobian is singular: the equations do not determine the point. `nullity`: by how many unknowns."""

    def __init__(self, nullity: int) -> None:
        super().__init__(f"the equations leave {count(nullity, 'unknown')} open")
        self.nullity = nullity


@dataclass(frozen=True, slots=True)
class Root:
    """centre, radii: a box for `Box`; inverse over denominator: an approximate inverse of the Jacobian."""

    centre: tuple[Fraction, ...]
    radii: tuple[Fraction, ...]
    inverse: tuple[tuple[int, ...], ...]
    denominator: int


def find_root(
    equations: Sequence[Equation], start: Floats, sizes: Floats, logits: Mapping[int, Logit] = NO_LOGITS
) -> Root | None:
    """The root near `start` (length N): None where Newton's method does not get there; SingularSystemError.

    logits: as in `verify.checker.krawczyk.has_root`.

    sizes (N,): how large each unknown may be taken to be; what is small is measured by them.
    """
    system = _FloatSystem(equations, len(start), logits)
    z, best = system.within(start, None), np.inf
    for _ in range(STEPS):
        poll()
        values, jacobian = system(z)
        inverse = _inverse(jacobian, sizes)
        step = inverse @ values
        length = float(np.abs(step / sizes).max(initial=0.0))
        if not np.isfinite(length) or length > 10:
            return None
        z = system.within(z - step, z)
        if length < 1e-15 or (length < 1e-9 and length > best / 2):
            break
        best = min(best, length)
    else:
        return None
    _, jacobian = system(z)
    inverse = _inverse(jacobian, sizes)
    centre = _refined(equations, [Fraction(float(value)) for value in z], inverse, sizes, logits)
    if centre is None:
        return None
    radii = tuple(Fraction(2) ** (int(np.ceil(np.log2(size))) - RADIUS_BITS) for size in sizes)
    denominator, integers = _integers(inverse, np.abs(jacobian) @ sizes, sizes)
    return Root(centre, radii, integers, denominator)


class _FloatSystem:
    """The equations as arrays: value and Jacobian at a float point."""

    def __init__(self, equations: Sequence[Equation], size: int, logits: Mapping[int, Logit]) -> None:
        pairs = [(place, a, b) for place, equation in enumerate(equations) for a, b in equation]
        self._at = np.array([place for place, _, _ in pairs], int)
        self._left, self._right = np.zeros((len(pairs), size + 1)), np.zeros((len(pairs), size + 1))
        for line, (_, a, b) in enumerate(pairs):
            for k, value in a.items():
                self._left[line, k] = to_float(value)
            for k, value in b.items():
                self._right[line, k] = to_float(value)
        self._count = len(equations)
        self._places = np.array(list(logits), int)
        self._unknowns = np.array([one.unknown - 1 for one in logits.values()], int)
        self._most = np.array([to_float(one.most) for one in logits.values()])
        self._factors = np.array([to_float(one.factor) for one in logits.values()])

    def within(self, z: Floats, before: Floats | None) -> Floats:
        """The same with the unknowns of logits between their ends, and no nearer to one than `NEARER` of before."""
        kept, k, most = z.copy(), self._unknowns, self._most
        low, high = LEAST * most, MOST * most
        if before is not None:
            low, high = np.maximum(low, NEARER * before[k]), np.minimum(high, most - NEARER * (most - before[k]))
        kept[k] = np.clip(z[k], low, high)
        return kept

    def __call__(self, z: Floats) -> tuple[Floats, Floats]:
        lifted = np.concatenate([[1.0], z])
        left, right = self._left @ lifted, self._right @ lifted
        values = np.zeros(self._count)
        np.add.at(values, self._at, left * right)
        jacobian = np.zeros((self._count, len(lifted)))
        np.add.at(jacobian, self._at, self._left * right[:, None] + self._right * left[:, None])
        inner = z[self._unknowns]
        values[self._places] += self._factors * (np.log(self._most - inner) - np.log(inner))
        jacobian[self._places, self._unknowns + 1] -= self._factors * (1.0 / inner + 1.0 / (self._most - inner))
        return values, jacobian[:, 1:]


def _inverse(jacobian: Floats, sizes: Floats) -> Floats:
    """The inverse, computed in units of the unknowns with rows of norm 1; SingularSystemError when it is singular."""
    scaled = jacobian * sizes
    rows = np.linalg.norm(scaled, axis=1)
    if not np.isfinite(scaled).all() or not rows.all():
        raise SingularSystemError(int((~(rows > 0)).sum()))
    scaled = scaled / rows[:, None]
    try:
        inverse = np.linalg.inv(scaled)
        condition = float(np.linalg.norm(scaled) * np.linalg.norm(inverse))  # no less than that of singular values
    except np.linalg.LinAlgError:
        inverse, condition = scaled, np.inf
    if not condition < CONDITION:
        spread = np.linalg.svd(scaled, compute_uv=False)
        if spread[-1] * CONDITION < spread[0]:
            raise SingularSystemError(int((spread * 1e9 < spread[0]).sum()))
    return sizes[:, None] * inverse / rows


def _refined(
    equations: Sequence[Equation],
    centre: list[Fraction],
    inverse: Floats,
    sizes: Floats,
    logits: Mapping[int, Logit],
) -> tuple[Fraction, ...] | None:
    """The centre corrected by exact residuals until the correction is far below the radii, on a dyadic grid."""
    units = [Fraction(2) ** (int(np.ceil(np.log2(size))) - RADIUS_BITS * 4 // 3) for size in sizes]
    for _ in range(REFINEMENTS):
        poll()
        box = Box((Fraction(1), *centre), (Fraction(0),) * (len(centre) + 1))
        values = [
            sum((box.around(a)[0] * box.around(b)[0] for a, b in equation), Fraction(0)) for equation in equations
        ]
        for place, one in logits.items():
            values[place] += _value(one, centre[one.unknown - 1])
        largest = max(map(abs, values), default=Fraction(0))
        if largest == 0:
            return tuple(centre)
        step = inverse @ np.array([to_float(value / largest) for value in values])  # residuals may be below floats
        steps = [dyadic(float(value), 60) * largest for value in step]
        centre = [round((c - s) / unit) * unit for c, s, unit in zip(centre, steps, units, strict=True)]
        if all(abs(s) < 2 * unit for s, unit in zip(steps, units, strict=True)):
            return tuple(centre)
    return None


def _value(one: Logit, z: Fraction) -> Fraction:
    """Of a logit, to so many digits that the centre is as exact as its grid; 0 where it has none."""
    if not 0 < z < one.most:
        return Fraction(0)
    ratio = (one.most - z) / z
    quotient = DIGITS.divide(Decimal(ratio.numerator), Decimal(ratio.denominator))
    return one.factor * Fraction(DIGITS.ln(quotient))


def _integers(inverse: Floats, changes: Floats, sizes: Floats) -> tuple[int, tuple[tuple[int, ...], ...]]:
    """The inverse over a denominator, with more bits where that makes a product with the Jacobian much less exact.

    changes (N,): of the equations, at most, where each unknown changes by its size.
    """
    largest = float(np.abs(inverse).max(initial=1e-300))
    apart = len(sizes) * changes.max(initial=1e-300) / sizes.min(initial=1.0) / INEXACT
    denominator = 1 << max(0, 60 - int(np.floor(np.log2(largest))), int(np.ceil(np.log2(apart))))
    return denominator, tuple(tuple(round(Fraction(float(value)) * denominator) for value in row) for row in inverse)
