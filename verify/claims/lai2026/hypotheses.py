"""Hypotheses of arXiv:2603.04895: the setting, nearly orthogonal points, starts; all in rationals.

z_k = X w_k are the primal and b_k the dual variables of neuron k, w_k = X^T b_k; S_k are the points that it is to fit.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

from verify.checker.exact import dot
from verify.claims.lai2026.exact_descent import Primal, Vector, gram, moved, preactivations
from verify.claims.predicates import is_fully_connected, is_relu
from verify.claims.records import Instance
from verify.deciders.rounding import rank, solve_exactly
from verify.problem.members import has_bias, has_margin, trains_all

__all__ = [
    "EVENT",
    "STEP",
    "active_sums",
    "assigned",
    "by_sign",
    "duals",
    "has_both_labels",
    "has_labels",
    "is_assigned",
    "is_hidden_regression",
    "is_nearly_orthogonal",
    "is_one_neuron",
    "is_pair",
    "is_small_and_positive",
    "label_range",
    "off_diagonal",
    "primal_of",
]


@lru_cache(maxsize=64)
def is_hidden_regression(instance: Instance) -> bool:
    """Min-norm, ReLU neurons of output weights +-1 with all columns, only the w_k trained, independent points."""
    problem, network = instance.problem, instance.network
    is_right = not has_margin(problem.goal) and not trains_all(problem.trained) and not has_bias(problem.bias)
    return (
        is_right and is_relu(instance) and is_fully_connected(instance) and network.architecture.limits() is None
        and all(abs(v) == 1 for v in network.output_weights)
        and rank(gram(instance)) == len(instance.data)
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


def has_both_labels(instance: Instance) -> bool:
    """Some label is positive, some is negative, none is 0."""
    labels = instance.data.targets
    return all(labels) and min(labels) < 0 < max(labels)


def off_diagonal(instance: Instance) -> Vector:
    """For each i the sum of (x_i.x_j)^2 over j != i."""
    return [dot(row, row) - row[i] ** 2 for i, row in enumerate(gram(instance))]


def is_nearly_orthogonal(instance: Instance) -> bool:
    """32^2 n max y^2 sum_j (x_i.x_j)^2 <= min y^2 min |x|^4, over j != i, and the |x_i|^2 within a factor 9/8."""
    squares = [row[i] for i, row in enumerate(gram(instance))]
    low, high = label_range(instance)
    is_flat = 8 * max(squares) <= 9 * min(squares)
    most = 1024 * len(squares) * high**2 * max(off_diagonal(instance))
    return is_flat and most <= low**2 * min(squares) ** 2


def label_range(instance: Instance) -> tuple[Fraction, Fraction]:
    """The least and the largest |y|."""
    sizes = [abs(y) for y in instance.data.targets]
    return min(sizes), max(sizes)


@lru_cache(maxsize=64)
def _primal(instance: Instance) -> Primal:
    return preactivations(instance.network.hidden_weights, instance.data.inputs)


def primal_of(instance: Instance) -> Primal:
    """z_k of the network."""
    return _primal(instance)


@lru_cache(maxsize=64)
def duals(instance: Instance) -> Primal | None:
    """b_k with w_k = X^T b_k, unique for independent points; None when some w_k is not in their span."""
    found: Primal = []
    for z in primal_of(instance):
        b = solve_exactly(gram(instance), z)
        if b is None:
            return None
        found.append(b)
    whole = moved(instance, [[-value for value in b] for b in found])
    return None if any(map(any, whole)) else found


def is_small_and_positive(instance: Instance) -> bool:
    """In the span of the points, 0 < z_ki <= min |y| / 16."""
    low, _ = label_range(instance)
    is_small = all(0 < 16 * value <= low for line in primal_of(instance) for value in line)
    return is_small and duals(instance) is not None


def is_assigned(instance: Instance) -> bool:
    """One neuron of each label's sign is on at its point, 0 < z <= min |y| / 16, as are those of the other sign.

    The others of its sign have -min |y| / 2 <= z <= -min |y| / 4.
    """
    low, _ = label_range(instance)
    signs = instance.network.output_weights
    for i, y in enumerate(instance.data.targets):
        alike = [line[i] for line, s in zip(primal_of(instance), signs, strict=True) if s * y > 0]
        across = [line[i] for line, s in zip(primal_of(instance), signs, strict=True) if s * y < 0]
        on = [value for value in alike if value > 0]
        if len(on) != 1 or any(not 0 < 16 * value <= low for value in (*on, *across)):
            return False
        if any(not -low / 2 <= value <= -low / 4 for value in alike if value <= 0):
            return False
    return duals(instance) is not None


def assigned(instance: Instance) -> list[list[int]]:
    """S_k: the points of the neuron's sign at which it is on."""
    signs, labels = instance.network.output_weights, instance.data.targets
    return [
        [i for i, (value, y) in enumerate(zip(line, labels, strict=True)) if s * y > 0 and value > 0]
        for line, s in zip(primal_of(instance), signs, strict=True)
    ]


def by_sign(instance: Instance) -> list[list[int]]:
    """S_k: all points whose labels have the neuron's sign."""
    labels = instance.data.targets
    return [[i for i, y in enumerate(labels) if s * y > 0] for s in instance.network.output_weights]


def active_sums(signs: Sequence[Fraction], z: Primal) -> Vector:
    """f(x_i)."""
    return [
        sum((s * max(value, Fraction(0)) for s, value in zip(signs, column, strict=True)), Fraction(0))
        for column in zip(*z, strict=True)
    ]


EVENT = "that the Gram matrix is nearly diagonal is a hypothesis here, with our constants, as exact as it can be drawn"


STEP = "the step is a power of two, h with 1/2 < 2 h max_i sum_j |x_i.x_j| <= 1, and 0 is no active preactivation"
