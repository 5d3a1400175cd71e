"""Hypotheses that several claims share: each is True where it is shown to hold, in exact arithmetic."""

from __future__ import annotations

from verify.checker.exact import dot
from verify.checker.statement import pattern
from verify.claims.records import Instance
from verify.problem.members import has_bias, has_margin

__all__ = [
    "has_a_zero_neuron",
    "has_no_zero_neuron",
    "has_no_zero_preactivation",
    "is_fully_connected",
    "is_linear",
    "is_margin_problem",
    "is_relu",
    "is_wide_angle",
]


def is_margin_problem(instance: Instance) -> bool:
    """A max-margin problem of a network of depth 2 without biases and without shared weights."""
    problem = instance.problem
    return has_margin(problem.goal) and not has_bias(problem.bias) and problem.architecture.limits() is None


def is_linear(instance: Instance) -> bool:
    """Slope 1."""
    return instance.slope == 1


def is_relu(instance: Instance) -> bool:
    """Slope 0."""
    return instance.slope == 0


def is_fully_connected(instance: Instance) -> bool:
    """Every neuron sees every column."""
    shape = instance.network.architecture
    return all(len(mask) == shape.layers[0].columns for mask in shape.masks)


def has_no_zero_neuron(instance: Instance) -> bool:
    """No neuron has the incoming weights 0."""
    return all(any(row) for row in instance.network.hidden_weights)


def has_a_zero_neuron(instance: Instance) -> bool:
    """Some neuron has only weights 0, into it and out of it."""
    network = instance.network
    return any(not v and not any(row) for row, v in zip(network.hidden_weights, network.output_weights, strict=True))


def has_no_zero_preactivation(instance: Instance) -> bool:
    """No point is on the kink of a neuron, so no neuron has the incoming weights 0 either."""
    return all(0 not in row for row in pattern(instance.problem, instance.network))


def is_wide_angle(instance: Instance) -> bool:
    """The two points are more than 120 degrees apart: cos < -1/2."""
    x, y = instance.data.inputs
    return dot(x, y) < 0 and 4 * dot(x, y) ** 2 > dot(x, x) * dot(y, y)
