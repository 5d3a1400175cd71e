"""Kinds of objects of ONNX, Keras, Flax, JAX and safetensors."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tests.verify.readers.objects import Kind, Outputs

FILES, KERAS, PARAMETERS = "ONNX and safetensors", "Keras", "Parameters without code (Flax, JAX, numpy)"
NOT_THE_NORM = "the norm is not the one that was trained"

Made = tuple[object, "Outputs | None", int]


def kind(
    group: str, name: str, source: str, made: Callable[[Path], Made], needs: Sequence[str], said: str = "",
    *, is_read: bool = True, **options: object,
) -> Kind:  # fmt: skip
    """A row."""
    return Kind(
        group=group, name=name, source=source, made=made, options=options, said=said, is_read=is_read, needs=(*needs,)
    )


def computed(
    layers: Sequence[tuple[Any, Any]], slope: float = 0.0, before: Callable[[Any], Any] | None = None
) -> Outputs:
    """The outputs of kernels (inputs, neurons) and biases in double precision."""

    def at(points: Any) -> Any:
        z = np.asarray(points, dtype=float) if before is None else before(np.asarray(points, dtype=float))
        for i, (kernel, bias) in enumerate(layers):
            if i:
                z = np.where(z > 0, z, slope * z)
            z = z @ np.asarray(kernel, dtype=float) + (0 if bias is None else np.asarray(bias, dtype=float))
        return (z[:, -1] - z[:, 0] if z.shape[1] == 2 else z[:, 0]).tolist()

    return at


def arrays(*, outputs: int = 1, output_bias: bool = False) -> list[tuple[Any, Any]]:
    """Kernels and biases of three inputs and four neurons."""
    rng = np.random.default_rng(1)
    last = rng.normal(size=outputs) if output_bias else None
    return [(rng.normal(size=(3, 4)), rng.normal(size=4)), (rng.normal(size=(4, outputs)), last)]


# ------------------------------------------------------------------------------------------- files


def torch_onnx(dynamo: bool) -> Callable[[Path], Made]:
    """Exported by one of the two exporters of PyTorch; the newer one may put the weights into a file beside it."""

    def made(folder: Path) -> Made:
        import torch

        torch.manual_seed(0)
        nn = torch.nn
        model = nn.Sequential(nn.Flatten(), nn.Linear(3, 4), nn.LeakyReLU(0.25), nn.Linear(4, 1, bias=False))
        torch.onnx.export(model, (torch.zeros(1, 3),), folder / "net.onnx", dynamo=dynamo)
        layers = [(layer.weight.detach().T, layer.bias if layer.bias is None else layer.bias.detach())
                  for layer in (model[1], model[3])]  # fmt: skip
        return folder / "net.onnx", computed(layers, 0.25), 3

    return made


def sklearn_onnx(*, scaled: bool) -> Callable[[Path], Made]:
    """Exported by skl2onnx, with labels and probabilities."""

    def made(_: Path) -> Made:
        from skl2onnx import to_onnx
        from sklearn.neural_network import MLPClassifier
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

        X = np.random.default_rng(0).normal(size=(30, 3)) * [1, 5, 2] + 3
        network = MLPClassifier((4,), solver="lbfgs", max_iter=9, random_state=0)
        scaler = StandardScaler().fit(X)
        model = make_pipeline(StandardScaler(), network) if scaled else network
        model.fit(X, X[:, 0] > 3)
        own = computed(
            list(zip(network.coefs_, network.intercepts_, strict=True)), before=scaler.transform if scaled else None
        )
        return to_onnx(model, X[:1], options={"zipmap": True}), own, 3

    return made


def branched(_: Path) -> Made:
    """A skip connection."""
    from onnx import helper, numpy_helper

    nodes = [helper.make_node("MatMul", ["x", "W"], ["a"], name="first"),
             helper.make_node("Add", ["a", "x"], ["y"], name="skip")]  # fmt: skip
    ends = [helper.make_tensor_value_info(name, 1, ["n", 3]) for name in "xy"]
    weights = [numpy_helper.from_array(np.ones((3, 3)), "W")]
    return helper.make_model(helper.make_graph(nodes, "g", ends[:1], ends[1:], weights)), None, 3


def safetensors_state(kind_of_float: str) -> Callable[[Path], Made]:
    """The state dict of a module."""

    def made(folder: Path) -> Made:
        import torch
        from safetensors.torch import save_file

        torch.manual_seed(0)
        nn = torch.nn
        model = nn.Sequential(nn.Linear(3, 4, bias=False), nn.ReLU(), nn.Linear(4, 1, bias=False))
        save_file(model.to(getattr(torch, kind_of_float)).state_dict(), folder / "net.safetensors")
        own = computed([(layer.weight.detach().double().T, None) for layer in (model[0], model[2])])
        return folder / "net.safetensors", own, 3

    return made


# ------------------------------------------------------------------------------------------- Keras


def keras_model(
    built: Callable[[Any], list[Any]], slope: float = 0.0, *, stored: bool = False, functional: bool = False,
    before: Callable[[Any], Any] | None = None,
) -> Callable[[Path], Made]:  # fmt: skip
    """A model of these layers, in memory or in a file."""

    def made(folder: Path) -> Made:
        import keras

        keras.utils.set_random_seed(0)
        layers = built(keras.layers)
        if functional:
            start = value = keras.layers.Input((3,))
            for layer in layers:
                value = layer(value)
            model = keras.Model(start, value)
        else:
            model = keras.Sequential([keras.layers.Input((3,)), *layers])
        weights: list[list[Any]] = []
        for array in model.get_weights():
            if array.ndim == 2:
                weights.append([array, None])
            else:
                weights[-1][1] = array
        own = computed([(kernel, bias) for kernel, bias in weights], slope, before)
        if not stored:
            return model, own, 3
        model.save(folder / "net.keras")
        return folder / "net.keras", own, 3

    return made


def plain(layers: Any, activation: object = "relu", **last: object) -> list[Any]:
    """Two layers of Keras, without an output bias."""
    return [layers.Dense(4, activation=activation), layers.Dense(1, use_bias=False, **last)]


# ------------------------------------------------------------------------------------------- parameters


def flax_tree(_: Path) -> Made:
    """What `init` of linen returns."""
    import flax.linen as linen
    import jax

    class Model(linen.Module):
        @linen.compact
        def __call__(self, x: Any) -> Any:
            """f(x)."""
            return linen.Dense(1, use_bias=False)(linen.relu(linen.Dense(4)(x)))

    tree = Model().init(jax.random.key(0), np.zeros((1, 3)))
    layers = [(layer["kernel"], layer.get("bias")) for layer in tree["params"].values()]
    return tree, computed(sorted(layers, key=lambda layer: layer[0].shape[1], reverse=True)), 3


def nnx_state(_: Path) -> Made:
    """The state of a module of nnx."""
    import jax
    from flax import nnx

    class Model(nnx.Module):
        def __init__(self, rngs: Any) -> None:
            self.hidden, self.last = nnx.Linear(3, 4, rngs=rngs), nnx.Linear(4, 1, use_bias=False, rngs=rngs)

        def __call__(self, x: Any) -> Any:
            """f(x)."""
            return self.last(jax.nn.relu(self.hidden(x)))

    state = nnx.to_pure_dict(nnx.state(model := Model(nnx.Rngs(0))))
    layers = [(model.hidden.kernel[...], model.hidden.bias[...]), (model.last.kernel[...], None)]
    return state, computed(layers), 3


def jax_pairs(layout: str) -> Callable[[Path], Made]:
    """A list of (W, b), W (inputs, neurons) or the other way round."""

    def made(_: Path) -> Made:
        import jax.numpy as jnp

        layers = [(jnp.asarray(kernel), jnp.asarray(np.zeros(kernel.shape[1]) if bias is None else bias))
                  for kernel, bias in arrays()]  # fmt: skip
        given = [(kernel if layout == "inputs first" else kernel.T, bias) for kernel, bias in layers]
        return given, computed(layers), 3

    return made


def numpy_arrays(given: Callable[[list[tuple[Any, Any]]], object], **more: Any) -> Callable[[Path], Made]:
    """Arrays of numpy, arranged."""

    def made(_: Path) -> Made:
        layers = arrays(**more)
        return given(layers), computed(layers), 3

    return made


def tree_of(layers: list[tuple[Any, Any]]) -> Mapping[str, object]:
    """The names of Flax."""
    return {"params": {f"Dense_{i}": {"kernel": kernel} | ({} if bias is None else {"bias": bias})
                       for i, (kernel, bias) in enumerate(layers)}}  # fmt: skip


ONNX, K, H5 = ("onnx",), ("keras",), ("keras", "h5py")

KINDS = (
    kind(FILES, "`torch.onnx.export`", '"net.onnx"', torch_onnx(True), ("torch", "onnxscript", *ONNX)),
    kind(FILES, "`torch.onnx.export(..., dynamo=False)`", '"net.onnx"', torch_onnx(False), ("torch", *ONNX)),
    kind(FILES, "`skl2onnx.to_onnx` of a classifier", "model", sklearn_onnx(scaled=False), ("skl2onnx",),
         "its Sigmoid is left out", output_bias="neuron"),
    kind(FILES, "`skl2onnx.to_onnx` of a pipeline", "model", sklearn_onnx(scaled=True), ("skl2onnx",), NOT_THE_NORM,
         output_bias="neuron", fold=True),
    kind(FILES, "a graph with a branch", "model", branched, ONNX,
         "node skip (Add) does not take the value before it alone", is_read=False),
    kind(FILES, "safetensors, float32", '"net.safetensors"', safetensors_state("float32"), ("torch", "safetensors"),
         slope=0),
    kind(FILES, "safetensors, bfloat16", '"net.safetensors"', safetensors_state("bfloat16"), ("torch", "safetensors"),
         slope=0),
    kind(KERAS, "Sequential", "model", keras_model(plain), K),
    kind(KERAS, "functional", "model", keras_model(plain, functional=True), K),
    kind(KERAS, "`model.save`", '"net.keras"', keras_model(plain, stored=True), H5),
    kind(KERAS, "functional, `model.save`", '"net.keras"', keras_model(plain, stored=True, functional=True), H5),
    kind(KERAS, "LeakyReLU layer", "model", keras_model(
        lambda layers: [layers.Dense(4), layers.LeakyReLU(negative_slope=0.25), layers.Dense(1, use_bias=False)], 0.25),
        K),
    kind(KERAS, 'activation="leaky_relu"', "model", keras_model(lambda layers: plain(layers, "leaky_relu"), 0.2), K),
    kind(KERAS, "Dropout", "model", keras_model(lambda layers: [layers.Dropout(0.5), *plain(layers)]), K,
         "Dropout is read as what it is at inference, nothing"),
    kind(KERAS, "Sigmoid on the output", "model", keras_model(
        lambda layers: [*plain(layers)[:1], layers.Dense(1, use_bias=False, activation="sigmoid")]), K,
        "its Sigmoid is left out"),
    kind(KERAS, "Rescaling first", "model", keras_model(
        lambda layers: [layers.Rescaling(0.5, offset=1.0), *plain(layers)], before=lambda x: x / 2 + 1), K,
        NOT_THE_NORM, fold=True),
    kind(KERAS, "two outputs with a softmax", "model", keras_model(
        lambda layers: [layers.Dense(4, activation="relu"), layers.Dense(2, use_bias=False, activation="softmax")]),
        K, "the second minus the first is read", two_logits="difference"),
    kind(KERAS, "BatchNormalization", "model", keras_model(
        lambda layers: [layers.Dense(4), layers.BatchNormalization(), layers.ReLU(), layers.Dense(1)]), K,
        "BatchNormalization makes the function depend on stored", is_read=False),
    kind(KERAS, "tanh", "model", keras_model(lambda layers: plain(layers, "tanh")), K,
         "tanh is not max(z, a z)", is_read=False),
    kind(PARAMETERS, "Flax linen: what `init` returns", "params", flax_tree, ("flax",), slope=0),
    kind(PARAMETERS, "Flax nnx: `nnx.to_pure_dict(nnx.state(model))`", "params", nnx_state, ("flax",), slope=0),
    kind(PARAMETERS, "JAX: pairs, W (inputs, neurons)", "params", jax_pairs("inputs first"), ("jax",), slope=0),
    kind(PARAMETERS, "JAX: pairs, W (neurons, inputs)", "params", jax_pairs("neurons first"), ("jax",), slope=0),
    kind(PARAMETERS, "dictionary with the names of Flax", "params", numpy_arrays(tree_of), (), slope=0),
    kind(PARAMETERS, "dictionary with the names of Haiku", "params", numpy_arrays(
        lambda layers: {f"linear_{i}": {"w": kernel, "b": bias} for i, (kernel, bias) in enumerate(layers)},
        output_bias=True), (), "became hidden neuron 4", slope=0, output_bias="neuron"),
    kind(PARAMETERS, "Keras: `model.get_weights()`", "arrays", numpy_arrays(
        lambda layers: [array for layer in layers for array in layer if array is not None]), (), slope=0),
    kind(PARAMETERS, "two logits", "arrays", numpy_arrays(
        lambda layers: [array for layer in layers for array in layer if array is not None], outputs=2), (),
        "the second minus the first is read", slope=0, two_logits="difference"),
    kind(PARAMETERS, "normalised layers", "params", numpy_arrays(
        lambda layers: {"params": {**tree_of(layers)["params"], "LayerNorm_0": {"scale": np.ones(4)}}}), (),  # type: ignore[dict-item]
        "a normalisation (LayerNorm_0.scale)", is_read=False, slope=0),
)  # fmt: skip
