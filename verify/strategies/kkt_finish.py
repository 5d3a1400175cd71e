"""A random KKT point is completed: duplicates, points without a multiplier, split and zero neurons, another order."""

from __future__ import annotations

from fractions import Fraction
from random import Random

from verify.checker.exact import dot
from verify.problem.members import has_bias, has_margin, is_free
from verify.problem.network import Architecture, Network
from verify.problem.problem import Dataset, Problem
from verify.strategies.kkt import KKTPoint
from verify.strategies.kkt_neurons import UnitNeurons

__all__ = ["finished"]

_Point = tuple[tuple[Fraction, ...], Fraction, list[Fraction]]  # x_i, c_i, the slopes g_ij


def finished(
    random: Random,
    neurons: UnitNeurons,
    rows: list[tuple[Fraction, ...]],
    coefficients: list[Fraction],
    slopes: list[list[Fraction]],
) -> KKTPoint | None:
    """The problem, the network and its multipliers; None when a point came onto a kink that was not wanted.

    slopes: g[j][i], one row for each neuron.
    """
    wanted, d = neurons.wanted, neurons.dimension
    points = [(row, c, [g[i] for g in slopes]) for i, (row, c) in enumerate(zip(rows, coefficients, strict=True))]
    if wanted.extras:
        _add_points(random, neurons, points)
    random.shuffle(points)
    if not wanted.ties and any(dot(e, neurons.lifted(row)) == 0 for row, _, _ in points for e in neurons.units):
        return None
    live = list(zip(neurons.units, neurons.signs, neurons.sizes, neurons.masks, strict=True))
    parts: list[tuple[int | None, list[Fraction], int, Fraction, tuple[int, ...]]] = [
        (j, *part) for j, part in enumerate(live)
    ]
    if wanted.extras and random.random() < 0.2 and len(parts) < 3:
        j, e, s, r, mask = parts.pop(random.randrange(len(parts)))
        parts += [(j, e, s, r * Fraction(3, 5), mask), (j, e, s, r * Fraction(4, 5), mask)]
    columns = tuple(range(d + has_bias(wanted.bias)))
    while wanted.zeros and random.random() < 0.45 and len(parts) < 3:
        mask = neurons.masks[0] if random.random() < 0.5 or not wanted.masks else columns
        unit = [Fraction(0)] * len(columns)
        if is_free(wanted.bias) and d in mask and random.random() < 0.15:
            shift = random.choice((1, -1))
            if sum(coefficients) == 0 or (shift < 0 and neurons.slope == 0):  # else v_j = 0 would not be stationary
                unit[d] = Fraction(shift)
        parts.append((None, unit, 1, Fraction(0), mask))
    random.shuffle(parts)
    shape = Architecture.two_layer(
        d, len(parts), slope=neurons.slope, bias=has_bias(wanted.bias), masks=[mask for *_, mask in parts]
    )
    hidden = [(r or 1) * e[c] for _, e, _, r, mask in parts for c in mask]
    network = Network(shape, (hidden, [s * r for _, _, s, r, _ in parts]))
    targets = [neurons.value(row) for row, _, _ in points]
    is_margin = has_margin(wanted.goal)
    if is_margin:
        targets = [Fraction(1 if value > 0 else -1) for value in targets]
    problem = Problem(Dataset([row for row, _, _ in points], targets), shape, goal=wanted.goal, bias=wanted.bias)
    multipliers = tuple(c * y if is_margin else c for (_, c, _), y in zip(points, targets, strict=True))
    products = tuple(
        (i, q, value * g[j])
        for i, ((row, _, g), value) in enumerate(zip(points, multipliers, strict=True))
        for q, (j, e, *_) in enumerate(parts)
        if j is not None and value and dot(e, neurons.lifted(row)) == 0
    )
    return KKTPoint(problem, network, multipliers, products)


def _add_points(random: Random, neurons: UnitNeurons, points: list[_Point]) -> None:
    """A point twice, and points with the multiplier 0, which lie on or beyond the margin."""
    goal, bias, d = neurons.wanted.goal, neurons.wanted.bias, neurons.dimension
    margin = abs(neurons.value(points[0][0]))
    if random.random() < 0.25 and len(points) < 6:
        points += _split(random, points.pop(random.randrange(len(points))))
    while random.random() < 0.35 and len(points) < 6:
        row = tuple(Fraction(random.randint(-4, 4), 2) for _ in range(d))
        if has_margin(goal):
            value = neurons.value(row)
            if not has_bias(bias) and value and random.random() < 0.5:
                row = tuple(q * margin / abs(value) for q in row)
            if abs(neurons.value(row)) < margin:
                continue
        points.append((row, Fraction(0), [Fraction(0)] * len(neurons.units)))


def _split(random: Random, point: _Point) -> list[_Point]:
    """The point twice, with shares of its coefficient, also 0."""
    row, c, g = point
    share = random.choice((Fraction(0), Fraction(1, 2), Fraction(1, 4)))
    return [(row, share * c, g), (row, (1 - share) * c, g)]
