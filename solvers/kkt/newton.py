"""A nearly stationary two-layer network made stationary to rounding: Newton's method at fixed pattern and support.

Neurons of one sign, mask and pattern (ON, OFF or KINK at every point) are parallel at every KKT point, so that they
enter as one. Unknown are the w_C, v_C, the multipliers lambda_i of the support S and the products mu at its kinks:

    w_C = v_C sum_S c_i (lambda_i g_iC + mu_iC) x_i        v_C = sum_S c_i lambda_i g_iC x_i.w_C       (g = 0 at kinks)
    sum_C v_C g_iC x_i.w_C = y_i  (i in S)                 x_i.w_C = 0  (kinks in S)                   c_i = y_i or 1

Each step is the shortest in least squares, so that a whole face of solutions is reached near where the start was. The
result is a guess like any other: the caller reads it again, with all points and intervals.

Source: `docs/mathematics.md`, 4.1 "The KKT conditions" and 8.1 "The equations of a point".
"""

from __future__ import annotations

from typing import Final

import numpy as np

from solvers.arrays import Bits, Floats, Indices
from solvers.clock import poll
from solvers.kkt.reading import Frame, KinkReading

__all__ = ["newton"]


STEPS: Final = 12
MOST_UNKNOWNS: Final = 1500
"""Beyond this a step takes more than a second."""

FAR: Final = 0.5
"""A step longer than this part of the network leads elsewhere."""

FINISHED: Final = 1e-15
"""Equations that hold to this part of ||theta|| are not improved further."""


def newton(frame: Frame, reading: KinkReading, support: Bits) -> tuple[Floats, Floats] | None:
    """W and v of the stationary network near a reading, with this support (n,); None when none is near."""
    groups = _groups(frame, reading)
    if not len(groups):
        return None
    system = _NewtonSystem(frame, reading, support, groups)
    if system.size > MOST_UNKNOWNS:
        return None
    z = system.start()
    length = float(np.linalg.norm(z[: system.parameters]))
    for _ in range(STEPS):
        poll()
        values, jacobian = system(z)
        if not np.isfinite(values).all():
            return None
        if np.abs(values).max() <= FINISHED * length:
            break
        step = np.linalg.lstsq(jacobian, values, rcond=1e-11)[0]
        if np.linalg.norm(step[: system.parameters]) > FAR * length:
            return None
        z = z - step
    return system.network(z)


def _groups(frame: Frame, reading: KinkReading) -> list[Indices]:
    """Neurons that are parallel at every KKT point; those that are zero or never on are left out."""
    z = reading.weights @ frame.instance.rows.T
    sides = np.where(reading.near, 0, np.where(z > 0, 1, -1)).astype(np.int8)
    slope = frame.instance.slope
    if slope == 1:
        sides[:] = 1
    found: dict[tuple[int, int, bytes], list[int]] = {}
    for j in np.flatnonzero((reading.outgoing != 0) & reading.weights.any(axis=1)):
        if slope == 0 and not (sides[j] > 0).any():
            continue
        sign = 1 if slope == 1 else int(np.sign(reading.outgoing[j]))
        found.setdefault((sign, int(frame.classes[j]), sides[j].tobytes()), []).append(int(j))
    return [np.array(members) for members in found.values()]


class _NewtonSystem:
    """The equations; z is W (C, c), v (C,), lambda (S,), mu (kinks,)."""

    def __init__(self, frame: Frame, reading: KinkReading, support: Bits, groups: list[Indices]) -> None:
        instance = frame.instance
        firsts = np.array([members[0] for members in groups])
        self.frame, self.reading, self.groups = frame, reading, groups
        self.at = np.flatnonzero(support)
        self.seen = frame.seen[firsts]
        self.rows = instance.rows[self.at]
        self.c = instance.signs[self.at]
        self.targets = instance.targets[self.at]
        near = reading.near[firsts][:, self.at]
        on = reading.weights[firsts] @ self.rows.T > 0
        self.g = np.where(near, 0.0, np.where(on, 1.0, instance.slope)).T  # (S, C)
        self.kink_group, self.kink_point = np.nonzero(near)
        self.count, self.columns = self.seen.shape
        self.parameters = self.count * (self.columns + 1)
        self.size = self.parameters + len(self.at) + len(self.kink_group)

    def start(self) -> Floats:
        """The reading, its groups summed and balanced."""
        reading = self.reading
        W, v = np.zeros((self.count, self.columns)), np.zeros(self.count)
        for place, members in enumerate(self.groups):
            u = (reading.outgoing[members, None] * reading.weights[members]).sum(axis=0)
            sign = np.sign(reading.outgoing[members[0]])
            root = np.sqrt(np.linalg.norm(u))
            W[place], v[place] = sign * u / root if root else u, sign * root
        products = reading.products[[self.groups[g][0] for g in self.kink_group], self.at[self.kink_point]]
        return np.concatenate([W.ravel(), v, reading.multipliers[self.at], products])

    def __call__(self, z: Floats) -> tuple[Floats, Floats]:
        """The values of all equations and their derivatives."""
        W, v, multipliers, products = self.parts(z)
        C, c, S = self.count, self.columns, len(self.at)
        X, g, factors = self.rows, self.g, self.c
        group, point = self.kink_group, self.kink_point
        coefficients = factors[:, None] * multipliers[:, None] * g  # (S, C)
        pull = coefficients.T @ X  # (C, c)
        np.add.at(pull, group, (factors[point] * products)[:, None] * X[point])
        pull *= self.seen
        inner = g * (X @ W.T)  # (S, C)
        values = np.concatenate(
            [
                (W - v[:, None] * pull).ravel(),
                v - (factors * multipliers) @ inner,
                inner @ v - self.targets,
                (X[point] * W[group]).sum(axis=1),
            ]
        )
        J = np.zeros((self.size, self.size))
        b, m, k = C * c, C * c + C, C * c + C + S
        span = np.arange(C * c)
        J[span, span] = 1.0
        J[span, b + span // c] = -pull.ravel()
        gx = g.T[:, None, :] * X.T[None, :, :] * self.seen[:, :, None]  # (C, c, S)
        J[:b, m:k] = (-v[:, None, None] * gx * factors).reshape(C * c, S)
        kx = X[point] * self.seen[group]  # (K, c)
        places = np.arange(len(group))
        own = group[:, None] * c + np.arange(c)
        J[own, k + places[:, None]] = -(v[group] * factors[point])[:, None] * kx
        for place in range(C):
            block = slice(place * c, place * c + c)
            J[b + place, block] = -(coefficients[:, place] @ X) * self.seen[place]
            J[m:k, block] = v[place] * gx[place].T
        J[b + np.arange(C), b + np.arange(C)] = 1.0
        J[b:m, m:k] = -(factors[:, None] * inner).T
        J[m:k, b:m] = inner
        J[k + places[:, None], own] = kx
        return values, J

    def parts(self, z: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """W, v, lambda, mu."""
        b = self.count * self.columns
        W, v, multipliers, products = np.split(z, [b, b + self.count, b + self.count + len(self.at)])
        return W.reshape(self.count, self.columns), v, multipliers, products

    def network(self, z: Floats) -> tuple[Floats, Floats]:
        """W and v of all neurons: each group shared in the proportions that it had; the others are 0."""
        W, v, _, _ = self.parts(z)
        weights, outgoing = np.zeros_like(self.reading.weights), np.zeros_like(self.reading.outgoing)
        for place, members in enumerate(self.groups):
            sizes = np.abs(self.reading.outgoing[members]) * np.linalg.norm(self.reading.weights[members], axis=1)
            turns = np.sign(self.reading.outgoing[members]) * np.sign(v[place])  # linear neurons are alike up to sign
            parts = turns * np.sqrt(sizes / sizes.sum())
            weights[members] = parts[:, None] * W[place]
            outgoing[members] = parts * v[place]
        return weights * self.frame.seen, outgoing
