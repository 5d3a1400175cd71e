"""Train twenty ordinary networks with PyTorch as most people would, and store them in examples/trainings.

    python examples/train_ordinary.py              # all
    python examples/train_ordinary.py moons-*      # some

Float32, full batches, Adam with rate 0.01 for 4000 steps, the initial weights of PyTorch for seed 0: nothing is tuned
for an audit. `examples/trainings.py` audits what is stored, without PyTorch. A network is stored as its layers, a data
set as the numbers that the networks saw.

Needs: pip install torch scikit-learn numpy. Takes about two minutes. Other versions may give other last digits.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

import numpy as np
import torch
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, make_circles, make_moons
from torch import nn
from torch.nn.functional import cross_entropy, softplus

HERE = Path(__file__).parent / "trainings"

# ----------------------------------------------------------------------------------------------------- data sets


def moons() -> tuple[np.ndarray, np.ndarray]:
    """Two moons, 100 points with noise 0.1."""
    return signs(*make_moons(100, noise=0.1, random_state=0))


def circles() -> tuple[np.ndarray, np.ndarray]:
    """Two circles, 100 points with noise 0.05."""
    return signs(*make_circles(100, noise=0.05, factor=0.5, random_state=0))


def xor() -> tuple[np.ndarray, np.ndarray]:
    """A hundred points of a square; the label is the sign of the product of their coordinates."""
    X = np.random.default_rng(0).uniform(-1, 1, (100, 2))
    return X, np.sign(X[:, 0] * X[:, 1])


def cancer() -> tuple[np.ndarray, np.ndarray]:
    """Breast cancer (Wisconsin), 569 × 30, standardised."""
    X, y = load_breast_cancer(return_X_y=True)
    return signs(standardised(X), y)


def digits() -> tuple[np.ndarray, np.ndarray]:
    """The digits 0 and 1, 360 × 64, grey values 0 to 16 divided by 16."""
    X, y = load_digits(n_class=2, return_X_y=True)
    return signs(X / 16, y)


def sine() -> tuple[np.ndarray, np.ndarray]:
    """The sine at twenty points of [-3, 3]."""
    x = np.linspace(-3, 3, 20)
    return x[:, None], np.sin(x)


def diabetes() -> tuple[np.ndarray, np.ndarray]:
    """Diabetes, 442 × 10, inputs and target standardised."""
    X, y = load_diabetes(return_X_y=True)
    return standardised(X), standardised(y)


def diabetes_50() -> tuple[np.ndarray, np.ndarray]:
    """The first fifty points of it."""
    X, y = diabetes()
    return X[:50], y[:50]


def signs(X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Labels 0 and 1 as -1 and 1."""
    return X, 2 * y - 1


def standardised(X: np.ndarray) -> np.ndarray:
    """Each column with mean 0 and deviation 1."""
    return (X - X.mean(axis=0)) / X.std(axis=0)


# ------------------------------------------------------------------------------------------------------ training

Loss = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
LOSSES: dict[str, Loss] = {
    "logistic": lambda f, y: softplus(-y * f[:, 0]).mean(),
    "hinge": lambda f, y: (1 - y * f[:, 0]).clamp(min=0).mean(),
    "squared": lambda f, y: (f[:, 0] - y).square().mean(),
    "cross-entropy": lambda f, y: cross_entropy(f, (y > 0).long()),
}


@dataclass(frozen=True)
class Recipe:
    """What a training script says: data, widths, activation, biases, loss, optimiser, weight decay, steps."""

    data: Callable[[], tuple[np.ndarray, np.ndarray]]
    widths: tuple[int, ...]
    loss: str = "logistic"
    hidden_bias: bool = True
    output_bias: bool = False
    logits: int = 1
    slope: float = 0.0
    optimiser: str = "Adam"
    rate: float = 0.01
    decay: float = 0.0
    steps: int = 4000


RECIPES = {
    "moons": Recipe(moons, (20,)),
    "moons-output-bias": Recipe(moons, (20,), output_bias=True),
    "moons-adamw": Recipe(moons, (20,), optimiser="AdamW", decay=0.01),
    "moons-sgd-decay": Recipe(moons, (20,), optimiser="SGD", rate=0.1, decay=1e-3, steps=20000),
    "moons-hinge": Recipe(moons, (20,), loss="hinge", optimiser="SGD", rate=0.1, decay=1e-3),
    "moons-leaky": Recipe(moons, (20,), slope=0.01),
    "moons-no-biases": Recipe(moons, (20,), hidden_bias=False),
    "moons-two-layers": Recipe(moons, (10, 10), hidden_bias=False),
    "moons-two-logits": Recipe(moons, (20,), loss="cross-entropy", logits=2, output_bias=True),
    "circles": Recipe(circles, (20,)),
    "xor": Recipe(xor, (20,)),
    "cancer": Recipe(cancer, (30,)),
    "cancer-adamw": Recipe(cancer, (30,), optimiser="AdamW", decay=0.1, output_bias=True),
    "digits": Recipe(digits, (30,)),
    "digits-output-bias": Recipe(digits, (30,), output_bias=True, steps=1000),
    "sine": Recipe(sine, (30,), loss="squared", steps=20000),
    "sine-output-bias": Recipe(sine, (30,), loss="squared", output_bias=True),
    "sine-adamw": Recipe(sine, (30,), loss="squared", optimiser="AdamW", decay=0.01),
    "diabetes": Recipe(diabetes, (50,), loss="squared"),
    "diabetes-50": Recipe(diabetes_50, (100,), loss="squared"),
}


def trained(recipe: Recipe, X: np.ndarray, y: np.ndarray) -> nn.Sequential:
    """The network after so many steps on all points."""
    torch.manual_seed(0)
    layers: list[nn.Module] = []
    for columns, rows in zip((X.shape[1], *recipe.widths), recipe.widths, strict=False):
        layers += [nn.Linear(columns, rows, bias=recipe.hidden_bias), nn.LeakyReLU(recipe.slope)]
    model = nn.Sequential(*layers, nn.Linear(recipe.widths[-1], recipe.logits, bias=recipe.output_bias))
    options = {"lr": recipe.rate, "weight_decay": recipe.decay}
    optimiser = getattr(torch.optim, recipe.optimiser)(model.parameters(), **options)
    inputs, targets = torch.tensor(X), torch.tensor(y)
    for _ in range(recipe.steps):
        optimiser.zero_grad()
        LOSSES[recipe.loss](model(inputs), targets).backward()
        optimiser.step()
    return model


# ------------------------------------------------------------------------------------------------------- storing


def store_data(data: Callable[[], tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    """Store the data as the network sees them, in float32."""
    X, y = (part.astype(np.float32) for part in data())
    np.savez_compressed(HERE / f"{data.__name__.replace('_', '-')}.data.npz", X=X, y=y)
    return X, y


def store(name: str, recipe: Recipe, model: nn.Sequential) -> None:
    """Store the weights: W, b, v, b2 of one hidden layer and one output, the state dict of others."""
    arrays = {key: tensor.numpy() for key, tensor in model.state_dict().items()}
    if len(recipe.widths) == recipe.logits == 1:
        names = {"0.weight": "W", "0.bias": "b", "2.weight": "v", "2.bias": "b2"}
        arrays = {names[key]: array for key, array in arrays.items()}
        arrays |= {"v": arrays["v"][0], "slope": np.float64(recipe.slope)}
    np.savez_compressed(HERE / f"{name}.npz", **arrays)
    print(name)


if __name__ == "__main__":
    torch.set_num_threads(1)
    HERE.mkdir(exist_ok=True)
    wanted = sys.argv[1:] or ["*"]
    for name, recipe in RECIPES.items():
        if any(fnmatch(name, pattern) for pattern in wanted):
            store(name, recipe, trained(recipe, *store_data(recipe.data)))
