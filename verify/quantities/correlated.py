"""The quantities of arXiv:2306.06479 for points that are correlated with a teacher neuron.

A network is z_j with output weights s_j |z_j|, of which training starts at small multiples lambda. X has the points as
rows, y = X v*, and eta_1 > .. > eta_d are the eigenvalues of X^T X / n with eigenvectors u_k, nu*_k = v*.u_k > 0.

Directions, kinks and their order are exact; times, eigenvalues and what is made of these are floats.

Source: arXiv:2306.06479, sections 3 to 7.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import log, sqrt
from typing import final

import numpy as np

from solvers.arrays import Floats
from verify.checker.exact import dot
from verify.deciders.rounding import rank, solve_exactly
from verify.errors import InputError
from verify.numbers.floats import to_float, to_floats, to_matrix
from verify.problem.network import Network
from verify.problem.problem import Dataset
from verify.quantities.teacher_cones import SignOfM, bracket_of_m, inverse_columns, sign_of_m
from verify.quantities.yardsticks import Stage, half_tangent, log_growth, yardstick

__all__ = [
    "EPSILON",
    "Constants",
    "Yardstick",
    "broken_constraint",
    "constants",
    "m_bracket",
    "m_sign",
    "part_of_s",
    "teacher",
    "yardsticks",
]

EPSILON = 0.25
"""epsilon of Assumption 2, the largest: the least is asked of the scale, and the least is promised."""


def teacher(data: Dataset) -> tuple[Fraction, ...] | None:
    """v* with v*.x_i = y_i for all i, exactly; None when there is none, or more than one."""
    rows = data.inputs
    found = solve_exactly(rows, data.targets)
    return None if found is None or rank(rows) < len(rows[0]) else tuple(found)


def m_sign(data: Dataset) -> SignOfM:
    """The sign of M, which decides whether the single teacher is the interpolator of least norm (Theorem 8): n = d.

    1 is exact, with p and q that show it; -1 rests on floats; 0: too near 0 to tell. Raises InputError.
    """
    return sign_of_m(*_cones(data))


def m_bracket(data: Dataset, accuracy: float = 1e-3) -> tuple[float, float]:
    """A lower and an upper end of M, in floats, that are `accuracy` apart or less, but where d > 4 takes too long.

    M = max over K and p in cone(chi_K), q in cone(chi_k: k not in K) of cos(p, q) - sin(p, v*). n = d.
    Raises InputError.
    """
    return bracket_of_m(*_cones(data), accuracy)


def _cones(data: Dataset) -> tuple[list[list[Fraction]], tuple[Fraction, ...]]:
    found, chi = teacher(data), inverse_columns(data.inputs)
    if found is None or chi is None:
        raise InputError("M is of as many independent points as there are inputs")
    if len(found) == 1:
        raise InputError("M is of two dimensions or more")
    return chi, found


@final
@dataclass(frozen=True, slots=True)
class Yardstick:
    """alpha_j of an active neuron j: its sign s_j and its stages, with the times tau at which they end."""

    neuron: int
    sign: int
    stages: tuple[Stage, ...]

    @property
    def times(self) -> list[float]:
        """tau^1 < tau^2 < .., of the kinks met."""
        return np.cumsum([stage.duration for stage in self.stages if stage.end is not None]).tolist()

    @property
    def order(self) -> list[int]:
        """The points whose kinks are met, where it is one at a time."""
        return [point for stage in self.stages for point in stage.points]

    def log_growth(self, time: float) -> float:
        """log |alpha| / |z| at a time."""
        return log_growth(self.stages, self.sign, time)

    def half_tangent(self, time: float) -> float:
        """tan of half the angle to the last pull, at a time in the last stage."""
        last, since = self.stages[-1], time - sum(stage.duration for stage in self.stages[:-1])
        rate = sqrt(to_float(dot(last.pull, last.pull)))
        return half_tangent(last.start, last.pull) * np.exp(-self.sign * rate * since)


def yardsticks(network: Network, data: Dataset) -> tuple[Yardstick, ...]:
    """Those of all neurons that are active at some point: d alpha/dt = s_j |alpha| gamma_I from z_j."""
    found: list[Yardstick] = []
    for j, (z, a) in enumerate(zip(network.hidden_weights, network.output_weights, strict=True)):
        if any(dot(z, x) > 0 for x in data.inputs):
            sign = 1 if a > 0 else -1
            found.append(Yardstick(j, sign, tuple(yardstick(z, sign, data.inputs, data.targets))))
    return tuple(found)


@final
@dataclass(frozen=True, slots=True)
class Constants:
    """Of section 3, in floats.

    eta (d,): the eigenvalues of X X^T / n, falling.   basis (d, d): their eigenvectors u_k as columns, with v*.u_k > 0.
    teacher (d,): nu*_k = v*.u_k.   gamma (d,), of all points.   delta, bound (Delta).   rest (T_0): when all kinks have
    been met, and 1 more.
    """

    eta: Floats
    basis: Floats
    teacher: Floats
    gamma: Floats
    delta: float
    bound: float
    rest: float

    @property
    def pull(self) -> float:
        """|gamma|."""
        return float(np.linalg.norm(self.gamma))

    def aligned(self, scale: float) -> float:
        """T_1 = epsilon log(1 / lambda) / |gamma|."""
        return EPSILON * log(1 / scale) / self.pull

    def fitted(self, scale: float) -> float:
        """What T_2 of Theorem 6 is less than: log(1 / lambda) (4 + epsilon) d Delta^2 / delta^6."""
        return log(1 / scale) * (4 + EPSILON) * len(self.eta) * self.bound**2 / self.delta**6


def constants(network: Network, data: Dataset) -> Constants:
    """delta, Delta, T_0 and the eigenvectors; nan or infinite where the assumptions of the paper do not hold."""
    rows = to_matrix(data.inputs)
    z = to_matrix(network.hidden_weights)
    targets = to_floats(data.targets)
    n, d = rows.shape
    values, vectors = np.linalg.eigh(rows.T @ rows / n)
    eta, basis = values[::-1].copy(), vectors[:, ::-1].copy()
    single = np.linalg.lstsq(rows, targets, rcond=None)[0]
    basis *= np.where(single @ basis < 0, -1.0, 1.0)
    gamma = rows.T @ targets / n
    sizes = np.linalg.norm(rows, axis=1)
    units = rows / sizes[:, None]
    gaps = (np.sqrt(eta[:-1]) - np.sqrt(eta[1:])) * (d - 1)
    neurons = np.linalg.norm(z, axis=1)
    parts = [sizes.min(), (units @ units.T).min(), gaps.min(), np.sqrt(eta[-1])]
    parts += [(single @ basis).min() * np.sqrt(d), neurons.min()]
    last = 0.0
    for found in yardsticks(network, data):
        parts += _of_a_yardstick(found, units)
        last = max([last, *found.times])
    largest = float(max(sizes.max(), neurons.max(), 1.0))
    return Constants(
        eta, basis, np.asarray(single @ basis, dtype=np.float64), gamma, float(min(parts)), largest, last + 1.0
    )


def _of_a_yardstick(found: Yardstick, units: Floats) -> list[float]:
    """Its part in delta. The |cosines| along a stage, which moves in a plane without a kink, are least at its ends."""
    first = found.stages[0]
    t = half_tangent(first.start, first.pull)
    parts = [(1 - t * t) / (1 + t * t) if found.sign > 0 else 2 * t / (1 + t * t)]
    before: frozenset[int] = frozenset()
    for stage in found.stages:
        if stage.end is None:
            break
        others = [i for i in range(len(units)) if i not in stage.points | before]
        for point in (stage.start, stage.end):
            alpha = to_floats(point)
            cosines = units @ alpha / np.linalg.norm(alpha)
            parts += np.abs(cosines[others]).tolist()
            if found.sign < 0 and stage is first and point is stage.start:
                parts += cosines[list(stage.points)].tolist()
        parts.append(stage.duration)
        before = stage.points
    return parts


def part_of_s(v: Floats, known: Constants, scale: float) -> int | None:
    """l, from 1, for v in S_l: in floats, without a tolerance; None outside of S.

    v: shape (d,), the sum of a_j w_j over the positive neurons.   scale: lambda.
    """
    r = v @ known.basis / known.teacher
    part = 0
    while part < len(r) - 1 and r[part] > 1:
        part += 1
    return None if broken_constraint(r, part, known, scale) else part + 1


def broken_constraint(r: Floats, part: int, known: Constants, scale: float, noise: float = 0.0) -> str:
    """Which constraint of S_(part + 1) is broken, by more than `noise`; "" for none.

    r: nu_k / nu*_k, shape (d,).   scale: lambda. Xi is read with both factors normalised.
    """
    eta = known.eta
    if (r[:part] <= 1 - noise).any():
        return f"a coordinate before {part + 1} fell back"
    if r[part] > 1 + noise:
        return "the last coordinate is above 1"
    if part and not eta[part] / (2 * eta[part - 1]) < r[part] + noise:
        return f"Phi is broken in part {part + 1}"
    for k in range(part, len(r)):
        for later in range(k + 1, len(r)):
            ratio = eta[later] / eta[k]
            if not ratio / 2 * r[k] < r[later] * (1 + noise):
                return f"Psi-down of {k + 1} and {later + 1} is broken"
            if not 1 - r[later] > max(0.0, 1 - r[k]) ** (0.5 + ratio / 2) * (1 - noise) - noise * r[later]:
                return f"Psi-up of {k + 1} and {later + 1} is broken"
    v, pull = r * known.teacher, eta * (1 - r) * known.teacher
    if not v @ pull > scale ** (EPSILON / 3) * np.linalg.norm(v) * np.linalg.norm(pull):
        return "Xi is broken"
    return ""
