"""ONNX graphs built node by node: what is read, exactly, and what is refused with the name of the node."""

import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

from verify.checker.errors import InputError  # noqa: E402
from verify.problem.network import Network  # noqa: E402
from verify.readers import read, read_with_notes  # noqa: E402

rng = np.random.default_rng(5)
W, B, V = rng.normal(size=(3, 4)).astype(np.float32), rng.normal(size=4), rng.normal(size=(4, 1))
OWN = Network.two_layer(W.T, V[:, 0], b=B)
POINTS = [(0, 0, 0), (1, -2, 3), (Fraction(1, 3), 5, -4)]


def node(kind: str, *inputs: str, out: str, **attributes):
    return helper.make_node(kind, inputs, [out], name=f"n_{out}", **attributes)


def model(*nodes, sizes=("n", 3), outputs=("y",), **constants):
    shape = [helper.make_tensor_value_info("x", TensorProto.FLOAT, sizes)]
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs]
    stored = [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()]
    return helper.make_model(helper.make_graph(list(nodes), "g", shape, ends, stored))


PLAIN = (node("MatMul", "x", "W", out="a"), node("Add", "a", "B", out="b"), node("Relu", "b", out="c"))
LAST = node("MatMul", "c", "V", out="y")


def constants(**more):
    return {"W": W, "B": B, "V": V, **more}


def refusal(source, **options) -> str:
    with pytest.raises(InputError) as caught:
        read(source, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    "built",
    [
        model(*PLAIN, LAST, **constants()),
        model(node("Gemm", "x", "W", "B", out="b"), PLAIN[2], node("Gemm", "c", "V", out="y"), **constants()),
        model(node("Gemm", "x", "T", "B", out="b", transB=1), PLAIN[2], LAST, **constants(T=W.T)),
        model(node("Transpose", "T", out="W2", perm=[1, 0]), node("MatMul", "x", "W2", out="a"), *PLAIN[1:], LAST,
              **constants(T=W.T)),
        model(node("Constant", out="W3", value=numpy_helper.from_array(W)), node("MatMul", "x", "W3", out="a"),
              *PLAIN[1:], LAST, **constants()),
        model(node("Flatten", "x", out="f"), node("Identity", "W", out="W4"), node("MatMul", "f", "W4", out="a"),
              *PLAIN[1:], LAST, sizes=("n", 1, 3), **constants()),
        model(*PLAIN[:2], node("Clip", "b", "zero", out="c"), LAST, **constants(zero=np.float32(0))),
        model(*PLAIN[:2], node("Max", "b", "zero", out="c"), LAST, **constants(zero=np.zeros(1))),
        model(node("Cast", "x", out="d", to=11), node("MatMul", "d", "W", out="a"), *PLAIN[1:],
              node("MatMul", "c", "V", out="z"), node("Reshape", "z", "s", out="y"), **constants(s=[-1])),
        model(*PLAIN, node("Dropout", "c", out="d"), node("MatMul", "d", "V", out="z"), node("Squeeze", "z", out="y"),
              **constants()),
        model(node("Add", "x", "zeros", out="d"), node("MatMul", "d", "W", out="a"), *PLAIN[1:],
              node("MatMul", "c", "V", out="z"), node("Mul", "z", "ones", out="y"),
              **constants(zeros=np.zeros(3), ones=np.float32(1))),
    ],
)  # fmt: skip
def test_the_same_network(built, tmp_path):
    reading = read_with_notes(built)
    assert reading.network == OWN
    assert reading.notes == ()
    (tmp_path / "net.onnx").write_bytes(built.SerializeToString())
    assert read(tmp_path / "net.onnx") == OWN


def test_nodes_that_no_output_depends_on_are_left_out():
    """Behind the output, and beside it."""
    built = model(*PLAIN, LAST, node("Neg", "y", out="u"), node("Tanh", "x", out="w"), **constants())
    assert read(built) == OWN


def test_axes_of_constants_that_are_squeezed():
    narrow = model(node("Squeeze", "K", "zero", out="W1"), node("MatMul", "x", "W1", out="a"), *PLAIN[1:], LAST,
                   sizes=("n", 1), **constants(K=W[None, :1], zero=np.array([0])))  # fmt: skip
    assert read(narrow) == Network.two_layer(W[:1].T, V[:, 0], b=B)


def test_slopes():
    steep = node("LeakyRelu", "b", out="c", alpha=0.25)
    assert read(model(*PLAIN[:2], steep, LAST, **constants())).architecture.slope == Fraction(1, 4)
    default = read(model(*PLAIN[:2], node("LeakyRelu", "b", out="c"), LAST, **constants()), slope=0.01)
    assert default.architecture.slope == Fraction(float(np.float32(0.01)))
    twice = model(*PLAIN[:2], node("LeakyRelu", "b", out="d", alpha=0.5), node("LeakyRelu", "d", out="c", alpha=0.5),
                  LAST, **constants())  # fmt: skip
    assert read(twice).architecture.slope == Fraction(1, 4)


def test_constants_that_scale_are_folded_where_that_is_allowed():
    built = model(
        node("Sub", "x", "m", out="p"), node("Div", "p", "s", out="q"), node("MatMul", "q", "W", out="a"), *PLAIN[1:],
        node("Mul", "c", "h", out="r"), node("MatMul", "r", "V", out="t"), node("Div", "t", "k", out="u"),
        node("Sub", "one", "u", out="y"), **constants(m=[1.0, 2, 3], s=[0.5, 3, 2], h=[1.0, 2, 3, 4], k=3.0, one=1.0),
    )  # fmt: skip
    message = refusal(built, output_bias="neuron")
    assert "Mul n_r, Div n_u, Sub n_y, Sub n_p, Div n_q" in message
    network = read(built, output_bias="neuron", fold=True)
    assert not network.is_exact
    for x in POINTS:
        z = [(Fraction(c) - m) / s for c, m, s in zip(x, (1, 2, 3), (Fraction(1, 2), 3, 2), strict=True)]
        hidden = [max(sum(Fraction(float(w)) * c for w, c in zip(row, z, strict=True)) + Fraction(b), 0)
                  for row, b in zip(W.T, B, strict=True)]  # fmt: skip
        total = sum(Fraction(v) * h * f for v, h, f in zip(V[:, 0], hidden, (1, 2, 3, 4), strict=True))
        assert network(x) == 1 - total / 3


def test_alpha_and_beta_of_gemm():
    built = model(node("Gemm", "x", "W", "B", out="b", alpha=2.0, beta=0.5), PLAIN[2], LAST, **constants())
    assert read(built, fold=True) == Network.two_layer(2 * W.T, V[:, 0], b=B / 2)
    assert "scales or shifts (Gemm n_b)" in refusal(built)


def test_a_head_is_left_out():
    reading = read_with_notes(
        model(*PLAIN, node("MatMul", "c", "V", out="z"), node("Sigmoid", "z", out="y"), **constants())
    )
    assert reading.network == OWN
    assert "its Sigmoid is left out" in reading.notes[0]
    two = constants() | {"V": np.hstack([V, -V])}
    logits = (*PLAIN, node("MatMul", "c", "V", out="z"))
    for tail in (node("Softmax", "z", out="y"), node("ArgMax", "z", out="y", axis=1), node("Identity", "z", out="y")):
        assert read(model(*logits, tail, **two), two_logits="difference") == Network.two_layer(W.T, -2 * V[:, 0], b=B)


def test_a_change_of_sign_needs_no_option_and_changes_no_norm():
    reading = read_with_notes(
        model(*PLAIN, node("MatMul", "c", "V", out="z"), node("Neg", "z", out="y"), **constants())
    )
    assert reading.network == Network.two_layer(W.T, -V[:, 0], b=B)
    assert not any("norm" in note for note in reading.notes)


@pytest.mark.parametrize("tail", [node("Softmax", "z", out="y", axis=0), node("ArgMax", "z", out="y", axis=0)])
def test_a_head_over_the_points_is_refused(tail):
    two = constants() | {"V": np.hstack([V, -V])}
    built = model(*PLAIN, node("MatMul", "c", "V", out="z"), tail, **two)
    assert f"a {tail.op_type} over axis 0 is not one over the outputs" in refusal(built, two_logits="difference")


def test_weights_beside_the_file(tmp_path):
    built = model(*PLAIN, LAST, **constants())
    onnx.save(built, tmp_path / "net.onnx", save_as_external_data=True, location="net.onnx.data", size_threshold=0)
    assert read(tmp_path / "net.onnx") == OWN
    (tmp_path / "net.onnx.data").write_bytes(b"short")
    assert "net.onnx.data is shorter than the weights W" in refusal(tmp_path / "net.onnx")
    (tmp_path / "net.onnx.data").unlink()
    assert "net.onnx.data does not exist" in refusal(tmp_path / "net.onnx")
    for place in ("../net.onnx.data", "/etc/passwd", "..", ""):
        for tensor in (stored := onnx.load(tmp_path / "net.onnx", load_external_data=False)).graph.initializer:
            next(entry for entry in tensor.external_data if entry.key == "location").value = place
        (tmp_path / "away.onnx").write_bytes(stored.SerializeToString())
        assert "not beside the model" in refusal(tmp_path / "away.onnx")


@pytest.mark.parametrize(
    ("built", "why"),
    [
        (model(*PLAIN, node("Add", "c", "b", out="d"), node("MatMul", "d", "V", out="y"), **constants()),
         "node n_d (Add) does not take the value before it alone"),
        (model(*PLAIN, node("MatMul", "c", "c", out="y"), **constants()), "node n_y (MatMul) does not take"),
        (model(*PLAIN, LAST, node("Add", "y", "c", out="w"), outputs=("w",), **constants()), "node n_w (Add)"),
        (model(*PLAIN, LAST, outputs=("y", "c"), **constants()), "has several outputs (y, c)"),
        (model(*PLAIN[:2], node("Tanh", "b", out="c"), LAST, **constants()), "(Tanh): Tanh is not max(z, a z)"),
        (model(*PLAIN[:2], node("Sigmoid", "b", out="c"), LAST, **constants()), "node n_y (MatMul) after the output"),
        (model(*PLAIN[:2], node("PRelu", "b", "p", out="c"), LAST, **constants(p=np.ones(4))), "(PRelu): the slope of"),
        (model(*PLAIN[:2], node("Clip", "b", "p", "q", out="c"), LAST, **constants(p=0.0, q=6.0)), "n_c (Clip)"),
        (model(*PLAIN[:2], node("LeakyRelu", "b", out="c", alpha=-0.5), LAST, **constants()), "must lie between 0"),
        (model(*PLAIN[:2], node("Shape", "b", out="t"), node("Cast", "t", out="q", to=1),
               node("Clip", "b", "zero", "q", out="c"), LAST, **constants(zero=0.0)), "n_c (Clip)"),
        (model(*PLAIN[:2], node("Shape", "b", out="t"), node("Cast", "t", out="q", to=1),
               node("Div", "b", "q", out="c"), LAST, **constants()), "node n_c (Div) takes 0 constants"),
        (model(node("Relu", "x", out="x2"), node("MatMul", "x2", "W", out="a"), *PLAIN[1:], LAST, **constants()),
         "node n_x2 (Relu): an activation acts on the inputs"),
        (model(*PLAIN, outputs=("c",), **constants()), "an activation follows the last layer, W"),
        (model(node("Identity", "x", out="y")), "has no layer with weights"),
        (model(node("Conv", "x", "K", out="y"), K=np.ones((1, 1, 2))), "node n_y (Conv): Conv shares its weights"),
        (model(node("MatMul", "x", "K", out="y"), K=np.ones((2, 3, 1))), "K has shape (2, 3, 1) and must be a matrix"),
        (model(node("MatMul", "K", "x", out="y"), K=np.ones((2, 3))), "node n_y (MatMul) multiplies by a matrix from"),
        (model(*PLAIN, LAST, sizes=("n", 5, 3), **constants()), "a point has 15 numbers, but W takes 3"),
        (model(*PLAIN, LAST, **constants(B=np.ones(3))), "B has 3 numbers, but W gives 4"),
        (model(*PLAIN, LAST, **constants(B=np.ones((2, 4)))), "node n_b (Add) takes a constant of shape (2, 4)"),
        (model(*PLAIN, LAST, **constants(W=np.full((3, 4), np.nan))), "W[0, 0] is nan"),
        (model(node("Div", "x", "W0", out="d"), node("MatMul", "d", "W", out="a"), *PLAIN[1:], LAST,
               **constants(W0=0.0)), "node n_d (Div) divides by a computed value or by 0"),
        (model(node("Mul", "x", "W0", out="d"), node("MatMul", "d", "W", out="a"), *PLAIN[1:], LAST,
               **constants(W0=np.array([1.0, 0, 1]))), "scales column 1 by 0"),
        (model(node("Transpose", "x", out="t"), node("MatMul", "t", "W", out="a"), *PLAIN[1:], LAST, **constants()),
         "node n_t (Transpose)"),
        (model(*PLAIN, node("Dropout", "c", "r", "t", out="d"), node("MatMul", "d", "V", out="y"),
               **constants(r=0.5, t=True)), "node n_d (Dropout) is in training mode"),
        (model(node("Cast", "x", out="d", to=7), node("MatMul", "d", "W", out="a"), *PLAIN[1:], LAST, **constants()),
         "node n_d (Cast)"),
        (model(node("Gemm", "x", "W", out="a", transA=1), *PLAIN[1:], LAST, **constants()),
         "points as columns (transA)"),
        (model(node("Mul", "W", "B", out="M"), node("MatMul", "x", "M", out="a"), *PLAIN[1:], LAST, **constants()),
         "node n_M (Mul) computes from constants"),
        (model(*PLAIN[:2], node("Relu", "b", out="c", domain="my.own"), LAST, **constants()), "of the domain 'my.own'"),
    ],
)  # fmt: skip
def test_refusals_name_the_node(built, why):
    assert why in refusal(built)


def test_damaged_files(tmp_path):
    whole = model(*PLAIN, LAST, **constants()).SerializeToString()
    path = tmp_path / "net.onnx"
    for end in range(0, len(whole) - 1, 7):
        path.write_bytes(whole[:end])
        with pytest.raises(InputError):
            read(path)
    assert "give the ModelProto" in refusal(model(*PLAIN, LAST, **constants()).graph)


def test_onnx_is_imported_for_its_own_files_only():
    script = "import sys; from verify import read; read({'W': [[1.0]], 'v': [1.0]}); assert 'onnx' not in sys.modules"
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60)
