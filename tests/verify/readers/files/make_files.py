"""Write the files beside this script, and expected.json with what the frameworks hold: python make_files.py.

It needs torch, onnxscript, scikit-learn, skl2onnx, keras (with a backend), jax, flax and safetensors. The tests read
the files, so that each format is read where no framework is installed.
"""

from __future__ import annotations

import io
import json
import warnings
import zipfile
from pathlib import Path

import flax.linen
import jax
import keras
import numpy as np
import onnx
import safetensors.flax
import safetensors.torch
import torch
from skl2onnx import to_onnx
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

HERE = Path(__file__).parent
rng = np.random.default_rng(7)
X = rng.normal(size=(30, 3)) * [1, 2, 0.5] + [0, 1, -3]
LABELS = (X[:, 0] > 0).astype(int)
expected: dict[str, dict[str, object]] = {}


def note(name: str, W: object, v: object, b: object = None, b2: float = 0, slope: float = 0, **options: object) -> None:
    """W (neurons, inputs), v, b, b2, slope as the framework has them, and the options of read."""
    lists = {key: None if value is None else np.asarray(value, dtype=float).tolist() for key, value in
             {"W": W, "v": v, "b": b}.items()}  # fmt: skip
    expected[name] = {**lists, "b2": float(b2), "slope": float(slope), "options": options}


def of_torch() -> None:
    """The two exporters to ONNX, and safetensors in bfloat16."""
    torch.manual_seed(0)
    nn = torch.nn
    model = nn.Sequential(nn.Flatten(), nn.Linear(3, 4), nn.LeakyReLU(0.25), nn.Linear(4, 1, bias=False), nn.Sigmoid())
    own = {"W": model[1].weight.detach(), "v": model[3].weight.detach()[0], "b": model[1].bias.detach(), "slope": 0.25}
    for name, dynamo in (("torch.onnx", True), ("torch-script.onnx", False)):
        torch.onnx.export(model, (torch.zeros(1, 3),), HERE / name, dynamo=dynamo, external_data=False)
        plain = onnx.load(HERE / name)
        for part in (plain, plain.graph, *plain.graph.node, *plain.graph.initializer, *plain.graph.value_info):
            part.ClearField("metadata_props")  # where the exporter was run
        for part in (*plain.graph.input, *plain.graph.output):
            part.ClearField("metadata_props")
        onnx.save(plain, HERE / name)
        note(name, **own)
    half = nn.Sequential(nn.Linear(3, 4, bias=False), nn.ReLU(), nn.Linear(4, 1, bias=False)).to(torch.bfloat16)
    safetensors.torch.save_file(half.state_dict(), HERE / "torch-bfloat16.safetensors")
    note("torch-bfloat16.safetensors", half[0].weight.detach().double(), half[2].weight.detach().double()[0], slope=0)
    expected["torch-bfloat16.safetensors"]["options"] = {"slope": 0}


def of_sklearn() -> None:
    """skl2onnx: labels and probabilities, and scalers before the network."""
    classifier = MLPClassifier((4,), solver="lbfgs", max_iter=20, random_state=0).fit(X, LABELS)
    (HERE / "sklearn-classifier.onnx").write_bytes(to_onnx(classifier, X[:1]).SerializeToString())
    layers = zip(classifier.coefs_, classifier.intercepts_, strict=True)
    (W, b), (v, b2) = layers
    note("sklearn-classifier.onnx", W.T, v[:, 0], b, b2[0], output_bias="neuron")
    scalers = StandardScaler(), MinMaxScaler()
    network = MLPRegressor(hidden_layer_sizes=(4,), solver="lbfgs", max_iter=20, random_state=0)
    pipeline = make_pipeline(*scalers, network).fit(X, X[:, 1])
    (HERE / "sklearn-pipeline.onnx").write_bytes(to_onnx(pipeline, X[:1]).SerializeToString())
    (W, b), (v, b2) = zip(network.coefs_, network.intercepts_, strict=True)
    note("sklearn-pipeline.onnx", W.T, v[:, 0], b, b2[0], output_bias="neuron", fold=True)
    standard, ranges = scalers
    expected["sklearn-pipeline.onnx"]["steps"] = [
        {"shift": (-standard.mean_).tolist()}, {"divide": standard.scale_.tolist()},
        {"multiply": ranges.scale_.tolist()}, {"shift": ranges.min_.tolist()},
    ]  # fmt: skip


def of_keras() -> None:
    """Sequential and functional; packed again, which HDF5 leaves half empty."""
    layers = keras.layers
    keras.utils.set_random_seed(0)
    sequential = keras.Sequential(
        [layers.Input((3,)), layers.Dense(4, activation="relu", name="hidden"), layers.Dropout(0.2),
         layers.Dense(1, use_bias=False, activation="sigmoid")]
    )  # fmt: skip
    x = layers.Input((3,))
    functional = keras.Model(x, layers.Dense(1)(layers.LeakyReLU(negative_slope=0.25)(layers.Dense(4)(x))))
    functional.layers[-1].bias.assign([0.5])
    for name, model, options in (
        ("sequential.keras", sequential, {}),
        ("functional.keras", functional, {"output_bias": "neuron"}),
    ):
        model.save(HERE / name)
        with zipfile.ZipFile(HERE / name) as archive:
            members = {member: archive.read(member) for member in archive.namelist()}
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            for member, content in members.items():
                archive.writestr(member, content)
        (HERE / name).write_bytes(packed.getvalue())
        W, b, v, *b2 = model.get_weights()
        note(name, W.T, v[:, 0], b, b2[0][0] if b2 else 0, 0.25 if "output_bias" in options else 0, **options)


def of_flax() -> None:
    """The parameters of linen, flattened into safetensors."""

    class Network(flax.linen.Module):
        @flax.linen.compact
        def __call__(self, x):
            """f(x)."""
            return flax.linen.Dense(1, use_bias=False)(flax.linen.relu(flax.linen.Dense(4)(x)))

    params = Network().init(jax.random.key(0), X[:1])["params"]
    flat = {f"{layer}.{name}": value for layer, own in params.items() for name, value in own.items()}
    safetensors.flax.save_file(flat, HERE / "flax.safetensors")
    W, v = params["Dense_1"]["kernel"], params["Dense_0"]["kernel"]  # the outer layer is made, and named, first
    note("flax.safetensors", W.T, v[:, 0], params["Dense_1"]["bias"], slope=0)
    expected["flax.safetensors"]["options"] = {"slope": 0}


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    for make in (of_torch, of_sklearn, of_keras, of_flax):
        make()
    (HERE / "expected.json").write_text(json.dumps(expected, indent=1) + "\n", encoding="utf-8")
