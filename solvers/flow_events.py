"""The earliest event within a step of the flow: a preactivation changes sign, or a held kink lets go."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from solvers.layers import Layers
from solvers.smooth_flow import Mode, Signs

__all__ = ["BEYOND", "Event", "Sides", "earliest", "scales"]

Floats: TypeAlias = NDArray[np.float64]

NODES = (0.25, 0.5, 0.75, 1.0)  # of a step, where signs are looked at
BEYOND = 1e-13  # of ||w_j|| ||x_i||: a preactivation this far on the wrong side has changed sign


@dataclass(frozen=True, slots=True)
class Event:
    """At `time` the kink (layer, point, unit) is reached; or, with kink None, the held surface `released` lets go.

    is_up: towards z > 0, or with a slope that wants to exceed 1.
    """

    time: float
    kink: tuple[int, int, int] | None
    released: int
    is_up: bool


def scales(layers: Layers, theta: Floats, rows: Floats) -> list[Floats]:
    """||w_j|| ||input of the layer|| for each hidden unit and point, (n, units); 0 where z cannot but be 0."""
    result, state = [], rows
    for matrix, slope in zip(layers.matrices(theta), layers.slopes, strict=False):
        result.append(np.linalg.norm(state, axis=1)[:, None] * np.linalg.norm(matrix, axis=1)[None, :])
        z = state @ matrix.T
        state = np.maximum(z, slope * z)
    return result


class Sides:
    """How far each preactivation is on the side that its sign says, in units of `scales`; held ones are left out."""

    def __init__(self, mode: Mode, signs: Signs, u: Floats) -> None:
        layers = mode.task.layers
        sizes = scales(layers, u, mode.task.rows)
        self._mode = mode
        self._weights = [
            np.where((s != 0) & (size > 0) & (a < 1), s / np.where(size > 0, size, 1.0), 0.0)
            for s, size, a in zip(signs, sizes, layers.slopes, strict=True)
        ]
        self._idle = np.concatenate([np.zeros(0), *(w.ravel() for w in self._weights)]) == 0
        self.is_idle = bool(self._idle.all())

    def __call__(self, y: Floats) -> Floats:
        """Negative where a sign has changed, by more than rounding; (all units and points,)."""
        if self.is_idle:
            return np.full(1, np.inf)
        mode = self._mode
        z = mode.task.layers.preactivations_at(y[:-1], mode.task.rows, mode.pattern)
        values = np.concatenate([(w * part).ravel() for w, part in zip(self._weights, z, strict=False)])
        values[self._idle] = np.inf
        return values + BEYOND

    def kink(self, place: int) -> tuple[int, int, int]:
        """Layer, point and unit of an entry."""
        layer = 0
        while place >= self._weights[layer].size:
            place -= self._weights[layer].size
            layer += 1
        point, unit = divmod(place, self._weights[layer].shape[1])
        return layer, point, unit


def earliest(
    mode: Mode, dense: Callable[[float], Floats], start: float, end: float, signs: Signs, sides: Sides
) -> Event | None:
    """The first event in [start, end] of the curve `dense`, None if there is none.

    Looks at a few instants: an excursion to the other side between two of them is not seen.
    """
    if sides.is_idle and not mode.held:
        return None

    def least(time: float) -> float:
        y = dense(time)
        return min(float(sides(y).min()), mode.needed(y)[1] + BEYOND)

    before = start
    for node in NODES:
        now = start + node * (end - start) if node < 1 else end
        y = dense(now)
        if sides(y).min() < 0 or (node in {0.5, 1.0} and mode.needed(y)[1] + BEYOND < 0):
            break
        before = now
    else:
        return None
    if before == start and least(start) <= 0:
        return _what(mode, sides, signs, dense(now), start)
    time = _last_before(least, before, now)
    return _what(mode, sides, signs, dense(time), time)


def _last_before(least: Callable[[float], float], low: float, high: float) -> float:
    """A time just after the zero of `least` in (low, high], where it is negative."""
    from scipy.optimize import brentq

    if least(low) <= 0:  # a release that is only looked for at every other node
        return high
    root = brentq(least, low, high, xtol=1e-15 * max(abs(high), 1e-300), rtol=1e-15)
    step = 1e-15 * abs(high)
    while root < high and least(root) >= 0:
        root, step = min(high, root + step), 2 * step
    return root


def _what(mode: Mode, sides: Sides, signs: Signs, y: Floats, time: float) -> Event:
    values = sides(y)
    place = int(values.argmin())
    tau, inside = mode.needed(y)
    if inside + BEYOND < values[place]:
        released = int(np.minimum(tau, 1 - tau).argmin())
        return Event(time, None, released, bool(tau[released] > 0.5))
    layer, point, unit = sides.kink(place)
    return Event(time, (layer, point, unit), -1, bool(signs[layer][point, unit] < 0))
