"""PyTorch modules in memory.

The forward of a module is recorded as a graph, which shows what it does, whatever the order of its children; it is read
when that is one row of linear maps with ReLU, LeakyReLU or no activation between them. Weights of any type are the
exact numbers that they store; the slope of a LeakyReLU is the exact value of its `negative_slope`, a double.

Dropout and batch normalisation are read as what they are in eval mode, and refused in training mode.
"""

from __future__ import annotations

from contextlib import suppress
from fractions import Fraction
from typing import Any, cast, final

from verify.checker.errors import InputError
from verify.numbers.values import rational
from verify.readers.chains import Chain
from verify.readers.folding import LayerRow
from verify.readers.positions import Shape
from verify.readers.refusals import refusal
from verify.readers.slopes import in_range
from verify.readers.torch_graphs import is_constant, random_numbers, recorded_graph, symbolic_graph, unwrapped
from verify.readers.torch_operations import Call, ExampleNeededError, FlowingValue, Operations, Size
from verify.readers.torch_outputs import agrees
from verify.readers.torch_positions import module_step
from verify.readers.torch_steps import SHAPING, STEPS, drop, known_name
from verify.readers.torch_tensors import check_own_tensors, import_torch, read_tensors
from verify.readers.torch_weights import Constant, attribute, computing_hooks, quantised, reparametrisations_at_rest

REMEDY = "train without it (Linear(..., bias=False)), or "

_QUERIES = ("size", "dim", "ndimension", "shape", "ndim", "dtype", "device", "numel", "nelement", "is_cuda")
_DROPOUTS = ("Dropout", "AlphaDropout", "FeatureAlphaDropout")
_RANDOM = ("rand", "normal_", "bernoulli", "multinomial", "poisson", "uniform")


def read_module(module: object, place: str, input_shape: Shape | None = None) -> Chain:
    """The layers that the `forward` of a module applies, one after the other. Raises InputError.

    input_shape: of a point, (channels, length, ...), which convolutions need.
    """
    torch = import_torch(place)
    if not isinstance(module, torch.nn.Module):
        is_tensor = type(module).__name__ in ("Tensor", "Parameter")
        what = "holds numbers, and is no network" if is_tensor else "is not a module"
        raise InputError(f"{place} {what}: give the module, its state dict, or the path of a file first, then the data")
    if isinstance(module, torch.nn.ParameterList):
        return read_tensors(list(cast("Any", module)), place)
    inner = unwrapped(module, torch)
    _check_plain(inner, place, torch)
    with reparametrisations_at_rest(inner, torch):
        if not isinstance(inner, torch.jit.ScriptModule):
            found = symbolic_graph(inner, place, torch)
            with suppress(ExampleNeededError):
                if found is not None:
                    chain = _TorchWalk(inner, found[1], place, torch, input_shape, is_recorded=False).along(found[0])
                    if agrees(inner, chain, torch):
                        return chain
        graph, root = recorded_graph(inner, place, torch, input_shape)
        chain = _TorchWalk(inner, root, place, torch, input_shape, is_recorded=True).along(graph)
        if agrees(inner, chain, torch):
            return chain
    raise InputError(
        f"{place} computes something else than the layers that its forward seems to apply: read an nn.Sequential of "
        "the same layers"
    )


def _check_plain(module: Any, place: str, torch: Any) -> None:
    """Refuse what changes the outputs of a module behind its `forward`, and what its forward changes in training."""
    for name, part in module.named_modules():
        where = f"{place}: the module {name!r}" if name else place
        if isinstance(part, torch.nn.modules.lazy.LazyModuleMixin):
            raise InputError(f"{where} has no weights yet: run one batch through the model first")
        kind = getattr(part, "original_name", type(part).__name__)
        if "BatchNorm" in kind and getattr(part, "training", False):
            raise InputError(
                f"{where} ({kind}) depends on the batch in training mode: call model.eval() first, which is how the "
                "network is used"
            )
        if isinstance(part, torch.jit.ScriptModule) or unwrapped(part, torch) is not part:
            continue
        if part._forward_hooks or len(part._forward_pre_hooks) > len(computing_hooks(part)):  # noqa: SLF001 (no public way)
            raise InputError(f"{where} has a forward hook, which may change what it computes: remove it")
        if "forward" in vars(part):
            raise InputError(f"{where} has a forward of its own beside its class's: put it into a class")


@final
class _TorchWalk:
    """The values of a graph, node by node: constants, and the flow from the input to the output."""

    def __init__(
        self, module: Any, root: Any, place: str, torch: Any, input_shape: Shape | None, *, is_recorded: bool
    ) -> None:
        self.module, self.root, self.place, self.torch, self.is_recorded = module, root, place, torch, is_recorded
        is_any_trained = any(parameter.requires_grad for parameter in module.parameters())
        self.row = LayerRow(place, REMEDY)
        self.row.input_shape = self.row.shape = input_shape
        self.operations = Operations(self.row, place, torch, (STEPS, SHAPING), is_any_trained=is_any_trained)
        self.values: dict[Any, Any] = {}
        self.flow: FlowingValue | None = None

    def along(self, graph: Any) -> Chain:
        """The chain, when each operation takes the flow once and otherwise constants."""
        for node in graph.nodes:
            if node.op == "output":
                if self._found(node.args[0]) is not self.flow or self.flow is None:
                    raise InputError(f"{self.place}: its forward must return one tensor: return the output alone")
                break
            if node.users or node.op == "placeholder":
                self.values[node] = self._value(node)
            elif str(node.target).endswith("_") or node.kwargs.get("inplace"):
                raise InputError(
                    f"{self.place}: at {node.name!r} its forward changes a tensor in place and goes on with the old "
                    "name: assign the result"
                )
        check_own_tensors(self.operations.tensors, self.place)
        return self.row.chain()

    def _value(self, node: Any) -> Any:
        if node.op == "placeholder":
            if self.flow is None:
                self.flow = FlowingValue()
                return self.flow
            return Constant(node.args[0]) if node.args else FlowingValue()
        if node.op == "get_attr":
            return self._attribute(node)
        arguments, named = self._found(node.args), self._found(node.kwargs)
        name = node.target if node.op == "call_method" else known_name(node.target, self.torch)
        if node.target is getattr:
            _, name = node.args
            arguments = arguments[:1]
        flows = {id(value): value for value in _leaves([arguments, named]) if isinstance(value, FlowingValue)}
        if not flows:
            return self._constant(node, name, arguments, named)
        if flows and name in _QUERIES:
            return Size()
        if list(flows.values()) != [self.flow]:
            raise self._branch(node)
        where = f"{self.place}: {node.target if node.op == 'call_module' else node.name!s}"
        if node.op == "call_module":
            self._module(node, where)
        else:
            name = name or str(getattr(node.target, "__name__", node.target))
            self.operations.apply(Call(name, where, arguments, named, self.is_recorded))
        self.flow = FlowingValue()
        return self.flow

    def _found(self, value: Any) -> Any:
        """Arguments with nodes replaced by their values, and everything else made constant."""
        if isinstance(value, self.torch.fx.Node):
            return self.values.get(value, FlowingValue())
        if isinstance(value, list | tuple):
            found = [self._found(entry) for entry in value]
            return tuple(found) if isinstance(value, tuple) else found
        if isinstance(value, dict):
            return {name: self._found(entry) for name, entry in value.items()}
        return None if value is None else Constant(value)

    def _attribute(self, node: Any) -> Constant:
        name = node.meta.get("name") if self.is_recorded else node.target
        if self.is_recorded and not name:
            return Constant(getattr(self.root, node.target))
        if not self.is_recorded and is_constant(node):
            return Constant(getattr(self.root, node.target))
        return attribute(self.module, name)

    def _constant(self, node: Any, name: str, arguments: Any, named: Any) -> Any:
        """What an operation makes of constants, computed as the forward does."""
        leaves = _leaves([arguments, named])
        if any(isinstance(value, Size) for value in leaves):
            return Size()
        if any(word in name for word in _RANDOM):
            raise random_numbers(self.place)
        if not name or node.op == "call_module":
            raise self._branch(node)
        constants = [value for value in leaves if isinstance(value, Constant)]
        plain, keywords = _plain(arguments), _plain(named)
        with self.torch.no_grad():
            if node.op == "call_method" or node.target is getattr:
                found = getattr(plain[0], name)
                value = found(*plain[1:], **keywords) if node.op == "call_method" else found
            else:
                value = node.target(*plain, **keywords)
        first = constants[0] if constants else Constant(None)
        return first.computed(value, name, constants[1:])

    def _module(self, node: Any, where: str) -> None:
        part, nn = self.module.get_submodule(node.target), self.torch.nn
        kind, row = type(part), self.row
        if isinstance(part, nn.Linear) and kind.forward is nn.Linear.forward:
            weight, bias = (attribute(self.module, f"{node.target}.{name}") for name in ("weight", "bias"))
            self._linear(weight, bias, where)
        elif kind.__module__.startswith("torch.ao.nn.quantized.dynamic") and kind.__name__ == "Linear":
            self._linear(*quantised(part, str(node.target), self.place), where)
        elif kind is nn.ReLU or (kind is nn.Threshold and part.threshold == part.value == 0):
            row.activation(Fraction(0), where)
        elif kind is nn.LeakyReLU:
            place = f"{where}: negative_slope"
            row.activation(in_range(rational(part.negative_slope, place), place), where)
        elif kind is nn.Flatten:
            self._apply("flatten", where, part.start_dim, part.end_dim)
        elif kind.__name__ in _DROPOUTS:
            drop(self.operations, part.p, part.training, where)
        elif kind in (nn.BatchNorm1d, nn.BatchNorm2d):
            self._normalise(part, str(node.target), where)
        elif kind in (nn.Sigmoid, nn.Softmax, nn.LogSoftmax):
            words = {nn.Sigmoid: "sigmoid", nn.Softmax: "softmax", nn.LogSoftmax: "log_softmax"}
            self._head(words[kind], kind.__name__, getattr(part, "dim", None), where)
        elif not self._is_of_positions(part, node, where) and kind is not nn.Identity:
            raise refusal(kind.__name__, where, is_output=self.operations.is_output)

    def _is_of_positions(self, part: Any, node: Any, where: str) -> bool:
        """Whether it was a convolution or pooling, which is then done."""

        def weights() -> tuple[Constant, Constant]:
            weight, bias = (attribute(self.module, f"{node.target}.{name}") for name in ("weight", "bias"))
            return weight, bias

        return module_step(part, self.operations, Call(type(part).__name__, where, [self.flow], {}), weights)

    def _linear(self, weight: Constant, bias: Constant, where: str) -> None:
        self.operations.across(False, where)
        self.operations.linear(weight, None if bias.value is None else bias, where)

    def _apply(self, name: str, where: str, *arguments: object) -> None:
        self.operations.apply(Call(name, where, [self.flow, *map(Constant, arguments)], {}))

    def _head(self, word: str, name: str, dim: object, where: str) -> None:
        try:
            self._apply(word, where, dim)
        except InputError as error:
            raise refusal(name, where, is_output=self.operations.is_output) from error

    def _normalise(self, part: Any, name: str, where: str) -> None:
        parts = ("running_mean", "running_var", "weight", "bias")
        found = [None if getattr(part, own) is None else attribute(self.module, f"{name}.{own}") for own in parts]
        call = Call("BatchNorm1d", where, [self.flow], {})
        self.operations.normalise(call, found, part.eps, is_training=part.training)

    def _branch(self, node: Any) -> InputError:
        return InputError(
            f"{self.place}: at {node.name!r} its forward does not apply one layer to the one before: branches, skip "
            "connections, weights computed from the inputs and several inputs or outputs are not read"
        )


def _leaves(value: Any) -> list[Any]:
    if isinstance(value, list | tuple):
        return [leaf for entry in value for leaf in _leaves(entry)]
    if isinstance(value, dict):
        return [leaf for entry in value.values() for leaf in _leaves(entry)]
    return [value]


def _plain(value: Any) -> Any:
    if isinstance(value, list | tuple):
        found = [_plain(entry) for entry in value]
        return tuple(found) if isinstance(value, tuple) else found
    if isinstance(value, dict):
        return {name: _plain(entry) for name, entry in value.items()}
    return value.value if isinstance(value, Constant) else value
