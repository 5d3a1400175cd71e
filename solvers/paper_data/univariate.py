"""One input, labels that switch sign r times.

Source: arXiv:2205.09072, Assumption 2.2 (data in [-R, R], labels the sign of a network of width r, every interval of
one sign at least rho long) and Example 1.
"""

from __future__ import annotations

import numpy as np

from solvers.paper_data.dataset import PaperData, positive, whole

__all__ = ["example_1", "switching"]


def switching(
    *, seed: int = 0, points: int = 40, switches: int = 4, radius: float = 1.0, shortest: float | None = None
) -> PaperData:
    """Points uniform in [-radius, radius], in order, with labels that switch sign `switches` times.

    The intervals of one sign are at least `shortest` long, by default half of 2 radius / (switches + 1); beyond that
    their lengths are uniform. Each has a point, so that the labels themselves switch so often; an interval that stays
    empty is given the first of the points that its neighbours can spare.
    """
    n, r = whole(points, "points", 1), whole(switches, "switches", 0)
    if n <= r:
        raise ValueError(f"{n} points cannot switch sign {r} times: give at least {r + 1} points")
    length = 2 * positive(radius, "radius")
    rho = length / (2 * (r + 1)) if shortest is None else shortest
    if not 0 <= rho * (r + 1) <= length:
        raise ValueError(f"{r + 1} intervals of length {rho:g} do not fit into [-{radius:g}, {radius:g}]")
    random = np.random.default_rng(seed)
    spare = np.diff(np.concatenate([[0.0], np.sort(random.random(r)), [1.0]])) * (length - rho * (r + 1))
    ends = np.concatenate([[-radius], -radius + np.cumsum(rho + spare)])
    ends[-1] = radius
    counts = np.bincount(np.searchsorted(ends[1:-1], random.uniform(-radius, radius, size=n)), minlength=r + 1)
    for empty in np.flatnonzero(counts == 0):
        counts[np.argmax(counts)] -= 1
        counts[empty] += 1
    places = [np.sort(random.uniform(ends[i], ends[i + 1], size=count)) for i, count in enumerate(counts)]
    labels = np.repeat(random.choice([-1.0, 1.0]) * (-1.0) ** np.arange(r + 1), counts)
    about = {"switches": ends[1:-1], "shortest": np.array(np.diff(ends).min()), "radius": np.array(float(radius))}
    return PaperData(np.concatenate(places)[:, None], labels, about)


def example_1() -> PaperData:
    """x = 4 and x = -4, both labels 1."""
    return PaperData(np.array([[4.0], [-4.0]]), np.ones(2))
