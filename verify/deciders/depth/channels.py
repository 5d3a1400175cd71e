"""Channels of trained networks, units with all that share their parameters: tiny ones are left out, copies made one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np

from verify.checker.copies import Share
from verify.checker.depth_ball import Unit
from verify.checker.errors import CertificateError
from verify.checker.exchangeable import Exchange, exchange_of
from verify.checker.statement import Layer
from verify.deciders.rounding import dyadic
from verify.numbers.floats import to_float
from verify.problem.network import Network

__all__ = ["channels", "with_copies_as_one", "without_empty"]

EMPTY = 1e-7
"""A channel whose parameters are below this part of the largest one is taken for empty."""

ALIKE = 1e-6
"""How far parameters of a channel, relative to their norm, may be from those of another that is a copy of it."""

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


def with_copies_as_one(centre: Network, empty: frozenset[Unit]) -> tuple[Network, frozenset[Unit], tuple[Share, ...]]:
    """The network with one channel in the place of all that are parallel; with the units that are empty then.

    The shares give it out again, nearly as it was.
    """
    numbers, layers = [list(row) for row in centre.parameters], centre.architecture.layers
    held, shares = {*empty}, list[Share]()
    for l in range(len(layers) - 1):
        for unit in range(layers[l].outputs):
            sizes, own = dict[int, float](), list[tuple[int, int]]()
            for copy in range(unit + 1, layers[l].outputs):
                if (l, unit) in held or (l, copy) in held:
                    continue
                pair = _matching(layers, (l, unit, copy))
                ratio = None if pair is None else _ratio(numbers, pair)
                if pair is None or ratio is None:
                    continue
                sizes[copy] = ratio
                own = [(k, p) for k, p, _ in pair.parameters]
                held |= {(l, other) for _, other in pair.units}
                for k, _, q in pair.parameters:
                    numbers[k][q] = Fraction(0)
            if sizes:
                whole = float(np.sqrt(1 + sum(z * z for z in sizes.values())))
                for k, p in own:
                    numbers[k][p] *= dyadic(whole)
                found = _unit_vector([1 / whole, *(z / whole for z in sizes.values())])
                shares += [(l, unit, k, c) for k, c in zip([unit, *sizes], found, strict=True)]
    return Network(centre.architecture, numbers), frozenset(held), tuple(shares)


def _matching(layers: Sequence[Layer], pair: tuple[int, int, int]) -> Exchange | None:
    try:
        return exchange_of(layers, pair)
    except CertificateError:
        return None


def _ratio(numbers: Sequence[Sequence[Fraction]], pair: Exchange) -> float | None:
    """How many times the first channel the second one is; None where it is not above 0, or they are not parallel."""
    one = np.array([to_float(numbers[k][p]) for k, p, _ in pair.parameters])
    other = np.array([to_float(numbers[k][q]) for k, _, q in pair.parameters])
    ratio = float(one @ other / (one @ one)) if one.any() else 0.0
    is_alike = ratio > 0 and float(np.linalg.norm(other - ratio * one)) <= ALIKE * float(np.linalg.norm(other))
    return ratio if is_alike else None


def _unit_vector(near: Sequence[float]) -> list[Fraction]:
    """Rational numbers above 0, near these, whose squares add up to 1: by a stereographic projection."""
    first, *rest = near
    u = [dyadic(z / (1 + first)) for z in rest]
    square = sum((z * z for z in u), Fraction(0))
    return [(1 - square) / (1 + square), *(2 * z / (1 + square) for z in u)]
