"""Is a network of any depth a KKT point: multipliers, made exact or to within what is allowed; else what separates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import chain, combinations
from math import sqrt

import numpy as np

from solvers.arrays import Floats
from solvers.programs.nonnegative import nonnegative_least_squares
from verify.checker.depth_stationary import (
    HOMOGENEITY,
    INDEPENDENCE,
    NOTHING,
    DeepNotStationary,
    DeepStationary,
)
from verify.checker.exact import dot, sqrt_lower, sqrt_upper, squared_norm
from verify.checker.fit import ends
from verify.checker.statement import half_squared_norm
from verify.deciders.depth.arrays import shaped
from verify.deciders.depth.subgradients import Subgradient, generators
from verify.deciders.proposal import Proposal, certified
from verify.deciders.rounding import dyadic, solve_by_few, solve_exactly
from verify.deciders.time_limits import poll
from verify.numbers.counts import count
from verify.numbers.decimals import denied, open_at, small
from verify.numbers.floats import to_float, to_matrix
from verify.problem.members import has_margin
from verify.problem.network import Network
from verify.problem.phrases import at_own_margin
from verify.problem.problem import Problem

__all__ = ["stationarity"]

USED = 1e-9
"""Multipliers below this part of the largest one are taken as 0."""

SLACKS = (0.0, 1.0, 1e3)
"""How much a slack counts against the residual, tried in this order; 0: only active constraints have multipliers."""

OPEN = "neither multipliers nor a separating vector could be made exact"
MANY = "a point is on the kinks of more units than are looked at"


def stationarity(problem: Problem, network: Network, tolerance: Fraction) -> Proposal:
    """A certificate that the network is a KKT point, exactly or within the tolerance, or that it is none.

    Complete, up to rounding, where no point has many ties, or ties that depend on each other, and for min-norm where
    no point with ties has multipliers of both signs.
    """
    limits = ends(problem, network)
    theta = list(chain(*network.parameters))
    if not any(theta):
        return _checked(
            problem, network, DeepStationary(parts=()), "the KKT conditions hold exactly, with multipliers at 0 points"
        )
    every = generators(problem, network, limits)
    if every is None:
        return _refuted(problem, network, _balance(network), (), tolerance) or Proposal(reason=MANY)
    active = [one for one in every if not (one.slacks[0] and one.slacks[1])]
    exact = _exactly(problem, network, theta, active)
    if exact is not None:
        return exact
    nearly = _nearly(problem, network, theta, every, tolerance) if tolerance else None
    if nearly is not None:
        return nearly
    vectors = chain(_balance(network), _residuals(problem, theta, active))
    return _refuted(problem, network, vectors, every, tolerance) or Proposal(reason=OPEN)


def _checked(problem: Problem, network: Network, proof: DeepStationary, reason: str) -> Proposal:
    accepted = certified(problem, network, proof)
    return Proposal(certificate=accepted, reason=reason if accepted is not None else OPEN)


def _signed(problem: Problem, one: Subgradient, exact: bool) -> list[tuple[Subgradient, int]]:
    """A generator with the signs that its multiplier may have; exactly, where its constraint is active on that side."""
    signs = (1,) if has_margin(problem.goal) else (1, -1)
    return [(one, sign) for sign in signs if not exact or not one.slacks[sign < 0]]


def _weights(theta: Sequence[Fraction], columns: Sequence[tuple[Subgradient, int]], slack: float) -> Floats | None:
    """The multipliers >= 0 that are nearest to stationarity, in floats; None where floats fail."""
    if not columns:
        return np.zeros(0)
    poll()
    matrix = to_matrix(one.gradient for one, _ in columns) * np.array([[sign] for _, sign in columns])
    target = to_matrix([theta])[0]
    if slack:
        rest = [slack * to_float(one.slacks[sign < 0]) for one, sign in columns]
        matrix, target = np.column_stack([matrix, rest]), np.append(target, 0.0)
    try:
        return nonnegative_least_squares(matrix.T, target)
    except RuntimeError:
        return None


def _exactly(problem: Problem, network: Network, theta: list[Fraction], active: list[Subgradient]) -> Proposal | None:
    """The conditions with multipliers that solve them exactly."""
    columns = [pair for one in active for pair in _signed(problem, one, exact=True)]
    weights = _weights(theta, columns, 0.0)
    if weights is None or not weights.any():
        return None
    used = [columns[k] for k in np.flatnonzero(weights > USED * weights.max())]
    matrix = list(zip(*(one.gradient for one, _ in used), strict=True))
    solved = solve_by_few(matrix, theta)
    if solved is None:
        return None
    pairs = [(one, value) for (one, _), value in zip(used, solved, strict=True) if value]
    proof = certified(problem, network, DeepStationary(parts=tuple(one.part(value) for one, value in pairs)))
    if proof is None:
        return None
    many = count(len({one.point for one, _ in pairs}), "point")
    return Proposal(
        certificate=proof,
        reason=f"the KKT conditions hold exactly, with multipliers at {many}{at_own_margin(problem, network)}",
    )


def _nearly(
    problem: Problem, network: Network, theta: list[Fraction], every: list[Subgradient], tolerance: Fraction
) -> Proposal | None:
    """The conditions up to epsilon and delta, the least that is found, if both are allowed."""
    best: DeepStationary | None = None
    norm = 2 * half_squared_norm(problem, network)
    is_exact = not has_margin(problem.goal) and not problem.fit_tolerance
    for slack in SLACKS[:1] if is_exact else SLACKS:
        columns = [pair for one in every for pair in _signed(problem, one, exact=not slack)]
        weights = _weights(theta, columns, slack / sqrt(to_float(norm)))
        if weights is None:
            continue
        pairs = [(one, sign * dyadic(float(w))) for (one, sign), w in zip(columns, weights, strict=True) if w > 0]
        rest = [z - sum((value * one.gradient[k] for one, value in pairs), Fraction(0)) for k, z in enumerate(theta)]
        epsilon = sqrt_upper(squared_norm(rest) / norm)
        delta = sum((abs(value) * one.slacks[value < 0] for one, value in pairs), Fraction(0)) / norm
        parts = tuple(one.part(value) for one, value in pairs)
        proof = DeepStationary(parts=parts, epsilon=epsilon, delta=delta)
        if best is None or proof.own_tolerance(problem) < best.own_tolerance(problem):
            best = proof
    if best is None or best.own_tolerance(problem) > tolerance:
        return None
    accepted = certified(problem, network, best)
    reason = f"the KKT conditions hold up to epsilon {small(best.epsilon)} and delta {small(best.delta)}"
    return None if accepted is None else Proposal(certificate=accepted, reason=reason)


def _balance(network: Network) -> Iterator[list[Fraction]]:
    """Vectors that scale one layer up and another down, or what goes into a unit and what comes out of it.

    No output changes along them to first order, whatever the slopes: they separate where the norms differ.
    """
    shape, numbers = network.architecture, network.parameters
    sizes = [squared_norm(row) for row in numbers]
    found: list[tuple[Fraction, list[Fraction]]] = []
    for l, k in combinations(range(len(sizes)), 2):
        up, down = (l, k) if sizes[l] > sizes[k] else (k, l)
        parts = {up: Fraction(1), down: Fraction(-1)}
        z = [parts.get(q, Fraction(0)) * w for q, row in enumerate(numbers) for w in row]
        found.append((sizes[up] - sizes[down], z))
    for l, (layer, after) in enumerate(zip(shape.layers, shape.layers[1:], strict=False)):
        if layer.has_sharing or after.has_sharing:
            continue
        for j, row in enumerate(layer.places):
            incoming = {q for q in row if q is not None}
            outgoing = {places[j] for places in after.places} - {None}
            own = squared_norm(numbers[l][q] for q in incoming)
            gap = own - squared_norm(numbers[l + 1][q] for q in outgoing if q is not None)
            signs = {l: (incoming, 1 if gap > 0 else -1), l + 1: (outgoing, -1 if gap > 0 else 1)}
            z = [
                Fraction(signs[p][1]) * w if p in signs and q in signs[p][0] else Fraction(0)
                for p, numbers_ in enumerate(numbers)
                for q, w in enumerate(numbers_)
            ]
            found.append((abs(gap), z))
    for gap, z in sorted(found, key=lambda pair: pair[0] ** 2 / (squared_norm(pair[1]) or 1), reverse=True):
        if gap:
            yield z


def _residuals(problem: Problem, theta: list[Fraction], active: list[Subgradient]) -> Iterator[list[Fraction]]:
    """What is left of theta beside the nearest combination of subgradients, orthogonal to those in use, exactly."""
    columns = [pair for one in active for pair in _signed(problem, one, exact=True)]
    weights = _weights(theta, columns, 0.0)
    if weights is None:
        return
    used = [columns[k][0].gradient for k in np.flatnonzero(weights > USED * weights.max(initial=0.0))]
    gram = [[dot(one, other) for other in used] for one in used]
    solved = solve_exactly(gram, [dot(one, theta) for one in used]) if used else []
    if solved is not None:
        pairs = list(zip(solved, used, strict=True))
        yield [z - sum((value * row[k] for value, row in pairs), Fraction(0)) for k, z in enumerate(theta)]


def _refuted(
    problem: Problem,
    network: Network,
    vectors: Iterator[list[Fraction]],
    every: Sequence[Subgradient],
    tolerance: Fraction,
) -> Proposal | None:
    """A certificate with the first vector that separates."""
    for z in vectors:
        poll()
        proof = _separated(problem, network, z, every)
        if proof is None:
            continue
        within = proof.own_tolerance(problem)
        if within < tolerance:
            return Proposal(
                reason=f"it is no exact KKT point, and whether it is one to within {open_at(tolerance)} is open"
            )
        reason = "no multipliers satisfy the KKT conditions" + (
            f" to within {denied(within)}" if within else " exactly"
        )
        return Proposal(certificate=proof, reason=reason, numbers={"tolerance": within} if tolerance else {})
    return None


def _separated(
    problem: Problem, network: Network, z: list[Fraction], every: Sequence[Subgradient]
) -> DeepNotStationary | None:
    """The certificate of one vector, which excludes as much as it can."""
    theta, norm = list(chain(*network.parameters)), 2 * half_squared_norm(problem, network)
    gap = dot(z, theta)
    if gap <= 0:
        return None
    rates = [(dot(z, one.gradient), one.slacks) for one in every]
    sides = [(abs(rate), slacks[rate < 0]) for rate, slacks in rates if rate > 0 or not has_margin(problem.goal)]
    worth = [rate / slack for rate, slack in sides if slack]
    has_slacks = has_margin(problem.goal) or bool(problem.fit_tolerance)
    kappa = max(worth, default=Fraction(0)) if has_slacks else Fraction(0)
    within = sqrt_lower((gap / (kappa * norm + sqrt_upper(norm * squared_norm(z)))) ** 2, 20) * Fraction(999, 1000)
    splits = sorted({(one.point, l, j) for one in every for l, j, _ in one.slopes})
    names = (HOMOGENEITY,) if has_margin(problem.goal) else (INDEPENDENCE, NOTHING)
    proof = DeepNotStationary(
        vectors=(shaped(network.architecture, z),),
        qualification=NOTHING,
        epsilon=within,
        delta=within if has_slacks else Fraction(0),
        kappa=kappa,
    )
    for name in names:
        for split in ((), tuple(splits)):
            accepted = certified(problem, network, replace(proof, qualification=name, splits=split))
            if accepted is not None:
                return accepted
    return None
