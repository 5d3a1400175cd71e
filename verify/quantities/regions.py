"""How many linear pieces a network has along a line, exactly.

For f(x) = sum_j v_j s(w_j.x + b_j), s(z) = max(z, a z), the slope of t -> f(start + t direction) changes at
t = -(w_j.start + b_j) / (w_j.direction) by v_j |w_j.direction| (1 - a); changes at one place may cancel.

Source: arXiv:2205.09072, section 4 (networks of one input).
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

from verify.checker.exact import dot
from verify.errors import InputError
from verify.numbers.arguments import instance_of
from verify.numbers.values import vector
from verify.problem.network import Network
from verify.problem.problem import Dataset

__all__ = ["breakpoints", "label_switches", "linear_regions", "region_bound"]


def breakpoints(network: Network, start: object = None, direction: object = None) -> tuple[Fraction, ...]:
    """The t at which the slope of t -> f(start + t direction) changes, rising. Exact and complete.

    start, direction: of the line, d numbers each; for a network of one input they may be left out, and t is the input.
    Of one hidden layer. Raises InputError.
    """
    shape = instance_of(Network, network, "network", "read it with read(...)").architecture
    if not shape.is_two_layer:
        raise InputError("the network has several hidden layers: breakpoints are those of networks with one")
    d = shape.inputs
    if start is None or direction is None:
        if d > 1 or start is not None or direction is not None:
            raise InputError(f"a line in {d} dimensions needs a start and a direction: start=[...], direction=[...]")
        start, direction = [0], [1]
    origin, along = vector(start, "start"), vector(direction, "direction")
    for name, found in (("start", origin), ("direction", along)):
        if len(found) != d:
            raise InputError(f"{name} has {len(found)} numbers, and the network has {d} inputs")
    if not any(along):
        raise InputError("the direction is 0")
    changes: dict[Fraction, Fraction] = {}
    for row, v in zip(network.hidden_weights, network.output_weights, strict=True):
        w, b = row[:d], sum(row[d:], Fraction(0))
        if rise := dot(w, along):
            place = -(dot(w, origin) + b) / rise
            changes[place] = changes.get(place, Fraction(0)) + v * abs(rise) * (1 - shape.slope)
    return tuple(sorted(place for place, change in changes.items() if change))


def linear_regions(network: Network, start: object = None, direction: object = None) -> int:
    """The number of linear pieces along the line, as in `breakpoints`: one more than these."""
    return len(breakpoints(network, start, direction)) + 1


def label_switches(data: Dataset) -> int:
    """r: how often the labels change along the line, for points with one input, none of them twice. Exact.

    Raises InputError.
    """
    if instance_of(Dataset, data, "data", "read it with read_data(...)").dimension != 1:
        raise InputError(f"labels change along a line, and the points have {data.dimension} inputs")
    points = sorted(zip(data.inputs, data.targets, strict=True))
    if any(a == b and first != second for (a, first), (b, second) in pairwise(points)):
        raise InputError("a point has two labels")
    return sum(first != second for (_, first), (_, second) in pairwise(points))


def region_bound(switches: int) -> int:
    """32 r + 67: the most linear regions of a KKT point of max-margin with penalised biases on a line.

    Source: arXiv:2205.09072, Theorem 4.2.
    """
    return 32 * switches + 67
