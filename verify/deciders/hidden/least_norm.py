"""The network of least norm in a choice of sides, exactly: a convex program whose optimum is rational.

With given output weights v and given sides of the preactivations f(x_i) is linear in the hidden weights, so that

    min 1/2 sum_j ||w_j||^2   subject to  what is asked of the outputs,  tau_ji x_i.w_j >= 0,  x_i.w_j = 0 at kinks

has w_j = v_j sum_i c_i g_ji x_i + sum_i nu_ji tau_ji x_i (0 for a free bias). Floats find which constraints are active;
the equations on these are solved in rationals, and everything is looked at exactly.

Source: `docs/mathematics.md`, 12 "Own width, and only the hidden layer trained".
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from operator import mul

import numpy as np

from solvers.arrays import Bits, Floats
from verify.checker.codec import LIMIT
from verify.checker.errors import InputError
from verify.deciders.hidden.geometry import Geometry
from verify.deciders.rounding import solve_exactly
from verify.deciders.time_limits import poll
from verify.numbers.floats import float_near
from verify.problem.members import has_margin
from verify.problem.network import Network

__all__ = ["ChosenSides", "NeuronAndPoint", "Solved", "least_norm", "shape_of"]

NeuronAndPoint = tuple[int, int]
"""(neuron, point)."""

ChosenSides = Sequence[Sequence[int]]
"""For each neuron the side of each point: 1 on, -1 off, 0 at its kink."""

NOTHING = 1e-9
"""A multiplier below this part of the largest one is 0, in units of its row."""

ROUNDS = 12
"""Of exact corrections of the active set."""


@dataclass(frozen=True, slots=True)
class _Row:
    """sum_j factors[j] x_point.w_j >= right, or = right; for a pair its place.

    sign: that of the multiplier of the point that this row stands for.
    """

    point: int
    factors: Mapping[int, Fraction]
    right: Fraction
    is_equal: bool
    pair: NeuronAndPoint | None = None
    sign: int = 1


@dataclass(frozen=True, slots=True)
class Solved:
    """The shortest hidden weights (k rows), the multipliers lambda_i of points and nu_ji of pairs, and the sides."""

    hidden: tuple[tuple[Fraction, ...], ...]
    multipliers: Mapping[int, Fraction]
    pairs: Mapping[NeuronAndPoint, Fraction]
    sides: tuple[tuple[int, ...], ...]

    def network(self, shape: Network) -> Network | None:
        """The network of this shape and these output weights; None where its numbers are too long to be kept."""
        masks = shape.architecture.masks
        flat = [row[c] for row, mask in zip(self.hidden, masks, strict=True) for c in mask]
        if any(max(abs(z.numerator), z.denominator) >= LIMIT for z in flat):
            return None
        try:
            return Network(shape.architecture, (flat, shape.parameters[1]))
        except InputError:
            return None


def shape_of(geometry: Geometry) -> Network:
    """A network of zeros with the output weights of the problem."""
    shape = geometry.problem.architecture
    return Network(shape, ([0] * shape.layers[0].parameter_count, geometry.outgoing))


def least_norm(
    geometry: Geometry, sides: ChosenSides, pairs: Collection[NeuronAndPoint], margin: Fraction = Fraction(1)
) -> Solved | None:
    """The optimum within the sides of the listed pairs; None where nothing fits there, or none was made exact.

    sides decide the slopes everywhere, 0 as off; the listed pairs are constraints (equalities where the side is 0).
    margin: what max-margin asks of y_i f(x_i).
    """
    rows = _rows(geometry, sides, pairs, margin)
    guess = _guess(geometry, rows)
    if guess is None:
        return None
    sizes = np.abs(guess)
    active = [q for q in range(len(rows)) if sizes[q] > NOTHING * sizes.max(initial=0.0)]
    for _ in range(ROUNDS):
        poll()
        found = _on(geometry, rows, active)
        if found is None:
            return None
        hidden, multipliers = found
        wrong = [q for q in active if multipliers[q] < 0 and not rows[q].is_equal]
        if wrong:
            active.remove(min(wrong, key=lambda q: multipliers[q]))
            continue
        missed = _missed(geometry, rows, hidden, active)
        if missed is None:
            return _solved(rows, hidden, multipliers, sides)
        active.append(missed)
    return None


def _rows(geometry: Geometry, sides: ChosenSides, pairs: Collection[NeuronAndPoint], margin: Fraction) -> list[_Row]:
    problem = geometry.problem
    slope, targets, within = problem.architecture.slope, problem.data.targets, problem.fit_tolerance
    found: list[_Row] = []
    for i, y in enumerate(targets):
        factors = {j: geometry.outgoing[j] * (1 if sides[j][i] > 0 else slope) for j in geometry.live}
        factors = {j: factor for j, factor in factors.items() if factor and sides[j][i]}
        if has_margin(problem.goal):
            found.append(_Row(i, {j: y * factor for j, factor in factors.items()}, margin, is_equal=False))
        elif not within:
            found.append(_Row(i, factors, y, is_equal=True))
        else:
            found.append(_Row(i, factors, y - within, is_equal=False))
            found.append(_Row(i, {j: -factor for j, factor in factors.items()}, -y - within, is_equal=False, sign=-1))
    for j, i in pairs:
        if j in geometry.live:
            side = sides[j][i]
            found.append(_Row(i, {j: Fraction(side or 1)}, Fraction(0), is_equal=not side, pair=(j, i)))
    return found


def _guess(geometry: Geometry, rows: Sequence[_Row]) -> Floats | None:
    """Float multipliers, each in units of its row; None where nothing satisfies the rows."""
    from solvers.hidden.cells import HEAVY

    weights = HEAVY if any(geometry.sees_free(geometry.masks[j]) for j in geometry.live) else HEAVY[:1]
    found = (_guess_with(geometry, rows, heavy) for heavy in weights)
    return next((guess for guess in found if guess is not None), None)


def _guess_with(geometry: Geometry, rows: Sequence[_Row], heavy: float) -> Floats | None:
    """The same where a free bias costs 1 / heavy^2 of its square."""
    from solvers.programs.least_distance import least_distance

    blocks: list[Floats] = []
    points = [row.point for row in rows]
    for j in geometry.live:
        factors = np.array([float_near(row.factors.get(j, Fraction(0))) for row in rows])
        seen = geometry.coordinates(geometry.masks[j])[points]
        if geometry.sees_free(geometry.masks[j]):
            reach = heavy * max(float(np.abs(seen).max(initial=0.0)), 1e-300)
            seen = np.column_stack([seen, [reach * float_near(geometry.bias_entry(i)) for i in points]])
        blocks.append(factors[:, None] * seen)
    matrix: Floats = np.hstack(blocks) if blocks else np.zeros((len(rows), 0))
    right: Floats = np.array([float_near(row.right) for row in rows])
    equal: Bits = np.array([row.is_equal for row in rows], bool)
    found = least_distance(matrix, right, equal)
    return None if found is None else found * np.linalg.norm(matrix, axis=1)


def _on(
    geometry: Geometry, rows: Sequence[_Row], active: Sequence[int]
) -> tuple[list[list[Fraction]], dict[int, Fraction]] | None:
    """The shortest weights that satisfy the active rows with equality, and their multipliers."""
    chosen = [rows[q] for q in active]
    biased = [j for j in geometry.live if geometry.sees_free(geometry.masks[j])]
    lines = [[_product(geometry, one, other) for other in chosen] for one in chosen]
    edges = [[row.factors.get(j, Fraction(0)) * geometry.bias_entry(row.point) for j in biased] for row in chosen]
    matrix = [[*line, *edge] for line, edge in zip(lines, edges, strict=True)]
    matrix += [[*(edge[q] for edge in edges), *[Fraction(0)] * len(biased)] for q in range(len(biased))]
    right = [*(row.right for row in chosen), *[Fraction(0)] * len(biased)]
    found = solve_exactly(matrix, right) if matrix else []
    if found is None:
        return None
    problem = geometry.problem
    hidden = [[Fraction(0)] * len(problem.rows[0]) for _ in geometry.masks]
    for j in geometry.live:
        weights = [(row.point, value * row.factors[j]) for row, value in zip(chosen, found, strict=False)
                   if value and j in row.factors]  # fmt: skip
        for c in geometry.counted(geometry.masks[j]):
            hidden[j][c] = sum((weight * problem.rows[i][c] for i, weight in weights), Fraction(0))
    for j, bias in zip(biased, found[len(chosen) :], strict=True):
        if geometry.free is not None:
            hidden[j][geometry.free] = bias
    return hidden, dict(zip(active, found, strict=False))


def _product(geometry: Geometry, one: _Row, other: _Row) -> Fraction:
    """The scalar product of two rows, over the weights that count."""
    total = Fraction(0)
    for j, factor in one.factors.items():
        if j in other.factors:
            total += factor * other.factors[j] * geometry.product(geometry.masks[j], one.point, other.point)
    return total


def _missed(
    geometry: Geometry, rows: Sequence[_Row], hidden: Sequence[Sequence[Fraction]], active: Sequence[int]
) -> int | None:
    """The row that is missed by most, relative to its size; None where all hold, as those in use do."""
    problem = geometry.problem
    values: dict[NeuronAndPoint, Fraction] = {}
    worst, most = None, 0.0
    for q, row in enumerate(rows):
        if q in active:
            continue
        total = -row.right
        for j, factor in row.factors.items():
            if (j, row.point) not in values:
                values[j, row.point] = sum(map(mul, hidden[j], problem.rows[row.point]), Fraction(0))
            total += factor * values[j, row.point]
        if not (total if row.is_equal else total < 0):
            continue
        size = float_near(abs(total)) / (float(np.sqrt(float_near(_product(geometry, row, row)))) or 1.0)
        if size >= most:
            worst, most = q, size
    return worst


def _solved(
    rows: Sequence[_Row], hidden: Sequence[Sequence[Fraction]], multipliers: Mapping[int, Fraction], sides: ChosenSides
) -> Solved:
    points: dict[int, Fraction] = {}
    pairs: dict[NeuronAndPoint, Fraction] = {}
    for q, value in multipliers.items():
        row = rows[q]
        if row.pair is not None:
            pairs[row.pair] = value
        elif value:
            points[row.point] = points.get(row.point, Fraction(0)) + row.sign * value
    return Solved(tuple(map(tuple, hidden)), points, pairs, tuple(tuple(row) for row in sides))
