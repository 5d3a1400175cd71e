"""What a certificate about several outputs is about: a problem, and a network with its exact parameters.

    f(x) = sum_j V_j s(w_j.x) + b,   f(x), V_j, b in R^K,   s(z) = max(z, a z),   0 <= a <= 1 (0 for ReLU)

A hidden bias is the last entry of w_j, met by a coordinate 1 appended to x; a free one is left out of W. The objective
is

    F = sum_i l(y_i, f(x_i)) + 1/2 (mu_w ||W||^2 + mu_v ||V||^2 + mu_b ||b||^2),    mu_w, mu_v > 0,  mu_b >= 0

or, where constraints are to be met, 1/2 (||W||^2 + ||V||^2) of a network that fits, over m for one of margin m
(`verify.checker.vector_goals`): both layers over sqrt(m) and b over m have margin 1.

Source: `docs/vector.md`, 1 "The problems".
"""

from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import chain
from typing import TypeAlias

from verify.checker.codec import Record
from verify.checker.errors import require
from verify.checker.exact import dot, squared_norm
from verify.checker.goals import Bias, Goal, Trained, has_bias, is_free
from verify.checker.objectives import Decay
from verify.checker.statement import Architecture, Layer, Problem
from verify.checker.vector_goals import ONE, VECTOR_RULES, ZERO, Ends, OutputRules, Vector, VectorGoal

Matrix: TypeAlias = tuple[Vector, ...]


class VectorProblem(Record):
    """Data, slope, goal, bias mode and decay.

    inputs: the points x_i, shape (n, d).   targets: y_i, shape (n, K), K >= 2.   bias: of the hidden neurons; a free
    one does not count in the norm.   decay: 1, 1 and no output bias, or a free one, for constraints.
    """

    SCHEMA = "vector-problem-1"

    inputs: Matrix
    targets: Matrix
    slope: Fraction
    bias: Bias
    goal: VectorGoal
    decay: Decay

    def __post_init__(self) -> None:
        super().__post_init__()
        require(len(self.inputs) == len(self.targets) > 0, "targets", "must be one for each point, at least one")
        require(0 <= self.slope <= 1, "slope", "must lie between 0 (ReLU) and 1 (linear)")
        columns, outputs = len(self.inputs[0]), len(self.targets[0])
        require(columns > 0, "inputs[0]", "must have at least one entry")
        require(outputs > 1, "targets[0]", "must have at least two entries: one output has problems of its own")
        for i, (x, y) in enumerate(zip(self.inputs, self.targets, strict=True)):
            require(len(x) == columns, f"inputs[{i}]", f"must have {columns} entries, as the first one")
            require(len(y) == outputs, f"targets[{i}]", f"must have {outputs} entries, as the first one")
            fault = self.rules.target_fault(y)
            require(fault == "", f"targets[{i}]", fault)
        is_plain = self.rules.IS_LOSS or self.decay in (Decay(ONE, ONE), Decay(ONE, ONE, ZERO))
        require(is_plain, "decay", "must be 1, 1 and no output bias, or a free one, where constraints are to be met")

    @property
    def rules(self) -> OutputRules:
        """What the goal says."""
        return VECTOR_RULES[self.goal]

    @property
    def outputs(self) -> int:
        """K."""
        return len(self.targets[0])

    @cached_property
    def rows(self) -> Matrix:
        """The lifted points, shape (n, columns): x_i, or x_i with 1 appended where there is a bias."""
        return tuple((*x, ONE) for x in self.inputs) if has_bias(self.bias) else self.inputs

    @property
    def counted(self) -> int:
        """How many of the first columns of the hidden layer count in the norm: all but a free bias."""
        return len(self.rows[0]) - is_free(self.bias)

    @cached_property
    def scalar(self) -> Problem:
        """A problem of one output with these points, slope and bias, of which the trees speak; its targets are 0."""
        bias = has_bias(self.bias)
        layers = Layer(len(self.inputs[0]), 1, self.slope, bias), Layer(1, 1, None)
        zeros = (ZERO,) * len(self.inputs)
        return Problem(self.inputs, zeros, Architecture(layers), Goal.MIN_NORM, self.bias, Trained.BOTH)

    @property
    def square_price(self) -> Fraction:
        """m^2 = mu_w mu_v: a neuron costs at least m ||V_j|| ||w_j||, where a free bias is left out."""
        return self.decay.hidden * self.decay.output


class VectorNetwork(Record):
    """A network with its exact parameters.

    hidden: w_j, shape (width, columns), the bias in the last column where there is one.   output: shape (K, width), its
    columns are the V_j.   output_bias: b, length K; None for none.
    """

    SCHEMA = "vector-network-1"

    slope: Fraction
    bias: bool
    hidden: Matrix
    output: Matrix
    output_bias: Vector | None

    def __post_init__(self) -> None:
        super().__post_init__()
        require(0 <= self.slope <= 1, "slope", "must lie between 0 (ReLU) and 1 (linear)")
        require(len(self.hidden) > 0, "hidden", "must have at least one neuron")
        columns = {len(row) for row in self.hidden}
        require(len(columns) == 1 and min(columns) > self.bias, "hidden", "must be rows of one length, of some inputs")
        is_matrix = len(self.output) > 1 and {len(row) for row in self.output} == {len(self.hidden)}
        require(is_matrix, "output", "must have at least two rows, of one entry for each neuron")
        has_all = self.output_bias is None or len(self.output_bias) == len(self.output)
        require(has_all, "output_bias", "must have one entry for each output")

    @property
    def width(self) -> int:
        """The number of neurons."""
        return len(self.hidden)

    @cached_property
    def output_columns(self) -> Matrix:
        """V_j, for each neuron."""
        return tuple(zip(*self.output, strict=True))

    @property
    def shift(self) -> Vector:
        """b, zeros where there is none."""
        return self.output_bias or (ZERO,) * len(self.output)


def require_own_network(problem: VectorProblem, network: VectorNetwork, place: str) -> None:
    """Refuse a network that is none of the problem's, of whatever width."""
    is_own = len(network.hidden[0]) == len(problem.rows[0]) and len(network.output) == problem.outputs
    is_own = is_own and network.slope == problem.slope and network.bias is has_bias(problem.bias)
    require(is_own, place, "has other inputs, outputs, slope or bias than the problem")
    has_it = (network.output_bias is not None) is (problem.decay.output_bias is not None)
    require(has_it, place, "has an output bias and the problem has none, or the other way round")


@lru_cache(maxsize=8)
def vector_preactivations(problem: VectorProblem, network: VectorNetwork) -> Matrix:
    """w_j.x_i, shape (n, width)."""
    return tuple(tuple(dot(w, x) for w in network.hidden) for x in problem.rows)


def activation(z: Fraction, slope: Fraction) -> Fraction:
    """s(z)."""
    return z if z > 0 else slope * z


@lru_cache(maxsize=8)
def vector_outputs(problem: VectorProblem, network: VectorNetwork) -> Matrix:
    """f(x_i), shape (n, K)."""
    found: list[Vector] = []
    for z in vector_preactivations(problem, network):
        active = [activation(entry, problem.slope) for entry in z]
        found.append(tuple(dot(row, active) + b for row, b in zip(network.output, network.shift, strict=True)))
    return tuple(found)


def squared_norms(network: VectorNetwork, columns: int | None = None) -> tuple[Fraction, Fraction, Fraction]:
    """||W||^2 of so many of its first columns (None: of all), ||V||^2, ||b||^2."""
    hidden, output = [entry for row in network.hidden for entry in row[:columns]], chain(*network.output)
    return squared_norm(hidden), squared_norm(output), squared_norm(network.shift)


def weight_of(problem: VectorProblem, network: VectorNetwork) -> Fraction:
    """M = mu_w ||W||^2 + mu_v ||V||^2 + mu_b ||b||^2, twice the decay."""
    return problem.decay.weighted(*squared_norms(network, problem.counted))


def vector_margin(problem: VectorProblem, network: VectorNetwork) -> Fraction | None:
    """What the decay is divided by; None for a network that does not fit."""
    return problem.rules.margin(zip(problem.targets, vector_outputs(problem, network), strict=True))


def vector_objective(problem: VectorProblem, network: VectorNetwork) -> Ends | None:
    """Bounds of the objective, equal where it is rational; None for a network that does not fit."""
    margin = vector_margin(problem, network)
    if margin is None:
        return None
    pairs = zip(problem.targets, vector_outputs(problem, network), strict=True)
    values = [problem.rules.value(y, f) for y, f in pairs]
    low, high = (sum(ends, ZERO) for ends in zip(*values, strict=True))
    decay = weight_of(problem, network) / 2 / margin
    return low + decay, high + decay


def vector_without_neurons(problem: VectorProblem) -> Ends | None:
    """Bounds of the objective of a network whose outputs are all 0; None where it does not fit."""
    columns, zeros = len(problem.rows[0]), (ZERO,) * problem.outputs
    bias = zeros if problem.decay.output_bias is not None else None
    empty = tuple((ZERO,) for _ in zeros)
    hidden = ((ZERO,) * columns,)
    return vector_objective(problem, VectorNetwork(problem.slope, has_bias(problem.bias), hidden, empty, bias))


def objective_of(problem: VectorProblem, network: VectorNetwork, place: str) -> Ends:
    """The same; refuses what is no network of the problem, or does not fit."""
    require_own_network(problem, network, place)
    found = vector_objective(problem, network)
    require(found is not None, place, "does not fit")
    return found or (ZERO, ZERO)


def combination(factors: Sequence[Fraction], rows: Sequence[Vector], columns: int) -> Vector:
    """sum_k factors[k] rows[k], of as many entries."""
    return tuple(sum((q * row[k] for q, row in zip(factors, rows, strict=True)), ZERO) for k in range(columns))
