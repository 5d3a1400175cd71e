"""Keras models by what they say of themselves, without Keras; against Keras itself where it is installed."""

import io
import json
import zipfile
from fractions import Fraction

import numpy as np
import pytest

from verify.checker.errors import InputError
from verify.problem.network import Network
from verify.readers import read, read_with_notes

rng = np.random.default_rng(5)
W, B, V = rng.normal(size=(3, 4)), rng.normal(size=4), rng.normal(size=(4, 1))
OWN = Network.two_layer(W.T, V[:, 0], b=B)


class Layer:
    """What a layer of Keras has."""

    def __init__(self, kind: str, *weights, **config) -> None:
        self.kind, self.weights, self.config, self.name = kind, weights, config, config["name"]

    def get_weights(self):
        return list(self.weights)


class Sequential:
    """What a model of Keras has."""

    __module__ = "keras.src.models.sequential"

    def __init__(self, *layers, **more) -> None:
        self.layers, self.more, self.name = layers, more, "model"

    def get_config(self):
        entries = [
            {"class_name": "Sequential", "config": {"name": "model", **layer.get_config()}}
            if isinstance(layer, Sequential)
            else {"class_name": layer.kind, "config": layer.config, **layer.config.get("row", {})}
            for layer in self.layers
        ]
        return {"layers": entries, **self.more}


def hidden(activation: object = "relu", **more):
    return Layer("Dense", W, B, name="hidden", activation=activation, **more)


LAST = Layer("Dense", V, name="last", activation="linear", use_bias=False)


def leaky(slope: float):
    return {"module": "keras.layers", "class_name": "LeakyReLU", "config": {"negative_slope": slope}}


def refusal(source, **options) -> str:
    with pytest.raises(InputError) as caught:
        read(source, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    ("built", "slope"),
    [
        (Sequential(hidden(), LAST), 0),
        (Sequential(Layer("InputLayer", name="i"), Layer("Flatten", name="f"), hidden(), LAST), 0),
        (Sequential(hidden(None), Layer("ReLU", name="r", max_value=None, negative_slope=0.0, threshold=0.0), LAST), 0),
        (Sequential(hidden(None), Layer("ReLU", name="r", negative_slope=0.25), LAST), Fraction(1, 4)),
        (Sequential(hidden(None), Layer("Activation", name="r", activation="relu"), LAST), 0),
        (Sequential(hidden(None), Layer("LeakyReLU", name="r", negative_slope=0.5), LAST), Fraction(1, 2)),
        (Sequential(hidden(None), Layer("LeakyReLU", name="r", alpha=0.5), LAST), Fraction(1, 2)),
        (Sequential(hidden("leaky_relu"), LAST), Fraction(0.2)),
        (Sequential(hidden(leaky(0.125)), LAST), Fraction(1, 8)),
        (Sequential(hidden("linear"), LAST), 1),
        (Sequential(Sequential(hidden()), LAST), 0),
        (
            Sequential(
                Layer("InputLayer", name="i", batch_shape=[None, 1, 3]), Layer("Flatten", name="f"), hidden(), LAST
            ),
            0,
        ),
        (Sequential(Layer("InputLayer", name="i", batch_shape=[None, None]), hidden(), LAST), 0),
    ],
)
def test_the_same_network(built, slope):
    reading = read_with_notes(built)
    assert reading.network == Network.two_layer(W.T, V[:, 0], b=B, slope=slope)
    assert reading.notes == ()


def halved(z):
    return z / 2


def with_module(layer: Layer, module: object) -> Layer:
    """The layer as Keras 3 lists it."""
    return Layer(layer.kind, *layer.weights, **layer.config, row={"module": module})


def test_functions_and_classes_whose_code_is_not_known_are_refused():
    """A lambda, a function that is called as one of Keras is, a layer and a model with a call of their own."""
    assert "a function of its own" in refusal(Sequential(hidden({"value": ["code", None, None]}), LAST))
    named = hidden("linear")
    named.activation = halved
    assert "a function of its own" in refusal(Sequential(named, LAST))
    assert "a Dense of its own" in refusal(Sequential(with_module(hidden(), None), LAST))
    assert "a Dense of its own" in refusal(Sequential(with_module(hidden(), "mine.layers"), LAST))
    assert read(Sequential(with_module(hidden(), "keras.layers"), LAST)) == OWN

    class Squared(Sequential):
        __module__ = "mine"

        def call(self, x):
            return x**2

    assert "a model of a class of its own (Squared)" in refusal(Squared(hidden(), LAST))


@pytest.mark.parametrize("outputs", [["last", 0, 0], [["last", 0, 0]]])
def test_the_output_of_a_functional_model_is_its_last_layer(outputs):
    rows = [("hidden", hidden), ("last", lambda **more: Layer("Dense", V, name="last", use_bias=False, **more))]
    start = Layer("InputLayer", name="x", row={"inbound_nodes": []})
    taken, listed = "x", [start]
    for name, made in rows:
        listed.append(made(row={"inbound_nodes": [[[taken, 0, 0, {}]]]}))
        taken = name
    assert read(Sequential(*listed, input_layers=[["x", 0, 0]], output_layers=outputs)) == OWN
    for others in (["hidden", 0, 0], [["last", 0, 0], ["hidden", 0, 0]]):
        built = Sequential(*listed, input_layers=[["x", 0, 0]], output_layers=others)
        assert "several outputs, or one before its last layer" in refusal(built)


def test_dropout_and_sigmoid_are_left_out_with_a_note():
    last = Layer("Dense", V, name="last", activation="sigmoid", use_bias=False)
    reading = read_with_notes(Sequential(hidden(), Layer("Dropout", name="d", rate=0.5), last))
    assert reading.network == OWN
    assert "layer d: Dropout is read as what it is at inference, nothing" in reading.notes[0]
    assert "its Sigmoid is left out" in reading.notes[1]


def test_what_scales_the_inputs():
    rescaled = Sequential(Layer("Rescaling", name="s", scale=0.5, offset=[1.0, 0.0, -2.0]), hidden(), LAST)
    assert "Rescaling s" in refusal(rescaled)
    network = read(rescaled, fold=True)
    for x in ((0, 0, 0), (1, -2, 3)):
        assert network(x) == OWN([Fraction(c) / 2 + o for c, o in zip(x, (1, 0, -2), strict=True)])
    mean, variance = np.float32([1, 2, 3]), np.float32([4, 0.25, 2])
    adapted = Sequential(Layer("Normalization", mean, variance, np.int64(9), name="n"), hidden(), LAST)
    roots = [2, Fraction(1, 2), Fraction(float(np.sqrt(np.float32(2))))]
    assert read(adapted, fold=True)((5, 7, 1)) == OWN(
        [(c - m) / r for c, m, r in zip((5, 7, 1), (1, 2, 3), roots, strict=True)]
    )


def row(*before: str) -> dict[str, object]:
    histories = [{"class_name": "__keras_tensor__", "config": {"keras_history": [name, 0, 0]}} for name in before]
    return {"inbound_nodes": [{"args": histories, "kwargs": {}}] if before else []}


def test_layers_that_were_not_trained_are_named():
    notes = read_with_notes(Sequential(hidden(trainable=False), LAST)).notes
    assert any("hidden.kernel was not trained: the audit is about networks in which every layer is" in n for n in notes)
    assert not any("was not trained" in n for n in read_with_notes(Sequential(hidden(trainable=True), LAST)).notes)


def test_functional_models_are_one_row():
    start = Layer("InputLayer", name="i", row=row())
    ends = {"input_layers": ["i", 0, 0], "output_layers": ["last", 0, 0]}
    last = Layer("Dense", V, name="last", use_bias=False, row=row("hidden"))
    assert read(Sequential(start, hidden(row=row("i")), last, **ends)) == OWN
    of_keras_2 = Layer("Dense", V, name="last", use_bias=False, row={"inbound_nodes": [[["hidden", 0, 0, {}]]]})
    assert read(Sequential(start, hidden(row={"inbound_nodes": [[["i", 0, 0, {}]]]}), of_keras_2, **ends)) == OWN
    for wrong in (row("i"), row("hidden", "i"), {"inbound_nodes": [*row("hidden")["inbound_nodes"]] * 2}):
        skipping = Layer("Dense", V, name="last", use_bias=False, row=wrong)
        message = refusal(Sequential(start, hidden(row=row("i")), skipping, **ends))
        assert "the layer last does not take the layer before it alone" in message


@pytest.mark.parametrize(
    ("built", "why"),
    [
        (Sequential(hidden("tanh"), LAST), "layer hidden: tanh is not max(z, a z)"),
        (Sequential(hidden("sigmoid"), LAST), "layer last comes after a Sigmoid"),
        (
            Sequential(hidden(None), Layer("ReLU", name="r", max_value=6.0), LAST),
            "layer r: a ReLU with max_value=6.0 is not max",
        ),
        (
            Sequential(hidden(None), Layer("ReLU", name="r", threshold=0.5), LAST),
            "a ReLU with threshold=0.5 is not max",
        ),
        (Sequential(hidden(None), Layer("PReLU", B, name="r"), LAST), "the slope of PReLU is trained"),
        (Sequential(hidden(None), Layer("BatchNormalization", B, name="r"), LAST), "layer r: BatchNormalization makes"),
        (Sequential(Layer("Conv1D", np.ones((2, 1, 4)), name="c"), LAST), "layer c: Conv1D shares its weights"),
        (Sequential(Layer("LeakyReLU", name="r"), hidden(), LAST), "layer r: an activation acts on the inputs"),
        (Sequential(hidden()), "an activation follows the last layer, hidden.kernel"),
        (Sequential(hidden(use_bias=False), LAST), "layer hidden has 2 arrays"),
        (Sequential(Layer("Normalization", name="n", mean=None, variance=None), hidden(), LAST), "call adapt first"),
        (Sequential(hidden(), LAST, Layer("Softmax", name="s", axis=0)), "a Softmax over axis 0 is not one over the"),
        (Sequential(), "is a model of a class of its own"),
        (
            Sequential(Layer("InputLayer", name="i", batch_shape=[None, 5, 3]), hidden(), LAST),
            "a point has shape (5, 3)",
        ),
    ],
)
def test_refusals_name_the_layer(built, why):
    assert why in refusal(built)


def test_a_layer_alone_is_no_model():
    alone = type("Dense", (), {"__module__": "keras.src.layers.core.dense"})()
    assert "is one layer, or no model" in refusal(alone)


def archive(config: object, weights: bytes = b"") -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as target:
        target.writestr("config.json", json.dumps(config))
        target.writestr("model.weights.h5", weights)
    return content.getvalue()


@pytest.mark.parametrize(
    "content", [b"", b"PK", archive([]), archive({}), archive({"config": {"layers": [1]}}, b"\x89HDF")]
)
def test_damaged_files(content, tmp_path):
    pytest.importorskip("h5py")
    path = tmp_path / "net.keras"
    path.write_bytes(content)
    assert str(path) in refusal(path)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # Keras's own
def test_against_keras_itself(tmp_path):
    keras = pytest.importorskip("keras")
    layers = keras.layers
    model = keras.Sequential([layers.Input((3,)), layers.Dense(5, activation="relu"), layers.Dense(1, use_bias=False)])
    model.save(tmp_path / "net.keras")
    network = read(model)
    assert read(tmp_path / "net.keras") == read(model.get_weights(), slope=0) == network
    x = rng.normal(size=(5, 3)).astype(np.float32)
    assert np.ravel(model(x)) == pytest.approx([float(network(row.tolist())) for row in x], rel=1e-5, abs=1e-6)
