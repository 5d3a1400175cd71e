"""Kinds of objects of PyTorch: modules in memory. Each is made from the package torch, which is imported then."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from tests.verify.readers.objects import Kind, Outputs
from tests.verify.readers.torch_nets import nets

GROUP = "PyTorch: modules"
NORM = "the norm is not the one that was trained"


def module(name: str, built: Callable[[Any, Any], Any], said: str = "", *, head: str = "", **options: object) -> Kind:
    """A module that is read; `built` makes it from torch and `nets`. `head`: what of its outputs is compared."""
    return Kind(
        group=GROUP, name=name, source="model", made=maker(built, head), options=options, said=said, needs=("torch",)
    )


def maker(built: Callable[[Any, Any], Any], head: str) -> Callable[[Path], tuple[object, Outputs, int]]:
    """A function that makes the module and its outputs, at the same random weights each time."""

    def made(_: Path) -> tuple[object, Outputs, int]:
        import torch

        torch.manual_seed(0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = built(torch, nets(torch))
        return found, lambda points: outputs(found, points, head), 3

    return made


def outputs(found: Any, points: Sequence[Sequence[float]], head: str) -> list[float]:
    """What a module computes in eval mode and double precision: its one output, or what `head` makes of it."""
    import torch

    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        given = torch.tensor(np.asarray(points), dtype=torch.float64)
        values = found.eval().double()(given.reshape(_SHAPES.get(head, (-1, 3))))
    if head == "logit":
        values = torch.log(values) - torch.log1p(-values)
    if head == "softmax":
        values = torch.log(values)
    if head in ("difference", "softmax"):
        values = values[:, 1] - values[:, 0]
    return values.reshape(-1).tolist()


_SHAPES = {"images": (-1, 3, 1), "signals": (-1, 1, 3), "pictures": (-1, 1, 1, 3)}


def trained_batch_norm(torch: ModuleType, net: Any) -> Any:
    """With statistics of batches that it has seen."""
    for _ in range(3):
        net(torch.randn(10, 3) * 2 + 1)
    return net.eval()


def trained_signals(torch: ModuleType, net: Any) -> Any:
    """With statistics of batches of signals that it has seen."""
    for _ in range(3):
        net(torch.randn(10, 1, 3) * 2 + 1)
    return net.eval()


KINDS = (
    module("Linear, ReLU, Linear without biases", lambda t, n: n.plain()),
    module("hidden biases", lambda t, n: n.plain(bias=True)),
    module("LeakyReLU, with its slope", lambda t, n: n.plain(t.nn.LeakyReLU(0.1))),
    module("no activation", lambda t, n: n.plain(t.nn.Identity())),
    module("two hidden layers without biases", lambda t, n: n.deep(bias=False)),
    module("two hidden layers with biases", lambda t, n: n.deep(bias=True), NORM, output_bias="neuron"),
    module("an output bias", lambda t, n: n.plain(output_bias=True), NORM, output_bias="neuron"),
    module(
        "two logits (CrossEntropyLoss)",
        lambda t, n: n.plain(outputs=2),
        NORM,
        head="difference",
        two_logits="difference",
    ),
    module(
        "two logits with all biases",
        lambda t, n: n.plain(bias=True, output_bias=True, outputs=2),
        NORM,
        head="difference",
        two_logits="difference",
        output_bias="neuron",
    ),
    module(
        "LogSoftmax over two logits",
        lambda t, n: n.headed(t.nn.LogSoftmax(1), outputs=2),
        "before its LogSoftmax",
        head="difference",
        two_logits="difference",
    ),
    module(
        "Softmax over two logits",
        lambda t, n: n.headed(t.nn.Softmax(dim=-1), outputs=2),
        "before its Softmax",
        head="softmax",
        two_logits="difference",
    ),
    module("a Sigmoid head", lambda t, n: n.headed(t.nn.Sigmoid()), "its Sigmoid is left out", head="logit"),
    module("float16 weights", lambda t, n: n.plain(bias=True).half()),
    module("bfloat16 weights", lambda t, n: n.plain(bias=True).to(t.bfloat16)),
    module("float64 weights", lambda t, n: n.plain(bias=True).double()),
    module("Flatten first", lambda t, n: t.nn.Sequential(t.nn.Flatten(), *n.plain()), head="images"),
    module("Identity and nested Sequential", lambda t, n: t.nn.Sequential(t.nn.Identity(), t.nn.Sequential(n.plain()))),
    module(
        "dropout in eval mode",
        lambda t, n: n.plain(t.nn.Sequential(t.nn.ReLU(), t.nn.Dropout(0.5))).eval(),
        "dropout is read as what it is in eval mode",
    ),
    module("a wrapper module", lambda t, n: n.wrapper(n.plain())),
    module("an output squeezed in forward", lambda t, n: n.module(lambda m, x: m.v(t.relu(m.W(x))).squeeze(-1))),
    module(
        "torch.relu, F.relu, clamp(min=0), maximum(z, 0) in forward",
        lambda t, n: n.module(
            lambda m, x: m.v(t.maximum(t.nn.functional.relu(t.relu(m.W(x)).clamp(min=0)), t.zeros(())))[:, 0]
        ),
    ),
    module("raw parameters: x @ W.T, @ v", lambda t, n: n.raw(lambda m, x: t.relu(x @ m.W.T + m.b) @ m.v)),
    module(
        "raw parameters: einsum",
        lambda t, n: n.raw(lambda m, x: t.einsum("k,nk->n", m.v, t.relu(t.einsum("nd,kd->nk", x, m.W)))),
    ),
    module(
        "raw parameters: (relu(z) * v).sum(-1)", lambda t, n: n.raw(lambda m, x: (t.relu(x @ m.W.t()) * m.v).sum(-1))
    ),
    module(
        "`x.view(x.size(0), -1)` in forward",
        lambda t, n: n.module(lambda m, x: m.v(t.relu(m.W(x.view(x.size(0), -1))))),
        head="images",
    ),
    module("`x.reshape(len(x), -1)`, `if x.ndim == 1` in forward", lambda t, n: n.branching()),
    module(
        "division by a constant: `/ k**0.5` in forward",
        lambda t, n: n.module(lambda m, x: m.v(t.relu(m.W(x))) / 3**0.5),
        "shared equally by its 2 layers",
    ),
    module(
        "multiplication by a constant: `* 0.5` in forward",
        lambda t, n: n.module(lambda m, x: 0.5 * m.v(t.relu(m.W(x)))),
        "the constants in its forward (* 0.5)",
    ),
    module(
        "fixed output signs in forward",
        lambda t, n: n.raw(lambda m, x: t.relu(x @ m.W.T) @ m.signs),
        "signs was not trained",
    ),
    module("a frozen second layer", lambda t, n: n.frozen(n.plain()), "2.weight was not trained"),
    module("torch.compile", lambda t, n: t.compile(n.plain(), backend="eager")),
    module("DataParallel", lambda t, n: t.nn.DataParallel(n.plain())),
    module("torch.jit.script of a row of layers", lambda t, n: t.jit.script(n.plain(bias=True))),
    module("torch.jit.trace of a row of layers", lambda t, n: t.jit.trace(n.plain(bias=True), t.zeros(5, 3))),
    module("a pruned layer", lambda t, n: n.pruned(), "the effective ones, after pruning"),
    module(
        "weight_norm (parametrisation)",
        lambda t, n: n.first(n.parametrizations.weight_norm).double(),
        "the effective ones, after WeightNorm",
    ),
    module(
        "weight_norm (hook)",
        lambda t, n: n.first(n.utils.weight_norm).double(),
        "the effective ones, after weight_norm",
    ),
    module(
        "spectral_norm (parametrisation)",
        lambda t, n: n.first(n.parametrizations.spectral_norm).double(),
        "the effective ones, after SpectralNorm",
    ),
    module(
        "spectral_norm (hook)",
        lambda t, n: n.first(n.utils.spectral_norm).double(),
        "the effective ones, after spectral_norm",
    ),
    module(
        "weights computed in forward",
        lambda t, n: n.raw(lambda m, x: t.relu(x @ (m.W / m.W.norm(dim=1, keepdim=True)).T) @ m.v).double(),
        "the effective ones, after",
    ),
    module(
        "BatchNorm after a Linear, in eval mode",
        lambda t, n: trained_batch_norm(t, n.plain(t.nn.Sequential(t.nn.BatchNorm1d(4), t.nn.ReLU()))),
        NORM,
        fold=True,
    ),
    module(
        "BatchNorm of the inputs, in eval mode",
        lambda t, n: trained_batch_norm(t, t.nn.Sequential(t.nn.BatchNorm1d(3), *n.plain())),
        NORM,
        fold=True,
    ),
    module(
        "BatchNorm after the activation, in eval mode",
        lambda t, n: trained_batch_norm(t, n.plain(t.nn.Sequential(t.nn.ReLU(), t.nn.BatchNorm1d(4)))),
        NORM,
        fold=True,
        output_bias="neuron",
    ),
    module(
        "inputs standardised in forward by buffers",
        lambda t, n: n.raw(lambda m, x: t.relu((x - m.mean) / m.std @ m.W.T) @ m.v),
        NORM,
        fold=True,
    ),
    module(
        "Conv1d, Flatten, Linear",
        lambda t, n: n.convolution(t.nn.Identity(), width=8),
        head="signals",
        input_shape=(1, 3),
    ),
    module(
        "Conv1d with padding, stride, dilation and biases",
        lambda t, n: n.convolution(t.nn.Identity(), width=8, padding=1, stride=2, dilation=2, bias=True),
        head="signals",
        input_shape=(1, 3),
    ),
    module(
        "Conv1d, AvgPool1d",
        lambda t, n: n.convolution(t.nn.AvgPool1d(2)),
        "(the mean of 2 in 2)",
        head="signals",
        input_shape=(1, 3),
    ),
    module(
        "Conv1d, AdaptiveAvgPool1d",
        lambda t, n: n.convolution(t.nn.AdaptiveAvgPool1d(1)),
        "shared equally by its 2 layers",
        head="signals",
        input_shape=(1, 3),
    ),
    module(
        "two Conv1d with pooling between them",
        lambda t, n: n.convolution(t.nn.Sequential(t.nn.AvgPool1d(2), t.nn.Conv1d(4, 2, 1, bias=False)), width=2),
        "shared equally by its 3 layers",
        head="signals",
        input_shape=(1, 3),
    ),
    module(
        "Conv1d, BatchNorm1d in eval mode",
        lambda t, n: trained_signals(t, n.convolution(t.nn.BatchNorm1d(4), width=8, is_active=False)),
        NORM,
        head="signals",
        fold=True,
        input_shape=(1, 3),
    ),
    module(
        "sums over positions in forward: x.view(-1, 1, 3), relu, sum(-1)",
        lambda t, n: n.positions(lambda m, x: m.v(t.relu(m.c(x.view(-1, 1, 3))).sum(-1))),
    ),
    module(
        "means over positions in forward: unsqueeze(1), relu, mean(-1)",
        lambda t, n: n.positions(lambda m, x: m.v(t.relu(m.c(x.unsqueeze(1))).mean(-1))),
        "the mean of 2 in mean",
        input_shape=(3,),
    ),
    module(
        "Conv2d",
        lambda t, n: t.nn.Sequential(
            t.nn.Conv2d(1, 4, (1, 2), bias=False), t.nn.ReLU(), t.nn.Flatten(), t.nn.Linear(8, 1, bias=False)
        ),
        head="pictures",
        input_shape=(1, 1, 3),
    ),
)
