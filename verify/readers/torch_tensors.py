"""PyTorch itself, imported when it is needed, and the numbers in its tensors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any, cast

from verify.checker.errors import InputError
from verify.numbers.array_like import plain
from verify.numbers.values import Number
from verify.readers.chains import Chain, LinearLayer


def import_torch(place: str) -> Any:
    """PyTorch, or the error that says how to install it."""
    try:
        import_module("torch.fx")
        import_module("torch.nn.utils.parametrize")
        return import_module("torch")
    except ImportError as error:
        raise InputError(
            f"{place} needs PyTorch, which is not installed: install it with pip install 'isoptimal[torch]'"
        ) from error


def linear_layer(weight: object, bias: object, names: tuple[str, str], place: str) -> LinearLayer:
    """The layer with these tensors, which may be of PyTorch or numpy, any float type, on any device."""
    return LinearLayer(
        weights=cast("list[list[Number]]", _numbers(weight, f"{place}: {names[0]}")),
        bias=None if bias is None else cast("list[Number]", _numbers(bias, f"{place}: {names[1]}")),
        weights_name=names[0],
        bias_name=names[1],
    )


def read_tensors(tensors: Sequence[Any], place: str) -> Chain:
    """The layers whose weights and biases are given in their order: (W, v), (W, b, v), list(model.parameters()).

    A matrix begins a layer, a vector after it is its bias; a vector that a linear map is missing for is the last
    layer's one row of weights.
    """
    if odd := [tensor for tensor in tensors if getattr(tensor, "ndim", 0) not in (1, 2)]:
        shape = tuple(getattr(odd[0], "shape", ()))
        raise InputError(f"{place}: a tensor of shape {shape} is among them: give matrices of weights, and biases")
    pairs: list[list[Any]] = []
    for tensor in tensors:
        has_bias = bool(pairs) and pairs[-1][1] is not None
        is_bias = tensor.ndim == 1 and pairs and not has_bias and len(tensor) == len(pairs[-1][0])
        if is_bias and (tensor is not tensors[-1] or len(pairs[-1][0]) == 1 or len(pairs) > 1):
            pairs[-1][1] = tensor
        else:
            pairs.append([tensor.reshape(1, -1) if tensor.ndim == 1 else tensor, None])
    names = [(f"the weights of layer {i}", f"the bias of layer {i}") for i in range(len(pairs))]
    check_own_tensors({name: pair[0] for (name, _), pair in zip(names, pairs, strict=True)}, place)
    return Chain(
        layers=tuple(linear_layer(weight, bias, own, place) for (weight, bias), own in zip(pairs, names, strict=True)),
        slopes=None,
        remedy="train without it, or ",
        is_relu=True,
    )


def check_own_tensors(tensors: Mapping[str, object], place: str) -> None:
    """Refuse two layers that hold one tensor: it would be counted twice in the norm."""
    owners: dict[object, str] = {}
    for name, tensor in tensors.items():
        pointer = getattr(tensor, "data_ptr", None)
        owner = owners.setdefault(id(tensor) if pointer is None else pointer(), name)
        if owner != name:
            raise InputError(
                f"{place}: {owner} and {name} are one tensor, and tied weights are not read yet: untie them"
            )


def _numbers(tensor: Any, place: str) -> list[Any]:
    numbers = plain(tensor, place)
    if not isinstance(numbers, list):
        raise InputError(f"{place} is of type {type(tensor).__name__} and holds no numbers: store a dense tensor")
    return numbers
