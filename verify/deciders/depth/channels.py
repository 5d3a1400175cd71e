"""Channels of trained networks, units with all that share their parameters: those of tiny parameters are left out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from verify.checker.depth_ball import Unit
from verify.checker.statement import Layer
from verify.deciders.rounding import dyadic
from verify.problem.network import Network

__all__ = ["channels", "without_empty"]

EMPTY = 1e-7
"""A channel whose parameters are below this part of the largest one is taken for empty."""

Parameters = frozenset[tuple[int, int]]
"""(layer, index) of parameters."""


def channels(layers: Sequence[Layer], l: int) -> Iterator[tuple[frozenset[Unit], Parameters]]:
    """The units of a hidden layer in groups of which no two have a parameter in common; with those that each has."""
    own = [
        {(l, p) for p in layers[l].places[j] if p is not None}
        | {(l + 1, p) for row in layers[l + 1].places if (p := row[j]) is not None}
        for j in range(layers[l].outputs)
    ]
    found: list[tuple[set[Unit], set[tuple[int, int]]]] = []
    for j, mine in enumerate(own):
        units, parameters = {(l, j)}, set(mine)
        rest: list[tuple[set[Unit], set[tuple[int, int]]]] = []
        for group in found:
            if group[1] & mine:
                units, parameters = units | group[0], parameters | group[1]
            else:
                rest.append(group)
        found = [*rest, (units, parameters)]
    return ((frozenset(units), frozenset(parameters)) for units, parameters in found)


def without_empty(centre: Network) -> tuple[Network, frozenset[Unit]]:
    """The network with channels of tiny parameters at 0, and their units."""
    numbers = [list(row) for row in centre.parameters]
    largest = max((abs(w) for row in numbers for w in row), default=Fraction(0))
    layers, empty = centre.architecture.layers, set[Unit]()
    for l in range(len(layers) - 1):
        for units, own in channels(layers, l):
            if all(abs(numbers[k][p]) <= dyadic(EMPTY) * largest for k, p in own):
                empty |= units
                for k, p in own:
                    numbers[k][p] = Fraction(0)
    return Network(centre.architecture, numbers), frozenset(empty)
