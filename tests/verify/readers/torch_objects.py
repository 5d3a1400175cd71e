"""Kinds of objects of PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from tests.verify.readers.objects import Kind, Outputs

MODULES = "PyTorch: modules"


def kind(name: str, built: Callable[[Any], Any], said: str = "", *, source: str = "model", **options: object) -> Kind:
    """A module that is read; `built` makes it from the package torch."""
    return Kind(
        group=MODULES, name=name, source=source, made=_made(built), options=options, said=said, needs=("torch",)
    )


def refused(name: str, built: Callable[[Any], Any], said: str) -> Kind:
    """A module that is refused."""
    return Kind(group=MODULES, name=name, source="model", made=_made(built), said=said, is_read=False, needs=("torch",))


def _made(built: Callable[[Any], Any]) -> Callable[[Path], tuple[object, Outputs, int]]:
    def made(_: Path) -> tuple[object, Outputs, int]:
        import torch

        torch.manual_seed(0)
        module = built(torch)
        return module, outputs(module), 3

    return made


def outputs(module: Any) -> Outputs:
    """What a module computes in eval mode and double precision."""

    def at(points: Any) -> Any:
        import torch

        with torch.no_grad():
            return module.eval().double()(torch.tensor(np.asarray(points), dtype=torch.float64)).reshape(-1).tolist()

    return at


def two_layer(torch: Any, activation: Any = None, *, bias: bool = False, output_bias: bool = False) -> Any:
    """Three inputs, four neurons, one output."""
    nn = torch.nn
    return nn.Sequential(nn.Linear(3, 4, bias=bias), activation or nn.ReLU(), nn.Linear(4, 1, bias=output_bias))


KINDS = (
    kind("Linear, ReLU, Linear without biases", two_layer),
    kind("hidden biases", lambda torch: two_layer(torch, bias=True)),
    refused(
        "PReLU", lambda torch: two_layer(torch, torch.nn.PReLU()), "the slope of PReLU is trained with the weights"
    ),
)
