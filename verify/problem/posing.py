"""The problem that a network and data stand for, and what a user has to know about how they were read."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from operator import mul
from typing import TypeVar, cast

from verify.checker.errors import InputError
from verify.checker.goals import least_norm
from verify.checker.objectives import Objective
from verify.numbers.arguments import a_decimal, instance_of, is_decimal, wrong
from verify.numbers.counts import count
from verify.numbers.decimals import about, value
from verify.numbers.floats import to_float
from verify.numbers.values import rational
from verify.problem.members import has_bias, has_labels, has_margin, trains_all
from verify.problem.network import Network
from verify.problem.phrases import SECOND_MINUS_FIRST
from verify.problem.problem import Bias, Dataset, Goal, Problem, Trained, outputs

__all__ = ["exchanged_classes", "pose", "regression_note", "stated_outputs", "transposed_weights", "two_labels"]

MOST_CLASSES = 10
"""Targets of at most so many integers, each met twice on average, may be labels of classes."""

CLEARLY = 100
"""By how much smaller residuals must be for W to have been transposed."""

MOSTLY = Fraction(9, 10)
"""The share of points on the wrong side from which the classes may have been exchanged."""


LABELS_0_AND_1 = "labels 0 and 1 were read as -1 and 1"

ONLY_LABEL_0 = "the label 0 was read as -1"
"""What is said of targets that are all 0, which are a class only where a margin is asked for."""


def pose(
    network: Network,
    data: Dataset | tuple[Iterable[Iterable[object]], Iterable[object]],
    *,
    goal: Goal | Objective | str | None = None,
    bias: Bias | str | None = None,
    trained: Trained | str = Trained.BOTH,
    fit_tol: object = None,
    output_bias: Bias | str = Bias.NONE,
    notes: list[str] | None = None,
) -> Problem:
    """The problem that a network and data stand for; what was chosen for the user is appended to `notes`.

    fit_tol: min-norm fits every target within this; None: exactly.
    output_bias: whether the networks compared may have one, and whether it counts; that of a loss is in its decay.
    goal: also a loss with weight decay, as an `Objective`.
    """
    said = notes if notes is not None else []
    instance_of(
        Network, network, "network", "read it first, as in audit(read(model), data), or build it with Network.two_layer"
    )
    dataset = data if isinstance(data, Dataset) else _pair(data)
    labels = set(dataset.targets)
    chosen = goal if isinstance(goal, Objective) or goal is None else named(Goal, goal, "goal")
    binary = labels <= {Fraction(0), Fraction(1)}
    if chosen is None:
        chosen = _chosen(network, dataset, said)
    if has_labels(chosen) and Fraction(0) in labels and binary:
        signs = [1 if y else -1 for y in dataset.targets]
        dataset = Dataset(dataset.inputs, signs).placed(dataset.surroundings)
        said.append(LABELS_0_AND_1 if len(labels) == 2 else ONLY_LABEL_0)
    if bias is None:
        mode = Bias.PENALISED if network.architecture.bias else Bias.NONE
    else:
        mode = named(Bias, bias, "bias")
    if network.architecture.bias and bias is None:
        said.append("hidden biases count in the norm (bias: penalised)")
    layers = named(Trained, trained, "trained")
    of_output = named(Bias, output_bias, "output_bias")
    _check_output_bias(network, chosen, of_output, said)
    within = Fraction(0) if fit_tol is None else a_fit_tolerance(fit_tol, chosen)
    return Problem(
        dataset,
        network.architecture,
        goal=chosen,
        bias=mode,
        trained=layers,
        fit_tolerance=within,
        output_weights=stated_outputs(network, layers),
        output_bias=of_output,
    )


def _check_output_bias(network: Network, goal: Goal | Objective, mode: Bias, said: list[str]) -> None:
    """Refuse an output bias where the question has none, and say what becomes of one."""
    if isinstance(goal, Objective) and has_bias(mode):
        raise InputError("output_bias is given, and a loss has it in its decay: leave it out")
    if len(network.parameters) == len(network.architecture.layers):
        return
    of_bias = goal.decay.output_bias if isinstance(goal, Objective) else least_norm(mode).output_bias
    if of_bias is None:
        name = "this objective" if isinstance(goal, Objective) else goal.value
        raise InputError(
            f"the network has an output bias, and {name} has none: ask for a loss with weight decay (--loss, --decay), "
            "or say whether it counts (--output-bias free or penalised), or give its arrays or its file, rather than a "
            "Network that is built, with --output-bias neuron, which turns it into a hidden neuron"
        )
    if isinstance(goal, Objective):
        said.append(f"the output bias b has {f'the decay {value(of_bias)}' if of_bias else 'no decay'}")
    else:
        said.append(f"the output bias b {'counts' if of_bias else 'does not count'} in the norm ({mode.value})")


def _chosen(network: Network, dataset: Dataset, said: list[str]) -> Goal:
    """The goal that the targets suggest; what is to be known of the choice is appended to `said`."""
    labels = set(dataset.targets)
    is_binary = labels <= {Fraction(0), Fraction(1)} or labels <= {Fraction(-1), Fraction(1)}
    chosen = Goal.MAX_MARGIN if is_binary else Goal.MIN_NORM
    kind = "labels" if has_margin(chosen) else "targets"
    said.append(f"the goal is {chosen.value}, chosen from the {kind}")
    if not has_margin(chosen):
        said += filter(None, (regression_note(dataset, network.notes),))
    if has_margin(chosen) and len(labels) == 1:
        said.append(_one_class(dataset))
    return chosen


def stated_outputs(network: Network, trained: Trained) -> tuple[Fraction, ...] | None:
    """The output weights that belong to the question where they are not trained, of two layers."""
    is_stated = not trains_all(trained) and network.architecture.limits() is None
    return network.output_weights if is_stated else None


def a_fit_tolerance(value: object, goal: Goal | Objective) -> Fraction:
    """The tolerance that a user gives for the targets, exactly."""
    if isinstance(goal, Objective):
        raise InputError("fit_tol is given, but a loss meets no targets: leave it out")
    if has_margin(goal):
        raise InputError(
            f"fit_tol is given, but {goal.value} asks for a margin and meets no targets: leave it out, or ask for "
            "min-norm, which fits the labels as numbers"
        )
    if isinstance(value, str) and is_decimal(value):
        value = a_decimal(value, "fit_tol")
    tolerance = rational(value, "fit_tol")
    if tolerance < 0:
        raise InputError(f"fit_tol is {tolerance!s:.60}; it must be at least 0, in the units of the targets")
    return tolerance


def _pair(data: object) -> Dataset:
    if isinstance(data, tuple | list) and len(cast("tuple[object, ...]", data)) == 2:
        return Dataset(*cast("tuple[Iterable[Iterable[object]], Iterable[object]]", data))
    remedy = "give a Dataset or the pair (X, y) of points and targets; read_data of verify.readers reads files"
    if isinstance(data, tuple | list):
        raise InputError(f"data has {count(len(cast('list[object]', data)), 'entry', 'entries')}: {remedy}")
    raise wrong(data, "data", remedy)


def _like_classes(targets: tuple[Fraction, ...]) -> list[Fraction]:
    """The distinct targets, when they look like the labels of classes: two numbers or a few integers, often."""
    values = sorted(set(targets))
    is_few = 2 <= len(values) <= MOST_CLASSES and 2 * len(values) <= len(targets)
    return values if is_few and (len(values) == 2 or all(value.denominator == 1 for value in values)) else []


def two_labels(data: Dataset) -> tuple[str, str] | None:
    """The two values of targets that look like labels of classes, as `--classes` takes them."""
    values = _like_classes(data.targets)
    return (_label(values[0]), _label(values[1])) if len(values) == 2 else None


def _label(value: Fraction) -> str:
    """The number as text that means the same double."""
    return str(value) if value.denominator == 1 else repr(to_float(value))


def _one_class(data: Dataset) -> str:
    label, classes = data.targets[0], None if data.surroundings is None else data.surroundings.classes
    named = f"{label}" if classes is None else f"{classes[label > 0]!s:.40}, read as {-1 if label <= 0 else 1}"
    return (
        f"all labels are {named}: there is one class of two, and all that is asked is the same sign at every point; to "
        "fit the numbers themselves (regression), give --goal min-norm (in Python goal='min-norm')"
    )


def regression_note(data: Dataset, notes: Iterable[str] = (), call: str = "audit") -> str | None:
    """What is said of a regression, chosen from the targets, that may have been meant as a classifier.

    notes: of the network.   call: the function of Python that the classes can be named to.
    """
    values = _like_classes(data.targets)
    is_difference = any(SECOND_MINUS_FIRST in note for note in notes)
    if not values and not is_difference:
        return None
    labels = two_labels(data)
    kept = "" if labels or not values else "keep the points of two classes and "
    named, written = ",".join(labels or ("NEGATIVE", "POSITIVE")), ", ".join(labels or ("negative", "positive"))
    remedy = f"{kept}give --classes {named} (in Python {call}(..., classes=({written})))"
    if is_difference:
        what = (
            "two outputs, one for each class, have a difference that was not trained to meet numbers, and the targets"
        )
        return f"{what} are read as numbers to fit (regression): {remedy}"
    shown = f"{', '.join(map(_label, values[:-1]))} and {_label(values[-1])}"
    return (
        f"the targets have {len(values)} values ({shown}), which are read as numbers to fit (regression); for a "
        f"classifier {remedy}"
    )


def exchanged_classes(problem: Problem, network: Network) -> str | None:
    """A note when all or nearly all points are on the wrong side, as when the classes were given in the other order."""
    if not problem.asks_fit or not has_margin(problem.goal):
        return None
    margins = list(map(mul, problem.data.targets, outputs(problem, network)))
    wrong_side = sum(margin < 0 for margin in margins)
    if wrong_side < MOSTLY * len(margins):
        return None
    every = wrong_side == len(margins)
    found = "every point is" if every else f"{wrong_side} of {len(margins)} points are"
    what = "it fits when the classes are exchanged" if every else "the classes may have been exchanged"
    around = problem.data.surroundings
    if around is not None and around.classes is not None:
        negative, positive = around.classes
        how = f"{positive!s:.40},{negative!s:.40} (in Python classes=({_written(positive)}, {_written(negative)}))"
    else:
        how = "1,-1 for the labels -1 and 1, or 1,0 for 0 and 1 (in Python classes=(1, -1) or classes=(1, 0))"
    return f"{found} on the wrong side of the network, so {what}: give --classes {how}"


def _written(label: object) -> str:
    """A label as it is written in Python."""
    return repr(str(label)) if isinstance(label, str) else str(label)


def transposed_weights(problem: Problem, network: Network) -> str | None:
    """A note when a square W does not fit the data and its transpose does, or nearly does."""
    shape = network.architecture
    if not shape.is_two_layer or shape.inputs != shape.width or any(layer.entries for layer in shape.layers):
        return None
    rows = [row[: shape.inputs] for row in network.hidden_weights]
    b = [row[-1] for row in network.hidden_weights] if shape.bias else None
    turned = Network.two_layer(list(zip(*rows, strict=True)), network.output_weights, b=b, slope=shape.slope)
    own, other = outputs(problem, network), outputs(problem, turned)
    if has_margin(problem.goal):
        is_mended = min(map(mul, problem.data.targets, other)) > 0 >= min(map(mul, problem.data.targets, own))
        what = "every point is on its side"
    else:
        missed, left = (
            max(abs(f - y) for f, y in zip(found, problem.data.targets, strict=True)) for found in (own, other)
        )
        is_mended = missed > problem.fit_tolerance and left * CLEARLY <= missed
        what = f"the largest residual is {about(left, 3)} rather than {about(missed, 3)}"
    if not is_mended:
        return None
    return (
        f"W is square, and with its transpose {what}: if it was stored as (inputs, neurons), as Keras, Flax and "
        "scikit-learn do, give W.T"
    )


_E = TypeVar("_E", Goal, Bias, Trained)


def named(kind: type[_E], value: _E | str, name: str) -> _E:
    """The member that is given, or whose value is the text. Raises InputError."""
    if isinstance(value, kind):
        return value
    for member in kind:
        if isinstance(value, str) and member.value == value:
            return member
    raise InputError(f"{name} is {value!r:.60}; it must be one of {', '.join(member.value for member in kind)}")
