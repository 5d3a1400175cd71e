"""Kinds of objects of PyTorch: weights without a forward, in memory and in files."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.verify.readers.objects import Kind, Outputs
from tests.verify.readers.torch_nets import nets
from tests.verify.readers.torch_objects import outputs

GROUP = "PyTorch: weights and files"
NORM = "the norm is not the one that was trained"


def weights(
    name: str,
    source: str,
    stored: Callable[[Any, Any], object],
    said: str = "",
    *,
    net: Callable[[Any], Any] | None = None,
    head: str = "",
    **options: object,
) -> Kind:
    """What `stored` makes of torch and a network, which is that of `net` or a plain one with hidden biases."""

    def made(folder: Path) -> tuple[object, Outputs, int]:
        import torch

        torch.manual_seed(0)
        found = (net or (lambda n: n.plain(bias=True)))(nets(torch))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            content = stored(torch, found)
        if source.startswith('"'):
            path = folder / source.strip('"')
            if isinstance(content, torch.jit.ScriptModule):
                torch.jit.save(content, path)
            else:
                torch.save(content, path)
            content = path
        return content, lambda points: outputs(found, points, head), 3

    return Kind(group=GROUP, name=name, source=source, made=made, options=options, said=said, needs=("torch",))


def prefixed(net: Any, prefix: str) -> dict[str, Any]:
    """A state dict, as a module that holds the network has it."""
    return {prefix + name: tensor for name, tensor in net.state_dict().items()}


def lightning(net: Any) -> dict[str, Any]:
    """What a Lightning trainer stores, as far as it matters here."""
    return {
        "epoch": 3,
        "global_step": 40,
        "pytorch-lightning_version": "2.5.0",
        "state_dict": {**prefixed(net, "model."), "loss.pos_weight": net[0].weight.new_ones(1)},
        "hyper_parameters": {"width": 4, "lr": 0.1},
        "optimizer_states": [{"state": {}, "param_groups": [{"lr": 0.1, "params": [0, 1, 2]}]}],
        "lr_schedulers": [],
        "callbacks": {},
        "loops": {},
    }


def quantised(torch: Any, net: Any) -> Any:
    """The network with integer weights; the one given gets the numbers that these stand for."""
    small = torch.ao.quantization.quantize_dynamic(net, {torch.nn.Linear})
    for layer, other in zip(net, small, strict=True):
        if isinstance(layer, torch.nn.Linear):
            layer.weight.data = other.weight().dequantize()
    return small


KINDS = (
    weights("a state dict", "state", lambda t, m: m.state_dict(), slope=0),
    weights(
        "a state dict with prefixes (module., _orig_mod.)",
        "state",
        lambda t, m: prefixed(m, "_orig_mod.module."),
        slope=0,
    ),
    weights(
        "a state dict of two logits with all biases",
        "state",
        lambda t, m: m.state_dict(),
        NORM,
        net=lambda n: n.plain(bias=True, output_bias=True, outputs=2),
        head="difference",
        slope=0,
        two_logits="difference",
        output_bias="neuron",
    ),
    weights(
        'a checkpoint {"model": state}',
        "state",
        lambda t, m: {"model": m.state_dict(), "epoch": 3},
        "of which 'model' is read",
        slope=0,
    ),
    weights(
        'a checkpoint {"model": module}', "state", lambda t, m: {"model": m, "epoch": 3}, "of which 'model' is read"
    ),
    weights(
        "a Lightning checkpoint in memory", "state", lambda t, m: lightning(m), "of which 'state_dict' is read", slope=0
    ),
    weights(
        "a dictionary of tensors that need grad",
        "arrays",
        lambda t, m: {"W": m[0].weight, "b": m[0].bias, "v": m[2].weight},
        "it is read as ReLU",
    ),
    weights(
        "a state dict of bare parameters W, b, v",
        "state",
        lambda t, m: {"model.W": m[0].weight, "model.b": m[0].bias, "model.v": m[2].weight[0]},
        slope=0,
    ),
    weights(
        "parameters (W, v)",
        "(W, v)",
        lambda t, m: (m[0].weight, m[2].weight[0]),
        "it is read as ReLU",
        net=lambda n: n.plain(),
    ),
    weights(
        "parameters (W, b, v)", "(W, b, v)", lambda t, m: (m[0].weight, m[0].bias, m[2].weight[0]), "it is read as ReLU"
    ),
    weights(
        "list(model.parameters())", "list(model.parameters())", lambda t, m: list(m.parameters()), "it is read as ReLU"
    ),
    weights("ParameterList", "parameters", lambda t, m: t.nn.ParameterList(m.parameters()), "it is read as ReLU"),
    weights("a state dict in a file", '"net.pt"', lambda t, m: m.state_dict(), slope=0),
    weights(
        'a checkpoint {"model": state} in a file',
        '"net.pth"',
        lambda t, m: {"model": m.state_dict(), "epoch": 3},
        "of which 'model' is read",
        slope=0,
    ),
    weights(
        "a Lightning checkpoint", '"last.ckpt"', lambda t, m: lightning(m), "of which 'state_dict' is read", slope=0
    ),
    weights("a whole module in a file", '"net.pt"', lambda t, m: m, "was unpickled", trust_pickle=True),
    weights("a TorchScript archive", '"script.pt"', lambda t, m: t.jit.script(m), "runs its code", trust_pickle=True),
    weights(
        "dynamically quantised layers",
        "model",
        quantised,
        "after quantisation",
    ),
)
