"""PyTorch itself, imported when it is needed, and the numbers in its tensors."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any, cast

from verify.errors import InputError
from verify.readers.chains import LinearLayer
from verify.readers.shorthand import Number


def import_torch(place: str) -> Any:
    """PyTorch, or the error that says how to install it."""
    try:
        import_module("torch.fx")
        import_module("torch.nn.utils.parametrize")
        return import_module("torch")
    except ImportError as error:
        raise InputError(
            f"{place} needs PyTorch, which is not installed: install it with pip install isoptimal[torch]"
        ) from error


def linear_layer(weight: object, bias: object, names: tuple[str, str], place: str) -> LinearLayer:
    """The layer with these tensors, which may be of PyTorch or numpy, any float type, on any device."""
    return LinearLayer(
        weights=cast("list[list[Number]]", _numbers(weight, f"{place}: {names[0]}")),
        bias=None if bias is None else cast("list[Number]", _numbers(bias, f"{place}: {names[1]}")),
        weights_name=names[0],
        bias_name=names[1],
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
    try:
        return tensor.tolist()
    except Exception as error:  # on the meta device, sparse, not initialised, ...
        said = " ".join(str(error).split())[:80]
        raise InputError(f"{place} holds no numbers that can be read ({said}): store a dense tensor") from error
