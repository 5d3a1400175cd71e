"""What the outer loop hands over: networks, proofs, rounds and the outcome, all in floats."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from solvers.arrays import Floats, Indices
from solvers.instance import SearchStatus
from solvers.pricing.tree import Tree


@dataclass(frozen=True, slots=True)
class Atoms:
    """A network in the directions u_j = |v_j| w_j: directions (J, D), signs, masks (J,), value sum ||u_j||.

    bias: what is added to the output, where the problem has an output bias.
    """

    directions: Floats
    signs: NDArray[np.int8]
    masks: Indices
    value: float
    bias: float = 0.0


@dataclass(frozen=True, slots=True)
class Progress:
    """One round: brackets of the optimal value (the lower one not yet proved), sizes, seconds since the start.

    width: of a search at one width, whose rounds are states of the neurons, `left` of them open; None over all widths.
    """

    round: int
    lower: float
    upper: float
    columns: int
    points: int
    seconds: float
    width: int | None = None
    left: int = 0


@dataclass(frozen=True, slots=True)
class DualGuess:
    """multipliers (n,), beta, a closed tree per (mask class, sign +, -) over the support; lower: the value proved."""

    multipliers: Floats
    beta: float
    support: Indices
    trees: tuple[Tree, ...]
    lower: float

    @property
    def size(self) -> int:
        """The number of nodes."""
        return sum(len(tree.nodes or ()) for tree in self.trees)


@dataclass(frozen=True, slots=True)
class SearchOutcome:
    """status: how the search ended. candidates: networks, best value first; own: the best
    network with the columns it was started from only; all in the instance's own scale. history: one `Progress` a round.
    coarser: proofs of less, with smaller trees, the least first, for when no time is left to make `proof` exact.
    """

    status: SearchStatus
    proof: DualGuess | None
    candidates: tuple[Atoms, ...]
    own: Atoms | None
    history: tuple[Progress, ...]
    coarser: tuple[DualGuess, ...] = ()
