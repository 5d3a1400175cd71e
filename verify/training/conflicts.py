"""What is known before training: that no network, or none without biases, fits the data."""

from __future__ import annotations

from fractions import Fraction

from verify.problem.problem import Dataset

__all__ = ["conflict"]

ROOM = Fraction(1, 10**9)
"""Of the largest target: targets to be met that are off by less are met as well as training meets any."""


def conflict(data: Dataset, *, bias: bool, is_for_margins: bool) -> str | None:
    """A sentence with points that no network, or no network without biases, can fit; None where there are none.

    Equal points with different targets; and for a network without biases, which is f(c x) = c f(x) for c >= 0, a point
    at 0 with another target than 0, and points on one ray from 0: their labels must agree, or their targets be in
    proportion. bias: of the network.   is_for_margins: labels -1 and 1 are to be met in sign, not exactly.

    Other conflicts are found by an audit. O(n d) exact operations; nothing is rounded.
    """
    room = 0 if is_for_margins else ROOM * max(map(abs, data.targets), default=Fraction(0))
    first: dict[tuple[Fraction, ...], tuple[int, Fraction, Fraction]] = {}
    for i, (x, y) in enumerate(zip(data.inputs, data.targets, strict=True)):
        size = Fraction(1) if bias else next((abs(a) for a in x if a), Fraction(0))
        if not size and abs(y) > room:
            return f"no network without biases fits, because point {i} is 0, where every such network is 0"
        key = tuple(a / size for a in x) if size not in (0, 1) else tuple(x)
        other, scale, target = first.setdefault(key, (i, size, y))
        if scale == size and abs(target - y) > room:
            return f"no network fits, because points {other} and {i} are equal and their targets are not"
        if is_for_margins and target != y:
            return f"{_ON_A_RAY.format(other, i)} their labels differ"
        if not is_for_margins and abs(target * size - y * scale) > room * max(size, scale):
            return f"{_ON_A_RAY.format(other, i)} their targets are not in the proportion of the points"
    return None


_ON_A_RAY = "no network without biases fits, because points {} and {} lie on one ray from 0 and"
