"""The objectives that users name: a loss, weight decay, and whether the losses are summed or averaged.

    F(theta) = mean or sum over the points of l(y_i, f(x_i))  +  1/2 decay ||theta||^2

as the optimisers of PyTorch have it, whose `weight_decay` adds decay times theta to the gradient: of plain gradient
descent, SGD and Adam, not of AdamW, which minimises no F.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal, cast, final

from verify.checker.errors import InputError
from verify.checker.goals import Bias, is_free
from verify.checker.objectives import Decay, Objective, PointLoss
from verify.checker.statement import Network
from verify.numbers.arguments import a_decimal
from verify.numbers.values import as_input_error, rational

__all__ = [
    "LOSSES", "OUTPUT_BIASES", "REDUCTIONS", "TRAINED", "LossAsked", "NamedLoss", "a_loss", "loss_asked",
    "named_losses",
]  # fmt: skip

REDUCTIONS = ("mean", "sum")

TRAINED = "trained"
"""The goal that asks for what an estimator was trained for."""

OUTPUT_BIASES = ("keep", "penalised", "free")
"""What becomes of an output bias where a loss is asked: a decay where the hidden biases have one, that of the output
layer, or none.
"""


@final
@dataclass(frozen=True, slots=True)
class NamedLoss:
    """formula: what is summed, of the residual r = y − f(x), or of q = y·f(x) for labels.

    parameter: the name of its number, "" for none; default: that, in PyTorch or scikit-learn.
    made: the loss times a weight, with that number.
    """

    formula: str
    made: Callable[[Fraction, Fraction], PointLoss]
    parameter: str = ""
    default: Fraction = Fraction(0)
    labels: bool = False


def _even(end: Fraction | None, tube: Fraction, curvature: Fraction) -> PointLoss:
    low = None if end is None else -end
    return PointLoss(labels=False, low=low, high=end, tube=tube, curvature=curvature)


def _of_labels(end: Fraction | None, curvature: Fraction) -> PointLoss:
    return PointLoss(labels=True, low=Fraction(0), high=end, tube=Fraction(0), curvature=curvature)


def _logistic(end: Fraction) -> PointLoss:
    return PointLoss(labels=True, low=_ZERO, high=end, tube=_ZERO, curvature=_ZERO, kind="logistic")


_ZERO = Fraction(0)

LOSSES = {
    "squared": NamedLoss("r²", lambda w, _: _even(None, _ZERO, 1 / (2 * w))),
    "half-squared": NamedLoss("r²/2", lambda w, _: _even(None, _ZERO, 1 / w)),
    "absolute": NamedLoss("|r|", lambda w, _: _even(w, _ZERO, _ZERO)),
    "epsilon-insensitive": NamedLoss(
        "max(0, |r| − ε)", lambda w, e: _even(w, e, _ZERO), parameter="ε", default=Fraction(1, 10)
    ),
    "huber": NamedLoss(
        "r²/2 up to |r| = δ, then δ|r| − δ²/2",
        lambda w, d: _even(w * d, _ZERO, 1 / w),
        parameter="δ",
        default=Fraction(1),
    ),
    "hinge": NamedLoss("max(0, 1 − q)", lambda w, _: _of_labels(w, _ZERO), labels=True),
    "logistic": NamedLoss("log(1 + e^−q)", lambda w, _: _logistic(w), labels=True),
    "squared-hinge": NamedLoss("max(0, 1 − q)²", lambda w, _: _of_labels(None, 1 / (2 * w)), labels=True),
}
"""The losses by their names, as MSELoss (without ½), L1Loss, HuberLoss (with it) and BCEWithLogitsLoss of PyTorch have
them.
"""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class LossAsked:
    """What a user asks: a name of `LOSSES` with its number, the decay of either layer, "mean" or "sum".

    of_output_bias: the decay of an output bias, None for that of the output layer, or for none where biases are free.
    """

    name: str
    number: Fraction
    decay: tuple[Fraction, Fraction]
    reduction: Literal["mean", "sum"]
    of_output_bias: Fraction | None = None

    @property
    def has_labels(self) -> bool:
        """Whether the targets are labels."""
        return LOSSES[self.name].labels

    def with_half_the_output(self) -> LossAsked:
        """The same with half the decays of the output layer, as they are of the difference of two outputs."""
        of_bias = None if self.of_output_bias is None else self.of_output_bias / 2
        return replace(self, decay=(self.decay[0], self.decay[1] / 2), of_output_bias=of_bias)

    def on(self, points: int, network: Network | None = None, bias: object = None) -> Objective:
        """The objective on so many points.

        network: one with an output bias has the decay of the output layer on it, and none where `bias` is "free",
        unless `of_output_bias` says which.
        """
        weight = Fraction(1, points) if self.reduction == "mean" else Fraction(1)
        of_bias = None
        if network is not None and len(network.parameters) > len(network.architecture.layers):
            is_left_out = bias in set(Bias) and is_free(Bias(bias))
            of_bias = self.of_output_bias
            if of_bias is None:
                of_bias = Fraction(0) if is_left_out else self.decay[1]
        with as_input_error():
            return Objective(LOSSES[self.name].made(weight, self.number), Decay(*self.decay, of_bias))


def loss_asked(loss: object, decay: object, reduction: object = "mean") -> LossAsked:
    """What is asked by these arguments. Raises InputError.

    loss: a name of `LOSSES`, with a number after a colon for those that have one, as in "huber:0.5".
    decay: one number for both layers, or two, for the hidden and for the output layer; as text such as "0.01,0.02" too.
    """
    if not isinstance(loss, str) or (name := loss.partition(":")[0]) not in LOSSES:
        raise InputError(f"loss is {loss!r:.60}; it must be one of {', '.join(named_losses())}")
    known, text = LOSSES[name], loss.partition(":")[2]
    if ":" in loss and not known.parameter:
        raise InputError(f"loss is {loss!r:.60}, but {name} has no number: leave {loss[len(name) :]!r:.40} out")
    number = _decimal(text, f"the number of the loss {loss!r:.60}") if ":" in loss else known.default
    if known.parameter and number <= 0:
        raise InputError(f"loss is {loss!r:.60}; its {known.parameter} must be positive")
    if reduction not in REDUCTIONS:
        raise InputError(
            f"reduction is {reduction!r:.60}; it must be mean or sum, as the losses are averaged or summed"
        )
    summed: Literal["mean", "sum"] = "sum" if reduction == "sum" else "mean"
    return LossAsked(name=name, number=number, decay=_decays(decay, name), reduction=summed)


def a_loss(goal: object, loss: object, decay: object, reduction: object) -> LossAsked | None:
    """The loss that is asked by these options, None standing for those that are not given; None where none is.

    Raises InputError.
    """
    if loss is None:
        named = next((name for name, value in (("decay", decay), ("reduction", reduction)) if value is not None), None)
        if named is not None:
            raise InputError(f"{named} is given without a loss: give one of {', '.join(named_losses())} as loss too")
        return None
    if goal is not None:
        raise InputError("goal and loss are both given: leave goal out, as a loss is a goal of its own")
    return loss_asked(loss, decay, "mean" if reduction is None else reduction)


def named_losses() -> list[str]:
    """The names of the losses, with a number where they have one."""
    return [_shown(name) for name in LOSSES]


def _shown(name: str) -> str:
    known = LOSSES[name]
    return f"{name}[:{known.parameter}]" if known.parameter else name


def _decays(decay: object, name: str) -> tuple[Fraction, Fraction]:
    """The decay of the hidden and of the output layer."""
    if decay is None:
        raise InputError(
            f"the loss {name} is asked without weight decay, where weights may grow without end and there need be no "
            "optimum: give --decay WD (in Python decay=...), the weight decay of the optimiser"
        )
    given: Sequence[object] = (decay,)
    if isinstance(decay, str):
        given = decay.split(",")
    elif isinstance(decay, tuple | list):
        given = cast("Sequence[object]", decay)
    if len(given) not in (1, 2):
        raise InputError(f"decay has {len(given)} numbers: give one, or two for the hidden and for the output layer")
    numbers = [_decimal(one, "decay") for one in given]
    if min(numbers) <= 0:
        raise InputError(
            f"decay is {decay!s:.60}; it must be positive on both layers: without decay on one of them that one grows, "
            "the other shrinks, and there need be no optimum"
        )
    return numbers[0], numbers[-1]


def _decimal(value: object, place: str) -> Fraction:
    """A number that a user gives: text is an exact decimal or fraction, a float the double that it is."""
    if not isinstance(value, str):
        return rational(value, place)
    return a_decimal(value, place)
