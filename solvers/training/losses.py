"""The losses of training, in a form that neither overflows nor vanishes, however large the margins are.

    exponential  L = 1/n sum exp(-q_i)    logistic  L = 1/n sum log(1 + exp(-q_i))    squared  L = 1/2n sum (f - y)^2

with q_i = y_i f(x_i). What is followed is F = log L for the first two, whose gradient does not vanish as the loss
does, and F = L for the third; the trajectory of the flow is the same for L and log L, only its time differs.

A loss is one record below; it takes part as soon as it stands in `_RULES` and `solvers.training.loss_names` names it.

Source: arXiv:1906.05890v4, section 2 (exponential and logistic); arXiv:2306.06479, section 2 (squared).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, assert_never

import numpy as np

from solvers.arrays import Floats
from solvers.training.loss_names import LOSSES, Loss

__all__ = ["LOSSES", "Loss", "LossRule", "Valued", "rule_of", "smallest_squared", "value"]


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


@dataclass(frozen=True, slots=True)
class LossRule:
    """A loss. valued: F, log L and the derivatives at targets (n,) and outputs (n,).

    goal: what it trains for. "max-margin": labels -1 and 1, followed is F = log L, and the tail is exponential, so that
    the direction of the weights has a limit. "min-norm": any targets, followed is F = L, and L reaches 0.
    kernel: its number in `solvers.training.descent.kernel`; None: descent runs in numpy.
    """

    valued: Callable[[Floats, Floats], Valued]
    goal: Literal["max-margin", "min-norm"]
    kernel: int | None = None

    @property
    def is_for_margins(self) -> bool:
        """Whether it is large margins that it trains for, and not given outputs."""
        match self.goal:
            case "max-margin":
                return True
            case "min-norm":
                return False
            case _:
                assert_never(self.goal)


def smallest_squared(targets: Floats) -> float:
    """The squared loss at which training stops unless another is asked for: 1e-18 of the mean square of the targets."""
    return 1e-18 * float((targets**2).mean() or 1.0)


def rule_of(loss: Loss) -> LossRule:
    """The record of a loss; KeyError for an unknown name."""
    return _RULES[loss]


def value(loss: Loss, targets: Floats, outputs: Floats) -> Valued:
    """F, log L and the derivatives by the outputs; shapes (n,)."""
    return _RULES[loss].valued(targets, outputs)


def _exponential(targets: Floats, outputs: Floats) -> Valued:
    logs = -(targets * outputs)
    log_sum = _log_sum(logs)
    share = np.exp(logs - log_sum)
    return _logarithmic(targets, log_sum, share, share)


def _logistic(targets: Floats, outputs: Floats) -> Valued:
    q = targets * outputs
    log_sum = _log_sum(_log_softplus(-q))
    log_sigmoid = -np.logaddexp(0.0, q)  # of -q: minus the derivative of each term
    share = np.exp(log_sigmoid - log_sum)
    return _logarithmic(targets, log_sum, share, share * np.exp(-np.logaddexp(0.0, -q)))


def _squared(targets: Floats, outputs: Floats) -> Valued:
    n, rest = len(targets), targets - outputs
    half = float(rest @ rest) / (2 * n)
    return Valued(half, float(np.log(half)) if half else -np.inf, rest / n, np.full(n, 1 / n), is_ranked=False)


def _logarithmic(targets: Floats, log_sum: float, share: Floats, curve: Floats) -> Valued:
    """F = log L of a sum of terms l(q_i): share -l'(q_i) / sum, curve l''(q_i) / sum."""
    log_loss = log_sum - float(np.log(len(targets)))
    return Valued(log_loss, log_loss, targets * share, curve, is_ranked=True)


def _log_sum(logs: Floats) -> float:
    """log sum exp."""
    top = float(logs.max())
    return top + float(np.log(np.exp(logs - top).sum()))


def _log_softplus(z: Floats) -> Floats:
    """log log(1 + exp z), also where exp z is 0 in floats."""
    small = z < -30.0
    safe = np.where(small, 0.0, z)
    return np.where(small, z, np.log(np.logaddexp(0.0, safe)))


_RULES: dict[Loss, LossRule] = {
    "exponential": LossRule(_exponential, "max-margin", kernel=0),
    "logistic": LossRule(_logistic, "max-margin", kernel=1),
    "squared": LossRule(_squared, "min-norm", kernel=2),
}
