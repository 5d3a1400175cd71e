"""Trees of cones walked in pre-order, with the signs that are decided on the way to each node."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

LeafType = TypeVar("LeafType")


def with_signs(
    nodes: Iterable[int | LeafType], points: int, known: Sequence[int] = ()
) -> Iterator[tuple[int | LeafType, list[int]]]:
    """The nodes of a tree in pre-order, each with the signs (points,) on the path to it: 1, -1, or 0 where undecided.

    known (points,): those that hold in advance, if any.
    An int is a split on that point, its side 1 before its side -1. The list is the same one throughout, and holds the
    signs of a node until the next is taken.
    """
    signs = list(known) or [0] * points
    path: list[int] = []
    for node in nodes:
        yield node, signs
        if isinstance(node, int):
            signs[node] = 1
            path.append(node)
            continue
        while path and signs[path[-1]] == -1:
            signs[path.pop()] = 0
        if path:
            signs[path[-1]] = -1
