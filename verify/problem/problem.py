"""Problems as users pose them: data of any kind with an architecture, a goal, a bias mode and the trained layers."""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from typing import cast, final

from verify.checker import statement
from verify.checker.codec import reader
from verify.checker.depth import powered
from verify.checker.errors import CertificateError, InputError, ShapeError
from verify.checker.goals import rules
from verify.checker.objectives import Decay, Objective, PointLoss
from verify.checker.statement import Bias, Goal, Trained, half_squared_norm, objective
from verify.numbers.arguments import instance_of
from verify.numbers.counts import count
from verify.numbers.decimals import allowed
from verify.numbers.decimals import value as shown_value
from verify.numbers.values import array, as_input_error, is_exact_input, line, rational, vector
from verify.problem.members import goal_name, goal_words, has_bias, trains_all
from verify.problem.network import Architecture
from verify.surroundings import Surroundings

__all__ = [
    "Bias",
    "Dataset",
    "Decay",
    "Goal",
    "Objective",
    "PointLoss",
    "Problem",
    "Trained",
    "half_squared_norm",
    "objective",
    "outputs",
    "power_of_objective",
]


@final
@dataclass(frozen=True, slots=True, init=False)
class Dataset:
    """Points x_i, shape (n, d), and targets y_i, length n, from lists, arrays, tensors or tables of numbers.

    is_exact: whether every number was given exactly; a float is kept as its dyadic value.
    notes: what a reader chose on the way, a sentence each; a report says it.
    surroundings: what was done to the points and targets since they were read, and their names; None for nothing.
    """

    inputs: tuple[tuple[Fraction, ...], ...]
    targets: tuple[Fraction, ...]
    is_exact: bool = field(compare=False)
    notes: tuple[str, ...] = field(compare=False)
    surroundings: Surroundings | None = field(compare=False)

    def __init__(self, inputs: object, targets: object, *, notes: Iterable[str] = ()) -> None:
        rows = [array(row, f"inputs row {i}") for i, row in enumerate(array(inputs, "inputs"))]
        labels = line(targets, "targets")
        if not rows or not rows[0]:
            raise ShapeError("inputs is empty; give at least one point with at least one coordinate")
        for i, row in enumerate(rows):
            if len(row) != len(rows[0]):
                raise ShapeError(
                    f"inputs row {i} has {count(len(row), 'entry', 'entries')}, but row 0 has {len(rows[0])}"
                )
        if len(labels) != len(rows):
            found = count(len(labels), "entry", "entries")
            raise ShapeError(f"targets has {found}, but inputs has {count(len(rows), 'row')}")
        for i, label in enumerate(labels):
            if _is_label(label):
                raise InputError(
                    f"targets[{i}] is {label!r:.60}, the name of a class and no number: say which class is negative "
                    "and which positive, with read_data((X, y), classes=(negative, positive)) of verify.readers"
                )
        points = tuple(
            tuple(rational(value, f"inputs row {i}, column {c}") for c, value in enumerate(row))
            for i, row in enumerate(rows)
        )
        object.__setattr__(self, "inputs", points)
        object.__setattr__(self, "targets", vector(labels, "targets"))
        object.__setattr__(self, "notes", tuple(notes))
        object.__setattr__(self, "surroundings", None)
        object.__setattr__(self, "is_exact", all(is_exact_input(value) for row in (*rows, labels) for value in row))

    def __len__(self) -> int:
        """The number of points."""
        return len(self.targets)

    def __repr__(self) -> str:
        return f"<Dataset: {count(len(self), 'point')} in dimension {self.dimension}>"

    @property
    def dimension(self) -> int:
        """The number of coordinates of a point."""
        return len(self.inputs[0])

    def noted(self, notes: Iterable[str]) -> Dataset:
        """The same data with these notes as well."""
        found = copy(self)
        object.__setattr__(found, "notes", tuple(dict.fromkeys((*self.notes, *notes))))
        return found

    def placed(self, surroundings: Surroundings | None) -> Dataset:
        """The same data with these surroundings."""
        found = copy(self)
        object.__setattr__(found, "surroundings", surroundings)
        return found

    def mapped(
        self, *, inputs: Iterable[Iterable[object]] | None = None, targets: Iterable[object] | None = None
    ) -> Dataset:
        """Data computed from these, with other points or targets; as exact as these are."""
        found = Dataset(
            self.inputs if inputs is None else inputs, self.targets if targets is None else targets, notes=self.notes
        )
        object.__setattr__(found, "is_exact", self.is_exact and found.is_exact)
        return found.placed(self.surroundings)


def _is_label(value: object) -> bool:
    """Whether a target is text that is no number, or a truth value, as labels of classes are."""
    if not isinstance(value, str | bytes):
        return type(value).__name__ in ("bool", "bool_")
    try:
        float(value)
    except ValueError:
        text = value if isinstance(value, str) else value.decode("latin-1")
        return any(map(str.isalpha, text))
    return False


@final
class Problem(statement.Problem):
    """Data, architecture, goal, bias mode and trained layers; the record that is checked."""

    architecture: Architecture

    def __init__(
        self, data: Dataset, architecture: statement.Architecture, *, goal: Goal | Objective, bias: Bias,
        trained: Trained = Trained.BOTH, fit_tolerance: object = 0, output_weights: object = None,
        output_bias: Bias = Bias.NONE,
    ) -> None:  # fmt: skip
        """output_weights: one for each neuron of two layers of which only the hidden one is trained, in their order.

        output_bias: whether networks that are to fit may have one, of two layers; that of a loss is in its decay.
        """
        instance_of(Dataset, data, "data", "give a Dataset, such as Dataset(X, y)")
        instance_of(
            statement.Architecture, architecture, "architecture", "give an Architecture, such as network.architecture"
        )
        shape = architecture if isinstance(architecture, Architecture) else Architecture(architecture.layers)
        biases = ("bias", bias, Bias), ("output_bias", output_bias, Bias)
        members = (("goal", goal, Goal), *biases, ("trained", trained, Trained))
        for name, value, kind in members[isinstance(goal, Objective) :]:
            if not isinstance(cast("Enum", value), kind):
                raise InputError(f"{name} must be one of {', '.join(f'{kind.__name__}.{m.name}' for m in kind)}")
        if data.dimension != shape.inputs:
            taken = count(shape.inputs, "input")
            raise ShapeError(
                f"the data have {count(data.dimension, 'column')}, but the network takes {taken}: give the columns "
                "that it was trained on"
            )
        if shape.bias is not has_bias(bias):
            has = "a bias" if shape.bias else "no bias"
            raise InputError(f"the first layer has {has}, which does not go with bias mode {bias.value!r}")
        for i, target in enumerate(data.targets):
            if rules(goal).target_fault(target):
                other = (
                    "ask for min-norm, which fits numbers" if isinstance(goal, Goal) else "ask for a loss of numbers"
                )
                wanted = f"{goal_name(goal)} needs targets {goal_words(goal).targets}"
                raise InputError(
                    f"targets[{i}] is {shown_value(target)}; {wanted}: "
                    "name the two classes (--classes NEGATIVE,POSITIVE, in Python classes=(negative, positive)), or "
                    f"{other}"
                )
        if isinstance(goal, Objective):
            _require_two_layers(shape, trained, "a loss with weight decay")
        elif has_bias(output_bias, "output_bias"):
            _require_two_layers(shape, trained, "an output bias")
        tolerance = _fit_tolerance(fit_tolerance, goal)
        outgoing = None if output_weights is None else vector(output_weights, "output_weights")
        with as_input_error():
            super().__init__(data.inputs, data.targets, shape, goal, bias, trained, tolerance, outgoing, output_bias)
        self.__dict__["_data"] = data

    def __repr__(self) -> str:
        points = f"{count(len(self.data), 'point')} in dimension {self.data.dimension}"
        within = f" within {allowed(self.fit_tolerance)}" if self.fit_tolerance else ""
        return (
            f"<Problem: {goal_name(self.goal)}{within} on {points}, bias {self.bias.value}, {self.architecture!r:.200}>"
        )

    @property
    def data(self) -> Dataset:
        """The points and targets."""
        return self.__dict__["_data"]

    @property
    def mask_classes(self) -> tuple[tuple[int, ...], ...]:
        """The distinct sets of columns that neurons of the first layer see, sorted."""
        return self.architecture.mask_classes

    @classmethod
    def from_json(cls, value: object, place: str = "problem") -> Problem:
        """The problem that canonical JSON describes; InputError names the place of a fault."""
        with as_input_error(place, value):
            found: statement.Problem = reader(statement.Problem)(value)
        return cls(
            Dataset(found.inputs, found.targets),
            found.architecture,
            goal=found.goal,
            bias=found.bias,
            trained=found.trained,
            fit_tolerance=found.fit_tolerance,
            output_weights=found.output_weights,
            output_bias=found.output_bias,
        )

    def posed_on(
        self, data: Dataset, *, architecture: statement.Architecture | None = None, output_weights: object = None
    ) -> Problem:
        """The same question about other data, and networks of another shape when one is given.

        output_weights: of that shape, where this problem states those of its own; without them it is another question.
        """
        is_same = architecture is None
        return Problem(
            data,
            self.architecture if architecture is None else architecture,
            goal=self.goal,
            bias=self.bias,
            trained=self.trained,
            fit_tolerance=self.fit_tolerance,
            output_weights=self.output_weights if is_same else output_weights,
            output_bias=self.output_bias,
        )

    def within(self, fit_tolerance: object) -> Problem:
        """The same data and question with another fit tolerance; the numbers, read once, are not read again."""
        other = object.__new__(Problem)
        shared = (*self.__dataclass_fields__, "rows", "points", "_data")
        other.__dict__.update((name, self.__dict__[name]) for name in shared if name in self.__dict__)
        other.__dict__["fit_tolerance"] = _fit_tolerance(fit_tolerance, self.goal)
        return other


def _require_two_layers(shape: Architecture, trained: Trained, what: str) -> None:
    """What a loss with weight decay, or an output bias, is asked of."""
    limits = shape.limits()
    if limits is not None:
        raise InputError(f"{what} is asked of two layers without sharing only: {limits}")
    if not trains_all(trained):
        raise InputError(f"{what} is asked of networks of which both layers are trained: leave trained out")


def _fit_tolerance(value: object, goal: Goal | Objective) -> Fraction:
    tolerance = rational(value, "fit_tolerance")
    if rules(goal).tolerance_fault(tolerance):
        why = f"{goal_name(goal)} has none: leave it out, or fit by min-norm"
        why = "it must be at least 0" if tolerance < 0 else why
        raise InputError(f"fit_tolerance is {tolerance!s:.60}; {why}")
    return tolerance


def outputs(problem: statement.Problem, network: statement.Network) -> list[Fraction]:
    """f(x_i) for every point, exactly, at any depth."""
    return list(statement.outputs(problem, network))


def power_of_objective(problem: statement.Problem, network: statement.Network) -> tuple[Fraction, Fraction] | None:
    """(a, b), the objective to the power m, the number of layers, being a / b; None for a network that does not fit."""
    try:
        return powered(problem, network)
    except CertificateError:
        return None
