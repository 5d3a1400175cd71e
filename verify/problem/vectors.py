"""What is asked of a network with several outputs: a loss by its name with weight decay, or constraints.

    F = mean or sum of l(y_i, f(x_i)) + 1/2 decay ||theta||^2

in the normal form of `verify.checker.vector_statement`, where losses are summed and a squared one is halved.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain
from typing import final

from verify.checker.errors import InputError
from verify.checker.goals import Bias, has_bias, is_free
from verify.checker.objectives import Decay
from verify.checker.vector_goals import VECTOR_RULES, VectorGoal, class_fault
from verify.checker.vector_statement import Matrix, VectorNetwork, VectorProblem
from verify.numbers.decimals import value
from verify.numbers.values import as_input_error
from verify.problem.objectives import LossAsked
from verify.problem.optimisers import Parts, decay_of_parts, is_optimiser
from verify.problem.trained import agreed_bias, asked_of, is_own, with_own_decay

__all__ = ["VectorAsked", "vector_asked"]

LOSS_OF_ESTIMATORS = (
    "the squared error of scikit-learn is summed over the targets in the gradient that it follows, as here, and "
    "averaged over them in its loss_"
)

CROSS_ENTROPY = ("logistic", "cross-entropy")
"""What the loss of classes is called; with two outputs it is the logistic loss of their difference."""


@final
@dataclass(frozen=True, slots=True)
class VectorAsked:
    """problem: in the normal form.   scale: what its objective is multiplied by to be the user's.

    words: what is least, in the user's terms.   notes: what was assumed.
    """

    problem: VectorProblem
    scale: Fraction
    words: str
    notes: tuple[str, ...]


def vector_asked(
    network: VectorNetwork, inputs: Matrix, targets: Matrix, *,
    are_classes: bool, goal: object, loss: object, decay: object, reduction: object, bias: object, output_bias: object,
    source: object = None,
) -> tuple[VectorAsked, VectorNetwork]:  # fmt: skip
    """The problem, and the network without an output bias of zeros that it does not have. Raises InputError.

    source: what the network was read from, an estimator where the goal is what it was trained for.
    """
    _check_output_bias(network, output_bias)
    name = "logistic" if isinstance(loss, str) and loss in CROSS_ENTROPY else loss
    asked = asked_of(source, goal, name, decay, reduction)
    if asked is None:
        mode = _bias_mode(network, bias)
        return _constrained(network, inputs, targets, are_classes=are_classes, goal=goal, mode=mode, told=output_bias)
    if asked.name not in ("squared", "half-squared", "logistic"):
        raise InputError(f"loss is {loss!r:.60}: of several outputs squared, half-squared and logistic are decided")
    are_units = are_classes or not any(map(class_fault, targets))
    if (asked.name == "logistic" and not are_units) or (asked.name != "logistic" and are_classes):
        wanted = "classes 0, 1, ... as targets" if asked.name == "logistic" else "a column of targets for each output"
        raise InputError(f"loss is {loss or asked.name!r:.60}, which needs {wanted}")
    asked, bias = _trained_for(asked, network, len(inputs), bias, goal=goal, decay=decay, source=source)
    mode = _bias_mode(network, bias)
    if output_bias in ("penalised", "free"):
        if is_own(goal) or is_optimiser(decay):
            raise InputError(f"output_bias is {output_bias!r}, and what trained the network says it: leave it out")
        asked = replace(asked, of_output_bias=asked.decay[1] if output_bias == "penalised" else Fraction(0))
    notes = (LOSS_OF_ESTIMATORS,) if is_own(goal) and asked.name != "logistic" else ()
    return _with_loss(asked, network, inputs, targets, mode, notes), network


def _with_loss(
    asked: LossAsked, network: VectorNetwork, inputs: Matrix, targets: Matrix, mode: Bias, notes: tuple[str, ...]
) -> VectorAsked:
    """The problem of a loss, in the normal form."""
    points, outputs = len(inputs), len(network.output)
    is_mean = asked.reduction == "mean"
    scale = Fraction(1, points) if is_mean else Fraction(1)
    if asked.name == "squared":  # as MSELoss has it, which averages over the outputs too
        scale = scale * 2 / (outputs if is_mean else 1)
    hidden, output = (one / scale for one in asked.decay)
    of_bias = asked.of_output_bias
    if of_bias is None:
        of_bias = Fraction(0) if is_free(mode) else asked.decay[1]
    normal: VectorGoal = "cross-entropy" if asked.name == "logistic" else "squared"
    with as_input_error():
        least = Decay(hidden, output, None if network.output_bias is None else of_bias / scale)
        problem = VectorProblem(inputs, targets, network.slope, mode, normal, least)
    over = f"{asked.reduction} over {points} points" + (f" and {outputs} outputs" if asked.name == "squared" else "")
    formulas = {"squared": "(y − f(x))²", "half-squared": "½‖y − f(x)‖²", "logistic": "cross-entropy"}
    decays = dict.fromkeys(map(value, asked.decay))
    norm = f"½·{next(iter(decays))}·‖θ‖²" if len(decays) == 1 else "½·({}·‖W‖² + {}·‖V‖²)".format(*decays)
    return VectorAsked(problem, scale, f"least {over} of {formulas[asked.name]}, plus {norm}", notes)


def _trained_for(
    asked: LossAsked, network: VectorNetwork, points: int, bias: object, *, goal: object, decay: object, source: object
) -> tuple[LossAsked, object]:
    """The loss with the decay of the estimator or of the optimiser, and the bias mode that it has."""
    if is_own(goal):
        asked = replace(with_own_decay(asked, source, points), of_output_bias=Fraction(0))
        return asked, agreed_bias(bias, Bias.FREE, "the estimator")
    if not is_optimiser(decay):
        return asked, bias
    own = decay_of_parts(decay, _parts(network))
    mode = agreed_bias(bias, own.bias, "the optimiser")
    return replace(asked, decay=own.layers, of_output_bias=own.output_bias), mode


def _parts(network: VectorNetwork) -> Parts:
    """What an optimiser may hold of it, each matrix row by row or column by column."""
    rows = [row[:-1] if network.bias else row for row in network.hidden]
    found: Parts = {
        name: [tuple(chain(*matrix)), tuple(chain(*zip(*matrix, strict=True)))]
        for name, matrix in (("W", rows), ("v", network.output))
    }
    if network.bias:
        found["b"] = [tuple(row[-1] for row in network.hidden)]
    if network.output_bias is not None:
        found["b2"] = [network.output_bias]
    return found


def _check_output_bias(network: VectorNetwork, output_bias: object) -> None:
    """Refuse what is not asked of the output biases of several outputs."""
    if output_bias is not None and not (isinstance(output_bias, str) and output_bias in ("keep", "penalised", "free")):
        raise InputError(
            f"output_bias is {output_bias!r:.40}: of several outputs it is kept, and counts (penalised) or does not "
            "(free)"
        )
    if network.output_bias is None and output_bias in ("penalised", "free"):
        raise InputError(f"output_bias is {output_bias!r}, but the network has none: leave it out")


def _bias_mode(network: VectorNetwork, bias: object) -> Bias:
    if bias is not None and not (isinstance(bias, str) and bias in set(Bias)):
        raise InputError(f"bias is {bias!r:.60}; it must be one of {', '.join(Bias)}")
    mode = Bias(str(bias)) if bias is not None else Bias.PENALISED if network.bias else Bias.NONE
    if has_bias(mode) is not network.bias:
        raise InputError(
            f"bias is {mode.value}, and the network has {'hidden' if network.bias else 'no hidden'} biases"
        )
    return mode


def _constrained(
    network: VectorNetwork, inputs: Matrix, targets: Matrix, *,
    are_classes: bool, goal: object, mode: Bias, told: object,
) -> tuple[VectorAsked, VectorNetwork]:  # fmt: skip
    """Pairwise margins, or every target met, with the least norm; told: what is said of an output bias."""
    wanted = ("max-margin" if are_classes else "min-norm") if goal is None else str(goal)
    if wanted not in _WORDS:
        raise InputError(f"goal is {goal!r:.60}; of several outputs it must be max-margin or min-norm")
    name, words = _WORDS[wanted]
    if not are_classes and VECTOR_RULES[name].target_fault(targets[0]):
        raise InputError("goal is max-margin, which needs classes 0, 1, ... as targets")
    notes: tuple[str, ...] = ()
    decay = Decay(Fraction(1), Fraction(1))
    if network.output_bias is not None:
        is_kept = any(network.output_bias) and (told == "free" or (is_free(mode) and told != "penalised"))
        if is_kept or told == "free":
            decay = Decay(Fraction(1), Fraction(1), Fraction(0))
        elif any(network.output_bias):
            raise InputError(
                f"the network has an output bias, which counts in the norm of {name} of no network with several "
                "outputs: leave it out of the norm with output_bias='free' (--output-bias free), train without it, or "
                "ask for the loss that it was trained for, with its decay"
            )
        else:
            network = VectorNetwork(network.slope, network.bias, network.hidden, network.output, None)
            notes = ("the output bias, which is 0, is left out",)
    with as_input_error():
        problem = VectorProblem(inputs, targets, network.slope, mode, name, decay)
    return VectorAsked(problem, Fraction(1), words, notes), network


_WORDS: Mapping[str, tuple[VectorGoal, str]] = {
    "max-margin": (
        "max-margin",
        "max-margin: least ½‖θ‖² with f_k(x) − f_j(x) ≥ 1, k the class of x, for every other j",
    ),
    "min-norm": ("min-norm", "min-norm: least ½‖θ‖² with f(x) = y"),
}
