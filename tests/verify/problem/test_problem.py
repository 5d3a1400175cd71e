"""Problems: validation, lifted rows, exact outputs and objectives, canonical JSON."""

from __future__ import annotations

import json
from fractions import Fraction
from operator import mul
from random import Random

import numpy as np
import pytest

from tests.timing import cpu_seconds
from verify.checker import statement
from verify.checker.errors import CertificateError, InputError, ShapeError
from verify.checker.exact import Field
from verify.checker.products import LEAST_PACKED, PACK, products
from verify.problem.network import Architecture, Layer, Network
from verify.problem.problem import Bias, Dataset, Goal, Problem, Trained, half_squared_norm, objective, outputs
from verify.readers import read_data

TWO = Architecture.two_layer(2, 1)


def problem(
    X: object, y: object, network: Network, goal: Goal = Goal.MAX_MARGIN, bias: Bias = Bias.NONE,
    trained: Trained = Trained.BOTH,
) -> Problem:  # fmt: skip
    return Problem(Dataset(X, y), network.architecture, goal=goal, bias=bias, trained=trained)


def test_data_of_any_kind() -> None:
    data = Dataset(np.array([[1.0, 0.5], [2, 3]]), iter([1, "-1"]))
    assert data == Dataset([["1", "1/2"], ["2", "3"]], [1, -1])
    assert (len(data), data.dimension, data.is_exact) == (2, 2, False)
    assert Dataset([[1]], [Fraction(1)]).is_exact


@pytest.mark.parametrize(
    ("X", "y", "reason"),
    [
        ([], [], "inputs is empty"),
        ([[]], [1], "inputs is empty"),
        (3, [1], "inputs is 3"),
        ([1, 2], [1, 2], "inputs row 0 is 1"),
        (["12"], [1], "inputs row 0 is '12'"),
        ([[1, 2], [3]], [1, 1], "inputs row 1 has 1 entry, but row 0 has 2"),
        ([[1], [2]], [1], "targets has 1 entry, but inputs has 2 rows"),
        ([[1], [float("nan")]], [1, 1], "inputs row 1, column 0 is nan"),
        ([[1, "x"]], [1], "inputs row 0, column 1 is 'x'"),
        ([[1j]], [1], "inputs row 0, column 0 is 1j"),
        (np.array([[None]], object), [1], "inputs row 0, column 0 is None"),
        ([[1]], [float("inf")], r"targets\[0\] is inf"),
        ([[1]], [[[1]]], r"targets\[0\] is a list of 1 entry"),
        ([[1]], None, "targets is None"),
    ],
)
def test_bad_data_are_refused(X: object, y: object, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        Dataset(X, y)


def test_rows_are_lifted_when_there_is_a_bias() -> None:
    data = Dataset([[2, 3]], [1])
    plain = Problem(data, TWO, goal=Goal.MIN_NORM, bias=Bias.NONE)
    assert plain.rows == ((2, 3),)
    assert plain.norm_columns == (0, 1)
    biased = Architecture.two_layer(2, 1, bias=True)
    free = Problem(data, biased, goal=Goal.MIN_NORM, bias=Bias.FREE)
    assert free.rows == ((2, 3, 1),)
    assert free.norm_columns == (0, 1)
    assert Problem(data, biased, goal=Goal.MIN_NORM, bias=Bias.PENALISED).norm_columns == (0, 1, 2)
    assert free.mask_classes == ((0, 1, 2),)


@pytest.mark.parametrize(
    ("fields", "error", "reason"),
    [
        ({"goal": "max-margin"}, InputError, "goal must be one of Goal.MAX_MARGIN"),
        ({"bias": None}, InputError, "bias must be one of"),
        ({"trained": "both"}, InputError, "trained must be one of"),
        ({"data": Dataset([[1]], [1])}, ShapeError, "the data have 1 column, but the network takes 2"),
        ({"bias": Bias.FREE}, InputError, "no bias, which does not go with bias mode 'free'"),
        ({"architecture": Architecture.two_layer(2, 1, bias=True)}, InputError, "a bias, which does not go with"),
        ({"data": Dataset([[1, 1]], ["1/2"])}, InputError, r"targets\[0\] is 0\.5; max-margin needs targets 1 and -1"),
        (
            {"architecture": Architecture((Layer(inputs=2, outputs=1, slope=None),)), "trained": Trained.HIDDEN},
            InputError,
            "of which there are none",
        ),
    ],
)
def test_bad_problems_are_refused(fields: dict[str, object], error: type[Exception], reason: str) -> None:
    good = {"data": Dataset([[1, 1]], [1]), "architecture": TWO, "goal": Goal.MAX_MARGIN, "bias": Bias.NONE}
    with pytest.raises(error, match=reason):
        Problem(**{**good, **fields})


def test_outputs_agree_with_the_forward_pass() -> None:
    rng = np.random.default_rng(1)
    scales = 10.0 ** rng.integers(-12, 12, 5)
    for slope, bias in (("0", None), ("1/3", rng.normal(size=5)), ("1", None)):
        network = Network.two_layer(rng.normal(size=(5, 3)) * scales[:, None], rng.normal(size=5), b=bias, slope=slope)
        X = rng.normal(size=(20, 3)) * 10.0 ** rng.integers(-9, 9, (20, 1))
        given = problem(X, np.ones(20), network, bias=Bias.NONE if bias is None else Bias.FREE)
        assert outputs(given, network) == [network(x) for x in X]
    layers = (
        Layer(inputs=3, outputs=2, slope=Fraction(1, 7), bias=True),
        Layer(inputs=2, outputs=4, slope=Fraction(0)),
        Layer(inputs=4, outputs=1, slope=None),
    )
    deep = Network(Architecture(layers), [rng.normal(size=layer.parameter_count) for layer in layers])
    assert outputs(problem(X, np.ones(20), deep, bias=Bias.PENALISED), deep) == [deep(x) for x in X]


NUMBERS = Random(0)


@pytest.mark.parametrize(("vectors", "points"), [(1, 5), (LEAST_PACKED, 1), (5, PACK), (7, 2 * PACK + 3)])
@pytest.mark.parametrize("bits", [1, 7, 8, 54, 124, 200])
def test_products_are_exact_at_every_length(vectors, points, bits):
    columns = 3
    left, right = (
        [[NUMBERS.choice((-1, 1)) * NUMBERS.getrandbits(bits) for _ in range(columns)] for _ in range(rows)]
        for rows in (vectors, points)
    )
    left[0], right[0], right[-1] = [2**bits] * columns, [-(2**bits)] * columns, [2**bits - 1] * columns
    expected = [[sum(map(mul, vector, point)) for point in right] for vector in left]
    assert products(left, right) == expected
    left[-1], expected[-1] = [0] * columns, [0] * points
    assert products(left, right) == expected


def test_products_of_numbers_that_are_no_integers():
    root = Field((-2, 0, 1), (Fraction(1), Fraction(2))).number([Fraction(0), Fraction(1)])
    left = [[root, 1]] * LEAST_PACKED
    assert products(left, [[2, 3], [root, 0]]) == [[2 * root + 3, 2]] * LEAST_PACKED


def test_problems_that_differ_in_their_tolerance_share_what_is_made_of_their_numbers():
    network = Network.two_layer([[1, 2], ["1/3", -1]], [1, 1])
    data, shape = Dataset([[1, "1/2"], [2, 3]], [1, 5]), network.architecture
    given = Problem(data, shape, goal=Goal.MIN_NORM, bias=Bias.NONE)
    points = given.points
    other = given.within("1/2")
    assert other.points is points
    assert other == Problem(data, shape, goal=Goal.MIN_NORM, bias=Bias.NONE, fit_tolerance="1/2") != given
    assert outputs(other, network) == outputs(given, network) == [2, 8]


@pytest.mark.parametrize(("goal", "tolerance"), [(Goal.MAX_MARGIN, Fraction(1)), (Goal.MIN_NORM, Fraction(-1))])
def test_the_core_takes_no_tolerance_that_a_goal_does_not_have(goal, tolerance):
    given = problem([[1]], [1], Network.two_layer([[1]], [1]), goal)
    fields = {name: getattr(given, name) for name in statement.Problem.__dataclass_fields__}
    assert statement.Problem(**fields) == given.within(0) == given
    with pytest.raises(CertificateError) as caught:
        statement.Problem(**{**fields, "fit_tolerance": tolerance})
    assert caught.value.place == "fit_tolerance"
    with pytest.raises(InputError, match="fit_tolerance"):
        given.within(tolerance)


def test_outputs_of_a_network_of_another_problem() -> None:
    with pytest.raises(ShapeError, match="2 columns"):
        outputs(Problem(Dataset([[1, 1]], [1]), TWO, goal=Goal.MIN_NORM, bias=Bias.NONE), Network.two_layer([[1]], [1]))


def test_outputs_of_many_points_are_fast() -> None:
    rng = np.random.default_rng(2)
    network = Network.two_layer(rng.normal(size=(10, 10)), rng.normal(size=10))
    given = problem(rng.normal(size=(10_000, 10)), np.ones(10_000), network)
    assert cpu_seconds(lambda: outputs(given, network)) < 15


def test_the_tie_case_has_objective_two() -> None:  # cases/max-margin/tie-needs-clarke
    network = Network.two_layer([[1, 0], [0, -1]], [1, 1])
    assert objective(problem([[1, 1], [0, -1]], [1, 1], network), network) == 2
    assert objective(problem([[1, 1], [0, 0]], [1, 1], network), network) is None


def test_the_objective_is_taken_at_margin_one() -> None:
    network = Network.two_layer([[3]], [1])
    assert objective(problem([[2]], [1], network), network) == Fraction(10, 2) / 6
    hidden = problem([[2]], [1], network, trained=Trained.HIDDEN)
    assert half_squared_norm(hidden, network) == Fraction(9, 2)
    assert objective(hidden, network) == Fraction(9, 2) / 36
    deep = Network(
        Architecture((Layer(inputs=1, outputs=1, slope=Fraction(0)),) * 2 + (network.architecture.layers[1],)),
        [[1]] * 3,
    )
    assert objective(problem([[2]], [1], deep), deep) is None
    assert objective(problem([[2]], [1], deep, trained=Trained.HIDDEN), deep) == Fraction(1, 2)


def test_min_norm_asks_for_the_targets_themselves() -> None:
    network = Network.two_layer([[1]], [2])
    assert objective(problem([[2]], [4], network, Goal.MIN_NORM), network) == Fraction(5, 2)
    assert objective(problem([[2]], [5], network, Goal.MIN_NORM), network) is None


def test_a_free_bias_costs_nothing() -> None:  # cases/max-margin/bias-counted-free
    network = Network.two_layer([[-2, -2]], [1], b=[9], slope=1)
    X, y = [["3/2", "5/2"], ["5/2", "3/2"], ["5/2", "5/2"]], [1, 1, -1]
    free, penalised = (problem(X, y, network, bias=mode) for mode in (Bias.FREE, Bias.PENALISED))
    assert half_squared_norm(free, network) == Fraction(9, 2)
    assert half_squared_norm(penalised, network) == 45
    masked = Network.two_layer([[1], [2]], [1, 1], b=[0, 7], masks=[[0], [0, 1]])
    assert half_squared_norm(problem([[1]], [1], masked, bias=Bias.FREE), masked) == Fraction(7, 2)


def test_a_shared_parameter_counts_once() -> None:
    shared = Layer(inputs=2, outputs=2, slope=Fraction(0), entries=((0, 1), (1, 0)))
    network = Network(Architecture((shared, Layer(inputs=2, outputs=1, slope=None))), [[3, 4], [0, 0]])
    assert half_squared_norm(problem([[1, 1]], [1], network), network) == Fraction(25, 2)


def test_json_round_trip_and_hash() -> None:
    network = Network.two_layer([["1/3", 2]], [1], b=[1], slope="1/2")
    given = problem([["1/7", -2]], [-1], network, bias=Bias.PENALISED, trained=Trained.HIDDEN)
    text = given.canonical_text()
    again = Problem.from_json(json.loads(text))
    assert again == given
    assert again.sha256() == given.sha256() == given.sha256()
    assert problem([["1/7", -2]], [1], network, bias=Bias.PENALISED, trained=Trained.HIDDEN).sha256() != given.sha256()
    assert sorted(json.loads(text)) == ["architecture", "bias", "goal", "inputs", "schema", "targets", "trained"]


@pytest.mark.parametrize(
    ("key", "value", "reason"),
    [
        ("schema", "problem-2", "^problem.schema"),
        ("goal", "best", f"^problem.goal: must be one of {', '.join(Goal)}, not 'best'"),
        ("bias", None, "^problem.bias: must be one of none, penalised, free, not None"),
        ("trained", ["both"], "^problem.trained"),
        ("inputs", [[1, 2]], r"^problem.inputs\[0\]\[0\]: must be a rational .* written as text, not int"),
        ("inputs", 1, "^problem.inputs: must be a list, not int"),
        ("targets", ["1e0"], r"^problem.targets\[0\]"),
        ("architecture", {}, "^problem.architecture.layers: is missing"),
        ("extra", 1, "^problem: has the unknown key"),
    ],
)
def test_bad_json_is_refused(key: str, value: object, reason: str) -> None:
    given = Problem(Dataset([[1, 1]], [1]), TWO, goal=Goal.MAX_MARGIN, bias=Bias.NONE)
    with pytest.raises(InputError, match=reason):
        Problem.from_json({**given.to_json(), key: value})


@pytest.mark.parametrize("labels", [["cat", "dog"], [b"cat", b"dog"], np.array(["no", "yes"]), [True, False]])
def test_labels_are_told_from_numbers_with_the_way_to_name_the_classes(labels):
    with pytest.raises(InputError) as caught:
        Dataset([[1], [2]], labels)
    assert str(caught.value).startswith("targets[0] is ")
    assert "read_data((X, y), classes=(negative, positive)) of verify.readers" in str(caught.value)
    named = read_data(([[1], [2]], [str(label) for label in labels]), classes=[str(label) for label in labels])
    assert named.targets == (-1, 1)


@pytest.mark.parametrize("text", ["0.5", "nan", "inf", "1e3", "?", ""])
def test_text_that_means_a_number_is_no_label(text):
    with pytest.raises(InputError, match="not a rational in canonical form"):
        Dataset([[1]], [text])
