"""Linearly separable data with a known max-margin separator w*: plain, symmetric, and with three hints.

Two of the points are gamma w* + t u and gamma w* - t u with label 1. Every other point (x, y) has y w*.x >= gamma, so
the nearest point to 0 of the hull of the y_i x_i is gamma w*: w* is the max-margin separator, its margin is gamma.

Source: arXiv:2110.13905, Assumptions 3.2 and 4.1, Definition 6.1.
"""

from __future__ import annotations

import numpy as np

from solvers.arrays import Floats
from solvers.paper_data.dataset import PaperData, on_sphere, positive, whole

__all__ = ["hinted", "separable", "symmetric"]


def separable(*, seed: int = 0, points: int = 16, dimension: int = 2, margin: float = 0.2) -> PaperData:
    """Points of norm <= 1, both labels, separated by w* with this margin."""
    random = np.random.default_rng(seed)
    separator, signed = _signed(random, whole(points, "points", 3), dimension, margin)
    targets = np.concatenate([[1.0, 1.0, -1.0], random.choice([-1.0, 1.0], size=points - 3)])
    return _data(targets[:, None] * signed, targets, separator, margin)


def symmetric(*, seed: int = 0, pairs: int = 8, dimension: int = 2, margin: float = 0.2) -> PaperData:
    """With each point (x, 1) also (-x, -1); norms <= 1, separated by w* with this margin."""
    separator, signed = _signed(np.random.default_rng(seed), whole(pairs, "pairs", 2), dimension, margin)
    return _data(np.concatenate([signed, -signed]), np.repeat([1.0, -1.0], pairs), separator, margin)


def hinted(
    *,
    seed: int = 0,
    points: int = 16,
    dimension: int = 2,
    margin: float = 0.2,
    H: float = 10.0,
    K: float = 1.0,
    epsilon: float = 0.1,
) -> PaperData:
    """Separable data after three hints, all with label 1: H w*, epsilon w* + K u and epsilon w* - K u, u orthogonal
    to w*.

    The theorem wants H and K large and epsilon small. What counts is H against K^2 / epsilon (ours): near 0 the slopes
    at the last two hints push a neuron off w*, and it is kept between their kink lines when H epsilon is above about
    K^2 / 2.
    """
    data = separable(seed=seed, points=points, dimension=dimension, margin=margin)
    H, K, epsilon = positive(H, "H"), positive(K, "K"), positive(epsilon, "epsilon")
    separator, orthogonal = data.about["separator"], data.about["orthogonal"]
    hints = np.array([H * separator, epsilon * separator + K * orthogonal, epsilon * separator - K * orthogonal])
    about = {**data.about, "margin": np.array(min(margin, H, epsilon)), "hints": np.arange(3.0)}
    return PaperData(np.concatenate([hints, data.inputs]), np.concatenate([np.ones(3), data.targets]), about)


def _signed(
    random: np.random.Generator, count: int, dimension: int, margin: float
) -> tuple[tuple[Floats, Floats], Floats]:
    """w* with an orthogonal unit vector u, and points y x in the half ball w*.(y x) >= margin, |x| <= 1; the first two
    are margin w* + t u and margin w* - t u.
    """
    d, margin = whole(dimension, "dimension", 2), positive(margin, "margin", 1.0)
    separator = on_sphere(random, d)
    orthogonal = on_sphere(random, d)
    orthogonal -= (orthogonal @ separator) * separator
    orthogonal /= np.linalg.norm(orthogonal)
    heights = margin + (1 - margin) * random.random(count - 2) * 0.9
    lines = [separator * margin + t * orthogonal for t in np.array([1.0, -1.0]) * 0.8 * np.sqrt(1 - margin**2)]
    for height in heights:
        along = random.normal(size=d)
        along -= (along @ separator) * separator
        along *= np.sqrt(1 - height**2) * random.random() ** (1 / (d - 1)) / np.linalg.norm(along)
        lines.append(height * separator + along)
    return (separator, orthogonal), np.array(lines)


def _data(inputs: Floats, targets: Floats, directions: tuple[Floats, Floats], margin: float) -> PaperData:
    separator, orthogonal = directions
    return PaperData(
        inputs, targets, {"separator": separator, "orthogonal": orthogonal, "margin": np.array(float(margin))}
    )
