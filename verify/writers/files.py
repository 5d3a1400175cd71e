"""Networks as files: exactly in `.json`, rounded to doubles in the files of frameworks."""

from __future__ import annotations

import io
import json
import struct
from importlib import import_module
from importlib.util import find_spec
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from verify.checker.errors import InputError
from verify.checker.statement import Architecture, Network
from verify.files.writing import write_bytes
from verify.numbers.floats import to_float
from verify.surroundings import Surroundings
from verify.writers.arrays import arrays_of, check_dense, slopes_of

__all__ = ["SUFFIXES", "check_savable", "write"]

SUFFIXES = (".npz", ".json", ".pt", ".pth", ".safetensors", ".onnx", ".skops")
_NEEDS = {
    ".pt": ("torch", "torch"),
    ".pth": ("torch", "torch"),
    ".onnx": ("onnx", "onnx"),
    ".skops": ("skops", "sklearn"),
}
_EXACT = ".json, which keeps it exactly"


def check_savable(shape: Architecture, path: str | PathLike[str]) -> None:
    """Refuse a file that cannot hold such a network: before any work, so that none is done in vain."""
    file = Path(fspath(path))
    suffix = file.suffix.lower()
    if suffix not in SUFFIXES:
        kinds = f"{', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}"
        raise InputError(f"{file} does not say what kind of file it is: end its name in {kinds}")
    if suffix == ".json":
        return
    package, extra = _NEEDS.get(suffix, ("numpy", ""))
    if find_spec(package) is None:
        raise InputError(
            f"{file} needs {package}, which is not installed: install it with pip install 'isoptimal[{extra}]'"
        )
    if suffix == ".npz" and (len(shape.layers) != 2 or any(layer.entries is not None for layer in shape.layers)):
        raise InputError("only networks of two dense layers go into an .npz: give a name that ends in .json")
    check_dense(shape, f"a file {suffix}")
    slopes = slopes_of(shape)
    if any(to_float(slope) != slope for slope in slopes):
        slope = next(slope for slope in slopes if to_float(slope) != slope)
        raise InputError(f"the slope {slope} is no float: give a name that ends in {_EXACT}")
    if suffix == ".onnx" and any(_single(to_float(slope)) != slope for slope in slopes):
        raise InputError(f"ONNX holds slopes in single precision, which changes {to_float(slopes[0])}: save it as .npz")
    if suffix == ".skops" and (len(set(slopes)) != 1 or not set(slopes) <= {0, 1}):
        raise InputError("scikit-learn has ReLU and identity only: save it as .npz or .pt")


def write(network: Network, path: str | PathLike[str], around: Surroundings | None = None) -> None:
    """Write the network in the format of the file's name, for `read`; all but .json round each number to a double.

    around: what `.skops` holds around it.
    `.pt` and `.safetensors` (of other depths than 2) hold the state dict of `to_torch()`, without the slope. Raises
    InputError for what the format cannot hold, OSError.
    """
    check_savable(network.architecture, path)
    file = Path(fspath(path))
    match file.suffix.lower():
        case ".json":
            content = (network.canonical_text() + "\n").encode("utf-8")
        case ".npz":
            content = _npz(arrays_of(network))
        case ".safetensors":
            content = _safetensors(network)
        case ".onnx":
            content = _onnx(network)
        case ".skops":
            content = _skops(network, around)
        case _:
            content = _torch(network)
    write_bytes(file, content)


def _npz(arrays: dict[str, Any]) -> bytes:
    import numpy as np

    content = io.BytesIO()
    np.savez(content, **arrays)
    return content.getvalue()


def _torch(network: Network) -> bytes:
    from verify.writers.torch_modules import import_torch, state_of

    torch = import_torch()
    content = io.BytesIO()
    torch.save({name: torch.from_numpy(array) for name, array in state_of(network).items()}, content)
    return content.getvalue()


def _safetensors(network: Network) -> bytes:
    from verify.writers.torch_modules import state_of

    arrays = arrays_of(network) if len(network.architecture.layers) == 2 else state_of(network)
    header: dict[str, object] = {}
    data = b""
    for name, array in arrays.items():
        begin = len(data)
        data += array.astype("<f8").tobytes()
        header[name] = {"dtype": "F64", "shape": list(array.shape), "data_offsets": [begin, len(data)]}
    text = json.dumps(header, separators=(",", ":")).encode("ascii")
    text += b" " * (-len(text) % 8)  # the tensors begin at a multiple of 8
    return len(text).to_bytes(8, "little") + text + data


def _onnx(network: Network) -> bytes:
    """Gemm, with Relu or LeakyRelu between, in double precision."""
    from verify.writers.torch_modules import state_of

    helper: Any = import_module("onnx.helper")
    numpy_helper: Any = import_module("onnx.numpy_helper")
    state, slopes = state_of(network), [*slopes_of(network.architecture), None]
    nodes: list[Any] = []
    value, double_type = "x", 11
    weights = [name for name in state if name.endswith("weight")]
    for i, (weight, slope) in enumerate(zip(weights, slopes, strict=True)):
        bias = weight.replace("weight", "bias")
        out = "y" if slope is None else f"z{i}"
        inputs = [value, weight, *([bias] if bias in state else [])]
        nodes.append(helper.make_node("Gemm", inputs, [out], name=f"layer{i}", transB=1))
        value = out
        if slope not in (None, 1):
            value = f"a{i}"
            kind, options = ("Relu", {}) if not slope else ("LeakyRelu", {"alpha": to_float(slope)})
            nodes.append(helper.make_node(kind, [out], [value], name=f"activation{i}", **options))
    shape = network.architecture.layers[0].inputs
    ends = [helper.make_tensor_value_info(name, double_type, ["n", size]) for name, size in (("x", shape), ("y", 1))]
    stored = [numpy_helper.from_array(array, name) for name, array in state.items()]
    graph = helper.make_graph(nodes, "network", ends[:1], ends[1:], stored)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    return model.SerializeToString()


def _skops(network: Network, around: Surroundings | None) -> bytes:
    from verify.writers.sklearn_estimators import estimator_of

    skops_io: Any = import_module("skops.io")
    return skops_io.dumps(estimator_of(network, around=around))


def _single(number: float) -> float:
    return struct.unpack("f", struct.pack("f", number))[0]
