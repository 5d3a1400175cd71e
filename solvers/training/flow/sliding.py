"""Where a gradient flow of a piecewise smooth objective goes at kinks: through, along, or away (Filippov).

A surface is a unit's z = 0 at a point. Across it -grad F jumps by beta n, n = grad z, for F is continuous; with the
slope a + (1 - a) tau on it, the velocity at surfaces s is V + sum_s tau_s beta_s n_s, 0 <= tau_s <= 1, where V takes
tau = 0. beta < 0: both sides may push towards the surface. Over all tau of such surfaces, the velocity that Filippov's
convention selects is the shortest one, for it is the one whose product with n_s is 0 for 0 < tau_s < 1, <= 0 for
tau_s = 0 and >= 0 for tau_s = 1; it is unique also where the n_s are dependent. beta > 0: both sides may push away;
then the surface is left or crossed, never slid along.

Points whose rows are parallel have their kinks of one unit at the same place: they are one surface.

Source: A. F. Filippov, Differential Equations with Discontinuous Righthand Sides (1988), chapter 2, section 4.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from solvers.arrays import Floats, Indices
from solvers.layers import Layers, Pattern

__all__ = ["Classes", "Surface", "Tangency", "basis", "decide", "normals", "parallel", "strengths"]

Surface: TypeAlias = tuple[int, int, int]
"""(layer, point, unit), all from 0; the point is the first of those whose rows are parallel."""

PARALLEL = 1e-14  # distance of two unit vectors that are one
DEPENDENT = 1e-10  # a unit normal at this distance from the span of others lies in it
NO_JUMP = 1e-14  # a jump of this part of the drift is none
INSIDE = 1e-12  # a tau this far inside [0, 1] is inside


@dataclass(frozen=True, slots=True)
class Classes:
    """The points with parallel rows: x_i = ratio_i x_first(i), the ratio negative where they point apart."""

    first: Indices
    ratio: Floats
    is_trivial: bool  # all points differ

    def members(self, point: int) -> Indices:
        """The points whose row is parallel to that of this first point."""
        return np.flatnonzero(self.first == point)


def parallel(rows: Floats, *, opposite: bool) -> Classes:
    """The classes of parallel rows; `opposite` ones count in the first layer, where z(-x) = -z(x)."""
    lengths = np.linalg.norm(rows, axis=1)
    units = np.divide(rows, lengths[:, None], out=np.zeros_like(rows), where=lengths[:, None] > 0)
    first, ratio = np.arange(len(rows)), np.ones(len(rows))
    for i in range(len(rows)):
        if first[i] < i or not lengths[i]:
            continue
        for sign in (1.0, -1.0) if opposite else (1.0,):
            same = (np.abs(units[i + 1 :] - sign * units[i]).max(axis=1) <= PARALLEL) & (first[i + 1 :] > i)
            found = i + 1 + np.flatnonzero(same)
            first[found], ratio[found] = i, sign * lengths[found] / lengths[i]
    return Classes(first, ratio, bool((first == np.arange(len(rows))).all()))


def normals(layers: Layers, theta: Floats, rows: Floats, pattern: Pattern, surfaces: Sequence[Surface]) -> Floats:
    """grad z of each surface, shape (surfaces, N)."""
    result = np.zeros((len(surfaces), layers.size + 1))  # the last one takes what stands where there is no weight
    for s, (layer, point, unit) in enumerate(surfaces):
        if layer:
            result[s, :-1] = layers.unit_gradient(theta, rows, pattern, layer, point, unit)[0]
        else:
            np.add.at(result[s], layers.places[0][unit], rows[point])
    return result[:, :-1]


def strengths(
    layers: Layers,
    theta: Floats,
    pattern: Pattern,
    pull: Floats,
    surfaces: Sequence[Surface],
    classes: Callable[[int, int], Classes],
) -> Floats:
    """beta of each surface; classes: those of the points, by layer and unit."""
    result = np.zeros(len(surfaces))
    by_slopes = layers.by_activations(theta, len(pull), pattern) if surfaces else []
    for s, (layer, point, unit) in enumerate(surfaces):
        same = classes(layer, unit)
        members = point if same.is_trivial else same.members(point)
        jumps = np.abs(same.ratio[members]) * pull[members] * by_slopes[layer][members, unit]
        result[s] = (1 - layers.slopes[layer]) * float(np.sum(jumps))
    return result


def basis(normals: Floats) -> Floats:
    """Orthonormal rows that span the normals, shape (rank, N)."""
    lengths = np.linalg.norm(normals, axis=1)
    scaled = normals[lengths > 0] / lengths[lengths > 0, None]
    if len(scaled) < 2:
        return scaled
    _, values, rows = np.linalg.svd(scaled, full_matrices=False)
    return rows[values > DEPENDENT]


class Tangency:
    """The tau with which a velocity becomes tangent to surfaces whose normals (surfaces, free) are given."""

    def __init__(self, normals: Floats) -> None:
        self.normals, self.span = normals, basis(normals)
        self.is_independent = len(self.span) == len(normals)
        if self.is_independent and len(normals):
            self._dual = np.linalg.solve(normals @ normals.T, normals)

    def projected(self, velocity: Floats) -> Floats:
        """The part of a velocity that is tangent to all surfaces; the last axis is that of the parameters."""
        return velocity - (velocity @ self.span.T) @ self.span if len(self.span) else velocity

    def needed(self, velocity: Floats, beta: Floats, tau: Floats) -> tuple[Floats, float]:
        """The tau that are needed when `velocity` is that at `tau`, and how far they are inside [0, 1].

        The second is the least of tau_s and 1 - tau_s, negative when a slope leaves its interval. Where the normals
        are dependent tau is not unique: the nearest allowed one is given, and the part of the velocity that stays
        normal decides.
        """
        if not len(beta):
            return np.zeros(0), np.inf
        if not self.is_independent:
            if (beta >= 0).any() or not self.normals.any(axis=1).all():
                return tau, -1.0
            rest = velocity - (tau * beta) @ self.normals
            tau = _bounded(rest, self.normals, beta)
            left = self.span @ (rest + (tau * beta) @ self.normals)
            return tau, 1e-9 - float(np.linalg.norm(left) / max(np.linalg.norm(self.span @ rest), 1e-300))
        change = -(self._dual @ velocity)
        tau = tau + np.divide(change, beta, out=np.where(change == 0, 0.0, np.inf), where=beta != 0)
        return tau, float(np.minimum(tau, 1 - tau).min())


def decide(velocity: Floats, normals: Floats, beta: Floats, start: Floats) -> Floats:
    """The tau of all surfaces at once, given the velocity at tau = 0; 0 or 1 where a surface is left.

    start: tau to begin with where beta > 0: the side towards which a surface is crossed, or 1/2 for none in
    particular. Where both sides push away the choice is `start`, or z > 0.
    """
    drift = normals @ velocity
    is_towards = beta * (normals**2).sum(axis=1) < -NO_JUMP * np.abs(drift)
    towards, away = np.flatnonzero(is_towards), np.flatnonzero(~is_towards)
    tau = np.where(is_towards, 0.0, start)
    for _ in range(2 * len(beta) + 4):
        rest = velocity + (tau[away] * beta[away]) @ normals[away]
        tau[towards] = _bounded(rest, normals[towards], beta[towards])
        drift = normals[away] @ (velocity + (tau * beta) @ normals)
        still = np.where(tau[away] == 0.5, 1.0, tau[away])
        wanted = np.where(drift > 0, 1.0, np.where(drift < 0, 0.0, still))
        changed = np.flatnonzero(wanted != tau[away])
        if not len(changed):
            break
        open_ones = changed[tau[away][changed] == 0.5]
        tau[away[open_ones if len(open_ones) else changed[:1]]] = wanted[open_ones if len(open_ones) else changed[:1]]
    tau[tau < INSIDE] = 0.0
    tau[tau > 1 - INSIDE] = 1.0
    return tau


def _bounded(velocity: Floats, normals: Floats, beta: Floats) -> Floats:
    """argmin over 0 <= tau <= 1 of ||velocity + sum tau beta n||, all beta < 0."""
    if not len(beta):
        return np.zeros(0)
    lengths = np.linalg.norm(normals, axis=1)
    units, most = -normals / lengths[:, None], -beta * lengths
    if len(beta) == 1:
        return np.clip(-(units @ velocity) / most, 0.0, 1.0)
    from scipy.optimize import lsq_linear

    orthogonal, triangle = np.linalg.qr(units.T)
    aim = -(orthogonal.T @ velocity)
    scale = float(np.abs(aim).max()) or 1.0
    solved = lsq_linear(triangle, aim / scale, bounds=(0.0, most / scale), method="bvls", tol=1e-15)
    return np.clip(solved.x * scale / most, 0.0, 1.0)
