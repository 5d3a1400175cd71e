"""Is a KKT point of any depth a local optimum: second derivatives of its Lagrangian, made exact, for `deep-local`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from math import ceil, log2

import numpy as np

from solvers.arrays import Floats
from verify.checker.depth_local import (
    DeepLocal,
    Factor,
    PolynomialPiece,
    choices_of,
    second_order,
    tangent_of,
)
from verify.checker.depth_states import states
from verify.checker.depth_stationary import DeepStationary, Part
from verify.checker.errors import CertificateError
from verify.deciders.proposal import Proposal, certified
from verify.deciders.time_limits import poll
from verify.numbers.floats import to_matrix
from verify.problem.network import Network
from verify.problem.problem import Problem

__all__ = ["local_optimum"]

LARGEST = 150
"""Parameters up to which second derivatives are made exact: some seconds."""

WEIGHTS = (0, 1, 16, 256, 4096, 65536)
"""How much the squares of what is paid at first order weigh, tried in this order."""

LEAST = 1e-9
"""Part of the largest entry that the least eigenvalue exceeds, for the matrix to be taken for positive definite."""

FOUND = "no better network lies near it, by the second order of its Lagrangian"


def local_optimum(problem: Problem, network: Network, proof: DeepStationary) -> Proposal | None:
    """A `deep-local` certificate of an exact KKT point, or None.

    Complete, up to rounding, where gains and multipliers are strict, and the slopes of each point are determined by
    its parts: its ties are of one layer.
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
    rotations = tuple(sorted({rotation for pieces in choices for rotation in _rotations(network, pieces)}))
    for rho in map(Fraction, WEIGHTS):
        poll()
        matrices = _matrices(network, choices, rotations, rho)
        if matrices is None:
            return None
        roots = [_factor(to_matrix(matrix)) for matrix in matrices]
        if any(root is None for root in roots):
            continue
        bits = max(bits for _, bits in filter(None, roots))
        rows = tuple(_rounded(root, bits) for root, _ in filter(None, roots))
        accepted = certified(
            problem, network, DeepLocal(parts=parts, rho=rho, rotations=rotations, factors=rows, bits=bits)
        )
        if accepted is not None:
            return Proposal(certificate=accepted, reason=FOUND)
    return None


def _one_for_each_point(problem: Problem, network: Network, parts: Sequence[Part]) -> tuple[Part, ...] | None:
    """Parts of one point as one, with the mean of their slopes; None where some have a direction."""
    found: dict[int, list[Part]] = {}
    for part in parts:
        if part.direction is not None and states(problem, network)[part.point].ties:
            return None
        found.setdefault(part.point, []).append(part)
    joined: list[Part] = []
    for point, several in sorted(found.items()):
        total = sum((part.multiplier for part in several), Fraction(0))
        means: Mapping[tuple[int, int], Fraction] = {
            (l, j): sum((part.multiplier * part.slopes[k][2] for part in several), Fraction(0)) * (1 / total)
            for k, (l, j, _) in enumerate(several[0].slopes)
        }
        joined.append(Part(point, total, tuple((l, j, slope) for (l, j), slope in means.items())))
    return tuple(joined)


def _rotations(network: Network, given: Sequence[PolynomialPiece]) -> Iterator[tuple[int, int, int]]:
    """All pairs of units that can be turned into each other."""
    for l, layer in enumerate(network.architecture.layers[:-1]):
        for one, other in combinations(range(layer.outputs), 2):
            try:
                tangent = tangent_of(network, given, (l, one, other))
            except CertificateError:
                continue
            if tangent is not None and any(tangent):
                yield l, one, other


def _matrices(
    network: Network,
    choices: Sequence[Sequence[PolynomialPiece]],
    rotations: tuple[tuple[int, int, int], ...],
    rho: Fraction,
) -> list[list[list[Fraction]]] | None:
    try:
        return [second_order(network, pieces, rotations, rho) for pieces in choices]
    except CertificateError:  # a gain is not below 0
        return None


def _factor(matrix: Floats) -> tuple[Floats, int] | None:
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


def _rounded(root: Floats, bits: int) -> Factor:
    numbers = np.rint(np.ldexp(root, bits))
    return tuple(tuple(int(z) for z in row[: r + 1]) for r, row in enumerate(numbers))
