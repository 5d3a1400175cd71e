"""Architectures and networks: shapes, masks, sharing, exact values, canonical JSON."""

from __future__ import annotations

import copy
import json
import pickle
from fractions import Fraction

import numpy as np
import pytest

import verify
from verify.checker.errors import InputError, ShapeError
from verify.problem.network import Architecture, Layer, Network
from verify.problem.problem import Bias, Dataset, Goal, Problem, outputs

RELU = {"inputs": 2, "outputs": 2, "slope": Fraction(0)}
OUT = Layer(inputs=2, outputs=1, slope=None)


def test_the_exact_forward_pass() -> None:
    network = Network.two_layer([["1", "1/2"], ["-2", "0"]], ["3", "-1"], b=["0", "1/3"], slope="1/10")
    assert network(["1", "1"]) == 3 * Fraction(3, 2) - Fraction(1, 10) * Fraction(-5, 3)
    assert network.preactivations([Fraction(1), Fraction(1), Fraction(1)]) == (Fraction(3, 2), Fraction(-5, 3))
    assert network.hidden_weights == ((1, Fraction(1, 2), 0), (-2, 0, Fraction(1, 3)))
    assert network.output_weights == (3, -1)
    assert (network.width, network.depth, network.is_exact) == (2, 2, True)
    with pytest.raises(ShapeError, match="3 columns"):
        network(["1"])


def test_float_weights_are_dyadic_and_said_to_be() -> None:
    network = Network.two_layer(np.array([[0.1]], np.float32), [1])
    assert network.hidden_weights == ((Fraction(13421773, 134217728),),)
    assert not network.is_exact
    assert network == Network.two_layer([[Fraction(13421773, 134217728)]], ["1"])
    assert not Network(network.architecture, [[0.5], [1]]).is_exact


def test_depth_one_and_three() -> None:
    linear = Network(Architecture((Layer(inputs=2, outputs=1, slope=None),)), [[2, 3]])
    assert linear([1, 1]) == 5
    assert (linear.depth, linear.width, linear.architecture.slope) == (1, 0, 1)
    deep = Architecture((Layer(**RELU), Layer(**RELU), OUT))
    network = Network(deep, [[1, 0, 0, -1], [1, 1, -1, 1], [1, 2]])
    assert network([2, -3]) == 7
    assert (deep.depth, deep.width, deep.parameter_count) == (3, 2, 10)
    assert deep.limits() == "it has 2 hidden layers, and not one"


def test_masks_leave_weights_out() -> None:
    network = Network.two_layer([[1, 0], [0, 2], [3, 4]], [1, 1, 1], b=[5, 0, 6], masks=[[0, 2], [1], (2, 0, 1)])
    architecture = network.architecture
    assert architecture.masks == ((0, 2), (1,), (0, 1, 2))
    assert architecture.mask_classes == ((0, 1, 2), (0, 2), (1,))
    assert architecture.parameter_count == 9
    assert network.parameters[0] == (1, 5, 2, 3, 4, 6)
    assert network.hidden_weights == ((1, 0, 5), (0, 2, 0), (3, 4, 6))
    assert architecture.limits() is None
    narrow = architecture.with_width_of([(1,)])
    assert (narrow.width, narrow.masks, narrow.bias, narrow.inputs) == (1, ((1,),), True, 2)


def test_full_masks_are_dense() -> None:
    assert Architecture.two_layer(2, 2, masks=[[0, 1], [1, 0]]) == Architecture.two_layer(2, 2)
    assert Architecture.two_layer(2, 2).layers[0].entries is None
    assert Architecture.two_layer(2, 2).masks == ((0, 1), (0, 1))


def test_sharing_is_seen() -> None:
    shared = Layer(inputs=2, outputs=2, slope=Fraction(0), entries=((0, 1), (1, None)))
    assert shared.matrix([Fraction(7), Fraction(8)]) == ((7, 8), (8, 0))
    architecture = Architecture((shared, OUT))
    assert architecture.has_sharing
    assert architecture.limits() == "it shares weights"
    sparse = Architecture((Layer(**RELU), Layer(inputs=2, outputs=1, slope=None, entries=((0, None),))))
    assert not sparse.has_sharing
    assert sparse.limits() == "its output layer is not dense"


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"inputs": 0}, "inputs: must be positive"),
        ({"outputs": True}, "outputs: must be an integer"),
        ({"bias": 1}, "bias: must be one of False, True"),
        ({"slope": Fraction(-1, 2)}, "between 0"),
        ({"slope": 2}, "between 0"),
        ({"slope": float("nan")}, "slope is nan"),
        ({"entries": ((0, 1),)}, "2 rows of 2"),
        ({"entries": ((0, 1), (2,))}, "2 rows of 2"),
        ({"entries": ((0, 2), (3, 4))}, "without gaps"),
        ({"entries": ((1, True), (0, None))}, r"entries\[0\]\[1\]: must be an integer .*, not True"),
        ({"entries": ((-1, 0), (None, None))}, r"entries\[0\]\[0\]: must be at least 0"),
        ({"entries": (([], 0), (None, None))}, r"entries\[0\]\[0\]: must be an integer .*, not list"),
    ],
)
def test_bad_layers_are_refused(fields: dict[str, object], reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        Layer(**{**RELU, **fields})


@pytest.mark.parametrize(
    ("layers", "reason"),
    [
        ((), "at least one"),
        ((1,), "at least one"),
        ((Layer(inputs=2, outputs=3, slope=Fraction(0)), OUT), "must each take as many inputs"),
        ((Layer(inputs=2, outputs=2, slope=None), OUT), r"layers: must each have the slope"),
        (
            (Layer(**RELU), Layer(inputs=2, outputs=1, slope=None, bias=True)),
            r"layers: may have a bias in the first only",
        ),
        ((Layer(**RELU),), "(end in one output|but the last)$"),
        ((Layer(inputs=2, outputs=1, slope=Fraction(0)),), "(end in one output|but the last)$"),
    ],
)
def test_bad_architectures_are_refused(layers: tuple[Layer, ...], reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        Architecture(layers)


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"W": []}, "must be a matrix"),
        ({"W": [[]]}, "must be a matrix"),
        ({"W": [[1], [1, 2]]}, "must be a matrix"),
        ({"W": [1, 2]}, r"W\[0\] is 1"),
        ({"W": "12"}, "W is '12'"),
        ({"W": [[float("inf")]]}, r"W\[0\]\[0\] is inf"),
        ({"v": [1, 2]}, "v has 2 entries, but W has 1 row"),
        ({"v": 1}, "v is 1"),
        ({"v": [1j]}, r"v\[0\] is 1j"),
        ({"b": [1, 2]}, "b has 2 entries"),
        ({"masks": [[0], [0]]}, "masks has 2 entries"),
        ({"masks": [[1]]}, r"masks\[0\] names a column outside"),
        ({"masks": [[]]}, r"W\[0\] has a weight at a column that masks\[0\] hides"),
        ({"slope": "2"}, "between 0"),
    ],
)
def test_bad_weights_are_refused(arguments: dict[str, object], reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        Network.two_layer(**{"W": [[1]], "v": [1], **arguments})


def test_the_numbers_must_be_as_many_as_the_layers_need() -> None:
    with pytest.raises(ShapeError, match="has 1 number; the layers need 1, 1"):
        Network(Architecture.two_layer(1, 1), [[1]])
    with pytest.raises(ShapeError, match="has no numbers"):
        Network(Architecture.two_layer(1, 1), [])


MASKED = Network.two_layer([["1/3", "0"], ["2", "-5"]], ["1", "-1"], slope="1/2", masks=[[0], [0, 1]])


@pytest.mark.parametrize("network", [MASKED, Network.two_layer([[1]], [2], b=[3])])
def test_json_round_trip(network: Network) -> None:
    text = network.canonical_text()
    again = Network.from_json(json.loads(text))
    assert again == network
    assert (again.canonical_text(), again.sha256()) == (text, network.sha256())
    assert copy.deepcopy(network) == pickle.loads(pickle.dumps(network)) == network


def test_the_canonical_text_is_fixed() -> None:
    assert Network.two_layer([["1/2"]], ["-3"]).canonical_text() == (
        '{"architecture":{"layers":[{"bias":false,"entries":null,"inputs":1,"outputs":1,"slope":"0"},'
        '{"bias":false,"entries":null,"inputs":1,"outputs":1,"slope":null}]},'
        '"parameters":[["1/2"],["-3"]],"schema":"network-1"}'
    )


def change(path: list[str | int], value: object) -> object:
    """The JSON of MASKED with one place changed."""
    document = json.loads(MASKED.canonical_text())
    place = document
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return document


HIDDEN = ["architecture", "layers", 0]


@pytest.mark.parametrize(
    ("path", "value", "reason"),
    [
        (["schema"], "network-2", "^network.schema: must be 'network-1'"),
        (["extra"], 1, "^network: has the unknown key 'extra'"),
        (["parameters"], [], "^network.parameters: must be 3, 2 numbers"),
        (["parameters"], None, "^network.parameters: must be a list, not None"),
        (["parameters", 0, 1], 2, r"^network.parameters\[0\]\[1\]: must be a rational .* written as text, not int"),
        (["parameters", 0, 1], "2.0", r"^network.parameters\[0\]\[1\]: must be a rational .* not '2.0'"),
        (
            [*HIDDEN, "slope"],
            0,
            r"^network.architecture.layers\[0\].slope: must be a rational .* text, not int",
        ),
        ([*HIDDEN, "slope"], "3", r"^network.architecture.layers\[0\].slope: must lie between 0"),
        ([*HIDDEN, "slope"], None, r"^network.architecture.layers: must each have the slope"),
        ([*HIDDEN, "inputs"], True, r"layers\[0\].inputs: must be an integer"),
        ([*HIDDEN, "bias"], 0, r"layers\[0\].bias: must be one of False, True"),
        ([*HIDDEN, "entries"], 3, r"layers\[0\].entries: must be a list, not int"),
        ([*HIDDEN, "entries"], [1], r"layers\[0\].entries\[0\]: must be a list, not int"),
        ([*HIDDEN, "entries"], [[0, None], [1, 1.5]], r"entries\[1\]\[1\]: must be an integer .*, not float"),
    ],
)
def test_bad_json_is_refused(path: list[str | int], value: object, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        Network.from_json(change(path, value))


def test_the_package_exports_lazily() -> None:
    assert verify.Network is Network
    assert set(verify.__all__) <= set(dir(verify))
    assert "Network" in vars(verify)
    assert sorted(name for names in verify._HOMES.values() for name in names) == verify.__all__
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        verify.nothing  # noqa: B018


def test_rows_for_another_network_are_refused() -> None:
    shape = Network.two_layer([[1, 1]], [1]).architecture
    problem = Problem(Dataset([[1, 2]], [1]), shape, goal=Goal.MIN_NORM, bias=Bias.NONE)
    with pytest.raises(ShapeError, match="the rows have 2 columns, which the network does not take"):
        outputs(problem, Network.two_layer([[1, 1, 1]], [1]))


def test_an_output_bias_is_a_parameter_that_is_named():
    assert "with biases and an output bias (9 parameters)" in repr(
        Network.two_layer([[1, 2], [3, 4]], [1, 1], b=[1, 1], b2=1)
    )
    assert "neurons with an output bias (7 parameters)" in str(Network.two_layer([[1, 2], [3, 4]], [1, 1], b2=1))
    assert "neurons (6 parameters)" in repr(Network.two_layer([[1, 2], [3, 4]], [1, 1]))
