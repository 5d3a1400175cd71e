"""What is asked of a network with several outputs: a loss by its name with weight decay, or constraints.

    F = mean or sum of l(y_i, f(x_i)) + 1/2 decay ||theta||^2

in the normal form of `verify.checker.vector_statement`, where losses are summed and a squared one is halved.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import final

from verify.checker.errors import InputError
from verify.checker.goals import Bias, has_bias, is_free
from verify.checker.objectives import Decay
from verify.checker.vector_goals import VECTOR_RULES, VectorGoal, class_fault
from verify.checker.vector_statement import Matrix, VectorNetwork, VectorProblem
from verify.numbers.decimals import value
from verify.numbers.values import as_input_error
from verify.problem.objectives import loss_asked

__all__ = ["VectorAsked", "vector_asked"]

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
) -> tuple[VectorAsked, VectorNetwork]:  # fmt: skip
    """The problem, and the network without an output bias of zeros that it does not have. Raises InputError."""
    mode = _bias_mode(network, bias)
    if loss is None:
        if decay is not None or reduction is not None:
            raise InputError("decay is given without a loss: give loss, squared or logistic, as well")
        return _constrained(network, inputs, targets, are_classes=are_classes, goal=goal, mode=mode)
    if goal is not None:
        raise InputError("goal and loss are both given: leave goal out, as a loss is a goal of its own")
    name = "logistic" if loss in CROSS_ENTROPY else loss
    asked = loss_asked(name, decay, "mean" if reduction is None else reduction)
    if asked.name not in ("squared", "half-squared", "logistic"):
        raise InputError(f"loss is {loss!r:.60}: of several outputs squared, half-squared and logistic are decided")
    are_units = are_classes or not any(map(class_fault, targets))
    if (asked.name == "logistic" and not are_units) or (asked.name != "logistic" and are_classes):
        wanted = "classes 0, 1, ... as targets" if asked.name == "logistic" else "a column of targets for each output"
        raise InputError(f"loss is {loss!r:.60}, which needs {wanted}")
    points, outputs = len(inputs), len(network.output)
    is_mean = asked.reduction == "mean"
    scale = Fraction(1, points) if is_mean else Fraction(1)
    if asked.name == "squared":  # as MSELoss has it, which averages over the outputs too
        scale = scale * 2 / (outputs if is_mean else 1)
    hidden, output = (one / scale for one in asked.decay)
    of_bias = None if network.output_bias is None else Fraction(0) if output_bias == "free" else output
    normal: VectorGoal = "cross-entropy" if asked.name == "logistic" else "squared"
    with as_input_error():
        problem = VectorProblem(inputs, targets, network.slope, mode, normal, Decay(hidden, output, of_bias))
    over = f"{asked.reduction} over {points} points" + (f" and {outputs} outputs" if asked.name == "squared" else "")
    formulas = {"squared": "(y − f(x))²", "half-squared": "½‖y − f(x)‖²", "logistic": "cross-entropy"}
    decays = dict.fromkeys(map(value, asked.decay))
    norm = f"½·{next(iter(decays))}·‖θ‖²" if len(decays) == 1 else "½·({}·‖W‖² + {}·‖V‖²)".format(*decays)
    words = f"least {over} of {formulas[asked.name]}, plus {norm}"
    return VectorAsked(problem, scale, words, ()), network


def _bias_mode(network: VectorNetwork, bias: object) -> Bias:
    if bias is not None and bias not in set(Bias):
        raise InputError(f"bias is {bias!r:.60}; it must be one of {', '.join(Bias)}")
    mode = Bias(str(bias)) if bias is not None else Bias.PENALISED if network.bias else Bias.NONE
    if has_bias(mode) is not network.bias:
        raise InputError(
            f"bias is {mode.value}, and the network has {'hidden' if network.bias else 'no hidden'} biases"
        )
    if is_free(mode):
        raise InputError(
            "bias is free: of several outputs hidden biases that count in the norm are decided, as PyTorch's "
            "weight_decay counts them; leave bias out"
        )
    return mode


def _constrained(
    network: VectorNetwork, inputs: Matrix, targets: Matrix, *, are_classes: bool, goal: object, mode: Bias
) -> tuple[VectorAsked, VectorNetwork]:
    """Pairwise margins, or every target met, with the least norm."""
    wanted = ("max-margin" if are_classes else "min-norm") if goal is None else str(goal)
    if wanted not in _WORDS:
        raise InputError(f"goal is {goal!r:.60}; of several outputs it must be max-margin or min-norm")
    name, words = _WORDS[wanted]
    if not are_classes and VECTOR_RULES[name].target_fault(targets[0]):
        raise InputError("goal is max-margin, which needs classes 0, 1, ... as targets")
    notes: tuple[str, ...] = ()
    if network.output_bias is not None:
        if any(network.output_bias):
            raise InputError(
                f"the network has an output bias, which {name} of several outputs has none of: train without it, or "
                "ask for the loss that it was trained for, with its decay"
            )
        network = VectorNetwork(network.slope, network.bias, network.hidden, network.output, None)
        notes = ("the output bias, which is 0, is left out",)
    with as_input_error():
        problem = VectorProblem(inputs, targets, network.slope, mode, name, Decay(Fraction(1), Fraction(1)))
    return VectorAsked(problem, Fraction(1), words, notes), network


_WORDS: Mapping[str, tuple[VectorGoal, str]] = {
    "max-margin": (
        "max-margin",
        "max-margin: least ½‖θ‖² with f_k(x) − f_j(x) ≥ 1, k the class of x, for every other j",
    ),
    "min-norm": ("min-norm", "min-norm: least ½‖θ‖² with f(x) = y"),
}
