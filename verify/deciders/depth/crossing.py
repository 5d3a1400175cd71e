"""A better network of any depth beside a local optimum, just across a kink that the optimum nearly touches."""

from __future__ import annotations

from fractions import Fraction
from itertools import chain
from operator import mul

import numpy as np

from solvers.depth_crossings import DeepCrossings
from verify.checker import statement
from verify.checker.depth_bounds import DeepBetterNetwork
from verify.checker.depth_near import DeepStationaryNear
from verify.checker.exact import sqrt_upper, squared_norm
from verify.deciders.depth.arrays import layers_of, network_of, parameters_of
from verify.deciders.depth.record import PowerBounds
from verify.deciders.depth.searching import better, with_networks
from verify.numbers.floats import float_rows, float_targets
from verify.problem.network import Network
from verify.problem.problem import Problem, power_of_objective

__all__ = ["better_beside", "distance_up_to_scale"]

LARGEST = 200
"""Parameters up to which they are."""


def better_beside(
    problem: Problem, network: Network, proof: DeepStationaryNear, tolerance: Fraction, deadline: float | None
) -> DeepBetterNetwork | None:
    """That a network near the optimum of `proof` is better than `network` by more than the tolerance; None without.

    Incomplete: descents in floats from the kinks that are nearest, in a ball (`solvers.depth_crossings.DeepCrossings`).
    """
    mine = power_of_objective(problem, network)
    if mine is None or sum(map(len, proof.centre)) > LARGEST:
        return None
    centre = Network(network.architecture, proof.centre)
    search = DeepCrossings(layers_of(problem.architecture), float_rows(problem), float_targets(problem))
    with np.errstate(all="ignore"):
        ends = [network_of(problem.architecture, end) for end in search.better(parameters_of(centre), deadline)]
    known = with_networks(problem, PowerBounds(), ends)
    found = better(problem, network, mine[0] / mine[1], known, tolerance, own_width=True)
    return found.certificate if found is not None and isinstance(found.certificate, DeepBetterNetwork) else None


def distance_up_to_scale(network: statement.Network, other: statement.Network) -> Fraction:
    """How far the nearest positive multiple of `other` is from the network, relative to its norm; rounded up."""
    own, there = list(chain(*network.parameters)), list(chain(*other.parameters))
    product, square = sum(map(mul, own, there), Fraction(0)), squared_norm(there)
    left = squared_norm(own) - (product**2 / square if square and product > 0 else 0)
    return sqrt_upper(left / squared_norm(own)) if any(own) else Fraction(0)
