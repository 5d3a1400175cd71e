"""The optimality conditions of an active set as a square polynomial system, solved to many digits by Newton's method.

Unknowns: lambda_i on the support, a slope part tau at every kink, an amplitude c for every direction. With
p_C = s_C sum_i (a_iC c_i + tau_iC) x_i (a_iC: 1 where ON, a where OFF or on a kink; c_i = lambda_i y_i for max-margin,
lambda_i for min-norm), linear in the unknowns,

    ||p_C||^2 = 1     x_i.p_C = 0 at kinks     p_C = +-p_D for mirrored directions     sum_C s_C c_C a_iC x_i.p_C = y_i.

Where these do not determine everything, as with mirrored directions or redundant points, the unknowns that floats show
to be free are set to short rationals, and dependent equations are left to the end, where all must hold.

Source: `docs/mathematics.md`, 9.2 "How the numbers are found".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr

from solvers.arrays import Floats
from solvers.programs.nonnegative import nonnegative_least_squares
from verify.deciders.closed_forms.active_set import ActiveSet
from verify.deciders.time_limits import poll
from verify.numbers.floats import to_float
from verify.problem.members import factors, has_margin
from verify.problem.problem import Problem

__all__ = ["DIGITS", "ManyDigits", "PolishedDual", "polish"]

NumberArray: TypeAlias = NDArray[Any]  # floats, or objects: `Fraction`s or mpmath numbers
ManyDigits: TypeAlias = Any  # an mpmath number

DIGITS = 200
"""Decimal digits of the solution: relations with coefficients of at most half as many are no coincidence."""

INDEPENDENT = 1e-7
MOST_STEPS = 30


@dataclass(frozen=True, slots=True)
class PolishedDual:
    """multipliers: of the support.   vectors: the p_C, one row per direction.   mpmath numbers of DIGITS digits.

    is_determined: whether no unknown was free.
    """

    multipliers: list[ManyDigits]
    vectors: list[list[ManyDigits]]
    is_determined: bool


@dataclass(frozen=True, slots=True)
class _PolishingSystem:
    """The equations as arrays, of floats or of objects (mpmath numbers).

    maps: (J, c, inner), p_C = maps[C] @ z, z = (lambda, tau).   reads: (J, m, c), s_C a_iC x_i for the constraints.
    kinks: (owner of the tau, (c,) x_i).   mirrors: (C, D, +-1).   targets: (m,).
    """

    maps: NumberArray
    reads: NumberArray
    targets: NumberArray
    kinks: list[tuple[int, NumberArray]]
    mirrors: list[tuple[int, int, int]]

    def equations(self, unknowns: NumberArray) -> tuple[NumberArray, NumberArray]:
        """Residuals (e,) and Jacobian (e, unknowns)."""
        inner = self.maps.shape[2]
        z, amplitudes = unknowns[:inner], unknowns[inner:]
        p = self.maps @ z
        values, slopes = [], []
        for q, r, sign in self.mirrors:  # first, so that the dependent equations are others
            values.append(p[q] - sign * p[r])
            slopes.append(self.maps[q] - sign * self.maps[r])
        values.append((p * p).sum(axis=1) - 1)
        slopes.append(2 * np.stack([row @ matrix for row, matrix in zip(p, self.maps, strict=True)]))
        for owner, x in self.kinks:
            values.append(np.array([x @ p[owner]], p.dtype))
            slopes.append((x @ self.maps[owner])[None])
        seen = np.stack([read @ row for read, row in zip(self.reads, p, strict=True)], axis=1)  # (m, J)
        values.append(seen @ amplitudes - self.targets)
        by_z = sum(c * (read @ matrix) for c, read, matrix in zip(amplitudes, self.reads, self.maps, strict=True))
        left = np.concatenate([*slopes, by_z])
        right = np.zeros((len(left), len(amplitudes)), left.dtype)
        right[len(left) - len(self.targets) :] = seen
        return np.concatenate(values), np.concatenate([left, right], axis=1)

    def converted(self, number: Callable[[Fraction], object]) -> _PolishingSystem:
        """The same arrays in other numbers."""
        to = cast("Callable[[NumberArray], NumberArray]", np.frompyfunc(number, 1, 1))
        kinks = [(owner, to(x)) for owner, x in self.kinks]
        return _PolishingSystem(to(self.maps), to(self.reads), to(self.targets), kinks, self.mirrors)


def _system(problem: Problem, active: ActiveSet) -> _PolishingSystem:
    margin, slope, targets = has_margin(problem.goal), problem.architecture.slope, problem.data.targets
    every = factors(problem)
    rows = np.array(problem.rows, object)
    points = list(active.support) if margin else list(range(len(targets)))
    kinks = [(q, i) for q, found in enumerate(active.directions) for i in active.support if not found.pattern[i]]
    maps, reads, seen = [], [], []
    for q, direction in enumerate(active.directions):
        masked = rows * 0
        columns = list(problem.mask_classes[direction.mask])
        masked[:, columns] = rows[:, columns]
        seen.append(masked)
        gains = np.array([Fraction(1) if sign > 0 else slope for sign in direction.pattern], object)
        read = direction.sign * gains[:, None] * masked
        slopes = [masked[i] * (direction.sign * (owner == q)) for owner, i in kinks]
        maps.append(np.stack([*(read[i] * every[i] for i in active.support), *slopes], axis=1))
        reads.append(read[points])
    return _PolishingSystem(
        maps=np.stack(maps),
        reads=np.stack(reads),
        targets=np.array([targets[i] for i in points], object),
        kinks=[(q, seen[q][i]) for q, i in kinks],
        mirrors=active.mirrors,
    )


def polish(problem: Problem, active: ActiveSet, accuracy: Fraction) -> PolishedDual | None:
    """The solution near the active set's float values to DIGITS digits; None where Newton's method does not converge.

    accuracy: how near to their float values unknowns that the equations leave free are set, relative to the largest.
    """
    from mpmath import mp

    system = _system(problem, active)
    near = system.converted(to_float)
    floats = _PolishingSystem(
        near.maps.astype(float),
        near.reads.astype(float),
        near.targets.astype(float),
        [(owner, x.astype(float)) for owner, x in near.kinks],
        near.mirrors,
    )
    start = _float_solution(floats, active)
    if start is None:
        return None
    rows, columns = _independent(floats.equations(start)[1])
    free = sorted(set(range(len(start))) - set(columns))
    with mp.workdps(DIGITS + 20):
        exact = system.converted(lambda value: mp.mpf(value.numerator) / value.denominator)
        unknowns = np.array([mp.mpf(float(value)) for value in start], object)
        for k in free:
            short = _short(float(start[k]), to_float(accuracy) * float(np.abs(start).max()))
            unknowns[k] = mp.mpf(short.numerator) / short.denominator
        for _ in range(MOST_STEPS):
            poll()
            values, jacobian = exact.equations(unknowns)
            size = max(map(abs, values))
            if size < mp.mpf(10) ** -DIGITS:
                inner = exact.maps.shape[2]
                vectors = exact.maps @ unknowns[:inner]
                return PolishedDual(list(unknowns[: len(active.support)]), [list(row) for row in vectors], not free)
            try:
                step = mp.lu_solve(
                    mp.matrix(jacobian[np.ix_(rows, columns)].tolist()), mp.matrix(values[rows].tolist())
                )
            except ZeroDivisionError:
                return None
            unknowns[columns] -= np.array(list(step), object)
    return None


def _float_solution(system: _PolishingSystem, active: ActiveSet) -> Floats | None:
    """Gauss-Newton steps of least norm from the float guess; amplitudes by least squares first."""
    inner = system.maps.shape[2]
    unknowns = np.zeros(inner + len(system.maps))
    unknowns[: len(active.support)] = active.multipliers
    wanted = np.concatenate([[found.vector for found in active.directions]], axis=0).astype(float)
    taus = slice(len(active.support), inner)
    rest = (wanted - system.maps @ unknowns[:inner]).ravel()
    unknowns[taus] = np.linalg.lstsq(system.maps[:, :, taus].reshape(rest.size, -1), rest, rcond=1e-9)[0]
    seen = np.stack([read @ row for read, row in zip(system.reads, wanted, strict=True)], axis=1)
    unknowns[inner:] = nonnegative_least_squares(seen, system.targets)
    for _ in range(MOST_STEPS):
        values, jacobian = system.equations(unknowns)
        unknowns = unknowns - np.linalg.lstsq(jacobian, values, rcond=INDEPENDENT)[0]
    return unknowns if np.abs(system.equations(unknowns)[0]).max() < 1e-9 else None


def _independent(jacobian: Floats) -> tuple[list[int], list[int]]:
    """Rows and columns of a regular square part, of full rank."""
    _, triangle, order = cast("tuple[Floats, Floats, Floats]", qr(jacobian, mode="economic", pivoting=True))
    diagonal = np.abs(np.diag(triangle))
    columns = sorted(int(k) for k in order[: int((diagonal > INDEPENDENT * diagonal.max()).sum())])
    _, _, order = cast("tuple[Floats, Floats, Floats]", qr(jacobian[:, columns].T, mode="economic", pivoting=True))
    return sorted(int(k) for k in order[: len(columns)]), columns


def _short(value: float, distance: float) -> Fraction:
    """The rational with the least denominator within the distance (by continued fractions)."""
    limit = 1
    while abs((short := Fraction(value).limit_denominator(limit)) - Fraction(value)) > distance:
        limit *= 2
    return short
