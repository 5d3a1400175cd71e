"""Training with an end that an audit can use: gradient flow or descent until the network is nearly a KKT point.

What is trained is what the papers train: all parameters, by the flow of the exponential or logistic loss (targets ±1)
or of the squared loss, from one of their initialisations. Biases are parameters like all others, which is the audit's
bias mode "penalised". Nothing here proves anything: `audit` does, about the exact values of the floats that training
ends with.
"""

from verify.training.conversion import layers_of, network_of, parameters_of, rows_of, targets_of
from verify.training.running import METHODS, train
from verify.training.runs import TrainingRun, check_savable

__all__ = [
    "METHODS",
    "TrainingRun",
    "check_savable",
    "layers_of",
    "network_of",
    "parameters_of",
    "rows_of",
    "targets_of",
    "train",
]
