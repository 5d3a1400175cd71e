"""Yardsticks: the trajectories d alpha/dt = s |alpha| gamma_I, I the points with alpha.x_i > 0, exactly.

gamma_I = 1/n sum_{i in I} y_i x_i. While I stays, alpha moves in the plane of its start and gamma_I, along the
directions start + s r gamma_I, r from 0 on: it meets the kink of x_i at a rational r, and the direction there is
rational. So the order of the kinks is decided exactly, and only the times are floats, by

    tan(phi / 2) = tan(phi_0 / 2) exp(-s |gamma_I| t),   |alpha| sin(phi) = |alpha_0| sin(phi_0),

phi being the angle to gamma_I.

Source: arXiv:2306.06479, section 3 (the yardsticks); the closed form is ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import exp, log, sqrt
from typing import final

from verify.checker.exact import dot
from verify.numbers.floats import to_float

__all__ = ["Stage", "half_tangent", "log_growth", "pull", "yardstick"]

_Vector = Sequence[Fraction]


@final
@dataclass(frozen=True, slots=True)
class Stage:
    """The way of a yardstick until the next kink.

    start: a positive multiple of alpha at its beginning.   active: I.   pull: gamma_I.   end: a positive multiple of
    alpha at its end, None when no kink is met any more.   points: those whose kinks are met there.
    """

    start: list[Fraction]
    active: frozenset[int]
    pull: list[Fraction]
    end: list[Fraction] | None
    points: frozenset[int]

    @property
    def duration(self) -> float:
        """The time from start to end."""
        if self.end is None:
            return float("inf")
        angles = half_tangent(self.start, self.pull), half_tangent(self.end, self.pull)
        return abs(log(angles[0] / angles[1])) / sqrt(to_float(dot(self.pull, self.pull)))

    def growth(self, sign: int, time: float) -> float:
        """log |alpha| at a time since the start, minus that at the start; 0 when nothing pulls."""
        if not self.active:
            return 0.0
        first = half_tangent(self.start, self.pull)
        turned = sign * sqrt(to_float(dot(self.pull, self.pull))) * time
        return log((1 + (first * exp(-turned)) ** 2) / (1 + first**2)) + turned


def pull(
    rows: Sequence[_Vector], targets: Sequence[Fraction], active: Sequence[int] | frozenset[int] | None = None
) -> list[Fraction]:
    """gamma_I, of all points where no I is given."""
    chosen = range(len(rows)) if active is None else sorted(active)
    return [sum((targets[i] * rows[i][c] for i in chosen), Fraction(0)) / len(rows) for c in range(len(rows[0]))]


def half_tangent(a: _Vector, b: _Vector) -> float:
    """tan of half the angle between two vectors, which no cancellation spoils near 0."""
    product, squares = dot(a, b), dot(a, a) * dot(b, b)
    size, along = sqrt(to_float(squares)), to_float(product)
    across = sqrt(to_float(squares - product * product))
    return across / (size + along) if along >= 0 else (size - along) / across


def yardstick(z: _Vector, sign: int, rows: Sequence[_Vector], targets: Sequence[Fraction]) -> list[Stage]:
    """The stages from z on, the last without an end; z may be on no kink.

    Ends also after a stage at whose end several kinks are met at once, or where alpha turns back at a kink: there it
    has no unique continuation, or slides. Such a stage is the last one and has an end.
    """
    stages: list[Stage] = []
    start = list(z)
    products = [dot(start, x) for x in rows]
    active = frozenset(i for i, value in enumerate(products) if value > 0)
    while True:
        force = pull(rows, targets, active)
        rates = [sign * dot(force, x) for x in rows]
        meetings = {i: -a / g for i, (a, g) in enumerate(zip(products, rates, strict=True)) if a * g < 0}
        if not meetings:
            return [*stages, Stage(start, active, force, None, frozenset())]
        ratio = min(meetings.values())
        points = frozenset(i for i, r in meetings.items() if r == ratio)
        end = [a + sign * ratio * b for a, b in zip(start, force, strict=True)]
        if not any(end):  # alpha is opposite to s gamma and shrinks for ever
            return [*stages, Stage(start, active, force, None, frozenset())]
        stages.append(Stage(start, active, force, end, points))
        after = active ^ points
        new = pull(rows, targets, after)
        if len(points) > 1 or any((sign * dot(new, rows[i]) > 0) is not (i in after) for i in points if after):
            return stages
        start, active = end, after
        products = [dot(start, x) for x in rows]


def log_growth(stages: Sequence[Stage], sign: int, time: float) -> float:
    """log of |alpha| / |z| at a time, of a yardstick that meets its kinks one by one."""
    total = 0.0
    for stage in stages:
        total += stage.growth(sign, min(time, stage.duration))
        time -= stage.duration
        if time <= 0:
            break
    return total
