"""Better networks of any depth: from descents in floats to exact networks that fit, with balanced layers."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import prod

import numpy as np

from solvers.arrays import Floats
from solvers.depth import DeepDescent, starts
from verify.checker.depth import power_of
from verify.checker.exact import dot, root_ends, squared_norm
from verify.checker.goals import rules
from verify.deciders.depth.arrays import activated, layers_of, network_of, parameters_of
from verify.deciders.depth.bounds import is_linear, linear_multipliers
from verify.deciders.proposal import FLOAT_FAILURES
from verify.deciders.rounding import dyadic, solve_by_few
from verify.deciders.time_limits import TimeIsUpError, is_late
from verify.numbers.floats import float_rows, float_targets, to_float
from verify.problem.members import has_margin
from verify.problem.network import Architecture, Layer, Network
from verify.problem.problem import Problem, outputs, power_of_objective

__all__ = ["balanced", "candidates", "refitted"]

STARTS = 6
LARGEST = 20_000
"""Parameters times points up to which networks are trained here."""


def balanced(problem: Problem, network: Network) -> Network:
    """The same function with layers of nearly the same norm; the network itself where a layer is 0."""
    sizes = [squared_norm(row) for row in network.parameters]
    if not all(sizes):
        return network
    m = power_of(problem)
    mean = to_float(root_ends(prod(sizes, start=Fraction(1)), m)[0])
    factors = [dyadic(float(np.sqrt(mean / to_float(size))), 60) for size in sizes[:-1]]
    factors.append(1 / prod(factors, start=Fraction(1)))
    scaled = [[t * w for w in row] for t, row in zip(factors, network.parameters, strict=True)]
    found = Network(network.architecture, scaled)
    return found if sum(map(squared_norm, found.parameters)) < sum(sizes) else network


def refitted(problem: Problem, network: Network) -> Network | None:
    """The network with last layer changed as little as possible so that it meets every target exactly; None without.

    Max-margin: the network itself, where it fits.
    """
    if power_of_objective(problem, network) is not None:
        return network
    if has_margin(problem.goal):
        return None
    last = network.architecture.layers[-1]
    inputs = [activated(network, row, power_of(problem) - 1) for row in problem.rows]
    gathered: list[list[Fraction]] = []
    for h in inputs:
        row = [Fraction(0)] * last.parameter_count
        for index, x in zip(last.places[0], h, strict=True):
            if index is not None:
                row[index] += x
        gathered.append(row)
    missed = [y - value for y, value in zip(problem.targets, outputs(problem, network), strict=True)]
    gram = [[dot(one, other) for other in gathered] for one in gathered]
    weights = solve_by_few(gram, missed)
    if weights is None:
        return None
    change = [
        sum((c * row[k] for c, row in zip(weights, gathered, strict=True)), Fraction(0))
        for k in range(len(gathered[0]))
    ]
    moved = [w + d for w, d in zip(network.parameters[-1], change, strict=True)]
    found = Network(network.architecture, [*network.parameters[:-1], moved])
    return found if power_of_objective(problem, found) is not None else None


def candidates(problem: Problem, network: Network, deadline: float | None = None) -> Iterator[Network]:
    """Networks of the family that fit, with balanced layers: the given one, made ones, and trained ones.

    Only the one of zeros where it fits: none has a smaller norm.
    """
    shape = problem.architecture
    zeros = Network(shape, [[Fraction(0)] * layer.parameter_count for layer in shape.layers])
    if power_of_objective(problem, zeros) is not None:
        yield zeros
        return
    given = refitted(problem, network)
    if given is not None:
        yield balanced(problem, given)
    if is_linear(problem) and all(layer.entries is None for layer in problem.architecture.layers):
        yield from filter(None, [_of_one_unit(problem)])
    points = len(problem.targets)
    for shape, count in _shapes(problem.architecture):
        if shape.parameter_count * points > LARGEST:
            return
        for start in _starts(problem, network, shape, count):
            if is_late(deadline):
                return
            try:
                with np.errstate(all="ignore"):
                    found = _trained(problem, shape, start)
            except (*FLOAT_FAILURES, TimeIsUpError):
                continue
            if found is not None:
                yield balanced(problem, found)


def _shapes(shape: Architecture) -> Iterator[tuple[Architecture, int]]:
    """The own shape, and for fully connected layers a wider one, with how many random starts."""
    yield shape, STARTS
    if len(shape.layers) > 1 and all(layer.entries is None for layer in shape.layers):
        sizes = [shape.inputs, *(2 * layer.outputs for layer in shape.layers[:-1]), 1]
        layers = zip(shape.layers, sizes, sizes[1:], strict=False)
        yield (
            Architecture(Layer(inputs=a, outputs=b, slope=one.slope, bias=one.bias) for one, a, b in layers),
            STARTS // 2,
        )


def _starts(problem: Problem, network: Network, shape: Architecture, count: int) -> Iterator[Floats]:
    own = parameters_of(network) if shape == problem.architecture else None
    yield from starts(layers_of(shape), own, count)


def _trained(problem: Problem, shape: Architecture, start: Floats) -> Network | None:
    """Where descent ends, as an exact network that fits."""
    layers, rows, targets = layers_of(shape), float_rows(problem), float_targets(problem)
    is_margin, m = has_margin(problem.goal), len(shape.layers)
    values = layers.outputs(start, rows) * targets
    if is_margin and values.min() > 0:
        start = start / values.min() ** (1 / m)
    ceiling = max(float(start @ start), 1.0)
    theta = DeepDescent(layers, rows, targets, is_margin).ended(start, ceiling)
    if not np.isfinite(theta).all():
        return None
    theta[np.abs(theta) < 1e-9 * np.abs(theta).max(initial=0.0)] = 0.0
    made = network_of(shape, theta)
    return refitted(problem if shape == problem.architecture else _of_shape(problem, shape), made)


def _of_shape(problem: Problem, shape: Architecture) -> Problem:
    """The same question about networks of another shape."""
    return problem.posed_on(problem.data, architecture=shape)


def _of_one_unit(problem: Problem) -> Network | None:
    """For linear layers: the best b with one unit in each layer, b of norm t^m as t, ..., t along one path."""
    multipliers = next(linear_multipliers(problem), None)
    if multipliers is None:
        return None
    factors = rules(problem.goal).factors(problem.targets)
    total = [
        sum((value * factors[i] * problem.rows[i][c] for i, value in multipliers.items()), Fraction(0))
        for c in range(len(problem.rows[0]))
    ]
    size, m = squared_norm(total), power_of(problem)
    if not size:
        return None
    t = dyadic(to_float(root_ends(size, 2 * m)[0]), 50)
    layers: list[list[Fraction]] = []
    for l, layer in enumerate(problem.architecture.layers):
        path = [z / t ** (m - 1) for z in total] if not l else [t] + [Fraction(0)] * (layer.columns - 1)
        layers.append([*path, *[Fraction(0)] * (layer.parameter_count - len(path))])
    found = Network(problem.architecture, layers)
    return refitted(problem, found)
