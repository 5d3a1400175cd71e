"""Patterns of KKT points on a line: which live neurons there are, of which sign, between or on which points.

Max-margin on a line, ReLU, a penalised bias. With x~ = (x, 1), mu_i = lambda_i y_i and h(e) = sum_i mu_i relu(e.x~_i)
on the unit circle, a live neuron w_j = r_j e_j, v_j = s_j r_j is stationary exactly when e_j is a (Clarke) critical
point of h with h(e_j) = s_j. So a KKT point is: multipliers, critical points of h on the levels +1 and -1, and sizes
a_j = r_j^2 > 0 with y_i f(x_i) = 1 wherever lambda_i > 0.

A neuron faces right (it is on at the points right of its breakpoint) or left. Between two neighbouring points, and on
each point (a kink), each facing has at most one critical point: that is a `Place`. As a function of the angle,
h'' + h = sum_i mu_i |x~_i| delta_i, so that Sturm's comparison limits what can go together (`is_plausible`): in a
stretch of one label y the critical points of one facing have one sign; if it is -y there is only one; a smooth one has
no other next to it; from the end where the facing is off, h changes its sign at most as often as the labels. For f:
between two points its slope needs the right sign, and a stretch inside needs a bend towards zero. All of this is
necessary, and nothing of it is sufficient: patterns are only where a search begins.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

__all__ = ["Place", "breakpoints", "is_plausible", "places_of"]


class Place(NamedTuple):
    """A neuron: facing 1 (right) or -1 (left), sign of v_j, and where its breakpoint is.

    at: 2k for the gap after k points, k = 0, .., n, and 2k - 1 for the k-th point, k = 1, .., n.
    """

    facing: int
    sign: int
    at: int

    @property
    def is_kink(self) -> bool:
        """On a point."""
        return self.at % 2 == 1

    @property
    def spot(self) -> tuple[int, int]:
        """Without the sign."""
        return self.facing, self.at

    def sees(self, i: int) -> bool:
        """Whether it is on at the i-th point, counted from 0; False on its kink."""
        own = 2 * i + 1
        return own > self.at if self.facing > 0 else own < self.at


def places_of(points: int) -> list[tuple[int, int]]:
    """The spots (facing, at) where a neuron can be live; one that is off everywhere is not."""
    right = [(1, at) for at in range(2 * points - 1)]
    return right + [(-1, at) for at in range(2, 2 * points + 1)]


def breakpoints(places: Sequence[Place]) -> int:
    """How many breakpoints there are: two neurons share one only on the same point."""
    return len({(0 if place.is_kink else place.facing, place.at) for place in places})


def is_plausible(labels: Sequence[int], places: Sequence[Place]) -> bool:
    """Whether the necessary conditions above hold."""
    n, stretches = len(labels), _stretches(labels)
    if sum(place.at in (0, 2 * n) for place in places) > 1:  # h is one sinusoid where all points are on
        return False
    left = sorted((at, sign) for facing, sign, at in places if facing < 0)
    right = sorted((2 * n - at, sign) for facing, sign, at in places if facing > 0)
    if not (_starts_well(labels, left) and _starts_well(labels[::-1], right)):
        return False
    for first, last, label in stretches:
        inside = [place for place in places if 2 * first <= place.at <= 2 * last + 2]
        for facing in (1, -1):
            signs = sorted((at, sign) for side, sign, at in inside if side == facing)
            if len({sign for _, sign in signs}) > 1 or (len(signs) > 1 and signs[0][1] != label):
                return False
            if any(b - a == 1 for (a, _), (b, _) in pairwise(signs)):
                return False
        if first > 0 and last < n - 1 and all(place.sign == label for place in inside):
            return False
    return all(_can_move(labels, places, i) for i in range(n - 1))


def _stretches(labels: Sequence[int]) -> list[tuple[int, int, int]]:
    """(first point, last point, label) of each stretch of one label."""
    starts = [i for i in range(len(labels)) if i == 0 or labels[i] != labels[i - 1]]
    return [(a, b - 1, labels[a]) for a, b in pairwise([*starts, len(labels)])]


def _starts_well(labels: Sequence[int], signs: Sequence[tuple[int, int]]) -> bool:
    """Along one facing, from the end where it is off: at most as many changes of sign as the labels had before."""
    current, changes = labels[0], 0
    for at, sign in signs:
        passed = at // 2
        if passed < 1:
            return False
        changes += sign != current
        current = sign
        if changes > sum(a != b for a, b in pairwise(labels[:passed])):
            return False
    return True


def _can_move(labels: Sequence[int], places: Sequence[Place], i: int) -> bool:
    """Between the points i and i + 1: f can go from one label to the other, or come back to the same."""
    slopes = {
        place.sign * place.facing
        for place in places
        if (place.at <= 2 * i + 2 if place.facing > 0 else place.at >= 2 * i + 2)
    }
    return len(slopes) != 1 if labels[i] == labels[i + 1] else labels[i + 1] in slopes
