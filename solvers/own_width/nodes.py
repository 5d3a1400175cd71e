"""The tree of a search at a width: its states, with what is known of each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from solvers.any_width.master import Column
from solvers.any_width.records import DualGuess
from solvers.own_width.farkas import StateNothing
from solvers.own_width.records import KeptLeaf
from solvers.own_width.relaxation import Relaxation
from solvers.own_width.states import DecidedSplits, Split, StateCase

__all__ = ["WidthNode", "upwards", "walk"]


@dataclass(slots=True, eq=False)
class WidthNode:
    """bound: of the parent, then of its own.   columns: to begin with, of each case.
    is_copied: whether it is split as another one in which it lies, neurons exchanged.
    """

    known: DecidedSplits
    bound: float
    columns: dict[StateCase, list[Column]]
    relaxed: Relaxation | None = None
    split: Split | None = None
    children: tuple[WidthNode, WidthNode] | None = None
    parent: WidthNode | None = None
    proof: DualGuess | StateNothing | KeptLeaf | None = None
    kept: KeptLeaf | None = None
    is_copied: bool = False

    @property
    def is_cut(self) -> bool:
        """Whether nothing is known of the children that is not known here."""
        if self.children is None or self.is_copied:
            return self.children is None
        return all(child.relaxed is child.proof is None and child.is_cut for child in self.children)


def upwards(node: WidthNode) -> Iterator[WidthNode]:
    """The node and those above it."""
    here: WidthNode | None = node
    while here is not None:
        yield here
        here = here.parent


def walk(root: WidthNode) -> Iterator[WidthNode]:
    """The nodes in pre-order, down to those that are cut."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        yield node
        if not node.is_cut and node.children is not None:
            waiting += reversed(node.children)
