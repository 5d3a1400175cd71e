"""What the forward of a PyTorch module does, as a graph of operations.

`torch.fx` records a forward symbolically, for inputs of any shape. Where that cannot be done (branches on the shape, a
TorchScript module) the operations of one run on an example are recorded; a branch on the values of the inputs is an
error there too.
"""

from __future__ import annotations

import copy
import warnings
from importlib import import_module
from typing import Any

from verify.checker.errors import InputError
from verify.readers.reading import InputShapeError

EXAMPLES = 7
"""The number of points of the example: no likely number of features."""


def unwrapped(module: Any, torch: Any) -> Any:
    """The module inside torch.compile and DataParallel."""
    while True:
        if type(module).__name__ == "OptimizedModule":
            module = module._orig_mod  # noqa: SLF001 (its documented name)
        elif isinstance(module, torch.nn.DataParallel | torch.nn.parallel.DistributedDataParallel):
            module = module.module
        else:
            return module


_BRANCHES = "it asks for the value of a tensor, as an if on the data does"


def symbolic_graph(module: Any, place: str, torch: Any) -> tuple[Any, Any] | None:
    """The graph of a module, and the module whose attributes it names; None where that needs an example."""

    class Tracer(torch.fx.Tracer):
        def call_module(self, m: Any, forward: Any, args: Any, kwargs: Any) -> Any:
            inner = unwrapped(m, torch)
            return super().call_module(inner, inner.forward if inner is not m else forward, args, kwargs)

    def traced() -> tuple[Any, Any]:
        root = copy.copy(module)  # the tracer leaves constants of the forward in it as attributes
        return Tracer().trace(root), root

    try:
        (graph, root), (_, again) = traced(), traced()
    except Exception:  # noqa: BLE001 (the forward runs, whatever it does; what is wrong with it shows on an example)
        return None
    for node in graph.nodes:
        name = str(node.target)
        if is_constant(node) and not _same(getattr(root, name), getattr(again, name, None), torch):
            raise random_numbers(place)
    return graph, root


def is_constant(node: Any) -> bool:
    """Whether a node is a tensor that a forward made when it was traced."""
    return node.op == "get_attr" and str(node.target).startswith("_tensor_constant")


def random_numbers(place: str) -> InputError:
    """The error for a forward that is another function each time."""
    return InputError(
        f"{place}: its forward draws random numbers, and so is no function: call model.eval(), or leave that out"
    )


def _same(one: Any, other: Any, torch: Any) -> bool:
    return isinstance(other, torch.Tensor) and one.shape == other.shape and bool(torch.equal(one, other))


def recorded_graph(module: Any, place: str, torch: Any, input_shape: tuple[int, ...] | None = None) -> tuple[Any, Any]:
    """The graph of one run of a module on an example: of this shape, or of as many features as its weights suggest."""
    proxy_tensor: Any = import_module("torch.fx.experimental.proxy_tensor")

    dtype = next((p.dtype for p in module.parameters() if p.is_floating_point()), torch.get_default_dtype())
    device = next((p.device for p in module.parameters()), torch.device("cpu"))
    said = "it has no weights"
    suggested = [(features,) for features in _numbers_of_features(module)]
    for shape in suggested if input_shape is None else [input_shape, *suggested]:
        example = torch.zeros(EXAMPLES, *shape, dtype=dtype, device=device)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                recorded = proxy_tensor.make_fx(module, pre_dispatch=True)(example)
        except Exception as error:  # noqa: BLE001 (the forward runs, whatever it does)
            said = _BRANCHES if "aten.item" in str(error) else " ".join(str(error).split())[:100]
            continue
        names = {id(tensor): name for name, tensor in (*module.named_parameters(), *module.named_buffers())}
        for node in recorded.graph.nodes:
            if node.op == "get_attr":
                node.meta["name"] = names.get(id(getattr(recorded, node.target)), "")
        return recorded.graph, recorded
    if input_shape is None and any(tensor.dim() > 2 for tensor in module.parameters()):
        raise InputShapeError(
            f"{place}: what its forward does depends on the shape of a point: audit it with X of shape (points, "
            "channels, length), or read(model, input_shape=(1, 8))"
        )
    raise InputError(
        f"{place}: what its forward does cannot be traced ({said}): read an nn.Sequential of the same layers"
    )


def _numbers_of_features(module: Any) -> list[int]:
    """What the inputs may have, the likeliest first: the columns of the first matrix, then any side of one."""
    shapes = [tuple(p.shape) for p in (*module.parameters(), *module.buffers()) if p.dim() == 2]
    return list(dict.fromkeys([*(shape[1] for shape in shapes), *(shape[0] for shape in shapes)]))
