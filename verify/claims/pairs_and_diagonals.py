"""Pairs of points and diagonal networks: the settings, hypotheses and conclusions of arXiv:2110.02732."""

from __future__ import annotations

from fractions import Fraction

from verify.checker.exact import dot
from verify.checker.statement import pattern
from verify.claims.asking import audited
from verify.claims.exact_programs import least_l1_norm, least_norm
from verify.claims.predicates import (
    has_no_zero_neuron,
    is_fully_connected,
    is_linear,
    is_margin_problem,
    is_relu,
)
from verify.claims.records import Instance, Judgement, failed, held, undecided
from verify.problem.problem import objective, outputs

__all__ = [
    "RATIOS",
    "has_a_kink",
    "has_large_ratio",
    "has_one_live_neuron",
    "is_along_the_margin",
    "is_diagonal_point",
    "is_l1_optimal",
    "is_linear_diagonal",
    "is_pair",
    "is_plane_relu",
    "is_relu_margin_problem",
    "is_symmetric_pair",
    "sees_the_smaller",
    "smallest",
]

RATIOS = (10, 1000, 10**6)
"""The M of Remark 3.1 that are tried."""


def is_pair(instance: Instance) -> bool:
    """Two points of one label, ReLU."""
    is_alike = len(instance.data) == 2 and len(set(instance.data.targets)) == 1
    return is_alike and is_relu(instance) and is_margin_problem(instance)


def is_along_the_margin(instance: Instance) -> bool:
    """Every live neuron is balanced, and along the max-margin direction of the points."""
    rows = [[y * x for x in row] for row, y in zip(instance.data.inputs, instance.data.targets, strict=True)]
    found = least_norm([], [], rows, [Fraction(1)] * len(rows))
    if found is None:
        return False
    best, network = found[0], instance.network
    live = [(w, v) for w, v in zip(network.hidden_weights, network.output_weights, strict=True) if v]
    return bool(live) and all(
        v * v == dot(w, w) and (size := dot(w, best)) > 0 and size * size == dot(w, w) * dot(best, best)
        for w, v in live
    )


def smallest(instance: Instance) -> Fraction:
    """e of points (1, e), (-1, e)."""
    return instance.data.inputs[0][1]


def is_symmetric_pair(instance: Instance) -> bool:
    """Points (1, e), (-1, e), e > 0, of one label, ReLU."""
    if not is_pair(instance) or instance.data.dimension != 2:
        return False
    (a, e), (b, f) = instance.data.inputs
    return (a, b) == (1, -1) and e == f > 0


def allowed_ratio(instance: Instance) -> int:
    """The largest M with 21 M^2 e <= 10; 10 where there is none."""
    return max((m for m in RATIOS if 21 * m * m * smallest(instance) <= 10), default=RATIOS[0])


def has_large_ratio(instance: Instance) -> Judgement:
    """||theta|| >= M ||theta*|| for the largest M of 10, 10^3, 10^6 that the angle allows, from both ends."""
    mine, bracket, ratio = (
        objective(instance.problem, instance.network),
        audited(instance).bracket,
        allowed_ratio(instance),
    )
    if mine is None:
        return failed("the network does not fit")
    if bracket is None:
        return undecided("the best objective has no bracket")
    low, high = bracket
    if mine >= ratio * ratio * high:
        return held(f"the norm is at least {ratio} times the least", measured=ratio)
    if mine < ratio * ratio * low:
        return failed(f"the norm is less than {ratio} times the least")
    return undecided(f"the bracket is too wide for the ratio {ratio}")


def is_diagonal(instance: Instance) -> bool:
    """Neuron j sees one coordinate, each another one."""
    shape = instance.network.architecture
    return (
        is_margin_problem(instance)
        and all(len(mask) == 1 for mask in shape.masks)
        and (sorted(mask[0] for mask in shape.masks) == list(range(shape.inputs)))
    )


def is_diagonal_point(instance: Instance) -> bool:
    """A diagonal network, linear or ReLU, on one point."""
    return is_diagonal(instance) and len(instance.data) == 1 and instance.slope in (0, 1)


def has_one_live_neuron(instance: Instance) -> bool:
    """One neuron is live and balanced; all others have only weights 0."""
    network = instance.network
    sizes = [(dot(w, w), v * v) for w, v in zip(network.hidden_weights, network.output_weights, strict=True)]
    return all(w == v for w, v in sizes) and sum(v > 0 for _, v in sizes) == 1


def sees_the_smaller(instance: Instance) -> bool:
    """Some coordinate of the point is larger than one that a live neuron sees."""
    network, (x,) = instance.network, instance.data.inputs
    seen = [mask[0] for mask, v in zip(network.architecture.masks, network.output_weights, strict=True) if v]
    largest = max((value if is_relu(instance) else abs(value)) for value in x)
    return bool(seen) and largest > min(abs(x[c]) for c in seen)


def is_l1_optimal(instance: Instance) -> Judgement:
    """The predictor at margin 1 has the least l1 norm, in rationals, by the simplex method."""
    network, data = instance.network, instance.data
    predictor = [dot(network.output_weights, column) for column in zip(*network.hidden_weights, strict=True)]
    margin = min(y * value for y, value in zip(data.targets, outputs(instance.problem, network), strict=True))
    if margin <= 0:
        return failed("the network does not fit")
    mine = sum(map(abs, predictor), Fraction(0)) / margin
    best = least_l1_norm([[y * x for x in row] for row, y in zip(data.inputs, data.targets, strict=True)])
    if best is None:
        return undecided("the linear program has no solution, though the network is one")
    return held(f"l1 norm {best}") if mine == best else failed(f"l1 norm {mine}, the least is {best}")


def has_a_kink(instance: Instance) -> bool:
    """A point is on the kink of a live neuron."""
    signs = pattern(instance.problem, instance.network)
    return any(v and 0 in row for row, v in zip(signs, instance.network.output_weights, strict=True))


def is_plane_relu(instance: Instance) -> bool:
    """Fully connected, ReLU, in the plane, without zero neurons."""
    is_plane = instance.data.dimension == 2 and is_fully_connected(instance) and is_relu(instance)
    return is_plane and is_margin_problem(instance) and has_no_zero_neuron(instance)


def is_linear_diagonal(instance: Instance) -> bool:
    """A linear diagonal network."""
    return is_diagonal(instance) and is_linear(instance)


def is_relu_margin_problem(instance: Instance) -> bool:
    """Max-margin, ReLU, no bias, any masks."""
    return is_margin_problem(instance) and is_relu(instance)
