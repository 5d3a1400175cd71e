"""How many linear pieces a function of one input needs, within a tolerance."""

from __future__ import annotations

import numpy as np

from solvers.arrays import Floats

__all__ = ["least_pieces"]


def least_pieces(places: Floats, values: Floats, tolerance: float) -> int:
    """The least number of line segments, which need not join, that cover consecutive places and are within
    `tolerance` of the values at each.

    places: (N,), increasing.   values: (N,).

    Greedy, which is best: a segment is continued as long as a line fits. A line of slope s fits i and j iff |f_i - f_j
    - s (x_i - x_j)| <= 2 tolerance; intervals for the intercept that meet in pairs have a common point, so all that is
    needed is a slope that satisfies this for all pairs, again an intersection of intervals.
    """
    count, start = 0, 0
    while start < len(places):
        lowest, highest, end = -np.inf, np.inf, start + 1
        while end < len(places):
            width = places[end] - places[start:end]
            rise = values[end] - values[start:end]
            lowest = max(lowest, float(((rise - 2 * tolerance) / width).max()))
            highest = min(highest, float(((rise + 2 * tolerance) / width).min()))
            if lowest > highest:
                break
            end += 1
        count, start = count + 1, end
    return count
