"""The problem that a network is judged by: data, architecture, goal, bias mode and trained layers, but no weights.

    max-margin:  min 1/2 ||theta||^2  subject to  y_i f(x_i) >= 1, y_i = ±1        min-norm:  ... f(x_i) = y_i

theta is all parameters (or the hidden ones), without the biases when these are free.

Source: arXiv:1906.05890v4, section 2 (max-margin); MATHEMATICS.md, section 1.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from functools import lru_cache
from operator import mul
from typing import ClassVar, TypeVar, final

from verify.errors import InputError, ShapeError
from verify.exact import (
    array,
    canonical_text,
    common_integers,
    is_exact_input,
    members,
    rational,
    sha256,
    squared_norm,
    texts,
    vector,
    vector_from_json,
)
from verify.network import Architecture, Network

__all__ = ["Bias", "Dataset", "Goal", "Problem", "Trained", "half_squared_norm", "objective", "outputs"]


@final
class Goal(Enum):
    """What is asked of the outputs."""

    MAX_MARGIN = "max-margin"
    MIN_NORM = "min-norm"


@final
class Bias(Enum):
    """Whether the first layer has a bias, and whether it counts in the norm."""

    NONE = "none"
    PENALISED = "penalised"
    FREE = "free"


@final
class Trained(Enum):
    """Which layers are variables."""

    BOTH = "both"
    HIDDEN = "hidden"


@final
@dataclass(frozen=True, slots=True, init=False)
class Dataset:
    """Points x_i, shape (n, d), and targets y_i, length n, from any iterables of numbers.

    is_exact: whether every number was given exactly; a float is kept as its dyadic value.
    """

    inputs: tuple[tuple[Fraction, ...], ...]
    targets: tuple[Fraction, ...]
    is_exact: bool = field(compare=False)

    def __init__(self, inputs: Iterable[Iterable[object]], targets: Iterable[object]) -> None:
        rows = [array(row, f"inputs row {i}") for i, row in enumerate(array(inputs, "inputs"))]
        labels = array(targets, "targets")
        if not rows or not rows[0]:
            raise ShapeError("inputs is empty; give at least one point with at least one coordinate")
        for i, row in enumerate(rows):
            if len(row) != len(rows[0]):
                raise ShapeError(f"inputs row {i} has {len(row)} entries, but row 0 has {len(rows[0])}")
        if len(labels) != len(rows):
            raise ShapeError(f"targets has {len(labels)} entries, but inputs has {len(rows)} rows")
        points = tuple(
            tuple(rational(value, f"inputs row {i}, column {c}") for c, value in enumerate(row))
            for i, row in enumerate(rows)
        )
        object.__setattr__(self, "inputs", points)
        object.__setattr__(self, "targets", vector(labels, "targets"))
        object.__setattr__(self, "is_exact", all(is_exact_input(value) for row in (*rows, labels) for value in row))

    def __len__(self) -> int:
        """The number of points."""
        return len(self.targets)

    @property
    def dimension(self) -> int:
        """The number of coordinates of a point."""
        return len(self.inputs[0])


@final
@dataclass(frozen=True, slots=True)
class Problem:
    """Data, architecture, goal, bias mode and trained layers.

    rows: the lifted points, shape (n, columns): x_i, or x_i with 1 appended when there is a bias.
    """

    SCHEMA: ClassVar = "problem-1"

    data: Dataset
    architecture: Architecture
    goal: Goal = field(kw_only=True)
    bias: Bias = field(kw_only=True)
    trained: Trained = field(default=Trained.BOTH, kw_only=True)
    rows: tuple[tuple[Fraction, ...], ...] = field(init=False, repr=False, compare=False)
    _digest: str = field(init=False, repr=False, compare=False, default="")

    def __post_init__(self) -> None:
        for name, kind in (("goal", Goal), ("bias", Bias), ("trained", Trained)):
            if not isinstance(getattr(self, name), kind):
                raise InputError(f"{name} must be one of {', '.join(f'{kind.__name__}.{m.name}' for m in kind)}")
        if self.data.dimension != self.architecture.inputs:
            raise ShapeError(
                f"the data have {self.data.dimension} columns, but the network takes {self.architecture.inputs} inputs"
            )
        if self.trained is Trained.HIDDEN and self.architecture.depth < 2:
            raise InputError("only hidden layers are trained, but the network has none; take Trained.BOTH")
        if self.architecture.bias is not (self.bias is not Bias.NONE):
            has = "a bias" if self.architecture.bias else "no bias"
            raise InputError(f"the first layer has {has}, which does not go with bias mode {self.bias.value!r}")
        if self.goal is Goal.MAX_MARGIN:
            for i, target in enumerate(self.data.targets):
                if abs(target) != 1:
                    raise InputError(f"targets[{i}] is {target!s:.60}; max-margin needs targets 1 and -1")
        one = () if self.bias is Bias.NONE else (Fraction(1),)
        object.__setattr__(self, "rows", tuple((*x, *one) for x in self.data.inputs))

    def __hash__(self) -> int:
        """Of the digest: hashing every number again would cost more than what is remembered by it."""
        return hash(self.sha256())

    @property
    def norm_columns(self) -> tuple[int, ...]:
        """The columns of the first layer that count in the norm: all, but a free bias."""
        return tuple(range(self.architecture.layers[0].columns - (self.bias is Bias.FREE)))

    @property
    def mask_classes(self) -> tuple[tuple[int, ...], ...]:
        """The distinct sets of columns that neurons of the first layer see, sorted."""
        return self.architecture.mask_classes

    def to_json(self) -> dict[str, object]:
        """The problem in canonical JSON."""
        return {
            "schema": self.SCHEMA,
            "goal": self.goal.value,
            "trained": self.trained.value,
            "bias": self.bias.value,
            "inputs": [texts(x) for x in self.data.inputs],
            "targets": texts(self.data.targets),
            "architecture": self.architecture.to_json(),
        }

    @classmethod
    def from_json(cls, value: object, place: str = "problem") -> "Problem":
        """The problem that canonical JSON describes; InputError names the place of a fault."""
        keys = ("schema", "goal", "trained", "bias", "inputs", "targets", "architecture")
        given = members(value, place, keys)
        if given["schema"] != cls.SCHEMA:
            raise InputError(f"{place}.schema must be {cls.SCHEMA!r}")
        rows = array(given["inputs"], f"{place}.inputs")
        return cls(
            Dataset(
                [vector_from_json(row, f"{place}.inputs[{i}]") for i, row in enumerate(rows)],
                vector_from_json(given["targets"], f"{place}.targets"),
            ),
            Architecture.from_json(given["architecture"], f"{place}.architecture"),
            goal=_choice(Goal, given["goal"], f"{place}.goal"),
            bias=_choice(Bias, given["bias"], f"{place}.bias"),
            trained=_choice(Trained, given["trained"], f"{place}.trained"),
        )

    def canonical_text(self) -> str:
        """The one text that stands for this problem."""
        return canonical_text(self.to_json())

    def sha256(self) -> str:
        """The SHA-256 of the canonical text (computed once)."""
        if not self._digest:
            object.__setattr__(self, "_digest", sha256(self.canonical_text()))
        return self._digest


_E = TypeVar("_E", Goal, Bias, Trained)


def _choice(kind: type[_E], value: object, place: str) -> _E:
    for member in kind:
        if member.value == value:
            return member
    raise InputError(f"{place} is {value!r:.60}; it must be one of {', '.join(member.value for member in kind)}")


@lru_cache(maxsize=2)
def integer_rows(problem: Problem) -> tuple[tuple[list[int], int], ...]:
    """Each lifted row as integers over its own least denominator."""
    cleared = (common_integers([row]) for row in problem.rows)
    return tuple((integers[0], denominator) for integers, denominator in cleared)


def outputs(problem: Problem, network: Network) -> list[Fraction]:
    """f(x_i) for every point, exactly, at any depth."""
    return list(_outputs(problem, network))


@lru_cache(maxsize=8)
def _outputs(problem: Problem, network: Network) -> tuple[Fraction, ...]:
    """In integers: f is homogeneous of degree 1 in the lifted row and in each layer.

    Each row of numbers is cleared of its own denominator, and what was multiplied out of a neuron is divided out of
    the column that reads it.
    """
    layers, scale = _integer_layers(network)
    if len(problem.rows[0]) != network.architecture.layers[0].columns:
        raise ShapeError(f"the rows have {len(problem.rows[0])} columns, which the network does not take")
    values: list[Fraction] = []
    for row, denominator in integer_rows(problem):
        state = row
        for matrix, slope in layers:
            state = [sum(map(mul, weights, state)) for weights in matrix]
            if slope is not None:
                on, off = slope.denominator, slope.numerator
                state = [z * on if z > 0 else z * off for z in state]
        values.append(Fraction(state[0], scale * denominator))
    return tuple(values)


def _integer_layers(network: Network) -> tuple[list[tuple[list[list[int]], Fraction | None]], int]:
    layers: list[tuple[list[list[int]], Fraction | None]] = []
    scales = [1] * network.architecture.layers[0].columns
    for layer, parameters in zip(network.architecture.layers, network.parameters, strict=True):
        rows = layer.matrix(parameters)
        cleared = [common_integers([[weight / s for weight, s in zip(row, scales, strict=True)]]) for row in rows]
        layers.append(([integers[0] for integers, _ in cleared], layer.slope))
        unit = 1 if layer.slope is None else layer.slope.denominator
        scales = [denominator * unit for _, denominator in cleared]
    return layers, scales[0]


def half_squared_norm(problem: Problem, network: Network) -> Fraction:
    """1/2 ||theta||^2: each trained parameter once, a free bias not at all."""
    first, *rest = network.parameters
    layer = network.architecture.layers[0]
    if problem.bias is Bias.FREE:
        biases = {row[-1] for row in layer.places}
        first = [weight for index, weight in enumerate(first) if index not in biases]
    counted = [first, *rest] if problem.trained is Trained.BOTH else [first, *rest[:-1]]
    return squared_norm(weight for weights in counted for weight in weights) / 2


@lru_cache(maxsize=8)
def objective(problem: Problem, network: Network) -> Fraction | None:
    """The objective of the feasible network that `network` stands for; None when it does not fit.

    max-margin: 1/2 ||theta||^2 / m^(2/L) with the least margin m = min y_i f(x_i) > 0, L trained layers: the value of
    the network scaled to margin 1. None also when that is not rational (L >= 3).
    min-norm: 1/2 ||theta||^2 when f(x_i) = y_i for all i.
    """
    values = outputs(problem, network)
    if problem.goal is Goal.MIN_NORM:
        return half_squared_norm(problem, network) if tuple(values) == problem.data.targets else None
    margin = min(value if target > 0 else -value for target, value in zip(problem.data.targets, values, strict=True))
    degree = network.depth - (problem.trained is Trained.HIDDEN)
    if margin <= 0 or degree not in (1, 2):
        return None
    return half_squared_norm(problem, network) / margin ** (2 // degree)
