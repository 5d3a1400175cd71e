"""What a certificate is about: a problem, and a network with its exact parameters.

    f(x) = A_m s_(m-1)(A_(m-1) ... s_1(A_1 x)),   s_l(z) = max(z, a_l z) entry by entry, 0 <= a_l <= 1 (0 for ReLU)

A bias is the last column of A_1, met by a coordinate 1 appended to x.

    max-margin:  min 1/2 ||theta||^2  subject to  y_i f(x_i) >= 1, y_i = ±1        min-norm:  ... |f(x_i) - y_i| <= eps

eps = 0, interpolation, unless the problem states a fit tolerance. Or, without constraints, a loss with weight decay:

    min sum_i l(y_i, f(x_i)) + 1/2 (mu_w ||W||^2 + mu_v ||v||^2)        (`verify.checker.objectives`)

Any of them may be asked of networks with an output bias, f(x) + b, of two layers that are both trained: a loss has a
decay for it, and in ||theta|| it counts, or is free.

theta is all parameters (or the hidden ones), without the biases when these are free. Where only the hidden layer of two
is trained the output weights are data: a problem that states them is asked everything, others only whether it fits.

Source: arXiv:1906.05890v4, section 2 (max-margin); `docs/mathematics.md`, 2.2 "Max-margin and min-norm".
"""

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import chain
from typing import Annotated, TypeAlias

from verify.checker.codec import Record, not_negative, positive
from verify.checker.errors import ShapeError, require
from verify.checker.exact import Number, common_integers, squared_norm
from verify.checker.goals import (
    Bias,
    Goal,
    Trained,
    has_bias,
    is_free,
    least_norm,
    rules,
    trained_layers,
    trains_outputs,
)
from verify.checker.objectives import Decay, Objective
from verify.checker.products import products

MAX_WEIGHTS = 10**7
"""The most weights of a layer: a few characters must not stand for more than memory holds."""

Index: TypeAlias = Annotated[int, not_negative]
Neuron: TypeAlias = tuple[tuple[int, ...], Number | None]
Natural: TypeAlias = Annotated[int, positive]
Rows: TypeAlias = tuple[tuple[Number, ...], ...]


class Layer(Record):
    """One linear map and the activation after it.

    slope: a in [0, 1], None for the output layer.   bias: whether a last column stands for the bias.
    entries: shape (outputs, inputs + bias), the index of the parameter at each place, None where there is no weight.
    Two places with one index share it; the indices are 0, 1, 2, ... without gaps. `entries=None` is dense, row by row.
    """

    inputs: Natural
    outputs: Natural
    slope: Fraction | None
    bias: bool = False
    entries: tuple[tuple[Index | None, ...], ...] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self.outputs * self.columns <= MAX_WEIGHTS, "outputs", f"make more than {MAX_WEIGHTS} weights")
        require(0 <= (self.slope or 0) <= 1, "slope", "must lie between 0 (ReLU) and 1 (linear)")
        if self.entries is not None:
            is_matrix = [len(row) for row in self.entries] == [self.columns] * self.outputs
            require(is_matrix, "entries", f"must have {self.outputs} rows of {self.columns}")
            is_whole = {*self._used} == {*range(self.parameter_count)}
            require(is_whole, "entries", "must be indices 0, 1, 2, ... without gaps, None where there is no weight")
            if self._used == [*range(self.outputs * self.columns)]:
                object.__setattr__(self, "entries", None)

    @property
    def columns(self) -> int:
        """The number of columns of the weight matrix, the bias included."""
        return self.inputs + self.bias

    @property
    def places(self) -> Sequence[Sequence[int | None]]:
        """The entries, also of a dense layer."""
        dense = [range(r * self.columns, (r + 1) * self.columns) for r in range(self.outputs)]
        return dense if self.entries is None else self.entries

    @cached_property
    def _used(self) -> list[int]:
        return [index for index in chain(*self.entries or ()) if index is not None]

    @property
    def parameter_count(self) -> int:
        """The number of parameters, each shared one counted once."""
        return self.outputs * self.columns if self.entries is None else len({*self._used})

    @property
    def has_sharing(self) -> bool:
        """Whether two places hold one parameter."""
        return len(self._used) > len({*self._used})

    @cached_property
    def most_places(self) -> int:
        """At how many places the parameter stands that stands at the most; 1 where none is shared."""
        return max(Counter(self._used).values(), default=1)

    def matrix(self, parameters: Sequence[Fraction]) -> Rows:
        """The weight matrix, shape (outputs, columns), with 0 where there is no weight."""
        return tuple(tuple(Fraction(0) if i is None else parameters[i] for i in row) for row in self.places)


class Architecture(Record):
    """The layers of a network, from the input to the one output; at least one, and only the last without activation."""

    layers: tuple[Layer, ...]

    def __post_init__(self) -> None:
        super().__post_init__()
        require(len(self.layers) > 0, "layers", "must be at least one")
        rest = self.layers[1:]
        is_chain = [layer.outputs for layer in self.layers] == [*(layer.inputs for layer in rest), 1]
        require(
            is_chain, "layers", "must each take as many inputs as the one before has outputs, and end in one output"
        )
        is_active = [layer.slope is None for layer in self.layers] == [*(False for _ in rest), True]
        require(is_active, "layers", "must each have the slope of its activation (0 ReLU, 1 for none), but the last")
        require(not any(layer.bias for layer in rest), "layers", "may have a bias in the first only (homogeneity)")

    @property
    def slope(self) -> Fraction:
        """The slope of the first activation (1 for depth 1, which has none)."""
        return Fraction(1) if self.layers[0].slope is None else self.layers[0].slope

    @cached_property
    def masks(self) -> tuple[tuple[int, ...], ...]:
        """The columns that each neuron of the first layer sees, increasing."""
        first = self.layers[0]
        if first.entries is None:
            return (tuple(range(first.columns)),) * first.outputs
        return tuple(tuple(c for c, i in enumerate(row) if i is not None) for row in first.entries)

    @property
    def mask_classes(self) -> tuple[tuple[int, ...], ...]:
        """The distinct masks, sorted."""
        return tuple(sorted(set(self.masks)))

    @property
    def is_two_layer(self) -> bool:
        """Whether this is depth 2 without sharing, the output layer dense: what more than "does it fit" is asked of."""
        return len(self.layers) == 2 and self.layers[1].entries is None and not self.layers[0].has_sharing


class Network(Record):
    """An architecture with its exact parameters: for each layer as many numbers as it has parameters; of two layers
    there may be one more list, of one number: the output bias.
    """

    SCHEMA = "network-1"

    architecture: Architecture
    parameters: Rows

    def __post_init__(self) -> None:
        super().__post_init__()
        counts = [layer.parameter_count for layer in self.architecture.layers]
        found = [len(numbers) for numbers in self.parameters]
        found = found[:2] if len(counts) == 2 and found[2:] == [1] else found
        require(found == counts, "parameters", f"must be {', '.join(map(str, counts))} numbers, as the layers need")

    @cached_property
    def hidden_weights(self) -> Rows:
        """The rows of the first layer, the bias in the last column, 0 where a mask hides the column."""
        return self.architecture.layers[0].matrix(self.parameters[0])

    @property
    def output_weights(self) -> tuple[Fraction, ...]:
        """The row of the last layer."""
        return self.architecture.layers[-1].matrix(self.parameters[len(self.architecture.layers) - 1])[0]

    @property
    def output_bias(self) -> Fraction:
        """What is added to the output; 0 where there is none."""
        return self.parameters[-1][0] if len(self.parameters) > len(self.architecture.layers) else Fraction(0)


class Problem(Record):
    """Data, architecture, goal, bias mode and trained layers, but no weights.

    inputs: the points x_i, shape (n, d).   targets: y_i, length n.
    fit_tolerance: eps >= 0, 0 for max-margin: every network with |f(x_i) - y_i| <= eps at all points fits.
    output_weights: v_j, one for each neuron, of two layers of which only the hidden one is trained; None: not stated.
    goal: an objective is of two layers without sharing, both trained.
    output_bias: whether a network that is to fit may have one, of two layers as well; that of a loss is in its decay.
    """

    SCHEMA = "problem-1"
    OMITTED = ("fit_tolerance", "output_weights", "output_bias")

    inputs: tuple[tuple[Fraction, ...], ...]
    targets: tuple[Fraction, ...]
    architecture: Architecture
    goal: Goal | Objective
    bias: Bias
    trained: Trained
    fit_tolerance: Annotated[Fraction, not_negative] = Fraction(0)
    output_weights: tuple[Fraction, ...] | None = None
    output_bias: Bias = Bias.NONE

    def __post_init__(self) -> None:
        super().__post_init__()
        first, layers, goal = self.architecture.layers[0], len(self.architecture.layers), rules(self.goal)
        require(len(self.inputs) == len(self.targets) > 0, "targets", "must be one for each point, at least one")
        for i, (x, y) in enumerate(zip(self.inputs, self.targets, strict=True)):
            require(len(x) == first.inputs, f"inputs[{i}]", f"must have {first.inputs} entries, as the network takes")
            fault = goal.target_fault(y)
            require(fault == "", f"targets[{i}]", fault)
        require(trained_layers(self.trained, layers) > 0, "trained", "is hidden layers, of which there are none")
        require(first.bias is has_bias(self.bias), "bias", "does not go with the first layer")
        fault = goal.tolerance_fault(self.fit_tolerance)
        require(fault == "", "fit_tolerance", fault)
        is_whole = self.architecture.is_two_layer and trains_outputs(self.trained)
        require(is_whole or self.asks_fit, "goal", "a loss is asked of two layers without sharing, both trained")
        is_asked = self.asks_fit and is_whole
        reason = "is one of two layers without sharing, both trained, and of a loss it is in the decay"
        require(is_asked or not has_bias(self.output_bias, "output_bias"), "output_bias", reason)
        if self.output_weights is not None:
            is_fixed = self.architecture.is_two_layer and not trains_outputs(self.trained)
            is_fixed = is_fixed and len(self.output_weights) == first.outputs
            require(
                is_fixed, "output_weights", "must be one for each neuron of two layers, only the hidden one trained"
            )

    @cached_property
    def rows(self) -> Rows:
        """The lifted points, shape (n, columns): x_i, or x_i with 1 appended when there is a bias."""
        return tuple((*x, Fraction(1)) for x in self.inputs) if has_bias(self.bias) else self.inputs

    @cached_property
    def points(self) -> "Points":
        """The same in integers."""
        return Points(self.rows)

    @property
    def is_decided(self) -> bool:
        """Whether more than "does it fit" is asked: of depth 2 without sharing, what is not trained stated."""
        is_stated = trains_outputs(self.trained) or self.output_weights is not None
        return self.architecture.is_two_layer and is_stated

    @property
    def asks_fit(self) -> bool:
        """Whether it is asked if a network fits: not where a loss is traded for weight decay, and none is left out."""
        return not isinstance(self.goal, Objective)

    @property
    def decay(self) -> Decay:
        """What each squared norm is multiplied by: 1 without a loss, where 1/2 ||theta||^2 is asked."""
        norm = least_norm(self.output_bias)  # refuses what is none of the members beside a loss as well
        return self.goal.decay if isinstance(self.goal, Objective) else norm

    @property
    def has_output_bias(self) -> bool:
        """Whether networks may have an output bias."""
        return self.decay.output_bias is not None

    @property
    def asks_any_width(self) -> bool:
        """Whether networks of other widths are compared: not with given output weights, of which others have more."""
        return self.output_weights is None

    @cached_property
    def neurons(self) -> tuple[Neuron, ...]:
        """What is given of each neuron: the columns that it sees, and its output weight where that is stated."""
        masks = self.architecture.masks
        return tuple(zip(masks, self.output_weights or [None] * len(masks), strict=True))

    def admits(self, network: Network) -> bool:
        """Whether the network has no output bias, or may have one."""
        return self.has_output_bias or len(network.parameters) == len(network.architecture.layers)

    def has_neurons_of(self, network: Network) -> bool:
        """Whether a two-layer network has the neurons of this problem, in any order, none more and none less."""
        masks = network.architecture.masks
        theirs = network.output_weights if self.output_weights is not None else [None] * len(masks)
        return Counter(zip(masks, theirs, strict=True)) == Counter(self.neurons)

    @property
    def norm_columns(self) -> tuple[int, ...]:
        """The columns of the first layer that count in the norm: all, but a free bias."""
        return tuple(range(self.architecture.layers[0].columns - is_free(self.bias)))


class Points:
    """The lifted rows as integers, each over its own least denominator; compared by identity."""

    def __init__(self, rows: Rows) -> None:
        cleared = [common_integers([row]) for row in rows]
        self.rows = tuple((integers, denominator) for (integers,), denominator in cleared)


def integer_rows(problem: Problem, columns: int) -> tuple[tuple[list[int], int], ...]:
    """The lifted rows, each as integers over its own least denominator, for a network that takes so many columns."""
    if len(problem.rows[0]) != columns:
        raise ShapeError(f"the rows have {len(problem.rows[0])} columns, which the network does not take")
    return problem.points.rows


@lru_cache(maxsize=4)
def _preactivations(points: Points, network: Network) -> tuple[list[list[int]], list[int]]:
    """A_1 x_i in integers, one list per neuron, with what each of them was multiplied by; a row's denominator is left.

    Kept for the points, which problems that differ in nothing but the fit tolerance share.
    """
    cleared = [common_integers([row]) for row in network.hidden_weights]
    vectors = [integers for (integers,), _ in cleared]
    return products(vectors, [row for row, _ in points.rows]), [denominator for _, denominator in cleared]


def _first_layer(problem: Problem, network: Network) -> tuple[list[list[int]], list[int]]:
    integer_rows(problem, network.architecture.layers[0].columns)
    return _preactivations(problem.points, network)


@lru_cache(maxsize=4)
def pattern(problem: Problem, network: Network) -> tuple[tuple[int, ...], ...]:
    """The exact sign of w_j.x_i, 1, 0 (a kink) or -1: one tuple per neuron, one entry per point."""
    values, _ = _first_layer(problem, network)  # a positive factor keeps the sign
    return tuple(tuple((z > 0) - (z < 0) for z in row) for row in values)


@lru_cache(maxsize=8)
def outputs(problem: Problem, network: Network) -> tuple[Fraction, ...]:
    """f(x_i) for every point, exactly, at any depth.

    In integers: f is homogeneous of degree 1 in the lifted row and in each layer, so each row of numbers is cleared of
    its own denominator, and what was multiplied out of a neuron is divided out of the column that reads it.
    """
    first, *rest = network.architecture.layers
    values, scales = _first_layer(problem, network)
    values, scales = _activated(first, values, scales)
    for layer, parameters in zip(rest, network.parameters[1:], strict=False):  # an output bias is left
        matrix = layer.matrix(parameters)
        cleared = [common_integers([[w / s for w, s in zip(row, scales, strict=True)]]) for row in matrix]
        values = products([integers for (integers,), _ in cleared], list(zip(*values, strict=True)))
        values, scales = _activated(layer, values, [denominator for _, denominator in cleared])
    units, bias = (denominator for _, denominator in problem.points.rows), network.output_bias
    return tuple(value * Fraction(1, scales[0] * unit) + bias for value, unit in zip(values[0], units, strict=True))


def _activated(layer: Layer, values: list[list[int]], scales: list[int]) -> tuple[list[list[int]], list[int]]:
    """What comes out of a layer, in integers as well, with what it was multiplied by."""
    off, on = (Fraction(1) if layer.slope is None else layer.slope).as_integer_ratio()
    return [[z * on if z > 0 else z * off for z in row] for row in values], [scale * on for scale in scales]


def squared_norms(problem: Problem, network: Network) -> list[Fraction]:
    """Of each trained layer, each parameter once, a free bias not at all."""
    first, *rest = network.parameters
    biases = {row[-1] for row in network.architecture.layers[0].places} if is_free(problem.bias) else ()
    counted = [weight for index, weight in enumerate(first) if index not in biases]
    others = rest[: trained_layers(problem.trained, len(network.architecture.layers)) - 1]
    return list(map(squared_norm, (counted, *others)))


def squared_bias(problem: Problem, network: Network) -> Fraction:
    """b^2 of an output bias; 0 where it is free, or there is none."""
    return network.output_bias**2 if problem.decay.output_bias else Fraction(0)


def half_squared_norm(problem: Problem, network: Network) -> Fraction:
    """1/2 ||theta||^2: each trained parameter once, a free bias not at all."""
    return sum(squared_norms(problem, network), squared_bias(problem, network)) / 2


@lru_cache(maxsize=8)
def objective(problem: Problem, network: Network) -> Fraction | None:
    """The objective of the feasible network that `network` stands for; None when it does not fit.

    max-margin: 1/2 ||theta||^2 / m^(2/L) with the least margin m = min y_i f(x_i) > 0, L trained layers: the value of
    the network scaled to margin 1, its output bias by 1 / m. None also when that is not rational (L >= 3).
    min-norm: 1/2 ||theta||^2 when |f(x_i) - y_i| is at most the fit tolerance for all i.
    A loss with weight decay: F, of every network; an upper bound where it is irrational.
    """
    values, squares = outputs(problem, network), squared_norms(problem, network)
    bias = squared_bias(problem, network)
    return rules(problem.goal).objective(values, problem.targets, problem.fit_tolerance, squares, bias)


def without_neurons(problem: Problem) -> Fraction | None:
    """The objective of a network of zeros; where it is irrational an upper bound."""
    return rules(problem.goal).objective(
        [Fraction(0)] * len(problem.targets), problem.targets, problem.fit_tolerance, ()
    )
