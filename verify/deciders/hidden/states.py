"""The states of a search, as floats see them, and the neurons of a problem with given output weights."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import cached_property

import numpy as np

from solvers.arrays import Floats, Signs
from solvers.hidden.cases import BiasReach, FloatCase, WantedOutputs
from solvers.hidden.cells import GivenNeurons
from solvers.hidden.inner_cells import ConeCell, RangeTerms
from solvers.programs.nonnegative import nonnegative_least_squares
from verify.checker.dual_trees import Case
from verify.checker.states import Split, cases_in
from verify.deciders.hidden.geometry import Geometry
from verify.numbers.floats import float_near, float_targets, to_float
from verify.problem.members import has_margin
from verify.problem.problem import Problem

__all__ = ["NeuronState", "float_neurons", "float_points"]

TIGHTER = 0.999
"""A range that is not smaller than this part of the plain one is not listed."""

STIFF = (1.0, 1e3)
"""What the part of a range along a free bias costs in floats, in parts of the reach of that bias."""


def float_points(problem: Problem) -> WantedOutputs:
    """What is asked of the outputs."""
    return WantedOutputs(
        targets=float_targets(problem),
        margin=has_margin(problem.goal),
        tolerance=float_near(problem.fit_tolerance),
        slope=to_float(problem.architecture.slope),
    )


def float_neurons(geometry: Geometry) -> GivenNeurons:
    """The neurons with v_j != 0."""
    masks = [geometry.masks[j] for j in geometry.live]
    return GivenNeurons(
        points=float_points(geometry.problem),
        rows=[geometry.coordinates(mask) for mask in masks],
        free=[_free(geometry, mask) for mask in masks],
        outgoing=np.array([float_near(geometry.outgoing[j]) for j in geometry.live]),
    )


def _free(geometry: Geometry, mask: tuple[int, ...]) -> Floats | None:
    if not geometry.sees_free(mask):
        return None
    return np.array([float_near(geometry.bias_entry(i)) for i in range(len(geometry.problem.rows))])


class NeuronState:
    """known: what is decided, {(neuron, point): side}.   cases: as the checker has them."""

    def __init__(self, geometry: Geometry, known: Mapping[Split, int]) -> None:
        self.geometry, self.known = geometry, dict(known)
        self.cases: dict[Case, Fraction] = cases_in(geometry.problem, known)

    @cached_property
    def _whole(self) -> list[ConeCell]:
        return [self.cell(q, {}) for q in range(len(self.cases))]

    @property
    def floats(self) -> list[FloatCase]:
        """The cases in floats."""
        return [cell.floats for cell in self._whole]

    @property
    def unit(self) -> float:
        """The size of an objective, by those of the targets, the points and the output weights."""
        problem, cases = self.geometry.problem, self.floats
        height = 1.0 if has_margin(problem.goal) else float(np.abs(float_targets(problem)).max()) or 1.0
        widest = max(float(np.abs(case.rows).max(initial=0.0)) for case in cases) or 1.0
        return height**2 / (widest**2 * sum(case.weight for case in cases))

    @property
    def terms(self) -> dict[int, RangeTerms]:
        """By case and point, the weights of decided points that make its two ranges shorter."""
        return {q: cell.terms for q, cell in enumerate(self._whole)}

    def cell(self, q: int, besides: Mapping[int, int]) -> ConeCell:
        """The part of the cone of a case on which these sides are decided besides."""
        (mask, cone, sign), weight = list(self.cases.items())[q]
        rows, free = self.geometry.coordinates(mask), _free(self.geometry, mask)
        whole: Signs = np.array(cone, np.int8)
        sides = whole.copy()
        for i, side in besides.items():
            sides[i] = side
        terms: dict[int, tuple[dict[int, float], dict[int, float]]] = {}
        sizes = np.linalg.norm(rows, axis=1)
        bias = None
        if free is not None:
            bias = BiasReach(float(sizes.max(initial=0.0)), bool((whole >= 0).all()), bool((whole <= 0).all()))
            sizes = sizes + bias.reach
        left, right = sizes.copy(), sizes.copy()
        decided = np.flatnonzero(sides)
        if len(decided) and self.geometry.problem.architecture.slope < 1:
            reach = 0.0 if bias is None else bias.reach
            lifted = rows if free is None else np.column_stack([rows, free])
            signed = (lifted[decided] * sides[decided, None]).T
            for i in np.flatnonzero(sides == 0):
                ends = [self._range(signed, decided, side * lifted[i], sizes[i], reach) for side in (-1, 1)]
                left[i], right[i] = ends[0][0], ends[1][0]
                terms[int(i)] = (ends[0][1], ends[1][1])
        return ConeCell(FloatCase(rows, free, sign, float_near(weight), sides, left, right, bias), terms)

    @staticmethod
    def _range(
        signed: Floats, decided: np.ndarray, x: Floats, size: float, reach: float
    ) -> tuple[float, dict[int, float]]:
        """The least norm of x plus a nonnegative combination of the decided points on their sides, and its weights.

        reach: B, where the last entries are along a free bias; then nearly the least ||z_w|| + B |z_b|. Else 0.
        """
        best, length = np.zeros(len(decided)), TIGHTER * size
        for stiff in STIFF if reach else STIFF[:1]:
            scale = np.ones(len(x))
            scale[-1] = stiff * reach if reach else 1.0
            try:
                found = nonnegative_least_squares(signed * scale[:, None], -x * scale)
            except RuntimeError:
                continue
            z = x + signed @ found
            own = float(np.linalg.norm(z[:-1]) + reach * abs(z[-1])) if reach else float(np.linalg.norm(z))
            if own <= length:
                best, length = found, own
        if not best.any():
            return size, {}
        return length * (1 + 1e-9) + 1e-12 * size, {
            int(k): float(m) for k, m in zip(decided, best, strict=True) if m > 0
        }

    def neuron_of(self, q: int) -> int:
        """The first neuron of a case."""
        wanted = list(self.cases)[q]
        for j in self.geometry.live:
            mask, v = self.geometry.problem.neurons[j]
            cone = tuple(self.known.get((j, i), 0) for i in range(len(self.geometry.problem.rows)))
            if v is not None and (mask, cone, 1 if v > 0 else -1) == wanted:
                return j
        raise KeyError(q)

    def case_of(self, neuron: int) -> int:
        """The place of a neuron's case."""
        mask, v = self.geometry.problem.neurons[neuron]
        cone = tuple(self.known.get((neuron, i), 0) for i in range(len(self.geometry.problem.rows)))
        return list(self.cases).index((mask, cone, 1 if v is not None and v > 0 else -1))

    def fixed(self) -> Signs:
        """The decided sides of the live neurons, (k, n), 0 where undecided."""
        n = len(self.geometry.problem.rows)
        return np.array([[self.known.get((j, i), 0) for i in range(n)] for j in self.geometry.live], np.int8)
