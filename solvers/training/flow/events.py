"""The earliest event within a step of the flow: a preactivation changes sign, or a held kink lets go."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from solvers.arrays import Bits, Floats
from solvers.layers import Layers
from solvers.training.flow.smooth import Mode, Signs

__all__ = ["BEYOND", "Event", "Sides", "blind", "earliest", "scales"]


NODES = (0.25, 0.5, 0.75, 1.0)  # of a step, where signs are looked at
FINEST = 40  # halvings of a step in which a return is looked for
RELEASE_NODES = {0.5, 1.0}  # those where the slopes of held kinks are looked at
BLIND = 1e-12  # of a unit's largest ||w_j|| ||inputs||: at such points its inputs are 0
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
    """||w_j|| ||inputs that it sees|| for each hidden unit and point, (n, units); 0 where z cannot but be 0."""
    parts = zip(layers.inputs(theta, rows), layers.matrices(theta)[:-1], layers.places, strict=False)
    return [np.sqrt(state**2 @ (places >= 0).T) * np.linalg.norm(matrix, axis=1) for state, matrix, places in parts]


def blind(layers: Layers, theta: Floats, rows: Floats) -> list[Bits]:
    """Where a unit's inputs are 0 but not at all points, (n, units) for each hidden layer."""
    sizes = scales(layers, theta, rows)
    return [np.zeros(sizes[0].shape, bool), *(size <= BLIND * size.max(axis=0) for size in sizes[1:])] if sizes else []


class Sides:
    """How far each preactivation is on the side that its sign says, in units of `scales`; held ones are left out.

    Those whose inputs are 0 at u are left out too: is_provisional says that there are some, which may wake up.
    """

    def __init__(self, mode: Mode, signs: Signs, u: Floats) -> None:
        layers = mode.task.layers
        sizes = scales(layers, u, mode.task.rows)
        self._mode = mode
        self._weights = [
            np.where((s != 0) & (size > 0) & (a < 1), s / np.where(size > 0, size, 1.0), 0.0)
            for s, size, a in zip(signs, sizes, layers.slopes, strict=True)
        ]
        unseen = blind(layers, u, mode.task.rows) if len(sizes) > 1 else []
        for weights, is_blind in zip(self._weights, unseen, strict=False):
            weights[is_blind] = 0.0
        self.is_provisional = any(part.any() for part in unseen)
        if self._weights:
            self._weights[0][:, mode.asleep] = 0.0
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
    last = start
    for node in NODES:
        now = start + node * (end - start) if node < 1 else end
        y = dense(now)
        has_sides = bool(sides(y).min() < 0)
        has_releases = node in RELEASE_NODES and bool(_inside(mode, y).min(initial=1.0) < 0)
        if has_sides or has_releases:
            break
        last = now
    else:
        return None

    def conditions(time: float) -> Floats:
        y = dense(time)
        return np.concatenate([sides(y) if has_sides else np.ones(1), _inside(mode, y) if has_releases else np.ones(1)])

    time, which = _first_zero(conditions, last, now)
    offset = which - (len(sides(dense(now))) if has_sides else 1)
    if offset < 0:
        layer, point, unit = sides.kink(which)
        return Event(time, (layer, point, unit), -1, bool(signs[layer][point, unit] < 0))
    if len(mode.held) == 1 or mode.is_independent:
        return Event(time, None, offset % len(mode.held), offset >= len(mode.held))
    return Event(time, None, -1, is_up=False)


def _inside(mode: Mode, y: Floats) -> Floats:
    """tau and 1 - tau of the held surfaces, and one number alone where their normals are dependent."""
    tau, inside = mode.needed(y)
    return np.concatenate([tau, 1 - tau]) + BEYOND if mode.is_independent else np.full(1, inside)


def _first_zero(conditions: Callable[[float], Floats], low: float, high: float) -> tuple[float, int]:
    """Where the first of the conditions that are negative at `high` becomes so, at a time at which it is; and which.

    Those that are negative at `low` already come first, at `low`.
    """
    from scipy.optimize import brentq

    broken = np.flatnonzero(conditions(high) < 0)

    def least(time: float) -> float:
        return float(conditions(time)[broken].min())

    if least(low) <= 0:  # by rounding; or a fast decay of the loss carries it to the right side first
        times = low + (high - low) * 2.0 ** np.arange(-FINEST, 1)
        values = np.array([least(time) for time in times])
        right = np.flatnonzero(values > 0)
        if not len(right):
            return low, int(broken[conditions(high)[broken].argmin()])
        wrong = right[0] + np.flatnonzero(values[right[0] :] < 0)[0]
        low, high = float(times[wrong - 1]), float(times[wrong])
    root: float = brentq(least, low, high, xtol=1e-14 * (high - low))  # pyright: ignore[reportAssignmentType]
    step = 1e-14 * (high - low)
    while root < high and least(root) >= 0:
        root, step = min(high, root + step), 2 * step
    return root, int(broken[conditions(root)[broken].argmin()])
