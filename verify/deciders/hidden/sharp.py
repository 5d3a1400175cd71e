"""Leaves whose bound is the best objective itself: at the cells of the best network p is its weights over |v| exactly.

A relaxation by cells (`solvers.hidden.inner_cells`) is the guess. Unknown are the multipliers of points that are met
without room and, at each cell of a case that holds one of its neurons w_j, the weights nu of kinks: p = w_j / |v_j|. At
the other cells the slopes of the guess have room to be rounded.

Source: `docs/mathematics.md`, 12.3 "Given output weights: one network".
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from solvers.arrays import Floats
from solvers.hidden.inner_cells import ByCells, ConeCell
from solvers.programs.nonnegative import nonnegative_least_squares
from verify.checker.dual_trees import Bound, Case
from verify.checker.statement import outputs
from verify.checker.states import HiddenDual
from verify.deciders.exact_systems import NOTHING, solution_near
from verify.deciders.hidden.geometry import Geometry
from verify.deciders.hidden.leaves import (
    BITS,
    StateLeaf,
    accepted,
    denominator_over,
    excesses,
    factors,
    rounded_tree,
    shown_slopes,
    slope_written,
)
from verify.deciders.hidden.norm_bounds import NormBounds
from verify.deciders.time_limits import poll
from verify.numbers.floats import float_near
from verify.problem.members import has_margin
from verify.problem.network import Network

__all__ = ["sharp_leaf"]

MOST_UNKNOWNS = 200


@dataclass(slots=True)
class _TightCell:
    """A cell of a case with a neuron of the network in it.   steps: kinks, and the sign of what their slopes have
    beyond the end that they are counted from.   at_end: points whose slopes are counted from e_i.
    """

    case: Case
    neuron: int
    at_end: frozenset[int]
    steps: tuple[tuple[int, int], ...]
    place: int = field(default=0)


def sharp_leaf(
    geometry: Geometry,
    cases: Mapping[Case, Fraction],
    cells: ByCells,
    network: Network,
    owners: Sequence[Sequence[int]],
    sides: Mapping[int, Sequence[int]],
) -> StateLeaf | None:
    """The leaf that proves the objective of the network in the state; None where the guess leads to none.

    owners: for each case the neurons of the network in its cone.   sides: by neuron, of the points, 0 at kinks.
    """
    system = _SharpSystem(geometry, cases, cells, network, owners, sides)
    if not system.support or len(system.guess) > MOST_UNKNOWNS:
        return None
    found = solution_near(
        system.lines, system.right, np.array(system.guess), [True] * len(system.guess), np.array(system.units)
    )
    return None if found is None else system.leaf(found)


class _SharpSystem:
    """lines, right: p of each tight cell, column by column, as a function of |lambda_i| and the steps, all >= 0."""

    def __init__(
        self,
        geometry: Geometry,
        cases: Mapping[Case, Fraction],
        cells: ByCells,
        network: Network,
        owners: Sequence[Sequence[int]],
        sides: Mapping[int, Sequence[int]],
    ) -> None:
        self.geometry, self.problem, self.cases, self.cells = geometry, geometry.problem, cases, cells
        self.network, self.owners, self.sides = network, owners, sides
        self.factors, self.slope = factors(self.problem), self.problem.architecture.slope
        raw = cells.found.multipliers
        self.scale = self._scale()
        met = self._without_room()
        largest = float(np.abs(raw).max(initial=0.0))
        self.support = [i for i in met if abs(raw[i]) > NOTHING * largest]
        self.signs = {i: 1 if raw[i] > 0 else -1 for i in self.support}
        self.guess = [abs(float(raw[i])) * self.scale for i in self.support]
        self.units = [1.0] * len(self.guess)
        self.tight: dict[int, _TightCell] = {}
        self.lines: list[list[Fraction]] = []
        self.right: list[Fraction] = []
        flat = [(q, node) for q, tree in enumerate(cells.trees) for node in tree if isinstance(node, ConeCell)]
        for k, (q, cell) in enumerate(flat):
            poll()
            neuron = self._neuron_in(q, cell)
            if neuron is not None:
                self.tight[k] = self._tight(list(cases)[q], cell, neuron, k)
        for tight in self.tight.values():
            for column in tight.case[0]:
                self.lines.append(self._line(tight, column))
                self.right.append(self._wanted(tight, column))

    def _scale(self) -> float:
        """What makes D of the guess twice the objective, as it is where p is the weights over |v|."""
        raw, targets = self.cells.found.multipliers, [float_near(y) for y in self.problem.targets]
        reached = (
            float(raw.sum())
            if has_margin(self.problem.goal)
            else float(raw @ np.array(targets)) - float_near(self.problem.fit_tolerance) * float(np.abs(raw).sum())
        )
        square = sum((z * z for w in self._counted_weights() for z in w), Fraction(0))
        return float_near(square) / reached if reached > 0 else 1.0

    def _counted_weights(self) -> list[list[Fraction]]:
        hidden, masks = self.network.hidden_weights, self.geometry.masks
        return [[hidden[j][c] for c in self.geometry.counted(masks[j])] for j in self.geometry.live]

    def _without_room(self) -> list[int]:
        """The points at which the network has no room: only they have multipliers."""
        values, eps = outputs(self.problem, self.network), self.problem.fit_tolerance
        raw = self.cells.found.multipliers
        if has_margin(self.problem.goal):
            return [i for i, (f, y) in enumerate(zip(values, self.problem.targets, strict=True)) if y * f == 1]
        pairs = enumerate(zip(values, self.problem.targets, strict=True))
        return [i for i, (f, y) in pairs if f == (y - eps if raw[i] > 0 else y + eps)]

    def _neuron_in(self, q: int, cell: ConeCell) -> int | None:
        cone = cell.floats.cone
        return next((j for j in self.owners[q] if (cone * np.array(self.sides[j]) >= 0).all()), None)

    def _tight(self, case: Case, cell: ConeCell, neuron: int, k: int) -> _TightCell:
        sides, cone, raw = self.sides[neuron], cell.floats.cone, self.cells.found
        c, kept = self.factors, set(self.support)
        at_end: set[int] = set()
        steps: list[tuple[int, int]] = []
        for i, side in enumerate(sides):
            decided = int(cone[i])
            if side:
                at_end |= {i} if side > 0 else set()
                continue
            if decided > 0:
                at_end.add(i)
            is_open = decided == 0 and i in kept and case[2] * float_near(c[i]) * raw.multipliers[i] < 0
            if decided or is_open:
                steps.append((i, 1 if decided > 0 else -1))
        found = _TightCell(case, neuron, frozenset(at_end), tuple(steps), len(self.guess))
        for i, sign in steps:
            e = float_near((1 - self.slope) * case[2] * c[i]) * float(raw.multipliers[i]) if i in kept else 0.0
            t = float(raw.slopes[k, i]) - (e if i in at_end else 0.0)
            self.guess.append(max(sign * t, 0.0) * self.scale)
            self.units.append(1.0)
        return found

    def _line(self, cell: _TightCell, column: int) -> list[Fraction]:
        line = [Fraction(0)] * len(self.guess)
        rows, sign = self.problem.rows, cell.case[2]
        for q, i in enumerate(self.support):
            share = Fraction(1) if i in cell.at_end else self.slope
            line[q] = share * sign * self.factors[i] * self.signs[i] * rows[i][column]
        for q, (i, side) in enumerate(cell.steps, cell.place):
            line[q] = side * rows[i][column]
        return line

    def _wanted(self, cell: _TightCell, column: int) -> Fraction:
        if column == self.geometry.free:
            return Fraction(0)
        return self.network.hidden_weights[cell.neuron][column] / abs(self.geometry.outgoing[cell.neuron])

    def leaf(self, found: Sequence[Fraction]) -> StateLeaf | None:
        """The leaf of a solution, when the checker's rule accepts it."""
        multipliers = {i: self.signs[i] * value for i, value in zip(self.support, found, strict=False)}
        named = {i for _, cone, _ in self.cases for i, side in enumerate(cone) if side}
        named |= {node for tree in self.cells.trees for node in tree if isinstance(node, int)}
        named |= {i for cell in self.tight.values() for i, _ in cell.steps}
        listed = {i: multipliers.get(i, Fraction(0)) for i in sorted({*named, *multipliers})}
        slopes = {k: self._slopes(cell, listed, found) for k, cell in self.tight.items()}
        largest = max((abs(z) for z in multipliers.values()), default=Fraction(1))
        unit = Fraction(2) ** (math.frexp(float_near(largest))[1] - BITS)
        denominator = denominator_over(self.problem, listed, unit)
        denominator = math.lcm(denominator, *(t.denominator for own in slopes.values() for t in own.values()))
        trees: list[tuple[int | Bound, ...]] = []
        squares: list[Fraction] = []
        k = 0
        for q, (case, tree) in enumerate(zip(self.cases, self.cells.trees, strict=True)):
            norms = NormBounds(self.geometry, case, listed)
            square = self._square(q)
            nodes: list[int | Bound] = []
            for node in tree:
                if isinstance(node, int):
                    nodes.append(node)
                    continue
                part = case[0], tuple(node.floats.cone.tolist()), case[2]
                leaf = self._written(part, slopes[k], listed, denominator) if k in slopes else None
                if k not in slopes:
                    leaf = self._loose(norms, part, node, listed, k, denominator, square)
                if leaf is None:
                    return None
                nodes.append(leaf)
                k += 1
            trees.append(tuple(nodes))
            squares.append(square)
        node = HiddenDual(tuple(listed.items()), tuple(squares), denominator, tuple(trees))
        return accepted(self.problem, node, self.cases)

    def _loose(
        self,
        norms: NormBounds,
        part: Case,
        cell: ConeCell,
        listed: Mapping[int, Fraction],
        k: int,
        denominator: int,
        square: Fraction,
    ) -> Bound | None:
        """The leaf of a cell without a neuron: by the slopes of the guess, or of the shortest p; None without."""
        guess = self.cells.found.slopes[k] * self.scale
        for shortens in (False, True):
            own = self._shortest(part, cell, listed, guess) if shortens else guess
            rounded = rounded_tree(norms, part, listed, own, denominator, cell.terms)
            if rounded is not None and rounded[1] <= square:
                return rounded[0]
        return None

    def _shortest(self, part: Case, cell: ConeCell, listed: Mapping[int, Fraction], guess: Floats) -> Floats:
        """The slopes of decided points that make ||p|| least, at the exact multipliers; the others as they are."""
        rows, cone, sign = cell.floats.rows, cell.floats.cone, part[2]
        lifts = np.zeros(len(cone))
        for i, value in listed.items():
            lifts[i] = sign * float_near(value * self.factors[i])
        slope = float_near(self.slope)
        own = np.where(cone > 0, (1 - slope) * lifts, np.where(cone < 0, 0.0, guess))
        decided = np.flatnonzero(cone)
        signed = (rows[decided] * cone[decided, None]).T
        with suppress(RuntimeError):
            own[decided] += cone[decided] * nonnegative_least_squares(signed, -rows.T @ (slope * lifts + own))
        return own

    def _square(self, q: int) -> Fraction:
        """The largest of ||w_j||^2 / v_j^2 over the neurons of a case."""
        hidden, masks = self.network.hidden_weights, self.geometry.masks
        return max(
            (
                sum((hidden[j][c] ** 2 for c in self.geometry.counted(masks[j])), Fraction(0))
                / self.geometry.outgoing[j] ** 2
                for j in self.owners[q]
            ),
            default=Fraction(0),
        )

    def _slopes(
        self, cell: _TightCell, listed: Mapping[int, Fraction], found: Sequence[Fraction]
    ) -> dict[int, Fraction]:
        excess = excesses(self.problem, cell.case, listed)
        own = {i: excess[i] if i in cell.at_end else Fraction(0) for i in listed}
        for q, (i, side) in enumerate(cell.steps, cell.place):
            own[i] += side * found[q]
        return own

    def _written(
        self, part: Case, own: Mapping[int, Fraction], listed: Mapping[int, Fraction], denominator: int
    ) -> Bound | None:
        excess = excesses(self.problem, part, listed)
        shown = shown_slopes(slope_written(own[i], excess[i], denominator) for i in listed)
        return Bound(shown) if len(shown) == len(listed) else None
