"""Modules of PyTorch with three inputs, four neurons and one output, as people write them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from types import SimpleNamespace
from typing import Any


@cache
def nets(torch: Any) -> SimpleNamespace:  # noqa: C901 (many small classes)
    """Functions that make modules; their weights are random."""
    nn = torch.nn
    from torch.nn.utils import parametrizations, prune

    def plain(activation: Any = None, *, bias: bool = False, output_bias: bool = False, outputs: int = 1) -> Any:
        return nn.Sequential(
            nn.Linear(3, 4, bias=bias), activation or nn.ReLU(), nn.Linear(4, outputs, bias=output_bias)
        )

    def deep(*, bias: bool) -> Any:
        hidden = [nn.Linear(3, 4, bias=bias), nn.ReLU(), nn.Linear(4, 5, bias=bias), nn.LeakyReLU(0.25)]
        return nn.Sequential(*hidden, nn.Linear(5, 1, bias=bias))

    def convolution(
        rest: Any, *, kernel: int = 2, channels: int = 4, width: int = 4, is_active: bool = True, **options: Any
    ) -> Any:
        """Of one channel of three places; what `rest` makes goes into Flatten and a Linear."""
        first = nn.Conv1d(1, channels, kernel, **{"bias": False, **options})
        last = nn.Linear(width, 1, bias=False)
        return nn.Sequential(first, nn.ReLU() if is_active else nn.Identity(), rest, nn.Flatten(), last)

    def headed(head: Any, *, outputs: int = 1) -> Any:
        return nn.Sequential(*plain(outputs=outputs), head)

    class Wrapper(nn.Module):
        def __init__(self, inner: Any) -> None:
            super().__init__()
            self.net = inner

        def forward(self, x: Any) -> Any:
            return self.net(x)

    class Layers(nn.Module):
        """Linear layers, and a forward of one's own."""

        def __init__(self, does: Callable[[Any, Any], Any]) -> None:
            super().__init__()
            self.v, self.W = nn.Linear(4, 1, bias=False), nn.Linear(3, 4)
            self.skip, self.square, self.does = nn.Linear(3, 1), nn.Linear(3, 3), does

        def forward(self, x: Any) -> Any:
            return self.does(self, x)

    class Raw(nn.Module):
        """Bare parameters and buffers, and a forward of one's own."""

        def __init__(self, does: Callable[[Any, Any], Any]) -> None:
            super().__init__()
            self.W, self.b, self.v = (nn.Parameter(torch.randn(*shape)) for shape in ((4, 3), (4,), (4,)))
            self.register_buffer("signs", torch.tensor([1.0, 1.0, -1.0, -1.0]))
            self.register_buffer("mean", torch.tensor([1.0, -0.5, 0.25]))
            self.register_buffer("std", torch.tensor([2.0, 0.5, 3.0]))
            self.does = does

        def forward(self, x: Any) -> Any:
            return self.does(self, x)

    class Positions(nn.Module):
        """A convolution, and a forward of one's own."""

        def __init__(self, does: Callable[[Any, Any], Any]) -> None:
            super().__init__()
            self.c, self.v, self.does = nn.Conv1d(1, 4, 2, bias=False), nn.Linear(4, 1, bias=False), does

        def forward(self, x: Any) -> Any:
            return self.does(self, x)

    class Branching(nn.Module):
        """Points one by one or in a batch."""

        def __init__(self) -> None:
            super().__init__()
            self.W, self.v = nn.Linear(3, 4), nn.Linear(4, 1, bias=False)

        def forward(self, x: Any) -> Any:
            if x.ndim == 1:
                x = x[None]
            return self.v(torch.relu(self.W(x.reshape(len(x), -1)))).squeeze(1)

    def frozen(net: Any) -> Any:
        net[2].requires_grad_(requires_grad=False)
        return net

    def first(changed: Callable[[Any], Any]) -> Any:
        net = plain(bias=True)
        changed(net[0])
        return net

    def pruned() -> Any:
        return first(lambda layer: prune.l1_unstructured(layer, "weight", 0.5))

    return SimpleNamespace(
        plain=plain, deep=deep, headed=headed, wrapper=Wrapper, module=Layers, raw=Raw, branching=Branching,
        frozen=frozen, first=first, convolution=convolution, positions=Positions,
        pruned=pruned, parametrizations=parametrizations, utils=nn.utils,
    )  # fmt: skip
