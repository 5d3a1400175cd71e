"""Keras: models in memory, by their `get_config` and `get_weights`, and `.keras` files. Keras itself is not imported.

A `.keras` file is an archive of config.json and model.weights.h5. Sequential models and functional ones that apply one
layer to the one before are read: Dense with ReLU, LeakyReLU or no activation, what is nothing at inference (Dropout),
Flatten, and Rescaling or an adapted Normalization, which scale the inputs. Kernels are (inputs, neurons).
"""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from math import prod
from typing import Any, cast

from verify.checker.errors import InputError, ShapeError
from verify.readers.building import ChainBuilder
from verify.readers.chains import Chain
from verify.readers.parameters import dense, numbers
from verify.readers.refusals import other_relu, refusal
from verify.readers.scalings import Scaling

__all__ = ["load", "read_model"]

REMEDY = "train without it (Dense(1, use_bias=False)), or "

_NOTHING = {"InputLayer", "Flatten", "Reshape", "ActivityRegularization"}
_RANDOM = {"Dropout", "AlphaDropout", "GaussianDropout", "GaussianNoise", "SpatialDropout1D"}
_SLOPES = {"relu": 0, "linear": 1, "leaky_relu": 0.2}  # as keras.activations has them
_HEADS = {"sigmoid": "Sigmoid", "softmax": "Softmax", "log_softmax": "LogSoftmax"}
_EPSILON = 1e-7  # of keras.backend, which a Normalization divides by at least

_OWNERS = ("keras", "tf_keras", "tensorflow")
"""The packages whose classes and functions are known."""

_Config = Mapping[str, Any]
_Weights = Callable[[str], Sequence[object]]
"""The arrays of the layer of a name."""


def load(content: bytes, place: str) -> Chain:
    """The network in the bytes of a `.keras` file. Raises InputError."""
    try:
        h5py: Any = import_module("h5py")
    except ImportError as error:
        raise InputError(
            f"{place} needs h5py, which is not installed: install it with pip install 'isoptimal[keras]'"
        ) from error
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            config: object = json.loads(archive.read("config.json"))
            stored = archive.read("model.weights.h5")
    except Exception as error:  # a damaged archive can fail anywhere
        raise InputError(f"{place} is damaged or no .keras file: write it again with model.save") from error
    if not isinstance(config, Mapping):
        raise InputError(f"{place} describes no model: write it again with model.save")
    try:
        with h5py.File(io.BytesIO(stored), "r") as weights:
            return _read(cast("_Config", config), _Stored(weights), place)
    except InputError:
        raise
    except Exception as error:  # a damaged file can fail anywhere
        raise InputError(f"{place} is damaged ({error!s:.80}): write it again with model.save") from error


def read_model(model: Any, place: str) -> Chain:
    """The network in a model in memory. Raises InputError."""
    if not hasattr(model, "layers"):
        raise InputError(f"{place} is one layer, or no model: give the Sequential or functional model")
    try:
        config = {"class_name": type(model).__name__, "config": model.get_config() if _calls_as_keras(model) else {}}
    except NotImplementedError:
        config = {"class_name": type(model).__name__, "config": {}}
    return _read(config, _InMemory(model), place)


class _InMemory:
    """Weights of a model in memory."""

    def __init__(self, model: Any) -> None:
        self.layers = {layer.name: layer for layer in model.layers}

    def of(self, name: str, kind: str) -> Sequence[object]:
        """The arrays of a layer, in the order of Keras."""
        del kind
        return self.layers[name].get_weights()

    def inside(self, name: str, kind: str) -> _InMemory:
        """Those of a model that is a layer."""
        del kind
        return _InMemory(self.layers[name])

    def activation(self, name: str) -> object:
        """The activation that a layer applies, which its config only names."""
        return getattr(self.layers.get(name), "activation", None)  # a Sequential lists no InputLayer


class _Stored:
    """Weights in an HDF5 file: each layer has a group, called after its class and numbered, that says its name."""

    def __init__(self, group: Any) -> None:
        self.group = group
        self.seen: Counter[str] = Counter()

    def of(self, name: str, kind: str) -> Sequence[object]:
        """The arrays of a layer, in the order of Keras. Raises InputError through `load` when they are not there."""
        variables = self._own(name, kind)["vars"]
        return [variables[str(i)][()] for i in range(len(variables))]

    def inside(self, name: str, kind: str) -> _Stored:
        """Those of a model that is a layer."""
        return _Stored(self._own(name, kind))

    def activation(self, name: str) -> object:
        """None: the file names it."""
        del name

    def _own(self, name: str, kind: str) -> Any:
        layers = self.group["layers"]
        word = re.sub(r"([a-z])([A-Z])", r"\1_\2", re.sub(r"(.)([A-Z][a-z0-9]+)", r"\1_\2", kind)).lower()
        number = self.seen[word]
        self.seen[word] += 1
        for group in layers.values():
            if group["vars"].attrs.get("name") == name:
                return group
        return layers[name if name in layers else f"{word}_{number}" if number else word]


def _read(config: _Config, weights: _InMemory | _Stored, place: str) -> Chain:
    built = ChainBuilder(place, REMEDY)
    sizes: list[object] = []
    for layer, arrays in _layers(config, weights, place):
        _add(layer, arrays, built)
        shape = layer["config"].get("batch_shape") or layer["config"].get("batch_input_shape")
        if shape and not sizes:
            sizes = list(shape)[1:]
    found = built.chain()
    columns = found.layers[0].shape[1]
    if sizes and all(isinstance(size, int) for size in sizes) and prod(cast("list[int]", sizes)) != columns:
        raise ShapeError(
            f"{place}: a point has shape {tuple(sizes)}, but its first layer takes {columns} numbers: layers that are "
            "applied to each part of a point are not read, so begin with Flatten"
        )
    return found


def _layers(
    model: _Config, weights: _InMemory | _Stored, place: str
) -> Iterator[tuple[_Config, Callable[[], Sequence[object]]]]:
    """Each layer in the order in which they are applied, models inside of models too, and how to get its arrays."""
    layers = cast("_Config", model.get("config") or {}).get("layers")
    if not isinstance(layers, list) or not layers or _is_foreign(model):
        raise InputError(
            f"{place} is a model of a class of its own ({model.get('class_name')!s:.40}), whose code is not known: "
            "read the list model.get_weights() with the slope"
        )
    listed = cast("list[_Config]", layers)
    if "input_layers" in model["config"]:
        _check_row(listed, model["config"].get("output_layers"), place)
    for layer in listed:
        kind, name = str(layer["class_name"]), str(layer["config"]["name"])
        if "layers" in layer["config"]:
            yield from _layers(layer, weights.inside(name, kind), place)
        elif _is_foreign(layer):
            raise InputError(f"{place}: layer {name:.60} is {_OF_ITS_OWN.format(what=f'a {kind:.40}')}")
        elif not _is_of_keras(weights.activation(name)):
            raise InputError(f"{place}: layer {name:.60} applies {_OF_ITS_OWN.format(what='a function')}")
        else:
            yield layer, lambda name=name, kind=kind: weights.of(name, kind)


_OF_ITS_OWN = "{what} of its own, whose code is not known: use a layer or an activation of Keras"


def _is_foreign(entry: _Config) -> bool:
    """Whether this is of a class that is none of Keras; what an older Keras wrote names no module."""
    return "module" in entry and str(entry["module"]).partition(".")[0] not in _OWNERS


def _is_of_keras(function: object) -> bool:
    """Whether a function, or a layer that stands for one, is one of Keras; None is no function."""
    own = function if hasattr(function, "__qualname__") else type(function)
    return function is None or str(getattr(own, "__module__", None)).partition(".")[0] in _OWNERS


def _calls_as_keras(model: object) -> bool:
    """Whether what a model computes is written in Keras, and not in a class of its own."""
    owner = next((kind for kind in type(model).__mro__ if "call" in vars(kind)), None)
    return owner is None or str(owner.__module__).partition(".")[0] in _OWNERS


def _check_row(layers: Sequence[_Config], outputs: object, place: str) -> None:
    """Refuse a functional model in which a layer does not take what the one before it gives, and that alone.

    outputs: the layers whose values are its outputs, as Keras 3 (one entry) or Keras 2 (a list of them) writes them.
    """
    previous: str | None = None
    for layer in layers:
        taken = [_histories(node) for node in layer.get("inbound_nodes", ())]
        if taken != ([] if previous is None else [[previous]]):
            raise InputError(
                f"{place}: the layer {layer['config']['name']} does not take the layer before it alone: branches, skip "
                "connections, several inputs and shared layers are not read"
            )
        previous = str(layer["config"]["name"])
    ends = outputs if isinstance(outputs, list) and outputs and isinstance(outputs[0], list) else [outputs]
    if outputs is not None and [str(end[0]) for end in cast("list[Any]", ends)] != [previous]:
        raise InputError(f"{place} has several outputs, or one before its last layer: give a model of its one output")


def _histories(node: object) -> list[str]:
    """The names of the layers whose outputs a node takes, as Keras 3 or Keras 2 writes them."""
    if isinstance(node, Mapping):
        entries = cast("_Config", node)
        if "keras_history" in entries:
            return [str(entries["keras_history"][0])]
        return [name for value in entries.values() for name in _histories(value)]
    if isinstance(node, list | tuple):
        items = cast("Sequence[object]", node)
        if len(items) >= 3 and isinstance(items[0], str) and all(isinstance(item, int) for item in items[1:3]):
            return [items[0]]
        return [name for item in items for name in _histories(item)]
    return []


def _add(layer: _Config, arrays: Callable[[], Sequence[object]], built: ChainBuilder) -> None:
    kind, config = str(layer["class_name"]), cast("_Config", layer["config"])
    where = f"{built.place}: layer {config.get('name', kind)!s:.60}"
    match kind:
        case "Dense":
            kernel, *biases = arrays()
            if len(biases) != bool(config.get("use_bias", True)):
                raise InputError(f"{where} has {len(biases) + 1} arrays (quantised, or with LoRA): store it plainly")
            names = (f"{config['name']}.kernel", f"{config['name']}.bias")
            built.add(dense(kernel, biases[0] if biases else None, names, built.place), where)
            if not config.get("trainable", True):
                built.notes.append(
                    f"{built.place}: {names[0]} was not trained: the audit is about networks in which every layer is, "
                    "and counts it in the norm"
                )
            _activate(config.get("activation"), built, where)
        case "Activation":
            _activate(config.get("activation"), built, where)
        case "ReLU" if config.get("max_value") is None and not config.get("threshold"):
            built.activate(config.get("negative_slope") or 0, where)
        case "ReLU":
            given = [f"{name}={config[name]}" for name in ("max_value", "threshold") if config.get(name)]
            raise other_relu(" and ".join(given or ["max_value=0"]), where)
        case "LeakyReLU":
            built.activate(config.get("negative_slope", config.get("alpha", 0.3)), where)
        case "Softmax":
            built.end_in("Softmax", where, config.get("axis", -1))
        case "Rescaling":
            scale, offset = _constant(config["scale"], where), _constant(config["offset"], where)
            built.scale(Scaling.of(factors=scale, offsets=offset, place=where), f"Rescaling {config['name']}", where)
        case "Normalization" if not config.get("invert"):
            built.scale(_normalization(config, arrays(), where), f"Normalization {config['name']}", where)
        case _ if kind in _NOTHING:
            pass
        case _ if kind in _RANDOM:
            built.notes.append(f"{where}: {kind} is read as what it is at inference, nothing")
        case _:
            raise refusal(kind, where, is_output=built.outputs == 1)


def _activate(activation: object, built: ChainBuilder, where: str) -> None:
    """An activation by its name, or the layer that is one."""
    if isinstance(activation, Mapping):
        entries = cast("_Config", activation)
        if isinstance(entries.get("config"), Mapping):
            _add({"class_name": entries["class_name"], "config": {"name": where, **entries["config"]}}, list, built)
            return
        activation = entries.get("config") or entries.get("class_name")
        if not isinstance(activation, str):
            raise InputError(f"{where} applies {_OF_ITS_OWN.format(what='a function')}")
    name = "linear" if activation is None else str(activation)
    if name in _HEADS:
        built.end_in(_HEADS[name], where)
    elif name not in _SLOPES:
        raise refusal(name, where, is_output=built.outputs == 1)
    elif name != "linear":
        built.activate(_SLOPES[name], where)


def _normalization(config: _Config, arrays: Sequence[object], where: str) -> Scaling:
    """(x - mean) / max(sqrt(variance), epsilon), the root in single precision as Keras takes it."""
    import numpy as np

    given = arrays[:2] if len(arrays) >= 2 else [config.get("mean"), config.get("variance")]
    if any(value is None for value in given):
        raise InputError(f"{where} is not adapted yet: call adapt first")
    mean, variance = (numbers(np.asarray(value, dtype=np.float32), where).reshape(-1) for value in given)
    deviation = np.maximum(np.sqrt(variance), np.float32(_EPSILON))
    place = f"{where} (Normalization)"
    shift = Scaling.of(offsets=[-value for value in mean.tolist()], place=place)
    return shift.then(Scaling.of(factors=deviation.tolist(), place=place).inverse(), place)


def _constant(value: object, where: str) -> list[Any]:
    return numbers(value, where).reshape(-1).tolist()
