"""Networks on random features in many dimensions, at the start of descent, on their way, and where a lemma is tight.

An instance is a size, a seed and few choices; sizes shrink to one point. Starts are in the span of the points, with
short dual variables b_k, w_k = X^T b_k. Source: arXiv:2603.04895v2, section 2, Theorems 1 to 6, Lemmas 5, 6, 9, 10, 12.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from random import Random

import numpy as np
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn
from numpy.typing import NDArray

from verify.numbers.floats import to_float, to_floats
from verify.strategies.features import Features, Posed, dyadic, features, many_dimensions, posed

__all__ = [
    "HIGH",
    "aligned_duals",
    "aligned_residuals",
    "assigned_features",
    "feature_pairs",
    "inactive_features",
    "is_spread",
    "positive_start",
    "settled_features",
    "signed_features",
    "start_of_size",
]

SIZES = (
    (1, 1), (2, 4), (4, 64), (4, 64), (4, 256), (8, 256), (8, 256), (8, 256), (8, 1024), (8, 1024), (12, 576),
    (16, 1024), (16, 1024), (16, 4096), (32, 4096),
)  # fmt: skip
"""(points, dimension) of deterministic lemmas: d is about 4 n^2 to 16 n^2."""

HIGH = (
    (4, 256), (4, 256), (4, 512), (6, 576), (6, 576), (6, 1024), (8, 1024), (8, 1024), (8, 1024), (8, 2048), (10, 1600),
    (12, 2304), (16, 4096), (32, 4096),
)  # fmt: skip
"""(points, dimension) of claims about high dimension: d >= 16 n^2, the last one 4 n^2."""

SMALL = Fraction(1, 16)
"""A start has at most this part of the smallest label."""


def _generator(found: Features, seed: int) -> np.random.Generator:
    return np.random.default_rng([seed, len(found.rows), 7])


def _lines(found: Features, seed: int, signs: Sequence[int], chosen: Sequence[int | None]) -> list[NDArray[np.float64]]:
    """z_k between 1/4 and 1 of the largest start, but at points of the neuron's sign that another one is to meet.

    chosen: for each point the neuron that is to meet it, None for any.
    """
    random, small = _generator(found, seed), to_float(SMALL * found.smallest)
    lines: list[NDArray[np.float64]] = []
    for k, s in enumerate(signs):
        z = random.uniform(0.25, 0.95, len(found.rows)) * small
        for i, (y, owner) in enumerate(zip(found.labels, chosen, strict=True)):
            if s * y > 0 and owner not in (None, k):
                z[i] = -to_float(found.smallest) * random.uniform(0.27, 0.45)
        lines.append(z)
    return lines


def positive_start(seed: int, n: int, d: int, signs: Sequence[int]) -> Posed:
    """Features, and neurons of these output signs that are on, barely, at all of them."""
    found = features(seed, n, d)
    lines = _lines(found, seed, signs, [None] * n)
    return posed(found, [found.weights(found.duals_near(z)) for z in lines], signs)


def start_of_size(random: Random, signs: Sequence[int], sizes: Sequence[tuple[int, int]] = HIGH) -> Posed:
    """`positive_start` of one of these sizes."""
    n, d = random.choice(sizes)
    return positive_start(random.randrange(2**31), n, d, signs)


def assigned_features(seed: int, n: int, d: int, signs: Sequence[int]) -> Posed:
    """Features, each label with one neuron of its sign that is on there, barely, as all of the other sign are.

    The others of its sign have z between -1/2 and -1/4 of the smallest label.
    """
    found = features(seed, n, d)
    random = _generator(found, seed + 1)
    chosen = [int(random.choice([k for k, s in enumerate(signs) if s * y > 0])) for y in found.labels]
    lines = _lines(found, seed, signs, chosen)
    return posed(found, [found.weights(found.duals_near(z)) for z in lines], signs)


def inactive_features(seed: int, n: int, d: int, below: float) -> Posed:
    """Features, and one neuron (+) that is off at the first point, whose label is positive, and barely on elsewhere.

    below: -z there in units of the smallest label.
    """
    found = features(seed, n, d)
    (z,) = _lines(found, seed, [1], [None] * n)
    z[0] = -below * to_float(found.smallest)
    return posed(found, [found.weights(found.duals_near(z))], [1])


@st.composite
def signed_features(draw: DrawFn, *, sizes: Sequence[tuple[int, int]] = SIZES, neurons: int = 3) -> Posed:
    """One to three neurons with signs, anywhere in the span of features: on at some points, off at others."""
    n, d = draw(st.sampled_from(sizes))
    seed = draw(st.integers(0, 2**16))
    signs = [1, *draw(st.lists(st.sampled_from([1, -1]), max_size=neurons - 1))]
    found = features(seed, n, d)
    random = _generator(found, seed)
    lines = [random.uniform(-1, 2, n) * to_float(found.smallest) for _ in signs]
    return posed(found, [found.weights(found.duals_near(z)) for z in lines], signs)


@st.composite
def feature_pairs(draw: DrawFn, *, sizes: Sequence[tuple[int, int]], signs: Sequence[int] = (1, -1)) -> Posed:
    """Features with neurons that are 0, of these signs: what matters is the problem."""
    n, d = draw(st.sampled_from(sizes))
    found = features(draw(st.integers(0, 2**16)), n, d)
    return posed(found, [[Fraction(0)] * d for _ in signs], signs)


# ------------------------------------------------------------------------------------------- where lemmas are tight


def off_diagonal(found: Features, i: int) -> tuple[NDArray[np.float64], float]:
    """x_i.x_j for j != i, 0 for i, and its norm."""
    line = found.floats[i].copy()
    line[i] = 0
    return line, float(np.linalg.norm(line))


def _may_be_pushed(found: Features) -> bool:
    """Whether residuals of about 1 at all points are bounded as Lemma 5 asks, by half of what it asks."""
    _, size = off_diagonal(found, 0)
    return found.floats[0, 0] ** 2 > 4 * (len(found.rows) + 2) * size**2


@st.composite
def aligned_residuals(draw: DrawFn, *, parts: Sequence[float] = (0.99, 0.9, 0.5)) -> Posed:
    """A neuron, barely on at a point of its sign, that the residuals at all others push off as hard as they may.

    r_j is a multiple of x_i.x_j where that is > 0, and near -|y_j| where it is < 0, as the neuron is on at j; with
    |r| |off_i| one of these parts of |x_i|^2 |y_i|, where |off_i| is the norm of the x_i.x_j. All labels but the last
    one are positive. Source: Lemma 5.
    """
    n, d = draw(st.sampled_from(SIZES))
    found = many_dimensions(draw(st.integers(0, 2**16)), n, d, _may_be_pushed)
    found.labels[:] = [Fraction(1)] * (n - 1) + [Fraction(-1 if n > 1 else 1)]
    tight = draw(st.sampled_from(parts))
    y, tiny = np.array(to_floats(found.labels)), 2.0**-20
    line, size = off_diagonal(found, 0)
    pulls = (line < 0) & (y > 0)
    r = np.where(pulls, tiny - 1, 0.0)
    if size:
        budget = (tight * found.floats[0, 0] / size) ** 2 - 1.001 - pulls.sum() - 1.001
        r = np.where(pulls, r, max(budget, 0.0) ** 0.5 * line / np.linalg.norm(line[~pulls] if (~pulls).any() else 1.0))
    z = np.maximum(y + r, tiny)
    z[0] = tiny
    return posed(found, [found.weights(found.duals_near(z))], [1])


@st.composite
def aligned_duals(draw: DrawFn, *, times: Sequence[float] = (1.001, 1.1, 2.0)) -> Posed:
    """Dual variables b_j that are multiples of x_i.x_j, and b_i < 0 with |x_i|^2 |b_i| so many times |off_i| |b|.

    So x_i.w is as near to 0 as it may be. One neuron or two. Source: Lemma 6.
    """
    n, d = draw(st.sampled_from(SIZES))
    found = features(draw(st.integers(0, 2**16)), n, d)
    signs = [1, -1][: draw(st.integers(1, 2))]
    above = draw(st.sampled_from(times))
    weights: list[list[Fraction]] = []
    for k, _ in enumerate(signs):
        i = k % n
        line, size = off_diagonal(found, i)
        b = line / size if size else line
        b[i] = -above * (size / found.floats[i, i] if size else 1.0)
        weights.append(found.weights(dyadic(b)))
    return posed(found, weights, signs)


def is_spread(found: Features) -> bool:
    """32^2 n max y^2 sum_j (x_i.x_j)^2 <= min y^2 min |x|^4, over j != i, and the |x_i|^2 within a factor 9/8."""
    squares = found.floats.diagonal()
    off = ((found.floats - np.diag(squares)) ** 2).sum(axis=1).max()
    low, high = to_float(found.smallest), to_float(found.largest)
    is_flat = squares.max() * 8 <= 9 * squares.min() * (1 - 1e-12)
    return bool(is_flat and 1024 * len(squares) * high**2 * off <= low**2 * squares.min() ** 2 * (1 - 1e-12))


LEMMA_SIZES = ((1, 1), (2, 64), (4, 64), (8, 128), (8, 256), (16, 256), (16, 256), (32, 512), (32, 1024))
"""(points, dimension) where each point also has an axis of its own, as long as the lemma asks."""


@st.composite
def settled_features(
    draw: DrawFn, *, signs: Sequence[int], assigned: bool = False, sizes: Sequence[tuple[int, int]] = LEMMA_SIZES,
    holds: Callable[[Features], bool] = is_spread,
) -> Posed:  # fmt: skip
    """Networks on their way: on where the label has the neuron's sign, 0 < z <= 2 |y|, and elsewhere with a dual
    variable b, -2 <= |x|^2 b / |y| <= -1/4, on points that are as nearly orthogonal as the lemma asks, and no more.
    holds: what is asked of the points instead.

    assigned: at their start instead, each label with a neuron of its sign.   Source: Lemmas 9, 10 and 12.
    """
    n, d = draw(st.sampled_from(sizes))
    seed = draw(st.integers(0, 2**16))
    found = many_dimensions(seed, n, d, holds)
    random = _generator(found, seed)
    if assigned:
        chosen = [int(random.choice([k for k, s in enumerate(signs) if s * y > 0])) for y in found.labels]
        lines = _lines(found, seed, signs, chosen)
        return posed(found, [found.weights(found.duals_near(z)) for z in lines], signs)
    weights: list[list[Fraction]] = []
    y = np.array(to_floats(found.labels))
    for s in signs:
        on = s * y > 0
        b = np.where(on, 0, -np.abs(y) * random.uniform(0.3, 1.5, n) / found.floats.diagonal())
        if on.any():
            wanted = np.abs(y) * random.uniform(0.2, 1.8, n) - found.floats @ b
            b[on] = np.linalg.solve(found.floats[np.ix_(on, on)], wanted[on])
        weights.append(found.weights(dyadic(b)))
    return posed(found, weights, signs)
