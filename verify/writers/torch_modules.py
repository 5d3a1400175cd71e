"""Networks as modules of PyTorch."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from verify.checker.errors import InputError
from verify.checker.statement import Network
from verify.writers.arrays import check_dense, double, matrices_of, slopes_of

__all__ = ["import_torch", "module_of", "state_of"]


def import_torch() -> Any:
    """PyTorch, or the error that says how to install it."""
    try:
        return import_module("torch")
    except ImportError as error:
        raise InputError("PyTorch is not installed: install it with pip install 'isoptimal[torch]'") from error


def module_of(network: Network) -> Any:
    """An `nn.Sequential` of Linear layers in double precision, with the nearest double of each weight."""
    torch = import_torch()
    nn = torch.nn
    parts: list[Any] = []
    slopes = slopes_of(network.architecture)
    has_bias = [bias is not None for _, bias in matrices_of(network)]
    for i, layer in enumerate(network.architecture.layers):
        parts.append(nn.Linear(layer.inputs, layer.outputs, bias=has_bias[i], dtype=torch.float64))
        if i < len(slopes) and slopes[i] != 1:
            parts.append(nn.LeakyReLU(double(slopes[i], "the slope")) if slopes[i] else nn.ReLU())
    module = nn.Sequential(*parts)
    module.load_state_dict(
        dict(zip(module.state_dict(), map(torch.from_numpy, state_of(network).values()), strict=True))
    )
    return module


def state_of(network: Network) -> dict[str, Any]:
    """The state dict of that module, as arrays of doubles."""
    import numpy as np

    check_dense(network.architecture, "a module of PyTorch")
    state: dict[str, Any] = {}
    place = 0
    slopes = [*slopes_of(network.architecture), None]
    for (weights, bias), slope in zip(matrices_of(network), slopes, strict=True):
        for name, rows in ((f"{place}.weight", weights), (f"{place}.bias", None if bias is None else [bias])):
            if rows is not None:
                array = np.array([[double(number, f"{name}[{r}]") for number in row] for r, row in enumerate(rows)])
                state[name] = array if name.endswith("weight") else array[0]
        place += 1 if slope in (None, 1) else 2
    return state
