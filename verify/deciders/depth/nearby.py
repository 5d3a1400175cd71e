"""An exact local optimum near a network of any depth: from Newton's method in floats to a ball that holds one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain
from operator import sub
from typing import Literal

import numpy as np

from solvers.depth_polish import DeepPoint, DeepPolish
from verify.checker.copies import Share, with_copies
from verify.checker.depth_ball import Ball, Unit
from verify.checker.depth_local import Factor, second_order
from verify.checker.depth_near import DeepStationaryNear, NearPiece, end_of_rise, numbers_of, residual
from verify.checker.depth_states import states
from verify.checker.depth_stationary import Part
from verify.checker.errors import CertificateError
from verify.checker.exact import sqrt_lower, sqrt_upper, squared_norm
from verify.checker.exchangeable import Rotation, exchange_of
from verify.deciders.depth.arrays import layers_of, network_of, parameters_of
from verify.deciders.depth.channels import with_copies_as_one, without_empty
from verify.deciders.depth.local import LARGEST, exchangeable, factor_of, rounded_factor, second_order_at
from verify.deciders.proposal import certified
from verify.deciders.rounding import dyadic
from verify.deciders.time_limits import is_late, poll
from verify.numbers.floats import float_rows, float_targets, to_float, to_matrix
from verify.problem.members import has_margin
from verify.problem.network import Network
from verify.problem.problem import Problem

__all__ = ["nearby"]

WEIGHTS = tuple(map(Fraction, (1, 4, 16, 64, 256, 4096, "1/16")))
"""How much the squares of what is paid at first order weigh, tried in this order."""

HALVINGS = range(57, 3, -3)
"""The radii that are tried are the norm over these powers of 2: the smallest first, as the nearest point says most.

Then larger ones, in which nothing is better, as long as the point is nearly as near.
"""

NEARLY = Fraction(1, 10**6)
"""Of the norm: a point at most that far away, or twice as far as the nearest that is proved, is nearly as near."""

END = 1e-9
"""How far a slope at a kink that is taken for that of a side may be from it."""

USED = 1e-9
"""Multipliers below this part of the largest one are taken as 0."""

LEAST = 1e-7
"""A least eigenvalue that is larger is above 0."""

LOCAL: Literal["local optimum"] = "local optimum"

LEFT = Fraction(3, 4)
"""Of the least eigenvalue: mu."""


def nearby(problem: Problem, network: Network, deadline: float | None = None) -> DeepStationaryNear | None:
    """A certificate of a local optimum that Newton's method leads to from the network, else of a KKT point, or None.

    Incomplete: kinks are read by a few tolerances; units that nearly have no effect leave it open.
    """
    size = sum(map(len, network.parameters))
    if not has_margin(problem.goal) or problem.architecture.is_two_layer or size > LARGEST:
        return None
    layers = layers_of(problem.architecture)
    polish = DeepPolish(layers, float_rows(problem), float_targets(problem))
    stationary: DeepStationaryNear | None = None
    for point in polish.points(parameters_of(network)):
        poll()
        if is_late(deadline):
            break
        found = _proved(problem, network, point)
        if found is not None and found.optimality == LOCAL:
            return found
        stationary = stationary or found
    return stationary


@dataclass(frozen=True)
class _Centre:
    """A network around which a ball is looked for; units that are empty; what copies are made of them."""

    network: Network
    empty: frozenset[Unit] = frozenset()
    shares: tuple[Share, ...] = ()


def _proved(problem: Problem, network: Network, point: DeepPoint) -> DeepStationaryNear | None:
    """With the units of tiny parameters held at 0 where it is no local optimum of all units, or is not proved to be."""
    for centre in _centres(network_of(problem.architecture, point.theta)):
        found = _around(problem, network, point, centre)
        if found is not None:
            return found
    return None


def _centres(given: Network) -> Iterator[_Centre]:
    """As it is; with tiny parameters at 0, and held there; with one unit in the place of copies."""
    yield _Centre(given)
    centre, empty = without_empty(given)
    if empty:
        yield _Centre(centre)
        yield _Centre(centre, empty)
    one, held, shares = with_copies_as_one(centre, empty)
    if shares:
        yield _Centre(one, held, shares)


def _around(problem: Problem, network: Network, point: DeepPoint, centre: _Centre) -> DeepStationaryNear | None:
    parts = tuple(_parts(problem, centre, point))
    norm = sqrt_upper(squared_norm(chain(*centre.network.parameters)))
    matrices: _Matrices | None = None
    nearest: DeepStationaryNear | None = None
    for halvings in HALVINGS:
        poll()
        radius = dyadic(to_float(norm)) / 2**halvings
        if matrices is not None and matrices.is_small(radius):
            continue
        try:
            ball = Ball(centre.network, radius, centre.empty)
            least = min(y * ball.output(row) for row, y in zip(problem.rows, problem.targets, strict=True))
            near = [NearPiece(problem, ball, part, least) for part in parts]
            matrices = matrices or _Matrices.of(centre, near)
        except CertificateError:
            break  # nor does a larger ball keep the sides and the gains
        costs = {rho: cost for rho in matrices.roots if (cost := _cost(near, rho)) is not None}
        if not costs:
            break
        most = None if nearest is None else max(2 * nearest.moved, NEARLY)
        proofs = (_ball(network, matrices, near, radius, rho, cost) for rho, cost in costs.items())
        close = (proof for proof in proofs if proof is not None and (most is None or proof.moved <= most))
        found = next(filter(None, (certified(problem, network, proof) for proof in close)), None)
        if nearest is not None and found is None:
            break
        nearest = found or nearest
    return nearest


def _cost(near: list[NearPiece], rho: Fraction) -> Fraction | None:
    """What the errors cost; None where gains and multipliers do not pay for the rest."""
    try:
        return sum((one.paid(rho) + one.part.multiplier * (one.value - one.least) for one in near), Fraction(0))
    except CertificateError:
        return None


@dataclass(frozen=True)
class _Matrices:
    """The rotations; for each rho that makes M definite, without the rows of empty units: mu, a root and its bits.

    epsilon: the norm of the gradient of L, without the parameters of empty units.
    """

    centre: _Centre
    rotations: tuple[Rotation, ...]
    roots: dict[Fraction, tuple[Fraction, Factor, int]]
    epsilon: Fraction

    def is_small(self, radius: Fraction) -> bool:
        """Whether the norm may fall towards the edge, as the gradient of L goes, whatever else is paid."""
        return all(mu * radius <= 2 * self.epsilon for mu, _, _ in self.roots.values())

    @classmethod
    def of(cls, around: _Centre, near: list[NearPiece]) -> _Matrices:
        centre, empty, pieces = around.network, around.empty, [one.piece for one in near]
        still = {tie for one in near for tie in one.ties} | empty
        pairs, layers = exchangeable(centre, pieces), centre.architecture.layers
        rotations = tuple(pair for pair in pairs if not still & exchange_of(layers, pair).places)
        both = [second_order(centre, pieces, rotations, Fraction(rho)) for rho in (0, 1)]
        held = numbers_of(centre, empty)
        free = [k for k in range(len(both[0])) if k not in held]
        small = [[[matrix[r][c] for c in free] for r in free] for matrix in both]
        roots: dict[Fraction, tuple[Fraction, Factor, int]] = {}
        for rho in WEIGHTS:
            poll()
            matrix = second_order_at((small[0], small[1]), rho)
            least = float(np.linalg.eigvalsh(to_matrix(matrix))[0])
            if least <= LEAST:
                continue
            mu = dyadic(least) * LEFT
            shifted = [[z - (mu if r == c else 0) for c, z in enumerate(row)] for r, row in enumerate(matrix)]
            root = factor_of(to_matrix(shifted))
            if root is not None:
                roots[rho] = mu, rounded_factor(*root), root[1]
        rest = residual(centre, pieces)
        epsilon = sqrt_upper(squared_norm(rest[k] for k in free))
        return cls(around, rotations, roots, epsilon)


def _ball(
    network: Network, matrices: _Matrices, near: list[NearPiece], radius: Fraction, rho: Fraction, cost: Fraction
) -> DeepStationaryNear | None:
    """The certificate, where the norm rises towards the edge."""
    mu, root, bits = matrices.roots[rho]
    third = sum((one.part.multiplier * one.third for one in near), Fraction(0))
    bend = mu - third * radius / 3
    if bend <= 0 or bend * radius**2 / 2 <= matrices.epsilon * radius + cost:
        return None
    centre = matrices.centre
    around = list(chain(*with_copies(centre.network, centre.empty, centre.shares).parameters))
    theta = list(chain(*network.parameters))
    factor = dyadic(float(np.linalg.norm(to_matrix([around])) / np.linalg.norm(to_matrix([theta]))))
    scaled = [factor * w for w in theta]
    within = min(radius, end_of_rise(bend, matrices.epsilon, cost))
    apart = sqrt_upper(squared_norm(map(sub, scaled, around))) + within
    moved = dyadic(to_float(apart / sqrt_lower(squared_norm(scaled))) * (1 + 1e-9))
    return DeepStationaryNear(
        moved=moved, factor=factor, centre=centre.network.parameters, radius=radius, empty=tuple(sorted(centre.empty)),
        optimality="stationary point" if centre.empty else LOCAL, parts=tuple(one.part for one in near),
        rotations=matrices.rotations, rho=rho, mu=mu, root=root, bits=bits, shares=centre.shares,
    )  # fmt: skip


def _parts(problem: Problem, centre: _Centre, point: DeepPoint) -> Iterator[Part]:
    """The multipliers, with the slopes at ties, not of units that see nothing but 0."""
    largest, layers = float(point.multipliers.max(initial=0.0)), centre.network.architecture.layers
    for i in np.flatnonzero(point.multipliers > USED * largest):
        state = states(problem, centre.network)[i]
        still = {(l, j) for l, row in enumerate(state.slopes) for j in range(len(row)) if not any(state.inputs[l])}
        kinks = {(l, j) for k, l, j in point.slopes if k == i and layers[l].slope != 1}
        ties = sorted(kinks - centre.empty - still)
        slopes = tuple((l, j, _slope(point.slopes[int(i), l, j], layers[l].slope or Fraction(0))) for l, j in ties)
        yield Part(int(i), dyadic(float(point.multipliers[i])), slopes)


def _slope(g: float, a: Fraction) -> Fraction:
    """To short numbers; that of a side where it is all but that, which has no square to pay for."""
    near = dyadic(g)
    return next((end for end in (a, Fraction(1)) if abs(near - end) <= dyadic(END)), near)
