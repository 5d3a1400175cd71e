"""A network of any depth made stationary to rounding: Newton's method at a support and at kinks that are held.

Unknown are theta, the multipliers lambda of the support S and products nu at the held kinks, (point, layer, unit):

    theta = sum_S lambda_i y_i grad f^g(x_i) + sum nu_u grad z_u        y_i f^g(x_i) = 1  (S)        z_u = 0  (kinks)

g the slopes of the sides, and the middle of the interval at kinks. What the slope of a kink has to be for theta to be
the sum of lambda_i y_i grad f^g(x_i) is read off from the last layer down. Where one lies outside [a, 1] the kink is
let go to that side, where a multiplier is below 0 its point is left out, and points and kinks that the steps run into
are taken in. Where a slope is that of a side, units that are equal at all points may have been turned to the kink: they
are turned back.

Heuristic: nothing is promised about where it ends; the caller proves what it says of that.

Source: `docs/mathematics.md`, 13.10 "Local optima near a network of any depth".
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from solvers.arrays import Floats, Indices
from solvers.clock import poll
from solvers.layers import Layers

__all__ = ["DeepPoint", "DeepPolish"]

READINGS = ((1e-3, 1e-2), (1e-5, 1e-4), (3e-2, 0.3), (1e-3, 0.1))
"""How near, relative to the scale of its layer, a preactivation is to a kink that is held at first, and how far above 1
the margin of a point of the first support: tried in turn.
"""

ROUNDS, STEPS = 60, 15
CLOSE = 1e-12
"""A residual of Newton's method at which its steps end."""

STEP = 0.3
"""Of the norm: the longest step."""

NOTHING = 1e-9
"""By so much multipliers and slopes may be out of their ranges."""

OPENINGS = (1e-2, 1e-3, 1e-4)
"""Of the norm: how far units are turned away from kinks that hold nothing."""

FLAT = 1e-9
"""Singular values below this part of the largest one are taken for 0."""

Kink = tuple[int, int, int]
"""(point, layer, unit)."""


@dataclass(frozen=True, slots=True, eq=False)
class DeepPoint:
    """A KKT point in floats, at margin 1: theta (N,), multipliers (n,), slopes where units of the support are at 0."""

    theta: Floats
    multipliers: Floats
    slopes: dict[Kink, float]


@dataclass
class _Reading:
    """Points that are active, kinks that are held, and the signs of all preactivations, for each layer (n, outputs)."""

    theta: Floats
    support: list[int]
    kinks: list[Kink]
    sides: list[Floats]
    multipliers: Floats = field(default_factory=lambda: np.zeros(0))
    products: Floats = field(default_factory=lambda: np.zeros(0))

    @property
    def key(self) -> tuple[object, ...]:
        """What tells one reading from another."""
        return tuple(self.support), tuple(sorted(self.kinks)), *(side.tobytes() for side in self.sides)


@dataclass(frozen=True)
class DeepPolish:
    """rows (n, columns), signs (n,) of 1 and -1: the data of a max-margin problem."""

    layers: Layers
    rows: Floats
    signs: Floats

    def points(self, theta: Floats) -> Iterator[DeepPoint]:
        """KKT points near a network that fits, by one reading of its kinks after the other, each once; maybe none."""
        margins = self.signs * self.layers.outputs(theta, self.rows)
        if not margins.min() > 0:
            return
        theta = theta * margins.min() ** (-1 / len(self.layers.places))
        known: list[DeepPoint] = []
        for width, slack in READINGS:
            found = self._settled(self._read(theta, width, slack))
            if found is not None and not any(_is_same(found, one) for one in known):
                known.append(found)
                yield found

    def _read(self, theta: Floats, width: float, slack: float) -> _Reading:
        values = self.layers.preactivations(theta, self.rows)
        margins = self.signs * values[-1][:, 0]
        support = [int(i) for i in np.flatnonzero(margins < 1 + slack)]
        kinks = [
            (i, l, int(j))
            for i in support
            for l, z in enumerate(values[:-1])
            for j in np.flatnonzero(np.abs(z[i]) < width * np.abs(z).max())
            if self.layers.slopes[l] != 1
        ]
        return _Reading(theta, support, kinks, [np.where(z > 0, 1.0, -1.0) for z in values[:-1]])

    def _settled(self, reading: _Reading) -> DeepPoint | None:
        """The KKT point where a reading no longer changes; None where Newton's method fails, or readings return."""
        seen: set[tuple[object, ...]] = set()
        for _ in range(ROUNDS):
            poll()
            if reading.key in seen or not reading.support:
                return None
            seen.add(reading.key)
            pattern = self._pattern(reading)
            if not self._newton(reading, pattern):
                return None
            slopes = self._slopes(reading, pattern)
            if not self._is_changed(reading, slopes):
                return self._opened(reading, slopes) or self._told(reading, slopes)
        return None

    def _opened(self, reading: _Reading, slopes: dict[Kink, float]) -> DeepPoint | None:
        """A KKT point beside this one where kinks are let go whose slopes are those of a side; None where none is.

        Equal units may be turned into each other without a change of anything that counts, until one of them is at a
        kink; what was held there is turned back.
        """
        ends = {kink for kink, g in slopes.items() if min(g - self.layers.slopes[kink[1]], 1 - g) < NOTHING}
        if not ends:
            return None
        kinks = [kink for kink in reading.kinks if kink not in ends]
        sides = [side.copy() for side in reading.sides]
        for i, l, j in ends:
            sides[l][i, j] = 1.0 if slopes[i, l, j] > (1 + self.layers.slopes[l]) / 2 else -1.0
        products = np.array([nu for kink, nu in zip(reading.kinks, reading.products, strict=True) if kink in kinks])
        opened = _Reading(reading.theta, reading.support, kinks, sides, reading.multipliers, products)
        pattern = self._pattern(opened)
        direction = self._free_direction(opened, pattern, ends)
        if direction is None:
            return None
        for length in OPENINGS:
            poll()
            tried = replace(opened, theta=reading.theta + length * float(np.linalg.norm(reading.theta)) * direction)
            if not self._newton(tried, pattern):
                continue
            found = self._slopes(tried, pattern)
            if not self._is_changed(replace(tried, support=[*tried.support], kinks=[*kinks]), found):
                return self._told(tried, found)
        return None

    def _free_direction(self, reading: _Reading, pattern: list[Floats], ends: Collection[Kink]) -> Floats | None:
        """Of length 1, along which the equations stay true to first order and all of these units go to their sides."""
        both = self._rows(reading, pattern, reading.theta)
        A = self._matrix(reading, pattern, reading.theta, np.concatenate([reading.multipliers, reading.products]), both)
        _, sizes, V = np.linalg.svd(A)
        kernel = V[sizes < FLAT * sizes[0], : self.layers.size]
        rates = [
            reading.sides[l][i, j] * self.layers.unit_gradient(reading.theta, self.rows, pattern, l, i, j)[0]
            for i, l, j in ends
        ]
        own = kernel @ np.array(rates).T
        shares = np.asarray(np.linalg.lstsq(own.T, np.ones(len(rates)), rcond=1e-9)[0], dtype=np.float64)
        direction = shares @ kernel
        length = float(np.linalg.norm(direction))
        if not length or not (shares @ own > 0.5).all():
            return None
        return direction / length

    def _told(self, reading: _Reading, slopes: dict[Kink, float]) -> DeepPoint:
        """The point, with tiny parameters at 0, and the slope of the side where other units of the support are at 0."""
        theta = np.where(np.abs(reading.theta) < CLOSE * np.abs(reading.theta).max(), 0.0, reading.theta)
        multipliers = np.zeros(len(self.rows))
        multipliers[reading.support] = np.maximum(reading.multipliers, 0.0)
        found = {kink: float(np.clip(g, self.layers.slopes[kink[1]], 1.0)) for kink, g in slopes.items()}
        values = self.layers.preactivations(theta, self.rows)
        for l, (z, side, a) in enumerate(zip(values, reading.sides, self.layers.slopes, strict=False)):
            for i in reading.support:
                for j in np.flatnonzero(np.abs(z[i]) < CLOSE * np.abs(z).max()):
                    found.setdefault((i, l, int(j)), 1.0 if side[i, j] > 0 else a)
        return DeepPoint(theta, multipliers, found)

    def _pattern(self, reading: _Reading) -> list[Floats]:
        found = [np.where(side > 0, 1.0, a) for side, a in zip(reading.sides, self.layers.slopes, strict=True)]
        for i, l, j in reading.kinks:
            found[l][i, j] = (1 + self.layers.slopes[l]) / 2
        return found

    def _newton(self, reading: _Reading, pattern: list[Floats]) -> bool:
        """Newton's steps, the shortest in least squares, from the nearest multipliers; whether they end near a zero."""
        layers, rows, S = self.layers, self.rows, np.array(reading.support)
        signs = self.signs[S]
        theta, size, count = reading.theta, layers.size, len(S)
        numbers: Floats | None = None
        residual = np.inf
        for _ in range(STEPS):
            both = self._rows(reading, pattern, theta)
            if numbers is None:
                numbers = np.asarray(np.linalg.lstsq(both.T, theta, rcond=1e-10)[0], dtype=np.float64)
            values = layers.preactivations_at(theta, rows, pattern)
            z = np.array([values[l][i, j] for i, l, j in reading.kinks])
            F = np.concatenate([theta - both.T @ numbers, signs * values[-1][S, 0] - 1, z])
            residual = float(np.abs(F).max())
            if not np.isfinite(residual) or residual < CLOSE:
                break
            A = self._matrix(reading, pattern, theta, numbers, both)
            step: Floats = -np.asarray(np.linalg.lstsq(A, F, rcond=1e-11)[0], dtype=np.float64)
            length = float(np.linalg.norm(step[:size]))
            step *= min(1.0, STEP * float(np.linalg.norm(theta)) / max(length, 1e-300))
            theta, numbers = theta + step[:size], numbers + step[size:]
        if numbers is None or not residual < NOTHING:
            return False
        reading.theta, reading.multipliers, reading.products = theta, numbers[:count], numbers[count:]
        return True

    def _rows(self, reading: _Reading, pattern: list[Floats], theta: Floats) -> Floats:
        """The gradients of the margins of the support and of the preactivations at kinks."""
        S, size = np.array(reading.support), self.layers.size
        J = self.layers.jacobian(theta, self.rows[S], [g[S] for g in pattern]) * self.signs[S][:, None]
        Z = [self.layers.unit_gradient(theta, self.rows, pattern, l, i, j)[0] for i, l, j in reading.kinks]
        return np.vstack([J, np.array(Z).reshape(-1, size)])

    def _matrix(self, reading: _Reading, pattern: list[Floats], theta: Floats, numbers: Floats, both: Floats) -> Floats:
        """The derivative of the equations; numbers: multipliers and products."""
        S, count = np.array(reading.support), len(reading.support)
        H = self._hessian(theta, pattern, S, self.signs[S] * numbers[:count], reading.kinks, numbers[count:])
        return np.block([[H, -both.T], [both, np.zeros((len(both), len(both)))]])

    def _hessian(
        self, theta: Floats, pattern: list[Floats], support: Indices, pull: Floats, kinks: list[Kink], nu: Floats
    ) -> Floats:
        """Of 1/2 ||theta||^2 - sum pull_i f^g(x_i) - sum nu_u z_u."""
        layers = self.layers
        H = np.eye(layers.size) - layers.hessian(theta, self.rows[support], [g[support] for g in pattern], pull)
        for (i, l, j), weight in zip(kinks, nu, strict=True):
            if l and weight:
                below = Layers((*layers.places[:l], layers.places[l][[j]]), layers.slopes[:l])
                own = below.hessian(
                    theta[: below.size], self.rows[[i]], [g[[i]] for g in pattern[:l]], np.array([weight])
                )
                H[: below.size, : below.size] -= own
        return H

    def _slopes(self, reading: _Reading, pattern: list[Floats]) -> dict[Kink, float]:
        """What the slopes at the kinks have to be; nan where a unit has no effect."""
        matrices = self.layers.matrices(reading.theta)
        held = dict(zip(reading.kinks, reading.products, strict=True))
        found: dict[Kink, float] = {}
        for i, multiplier in zip(reading.support, reading.multipliers, strict=True):
            pull = np.array([multiplier * self.signs[i]])
            for l in reversed(range(len(pattern))):
                back = matrices[l + 1].T @ pull
                pull = pattern[l][i] * back
                for j in range(len(back)):
                    if (i, l, j) in held:
                        pull[j] += held[i, l, j]
                        found[i, l, j] = float(pull[j] / back[j]) if back[j] else float("nan")
        return found

    def _is_changed(self, reading: _Reading, slopes: dict[Kink, float]) -> bool:
        """Change one thing that keeps the point from being a KKT point; whether there is one."""
        numbers = reading.multipliers
        if numbers.min(initial=0.0) < -NOTHING:
            dropped = reading.support.pop(int(np.argmin(numbers)))
            reading.kinks = [kink for kink in reading.kinks if kink[0] != dropped]
            return True
        out = [
            (max(self.layers.slopes[kink[1]] - g, g - 1.0), kink)
            for kink, g in slopes.items()
            if not self.layers.slopes[kink[1]] - NOTHING <= g <= 1 + NOTHING
        ]
        if out:
            _, kink = max(out, key=lambda pair: -1.0 if np.isnan(pair[0]) else pair[0])
            reading.kinks.remove(kink)
            reading.sides[kink[1]][kink[0], kink[2]] = 1.0 if slopes[kink] > 1 else -1.0
            return True
        return self._runs_into(reading)

    def _runs_into(self, reading: _Reading) -> bool:
        values = self.layers.preactivations(reading.theta, self.rows)
        margins = self.signs * values[-1][:, 0]
        missed = [i for i in np.flatnonzero(margins < 1 - NOTHING) if i not in reading.support]
        if missed:
            reading.support = sorted([*reading.support, int(min(missed, key=lambda i: margins[i]))])
            return True
        for l, z in enumerate(values[:-1]):
            scale = float(np.abs(z).max())
            for i in range(len(z)):
                if i not in reading.support:
                    reading.sides[l][i] = np.where(z[i] > 0, 1.0, -1.0)
            crossed = z * reading.sides[l] < -CLOSE * scale
            for i, j in zip(*np.nonzero(crossed), strict=True):
                if self.layers.slopes[l] != 1 and (int(i), l, int(j)) not in reading.kinks:
                    reading.kinks.append((int(i), l, int(j)))
                    return True
        return False


def _is_same(one: DeepPoint, other: DeepPoint) -> bool:
    return one.slopes.keys() == other.slopes.keys() and bool(np.abs(one.theta - other.theta).max() < NOTHING)
