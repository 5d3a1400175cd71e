"""States that lie in others when neurons are exchanged: they are proved as those are, without a relaxed problem.

In a tree of splits each network has a copy in a leaf, and may have several (`docs/mathematics.md`, 12.2 "One rule for
exchanging neurons"). What lies in a state to its left, neurons exchanged, is split as that one is, and its leaves take
the multipliers of that one's. A copy goes to the left only, so that none waits for itself.
"""

from __future__ import annotations

from collections.abc import Sequence

from solvers.own_width.nodes import WidthNode
from solvers.own_width.states import DecidedSplits, Split

__all__ = ["exchanged", "followed", "original"]


def exchanged(masks: Sequence[int], above: DecidedSplits, below: DecidedSplits) -> list[int] | None:
    """For each neuron of the first state one of the second, of the same mask class, of which all that is decided of the
    first is; each once. None where there are none, so that the second does not lie in the first.
    """
    own, theirs = ([_decided(known, j) for j in range(len(masks))] for known in (above, below))
    fits = [
        [m for m, other in enumerate(theirs) if masks[m] == masks[j] and mine <= other] for j, mine in enumerate(own)
    ]
    takers: dict[int, int] = {}

    def settle(j: int, tried: set[int]) -> bool:
        for m in fits[j]:
            if m not in tried:
                tried.add(m)
                if m not in takers or settle(takers[m], tried):
                    takers[m] = j
                    return True
        return False

    if not all(settle(j, set()) for j in range(len(masks))):
        return None
    places = {j: m for m, j in takers.items()}
    return [places[j] for j in range(len(masks))]


def original(masks: Sequence[int], node: WidthNode) -> WidthNode | None:
    """A state to the left of this one in which it lies, neurons exchanged; None without one."""
    here = node
    while (parent := here.parent) is not None:
        if parent.children is not None and parent.children[1] is here:
            left = parent.children[0]
            if exchanged(masks, left.known, node.known) is not None:
                return left
        here = parent
    return None


def followed(masks: Sequence[int], node: WidthNode, within: WidthNode) -> tuple[WidthNode, Split | None]:
    """The last state below `within` in which the node lies, neurons exchanged, and the split of the node that leads on;
    no split where that state has none.
    """
    while within.split is not None and within.children is not None:
        inside = [child for child in within.children if exchanged(masks, child.known, node.known) is not None]
        if inside:
            within = inside[0]
            continue
        places = exchanged(masks, within.known, node.known)
        if places is None:
            break
        neuron, point = within.split
        mine = _decided(within.known, neuron)
        alike = [j for j in range(len(masks)) if masks[j] == masks[neuron] and _decided(within.known, j) == mine]
        return within, next((places[j], point) for j in alike if (places[j], point) not in node.known)
    return within, None


def _decided(known: DecidedSplits, neuron: int) -> frozenset[tuple[int | None, int]]:
    return frozenset((i, side) for (j, i), side in known.items() if j == neuron)
