"""The primal and dual variables of gradient descent on the hidden layer, and the effective dimensions of the points.

    z_k = X w_k     (primal),     w_k = X^T b_k     (dual, for weights in the span of the points),

    d_2 = |l|_1^2 / |l|_2^2,     d_oo = |l|_1 / |l|_oo     for the eigenvalues l of the covariance.

Source: arXiv:2603.04895, section 2.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np

from solvers.arrays import Floats
from verify.checker.exact import dot
from verify.deciders.rounding import solve_exactly
from verify.errors import InputError
from verify.numbers.values import vector
from verify.problem.network import Network
from verify.problem.problem import Dataset

__all__ = ["EffectiveDimensions", "duals", "effective_dimensions", "primal_and_dual", "primals"]

Vector = tuple[Fraction, ...]


def primals(network: Network, data: Dataset) -> tuple[Vector, ...]:
    """z_k = X w_k, a line for each neuron and an entry for each point, exactly. No biases. Raises InputError."""
    _require_no_bias(network)
    return tuple(zip(*(network.preactivations(x) for x in data.inputs), strict=True))


def duals(network: Network, data: Dataset) -> tuple[Vector, ...] | None:
    """b_k with w_k = X^T b_k, exactly; None where some w_k is in no such form. No biases. Raises InputError.

    Unique for independent points; else one of several.
    """
    _require_no_bias(network)
    columns = [list(column) for column in zip(*data.inputs, strict=True)]
    found: list[Vector] = []
    for w in network.hidden_weights:
        b = solve_exactly(columns, list(w))
        if b is None:
            return None
        found.append(tuple(b))
    return tuple(found)


def primal_and_dual(weights: Floats, X: Floats) -> tuple[Floats, Floats]:
    """z and b of the weights of a whole run, in floats: the least-squares b where a weight is not in the span.

    weights: shape (.., m, d), such as (steps, m, d).   X: (n, d).   Both results: (.., m, n).
    """
    w, x = np.asarray(weights, dtype=np.float64), np.asarray(X, dtype=np.float64)
    if x.ndim != 2 or w.ndim < 1 or w.shape[-1] != x.shape[1]:
        raise InputError(f"weights have the shape (.., m, d) and points (n, d), not {w.shape} and {x.shape}")
    return w @ x.T, w @ np.linalg.pinv(x)


class EffectiveDimensions(NamedTuple):
    """d_2 and d_oo, exactly. Both are d for equal eigenvalues, and at most that."""

    d_2: Fraction
    d_oo: Fraction


def effective_dimensions(eigenvalues: object) -> EffectiveDimensions:
    """Of a covariance with these eigenvalues, none negative and not all 0. Raises InputError."""
    found = vector(eigenvalues, "eigenvalues")
    if not any(found) or min(found) < 0:
        raise InputError("the eigenvalues of a covariance are not negative, and not all 0")
    total = sum(found, Fraction(0))
    return EffectiveDimensions(total**2 / dot(found, found), total / max(found))


def _require_no_bias(network: Network) -> None:
    if network.architecture.bias:
        raise InputError("primal and dual variables are those of networks without biases")
