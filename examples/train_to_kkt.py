"""Train a network until it stands at a KKT point to nearly all digits: the networks `*-kkt.npz` in the folders beside.

    python examples/train_to_kkt.py              # all
    python examples/train_to_kkt.py moons-40     # one data set

Gradient flow and weight decay reach the margin early and stationarity very late. This goes the direct way, by
`solvers.kkt.annealing`: L-BFGS on

    1/2 ||theta||^2 + C / beta sum_i softplus(beta (1 - y_i f(x_i)))     (regression: + C beta / 2 sum (f(x_i) - y_i)^2)

with beta raised step by step, and neurons held at the kinks where they come to rest. To bring a network of your own to
a KKT point near it, use `solvers.kkt.polish`.

Needs: isoptimal. Takes about a minute. Other versions may give other last digits.
"""

import sys
from pathlib import Path

import numpy as np

from solvers.instance import ProblemInstance
from solvers.kkt.annealing import AnnealingState

HERE = Path(__file__).parent
ITERATIONS = 3000  # of L-BFGS at one beta


def train(name: str, width: int, *, a: float = 0.0, C: float = 50.0, regression: bool = False) -> AnnealingState:
    """Train from random weights on the data of a folder."""
    data = np.load(HERE / name / "data.npz")
    R = np.column_stack([data["X"].astype(float), np.ones(len(data["X"]))])
    random = np.random.default_rng(0)
    W = random.normal(size=(width, R.shape[1])) / np.sqrt(R.shape[1])
    v = np.linalg.norm(W, axis=1) * np.where(np.arange(width) % 2, 1.0, -1.0)
    instance = ProblemInstance(R, data["y"].astype(float), slope=a, margin=not regression)
    run = AnnealingState(instance, np.ones(W.shape, bool), W, v, ceiling=C)
    for beta in np.geomspace(1, 1e4, 17):
        run.descend(beta, ITERATIONS)
    for beta in (1e4, 1e5, 1e6, 1e7):
        for _ in range(12):
            changed = run.hold_and_release(beta)
            run.descend(beta, ITERATIONS)
            if not changed:
                break
    return run


def store(folder: str, name: str, run: AnnealingState, dtype: type = np.float64) -> None:
    """Store the weights like those of the other networks."""
    W, v = run.W.astype(dtype), run.v.astype(dtype)
    np.savez(HERE / folder / f"{name}.npz", slope=run.instance.slope, W=W[:, :-1], v=v, b=W[:, -1])
    print(f"{folder}/{name}: {run.held.sum()} kinks held")


def moons_40() -> None:
    """Two moons; ReLU in float32, leaky ReLU in float64."""
    store("moons-40", "relu-kkt", train("moons-40", 20), np.float32)
    store("moons-40", "leaky-kkt", train("moons-40", 20, a=0.1))


def iris_pair() -> None:
    """Versicolor against virginica; ReLU in float64."""
    store("iris-pair", "relu-kkt", train("iris-pair", 20))


def signs_1d() -> None:
    """Nine points on a line; ReLU in float64."""
    store("signs-1d", "relu-kkt", train("signs-1d", 20))


def regression_12() -> None:
    """A smooth function at twelve points of the plane; ReLU in float64."""
    store("regression-12", "relu-kkt", train("regression-12", 20, C=20.0, regression=True))


RECIPES = {"moons-40": moons_40, "iris-pair": iris_pair, "signs-1d": signs_1d, "regression-12": regression_12}

if __name__ == "__main__":
    for recipe in sys.argv[1:] or RECIPES:
        RECIPES[recipe]()
