"""ONNX: models in memory and `.onnx` files, with the weights that exporters put into a file beside them.

The graph is followed from its input. It is read when each node takes the value before it and constants only: Gemm or
MatMul with Add as layers, Relu or LeakyRelu between them, and what changes no number (Flatten, Reshape, Cast, Dropout).
Constants that scale and shift are folded where the user allows it, those before the first layer can be applied to the
data. A Sigmoid or Softmax at the end, with the labels and probabilities that are made from it, is left out.

Numbers are those that are stored, of any float type, exactly. Nothing is run.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from importlib import import_module
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from verify.checker.errors import InputError, ShapeError
from verify.files.reading import read_bytes
from verify.readers.building import ChainBuilder, along_outputs
from verify.readers.chains import Chain, LinearLayer
from verify.readers.onnx_heads import ALONE, FLOATS, UNCHANGED, Tail
from verify.readers.parameters import numbers
from verify.readers.refusals import refusal
from verify.readers.scalings import Scaling

__all__ = ["load", "read_model"]

REMEDY = "train without it (in PyTorch Linear(..., bias=False)), or "

_HEADS = {"Sigmoid", "Softmax", "LogSoftmax"}
_DOMAINS = ("", "ai.onnx", "ai.onnx.ml")
"""Those of the standard, whose operations are what their names say."""
_ARITHMETIC = {"Add", "Sub", "Mul", "Div", "Neg"}
_OF_SHAPES = {"Shape", "Gather", "Slice", "Concat", "Constant", "Cast", "Unsqueeze", "Squeeze", "Identity"}


def load(content: bytes, place: str) -> Chain:
    """The network in the bytes of a file. Raises InputError."""
    onnx = _import(place)
    try:
        model = onnx.load_model_from_string(content)
    except Exception as error:  # protobuf has errors of its own
        raise InputError(f"{place} is damaged or no ONNX model: export it again") from error
    for tensor in _tensors(model):
        if tensor.data_location == onnx.TensorProto.EXTERNAL:
            _take_in(tensor, place)
    return read_model(model, place)


def read_model(model: Any, place: str) -> Chain:
    """The network in a model in memory. Raises InputError."""
    onnx = _import(place)
    if type(model).__name__ != "ModelProto":
        raise InputError(f"{place} is no model: give the ModelProto, or the path of the file")
    if len(model.functions):
        model = import_module("onnx.inliner").inline_local_functions(model)
    return _OnnxWalk(onnx, model.graph, place).chain()


def _import(place: str) -> Any:
    try:
        import_module("onnx.numpy_helper")
        return import_module("onnx")
    except ImportError as error:
        raise InputError(
            f"{place} needs onnx, which is not installed: install it with pip install 'isoptimal[onnx]'"
        ) from error


def _tensors(model: Any) -> list[Any]:
    inner = [attribute.t for node in model.graph.node for attribute in node.attribute if attribute.HasField("t")]
    return [*model.graph.initializer, *inner]


def _take_in(tensor: Any, place: str) -> None:
    """Put the numbers that stand in a file beside the model into the tensor."""
    where = {entry.key: entry.value for entry in tensor.external_data}
    name = where.get("location", "")
    if not name or name != Path(name).name or name == "..":
        raise InputError(f"{place}: the weights {tensor.name} stand in {name!r:.60}, which is not beside the model")
    content = read_bytes(Path(place).parent / name, remedy="store the weights in the model")
    begin = int(where.get("offset", "0"))
    length = int(where.get("length", str(len(content) - begin)))
    if not 0 <= begin <= begin + length <= len(content):
        raise InputError(f"{place}: {name} is shorter than the weights {tensor.name} that stand in it: export it again")
    tensor.raw_data = content[begin : begin + length]
    tensor.data_location = 0
    del tensor.external_data[:]


class _OnnxWalk:
    """The layers met so far on the way from the input of a graph to its output."""

    def __init__(self, onnx: Any, graph: Any, place: str) -> None:
        self.onnx, self.graph, self.place = onnx, graph, place
        self.constants: dict[str, Any] = {}
        for tensor in graph.initializer:
            self.constants[tensor.name] = self._array(tensor)
        self.shapes: set[str] = set()
        self.built = ChainBuilder(place, REMEDY)
        self.tail: Tail | None = None

    def chain(self) -> Chain:
        """The chain, when each node takes the value before it and constants, and nothing else."""
        given = [value for value in self.graph.input if value.name not in self.constants]
        if len(given) != 1:
            raise InputError(f"{self.place} takes {len(given)} inputs: give a model of one")
        current = given[0].name
        for node in _needed(self.graph):
            if node.domain not in _DOMAINS:
                raise InputError(
                    f"{self._where(node)} is of the domain {node.domain!r:.60}, whose operations are not known: {ALONE}"
                )
            if self._constant(node):
                continue
            if self.tail is not None:
                self.tail.take(node, self._attributes(node))
                continue
            taken = [name for name in node.input if name and name not in self.constants and name not in self.shapes]
            if not taken:
                raise InputError(
                    f"{self._where(node)} computes from constants, which is not read: fold constants as the model is "
                    "exported, or simplify it"
                )
            if taken != [current]:
                raise InputError(
                    f"{self._where(node)} does not take the value before it alone: branches, skip connections and "
                    "products of computed values are not read"
                )
            self._step(node)
            current = node.output[0]
        found = self.built.chain()
        names = [value.name for value in self.graph.output]
        if self.tail is not None:
            self.tail.check_outputs(names, self.place)
        elif names != [current]:
            raise InputError(f"{self.place} has several outputs ({', '.join(names)[:80]}): {ALONE}")
        self._check_inputs(given[0])
        return found

    def _check_inputs(self, given: Any) -> None:
        """Refuse a first layer that is applied to parts of a point, one after the other."""
        sizes = [dimension.dim_value for dimension in given.type.tensor_type.shape.dim][1:]
        first = self.built.layers[0]
        if sizes and all(sizes) and prod(sizes) != first.shape[1]:
            raise ShapeError(
                f"{self.place}: a point has {prod(sizes)} numbers, but {first.weights_name} takes {first.shape[1]}: "
                "layers whose weights are shared between places are not read"
            )

    def _attributes(self, node: Any) -> dict[str, Any]:
        return {entry.name: self.onnx.helper.get_attribute_value(entry) for entry in node.attribute}

    def _end(self, node: Any) -> None:
        self.tail = Tail(self.constants, self._where)
        self.tail.begin(node, self.built.outputs)

    def _step(self, node: Any) -> None:
        attributes = self._attributes(node)
        match node.op_type:
            case "Gemm":
                self._gemm(node, attributes)
            case "MatMul":
                self._matmul(node)
            case "Relu":
                self.built.activate(0, self._where(node))
            case "LeakyRelu":
                self.built.activate(attributes.get("alpha", float(np.float32(0.01))), self._where(node))
            case "Clip" if self._is_relu_clip(node, attributes):
                self.built.activate(0, self._where(node))
            case "Max" if len(node.input) == 2 and not np.any(self._operand(node)):
                self.built.activate(0, self._where(node))
            case "Scaler":
                factors, offsets = attributes.get("scale", [1.0]), attributes.get("offset", [0.0])
                shift = Scaling.of(offsets=[-value for value in offsets], place=self._where(node))
                self._scale(shift.then(Scaling.of(factors=factors, place=self._where(node)), self._where(node)), node)
            case name if name in _ARITHMETIC:
                self._arithmetic(node)
            case "Cast" if attributes.get("to") in FLOATS:
                pass
            case "Dropout" if np.any(self.constants.get([*node.input, "", ""][2], False)):
                raise InputError(f"{self._where(node)} is in training mode, where it is random: export in eval mode")
            case name if name in UNCHANGED:
                pass
            case "ArgMax" if self.built.outputs == 2:
                along_outputs(attributes.get("axis", 0), "ArgMax", self._where(node))
                self._end(node)
            case name if name in _HEADS and self.built.outputs:
                self.built.end_in(name, self._where(node), attributes.get("axis", -1))
                self._end(node)
            case name:
                raise refusal(name, self._where(node), is_output=self.built.outputs == 1)

    # ------------------------------------------------------------------------------------------- layers

    def _gemm(self, node: Any, attributes: dict[str, Any]) -> None:
        weight = self.constants.get(node.input[1])
        if attributes.get("transA", 0):
            raise InputError(f"{self._where(node)} takes points as columns (transA), which is not read: {ALONE}")
        if weight is None:
            raise InputError(f"{self._where(node)} multiplies computed values, which is not read: {ALONE}")
        kernel = weight.T if attributes.get("transB", 0) else weight
        self._layer(node, kernel, node.input[1])
        if (alpha := attributes.get("alpha", 1.0)) != 1:
            self._scale(Scaling.of(factors=[alpha], place=self._where(node)), node)
        if len(node.input) > 2 and node.input[2]:
            if node.input[2] not in self.constants:
                raise InputError(f"{self._where(node)} adds a computed value, which is not read: {ALONE}")
            beta, values = attributes.get("beta", 1.0), self._vector(node, self.constants[node.input[2]])
            self.built.add_bias([Fraction(beta) * Fraction(b) for b in values] if beta != 1 else values, node.input[2])

    def _matmul(self, node: Any) -> None:
        weight = self.constants.get(node.input[1])
        if weight is None:
            raise InputError(f"{self._where(node)} multiplies by a matrix from the left, which is not read: {ALONE}")
        self._layer(node, weight, node.input[1])

    def _layer(self, node: Any, kernel: Any, name: str) -> None:
        where = f"{self.place}: {name}"
        if kernel.ndim != 2:
            raise ShapeError(f"{where} has shape {kernel.shape} and must be a matrix: {ALONE}")
        weights = numbers(kernel, where).T.tolist()
        layer = LinearLayer(weights=weights, bias=None, weights_name=name, bias_name=f"bias of {name}")
        self.built.add(layer, self._where(node))

    # ------------------------------------------------------------------------------------------- constants

    def _arithmetic(self, node: Any) -> None:
        place = self._where(node)
        if node.op_type == "Neg":
            self._scale(Scaling.of(factors=[-1], place=place), node)
            return
        values = self._vector(node, self._operand(node))
        is_first = node.input[0] in self.constants
        match node.op_type:
            case "Add" if self.built.outputs:
                self.built.add_bias(values, next(name for name in node.input if name in self.constants))
            case "Add":
                self._scale(Scaling.of(offsets=values, place=place), node)
            case "Sub" if is_first:
                self._scale(Scaling.of(factors=[-1], offsets=values, place=place), node)
            case "Sub":
                self._scale(Scaling.of(offsets=[-value for value in values], place=place), node)
            case "Mul":
                self._scale(Scaling.of(factors=values, place=place), node)
            case "Div" if not is_first and all(values):
                self._scale(Scaling.of(factors=[1 / Fraction(value) for value in values], place=place), node)
            case _:
                raise InputError(f"{place} divides by a computed value or by 0, which is not read: {ALONE}")

    def _scale(self, scaling: Scaling, node: Any) -> None:
        self.built.scale(scaling, f"{node.op_type} {node.name or node.output[0]}", self._where(node))

    def _operand(self, node: Any) -> Any:
        """The constant that a node takes beside the value before it."""
        found = [self.constants[name] for name in node.input if name in self.constants]
        if len(found) != 1:
            raise InputError(f"{self._where(node)} takes {len(found)} constants: {ALONE}")
        return found[0]

    def _vector(self, node: Any, array: Any) -> list[Any]:
        """A constant that is one number, or one for each column."""
        if array.size != array.shape[-1] if array.ndim else False:
            raise ShapeError(f"{self._where(node)} takes a constant of shape {array.shape}: give one number a column")
        return numbers(array, self._where(node)).reshape(-1).tolist()

    def _is_relu_clip(self, node: Any, attributes: dict[str, Any]) -> bool:
        """Whether it is max(z, 0)."""
        if any(name and name not in self.constants for name in node.input[1:]):
            return False
        bounds = [self.constants.get(name) if name else None for name in node.input[1:]]
        low, high = [*bounds, None, None][:2]
        low = attributes.get("min") if low is None else low
        high = attributes.get("max") if high is None else high
        return low is not None and np.size(low) == 1 and not np.any(low) and high is None

    def _constant(self, node: Any) -> bool:
        """Whether a node computes from constants alone, or from the shape of a value; what it gives is kept."""
        made = _FOLDED.get(node.op_type)
        if node.op_type == "Constant" or (made is not None and all(name in self.constants for name in node.input)):
            attributes = self._attributes(node)
            if node.op_type == "Constant":
                (value,) = attributes.values()
                self.constants[node.output[0]] = self._array(value) if "value" in attributes else np.asarray(value)
            elif made is not None:
                self.constants[node.output[0]] = self._computed(node, made, attributes)
            return True
        of_shapes = [name for name in node.input if name in self.shapes]
        if node.op_type == "Shape" or (of_shapes and node.op_type in _OF_SHAPES):
            self.shapes.update(node.output)
            return True
        return False

    def _computed(self, node: Any, made: Callable[[list[Any], dict[str, Any]], Any], attributes: dict[str, Any]) -> Any:
        if node.op_type == "Cast":
            attributes = {"type": self.onnx.helper.tensor_dtype_to_np_dtype(attributes["to"])}
        try:
            return made([self.constants[name] for name in node.input], attributes)
        except (ValueError, TypeError, IndexError) as error:
            raise InputError(
                f"{self._where(node)} does not fit its constants ({error!s:.80}): export it again"
            ) from error

    def _array(self, tensor: Any) -> Any:
        try:
            return self.onnx.numpy_helper.to_array(tensor)
        except Exception as error:  # a damaged tensor can fail anywhere
            raise InputError(
                f"{self.place}: the numbers of {tensor.name!r:.60} cannot be read: export it again"
            ) from error

    def _where(self, node: Any) -> str:
        return f"{self.place}: node {node.name or node.output[0]!s:.60} ({node.op_type})"


def _needed(graph: Any) -> list[Any]:
    """The nodes that an output of the graph depends on, in their order."""
    wanted = {value.name for value in graph.output}
    found: list[Any] = []
    for node in reversed(graph.node):
        if wanted & set(node.output):
            wanted |= set(node.input)
            found.append(node)
    return found[::-1]


def _squeezed(arrays: list[Any], attributes: dict[str, Any]) -> Any:
    axes = attributes.get("axes", arrays[1].reshape(-1).tolist() if len(arrays) > 1 else None)
    return np.squeeze(arrays[0], None if axes is None else tuple(axes))


_FOLDED: dict[str, Callable[[list[Any], dict[str, Any]], Any]] = {
    "Identity": lambda arrays, _: arrays[0],
    "Cast": lambda arrays, attributes: arrays[0].astype(attributes["type"]),  # as the model has them from then on
    "Transpose": lambda arrays, attributes: np.transpose(arrays[0], attributes.get("perm")),
    "Reshape": lambda arrays, _: np.reshape(
        arrays[0], [size or arrays[0].shape[i] for i, size in enumerate(arrays[1].tolist())]
    ),
    "Squeeze": _squeezed,
}
"""What is computed from constants, without rounding."""
