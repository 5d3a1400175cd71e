"""What the search at a width hands over, in floats: a tree of states with a proof at each leaf, networks, counts."""

from __future__ import annotations

from dataclasses import dataclass

from solvers.any_width.records import Atoms, DualGuess
from solvers.instance import SearchStatus
from solvers.own_width.farkas import StateNothing
from solvers.own_width.states import Split, StateCase

__all__ = ["KeptLeaf", "StateProof", "WidthOutcome"]


@dataclass(frozen=True, slots=True)
class KeptLeaf:
    """A leaf of an earlier tree, by its number in pre-order, with what it proves there; infinite: that nothing fits."""

    number: int
    bound: float


@dataclass(frozen=True, slots=True, eq=False)
class StateProof:
    """A leaf: the dual point of its state, `dual.trees` one for each of the cases, in their order."""

    cases: tuple[StateCase, ...]
    dual: DualGuess


@dataclass(frozen=True, slots=True, eq=False)
class WidthOutcome:
    """status: how the search ended.

    tree: in pre-order, what each inner node decides and the proof of each leaf; empty where there is no proof.
    lower: what it proves; infinite where nothing fits.   networks: that fit, at most as wide, best value first; in the
    instance's own scale.
    nodes: states that were looked at.   left: those of them that were left open.
    """

    status: SearchStatus
    tree: tuple[Split | StateProof | StateNothing | KeptLeaf, ...]
    lower: float
    networks: tuple[Atoms, ...]
    nodes: int
    left: int
