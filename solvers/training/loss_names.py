"""The names of the losses of training, without what computes them, so that a command lists them at once.

What each is stands in `solvers.training.losses`, which tests compare with this list.
"""

from typing import Literal, TypeAlias, get_args

__all__ = ["LOSSES", "Loss"]

Loss: TypeAlias = Literal["exponential", "logistic", "squared"]
LOSSES: tuple[Loss, ...] = get_args(Loss)
