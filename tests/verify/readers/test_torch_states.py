"""State dicts by their names and shapes; arrays of numpy stand in for tensors, so that PyTorch is not needed."""

from fractions import Fraction

import numpy as np
import pytest

from verify.checker.errors import InputError
from verify.problem.network import Network
from verify.readers import read, read_with_notes

rng = np.random.default_rng(0)
W, B, V = rng.normal(size=(3, 2)), rng.normal(size=3), rng.normal(size=(1, 3))
PLAIN = {"0.weight": W, "0.bias": B, "2.weight": V}


def refusal(state, **options) -> str:
    with pytest.raises(InputError) as caught:
        read(state, **options)
    message = str(caught.value)
    assert "\n" not in message
    assert len(message) < 500
    return message.removeprefix("the state dict given: ")


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_names_and_types(dtype):
    state = {name: array.astype(dtype) for name, array in PLAIN.items()}
    expected = Network.two_layer(
        state["0.weight"].tolist(), state["2.weight"][0].tolist(), b=state["0.bias"].tolist(), slope=Fraction(1, 4)
    )
    assert read(state, slope="1/4") == expected
    for prefix in ("net.", "module.model."):
        assert read({prefix + name: array for name, array in state.items()}, slope=0.25) == expected
    renamed = {"fc1.weight": state["0.weight"], "fc1.bias": state["0.bias"], "out.weight": state["2.weight"]}
    assert read(renamed, slope=0.25) == expected


def test_the_slope_is_needed():
    with pytest.raises(InputError, match=r"holds weights but no activation .* read\(state, slope=0\)$"):
        read(PLAIN)


def test_layers_are_chained_by_shape_not_by_name():
    expected = read(PLAIN, slope=0)
    assert read({"Dense_0.weight": V, "Dense_1.weight": W, "Dense_1.bias": B}, slope=0) == expected
    assert read_with_notes({"2.weight": V, "0.weight": W, "0.bias": B}, slope=0).notes == ()


def test_a_square_matrix_is_not_transposed():
    state = {"0.weight": np.array([[1.0, 2.0], [3.0, 4.0]]), "2.weight": np.array([[5.0, 6.0]])}
    assert read(state, slope=0) == Network.two_layer([[1, 2], [3, 4]], [5, 6])


def test_names_decide_where_shapes_leave_a_choice():
    first, second = rng.normal(size=(2, 2)), rng.normal(size=(2, 2))
    state = {"0.weight": first, "2.weight": second, "10.weight": np.ones((1, 2))}
    reading = read_with_notes(state, slope=0)
    assert reading.network.parameters[0] == tuple(map(Fraction, first.ravel().tolist()))
    assert reading.notes == (
        "the state dict given: the shapes of its layers allow several orders; they are taken as named: 0, 2, 10",
    )
    assert "allow several orders, and their names (2, 0, 10) do not say which is right" in refusal(
        {"2.weight": second, "0.weight": first, "10.weight": np.ones((1, 2))}, slope=0
    )


def test_one_neuron_of_one_input():
    state = {"0.weight": np.array([[2.0]]), "2.weight": np.array([[-3.0]])}
    assert read(state, slope=0) == Network.two_layer([[2]], [-3])


def test_one_layer_needs_no_slope():
    network = read({"weight": np.array([[1.0, 2.0]]), "bias": np.array([3.0])})
    assert (network.depth, network((1, 1))) == (1, 6)


def test_many_layers_go_by_their_names():
    state = {f"{i}.weight": np.full((2, 2), float(i)) for i in range(8)} | {"8.weight": np.ones((1, 2))}
    network = read(state, slope=0)
    assert network.depth == 9
    assert [layer[0] for layer in network.parameters] == [*range(8), 1]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        (
            {"1.running_mean": B, "1.running_var": B},
            "a batch normalisation (1.running_mean) makes the function depend on",
        ),
        ({"1.num_batches_tracked": np.array(3)}, "a batch normalisation (1.num_batches_tracked) makes the"),
        ({"1.weight": B}, "1.weight is not a matrix, so it belongs to a normalisation or a PReLU"),
        ({"1.weight": np.ones((3, 3, 3))}, "1.weight, of 3 dimensions, shares its weights between places"),
        ({"1.weight_g": B, "1.weight_v": W}, "1.weight_g belongs to a reparametrised or pruned layer"),
        ({"1.bias": B}, "1.bias has no 1.weight beside it"),
        (
            {"mean": B},
            "mean is neither the weight nor the bias of a Linear layer, and a buffer or parameter of another",
        ),
        (
            {"3.weight": W + 1},
            "the layers cannot be applied one after the other (outputs, inputs: 0 (3, 2), 2 (1, 3), 3 (3, 2))",
        ),
        ({"2.weight": np.ones((2, 3))}, "it has two outputs (2.weight), one for each class: train one output, or read"),
        ({"2.weight": np.ones((2, 5))}, "0.weight gives 3 outputs but 2.weight takes 5 inputs"),
        ({"2.bias": np.array([0.5])}, "the output bias 2.bias is not 0 (it holds 0.5)"),
        ({"2.weight": np.array([[1, np.nan, 1]])}, "2.weight[0, 1] is nan: every number must be real and finite"),
        ({"0.bias": np.array([1, 1, np.inf])}, "0.bias[2] is inf: every number must be real and finite"),
        ({"0.weight": W + 0j}, "0.weight[0, 0] is ("),
    ],
)
def test_faults(changes, reason):
    assert refusal({**PLAIN, **changes}, slope=0).startswith(reason)


def test_one_array_for_two_layers():
    square = rng.normal(size=(2, 2))
    assert refusal({"0.weight": square, "2.weight": square, "4.weight": np.ones((1, 2))}, slope=0) == (
        "0.weight and 2.weight are one tensor, and tied weights are not read yet: untie them"
    )


def test_arrays_of_an_npz_are_no_state_dict():
    assert read({"W": W, "v": V[0], "b": B}) == read(PLAIN, slope=0)


def test_an_output_bias_of_a_deep_network():
    state = {
        "0.weight": W,
        "2.weight": rng.normal(size=(2, 3)),
        "4.weight": np.ones((1, 2)),
        "4.bias": np.array([-0.5]),
    }
    network = read(state, slope=0, output_bias="neuron")
    assert network.architecture.bias
    without = read({name: array for name, array in state.items() if name != "4.bias"}, slope=0)
    assert [network(x) for x in ((0, 0), (1, -1))] == [without(x) - Fraction(1, 2) for x in ((0, 0), (1, -1))]
    with pytest.raises(InputError, match='must be "refuse" or "neuron"'):
        read(state, slope=0, output_bias="drop")
