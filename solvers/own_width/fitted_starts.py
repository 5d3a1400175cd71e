"""Networks of a width that meet their targets, or all margins, from many random starts at once.

With the sides of all points fixed the outputs are linear in u_j = |v_j| w_j: each start goes towards the least squares
of its own sides, by the best of a few steps, until nothing is missed or nothing changes. That is Gauss-Newton, damped,
with all starts in one batch.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from solvers.arrays import Bits, Floats, Signs
from solvers.clock import poll, spend

__all__ = ["fitted_networks", "fitted_starts"]

STARTS, BATCHES, ENOUGH = 200, 20, 40  # starts at once, how often, and how many that fit are enough
STEPS = (1.0, 0.5, 0.2, 0.05)
ROUNDS = 60
DAMPING = 1e-9  # of the largest diagonal entry of the normal equations
MET = 1e-7  # of the largest target is missed by what fits
SECONDS_PER_PRODUCT = 2e-9


def fitted_networks(
    rows: Floats,
    targets: Floats,
    signs: Callable[[int], Signs],
    slope: float,
    random: np.random.Generator,
    *,
    margin: bool,
    seen: Bits | None = None,
) -> tuple[Signs, Floats]:
    """Signs (F, k) and directions (F, k, D) of networks that fit, from as many batches of starts as give a few.

    signs: makes those of so many starts; the others are as of `fitted_starts`.
    """
    found: list[tuple[Signs, Floats]] = []
    for _ in range(BATCHES):
        tried = signs(STARTS)
        fits, directions = fitted_starts(rows, targets, tried, slope, random, margin=margin, seen=seen)
        found.append((tried[fits], directions))
        if sum(len(some) for _, some in found) >= ENOUGH:
            break
    return np.concatenate([some for some, _ in found]), np.concatenate([some for _, some in found])


def fitted_starts(
    rows: Floats,
    targets: Floats,
    signs: Signs,
    slope: float,
    random: np.random.Generator,
    *,
    margin: bool,
    seen: Bits | None = None,
) -> tuple[Bits, Floats]:
    """Which starts fit (B,), after their steps, and the directions (F, k, D) of those.

    rows (n, D), targets (n,), signs (B, k): of the output weights, for each start.   seen (k, D): the columns that each
    neuron sees, all by default.   margin: y_i f(x_i) >= 1 is asked for, y_i = 1 or -1, and what has y_i f(x_i) > 0
    fits; else f(x_i) = y_i.
    """
    many, width = signs.shape
    scale = np.linalg.norm(rows, axis=0)
    scale = np.where(scale > 0, scale, 1.0) / np.sqrt(len(rows))
    x = rows / scale
    mask = np.ones((width, x.shape[1]), bool) if seen is None else seen
    size = float(np.abs(targets).max(initial=0.0)) or 1.0
    u = random.standard_normal((many, width, x.shape[1])) * mask * (size / np.sqrt(width))
    missed = _missed(x, targets, signs, slope, u, margin=margin)
    live = np.arange(many)
    for _ in range(ROUNDS):
        poll()
        live = live[np.abs(missed[live]).max(axis=1, initial=0.0) > (1 - MET if margin else MET * size)]
        if not len(live):
            break
        spend(SECONDS_PER_PRODUCT * len(live) * len(x) * (width * x.shape[1]) ** 2)
        aside = _toward(x, signs[live], slope, u[live], missed[live], mask)
        before = (missed[live] ** 2).sum(axis=1)
        best, chosen = before.copy(), np.zeros(len(live))
        for step in STEPS:
            tried = _missed(x, targets, signs[live], slope, u[live] + step * aside, margin=margin)
            reached = (tried**2).sum(axis=1)
            chosen = np.where(reached < best, step, chosen)
            best = np.minimum(best, reached)
        u[live] += chosen[:, None, None] * aside
        missed[live] = _missed(x, targets, signs[live], slope, u[live], margin=margin)
        live = live[best < before * (1 - 1e-6)]
    fits = np.abs(missed).max(axis=1, initial=0.0) <= (1 - MET if margin else MET * size)
    return fits, u[fits] / scale


def _missed(x: Floats, targets: Floats, signs: Signs, slope: float, u: Floats, *, margin: bool) -> Floats:
    """What is missing at each point (B, n): y_i - f(x_i), for a margin where that is less than it."""
    z = np.einsum("bkd,nd->bkn", u, x)
    outputs = np.einsum("bk,bkn->bn", signs.astype(np.float64), np.maximum(z, slope * z))
    rest = targets - outputs
    return np.where(targets * rest > 0, rest, 0.0) if margin else rest


def _toward(x: Floats, signs: Signs, slope: float, u: Floats, missed: Floats, mask: Bits) -> Floats:
    """The change (B, k, D) by which the least squares of the present sides would take up what is missing."""
    many, width, columns = u.shape
    z = np.einsum("bkd,nd->bkn", u, x)
    factors = np.where(z > 0, 1.0, slope) * signs[:, :, None]
    jacobian = np.einsum("bkn,nd,kd->bnkd", factors, x, mask.astype(np.float64)).reshape(many, len(x), -1)
    normal = jacobian.transpose(0, 2, 1) @ jacobian
    diagonal = np.einsum("bii->bi", normal)
    normal = normal + np.eye(width * columns) * (DAMPING * diagonal.max(axis=1, initial=0.0) + 1e-300)[:, None, None]
    right = np.einsum("bnm,bn->bm", jacobian, missed)
    return np.linalg.solve(normal, right[..., None])[..., 0].reshape(many, width, columns)
