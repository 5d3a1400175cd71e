"""The losses of training, in a form that neither overflows nor vanishes, however large the margins are.

    exponential  L = 1/n sum exp(-q_i)    logistic  L = 1/n sum log(1 + exp(-q_i))    squared  L = 1/2n sum (f - y)^2

with q_i = y_i f(x_i). What is followed is F = log L for the first two, whose gradient does not vanish as the loss
does, and F = L for the third; the trajectory of the flow is the same for L and log L, only its time differs.

Source: arXiv:1906.05890v4, section 2 (exponential and logistic); arXiv:2306.06479, section 2 (squared).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

__all__ = ["LOSSES", "Loss", "Valued", "value"]

Floats: TypeAlias = NDArray[np.float64]
Loss: TypeAlias = Literal["exponential", "logistic", "squared"]
LOSSES: tuple[Loss, ...] = get_args(Loss)


@dataclass(frozen=True, slots=True)
class Valued:
    """The loss at outputs f.

    objective: F.   log_loss: log L (-inf where L = 0).   pull: c_i = -dF/df_i, shape (n,).
    diagonal, is_ranked: dc/df = -diag(diagonal) + (c c^T if is_ranked).
    """

    objective: float
    log_loss: float
    pull: Floats
    diagonal: Floats
    is_ranked: bool


def value(loss: Loss, targets: Floats, outputs: Floats) -> Valued:
    """F, log L and the derivatives by the outputs; shapes (n,)."""
    n = len(targets)
    if loss == "squared":
        rest = targets - outputs
        half = float(rest @ rest) / (2 * n)
        return Valued(half, float(np.log(half)) if half else -np.inf, rest / n, np.full(n, 1 / n), is_ranked=False)
    q = targets * outputs
    logs = -q if loss == "exponential" else _log_softplus(-q)  # log of each term
    top = float(logs.max())
    log_sum = top + float(np.log(np.exp(logs - top).sum()))
    if loss == "exponential":
        share = np.exp(logs - log_sum)
        curve = share
    else:
        log_sigmoid = -np.logaddexp(0.0, q)  # of -q: minus the derivative of each term
        share = np.exp(log_sigmoid - log_sum)
        curve = share * np.exp(-np.logaddexp(0.0, -q))
    log_loss = log_sum - float(np.log(n))
    return Valued(log_loss, log_loss, targets * share, curve, is_ranked=True)


def _log_softplus(z: Floats) -> Floats:
    """log log(1 + exp z), also where exp z is 0 in floats."""
    small = z < -30.0
    safe = np.where(small, 0.0, z)
    return np.where(small, z, np.log(np.logaddexp(0.0, safe)))
