"""The optimum of the convex program of a network's own pattern, as a network of the same neurons that moved little.

The program speaks of directions: neurons of one pattern are one. Its optimum is given back to the neurons: each keeps
its own direction, or where that is gone joins the nearest of its kind; of all optima with these directions the one
whose amplitudes are nearest is taken; and what was one neuron's share stays its share.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from solvers.arrays import Floats, Indices
from solvers.kkt.pattern_polish import FloatNeurons, FloatPoint, polish
from solvers.kkt.reading import Frame

__all__ = ["optimum_in_pattern"]


GONE: Final = 1e-7
"""A neuron or direction smaller than this part of the largest is removed."""

NEIGHBOURLY: Final = 0.9
"""Cosine to a direction above which a neuron whose own direction vanishes joins it."""

SUPPORT: Final = 1e-7
"""A point belongs to the support when its multiplier is above this part of the largest."""


def optimum_in_pattern(
    frame: Frame, weights: Floats, outgoing: Floats, deadline: float | None
) -> tuple[Floats, Floats, Floats] | None:
    """W and v of the optimum, and its multipliers (n,); None when the program has no solution.

    W and v are given balanced, in the units of the frame.
    """
    is_linear = frame.instance.slope == 1
    signs = np.where(outgoing < 0, -1, 1)
    u = np.abs(outgoing)[:, None] * weights * (signs[:, None] if is_linear else 1)
    point = polish(
        frame.instance, FloatNeurons(u, np.ones_like(signs) if is_linear else signs, frame.classes), deadline
    )
    if point is None:
        return None
    members = _owners(point, u, frame.classes)
    counts = (members >= 0) & u.any(axis=1)
    sizes = np.where(counts, np.linalg.norm(u, axis=1), 0.0)
    totals = np.zeros(len(point.u))
    np.add.at(totals, members[counts], sizes[counts])
    whole = point.u * _nearest_amplitudes(frame, point, totals)[:, None]
    parts = np.divide(sizes, totals[members], out=np.zeros_like(sizes), where=counts)
    u = parts[:, None] * whole[members]
    sizes = np.linalg.norm(u, axis=1)
    u[sizes <= GONE * sizes.max(initial=0.0)] = 0.0
    roots = np.sqrt(np.linalg.norm(u, axis=1))
    W = np.divide(u, roots[:, None], out=np.zeros_like(u), where=roots[:, None] > 0)
    return W * (signs[:, None] if is_linear else 1), signs * roots, point.multipliers


def _owners(point: FloatPoint, u: Floats, classes: Indices) -> Indices:
    """The direction to which each neuron goes, -1 for none: its own, or where that is gone the nearest of its kind."""
    amplitudes = np.linalg.norm(point.u, axis=1)
    is_live = amplitudes > GONE * amplitudes.max()
    members = point.members.copy()
    kinds = point.signs[members]  # all 1 for linear neurons, whose own signs do not matter
    for j in np.flatnonzero((members >= 0) & ~is_live[members]):
        alike = np.flatnonzero(is_live & (point.signs == kinds[j]) & (point.masks == classes[j]))
        if len(alike):
            cosines = (point.u[alike] @ u[j]) / (amplitudes[alike] * np.linalg.norm(u[j]))
            members[j] = alike[cosines.argmax()] if cosines.max() > NEIGHBOURLY else -1
    return members


def _nearest_amplitudes(frame: Frame, point: FloatPoint, wanted: Floats) -> Floats:
    """Factors of the directions: of all optima with these directions, the one whose amplitudes are nearest to `wanted`.

    A solver returns the middle of the optimal face, and the network should not move along it without need.
    """
    from scipy.optimize import lsq_linear

    instance = frame.instance
    amplitudes = np.linalg.norm(point.u, axis=1)
    live = np.flatnonzero(amplitudes > GONE * amplitudes.max())
    factors, own = np.ones(len(point.u)), amplitudes[live]
    z = (point.u[live] / own[:, None]) @ instance.rows.T
    features = (np.maximum(z, instance.slope * z) * point.signs[live, None]).T  # (n, C)
    sizes = np.abs(point.multipliers)
    support = sizes > SUPPORT * sizes.max() if instance.margin else np.ones(len(sizes), bool)
    _, spread, basis = np.linalg.svd(features[support], full_matrices=False)
    basis = basis[spread > 1e-7 * spread[0]] if len(spread) else basis
    if len(basis) == len(live):
        return factors
    stacked = np.vstack([np.eye(len(live)), 1e5 * basis])
    found = lsq_linear(stacked, np.concatenate([wanted[live], 1e5 * basis @ own]), bounds=(1e-9 * own.max(), np.inf))
    step = found.x - own
    change, slack = instance.signs * (features @ step), instance.signs * (features @ own) - 1.0
    falling = ~support & (change < 0) if instance.margin else np.zeros(len(change), bool)
    length = min(1.0, float((np.maximum(slack[falling], 0.0) / -change[falling]).min(initial=1.0)))
    factors[live] = (own + length * step) / own
    return factors
