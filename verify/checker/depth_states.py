"""What the units of a network of any depth do at a point, and near it; gradients by the parameters, exactly.

At a point each hidden unit has a preactivation z. Where z = 0 the activation may have a kink there, and then is a
*tie*: near the network its slope is anything between a and 1. It is none where

    z is 0 at all networks near this one (*frozen*): each of its inputs that has a weight is 0 there, as a coordinate of
    the point or as what a unit gives that is off, or frozen. The slope makes no difference to any derivative;
    z >= 0, or z <= 0, at all networks near it: each input that can be other than 0 near it is >= 0 there, being s(z') =
    max(z', 0) of a tie z', or of one that is >= 0 itself, and all of these enter with weights > 0 (or < 0). The slope
    is 1, or a, then.

Layers, units and points are counted from 0; the hidden layers are 0, ..., m - 2.

Source: `docs/mathematics.md`, 13.2 "Ties".
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from verify.checker.exact import dot, is_rational
from verify.checker.statement import Layer, Network, Problem

FREE, FROZEN = 2, 0
"""What is known of a number at the networks near this one: nothing, or that it is 0. Of one that is 0 here also that it
is >= 0, as 1, or <= 0, as -1.
"""

Slopes = tuple[Fraction, Fraction]
Tie = tuple[int, int]


@dataclass(frozen=True, slots=True)
class UnitStates:
    """A point as the layers see it.

    inputs: those of each layer.   slopes: of each unit of each hidden layer, the least and the greatest one near the
    network: different at ties only.
    """

    inputs: tuple[tuple[Fraction, ...], ...]
    slopes: tuple[tuple[Slopes, ...], ...]

    @property
    def ties(self) -> list[Tie]:
        """(layer, unit) of each tie, in order."""
        return [(l, j) for l, row in enumerate(self.slopes) for j, (low, high) in enumerate(row) if low != high]

    def at(self, chosen: Mapping[Tie, Fraction]) -> list[list[Fraction]]:
        """The slope of each unit, at every tie the chosen one."""
        return [[chosen.get((l, j), low) for j, (low, _) in enumerate(row)] for l, row in enumerate(self.slopes)]


@lru_cache(maxsize=4)
def states(problem: Problem, network: Network) -> tuple[UnitStates, ...]:
    """The state of every point."""
    layers, matrices = network.architecture.layers, matrices_of(network)
    found: list[UnitStates] = []
    for row in problem.rows:
        inputs, slopes = [row], list[tuple[Slopes, ...]]()
        near = [FREE if x else FROZEN for x in row]
        for layer, matrix in zip(layers[:-1], matrices, strict=False):
            values = [dot(weights, inputs[-1]) for weights in matrix]
            kinds = [
                FREE if z else _near(places, weights, near)
                for z, places, weights in zip(values, layer.places, matrix, strict=True)
            ]
            a = layer.slope or Fraction(0)
            slopes.append(tuple(_slopes(z, kind, a) for z, kind in zip(values, kinds, strict=True)))
            near = [_given(z, kind, a) for z, kind in zip(values, kinds, strict=True)]
            inputs.append(tuple(z if z > 0 else a * z for z in values))
        found.append(UnitStates(tuple(inputs), tuple(slopes)))
    return tuple(found)


def matrices_of(network: Network) -> list[tuple[tuple[Fraction, ...], ...]]:
    """A_1, ..., A_m."""
    pairs = zip(network.architecture.layers, network.parameters, strict=True)
    return [layer.matrix(parameters) for layer, parameters in pairs]


def _near(places: Sequence[int | None], weights: Sequence[Fraction], near: Sequence[int]) -> int:
    """What is known of a preactivation that is 0: of its inputs that have a weight and are not frozen."""
    moving = [(kind, w) for place, kind, w in zip(places, near, weights, strict=True) if place is not None and kind]
    signs = {kind * ((w > 0) - (w < 0)) if kind != FREE else 0 for kind, w in moving}
    if not signs:
        return FROZEN
    return signs.pop() or FREE if len(signs) == 1 else FREE


def _slopes(z: Fraction, kind: int, a: Fraction) -> Slopes:
    one = Fraction(1)
    if z:
        return (one, one) if z > 0 else (a, a)
    return {FREE: (a, one), FROZEN: (one, one), 1: (one, one), -1: (a, a)}[kind]


def _given(z: Fraction, kind: int, a: Fraction) -> int:
    """What is known of s(z)."""
    if z:
        return FREE if z > 0 or a else FROZEN
    if not a:
        return {FREE: 1, FROZEN: FROZEN, 1: 1, -1: FROZEN}[kind]
    return kind


def gradient(network: Network, state: UnitStates, slopes: Sequence[Sequence[Fraction]]) -> list[list[Fraction]]:
    """The gradient of f(x) at these slopes, in the shape of the parameters."""
    layers, matrices = network.architecture.layers, matrices_of(network)
    back, found = [Fraction(1)], list[list[Fraction]]()
    for l in reversed(range(len(layers))):
        found.append(gathered(layers[l], back, state.inputs[l]))
        if l:
            columns = zip(*matrices[l], strict=True)
            back = [g * dot(column, back) for g, column in zip(slopes[l - 1], columns, strict=True)]
    return found[::-1]


def gathered(layer: Layer, back: Sequence[Fraction], inputs: Sequence[Fraction]) -> list[Fraction]:
    """The derivative of sum_j back_j z_j by the parameters of the layer: added up where places share one."""
    found = [Fraction(0)] * layer.parameter_count
    for b, row in zip(back, layer.places, strict=True):
        for index, x in zip(row, inputs, strict=True) if b else ():
            if index is not None:
                found[index] += b * x
    return found


def tie_inputs(network: Network, state: UnitStates, layer: int) -> list[list[Fraction]]:
    """For each tie of a layer the derivative of its preactivation by the parameters of that layer."""
    shape = network.architecture.layers[layer]
    units = [j for l, j in state.ties if l == layer]
    return [gathered(shape, [Fraction(q == j) for q in range(shape.outputs)], state.inputs[layer]) for j in units]


def are_independent(rows: Sequence[Sequence[Fraction]]) -> bool:
    """Whether the rows are linearly independent; nothing is divided by an algebraic number."""
    rest = [list(row) for row in rows]
    while rest:
        first = rest.pop()
        pivot = next((c for c, z in enumerate(first) if z), None)
        if pivot is None:
            return False
        rest = [_cleared(row, first, pivot) if row[pivot] else row for row in rest]
    return True


def _cleared(row: Sequence[Fraction], first: Sequence[Fraction], pivot: int) -> list[Fraction]:
    """A multiple of the row, less one of the first, without its entry at the pivot."""
    one, other = first[pivot], row[pivot]
    if is_rational(one):  # numbers stay short
        one, other = Fraction(1), other * (1 / one)
    return [one * z - other * p for z, p in zip(row, first, strict=True)]


def rates(
    network: Network, direction: Network, state: UnitStates, slopes: Sequence[Sequence[Slopes]]
) -> tuple[Fraction, Fraction]:
    """Bounds of the derivative of f(x) along a direction, over all slopes of the units within the given ends.

    Layer by layer: dz = Z h + A dh, and ds(z) = g dz for a g between the ends.
    """
    ends = [(Fraction(0), Fraction(0))] * len(state.inputs[0])
    layers = zip(matrices_of(network), matrices_of(direction), state.inputs, [*slopes, None], strict=True)
    for matrix, changes, inputs, between in layers:
        ends = [_rate(row, dot(change, inputs), ends) for row, change in zip(matrix, changes, strict=True)]
        if between is not None:
            products = [[g * end for g in gs for end in pair] for gs, pair in zip(between, ends, strict=True)]
            ends = [(min(found), max(found)) for found in products]
    return ends[0]


def _rate(row: Sequence[Fraction], start: Fraction, ends: Sequence[Slopes]) -> Slopes:
    """The least and the greatest sum of `start` and a combination of numbers between their ends."""
    low = high = start
    for w, (least, greatest) in zip(row, ends, strict=True):
        low += w * (least if w > 0 else greatest)
        high += w * (greatest if w > 0 else least)
    return low, high
