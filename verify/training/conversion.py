"""Between exact networks and the arrays that are trained."""

from __future__ import annotations

import numpy as np

from solvers.arrays import Floats
from verify.checker.errors import InputError
from verify.deciders.depth.arrays import layers_of, network_of, parameters_of
from verify.numbers.counts import count
from verify.numbers.floats import to_floats, to_matrix
from verify.problem.network import Architecture
from verify.problem.problem import Dataset

__all__ = ["layers_of", "network_of", "parameters_of", "rows_of", "targets_of"]


def rows_of(data: Dataset, architecture: Architecture) -> Floats:
    """The points, shape (n, columns), with a 1 appended where the first layer has a bias."""
    if data.dimension != architecture.inputs:
        taken = count(architecture.inputs, "input")
        raise InputError(
            f"the data have {count(data.dimension, 'column')}, but the network takes {taken}: give the columns that it "
            "was trained on"
        )
    try:
        rows = to_matrix(data.inputs)
    except OverflowError:
        raise InputError("the data have numbers beyond the range of floats: scale them first") from None
    return np.column_stack([rows, np.ones(len(rows))]) if architecture.bias else rows


def targets_of(data: Dataset) -> Floats:
    """The targets, shape (n,)."""
    return to_floats(data.targets)
