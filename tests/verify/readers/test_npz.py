"""`.npz` networks and data: exact values kept, and each thing that goes wrong refused with its place and remedy."""

import io
import re
import zipfile
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from verify.checker.errors import InputError
from verify.problem.network import Network
from verify.readers import read, read_data, read_data_with_notes, read_with_notes

W = np.array([[1.0, 2.0], [-1.0, 0.5], [0.0, 3.0]])
V = np.array([1.0, -2.0, 0.5])
B = np.array([0.25, 0.0, -1.0])
X = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
Y = np.array([1, -1, 1])


def save(folder: Path, name: str = "net.npz", /, **arrays) -> Path:
    path = folder / name
    np.savez(path, **arrays)
    return path


def refusal(call, *arguments, **options) -> str:
    """The one sentence of the error."""
    with pytest.raises(InputError) as caught:
        call(*arguments, **options)
    message = str(caught.value)
    assert "\n" not in message
    assert len(re.sub(r"(/[^/\s]+)+/", "", message)) < 400  # without the folders of its paths
    return message


# ------------------------------------------------------------------------------------------------ what is accepted


def test_network_is_read_exactly(tmp_path):
    network = read(save(tmp_path, W=W, v=V, b=B, slope=0.25))
    assert network == Network.two_layer(W.tolist(), V.tolist(), b=B.tolist(), slope=Fraction(1, 4))
    assert network.architecture.bias
    assert not network.is_exact


def test_a_path_may_be_text_or_path_and_the_suffix_in_capitals(tmp_path):
    path = save(tmp_path, "net.NPZ.npz", W=W, v=V)
    upper = path.rename(tmp_path / "NET.NPZ")
    assert read(str(upper)) == read(upper)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.longdouble, ">f4", ">f8"])
def test_a_float_of_any_width_is_its_dyadic_value(tmp_path, dtype):
    tenth = np.array([[0.1]], dtype)
    network = read(save(tmp_path, W=tenth, v=np.ones(1, dtype)))
    assert network.hidden_weights[0][0] == Fraction(*tenth[0, 0].as_integer_ratio())
    assert network.hidden_weights[0][0] != Fraction(1, 10)


@pytest.mark.parametrize("dtype", [np.int8, np.int64, np.uint64])
def test_integers_are_exact(tmp_path, dtype):
    top = np.iinfo(dtype).max
    network = read(save(tmp_path, W=np.array([[top]], dtype), v=np.array([1], dtype)))
    assert network.hidden_weights == ((Fraction(int(top)),),)
    assert network.is_exact


def test_the_near_tie_of_float32_and_float64(tmp_path):
    single = read(save(tmp_path, W=np.array([[0.1, -0.3]], np.float32), v=np.ones(1)))
    double = read(save(tmp_path, W=np.array([[0.1, -0.3]]), v=np.ones(1)))
    (at_single,) = single.preactivations((Fraction(3), Fraction(1)))
    (at_double,) = double.preactivations((Fraction(3), Fraction(1)))
    assert float(at_single) == pytest.approx(-7.45e-9, rel=1e-3)
    assert float(at_double) == pytest.approx(2.8e-17, rel=1e-1)


def test_without_slope_it_is_relu_and_says_so(tmp_path):
    path = save(tmp_path, W=W, v=V)
    reading = read_with_notes(path)
    assert reading.network.architecture.slope == 0
    assert reading.notes == (f"{path} holds no slope: it is read as ReLU (slope 0)",)


def test_with_a_slope_nothing_is_said(tmp_path):
    assert read_with_notes(save(tmp_path, W=W, v=V, slope=0)).notes == ()
    assert read_with_notes(save(tmp_path, W=W, v=V), slope=0).notes == ()


def test_slope_and_output_bias_may_be_arrays_of_one_entry(tmp_path):
    network = read(save(tmp_path, W=W, v=V, slope=np.array([0.5]), b2=np.zeros((1, 1))))
    assert network.architecture.slope == Fraction(1, 2)


def test_a_given_slope_is_used_when_the_file_has_none(tmp_path):
    path = save(tmp_path, W=W, v=V)
    assert read(path, slope="1/3").architecture.slope == Fraction(1, 3)
    assert read(path, slope=Fraction(1, 3)).architecture.slope == Fraction(1, 3)
    assert read(path, slope="0.1").architecture.slope == Fraction(0.1)
    assert read(path, slope=1).architecture.slope == 1


@pytest.mark.parametrize("stored", [np.float32(0.1), np.float64(0.1)])
def test_a_slope_that_rounds_to_the_stored_one_agrees(tmp_path, stored):
    path = save(tmp_path, W=W, v=V, slope=stored)
    for said in (0.1, "0.1", "1/10"):
        assert read(path, slope=said).architecture.slope == Fraction(float(stored))


def test_mapping_in_memory(tmp_path):
    arrays = {"W": W, "v": V, "b": B, "slope": 0.5}
    assert read(arrays) == read(save(tmp_path, **arrays))
    assert read({"W": [[1, 2]], "v": [1]}) == Network.two_layer([[1, 2]], [1])
    assert read_data({"X": X, "y": Y}).inputs[2] == (5, 6)


def test_a_network_passes_through():
    network = Network.two_layer([[1]], [1], slope=Fraction(1, 2))
    assert read(network) is network
    assert read(network, slope="1/2") is network
    assert refusal(read, network, slope=0) == (
        "the network given says slope 1/2 but slope 0 is given: leave it out, or correct one of them"
    )


def test_data(tmp_path):
    data = read_data(save(tmp_path, "data.npz", X=X.astype(np.float32), y=Y))
    assert data.inputs == ((1, 2), (3, 4), (5, 6))
    assert data.targets == (1, -1, 1)
    assert read_data(data) is data


# ---------------------------------------------------------------------------------------------------------- labels


def test_labels_0_and_1_become_signs_and_it_is_said(tmp_path):
    path = save(tmp_path, "data.npz", X=X, y=np.array([0, 1, 0]))
    reading = read_data_with_notes(path)
    assert reading.data.targets == (-1, 1, -1)
    assert reading.notes == (f"{path}: y holds the labels 0 and 1: they are read as -1 and 1",)
    assert read_data(path, as_stored=True).targets == (0, 1, 0)


def test_float_labels_0_and_1_become_signs(tmp_path):
    assert read_data(save(tmp_path, "data.npz", X=X, y=np.array([0.0, 1.0, 1.0]))).targets == (-1, 1, 1)


@pytest.mark.parametrize("y", [[0, 0, 0], [1, 1, 1], [0, 1, 2], [-1, 0, 1], [1, 2, 1], [0.5, 1.5, 0.0]])
def test_other_targets_are_values_to_fit(tmp_path, y):
    reading = read_data_with_notes(save(tmp_path, "data.npz", X=X, y=np.array(y)))
    assert reading.data.targets == tuple(map(Fraction, y))
    assert reading.notes == ()


def test_text_labels(tmp_path):
    path = save(tmp_path, "data.npz", X=X, y=np.array(["dog", "cat", "dog"]))
    assert refusal(read_data, path) == (
        f"{path}: y holds text ('cat', 'dog'): name the negative and the positive class "
        "(--classes NEGATIVE,POSITIVE, in Python classes=(negative, positive)), or write them as -1 and 1"
    )


def test_three_text_labels(tmp_path):
    path = save(tmp_path, "data.npz", X=X, y=np.array([b"a", b"b", b"c"]))
    assert refusal(read_data, path) == (
        f"{path}: y holds text ('a', 'b', 'c'): there are 3 classes and a margin is between two, "
        "so keep the points of two and name these"
    )


def test_one_hot_labels(tmp_path):
    path = save(tmp_path, "data.npz", X=X, y=np.eye(3))
    assert refusal(read_data, path) == (
        f"{path}: y has shape (3, 3): give one target for each point, not one column for each class"
    )


# ----------------------------------------------------------------------------------------------------- output bias


def test_an_output_bias_of_exactly_0_is_accepted(tmp_path):
    for b2 in (0.0, -0.0, 0, np.zeros(1, np.float32)):
        assert read(save(tmp_path, W=W, v=V, b2=b2)) == Network.two_layer(W.tolist(), V.tolist())


def test_an_output_bias_is_refused_with_the_remedies(tmp_path):
    path = save(tmp_path, W=W, v=V, b2=np.array([1e-30]))
    assert refusal(read, path) == (
        f"{path}: the output bias b2 is 1e-30, and a network with one is not homogeneous: train without it "
        "(in PyTorch Linear(..., bias=False)), or read the same function with another norm: isoptimal audit "
        f'{path} DATA --output-bias neuron (in Python output_bias="neuron")'
    )


@pytest.mark.parametrize("slope", [0, 0.25, 1])
@pytest.mark.parametrize("b2", [0.75, -0.75])
@pytest.mark.parametrize("bias", [True, False])
def test_an_output_bias_becomes_a_neuron_of_the_same_function(tmp_path, slope, b2, bias):
    arrays = {"W": W, "v": V, "slope": slope} | ({"b": B} if bias else {})
    plain = read(save(tmp_path, "plain.npz", **arrays))
    reading = read_with_notes(save(tmp_path, **arrays, b2=b2), output_bias="neuron")
    network = reading.network
    assert network.width == plain.width + 1
    assert network.hidden_weights[-1] == (0, 0, Fraction(3, 4))
    assert network.output_weights[-1] == (1 if b2 > 0 else -1)
    for x in ((0, 0), (1, -2), (Fraction(1, 3), 5), (-7, 1)):
        assert network(x) == plain(x) + Fraction(b2)
    (note,) = reading.notes
    assert note.startswith(
        f"the output bias {b2} became hidden neuron 3, the output-bias neuron (weight 0, bias 0.75, outgoing weight "
    )
    assert ("got the bias 0" in note) is not bias


def test_output_bias_neuron_leaves_a_zero_output_bias_alone(tmp_path):
    assert read(save(tmp_path, W=W, v=V, b2=0.0), output_bias="neuron").width == 3


def test_an_unknown_wish_for_the_output_bias(tmp_path):
    assert refusal(read, save(tmp_path, W=W, v=V), output_bias="drop") == (
        'output_bias is \'drop\': it must be "refuse" or "neuron" or "keep"'
    )


# ------------------------------------------------------------------------------------------------ numbers and types


@pytest.mark.parametrize(
    ("name", "at", "place"), [("W", (2, 1), "W[2, 1]"), ("v", 1, "v[1]"), ("b", 0, "b[0]"), ("b2", (), "b2")]
)
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_network_that_is_not_finite(tmp_path, name, at, place, value):
    arrays = {"W": W.copy(), "v": V.copy(), "b": B.copy(), "b2": np.array(0.0)}
    arrays[name][at] = value
    path = save(tmp_path, **arrays)
    assert refusal(read, path) == (
        f"{path}: {place} is {value}: every number must be finite, so remove or repair that entry"
    )


@pytest.mark.parametrize(("name", "place"), [("X", "X[1, 0]"), ("y", "y[1]")])
def test_data_that_are_not_finite(tmp_path, name, place):
    arrays = {"X": X.copy(), "y": Y.astype(np.float32)}
    arrays[name][(1, 0) if name == "X" else 1] = np.nan
    path = save(tmp_path, "data.npz", **arrays)
    assert refusal(read_data, path) == (
        f"{path}: {place} is nan: every number must be finite, so remove or repair that entry"
    )


@pytest.mark.parametrize(
    ("array", "reason"),
    [
        (W + 1j, "is complex: store real numbers"),
        (W > 0, "is an array of booleans: store the numbers 0 and 1, with astype(int)"),
        (W.astype(str), "is text: store numbers, with astype(float)"),
        (W.astype(object), "is an array of Python objects: convert it to numbers first, with astype(float)"),
        (W.astype("M8[s]"), "has the type datetime64[s]: store numbers, with astype(float)"),
        (W.view([("re", float), ("im", float)]), "has the type [('re', '<f8'), ('im', '<f8')]: store numbers, "),
    ],
)
@pytest.mark.parametrize("kind", ["network", "data"])
def test_arrays_that_are_not_real_numbers(tmp_path, kind, array, reason):
    if kind == "network":
        path = save(tmp_path, W=array, v=V)
        assert refusal(read, path).startswith(f"{path}: W {reason}")
    else:
        path = save(tmp_path, X=array, y=Y)
        assert refusal(read_data, path).startswith(f"{path}: X {reason}")


def test_nothing_is_unpickled(tmp_path):
    class Trap:
        def __reduce__(self):
            return (exec, ("raise SystemExit('unpickled')",))

    path = save(tmp_path, W=W, v=np.array([Trap()], dtype=object))
    assert "array of Python objects" in refusal(read, path)
    trap = tmp_path / "trap.npz"
    trap.write_bytes(b"\x80\x04cposix\nsystem\n.")
    assert "is not an .npz archive" in refusal(read, trap)


# ---------------------------------------------------------------------------------------------------- names, shapes


def test_missing_array(tmp_path):
    path = save(tmp_path, W=W)
    assert refusal(read, path) == f"{path} lacks v: it must hold W and v, and it holds W"
    path = save(tmp_path, "data.npz", X=X)
    assert refusal(read_data, path) == f"{path} lacks y: it must hold X and y, and it holds X"


def test_no_array(tmp_path):
    path = save(tmp_path)
    assert refusal(read, path) == f"{path} lacks W: it must hold W and v, and it holds nothing"


def test_unknown_array(tmp_path):
    path = save(tmp_path, W=W, v=V, bias=B)
    assert refusal(read, path) == f"{path} holds bias, which has no meaning here: leave only W, v, b, b2, slope"
    path = save(tmp_path, "data.npz", X=X, y=Y, w=Y)
    assert refusal(read_data, path) == f"{path} holds w, which has no meaning here: leave only X, y"


def test_network_and_data_exchanged(tmp_path):
    network, data = save(tmp_path, W=W, v=V), save(tmp_path, "data.npz", X=X, y=Y)
    assert refusal(read, data) == f"{data} holds a data set (X, y): give the network first, then the data"
    assert refusal(read_data, network) == f"{network} holds a network (W, v): data are expected here"


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"W": W.T}, ("W has shape (2, 3) but v has 3 entries: W must be (neurons, inputs) and v (neurons,); "
                     "scikit-learn and Flax hold the transpose, so store W.T")),
        ({"v": V[:1]}, "W has shape (3, 2) but v has 1 entry: W must be (neurons, inputs) and v (neurons,)"),
        ({"b": B[:2]}, "W has 3 rows but b has 2 entries: b must hold one bias for each neuron"),
        ({"W": W[0]},
         "W has shape (2,) and must be (neurons, inputs): use reshape(-1, 1), or reshape(1, -1) for one row"),
        ({"W": W[None]}, "W has shape (1, 3, 2) and must be (neurons, inputs): store a matrix"),
        ({"v": V[None, None]}, "v has shape (1, 1, 3) and must be (neurons,): store it with reshape(-1)"),
        ({"v": np.array(1.0)}, "v has shape () and must be (neurons,): store it with reshape(-1)"),
        ({"v": np.stack([V, -V, V])}, ("the last layer (v) has 3 outputs, as for a softmax over classes or several "
                                       "targets, and its weights count in the norm one by one: train a network with "
                                       "one output, or keep two of the classes")),
        ({"v": np.stack([V, -V]), "b2": [1, 2, 3]}, "v has 2 rows but b2 has 3 entries: give one bias for each"),
        ({"b": W}, "b has shape (3, 2) and must be (neurons,): store it with reshape(-1)"),
        ({"b2": B}, "b2 has shape (3,) and must be one number: store one number"),
        ({"slope": B}, "slope has shape (3,) and must be one number: store one number"),
        ({"W": W[:0]}, "W is empty (shape (0, 2)): there must be at least one number"),
        ({"W": W[:, :0]}, "W is empty (shape (3, 0)): there must be at least one number"),
        ({"v": V[:0]}, "v is empty (shape (0,)): there must be at least one number"),
        ({"slope": -0.5}, "slope is -0.5: it must lie between 0 (ReLU) and 1 (linear)"),
        ({"slope": 2}, "slope is 2: it must lie between 0 (ReLU) and 1 (linear)"),
    ],
)  # fmt: skip
def test_network_shapes(tmp_path, arrays, message):
    path = save(tmp_path, **({"W": W, "v": V} | arrays))
    assert refusal(read, path) == f"{path}: {message}"


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        (
            {"X": X[0]},
            "X has shape (2,) and must be (points, inputs): use reshape(-1, 1), or reshape(1, -1) for one row",
        ),
        ({"X": X[:0], "y": Y[:0]}, "X is empty (shape (0, 2)): there must be at least one number"),
        ({"X": X[:, :0]}, "X is empty (shape (3, 0)): there must be at least one number"),
        ({"y": Y[:1]}, "X has 3 points but y has 1 target: give one target for each point"),
        (
            {"X": X[:, :1].T},
            "X has 1 point but y has 3 targets: give one target for each point, or X.T if each column of X is a point",
        ),
        ({"y": Y[:, None, None]}, "y has shape (3, 1, 1) and must be (points,): store it with reshape(-1)"),
        ({"X": X > 0}, "X is an array of booleans: store the numbers 0 and 1, with astype(int)"),
    ],
)
def test_data_shapes(tmp_path, arrays, message):
    path = save(tmp_path, "data.npz", **({"X": X, "y": Y} | arrays))
    assert refusal(read_data, path) == f"{path}: {message}"


def test_slopes_that_disagree(tmp_path):
    path = save(tmp_path, W=W, v=V, slope=0.01)
    assert refusal(read, path, slope=0) == (
        f"{path} says slope 0.01 but slope 0 is given: leave it out, or correct one of them"
    )


@pytest.mark.parametrize(
    ("slope", "reason"), [("ten", "give a number, 0 for ReLU"), ("1.5", "must lie between 0"), (True, "a truth value"),
                          (float("nan"), "not a finite real number"), ("nan", "give a number")],
)  # fmt: skip
def test_slopes_that_are_no_slopes(tmp_path, slope, reason):
    message = refusal(read, save(tmp_path, W=W, v=V), slope=slope)
    assert message.startswith("the slope given is ")
    assert reason in message


# -------------------------------------------------------------------------------------------------- damaged archives


def test_not_an_archive(tmp_path):
    path = tmp_path / "net.npz"
    for content in (b"", b"hello", b"W,v\n1,2\n"):
        path.write_bytes(content)
        assert refusal(read, path) == f"{path} is not an .npz archive: write it with numpy.savez"


def test_a_single_array(tmp_path):
    np.save(tmp_path / "net.npy", W)
    path = (tmp_path / "net.npy").rename(tmp_path / "net.npz")
    assert refusal(read, path) == f"{path} is a single array: write the named arrays with numpy.savez"


def test_an_archive_of_something_else(tmp_path):
    path = tmp_path / "net.npz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("W", b"not an array")
        archive.writestr("v", b"not an array")
    assert refusal(read, path) == f"{path}: W is not an array: write it with numpy.savez"


def test_two_arrays_of_one_name(tmp_path):
    path = save(tmp_path, W=W, v=V)
    with zipfile.ZipFile(path) as archive:
        again = archive.read("W.npy")
    with pytest.warns(UserWarning, match="Duplicate name"), zipfile.ZipFile(path, "a") as archive:
        archive.writestr("W.npy", again)
    assert refusal(read, path) == f"{path} holds two arrays of one name: write it again with numpy.savez"


def test_cut_short(tmp_path):
    path = save(tmp_path, W=W, v=V)
    whole = path.read_bytes()
    for size in range(4, len(whole), 7):
        path.write_bytes(whole[:size])
        assert refusal(read, path) == f"{path} is damaged or cut short: write it again with numpy.savez"


def test_an_array_that_claims_to_be_huge(tmp_path):
    buffer = io.BytesIO()
    np.lib.format.write_array_header_1_0(buffer, {"descr": "<f8", "fortran_order": False, "shape": (1 << 50, 1 << 12)})
    path = tmp_path / "net.npz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("W.npy", buffer.getvalue())
        archive.writestr("v.npy", buffer.getvalue())
    assert refusal(read, path) == f"{path} is damaged or cut short: write it again with numpy.savez"


@given(position=st.integers(0, 700), byte=st.integers(0, 255))
def test_a_flipped_byte_is_read_or_refused(tmp_path_factory, position, byte):
    buffer = io.BytesIO()
    np.savez_compressed(buffer, W=W, v=V)
    content = bytearray(buffer.getvalue())
    content[position % len(content)] = byte
    path = tmp_path_factory.getbasetemp() / "flipped.npz"
    path.write_bytes(content)
    try:
        network = read(path)
    except InputError as error:
        assert str(error).startswith(str(path))
    else:
        assert network == Network.two_layer(W.tolist(), V.tolist())


# --------------------------------------------------------------------------------------------------- objects in memory


def test_ragged_rows_in_memory():
    message = refusal(read, {"W": [[1, 2], [3]], "v": [1, 1]})
    assert message == "the arrays given: W cannot be made an array: give rows of equal length"


def test_exact_numbers_in_memory_stay_exact():
    network = read({"W": [[Fraction(1, 3), 2**70 + 1]], "v": ["1/7"], "slope": 0})
    assert network == Network.two_layer([[Fraction(1, 3), 2**70 + 1]], [Fraction(1, 7)])
    assert network.is_exact
    data = read_data([[2**53 + 1, 0.5]], ["2/3"])
    assert (data.inputs, data.targets) == (((2**53 + 1, Fraction(1, 2)),), (Fraction(2, 3),))


def test_two_logits_of_an_archive(tmp_path):
    V2, B2 = np.stack([V, -2 * V]), np.array([0.25, -0.5])
    path = save(tmp_path, W=W, v=V2, b=B, b2=B2)
    assert refusal(read, path).endswith(
        "isoptimal audit "
        f'{path} DATA --two-logits difference --output-bias neuron (in Python two_logits="difference", '
        'output_bias="neuron")'
    )
    reading = read_with_notes(path, two_logits="difference", output_bias="neuron")
    expected = Network.two_layer(
        [*W.tolist(), [0, 0]], [*(-3 * Fraction(v) for v in V.tolist()), -1], b=[*B.tolist(), Fraction(3, 4)]
    )
    assert reading.network == expected
    assert "holds no slope: it is read as ReLU (slope 0)" in " ".join(reading.notes)
    assert read(save(tmp_path, W=W, v=V2, b=B, slope=0.25), two_logits="difference").architecture.slope == Fraction(
        1, 4
    )


def test_other_names_are_told_what_they_must_be(tmp_path):
    path = save(tmp_path, "net.npz", W=W, b=[0.0] * len(W), a=[1.0] * len(W))
    told = refusal(read, path)
    assert told.startswith(f"{path} lacks v: it must hold W and v, and it holds W, b, a: rename them, W for the hidden")
    assert told.endswith("v for the output weights, or give the module that they come from")


def test_an_output_bias_that_is_a_long_fraction_is_told_as_a_double():
    def note(first, second):
        network = {"W": np.eye(2), "v": np.array([[1.0, 0], [0, 1]]), "b2": np.array([first, second]), "slope": 0}
        return " ".join(read_with_notes(network, two_logits="difference", output_bias="neuron").notes)

    assert "the output bias 0.20000000298023224 became hidden" in note(0.0, float(np.float32(0.2)))
    assert "the output bias 3/4 became" in note(0.25, 1.0)
    assert "the output bias about 0.2 became" in note(1e-30, 0.2)
