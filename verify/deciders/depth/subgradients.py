"""The Clarke subgradients of the outputs at a network of any depth: for each point those of which all are made."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, product
from typing import final

import numpy as np

from verify.checker.curves import Curve, lowest
from verify.checker.depth_states import UnitStates, are_independent, gradient, states, tie_inputs
from verify.checker.depth_stationary import Part
from verify.checker.goals import rules
from verify.checker.statement import Rows
from verify.deciders.depth.arrays import shaped
from verify.deciders.time_limits import poll
from verify.problem.network import Network
from verify.problem.problem import Problem

__all__ = ["Subgradient", "generators"]

MOST_TIES = 6
"""Ties of one point of which every pattern of sides is tried."""

DIRECTIONS = 64
"""Directions in which the sides of dependent ties are looked for."""


@final
@dataclass(frozen=True, slots=True)
class Subgradient:
    """One subgradient of q_i: that of a pattern of sides, or of a direction.

    gradient: of q_i, by parameter.   slack: how far the constraint is from equality, for a multiplier > 0 and < 0.
    """

    point: int
    gradient: tuple[Fraction, ...]
    slacks: tuple[Fraction, Fraction]
    slopes: tuple[tuple[int, int, Fraction], ...] = ()
    direction: Rows | None = None

    def part(self, multiplier: Fraction) -> Part:
        """The part of a certificate with this multiplier."""
        return Part(self.point, multiplier, self.slopes, self.direction)


def generators(problem: Problem, network: Network, limits: list[tuple[Fraction, Fraction]]) -> list[Subgradient] | None:
    """Those of every point, of which each subgradient is a convex combination; None where a point has too many ties.

    With dependent ties only the patterns that random directions meet.
    """
    found: list[Subgradient] = []
    factors = rules(problem.goal).factors(problem.targets)
    for i, state in enumerate(states(problem, network)):
        poll()
        if len(state.ties) > MOST_TIES:
            return None
        for slopes, direction in _patterns(problem, network, i, state):
            row = gradient(network, state, state.at(slopes))
            listed = () if direction is not None else tuple((l, j, g) for (l, j), g in slopes.items())
            numbers = tuple(factors[i] * z for z in chain(*row))
            found.append(Subgradient(i, numbers, limits[i], listed, direction))
    return found


def _patterns(
    problem: Problem, network: Network, point: int, state: UnitStates
) -> Iterator[tuple[dict[tuple[int, int], Fraction], Rows | None]]:
    """The slopes at the ties of a point, with a direction that opens them where they depend on each other."""
    ties = state.ties
    layers = sorted({l for l, _ in ties})
    if all(are_independent(tie_inputs(network, state, l)) for l in layers):
        ends = [state.slopes[l][j] for l, j in ties]
        yield from ((dict(zip(ties, chosen, strict=True)), None) for chosen in product(*ends))
        return
    random, seen = np.random.default_rng(0), set[tuple[int, ...]]()
    size = sum(map(len, network.parameters))
    for _ in range(DIRECTIONS):
        direction = shaped(network.architecture, map(Fraction, random.integers(-9, 10, size).tolist()))
        signs, _ = Curve(network, [direction]).forward(problem.rows[point], lowest)
        sides = tuple(signs[l][j] for l, j in ties)
        if all(sides) and sides not in seen:
            seen.add(sides)
            yield {(l, j): state.slopes[l][j][side > 0] for (l, j), side in zip(ties, sides, strict=True)}, direction
