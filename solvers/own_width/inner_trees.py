"""States in which nothing fits though one cell for each case does not show it: inner trees with shared multipliers.

Neurons of one case lie in one cone, but not all in one cell of it: what excludes a state may need to be looked at cell
by cell. Decisions made outside multiply over the neurons; those made in here add up, as all cells share one multiplier
for each point. Cells are split one by one, where the largest D of a linear program is 0 only because an undecided point
is helped for free, until D > 0, or nothing is free: then the relaxed problem of the state does fit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from solvers.any_width.scaling import Scaled
from solvers.arrays import Indices
from solvers.own_width.farkas import CaseCell, FarkasProgram, InnerNode, Missing, StateNothing
from solvers.own_width.states import StateCase

__all__ = ["excluding_by_cells"]

POSITIVE = 1e-7  # what counts as above 0 of D with multipliers of sum 1, in the scaled problem, and of help
MOST_CELLS = 300
AT_ONCE = 0.2  # of all cells are split before the next program, those with the most free help
IN_USE = 1e-9  # a multiplier below this part of the largest is 0
ROUNDS = 3  # of dropping points


@dataclass(slots=True, eq=False)
class _Inner:
    """A node of an inner tree.   point: where it is split."""

    cell: CaseCell
    point: int | None = None
    children: tuple[_Inner, ...] = ()

    def split(self, point: int) -> None:
        """Into the part where the point is on, and where it is off."""
        sides = self.cell.sides
        self.point = point
        self.children = tuple(_Inner(CaseCell(self.cell.case, {**sides, point: side})) for side in (1, -1))

    def preorder(self) -> list[_Inner]:
        """The nodes, this one first."""
        return [self, *(node for child in self.children for node in child.preorder())]

    def leaves(self) -> list[_Inner]:
        """The leaves in pre-order."""
        return [node for node in self.preorder() if node.point is None]


def excluding_by_cells(
    problem: Scaled, cases: Sequence[StateCase], points: Indices, poll: Callable[[], None]
) -> StateNothing | None:
    """The multipliers, of some of the points, that prove that nothing fits in the state; None where none are found.

    points: those with multipliers in a relaxed problem that does not fit; those that are decided join them.
    poll: called before each linear program; may raise.
    """
    decided = np.array(sorted({i for case in cases for i, _ in case.cone}), np.intp)
    chosen = np.union1d(points, decided).astype(np.intp)
    best: StateNothing | None = None
    for _ in range(ROUNDS):
        found = _excluding(problem, cases, chosen, poll)
        if found is None:
            return best
        best = found
        used = np.abs(found.multipliers / problem.row_scales)
        fewer = np.union1d(np.flatnonzero(used > IN_USE * used.max()), decided).astype(np.intp)
        if len(fewer) == len(chosen):
            return best
        chosen = fewer
    return best


def _excluding(
    problem: Scaled, cases: Sequence[StateCase], points: Indices, poll: Callable[[], None]
) -> StateNothing | None:
    roots = [_Inner(CaseCell(case, dict(case.cone))) for case in cases]
    if not len(points):
        return None
    while True:
        poll()
        leaves = [leaf for root in roots for leaf in root.leaves()]
        program = FarkasProgram(problem, [leaf.cell for leaf in leaves], points)
        found = program.most()
        if found is None:
            return None
        most, missing = found
        if most > POSITIVE:
            return _written(problem, cases, roots, program)
        if len(leaves) > MOST_CELLS or not _split(leaves, missing, points):
            return None


def _split(leaves: Sequence[_Inner], missing: Missing, points: Indices) -> bool:
    """Split the cells with the most free help at their points with the most of it; whether there are any."""
    largest = missing.free.max(axis=1)
    helped = np.flatnonzero(largest > POSITIVE)
    order = helped[np.argsort(-largest[helped], kind="stable")]
    for q in order[: max(1, round(AT_ONCE * len(leaves)))]:
        leaves[q].split(int(points[np.argmax(missing.free[q])]))
    return len(helped) > 0


def _written(
    problem: Scaled, cases: Sequence[StateCase], roots: Sequence[_Inner], program: FarkasProgram
) -> StateNothing | None:
    found = program.shortest()
    if found is None:
        return None
    multipliers, slopes = found
    rest = iter(slopes * problem.row_scales)
    trees: list[tuple[InnerNode, ...]] = [
        tuple(next(rest) if node.point is None else node.point for node in root.preorder()) for root in roots
    ]
    return StateNothing(tuple(cases), multipliers * problem.row_scales, tuple(trees))
