"""A sharper bound of a state with given output weights: the cone of a case in several cells, which share multipliers.

`solvers.hidden.relaxation` has one linear bound for each cone; where c_i s max(x_i.u, 0) is bounded by a chord, that
costs. Here a cone is cut at such points, one after the other, and all cells of a case have one size, the largest of
theirs: decisions about neurons multiply, those about cells add up. When no chord is left where it counts, and the
relaxed network of the cells fits, the bound is the best one of the state.

Source: `docs/mathematics.md`, 12.3 "Given output weights: one network".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from solvers.arrays import Floats, Indices, Signs
from solvers.hidden.cases import FloatCase, WantedOutputs
from solvers.hidden.relaxation import Relaxed, evaluated, relaxed

__all__ = ["MOST_CELLS", "ByCells", "ConeCell", "RangeTerms", "by_cells", "without_chords"]

MOST_CELLS = 80
AT_ONCE = 0.3  # of all cells may be split before the next program
COUNTS = 1e-7  # a chord that costs less than this part of the size of its case is none
MISSED = 1e-4  # an output that is off by less, of the largest target, is met
MORE_POINTS = 4  # get multipliers before the next program
STALLED, PATIENCE = 1e-4, 5  # so little more, so many times in a row: it is not going to reach the goal
IN_USE = 1e-7  # a multiplier below this part of the largest is 0
ROUNDS = 4  # of cutting all chords of some cells

RangeTerms: TypeAlias = Mapping[int, tuple[Mapping[int, float], Mapping[int, float]]]


@dataclass(frozen=True, slots=True, eq=False)
class ConeCell:
    """floats: a cell, as a case.   terms: by point, the weights of decided points that make its ranges shorter."""

    floats: FloatCase
    terms: RangeTerms


@dataclass(slots=True, eq=False)
class _CellNode:
    sides: dict[int, int]
    cell: ConeCell
    point: int | None = None
    children: tuple[_CellNode, ...] = ()

    def preorder(self) -> list[_CellNode]:
        return [self, *(node for child in self.children for node in child.preorder())]


@dataclass(frozen=True, slots=True, eq=False)
class ByCells:
    """value: the bound.   found: of the cells in the order of the trees.   trees: for each case in pre-order the point
    of a split, left its on side, or a cell.   pieces: for each case directions (P, r) of a relaxed network.
    """

    value: float
    found: Relaxed
    trees: tuple[tuple[int | ConeCell, ...], ...]
    pieces: tuple[Floats, ...]


def by_cells(
    points: WantedOutputs,
    cases: Sequence[FloatCase],
    made: Callable[[int, Mapping[int, int]], ConeCell],
    support: Indices,
    goal: float,
    poll: Callable[[], None],
    most: int = MOST_CELLS,
    before: Sequence[Sequence[int | ConeCell]] | None = None,
) -> ByCells | None:
    """The bound with cells, until it is above the goal, or no chord is left, or it stalls; None where a solver fails.

    made: the cell of a case with sides that are decided besides.   support: the points that have multipliers.
    poll: called before each program; may raise.   most: cells, of which no more are cut.
    before: for each case the tree of the case that it was cut from, to begin with; then no less is proved than there.
    """
    trees = [()] * len(cases) if before is None else before
    roots = [_grown(tree, q, made, case.cone) for q, (tree, case) in enumerate(zip(trees, cases, strict=True))]
    best: ByCells | None = None
    idle = 0
    while True:
        poll()
        leaves = [[node for node in root.preorder() if node.point is None] for root in roots]
        flat = [node for own in leaves for node in own]
        owners = np.repeat(np.arange(len(cases)), [len(own) for own in leaves])
        found = _solved(points, [node.cell.floats for node in flat], owners, support)
        if found is None:
            return best
        state, weights, pieces, endless = found
        idle = idle + 1 if best is not None and state.value <= best.value * (1 + STALLED) else 0
        if best is None or state.value > best.value:
            best = _written(roots, state, pieces, owners, endless)
        if state.value >= goal or idle >= PATIENCE or len(flat) > most:
            return best
        missed = _missed(points, [node.cell.floats for node in flat], pieces, state, endless)
        others = np.setdiff1d(np.flatnonzero(missed), support)
        more = others[np.argsort(-np.abs(missed[others]), kind="stable")][:MORE_POINTS]
        support = np.union1d(support, more).astype(np.intp)
        chosen = _costly(owners, state, weights) or _helped(flat, weights, missed)
        for k, i in chosen[: max(1, round(AT_ONCE * len(flat)))]:
            _split(flat[k], i, int(owners[k]), made)
        if not chosen and not len(more):
            return best


def without_chords(
    points: WantedOutputs,
    cells: ByCells,
    made: Callable[[int, Mapping[int, int]], ConeCell],
    inside: Sequence[Sequence[Signs]],
    poll: Callable[[], None],
) -> ByCells | None:
    """The bound again with the cells of some directions cut until no chord is left in them; None where that fails.

    inside: for each case the sides (n,) of the directions, 0 at kinks, which are on both sides.   made, poll: as of
    `by_cells`.
    """
    nothing = np.zeros(len(points.targets), np.int8)
    roots = [_grown(tree, q, made, nothing) for q, tree in enumerate(cells.trees)]
    found = cells
    for _ in range(ROUNDS):
        poll()
        leaves = [[node for node in root.preorder() if node.point is None] for root in roots]
        owners = np.repeat(np.arange(len(roots)), [len(own) for own in leaves])
        sizes = np.abs(found.found.multipliers)
        support = np.flatnonzero(sizes > IN_USE * sizes.max(initial=0.0)).astype(np.intp)
        lifts = {int(i): float(found.found.multipliers[i] * points.factors[i]) for i in support}
        cuts = 0
        for q, own in enumerate(leaves):
            for node in own:
                waiting = [node]
                while waiting:
                    here = waiting.pop()
                    sides, sign = here.cell.floats.cone, here.cell.floats.sign
                    if not any((sides * other >= 0).all() for other in inside[q]):
                        continue
                    point = next((i for i, lift in lifts.items() if sides[i] == 0 and sign * lift > 0), None)
                    if point is not None and cuts < MOST_CELLS:
                        cuts += 1
                        _split(here, point, q, made)
                        waiting += here.children
        leaves = [[node for node in root.preorder() if node.point is None] for root in roots]
        owners = np.repeat(np.arange(len(roots)), [len(own) for own in leaves])
        if cuts == MOST_CELLS:
            return None
        solved = _solved(points, [node.cell.floats for own in leaves for node in own], owners, support)
        if solved is None:
            return None
        found = _written(roots, solved[0], solved[2], owners, solved[3])
        if not cuts:
            return found
    return None


def _grown(
    tree: Sequence[int | ConeCell], q: int, made: Callable[[int, Mapping[int, int]], ConeCell], cone: Signs
) -> _CellNode:
    """The tree of a case as nodes, without the parts on the other side of what is decided by its cone."""
    root = _CellNode({}, made(q, {}))
    waiting: list[_CellNode | None] = [root]  # None: a part that is left out
    for given in tree:
        node = waiting.pop()
        if not isinstance(given, int):
            continue
        if node is None:
            waiting += [None, None]
        elif cone[given]:
            waiting += [None, node] if cone[given] > 0 else [node, None]
        else:
            _split(node, given, q, made)
            waiting += reversed(node.children)
    return root


def _split(node: _CellNode, point: int, q: int, made: Callable[[int, Mapping[int, int]], ConeCell]) -> None:
    node.point = point
    both = [{**node.sides, point: side} for side in (1, -1)]
    node.children = tuple(_CellNode(sides, made(q, sides)) for sides in both)


def _written(
    roots: Sequence[_CellNode], state: Relaxed, pieces: Sequence[Floats], owners: Indices, endless: Floats
) -> ByCells:
    trees = tuple(tuple(node.cell if node.point is None else node.point for node in root.preorder()) for root in roots)
    largest = max((float(np.abs(u).max(initial=0.0)) for u in pieces), default=0.0)
    along = [np.append(np.zeros(len(u) - 1), b) for u, b in zip(pieces, endless, strict=True)]
    kept = [u if abs(u[-1]) > COUNTS * largest else np.zeros(len(u)) for u in along]
    both = [*zip(pieces, owners, strict=True), *zip(kept, owners, strict=True)]
    shown = tuple(np.array([u for u, o in both if o == q and u.any()]) for q in range(len(roots)))
    return ByCells(state.value, state, trees, shown)


def _costly(owners: Indices, state: Relaxed, weights: Floats) -> list[tuple[int, int]]:
    """The cells whose chords cost, and where most, the costliest first."""
    costs = weights * state.offsets.max(axis=1, initial=0.0)
    sizes = np.array([state.sizes[owners == q].max() for q in range(int(owners.max()) + 1)])[owners]
    found = np.flatnonzero(costs > COUNTS * sizes * max(float(weights.max()), 1e-300))
    return [(int(k), int(np.argmax(state.offsets[k]))) for k in found[np.argsort(-costs[found], kind="stable")]]


def _helped(flat: Sequence[_CellNode], weights: Floats, missed: Floats) -> list[tuple[int, int]]:
    """Cells in use with an undecided point at which an output is missing that they would add to: it is helped for free.

    A multiplier there would be above 0, and its chord costs more than it brings.
    """
    found: list[tuple[float, int, int]] = []
    for k in np.flatnonzero(weights > COUNTS * weights.max(initial=0.0)):
        cell = flat[int(k)].cell.floats
        needs = np.where(cell.cone == 0, cell.sign * missed, 0.0)
        i = int(np.argmax(needs))
        if needs[i] > 0:
            found.append((-float(needs[i]), int(k), i))
    return [(k, i) for _, k, i in sorted(found)]


def _missed(
    points: WantedOutputs, cells: Sequence[FloatCase], pieces: Sequence[Floats], state: Relaxed, endless: Floats
) -> Floats:
    """What is missing of the outputs (n,) of the relaxed network, which is scaled to suit the multipliers; else 0."""
    outputs = np.zeros(len(points.targets))
    for cell, u, bias in zip(cells, pieces, endless, strict=True):
        z = cell.lifted @ u
        outputs += cell.sign * (np.maximum(z, points.slope * z) + max(bias, points.slope * bias))
    given = float(np.abs(state.multipliers * points.targets).sum())
    reached = float(np.abs(state.multipliers) @ (np.sign(points.targets) * outputs))
    outputs *= given / reached if reached > 0 else 0.0
    missed = points.targets - outputs
    if points.margin:
        missed = np.where(points.targets * outputs < 1.0, missed, 0.0)
    else:
        missed = np.sign(missed) * np.maximum(np.abs(missed) - points.tolerance, 0.0)
    return np.where(np.abs(missed) > MISSED * np.abs(points.targets).max(initial=0.0), missed, 0.0)


def _solved(
    points: WantedOutputs, cells: Sequence[FloatCase], owners: Indices, support: Indices
) -> tuple[Relaxed, Floats, list[Floats], Floats] | None:
    """The bound of the cells, what each weighs in it, and the directions and biases of the relaxed network in each."""
    few = WantedOutputs(points.targets[support], points.margin, points.tolerance, points.slope)
    found = relaxed(few, [_on(cell, support) for cell in cells], owners)
    if found is None:
        return None
    n = len(points.targets)
    multipliers, slopes = np.zeros(n), np.zeros((len(cells), n))
    multipliers[support], slopes[:, support] = found.multipliers, found.slopes
    state = evaluated(points, cells, multipliers, slopes, owners)
    return None if state is None else (state, found.weights, list(found.pieces), found.endless)


def _on(cell: FloatCase, support: Indices) -> FloatCase:
    free = None if cell.free is None else cell.free[support]
    cone, left, right = cell.cone[support], cell.left[support], cell.right[support]
    return replace(cell, rows=cell.rows[support], free=free, cone=cone, left=left, right=right)
