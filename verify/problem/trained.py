"""What an estimator of scikit-learn says of the objective that it was fitted for.

The mean over the points of 1/2 (y - f(x))^2, or of log(1 + e^(-y f(x))) of a classifier of two classes, plus 1/2 wd
(||W||^2 + ||v||^2), both biases free; wd is alpha times the mean over the batches of an epoch of one over their size:
alpha / n for one batch.

It is what its attributes say: weights of the points, or an alpha that was changed since, leave no trace in it.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

from verify.checker.errors import InputError
from verify.checker.goals import Bias
from verify.checker.objectives import Objective
from verify.numbers.counts import count
from verify.numbers.values import rational
from verify.problem.network import Network
from verify.problem.objectives import TRAINED, LossAsked, a_loss
from verify.problem.optimisers import Logits, decay_of_optimiser, is_optimiser

__all__ = ["agreed_bias", "asked_of", "estimator_in", "is_own", "objective_of", "trained_loss", "with_own_decay"]

_LOSSES = {"squared_error": "half-squared", "log_loss": "logistic"}
"""What losses of scikit-learn are called here."""

AUTO = 200
"""The most points of a batch that scikit-learn takes by itself."""


def is_own(goal: object) -> bool:
    """Whether the goal is what the network was trained for."""
    return isinstance(goal, str) and goal == TRAINED


def asked_of(network: object, goal: object, loss: object, decay: object, reduction: object) -> LossAsked | None:
    """The loss that is asked by these arguments of an audit, its decay perhaps still to be read; None where none is.

    Raises InputError.
    """
    if not is_own(goal):
        return a_loss(goal, loss, 1 if is_optimiser(decay) and loss is not None else decay, reduction)
    told = [name for name, value in (("loss", loss), ("decay", decay), ("reduction", reduction)) if value is not None]
    if told:
        raise InputError(
            f"goal is {TRAINED!r}, which reads all of the objective from the estimator: leave {' and '.join(told)} out"
        )
    return trained_loss(network)


def objective_of(
    asked: LossAsked,
    network: Network,
    points: int,
    bias: Bias | str | None,
    *,
    goal: object,
    source: object,
    decay: object,
    output_bias: str | None = None,
    logits: Logits | None = None,
    is_halved: bool = False,
) -> tuple[Objective, Bias | str | None]:
    """The objective of a network that was read, its decay from its source or its optimiser; and its bias mode.

    goal, source, decay: as they were given.   Raises InputError, also for another bias mode than they have.
    output_bias: "penalised" or "free", where that is said.   logits: the two outputs whose difference the network is.
    is_halved: whether the decay is that of such outputs, and half of it that of the network.
    """
    if is_own(goal):
        asked, bias = with_own_decay(asked, source, points), agreed_bias(bias, Bias.FREE, "the estimator")
    elif is_optimiser(decay):
        own = decay_of_optimiser(decay, network, logits)
        asked = replace(asked, decay=own.layers, of_output_bias=own.output_bias)
        bias = agreed_bias(bias, own.bias, "the optimiser")
    if output_bias is not None:
        if is_own(goal) or is_optimiser(decay):
            raise InputError(f"output_bias is {output_bias!r}, and what trained the network says it: leave it out")
        asked = replace(asked, of_output_bias=asked.decay[1] if output_bias == "penalised" else Fraction(0))
    asked = asked.with_half_the_output() if is_halved else asked
    return asked.on(points, network, bias), bias


def agreed_bias(bias: object, own: Bias, whose: str) -> Bias:
    """The bias mode that the network was trained with, unless another one is given."""
    if bias is not None and bias != own:
        raise InputError(f"bias is {bias!s:.20}, and {whose} trained with {own.value}: leave bias out")
    return own


def estimator_in(network: object) -> Any:
    """The estimator of scikit-learn: also the best of a search, the end of a pipeline, within a scaler of targets."""
    found: Any = network
    while True:
        if hasattr(found, "best_estimator_"):
            found = found.best_estimator_
        elif hasattr(found, "regressor_"):
            found = found.regressor_
        elif hasattr(found, "steps"):
            found = found.steps[-1][1]
        else:
            return found


def trained_loss(network: object) -> LossAsked:
    """The loss of a fitted estimator of scikit-learn, its decay still to be computed from the number of points."""
    estimator = estimator_in(network)
    names = ("alpha", "solver", "batch_size", "loss", "coefs_")
    if not all(hasattr(estimator, name) for name in names):
        raise InputError(
            f"goal is {TRAINED!r}, which reads what it was trained for from a fitted MLPRegressor or MLPClassifier of "
            "scikit-learn: give one, or loss and decay"
        )
    if estimator.loss not in _LOSSES:
        raise InputError(
            f"goal is {TRAINED!r}, and the loss of the estimator is {estimator.loss!s:.40}, which is not decided yet: "
            f"of scikit-learn {' and '.join(_LOSSES)} are"
        )
    name = _LOSSES[estimator.loss]
    if estimator.solver != "lbfgs" and estimator.early_stopping:
        raise InputError(
            "the estimator set points aside (early_stopping=True), and its loss is one of the others: give those, with "
            f"loss={name!r} and decay"
        )
    one = Fraction(1)
    return LossAsked(name=name, number=Fraction(0), decay=(one, one), reduction="mean")


def with_own_decay(asked: LossAsked, network: object, points: int) -> LossAsked:
    """The loss with alpha as weight decay: it is divided by the size of each batch. Raises InputError.

    The solvers with batches count the points that they saw, which must be these: `partial_fit` has other batches.
    """
    estimator = estimator_in(network)
    size = points
    if estimator.solver != "lbfgs":
        if not hasattr(estimator, "loss_curve_"):
            raise InputError(
                f"the estimator has no learning curve, so it was not fitted by {estimator.solver!s:.20}, as it says: "
                f"give loss={asked.name!r}, decay and bias='free'"
            )
        epochs = len(estimator.loss_curve_)  # of warm starts and partial fits too, which n_iter_ leaves out
        if estimator.t_ != epochs * points:
            raise InputError(
                f"the estimator saw {estimator.t_} points in {count(epochs, 'epoch')}, and {points} are "
                "given: give those that it was fitted on, at once; with partial_fit its batches were others: give "
                f"loss={asked.name!r}, decay and bias='free'"
            )
        size = max(min(AUTO if estimator.batch_size == "auto" else int(estimator.batch_size), points), 1)
    whole, rest = divmod(points, size)
    if rest and not estimator.shuffle:
        raise InputError(
            "the estimator was fitted in the same batches each time (shuffle=False), the last of "
            f"{count(rest, 'point')} and others of more: the points have different weights in its loss, which is not "
            "decided"
        )
    sizes = [size] * whole + [rest] * (rest > 0)
    decay = rational(estimator.alpha, "alpha") * sum((Fraction(1, one) for one in sizes), Fraction(0)) / len(sizes)
    if decay <= 0:
        raise InputError("the estimator was trained with alpha 0: without weight decay there need be no optimum")
    return replace(asked, decay=(decay, decay))
