"""Trees and lists of parameters: layouts by their shapes, what is said where they leave a choice, and refusals."""

from fractions import Fraction

import numpy as np
import pytest

from verify.checker.errors import InputError
from verify.problem.network import Network
from verify.readers import read, read_with_notes

rng = np.random.default_rng(3)
W, B, V, C = rng.normal(size=(3, 4)), rng.normal(size=4), rng.normal(size=(4, 1)), rng.normal(size=1)
OWN = Network.two_layer(W.T, V[:, 0], b=B)
FLAX = {"params": {"Dense_0": {"kernel": W, "bias": B}, "Dense_1": {"kernel": V}}}


def refusal(source, **options) -> str:
    with pytest.raises(InputError) as caught:
        read(source, **{"slope": 0, **options})
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    "source",
    [
        FLAX,
        FLAX["params"],
        {
            "params": {"net": {"out": {"kernel": V}, "hidden": {"kernel": W, "bias": B}}}
        },  # by shapes, whatever the names
        {"params": FLAX["params"], "batch_stats": {}},
        {"params/Dense_0/kernel": W, "params/Dense_0/bias": B, "params/Dense_1/kernel": V},
        {"mlp/~/linear_0": {"w": W, "b": B}, "mlp/~/linear_1": {"w": V}},
        [W, B, V],
        [W.T, B, V.T],
        [(W, B), (V, None)],
        [(W, B), (V,)],
        [(W.T, B), (V.T,)],
        [{"w": W, "b": B}, {"w": V}],
        ((W, B), V),
        [W.T, B, V[:, 0]],
        [W, B, V[:, 0]],
    ],
)
def test_trees_and_lists(source):
    reading = read_with_notes(source, slope=0)
    assert reading.network == OWN
    assert reading.notes == ()
    assert not reading.network.is_exact


@pytest.mark.parametrize(
    "source",
    [
        [W, B, V, C],
        [W.T, B, V[:, 0], C],
        [(W, B), (V, C)],
        {"a": {"kernel": W, "bias": B}, "b": {"kernel": V, "bias": C}},
    ],
)
def test_output_biases(source):
    assert "the output bias" in refusal(source)
    expected = Network.two_layer([*W.T, [0] * 3], [*V[:, 0], np.sign(C[0])], b=[*B, abs(C[0])])
    assert read(source, slope=0, output_bias="neuron") == expected


def test_the_slope_is_needed():
    assert "no activation" in refusal(FLAX, slope=None)
    assert read([W, B, V], slope="1/3").architecture.slope == Fraction(1, 3)


def test_two_logits():
    two = np.hstack([V, 2 * V])
    assert "it has two outputs" in refusal([W, B, two])
    assert read([W, B, two], slope=0, two_logits="difference").width == 4


def test_three_layers_in_the_order_of_their_names():
    square = rng.normal(size=(3, 3))
    tree = {"Dense_10": {"kernel": V[:3]}, "Dense_9": {"kernel": square}, "Dense_2": {"kernel": 2 * square}}
    assert "allow several orders" in refusal(tree)
    reading = read_with_notes(dict(reversed(tree.items())), slope=0)
    assert reading.network.depth == 3
    assert reading.network.hidden_weights == read([2 * square, square, V[:3]], slope=0).hidden_weights
    assert "they are taken as named: Dense_2, Dense_9, Dense_10" in reading.notes[0]


def test_where_the_shapes_leave_the_layout_open_it_is_said():
    square, v = rng.normal(size=(2, 2)), rng.normal(size=2)
    (note,) = read_with_notes([square, v], slope=0).notes
    assert note.endswith("fit both as (neurons, inputs) and as (inputs, neurons): they are read as (neurons, inputs)")
    assert read([square, v], slope=0) == Network.two_layer(square, v)
    one = [np.array([[2.0]]), np.array([[3.0]])]
    assert "they are read as (inputs, neurons)" in read_with_notes(one, slope=0).notes[0]
    assert read_with_notes([square, v.reshape(2, 1)], slope=0).notes == ()
    assert read([square, v.reshape(2, 1)], slope=0) == Network.two_layer(square.T, v)


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ({"params": {"a": {"kernel": W}, "n": {"scale": B}}}, "n.scale"),
        ({"params": {"a": {"kernel": W}}, "batch_stats": {"n": {"mean": B}}}, "a normalisation (batch_stats)"),
        ({"params": {"a": {"kernel": W, "lora_a": W}}}, "a.lora_a is neither the kernel nor the bias"),
        ({"params": {"a": {"kernel": W}, "b": {"bias": B}}}, "b.bias has no kernel beside it"),
        ({"a": {"kernel": np.ones((3, 3, 1, 4))}}, "shares its weights between places"),
        ({"a": {"kernel": B}}, "must be (inputs, neurons)"),
        ({"a": {"kernel": W, "bias": V}}, "a.bias has shape (4, 1)"),
        ({"a": {"kernel": W}, "b": {"kernel": np.ones((5, 1))}}, "cannot be applied one after the other"),
        ([W, B, np.ones((5, 1))], "cannot be applied one after the other"),
        ([B, W, V], "entry 0 has shape (4,)"),
        ([(W, B, B), (V,)], "layer 0 must hold a matrix and, if it has one, a bias"),
        ([np.ones((2, 2, 2)), V], "shares its weights between places"),
        ([W, np.array([1.0, np.nan, 0, 0]), V], "is nan: every number must be finite"),
    ],
)
def test_refusals(source, why):
    assert why in refusal(source)


def test_what_lies_beside_the_parameters_is_named():
    notes = read_with_notes({**FLAX, "step": 3}, slope=0).notes
    assert notes == ("the tree of parameters given holds step beside params, of which nothing is read",)


def test_archives_of_numpy_hold_them_too(tmp_path):
    path = tmp_path / "net.npz"
    np.savez(path, W, B, V)
    assert read(path, slope=0) == OWN
    np.savez(path, **{"params/Dense_0/kernel": W, "params/Dense_0/bias": B, "params/Dense_1/kernel": V})
    assert read(path, slope=0) == OWN
    np.savez(path, **{"0.weight": W.T, "0.bias": B, "2.weight": V.T})
    assert read(path, slope=0) == OWN
    np.savez(path, W, other=B)
    assert "lacks W: it must hold W and v, and it holds other, arr_0" in refusal(path)


@pytest.mark.parametrize("name", ["model.h5", "model.weights.h5", "model.hdf5"])
def test_older_files_of_keras(name, tmp_path):
    (tmp_path / name).write_bytes(b"\x89HDF\r\n")
    assert "save the model as .keras" in refusal(tmp_path / name)
