"""Data with hints, and one leaky neuron along their separator.

Source: arXiv:2110.13905, Definition 6.1.
"""

from __future__ import annotations

from fractions import Fraction

from verify.checker.exact import dot
from verify.claims.predicates import is_margin_problem
from verify.claims.records import Instance
from verify.problem.problem import outputs

__all__ = ["has_small_hints", "has_wide_hints", "is_one_neuron"]

_Vector = list[Fraction]


def is_one_neuron(instance: Instance) -> bool:
    """A leaky max-margin problem, and neurons with positive outputs along one direction, balanced."""
    network = instance.network
    rows, weights = network.hidden_weights, network.output_weights
    if not is_margin_problem(instance) or not 0 < instance.slope < 1:
        return False
    return all(
        v > 0 and v * v == dot(row, row) and dot(row, rows[0]) > 0
        and dot(row, rows[0]) ** 2 == dot(row, row) * dot(rows[0], rows[0])
        for row, v in zip(rows, weights, strict=True)
    )  # fmt: skip


def _hints(instance: Instance) -> list[_Vector]:
    """Two points of label 1 whose sum is along the neurons and that have the least margin among such pairs."""
    w, data = instance.network.hidden_weights[0], instance.data
    rows = [list(row) for row, y in zip(data.inputs, data.targets, strict=True) if y == 1]
    pairs = [
        [a, b]
        for i, a in enumerate(rows)
        for b in rows[:i]
        if dot(a, w) == dot(b, w) > 0 and (total := [p + q for p, q in zip(a, b, strict=True)])
        and dot(total, w) ** 2 == dot(total, total) * dot(w, w)
    ]  # fmt: skip
    return min(pairs, key=lambda pair: dot(pair[0], w), default=[])


def has_small_hints(instance: Instance) -> bool:
    """No point has a smaller margin than the two hints."""
    found, data = _hints(instance), instance.data
    if not found:
        return False
    values = [y * f for y, f in zip(data.targets, outputs(instance.problem, instance.network), strict=True)]
    rows = [list(row) for row in data.inputs]
    return min(values) == values[rows.index(found[0])] > 0


def has_wide_hints(instance: Instance) -> bool:
    """K^2 / epsilon^2 > (3 + a) / (1 - a): then a neuron on one hint only is worth its weight.

    With lambda = 1/(2 epsilon) on both hints and a unit vector u on the one side of only one of them, the dual function
    is up to |p|, p = ((1 + a) w + (1 - a) (K / epsilon) w_)/2.
    """
    found, w, a = _hints(instance), instance.network.hidden_weights[0], instance.slope
    if not found:
        return False
    along, square = dot(found[0], w) ** 2, dot(found[0], found[0]) * dot(w, w)
    return (square - along) * (1 - a) > along * (3 + a)
