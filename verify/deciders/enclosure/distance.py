"""How far an enclosed point is from its network, and which neurons make the distance."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np

from solvers.arrays import Floats
from verify.checker.enclosed_points import Point
from verify.checker.enclosure import StationaryNear
from verify.deciders.enclosure.structure import Structure
from verify.deciders.rounding import ceil_dyadic
from verify.numbers.floats import to_float
from verify.problem.network import Network
from verify.problem.problem import Problem

__all__ = ["apartness", "centre_network", "distance_of", "nearly_apart"]


def centre_network(problem: Problem, network: Network, proof: StationaryNear, point: Point | None = None) -> Floats:
    """The weights of the point at the centre of the box, (k, c + 1), the output weight last.

    With an output bias there is a row more, which has it in the place of an output weight.

    point: that of the proof, when it was already made; of its conditions nothing is used.
    """
    point, centre = point or Point(problem, network, proof), [1.0, *map(to_float, proof.centre)]

    def value(form: dict[int, Fraction]) -> float:
        return sum(to_float(a) * centre[k] for k, a in form.items())

    unit = to_float(problem.decay.hidden)
    weights = np.zeros((network.width + problem.has_output_bias, len(problem.rows[0]) + 1))
    for direction, (amplitude, vector, _) in zip(proof.directions, point.parts, strict=True):
        for j, share in direction.neurons:
            part = to_float(share)
            root = math.copysign(math.sqrt(max(abs(part) * value(amplitude), 0.0)), part)
            for column, form in vector.items():
                weights[j, column] = root * value(form)
            weights[j, -1] = root * unit * int(direction.sign + "1")
    if problem.has_output_bias:
        weights[-1, -1] = value(point.output_bias)
    return weights


def _given(problem: Problem, network: Network, proof: StationaryNear) -> Floats:
    return _rows(problem, network, proof.factor)


def _rows(problem: Problem, network: Network, factor: Fraction) -> Floats:
    """The weights times a factor, in the form of `centre_network`."""
    rows = [(*row, v) for row, v in zip(network.hidden_weights, network.output_weights, strict=True)]
    if problem.has_output_bias:
        rows.append((Fraction(0),) * len(problem.rows[0]) + (network.output_bias,))
    return np.array([[to_float(factor * value) for value in row] for row in rows])


def distance_of(problem: Problem, network: Network, proof: StationaryNear, point: Point | None = None) -> Fraction:
    """An upper bound of ||factor theta - theta*|| / ||factor theta||, a little above the float value.

    point: as in `centre_network`.
    """
    given = _given(problem, network, proof)
    apart = np.linalg.norm(given - centre_network(problem, network, proof, point)) / np.linalg.norm(given)
    return ceil_dyadic(Fraction(float(apart) * (1 + 1e-9) + 1e-12), 20)


def nearly_apart(
    problem: Problem, network: Network, factor: Fraction, structure: Structure, parts: Sequence[Mapping[int, Fraction]]
) -> float:
    """About how far the point that was read is, before any equation of it is made; parts: as of `directions_of`.

    A neuron with the share t of an amplitude A has |v| ||w|| = t A, and mu_w ||w||^2 = mu_v v^2.
    """
    given = _rows(problem, network, factor)
    aim, steep = np.zeros_like(given), math.sqrt(to_float(problem.decay.output / problem.decay.hidden))
    if problem.has_output_bias:
        aim[-1, -1] = structure.bias
    for place, mine in enumerate(parts):
        for j, share in mine.items():
            part = to_float(share)
            size = abs(part) * structure.amplitudes[place]
            aim[j, :-1] = math.copysign(math.sqrt(size * steep), part) * structure.p[place]
            aim[j, -1] = math.copysign(math.sqrt(size / steep), part) * int(structure.signs[place])
    return float(np.linalg.norm(given - aim) / np.linalg.norm(given))


def apartness(problem: Problem, network: Network, proof: StationaryNear, point: Point | None = None) -> str:
    """The neuron that has the largest part in the distance: whether it turns, grows, or is zero in the point.

    point: as in `centre_network`.
    """
    given, aim = _given(problem, network, proof), centre_network(problem, network, proof, point)
    parts = ((given - aim) ** 2).sum(axis=1)
    j = int(np.argmax(parts))
    share = parts[j] / max(parts.sum(), 1e-300)
    who = f"neuron {j}" if j < network.width else "the output bias"
    lengths = float(np.linalg.norm(given[j])), float(np.linalg.norm(aim[j]))
    if j == network.width:
        what = f"is about {aim[j, -1]:.4g} there"
    elif lengths[1] == 0:
        what = "is zero there"
    elif lengths[0] == 0:
        what = "is zero here"
    else:
        cosine = float(given[j] @ aim[j]) / (lengths[0] * lengths[1])
        turn = math.degrees(math.acos(min(max(cosine, -1.0), 1.0)))
        what = (
            f"turns by about {turn:.2g}\u00b0 and changes its size by a factor of about {lengths[1] / lengths[0]:.3g}"
        )
    return f"{who}, which {what}, makes about {share:.0%} of the squared distance"
