"""PyTorch modules in memory.

A module is traced with `torch.fx`, which records what its `forward` does, whatever the order of its children; it is
read when that is one row of Linear layers with ReLU, LeakyReLU or no activation between them. Weights of any type are
the exact numbers that they store; the slope of a LeakyReLU is the exact value of its `negative_slope`, a double.

Dropout is read as what it is in eval mode, nothing, and refused in training mode.
"""

from __future__ import annotations

import operator
from fractions import Fraction
from typing import Any

from verify.errors import InputError
from verify.readers.chains import Chain, LinearLayer
from verify.readers.refusals import refusal
from verify.readers.shorthand import in_range
from verify.readers.torch_tensors import check_own_tensors, import_torch, linear_layer
from verify.values import rational

REMEDY = "train without it (Linear(k, 1, bias=False)), or "

_SAME, _RESHAPED = "same", "reshaped"
_DROPOUTS = ("Dropout", "AlphaDropout", "FeatureAlphaDropout")


def read_module(module: object, place: str) -> Chain:
    """The layers that the `forward` of a module applies, one after the other. Raises InputError."""
    torch = import_torch(place)
    if not isinstance(module, torch.nn.Module):
        raise InputError(f"{place} is not a module: give the module, its state dict, or the path of a file")
    _check_plain(module, place, torch)
    return _Walk(module, place, torch).along(_graph(module, place, torch))


def _check_plain(module: Any, place: str, torch: Any) -> None:
    """Refuse what changes the outputs of a module behind its `forward`, and wrappers whose content can be given."""
    if type(module).__name__ == "OptimizedModule":
        raise InputError(f"{place} is compiled: read the module it was made from, model._orig_mod")
    if isinstance(module, torch.jit.ScriptModule):
        raise InputError(f"{place} is a TorchScript module: read the module it was made from")
    if isinstance(module, torch.nn.DataParallel | torch.nn.parallel.DistributedDataParallel):
        raise InputError(f"{place} wraps the network: read model.module")
    for name, part in module.named_modules():
        where = f"{place}: the module {name!r}" if name else place
        if isinstance(part, torch.nn.modules.lazy.LazyModuleMixin):
            raise InputError(f"{where} has no weights yet: run one batch through the model first")
        if torch.nn.utils.parametrize.is_parametrized(part):
            raise InputError(
                f"{where} is reparametrised, so other numbers than its weights were trained: call "
                "torch.nn.utils.parametrize.remove_parametrizations first if the norm of the weights is what you mean"
            )
        if part._forward_hooks or part._forward_pre_hooks:  # noqa: SLF001 (there is no public way to ask)
            raise InputError(
                f"{where} has a forward hook, which may change what it computes: remove it (after pruning with "
                "torch.nn.utils.prune.remove, after weight_norm with torch.nn.utils.remove_weight_norm)"
            )
        if "forward" in vars(part):
            raise InputError(f"{where} has a forward of its own beside its class's: put it into a class")


def _graph(module: Any, place: str, torch: Any) -> Any:
    try:
        return torch.fx.Tracer().trace(module)
    except Exception as error:  # tracing runs the code of the module
        said = " ".join(str(error).split())[:100]
        raise InputError(
            f"{place}: what its forward does cannot be traced ({said}): read an nn.Sequential of the same layers"
        ) from error


class _Walk:
    """The layers met so far on the way from the input of a graph to its output."""

    def __init__(self, module: Any, place: str, torch: Any) -> None:
        self.module, self.place, self.torch = module, place, torch
        self.operations = _operations(torch)
        self.layers: list[LinearLayer] = []
        self.slopes: list[Fraction] = []
        self.tensors: dict[str, object] = {}
        self.notes: list[str] = []
        self.is_reshaped = False

    def along(self, graph: Any) -> Chain:
        """The chain, when each node of the graph takes the one before and nothing else."""
        previous = None
        for node in graph.nodes:
            if node.op == "get_attr" or (node.op == "placeholder" and not (previous is None or node.users)):
                continue
            if node.op == "placeholder" and previous is None:
                previous = node
                continue
            if [used for used in node.all_input_nodes if used.op != "get_attr"] != [previous]:
                raise InputError(
                    f"{self.place}: at {node.name!r} its forward does not apply one layer to the one before: branches, "
                    "skip connections, computed weights and several inputs or outputs are not read"
                )
            if node.op == "output":
                if node.args[0] is not previous:
                    raise InputError(f"{self.place}: its forward must return one tensor: return the output alone")
                break
            self._step(node)
            previous = node
        if not self.layers:
            raise InputError(f"{self.place} has no Linear layer: give the whole network")
        if self.slopes[-1] != 1:
            raise InputError(
                f"{self.place}: an activation follows the last layer, {self.layers[-1].weights_name}, and the output "
                "of a network must be linear: train without it"
            )
        check_own_tensors(self.tensors, self.place)
        return Chain(layers=tuple(self.layers), slopes=tuple(self.slopes[:-1]), remedy=REMEDY, notes=tuple(self.notes))

    def _step(self, node: Any) -> None:
        step = self._module_step(node) if node.op == "call_module" else self._function_step(node)
        match step:
            case LinearLayer() if self.is_reshaped:
                raise InputError(f"{self._where(node)}: a layer after a reshaping is not read: reshape at the end only")
            case LinearLayer():
                self.layers.append(step)
                self.slopes.append(Fraction(1))
            case Fraction() if self.layers:
                self.slopes[-1] *= step  # max(z, a z) after max(z, b z) is max(z, a b z)
            case Fraction():
                raise InputError(
                    f"{self._where(node)}: an activation acts on the inputs: apply it to the data, and read the "
                    "network without it"
                )
            case str() if step == _SAME:
                pass
            case str() if self._is_output():
                self.is_reshaped = True  # (n, 1) in another shape: the same numbers in the same order
            case _:
                raise refusal(self._name(node), self._where(node), is_output=self._is_output())

    def _module_step(self, node: Any) -> LinearLayer | Fraction | str | None:
        part, nn = self.module.get_submodule(node.target), self.torch.nn
        kind = type(part)
        if kind is nn.Linear:
            return self._linear(f"{node.target}.weight", f"{node.target}.bias", part.weight, part.bias)
        if kind is nn.ReLU:
            return Fraction(0)
        if kind is nn.LeakyReLU:
            return self._slope(part.negative_slope, node)
        if kind is nn.Identity:
            return _SAME
        if kind is nn.Flatten:
            return _SAME if (part.start_dim, part.end_dim) == (1, -1) else _RESHAPED
        if kind.__name__ in _DROPOUTS:
            return self._dropout(part.p, part.training, node)
        return None

    def _function_step(self, node: Any) -> LinearLayer | Fraction | str | None:
        def given(position: int, name: str, default: object = None) -> Any:
            return node.args[position] if len(node.args) > position else node.kwargs.get(name, default)

        match self.operations.get(node.target) if node.op == "call_function" else node.target:
            case "linear":
                weight, bias = given(1, "weight"), given(2, "bias")
                names = str(weight.target), "no bias" if bias is None else str(bias.target)
                values = [operator.attrgetter(name)(self.module) for name in (names if bias is not None else names[:1])]
                return self._linear(*names, values[0], None if bias is None else values[1])
            case "relu" | "relu_":
                return Fraction(0)
            case "clamp" if given(1, "min") == 0 and given(2, "max") is None:
                return Fraction(0)
            case "leaky_relu":
                return self._slope(given(1, "negative_slope", 0.01), node)
            case "dropout":
                return self._dropout(given(1, "p", 0.5), given(2, "training", True), node)
            case "flatten" if (given(1, "start_dim", 0), given(2, "end_dim", -1)) == (1, -1):
                return _SAME
            case "flatten" | "squeeze" | "reshape" | "view":
                return _RESHAPED
            case "getitem" if node.args[1] in [(slice(None), 0), (slice(None), -1), (..., 0), (..., -1)]:
                return _RESHAPED
            case _:
                return None

    def _linear(self, weight_name: str, bias_name: str, weight: Any, bias: Any) -> LinearLayer:
        for name, tensor in ((weight_name, weight), (bias_name, bias)):
            if tensor is not None:
                self.tensors[f"{name} (applied again)" if name in self.tensors else name] = tensor
        return linear_layer(weight, bias, (weight_name, bias_name), self.place)

    def _slope(self, value: object, node: Any) -> Fraction:
        place = f"{self._where(node)}: negative_slope"
        return in_range(rational(value, place), place)

    def _dropout(self, p: float, training: object, node: Any) -> str:
        if p and training is not False:
            raise InputError(
                f"{self._where(node)}: dropout is random in training mode: call model.eval() first, which is how the "
                "network is used"
            )
        if p:
            self.notes.append(f"{self._where(node)}: dropout is read as what it is in eval mode, nothing")
        return _SAME

    def _is_output(self) -> bool:
        return bool(self.layers) and self.layers[-1].shape[0] == 1

    def _where(self, node: Any) -> str:
        return f"{self.place}: {node.target if node.op == 'call_module' else node.name!s}"

    def _name(self, node: Any) -> str:
        if node.op == "call_module":
            return type(self.module.get_submodule(node.target)).__name__
        return str(getattr(node.target, "__name__", node.target))


def _operations(torch: Any) -> dict[object, str]:
    """The functions that are understood; methods of tensors have the same names."""
    functional = torch.nn.functional
    return {
        functional.linear: "linear",
        functional.relu: "relu",
        functional.relu_: "relu",
        torch.relu: "relu",
        torch.relu_: "relu",
        torch.clamp: "clamp",
        functional.leaky_relu: "leaky_relu",
        functional.leaky_relu_: "leaky_relu",
        functional.dropout: "dropout",
        torch.flatten: "flatten",
        torch.squeeze: "squeeze",
        torch.reshape: "reshape",
        operator.getitem: "getitem",
    }
