"""Settings and hypotheses that theorems of arXiv:2110.02732 share: pairs of points, ReLU networks in the plane."""

from __future__ import annotations

from fractions import Fraction

from verify.checker.exact import dot
from verify.claims.exact_programs import least_norm
from verify.claims.predicates import has_no_zero_neuron, is_fully_connected, is_margin_problem, is_relu
from verify.claims.records import Instance
from verify.problem.members import has_bias, has_margin, trains_all
from verify.problem.network import Network

__all__ = [
    "ALL_KKT_POINTS",
    "is_along_the_margin",
    "is_diagonal",
    "is_homogeneous_margin_problem",
    "is_pair",
    "is_plane_relu",
    "with_louder_outputs",
]


def is_homogeneous_margin_problem(instance: Instance) -> bool:
    """A max-margin problem of a network of any depth without biases, masked or with shared weights."""
    problem = instance.problem
    return has_margin(problem.goal) and not has_bias(problem.bias) and trains_all(problem.trained)


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


def is_diagonal(instance: Instance) -> bool:
    """Neuron j sees one coordinate, each another one."""
    shape = instance.network.architecture
    return (
        is_margin_problem(instance)
        and all(len(mask) == 1 for mask in shape.masks)
        and (sorted(mask[0] for mask in shape.masks) == list(range(shape.inputs)))
    )


def is_plane_relu(instance: Instance) -> bool:
    """Fully connected, ReLU, in the plane, without zero neurons."""
    is_plane = instance.data.dimension == 2 and is_fully_connected(instance) and is_relu(instance)
    return is_plane and is_margin_problem(instance) and has_no_zero_neuron(instance)


def with_louder_outputs(instance: Instance) -> Instance:
    """The weights of the last layer doubled: what was balanced is so no longer, and what fits still does."""
    *inner, last = instance.network.parameters
    network = Network(instance.network.architecture, [*inner, [2 * w for w in last]])
    return Instance(instance.problem, network)


ALL_KKT_POINTS = "all KKT points, of which the limits of gradient flow are some"
