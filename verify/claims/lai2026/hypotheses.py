"""Hypotheses of arXiv:2603.04895: the setting, nearly orthogonal points, starts; all in rationals.

The paper's probability enters by one event: that the Gram matrix of the points is nearly diagonal. Here this is a
hypothesis about the given points, with explicit constants (ours), so that instances are small and the rest is exact.

z_k = X w_k are the primal and b_k the dual variables of neuron k, w_k = X^T b_k; S_k are the points that it is to fit.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from verify.checker.exact import dot
from verify.claims.lai2026.exact_descent import Vector, gram, preactivations
from verify.claims.predicates import is_fully_connected, is_relu
from verify.claims.records import Instance
from verify.deciders.rounding import rank, solve_exactly
from verify.problem.members import has_bias, has_margin, trains_all

__all__ = [
    "EVENT",
    "STEP",
    "assigned",
    "by_sign",
    "duals",
    "has_labels",
    "is_assigned",
    "is_hidden_regression",
    "is_nearly_orthogonal",
    "is_one_neuron",
    "is_pair",
    "is_small_and_positive",
    "label_range",
    "stacked",
    "weights_of",
]


def is_hidden_regression(instance: Instance) -> bool:
    """Min-norm, ReLU neurons of output weights +-1 with all columns, only the w_k trained, independent points."""
    problem, network = instance.problem, instance.network
    is_right = not has_margin(problem.goal) and not trains_all(problem.trained) and not has_bias(problem.bias)
    return (
        is_right and is_relu(instance) and is_fully_connected(instance) and network.architecture.limits() is None
        and all(abs(v) == 1 for v in network.output_weights)
        and rank(instance.data.inputs) == len(instance.data)
    )  # fmt: skip


def is_one_neuron(instance: Instance) -> bool:
    """The same, with one neuron of output weight 1."""
    return is_hidden_regression(instance) and instance.network.output_weights == (1,)


def is_pair(instance: Instance) -> bool:
    """The same, with a positive and a negative neuron."""
    return is_hidden_regression(instance) and instance.network.output_weights == (1, -1)


def has_labels(instance: Instance) -> bool:
    """No label is 0."""
    return all(instance.data.targets)


def is_nearly_orthogonal(instance: Instance) -> bool:
    """32 n max |y| sum_j |x_i.x_j| <= min |y| min |x|^2, over j != i, and the |x_i|^2 within a factor 9/8."""
    data = instance.data
    products = gram(data.inputs)
    squares = [row[i] for i, row in enumerate(products)]
    off = max(sum((abs(entry) for j, entry in enumerate(row) if j != i), Fraction(0)) for i, row in enumerate(products))
    low, high = label_range(instance)
    return 32 * len(data) * high * off <= low * min(squares) and 8 * max(squares) <= 9 * min(squares)


def label_range(instance: Instance) -> tuple[Fraction, Fraction]:
    """The least and the largest |y|."""
    sizes = [abs(y) for y in instance.data.targets]
    return min(sizes), max(sizes)


def weights_of(instance: Instance) -> list[Vector]:
    """The incoming weights of each neuron."""
    return [list(w) for w in instance.network.hidden_weights]


def duals(instance: Instance, weights: Sequence[Vector]) -> list[Vector] | None:
    """b_k with w_k = X^T b_k, unique for independent points; None when some w_k is not in their span."""
    rows = instance.data.inputs
    found: list[Vector] = []
    for w in weights:
        b = solve_exactly(gram(rows), [dot(w, x) for x in rows])
        if b is None or [dot(b, column) for column in zip(*rows, strict=True)] != list(w):
            return None
        found.append(b)
    return found


def is_small_and_positive(instance: Instance) -> bool:
    """In the span of the points, 0 < z_ki <= min |y| / 16."""
    low, _ = label_range(instance)
    z = preactivations(weights_of(instance), instance.data.inputs)
    return duals(instance, weights_of(instance)) is not None and all(
        0 < 16 * value <= low for line in z for value in line
    )


def is_assigned(instance: Instance) -> bool:
    """One neuron of each label's sign is on at its point, 0 < z <= min |y| / 16, as are those of the other sign.

    The others of its sign have -min |y| / 2 <= z <= -min |y| / 4.
    """
    low, _ = label_range(instance)
    z = preactivations(weights_of(instance), instance.data.inputs)
    for i, y in enumerate(instance.data.targets):
        alike = [line[i] for line, s in zip(z, instance.network.output_weights, strict=True) if s * y > 0]
        across = [line[i] for line, s in zip(z, instance.network.output_weights, strict=True) if s * y < 0]
        on = [value for value in alike if value > 0]
        if len(on) != 1 or any(not 0 < 16 * value <= low for value in (*on, *across)):
            return False
        if any(not -low / 2 <= value <= -low / 4 for value in alike if value <= 0):
            return False
    return duals(instance, weights_of(instance)) is not None


def assigned(instance: Instance, weights: Sequence[Vector]) -> list[list[int]]:
    """S_k: the points of the neuron's sign at which it is on."""
    data = instance.data
    return [
        [i for i, (value, y) in enumerate(zip(line, data.targets, strict=True)) if s * y > 0 and value > 0]
        for line, s in zip(preactivations(weights, data.inputs), instance.network.output_weights, strict=True)
    ]


def by_sign(instance: Instance) -> list[list[int]]:
    """S_k: all points whose labels have the neuron's sign."""
    labels = instance.data.targets
    return [[i for i, y in enumerate(labels) if s * y > 0] for s in instance.network.output_weights]


def stacked(weights: Sequence[Vector]) -> Vector:
    """All weights in one row, neuron after neuron."""
    return [entry for w in weights for entry in w]


EVENT = "that the Gram matrix is nearly diagonal is a hypothesis, with our constants, in place of high dimension"


STEP = "the step is a power of two, h with 1/2 < 2 h max_i sum_j |x_i.x_j| <= 1, and 0 is no active preactivation"
