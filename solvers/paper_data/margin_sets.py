"""The sets of one and two points on which KKT points of margin maximisation are not optimal. Nothing here is random.

Source: arXiv:2110.02732. The sets of Theorems 4.2 (part 2) and 4.3 stand in an appendix that we could not read; those
here have the same property and are ours.
"""

from __future__ import annotations

import numpy as np

from solvers.paper_data.dataset import PaperData

__all__ = [
    "remark_3_1",
    "theorem_3_2",
    "theorem_4_1",
    "theorem_4_2",
    "theorem_4_3",
    "theorem_4_4",
    "theorem_5_1",
]


def theorem_3_2() -> PaperData:
    """(1, 1/4) and (-1, 1/4), both labels 1: one ReLU neuron serves both, the other is off for ever."""
    return _ones([[1.0, 0.25], [-1.0, 0.25]])


def remark_3_1(*, angle: float = 175.0) -> PaperData:
    """(1, e) and (-1, e), both labels 1, at this angle in degrees: the norms' ratio grows without bound towards 180."""
    if not 0 < angle < 180:
        raise ValueError(f"angle is {angle:g}: it has to lie between 0 and 180 degrees")
    tilt = 1 / np.tan(np.deg2rad(angle) / 2)
    return _ones([[1.0, tilt], [-1.0, tilt]])


def theorem_4_1() -> PaperData:
    """(1, 2), label 1: for a diagonal network of depth 2 that starts with the second coordinate at 0."""
    return _ones([[1.0, 2.0]])


def theorem_4_2() -> PaperData:
    """(1, 1) and (0, -1), both labels 1: no neuron is 0, one is at a kink (ours, with 2 neurons for 4)."""
    return _ones([[1.0, 1.0], [0.0, -1.0]])


def theorem_4_3() -> PaperData:
    """The points of Theorem 3.2, for its neuron split in two: local, not global (ours)."""
    return theorem_3_2()


def theorem_4_4() -> PaperData:
    """(4, 1/sqrt 2, -4, 1/sqrt 2), label 1: for a convolution with two disjoint patches."""
    return _ones([[4.0, np.sqrt(0.5), -4.0, np.sqrt(0.5)]])


def theorem_5_1() -> PaperData:
    """(1, 1), label 1: for a diagonal network of depth 3 or more that starts at ones."""
    return _ones([[1.0, 1.0]])


def _ones(inputs: list[list[float]]) -> PaperData:
    return PaperData(np.array(inputs), np.ones(len(inputs)))
