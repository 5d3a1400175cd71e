"""Weights of PyTorch modules as their forward uses them, and where they come from.

Pruned, weight-normalised, spectrally normalised and other reparametrised weights are computed when the module runs; a
quantised one is stored as integers and a scale. What is read are the numbers that come out: the effective weights.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import reduce
from typing import Any, final

from verify.checker.errors import InputError

_COMPUTING_HOOKS = {"WeightNorm": "weight_norm", "SpectralNorm": "spectral_norm", "BasePruningMethod": "pruning"}
_VIEWS = {
    "t", "T", "mT", "permute", "transpose", "view", "reshape", "flatten", "squeeze", "unsqueeze", "expand", "detach",
    "contiguous", "clone", "alias", "getattr", "data", "to", "float", "double", "_to_copy", "lift_fresh_copy",
}  # fmt: skip


@final
@dataclass(frozen=True, slots=True)
class Constant:
    """A value in a forward that does not depend on the inputs.

    value: a tensor, a number, None, ...   parents: the tensors of the module that it comes from, by name.
    operation: what it was computed by; "" when it is one of them, or a view of one.
    """

    value: Any
    parents: tuple[tuple[str, Any], ...] = ()
    operation: str = ""

    @property
    def name(self) -> str:
        """What messages call it."""
        return ", ".join(name for name, _ in self.parents) or "a constant of its forward"

    @property
    def is_trained(self) -> bool:
        """Whether a gradient reaches it."""
        return any(getattr(tensor, "requires_grad", False) for _, tensor in self.parents)

    def computed(self, value: Any, operation: str, others: Iterable[Constant]) -> Constant:
        """What an operation makes of this and others."""
        found = (self, *others)
        parents = dict(parent for constant in found for parent in constant.parents)
        before = next((constant.operation for constant in found if constant.operation), "")
        return Constant(value, tuple(parents.items()), before or ("" if operation in _VIEWS else operation))


def attribute(module: Any, name: str) -> Constant:
    """The tensor or object that a forward reads by a dotted name, computed where a hook computes it."""
    owner_name, _, last = name.rpartition(".")
    owner = reduce(getattr, owner_name.split("."), module) if owner_name else module
    for hook, kind in computing_hooks(owner):
        if getattr(hook, "name", getattr(hook, "_tensor_name", None)) == last:
            inner = owner.named_parameters(prefix=owner_name, recurse=False)
            parents = tuple((own, tensor) for own, tensor in inner if own.rpartition(".")[2].startswith(last))
            return Constant(_computed(hook, owner), parents, kind)
    value = getattr(owner, last)
    parametrized = getattr(owner, "parametrizations", None)
    if parametrized is not None and last in parametrized:
        parents = tuple((f"{name} ({own})", tensor) for own, tensor in parametrized[last].named_parameters())
        kinds = ", ".join(type(part).__name__.strip("_") for part in parametrized[last])
        return Constant(value, parents, kinds)
    return Constant(value, ((name, value),))


def computing_hooks(part: Any) -> list[tuple[Any, str]]:
    """The hooks of a module that compute one of its weights before each forward, and what they do."""
    found: list[tuple[Any, str]] = []
    for hook in part._forward_pre_hooks.values():  # noqa: SLF001 (there is no public way to ask)
        names = {kind.__name__ for kind in type(hook).__mro__ if kind.__module__.startswith("torch.nn.utils.")}
        found += [(hook, word) for kind, word in _COMPUTING_HOOKS.items() if kind in names]
    return found


def _computed(hook: Any, part: Any) -> Any:
    if hasattr(hook, "apply_mask"):
        return hook.apply_mask(part)
    if "SpectralNorm" in {kind.__name__ for kind in type(hook).__mro__}:
        return hook.compute_weight(part, do_power_iteration=False)
    return hook.compute_weight(part)


def quantised(part: Any, name: str, place: str) -> tuple[Constant, Constant]:
    """The weight and the bias of a dynamically quantised Linear."""
    try:
        weight, bias = part.weight(), part.bias()
    except Exception as error:  # a static quantisation, another version
        raise InputError(f"{place}: {name} is quantised in a way that is not read: read the network before") from error
    return Constant(weight.dequantize(), ((f"{name}.weight", weight),), "quantisation"), Constant(
        bias, ((f"{name}.bias", bias),)
    )


def _is_hooked(part: Any) -> bool:
    return bool(getattr(part, "_forward_pre_hooks", None)) and bool(computing_hooks(part))


@contextmanager
def reparametrisations_at_rest(module: Any, torch: Any) -> Iterator[None]:
    """Their state is not moved on, as spectral_norm does at each look while it is trained."""
    parametrize = torch.nn.utils.parametrize
    inner = [
        own
        for part in module.modules()
        if isinstance(part, parametrize.ParametrizationList)
        for own in part.modules()
        if own.training
    ]
    inner += [part for part in module.modules() if getattr(part, "training", False) and _is_hooked(part)]
    for part in inner:
        part.training = False
    try:
        yield
    finally:
        for part in inner:
            part.training = True
