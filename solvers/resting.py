"""Neurons with w_j = 0 and v_j != 0: whether they stay there, and in which direction they leave.

At w_j = 0 all kinks of the neuron meet. A small w_j grows along u at the rate v_j h(u) / ||w_j||, h(u) = sum_i c_i s(u.x_i),
so that 0 attracts when v_j h(u) < 0 for all u; a neuron with v_j^2 > ||w_j||^2 can come there in finite time, and then
rests. It leaves when v_j h(u) > 0 for some u.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["direction_out"]

Floats: TypeAlias = NDArray[np.float64]

ROUNDS = 50  # of the ascent of v h(u) on the sphere
GROWTH = 1e-12  # v h(u) in units of |v| sum |c_i| ||x_i||: no growth below this


def direction_out(rows: Floats, slope: float, pull: Floats, outgoing: float) -> Floats | None:
    """A unit vector u with v h(u) > 0 that is nearly a local maximum, None if none is found.

    Looks along the points, against them, and along sum c_i x_i, and climbs from the best of them: a growing direction
    that is nowhere near these can be missed.
    """
    lengths = np.linalg.norm(rows, axis=1)
    units = rows[lengths > 0] / lengths[lengths > 0, None]
    mean = outgoing * (pull @ rows)
    size = float(np.linalg.norm(mean))
    starts = np.concatenate([units, -units, [mean / size] if size else np.zeros((0, rows.shape[1]))])

    def heights(directions: Floats) -> Floats:
        z = directions @ rows.T
        return outgoing * (np.maximum(z, slope * z) @ pull)

    values = heights(starts)
    u, best = starts[int(values.argmax())], float(values.max())
    for _ in range(ROUNDS):
        z = rows @ u
        step = outgoing * ((np.where(z > 0, 1.0, np.where(z < 0, slope, (1 + slope) / 2)) * pull) @ rows)
        length = float(np.linalg.norm(step))
        if not length:
            break
        value = float(heights((step / length)[None, :])[0])
        if value <= best:
            break
        u, best = step / length, value
    return u if best > GROWTH * abs(outgoing) * float(np.abs(pull) @ lengths) else None
