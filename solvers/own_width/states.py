"""States of the neurons of a width: what is decided of each, the children of a split, and the cases that this leaves.

A state decides for some neurons j and points i a side of x_i . u_j, and for some neurons the sign of the output weight.
The rules are those of `docs/mathematics.md`, 12.2 "One rule for exchanging neurons"; the checker has its own code.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

__all__ = ["DecidedSplits", "Split", "StateCase", "cases_of", "children_of"]

Split: TypeAlias = tuple[int, int | None]
"""(j, i): the side of x_i . u_j; (j, None): the sign of the output weight of neuron j."""

DecidedSplits: TypeAlias = Mapping[Split, int]
"""What is decided: 1 or -1."""


@dataclass(frozen=True, slots=True)
class StateCase:
    """Where a neuron may lie: mask class, output sign, and the sides (point, 1 or -1) that are decided, by point."""

    mask: int
    sign: int
    cone: tuple[tuple[int, int], ...] = ()

    def contains(self, sides: Mapping[int, int]) -> bool:
        """Whether all that is decided here is so there as well."""
        return all(sides.get(i) == side for i, side in self.cone)


def cases_of(masks: Sequence[int], known: DecidedSplits) -> dict[StateCase, list[int]]:
    """The cases of neurons with these mask classes, each with its neurons, in the order in which the neurons name them.

    A neuron whose sign is open has two, + first.
    """
    found: dict[StateCase, list[int]] = {}
    for j, mask in enumerate(masks):
        cone = _cone(known, j)
        side = known.get((j, None), 0)
        for sign in (1, -1):
            if side in (0, sign):
                found.setdefault(StateCase(mask, sign, cone), []).append(j)
    return found


def children_of(masks: Sequence[int], known: DecidedSplits, split: Split) -> tuple[DecidedSplits, DecidedSplits]:
    """The states left and right of a split: on the right it is decided for all neurons that are alike."""
    neuron, point = split
    own = [(mask, known.get((j, None), 0), _cone(known, j)) for j, mask in enumerate(masks)]
    alike = [j for j, all_of_it in enumerate(own) if all_of_it == own[neuron]]
    return {**known, split: 1}, {**known, **{(j, point): -1 for j in alike}}


def _cone(known: DecidedSplits, neuron: int) -> tuple[tuple[int, int], ...]:
    return tuple(sorted((i, side) for (j, i), side in known.items() if j == neuron and i is not None))
