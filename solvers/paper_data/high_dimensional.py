"""Regression in high dimension: rows x = L^(1/2) z with independent z of mean 0 and variance 1, labels bounded from 0.

The effective dimensions of the spectrum l are d_2 = |l|_1^2 / |l|_2^2 and d_inf = |l|_1 / |l|_inf; both are d when all
l are 1. Positive labels come first.

Source: arXiv:2603.04895v2, section 2, Assumptions 1 and 2. The formulas there are rebuilt from the proofs: y_min <=
|y_i| <= y_max, and d_2, d_inf large against n^2 and n by factors that depend on y_max / y_min.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from solvers.arrays import Floats
from solvers.paper_data.dataset import PaperData, positive, whole

__all__ = ["effective_dimensions", "isotropic", "spiked"]

Entries = Literal["gaussian", "signs", "uniform"]


def isotropic(
    *,
    seed: int = 0,
    points: int = 20,
    dimension: int = 2000,
    positives: int | None = None,
    smallest: float = 0.5,
    largest: float = 2.0,
    entries: Entries = "gaussian",
) -> PaperData:
    """Covariance I; half of the labels positive unless `positives` is given, their sizes uniform in [smallest,
    largest].
    """
    spectrum = np.ones(whole(dimension, "dimension", 1))
    return _drawn(seed, points, spectrum, positives, (smallest, largest), entries)


def spiked(
    *,
    seed: int = 0,
    points: int = 20,
    dimension: int = 2000,
    spikes: int = 10,
    spike: float = 5.0,
    positives: int | None = None,
    smallest: float = 0.5,
    largest: float = 2.0,
    entries: Entries = "gaussian",
) -> PaperData:
    """Covariance diag(spike, ..., spike, 1, ..., 1); else as for isotropic data."""
    if not 0 <= spikes <= dimension:
        raise ValueError(f"{spikes} spikes in dimension {dimension}")
    spectrum = np.ones(whole(dimension, "dimension", 1))
    spectrum[:spikes] = positive(spike, "spike")
    return _drawn(seed, points, spectrum, positives, (smallest, largest), entries)


def effective_dimensions(spectrum: Floats) -> tuple[float, float]:
    """d_2 and d_inf."""
    total = float(spectrum.sum())
    return total**2 / float(spectrum @ spectrum), total / float(spectrum.max())


def _drawn(
    seed: int, points: int, spectrum: Floats, positives: int | None, sizes: tuple[float, float], entries: Entries
) -> PaperData:
    n = whole(points, "points", 1)
    count = n // 2 if positives is None else positives
    if not 0 <= count <= n:
        raise ValueError(f"{count} positive labels of {n}")
    smallest, largest = sizes
    if not 0 < smallest <= largest:
        raise ValueError(f"the sizes of labels lie between {smallest:g} and {largest:g}: give 0 < smallest <= largest")
    random, shape = np.random.default_rng(seed), (n, len(spectrum))
    match entries:
        case "gaussian":
            z = random.normal(size=shape)
        case "signs":
            z = random.choice([-1.0, 1.0], size=shape)
        case "uniform":
            z = random.uniform(-np.sqrt(3.0), np.sqrt(3.0), size=shape)
        case _:
            raise ValueError(f"entries {entries!r}: choose gaussian, signs or uniform")
    targets = random.uniform(smallest, largest, size=n) * np.where(np.arange(n) < count, 1.0, -1.0)
    return PaperData(z * np.sqrt(spectrum), targets, {"spectrum": spectrum})
