"""What an optimiser of PyTorch, or an estimator of scikit-learn, says of the objective that it trained for.

    scikit-learn   mean over the points of 1/2 (y - f(x))^2, plus 1/2 wd (||W||^2 + ||v||^2), both biases free; wd is
                   alpha times the mean over the batches of an epoch of one over their size: alpha / n for one batch
    PyTorch        the weight_decay of its parameter groups: of all parameters, or of all but the biases

Decoupled decay (AdamW) minimises no such objective, and is refused.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any, Literal, cast

from verify.checker.errors import InputError
from verify.numbers.values import rational
from verify.problem.objectives import LossAsked

__all__ = ["TRAINED", "decay_of_optimiser", "estimator_in", "trained_loss", "with_own_decay"]

TRAINED = "trained"
"""The goal that asks for what an estimator was trained for."""

AUTO = 200
"""The most points of a batch that scikit-learn takes by itself."""


def estimator_in(network: object) -> Any:
    """The estimator of scikit-learn, also at the end of a pipeline or within a scaler of its targets."""
    found: Any = network
    while True:
        if hasattr(found, "regressor_"):
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
            f"goal is {TRAINED!r}, which reads what it was trained for from a fitted MLPRegressor of scikit-learn: "
            "give one, or loss and decay"
        )
    if estimator.loss != "squared_error":
        raise InputError(
            f"goal is {TRAINED!r}, and the loss of the estimator is {estimator.loss!s:.40}, which is not decided yet: "
            "of scikit-learn an MLPRegressor with the squared error is"
        )
    if estimator.solver != "lbfgs" and estimator.early_stopping:
        raise InputError(
            "the estimator stopped early, by the loss on points that it set aside: its loss is one of the others; give "
            "those, with loss='half-squared' and decay"
        )
    one = Fraction(1)
    return LossAsked(name="half-squared", number=Fraction(0), decay=(one, one), reduction="mean")


def with_own_decay(asked: LossAsked, network: object, points: int) -> LossAsked:
    """The loss with alpha as weight decay: it is divided by the size of each batch."""
    estimator = estimator_in(network)
    size = points
    if estimator.solver != "lbfgs":
        size = min(AUTO if estimator.batch_size == "auto" else int(estimator.batch_size), points)
    whole, rest = divmod(points, size)
    sizes = [size] * whole + [rest] * (rest > 0)
    decay = rational(estimator.alpha, "alpha") * sum((Fraction(1, one) for one in sizes), Fraction(0)) / len(sizes)
    if decay <= 0:
        raise InputError("the estimator was trained with alpha 0: without weight decay there need be no optimum")
    return replace(asked, decay=(decay, decay))


def decay_of_optimiser(optimiser: Any) -> tuple[object, Literal["free"] | None]:
    """The weight decay of an optimiser of PyTorch, and "free" where its biases have none. Raises InputError."""
    groups = cast("list[dict[str, Any]]", optimiser.param_groups)
    name = type(optimiser).__name__
    if name == "AdamW" or any(group.get("decoupled_weight_decay") for group in groups):
        raise InputError(
            f"{name} decouples its weight decay, and so minimises no loss with weight decay, whichever: to ask for one "
            "all the same, give decay as a number"
        )
    of_biases = {group["weight_decay"] for group in groups for p in group["params"] if p.ndim < 2}
    of_weights = {group["weight_decay"] for group in groups for p in group["params"] if p.ndim >= 2}
    if len(of_weights) != 1 or not of_biases <= of_weights | {0} or len(of_biases) > 1:
        raise InputError(
            f"the parameter groups of {name} have the weight decays {sorted(of_weights | of_biases)}: what is decided "
            "is one decay of all weights, and the same or none of all biases; or give decay as two numbers"
        )
    (decay,) = of_weights
    return decay, "free" if of_biases == {0} and decay else None
