"""Train a small convolutional network and a network of three layers on short signals: the files beside this one.

    python examples/signals/train.py

A signal has 12 places; label 1 has a short bump (0.5, 1, 0.5) somewhere, label -1 a short wave (1, -1) instead, both
with noise. `*-trained.json` come from Adam on the logistic loss, `*-kkt.json` go on from there by L-BFGS on

    1/2 ||theta||^2 + C / beta sum_i softplus(beta (1 - y_i f(x_i)))

with beta raised step by step, which brings them near to a KKT point of the max-margin problem.

Needs: isoptimal, torch. Takes about a minute. Other versions may give other last digits.
"""

from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.nn.functional import softplus

import isoptimal

HERE = Path(__file__).parent
POINTS, PLACES = 20, 12
C = 100.0  # above every multiplier, so that the limit of the penalty meets each constraint


def signals() -> tuple[np.ndarray, np.ndarray]:
    """X (points, 1, places) in 1/64, y in {-1, 1}."""
    random = np.random.default_rng(0)
    y = np.where(np.arange(POINTS) % 2, 1, -1)
    X = 0.1 * random.normal(size=(POINTS, 1, PLACES))
    for x, label in zip(X, y, strict=True):
        at = random.integers(0, PLACES - 2)
        x[0, at : at + 3] += (0.5, 1, 0.5) if label > 0 else (1, -1, 0)
    return np.round(64 * X) / 64, y


def cnn() -> nn.Module:
    """One filter bank, averaged over all places."""
    return nn.Sequential(
        nn.Conv1d(1, 2, 3, bias=False), nn.ReLU(), nn.AdaptiveAvgPool1d(1), nn.Flatten(), nn.Linear(2, 1, bias=False)
    )


def mlp() -> nn.Module:
    """Three layers."""
    return nn.Sequential(
        nn.Flatten(), nn.Linear(PLACES, 6, bias=False), nn.ReLU(), nn.Linear(6, 4, bias=False), nn.ReLU(),
        nn.Linear(4, 1, bias=False),
    )  # fmt: skip


def trained(net: nn.Module, X: torch.Tensor, y: torch.Tensor) -> None:
    """Adam on the logistic loss."""
    optimiser = torch.optim.Adam(net.parameters(), lr=0.01)
    for _ in range(2000):
        optimiser.zero_grad()
        softplus(-y * net(X).squeeze(1)).mean().backward()
        optimiser.step()


def at_margin_1(net: nn.Module, X: torch.Tensor, y: torch.Tensor) -> None:
    """Scale all layers alike."""
    with torch.no_grad():
        margin = (y * net(X).squeeze(1)).min()
        parameters = list(net.parameters())
        for parameter in parameters:
            parameter.mul_(margin ** (-1 / len(parameters)))


def annealed(net: nn.Module, X: torch.Tensor, y: torch.Tensor) -> None:
    """On to the neighbourhood of a KKT point."""
    at_margin_1(net, X, y)
    for beta in np.geomspace(10, 1e5, 13):
        optimiser = torch.optim.LBFGS(
            net.parameters(), max_iter=150, history_size=20, line_search_fn="strong_wolfe",
            tolerance_grad=1e-10, tolerance_change=1e-14,
        )  # fmt: skip

        def closure(beta: float = float(beta), optimiser: torch.optim.Optimizer = optimiser) -> torch.Tensor:
            optimiser.zero_grad()
            norm = sum((parameter**2).sum() for parameter in net.parameters()) / 2
            loss = norm + C / beta * softplus(beta * (1 - y * net(X).squeeze(1))).sum()
            loss.backward()
            return loss

        optimiser.step(closure)


def main() -> None:
    """Write the data and the networks."""
    torch.set_num_threads(1)
    X, y = signals()
    np.savez(HERE / "data.npz", X=X, y=y)
    points, labels = torch.tensor(X), torch.tensor(y, dtype=torch.float64)
    for name, make in (("cnn", cnn), ("mlp", mlp)):
        torch.manual_seed(1)
        net = make().double()
        trained(net, points, labels)
        isoptimal.read(net, input_shape=X.shape[1:]).save(HERE / f"{name}-trained.json")
        annealed(net, points, labels)
        isoptimal.read(net, input_shape=X.shape[1:]).save(HERE / f"{name}-kkt.json")
        margin = (labels * net(points).squeeze(1)).min().item()
        print(f"{name}: least margin {margin:.9f}")


if __name__ == "__main__":
    main()
