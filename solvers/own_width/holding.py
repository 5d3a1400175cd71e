"""Where the pieces of a relaxed problem may lie in a state below it: what holds them all has the same relaxed value.

The relaxed value of a state depends on the cones of its cases alone, not on how many neurons a cone is for. So a split
that leaves a cone for each piece brings nothing, and the relaxed problem need not be solved anew.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from solvers.arrays import Floats
from solvers.own_width.relaxation import Piece
from solvers.own_width.states import StateCase

__all__ = ["held", "is_crowded"]

INSIDE = 1e-7
"""x_i . u may be below 0 by this part of the largest |x_i . u| of a piece."""


def held(rows: Floats, pieces: Sequence[Piece], cases: Iterable[StateCase]) -> list[Piece] | None:
    """The pieces, each in the case with the most decisions that holds it; None where one has no case."""
    places = tuple(cases)
    z = np.array([piece.direction for piece in pieces]).reshape(len(pieces), rows.shape[1]) @ rows.T
    room = INSIDE * np.abs(z).max(axis=1, initial=0.0)
    kinds = [(piece.case.mask, piece.case.sign) for piece in pieces]
    depths = np.zeros((len(pieces), len(places)), np.intp)
    for q, case in enumerate(places):
        inside = np.array([kind == (case.mask, case.sign) for kind in kinds], bool)
        for i, side in case.cone:
            inside &= side * z[:, i] >= -room
        depths[inside, q] = 1 + len(case.cone)
    if not depths.any(axis=1).all():
        return None
    return [Piece(places[q], piece.direction) for q, piece in zip(depths.argmax(axis=1), pieces, strict=True)]


def is_crowded(pieces: Sequence[Piece], neurons: Mapping[StateCase, Sequence[int]]) -> bool:
    """Whether there are more pieces than neurons somewhere, so that they are no network of the width."""
    counts = Counter(piece.case for piece in pieces)
    return len(pieces) > len({j for own in neurons.values() for j in own}) or any(
        counts[case] > len(own) for case, own in neurons.items()
    )
