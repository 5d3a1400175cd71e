"""Kinds of modules of PyTorch that are refused, each with its reason."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.verify.readers.objects import Kind
from tests.verify.readers.torch_objects import GROUP, maker


def refused(name: str, built: Callable[[Any, Any], Any], said: str, **options: object) -> Kind:
    """A module that is refused."""
    return Kind(
        group=GROUP, name=name, source="model", made=maker(built, ""), options=options, said=said, is_read=False,
        needs=("torch",),
    )  # fmt: skip


KINDS = (
    refused("three and more logits", lambda t, n: n.plain(outputs=3), "has 3 outputs", two_logits="difference"),
    refused(
        "Softmax over three",
        lambda t, n: n.headed(t.nn.Softmax(1), outputs=3),
        "Softmax is the head of a network with one output",
    ),
    refused("PReLU", lambda t, n: n.plain(t.nn.PReLU()), "the slope of PReLU is trained with the weights"),
    refused("ReLU6", lambda t, n: n.plain(t.nn.ReLU6()), "ReLU6 is not max(z, a z)"),
    refused("GELU", lambda t, n: n.plain(t.nn.GELU()), "GELU is not max(z, a z)"),
    refused("SiLU", lambda t, n: n.plain(t.nn.SiLU()), "SiLU is not max(z, a z)"),
    refused("ELU", lambda t, n: n.plain(t.nn.ELU()), "ELU is not max(z, a z)"),
    refused("Tanh", lambda t, n: n.plain(t.nn.Tanh()), "Tanh is not max(z, a z)"),
    refused("abs in forward", lambda t, n: n.module(lambda m, x: m.v(m.W(x).abs())), "abs is not max(z, a z)"),
    refused(
        "LazyLinear before its first batch",
        lambda t, n: t.nn.Sequential(t.nn.LazyLinear(4), t.nn.ReLU(), t.nn.Linear(4, 1)),
        "has no weights yet: run one batch through the model first",
    ),
    refused(
        "dropout in training mode",
        lambda t, n: n.plain(t.nn.Dropout(0.5)).train(),
        "dropout is random in training mode",
    ),
    refused(
        "BatchNorm in training mode",
        lambda t, n: n.plain(t.nn.BatchNorm1d(4)).train(),
        "depends on the batch in training mode",
    ),
    refused("BatchNorm without the option", lambda t, n: n.plain(t.nn.BatchNorm1d(4)).eval(), "read(model, fold=True)"),
    refused(
        "LayerNorm", lambda t, n: n.plain(t.nn.LayerNorm(4)), "LayerNorm divides by a number that depends on the point"
    ),
    refused(
        "a residual connection", lambda t, n: n.module(lambda m, x: m.v(t.relu(m.W(x)) + m.W(x))), "skip connections"
    ),
    refused(
        "a frozen TorchScript module",
        lambda t, n: t.jit.freeze(t.jit.script(n.plain().eval())),
        "cannot be traced (it has no weights)",
    ),
    refused("a linear skip", lambda t, n: n.module(lambda m, x: m.v(t.relu(m.W(x))) + m.skip(x)), "skip connections"),
    refused(
        "Conv1d without the shape of a point",
        lambda t, n: t.nn.Sequential(t.nn.Conv1d(1, 4, 3), t.nn.ReLU(), t.nn.Flatten(), t.nn.Linear(4, 1)),
        "how many places it has depends on the shape of a point",
    ),
    refused(
        "max pooling",
        lambda t, n: n.convolution(t.nn.MaxPool1d(2)),
        "MaxPool1d takes the largest of several values",
        input_shape=(1, 3),
    ),
    refused(
        "average pooling whose windows overlap",
        lambda t, n: n.convolution(t.nn.AvgPool1d(2, 1), kernel=1, width=8),
        "its windows of 2 overlap",
        input_shape=(1, 3),
    ),
    refused(
        "pooling before the activation",
        lambda t, n: n.convolution(t.nn.Sequential(t.nn.AvgPool1d(2), t.nn.ReLU()), is_active=False),
        "activate before pooling",
        input_shape=(1, 3),
    ),
    refused(
        "circular padding",
        lambda t, n: n.convolution(t.nn.Identity(), padding=1, padding_mode="circular", width=16),
        "its padding repeats the values (circular)",
        input_shape=(1, 3),
    ),
    refused(
        "ConvTranspose1d",
        lambda t, n: t.nn.Sequential(t.nn.ConvTranspose1d(1, 4, 1), t.nn.ReLU(), t.nn.Flatten(), t.nn.Linear(12, 1)),
        "ConvTranspose1d shares its weights between places",
        input_shape=(1, 3),
    ),
    refused(
        "a bias of a second convolution",
        lambda t, n: n.convolution(t.nn.Sequential(t.nn.Conv1d(4, 4, 1), t.nn.ReLU()), width=8),
        "the bias of a later layer 2.0.bias is not 0",
        input_shape=(1, 3),
    ),
    refused(
        "tied weights",
        lambda t, n: n.module(lambda m, x: m.v(t.relu(m.W(m.square(m.square(x)))))),
        "tied weights are not read yet",
    ),
)
