"""Is a KKT point of any depth a local optimum: second derivatives of its Lagrangian, made exact, for `deep-local`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations
from math import ceil, log2

import numpy as np

from solvers.arrays import Floats
from verify.checker.depth_local import (
    DeepLocal,
    Factor,
    Matrix,
    PolynomialPiece,
    choices_of,
    second_order,
    tangent_of,
)
from verify.checker.depth_states import UnitStates, states
from verify.checker.depth_stationary import DeepStationary, Part
from verify.checker.errors import CertificateError
from verify.deciders.proposal import Proposal, certified
from verify.deciders.time_limits import poll
from verify.numbers.floats import to_matrix
from verify.problem.network import Network
from verify.problem.problem import Problem

__all__ = ["exchangeable", "factor_of", "joined", "local_optimum", "rounded_factor", "second_order_at"]

LARGEST = 150
"""Parameters up to which second derivatives are made exact: some seconds."""

WEIGHTS = (0, 1, 16, 256, 4096, 65536)
"""How much the squares of what is paid at first order weigh, tried in this order."""

LEAST = 1e-9
"""Part of the largest entry that the least eigenvalue exceeds, for the matrix to be taken for positive definite."""

FOUND = "no better network lies near it, by the second order of its Lagrangian"


def local_optimum(problem: Problem, network: Network, proof: DeepStationary) -> Proposal | None:
    """A `deep-local` certificate of an exact KKT point, or None.

    Complete, up to rounding, where gains and multipliers are strict: parts of a point whose gains have one sign are one
    part (`joined`).
    """
    size = sum(map(len, network.parameters))
    if proof.epsilon or proof.delta or size > LARGEST:
        return None
    parts = _one_for_each_point(problem, network, proof.parts)
    if parts is None:
        return None
    try:
        choices = choices_of(problem, network, parts)
    except CertificateError:
        return None
    rotations = tuple(sorted({rotation for pieces in choices for rotation in exchangeable(network, pieces)}))
    pairs = _matrices(network, choices, rotations)
    if pairs is None:
        return None
    for rho in map(Fraction, WEIGHTS):
        poll()
        roots = [factor_of(to_matrix(second_order_at(pair, rho))) for pair in pairs]
        if any(root is None for root in roots):
            continue
        bits = max(bits for _, bits in filter(None, roots))
        rows = tuple(rounded_factor(root, bits) for root, _ in filter(None, roots))
        accepted = certified(
            problem, network, DeepLocal(parts=parts, rho=rho, rotations=rotations, factors=rows, bits=bits)
        )
        if accepted is not None:
            return Proposal(certificate=accepted, reason=FOUND)
    return None


def _one_for_each_point(problem: Problem, network: Network, parts: Sequence[Part]) -> tuple[Part, ...] | None:
    """Parts of one point as one; None where some have a direction, or there is none."""
    found: dict[int, list[Part]] = {}
    for part in parts:
        if part.direction is not None and states(problem, network)[part.point].ties:
            return None
        found.setdefault(part.point, []).append(part)
    ones = [joined(network, states(problem, network)[point], several) for point, several in sorted(found.items())]
    return None if any(one is None for one in ones) else tuple(filter(None, ones))


def joined(network: Network, state: UnitStates, parts: Sequence[Part]) -> Part | None:
    """The one part with the sum of the multipliers whose gradient is the sum of those of these parts of a point.

    The gradient of f^g by the parameters of layer l is (g_l b_l) h', where h is what goes into the layer, whatever g
    is, and b_l is linear in g_(l+1) b_(l+1). So the sum over the parts p, with multipliers lambda_p, is that of the
    slopes g_l = sum lambda_p g_pl b_pl / sum lambda_p b_pl, unit by unit: means of the slopes where lambda_p b_pl have
    one sign, as where all gains are below 0. Where the b_pl add up to 0 any slope does, if the numerator is 0 as well.

    None where no slopes between a and 1 do.
    """
    total = sum((part.multiplier for part in parts), Fraction(0))
    pieces = [PolynomialPiece(network, state, part, part.multiplier) for part in parts]
    slopes: list[tuple[int, int, Fraction]] = []
    for k, (l, j, slope) in enumerate(parts[0].slopes):
        weights = [piece.c * piece.back[l][j] for piece in pieces]
        above = sum((z * part.slopes[k][2] for z, part in zip(weights, parts, strict=True)), Fraction(0))
        below = sum(weights, Fraction(0))
        if not below and above:
            return None
        mean = above * (1 / below) if below else slope
        low, high = state.slopes[l][j]
        if not low <= mean <= high:
            return None
        slopes.append((l, j, mean))
    return Part(parts[0].point, total, tuple(slopes))


def exchangeable(network: Network, given: Sequence[PolynomialPiece]) -> Iterator[tuple[int, int, int]]:
    """All pairs of units that can be turned into each other; one of each pair of channels."""
    known = set[tuple[Fraction, ...]]()
    for l, layer in enumerate(network.architecture.layers[:-1]):
        for one, other in combinations(range(layer.outputs), 2):
            try:
                tangent = tangent_of(network, given, (l, one, other))
            except CertificateError:
                continue
            if tangent is not None and any(tangent) and tuple(tangent) not in known:
                known.add(tuple(tangent))
                yield l, one, other


def _matrices(
    network: Network, choices: Sequence[Sequence[PolynomialPiece]], rotations: tuple[tuple[int, int, int], ...]
) -> list[tuple[Matrix, Matrix]] | None:
    """For each choice M at rho 0 and at rho 1; None where a gain is not below 0."""
    try:
        return [
            (
                second_order(network, pieces, rotations, Fraction(0)),
                second_order(network, pieces, rotations, Fraction(1)),
            )
            for pieces in choices
        ]
    except CertificateError:
        return None


def second_order_at(pair: tuple[Matrix, Matrix], rho: Fraction) -> Matrix:
    """M, which is linear in rho, from those at 0 and at 1."""
    return [[z + rho * (one - z) for z, one in zip(*rows, strict=True)] for rows in zip(*pair, strict=True)]


def factor_of(matrix: Floats) -> tuple[Floats, int] | None:
    """A lower triangular matrix whose square is the matrix less half its least eigenvalue, and the bits that it needs.

    None where the matrix is not positive definite.
    """
    least = float(np.linalg.eigvalsh(matrix)[0])
    largest = float(np.abs(matrix).max())
    if not least > LEAST * largest:
        return None
    root = np.asarray(np.linalg.cholesky(matrix - least / 2 * np.eye(len(matrix))), dtype=np.float64)
    error = 4 * len(matrix) * len(matrix) * (1 + float(np.abs(root).max()))  # of the square, times the unit
    return root, max(1, ceil(log2(error / least)))


def rounded_factor(root: Floats, bits: int) -> Factor:
    """The lower triangle times 2^bits, to the nearest integers."""
    numbers = np.rint(np.ldexp(root, bits))
    return tuple(tuple(int(z) for z in row[: r + 1]) for r, row in enumerate(numbers))
