"""Points correlated with a teacher neuron v, targets y_i = max(v.x_i, 0).

Source: arXiv:2306.06479, section 8 (centred, uncentred) and section 1 (the points v + noise shorter than |v| / sqrt 2).
"""

from __future__ import annotations

import numpy as np

from solvers.arrays import Floats
from solvers.paper_data.dataset import PaperData, on_sphere, whole

__all__ = ["acute", "centred", "uncentred"]

MOST_DRAWS = 10_000


def centred(*, seed: int = 0, dimension: int = 16, points: int | None = None) -> PaperData:
    """Points N(mu, I/d) about their teacher mu, uniform on the sphere; n = d unless `points` is given."""
    return _drawn(seed, dimension, points, variance=1.0, is_centred=True)


def uncentred(*, seed: int = 0, dimension: int = 16, points: int | None = None) -> PaperData:
    """Points N(mu, (sqrt 2 - 1) I/d), the teacher one more of them, normalised; n = d unless `points` is given."""
    return _drawn(seed, dimension, points, variance=np.sqrt(2.0) - 1.0, is_centred=False)


def acute(*, seed: int = 0, dimension: int = 16, points: int | None = None, reach: float = 0.7) -> PaperData:
    """Points v + r u, r uniform in [0, reach], u uniform on the sphere: all angles with v below 45 degrees."""
    if not 0 < reach < np.sqrt(0.5):
        raise ValueError(f"reach is {reach:g}: angles are below 45 degrees for certain between 0 and 0.7071")
    d, n = whole(dimension, "dimension", 2), whole(dimension if points is None else points, "points", 1)
    random = np.random.default_rng(seed)
    teacher = on_sphere(random, d)
    noise = np.array([on_sphere(random, d) for _ in range(n)]) * random.uniform(0.0, reach, size=(n, 1))
    return _labelled(teacher + noise, teacher, teacher)


def _drawn(seed: int, dimension: int, points: int | None, *, variance: float, is_centred: bool) -> PaperData:
    """A draw is dropped as a whole when an angle between teacher and point exceeds 90 degrees."""
    d, n = whole(dimension, "dimension", 2), whole(dimension if points is None else points, "points", 1)
    random = np.random.default_rng(seed)
    for _ in range(MOST_DRAWS):
        mean = on_sphere(random, d)
        inputs = mean + np.sqrt(variance / d) * random.normal(size=(n, d))
        teacher = mean
        if not is_centred:
            extra = mean + np.sqrt(variance / d) * random.normal(size=d)
            teacher = extra / np.linalg.norm(extra)
        if (inputs @ teacher >= 0).all():
            return _labelled(inputs, teacher, mean)
    raise ValueError(f"{n} points in dimension {d}: in {MOST_DRAWS} draws an angle was always above 90 degrees")


def _labelled(inputs: Floats, teacher: Floats, mean: Floats) -> PaperData:
    return PaperData(inputs, np.maximum(inputs @ teacher, 0.0), {"teacher": teacher, "mean": mean})
