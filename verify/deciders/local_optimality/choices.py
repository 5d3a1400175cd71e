"""Near a network the problem is convex once it is chosen on which side of its ties each neuron moves.

A tie is a point i with w_j.x_i = 0 at neuron j; a neuron with v_j = 0 may also take either sign. A `ConeCase` is a kind
of neuron near the network: its mask, its output sign, the signs of x_i.u that hold; its cells are the sides of the
other ties. Neurons of one case need one proof (`verify.checker.local.Local`).

Source: `docs/mathematics.md`, 7.1 "The criterion".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from operator import mul

import numpy as np

from verify.checker.exact import sqrt_lower, squared_norm
from verify.checker.objectives import Objective
from verify.checker.statement import pattern
from verify.deciders.stationarity.model import bias_pull
from verify.deciders.subgradients import subgradients
from verify.numbers.floats import float_rows
from verify.problem.members import factors, has_margin, trains_all
from verify.problem.network import Network
from verify.problem.problem import Problem, outputs

Choice = tuple[int, int]
"""(neuron, point), or (neuron, SIGN) for its output sign."""

SIGN = -1

TieSides = tuple[int, ...]
"""The side of each tie of a case, 1 or -1, in the order of its ties."""


@dataclass(frozen=True, slots=True)
class Unit:
    """The bound that a live neuron asks for: its vector w_j / |v_j|, and the ties whose weight nu must be 0."""

    vector: tuple[Fraction, ...]
    weightless: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ConeCase:
    """mask, sign, cone: as the checker has them.   ties: the points that are not strictly decided (zero rows left out).

    units: for each cell, the sides of all ties that agree with the choices, what its bound must be because live neurons
    lie in its closure; two different vectors exclude each other.
    """

    mask: tuple[int, ...]
    sign: int
    cone: Mapping[int, int]
    strict: Mapping[int, int]
    ties: tuple[int, ...]
    units: Mapping[TieSides, tuple[Unit, ...]]

    def sides(self, cell: TieSides) -> dict[int, int]:
        """The side of every point in a cell, 1 or -1."""
        return sides_of(self.strict, self.ties, cell)

    def asked_by(self, unit: Unit) -> ConeCase:
        """The same with this bound in every cell, beside those that are asked for."""
        units = {cell: tuple(dict.fromkeys((*found, unit))) for cell, found in self.units.items()}
        return replace(self, units=units)

    @property
    def square(self) -> Fraction:
        """The largest ||p||^2 that is asked for."""
        found = (squared_norm(unit.vector) for units in self.units.values() for unit in units)
        return max(found, default=Fraction(0))


def sides_of(strict: Mapping[int, int], ties: Sequence[int], cell: TieSides) -> dict[int, int]:
    """The side of every point, at the ties that of the cell."""
    return {**strict, **dict(zip(ties, cell, strict=True))}


class KKTNeighbourhood:
    """An exact KKT point with what is near it.

    factors: what turns lambda_i into c_i, as the goal says; with a fit tolerance -1 for outputs at the upper end of
    their interval, where c_i <= 0.   active: the points with multipliers.
    is_margin: whether the constraints are inequalities, with lambda_i >= 0: also those of a fit tolerance.
    ranges: where a loss is asked, what lambda_i may be, from least to greatest, by point; factors are 1 or -1 then.
    bias_pull: with an output bias b what sum c_i has to be, mu_b b (over the least margin); None where there is none.
    price, square: m, what a neuron costs at least for |v_j| ||w_j||, rounded down, and its square.
    is_whole: whether output weights are trained; where they are not, a neuron with v_j = 0 has no case.
    """

    def __init__(self, problem: Problem, network: Network) -> None:
        self.problem, self.network = problem, network
        self.masks = network.architecture.masks
        self.linear = problem.architecture.slope == 1
        self.is_whole = trains_all(problem.trained)
        signs = pattern(problem, network)
        self.strict = [{i: int(s) for i, s in enumerate(row) if s} for row in signs]
        self.ties = [self._ties(j) for j in range(len(self.masks))]
        values = outputs(problem, network)
        self.ranges: dict[int, tuple[Fraction, Fraction]] = {}
        self.bias_pull: Fraction | None = None
        self.decay = problem.decay
        self.square = self.decay.hidden * self.decay.output
        self.price = sqrt_lower(self.square)
        self.active = list(range(len(values)))
        if isinstance(problem.goal, Objective):
            self.is_margin, self.factors = False, [Fraction(1)] * len(values)
            self._with_loss(problem.goal, values)
            return
        self.is_margin = has_margin(problem.goal)
        self.bias_pull = bias_pull(problem, network)
        self.factors = list(factors(problem))
        if self.is_margin:
            quantities = list(map(mul, self.factors, values))
            least = min(quantities)
            self.active = [i for i, q in enumerate(quantities) if q == least]
        if problem.fit_tolerance:
            apart = [value - y for value, y in zip(values, problem.data.targets, strict=True)]
            self.is_margin, self.factors = True, [Fraction(-1 if gap > 0 else 1) for gap in apart]
            self.active = [i for i, gap in enumerate(apart) if abs(gap) == problem.fit_tolerance]

    def _with_loss(self, asked: Objective, values: Sequence[Fraction]) -> None:
        """The ranges of a loss, with c_i = factor_i lambda_i such that lambda_i >= 0 where c_i has one sign."""
        for i, (y, z) in enumerate(zip(self.problem.targets, values, strict=True)):
            low, high = subgradients(asked.loss, y, z)
            if high <= 0:
                self.factors[i], (low, high) = Fraction(-1), (-high, -low)
            self.ranges[i] = low, high
        self.active = [i for i, ends in self.ranges.items() if any(ends)]
        self.bias_pull = bias_pull(self.problem, self.network)

    def multiplier(self, i: int, value: Fraction) -> Fraction:
        """What a certificate calls the multiplier of a point, for lambda_i >= 0 of a constraint that is an end: c_i."""
        if isinstance(self.problem.goal, Objective):
            label = self.problem.targets[i] if self.problem.goal.loss.labels else 1
            return value * self.factors[i] * label
        return value * self.factors[i] if self.problem.fit_tolerance else value

    def gain(self, sides: Mapping[int, int], i: int) -> Fraction:
        """The slope of the activation at point i: 1 on the side where it is on."""
        return Fraction(1) if sides.get(i, -1) > 0 else self.problem.architecture.slope

    @cached_property
    def cells(self) -> list[tuple[TieSides, ...]]:
        """The sides that each neuron can take at its ties."""
        return [self._cells(j) for j in range(len(self.masks))]

    def is_idle(self, j: int) -> bool:
        """Whether the neuron adds nothing whatever it does, its output weight being 0 and not trained."""
        return not self.is_whole and self.is_zero(j)

    def _ties(self, j: int) -> tuple[int, ...]:
        if self.is_idle(j):
            return ()
        if self._is_constant(j):
            return tuple(self.strict[j])
        if self.linear:
            return ()
        rows = self.problem.rows
        return tuple(i for i in range(len(rows)) if i not in self.strict[j] and any(rows[i][c] for c in self.masks[j]))

    def _is_constant(self, j: int) -> bool:
        """Whether the neuron has a bias and nothing else: it keeps its cone, of all points."""
        return self.is_whole and self.is_zero(j) and any(self.network.hidden_weights[j])

    @property
    def has_ties(self) -> bool:
        """Whether a neuron has its kink at a point."""
        return any(i not in self.strict[j] for j, ties in enumerate(self.ties) for i in ties)

    def _cells(self, j: int) -> tuple[TieSides, ...]:
        from solvers.programs.arrangements import cells

        if not self.ties[j]:
            return ((),)
        if self._is_constant(j):
            return (tuple(self.strict[j].values()),)
        rows = float_rows(self.problem)[np.ix_(self.ties[j], self.masks[j])]
        sizes = np.abs(rows).max(axis=1, keepdims=True)
        return tuple(sorted(tuple(int(s) for s in signs) for signs, _ in cells(rows / sizes)))

    def is_zero(self, j: int) -> bool:
        """Whether the neuron may take either output sign."""
        return self.network.output_weights[j] == 0

    def signs(self, j: int, path: Mapping[Choice, int]) -> tuple[int, ...]:
        """The output signs that neuron j may have."""
        v = self.network.output_weights[j]
        if self.is_idle(j):
            return ()
        if v:
            return (1,) if v > 0 else (-1,)
        return (path[j, SIGN],) if (j, SIGN) in path else (1, -1)

    def cells_of(self, j: int, path: Mapping[Choice, int]) -> tuple[TieSides, ...]:
        """The cells of neuron j that agree with the choices."""
        decided = [(k, path[j, i]) for k, i in enumerate(self.ties[j]) if (j, i) in path]
        return tuple(cell for cell in self.cells[j] if all(cell[k] == side for k, side in decided))

    def cases(self, path: Mapping[Choice, int]) -> list[ConeCase]:
        """The cases in the checker's order."""
        found: dict[tuple[tuple[int, ...], frozenset[tuple[int, int]], int], ConeCase] = {}
        for j, mask in enumerate(self.masks):
            cone = {**self.strict[j], **{i: side for (q, i), side in path.items() if q == j and i != SIGN}}
            for sign in self.signs(j, path):
                key = (mask, frozenset(cone.items()), sign)
                if key not in found:
                    cells = self.cells_of(j, path)
                    units = {cell: self._units(mask, sign, self.strict[j], self.ties[j], cell) for cell in cells}
                    found[key] = ConeCase(mask, sign, cone, self.strict[j], self.ties[j], units)
                if not self.is_whole:
                    found[key] = found[key].asked_by(self._own_unit(j))
        return list(found.values())

    def _own_unit(self, j: int) -> Unit:
        """For given output weights w_j / |v_j| is the projection of s sum c_i a_i x_i onto the closed cone."""
        w, v = self.network.hidden_weights[j], self.network.output_weights[j]
        return Unit(tuple(w[c] / abs(v) if c in self.problem.norm_columns else Fraction(0) for c in self.masks[j]), ())

    def _units(
        self, mask: tuple[int, ...], sign: int, strict: Mapping[int, int], ties: tuple[int, ...], cell: TieSides
    ) -> tuple[Unit, ...]:
        """From the live neurons of that sign in the closed cell that see no more than the mask.

        m ||w_j|| = s h(w_j) = p.w_j - sum nu_i tau_i x_i.w_j <= m ||w_j||, so that p = m w_j / ||w_j|| = mu_w w_j /
        |v_j|, and nu_i = 0 where x_i.w_j is not 0 (m = mu_w = 1 without a loss). None where the output weights are
        given: neurons of other cases may be longer then.
        """
        if not self.is_whole:
            return ()
        sides = sides_of(strict, ties, cell)
        counted = self.problem.norm_columns
        found: dict[Unit, None] = {}
        for q, (w, v) in enumerate(zip(self.network.hidden_weights, self.network.output_weights, strict=True)):
            is_inside = all(self.strict[q].get(i, side) == side for i, side in sides.items())
            if v * sign > 0 and set(self.masks[q]) <= set(mask) and is_inside:
                scale = self.decay.hidden / abs(v)
                vector = tuple(w[c] * scale if c in counted else Fraction(0) for c in mask)
                found[Unit(vector, tuple(k for k, i in enumerate(ties) if i in self.strict[q]))] = None
        return tuple(found)

    def next_choice(self, path: Mapping[Choice, int]) -> Choice | None:
        """What to decide next, live neurons first: a tie with cells on both sides, or an output sign."""
        order = sorted(range(len(self.masks)), key=self.is_zero)
        for j in order:
            if len(self.signs(j, path)) > 1:
                return j, SIGN
            cells = self.cells_of(j, path)
            for k, i in enumerate(self.ties[j]):
                if len({cell[k] for cell in cells}) > 1:
                    return j, i
        return None
