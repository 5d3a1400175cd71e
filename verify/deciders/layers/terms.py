"""What a leaf of a proof about one layer is a sum of, and sums of them as leaves.

In a case of signs each constraint bounds a linear function of the parameters u of the layer, g.u >= d: that of a point,
once every unit above has a slope that bounds it from above, and the side z >= 0 or z <= 0 of a unit that is decided.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from operator import mul
from typing import TypeAlias, final

from verify.checker.depth_states import gathered, matrices_of, states
from verify.checker.exact import common_integers, dot
from verify.checker.fit import ends, slacks
from verify.checker.goals import rules
from verify.checker.multipliers import dual_value
from verify.checker.single_layers import Ends, LayerLeaf, Unit
from verify.problem.members import has_margin
from verify.problem.network import Network
from verify.problem.problem import Problem

__all__ = ["Path", "SingleLayer", "Term", "gram", "leaf_of", "of_size_one", "size_of", "total"]

Path: TypeAlias = Mapping[Unit, int]
"""The decided units with their signs."""

Weights: TypeAlias = Mapping[Unit, tuple[Fraction, Fraction]]
"""Of units whose slope is open: what is above, and what they enter the sum with."""

MOST_CHOICES = 64
"""Slopes of the open units of a point that are taken together."""

ZERO = Fraction(0)


@final
@dataclass(frozen=True, slots=True)
class Term:
    """g.u >= value for all u that fit, in its case.

    point, sign: of the multiplier; sign 0 for the side of a unit.
    """

    point: int
    sign: int
    gradient: tuple[Fraction, ...]
    value: Fraction
    weights: Weights


class SingleLayer:
    """A layer of a network, near its parameters or anywhere.

    slopes: for each point, hidden layer and unit the least and the greatest one.
    margin: the least one of the network, 0 for min-norm.
    """

    def __init__(self, problem: Problem, network: Network, layer: int, *, near: bool) -> None:
        self.problem, self.network, self.layer = problem, network, layer
        self.own = network.parameters[layer]
        self.margin = slacks(problem, network)[0]
        self.states, self.matrices = states(problem, network), matrices_of(network)
        self.slopes: list[Ends] = [state.slopes if near else _anywhere(network) for state in self.states]
        limits = ends(problem, network)
        signs = (1,) if has_margin(problem.goal) else (1, -1)
        self.constraints = [
            (i, sign) for i, limit in enumerate(limits) for sign in signs if not near or not limit[sign < 0]
        ]
        self.factors = rules(problem.goal).factors(problem.targets)

    def open_units(self, path: Path, points: Iterable[int]) -> Iterator[Unit]:
        """The units of these points with two slopes, from this layer on, that are not decided."""
        for i in points:
            for k, row in enumerate(self.slopes[i]):
                for j, (low, high) in enumerate(row):
                    if k >= self.layer and low != high and (i, k, j) not in path:
                        yield i, k, j

    def terms(self, path: Path) -> tuple[list[Term], list[Unit]]:
        """The terms of a case, and units of which a sign is to be decided before a constraint has one."""
        found: list[Term] = []
        blocked: dict[Unit, None] = {}
        for i, sign in self.constraints:
            c = self.factors[i] * sign
            value = dual_value(self.problem, {i: c}) * (self.margin or 1)
            for gradient, weights in self._down(i, len(self.matrices) - 1, [c], path, {}, blocked):
                found.append(Term(i, sign, gradient, value, weights))
        for (i, k, j), side in path.items():
            back = [Fraction(side if q == j else 0) for q in range(len(self.slopes[i][k]))]
            start = {(i, k, j): (ZERO, Fraction(side))}
            for gradient, weights in self._down(i, k, back, path, start, {}):
                found.append(Term(i, 0, gradient, ZERO, weights))
        return found, list(blocked)

    def _down(
        self, i: int, k: int, back: Sequence[Fraction], path: Path, known: Weights, blocked: dict[Unit, None]
    ) -> Iterator[tuple[tuple[Fraction, ...], Weights]]:
        """The linear functions of u that bound sum_j back_j z_j over the units of layer k."""
        if k == self.layer:
            shape = self.network.architecture.layers[k]
            yield tuple(gathered(shape, back, self.states[i].inputs[k])), known
            return
        options: list[list[tuple[Fraction, Fraction]]] = []
        many = 1
        for j, column in enumerate(zip(*self.matrices[k], strict=True)):
            (low, high), b, side = self.slopes[i][k - 1][j], dot(column, back), path.get((i, k - 1, j), 0)
            if low == high or side:
                choices = [high if side > 0 else low]
            elif b > 0:
                blocked[i, k - 1, j] = None
                return
            else:
                choices = [low, high] if b and 2 * many <= MOST_CHOICES else [low]
            many *= len(choices)
            options.append([(b, b * g) for g in choices])
        for chosen in product(*options):
            weights = dict(known)
            for j, (b, t) in enumerate(chosen):
                low, high = self.slopes[i][k - 1][j]
                if low != high:
                    weights[i, k - 1, j] = (b, t)
            yield from self._down(i, k - 1, [t for _, t in chosen], path, weights, blocked)


def size_of(numbers: Iterable[Fraction]) -> Fraction:
    """The power of two of about the largest of them, 1 where all are 0: what brings them near 1, and rounds nothing."""
    largest = max(map(abs, numbers), default=ZERO)
    exponent = largest.numerator.bit_length() - largest.denominator.bit_length()
    return Fraction(2) ** exponent if largest else Fraction(1)


def of_size_one(terms: Iterable[Term]) -> tuple[list[list[Fraction]], list[Fraction]]:
    """The gradients over their sizes, and the sizes: how large weights and data are is no matter of floats."""
    pairs = [(term.gradient, size_of(term.gradient)) for term in terms]
    return [[z / size for z in gradient] for gradient, size in pairs], [size for _, size in pairs]


def gram(terms: Sequence[Term]) -> list[list[Fraction]]:
    """The scalar products of their gradients, exactly."""
    rows, denominator = common_integers(term.gradient for term in terms)
    unit = Fraction(1, denominator**2)
    half = [[sum(map(mul, row, other)) * unit for other in rows[: k + 1]] for k, row in enumerate(rows)]
    return [[half[max(k, q)][min(k, q)] for q in range(len(rows))] for k in range(len(rows))]


def total(terms: Sequence[Term], factors: Sequence[Fraction], size: int) -> tuple[Fraction, ...]:
    """The sum of their gradients times factors, exactly: so many numbers."""
    pairs = [(z, term.gradient) for term, z in zip(terms, factors, strict=True) if z]
    if not pairs:
        return (ZERO,) * size
    rows, below = common_integers(row for _, row in pairs)
    (weights,), over = common_integers([[z for z, _ in pairs]])
    unit = Fraction(1, below * over)
    return tuple(sum(map(mul, weights, column)) * unit for column in zip(*rows, strict=True))


def _anywhere(network: Network) -> Ends:
    hidden = [layer for layer in network.architecture.layers if layer.slope is not None]
    return [[(layer.slope or ZERO, Fraction(1))] * layer.outputs for layer in hidden]


def leaf_of(layer: SingleLayer, path: Path, pairs: Iterable[tuple[Term, Fraction]]) -> LayerLeaf:
    """The leaf that a sum of terms makes."""
    multipliers: dict[int, Fraction] = {}
    weights: dict[Unit, tuple[Fraction, Fraction]] = {}
    for term, factor in pairs:
        if term.sign:
            multipliers[term.point] = multipliers.get(term.point, ZERO) + factor * term.sign
        for unit, (b, t) in term.weights.items():
            above, own = weights.get(unit, (ZERO, ZERO))
            weights[unit] = (above + factor * b, own + factor * t)
    told = {
        unit: t
        for unit, (b, t) in sorted(weights.items())
        if t != b * layer.slopes[unit[0]][unit[1]][unit[2]][path.get(unit, 0) > 0]
    }
    used = tuple((i, value) for i, value in sorted(multipliers.items()) if value)
    return LayerLeaf(multipliers=used, weights=tuple((*unit, t) for unit, t in told.items()))
