"""A problem and a network with several outputs as floats, and floats as exact numbers of them."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from solvers.vectors.vector_instance import VectorInstance
from verify.checker.vector_statement import VectorNetwork, VectorProblem
from verify.deciders.rounding import dyadic
from verify.numbers.floats import to_float, to_floats, to_matrix
from verify.problem.members import is_free

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

__all__ = ["as_vector_instance", "exact_network", "float_network"]

BITS = 48
"""Of the weights of networks that floats found."""


def as_vector_instance(problem: VectorProblem) -> VectorInstance:
    """The problem in floats; OverflowError beyond them."""
    decay = problem.decay
    return VectorInstance(
        to_matrix(problem.rows),
        to_matrix(problem.targets),
        to_float(problem.slope),
        problem.goal if problem.rules.IS_LOSS else "",
        (to_float(decay.hidden), to_float(decay.output)),
        None if decay.output_bias is None else to_float(decay.output_bias),
        problem.rules.HAS_MARGIN,
        is_free=is_free(problem.bias),
    )


def float_network(network: VectorNetwork) -> tuple[Array, Array, Array | None]:
    """w_j (width, c), V_j (width, K), b (K,) or None."""
    shift = None if network.output_bias is None else to_floats(network.output_bias)
    return to_matrix(network.hidden), to_matrix(network.output_columns), shift


def exact_network(
    problem: VectorProblem, hidden: Array, output: Array, shift: Array | None, bits: int = BITS
) -> VectorNetwork:
    """The network of these arrays, its weights rounded to so many bits."""

    def row(numbers: Array) -> tuple[Fraction, ...]:
        return tuple(dyadic(number, bits) for number in numbers.tolist())

    columns = tuple(row(numbers) for numbers in output.T)
    own_shift = None if problem.decay.output_bias is None or shift is None else row(shift)
    has_bias = len(problem.rows[0]) > len(problem.inputs[0])
    return VectorNetwork(problem.slope, has_bias, tuple(row(w) for w in hidden), columns, own_shift)
