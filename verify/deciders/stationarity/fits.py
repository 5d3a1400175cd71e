"""Multipliers in floats: guesses, for every sign branch where the constraints are equations."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from verify.deciders.stationarity.model import KktSubject, is_one_sided
from verify.deciders.time_limits import is_late, poll
from verify.numbers.floats import to_float
from verify.problem.problem import Problem

if TYPE_CHECKING:
    from solvers.kkt.residual import KktFit

__all__ = ["MAX_BRANCHES", "WEIGHTS", "active_constraints", "branches", "fits_within", "kink_points", "sign_vectors"]

WEIGHTS = tuple(10.0**e for e in (4, 3, 2, 1.5, 1, 0.5, 0, -0.5, -1))
"""Weights rho on complementarity that are tried: small ones allow a larger delta for a smaller epsilon."""


MAX_BRANCHES = 10
"""Min-norm: points with kinks beyond which the sign branches are not enumerated."""


def active_constraints(subject: KktSubject) -> np.ndarray:
    """The constraints without slack, in order."""
    return np.array([i for i, slack in enumerate(subject.slacks) if slack == 0], int)


def branches(problem: Problem, subject: KktSubject, rho: float, active: np.ndarray | None) -> Iterator[KktFit]:
    """The fits of every sign branch (min-norm with kinks), or the one fit; best first."""
    from solvers.kkt.residual import fit_multipliers

    if is_one_sided(problem):
        yield fit_multipliers(subject.model, rho, candidates=active)
        return
    points = kink_points(problem, subject)
    fits = []
    for negative in sign_vectors(points):
        fits.append(fit_multipliers(subject.model, rho, candidates=active, free_signs=True, negative=negative))
        if fits[-1].epsilon < 1e-9:
            break
    yield from sorted(fits, key=lambda fit: fit.epsilon)


def kink_points(problem: Problem, subject: KktSubject) -> list[int]:
    """The points at which a neuron with an outgoing weight has its kink; none of linear networks."""
    if problem.architecture.slope == 1:
        return []
    outgoing = subject.network.output_weights
    return sorted({i for i, j in subject.kinks if outgoing[j] != 0})


def sign_vectors(points: list[int]) -> Iterator[frozenset[int]]:
    """Every choice of the points whose multiplier is negative; none beyond `MAX_BRANCHES` points."""
    if len(points) > MAX_BRANCHES:
        return
    for choice in itertools.product((False, True), repeat=len(points)):
        poll()
        yield frozenset(i for i, negative in zip(points, choice, strict=True) if negative)


def fits_within(problem: Problem, subject: KktSubject, tolerance: Fraction, deadline: float | None) -> Iterator[KktFit]:
    """Fits with smaller and smaller weight on complementarity, until one is within the tolerance or delta is too
    large.
    """
    weights = WEIGHTS if is_one_sided(problem) else (1.0,)
    for rho in weights:
        if is_late(deadline):
            return
        for fit in itertools.islice(branches(problem, subject, rho, None), 1):
            yield fit
            if max(fit.epsilon, fit.delta) <= to_float(tolerance) * 0.999999 or fit.delta > 2 * to_float(tolerance):
                return
