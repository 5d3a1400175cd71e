"""What pieces of a relaxed network with given output weights cost in the cases of a state that hold them.

Neurons of one case with sum v_j^2 = V that are pieces u have the cost (sum ||u||)^2 / 2V. What a state costs at most is
what pieces that fit cost there, each in the cones that hold it, or in parts in several.
"""

from __future__ import annotations

import numpy as np

from solvers.arrays import Bits, Floats
from solvers.hidden.cases import FloatCase

__all__ = ["least_cost", "lying_in"]

INSIDE = 1e-6
"""x_i . u may be below 0 by this part of the largest |x_i . u|."""

SWEEPS = 30


def lying_in(piece: Floats, case: FloatCase) -> bool:
    """Whether a direction (r,) is in the cone of a case."""
    z = case.lifted @ piece
    return bool((z * case.cone >= -INSIDE * np.abs(z).max(initial=0.0)).all())


def least_cost(sizes: Floats, places: Bits, weights: Floats) -> tuple[float, Floats]:
    """The least sum_q S_q^2 / 2V_q, S_q what of the sizes (P,) is in case q, and the shares (P, q) of each piece.

    places (P, q): which cases hold a piece, at least one.   weights (q,): V.   By turns each piece is spread so that
    the S_q / V_q of its places are as equal as that makes them.
    """
    shares = places / places.sum(axis=1)[:, None]
    for _ in range(SWEEPS if (places.sum(axis=1) > 1).any() else 0):
        for p in np.flatnonzero((places.sum(axis=1) > 1) & (sizes > 0)):
            at = np.flatnonzero(places[p])
            others = sizes @ shares[:, at] - sizes[p] * shares[p, at]
            shares[p, at] = _spread(float(sizes[p]), others, weights[at]) / sizes[p]
    whole = sizes @ shares
    return float((whole**2 / (2 * weights)).sum()), shares


def _spread(size: float, others: Floats, weights: Floats) -> Floats:
    """Parts of a size that bring (others + part) / weight to one level where there is any."""
    order = np.argsort(others / weights, kind="stable")
    found = np.zeros(len(order))
    for many in range(1, len(order) + 1):
        used = order[:many]
        level = (size + others[used].sum()) / weights[used].sum()
        if many == len(order) or level <= others[order[many]] / weights[order[many]]:
            found[used] = np.maximum(level * weights[used] - others[used], 0.0)
            return found
    return found
