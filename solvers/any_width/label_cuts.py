"""Dual points of deep ReLU networks: multipliers with large dual values of both labels and a small ||(h_+, h_-)||.

h_+ and h_- are sums of mu_i s(x_i.u) over the points of each label. (D_+^(2/3) + D_-^(2/3))^(3/2), the least of D_+ / C
+ D_- / S over C^2 + S^2 = 1, is concave; it is maximised where ||(h_+(u), h_-(u))|| <= ||u|| by cutting planes.
"""

from __future__ import annotations

import numpy as np

from solvers.any_width.scaling import power_of_two
from solvers.arrays import Floats
from solvers.clock import is_late, poll
from solvers.pricing.semidefinite import climbed

__all__ = ["label_multipliers"]

ROUNDS, RANDOM = 80, 40
ANGLES = 33
ACCURACY = 1e-8


def label_multipliers(rows: Floats, values: Floats, is_up: Floats, deadline: float | None = None) -> Floats | None:
    """mu (n,) >= 0 for points with rows (n, d), dual values (n,) > 0 of a unit of mu, and whether c_i > 0.

    None where a point at 0 has a value above 0, which no network gives it.
    """
    from scipy.optimize import linprog

    sizes = np.linalg.norm(rows, axis=1)
    if not len(rows) or not sizes.min() > 0:
        return None
    largest = power_of_two(float(sizes.max()))
    rows, sizes, values = rows / largest, sizes / largest, values / power_of_two(float(values.max()))
    sides = np.column_stack([is_up, 1.0 - is_up])
    random = np.random.default_rng(0)
    starts = [*rows, *(a + b for k, a in enumerate(rows) for b in rows[k + 1 :])][:200]
    starts += [*random.normal(size=(RANDOM, rows.shape[1]))]
    cuts, tangents = [np.diag(sizes)], [_tangent(angle) for angle in np.linspace(0.0, np.pi / 2, ANGLES)]
    mu = np.zeros(len(rows))
    for _ in range(ROUNDS):
        poll()
        faces = np.array([sides @ tangent * values for tangent in tangents])
        upper = np.vstack([np.column_stack([-faces, np.ones(len(faces))]), np.pad(np.vstack(cuts), ((0, 0), (0, 1)))])
        limits = np.concatenate([np.zeros(len(faces)), np.ones(len(upper) - len(faces))])
        found = linprog(np.append(np.zeros(len(rows)), -1.0), A_ub=upper, b_ub=limits, method="highs")
        if found.status != 0:
            return mu / largest if mu.any() else None
        mu = found.x[:-1]
        square, u = climbed(rows, sides * mu[:, None], 0.0, np.array(starts))
        active = np.maximum(rows @ u, 0.0)
        h, totals = (mu * active) @ sides, (mu * values) @ sides
        worth = (totals ** (2 / 3)).sum() ** 1.5
        is_tight = found.x[-1] <= worth * (1 + ACCURACY)
        if (square <= 1 + ACCURACY and is_tight) or is_late(deadline):
            break
        cuts.append((sides @ (h / max(np.linalg.norm(h), 1e-300)) * active)[None])
        tangents.append(_tangent(np.arctan2(*np.cbrt(totals[::-1]))))
        starts.append(u)
    return np.where(mu > 1e-9 * mu.max(initial=0.0), mu / largest, 0.0)


def _tangent(angle: float) -> Floats:
    """1 / cos and 1 / sin of an angle, large numbers in the place of infinity."""
    return 1.0 / np.maximum(np.array([np.cos(angle), np.sin(angle)]), 1e-9)
