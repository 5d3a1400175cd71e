"""What users bring becomes exact: networks, data, and the problem that they pose."""

from verify.problem.network import Architecture, Layer, Network
from verify.problem.problem import (
    Bias,
    Dataset,
    Decay,
    Goal,
    Objective,
    PointLoss,
    Problem,
    Trained,
    objective,
    outputs,
)

__all__ = [
    "Architecture",
    "Bias",
    "Dataset",
    "Decay",
    "Goal",
    "Layer",
    "Network",
    "Objective",
    "PointLoss",
    "Problem",
    "Trained",
    "objective",
    "outputs",
]
