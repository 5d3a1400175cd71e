"""Train a network until it stands at a KKT point to nearly all digits: the networks `*-kkt.npz` in the folders beside.

    python examples/train_to_kkt.py              # all
    python examples/train_to_kkt.py moons-40     # one data set

Gradient flow and weight decay reach the margin early and stationarity very late. This goes the direct way: L-BFGS on

    1/2 ||theta||^2 + C / beta sum_i softplus(beta (1 - y_i f(x_i)))     (regression: + C beta / 2 sum (f(x_i) - y_i)^2)

with beta raised step by step. Its minima are KKT points up to 1 / beta. The neurons slide along kinks on the way: where
the boundary of a neuron comes to rest on a data point, L-BFGS stalls. Such a neuron is held there (x_i . w_j = 0) and
the others go on, until the slope that its stationarity asks for leaves the interval [a, 1]; then it is let go.

Needs: pip install numpy scipy. Takes about a minute. Other versions may give other last digits.
"""

import sys
from pathlib import Path

import numpy as np
from scipy.optimize import minimize

HERE = Path(__file__).parent
HELD = 1e-4  # |x . w| below this part of ||x|| ||w|| is a kink


class Training:
    """Rows R (n, c) with the 1 of the bias, labels or targets y, slope a, and which kinks are held, (k, n)."""

    def __init__(self, R: np.ndarray, y: np.ndarray, a: float, width: int, seed: int, *, regression: bool) -> None:
        self.R, self.y, self.a, self.regression = R, y, a, regression
        random = np.random.default_rng(seed)
        self.W = random.normal(size=(width, R.shape[1])) / np.sqrt(R.shape[1])
        self.v = np.linalg.norm(self.W, axis=1) * np.where(np.arange(width) % 2, 1.0, -1.0)
        self.held = np.zeros((width, len(R)), bool)

    def outputs(self) -> tuple[np.ndarray, np.ndarray]:
        """Activations (n, k) and f (n,)."""
        z = self.R @ self.W.T
        h = np.where(z > 0, z, self.a * z)
        h[self.held.T] = 0.0
        return h, h @ self.v

    def pull(self, f: np.ndarray, beta: float, C: float) -> tuple[float, np.ndarray]:
        """The penalty and its negative derivative in f: y_i lambda_i."""
        if self.regression:
            return beta * C / 2 * ((f - self.y) ** 2).sum(), beta * C * (self.y - f)
        s = beta * (1 - self.y * f)
        return C / beta * np.logaddexp(0, s).sum(), C * self.y * np.exp(-np.logaddexp(0, -s))

    def descend(self, beta: float, C: float) -> None:
        """L-BFGS at one beta, the held kinks kept."""
        k, c = self.W.shape
        bases = [
            np.linalg.svd(self.R[on])[2][: np.linalg.matrix_rank(self.R[on])] if on.any() else None for on in self.held
        ]

        def projected(W: np.ndarray) -> np.ndarray:
            return np.array([w if B is None else w - B.T @ (B @ w) for w, B in zip(W, bases, strict=True)])

        def value(theta: np.ndarray) -> tuple[float, np.ndarray]:
            self.W, self.v = projected(theta[: k * c].reshape(k, c)), theta[k * c :]
            h, f = self.outputs()
            penalty, pull = self.pull(f, beta, C)
            slopes = np.where(h != 0, np.where(h > 0, 1.0, self.a), self.a)
            gradient = self.W - projected(((pull[:, None] * slopes) * self.v).T @ self.R)
            size = (self.W**2).sum() + (self.v**2).sum()
            return size / 2 + penalty, np.concatenate([gradient.ravel(), self.v - h.T @ pull])

        options = {"maxiter": 3000, "maxcor": 60, "ftol": 0.0, "gtol": 1e-12, "maxfun": 10**5}
        value(minimize(value, np.concatenate([self.W.ravel(), self.v]), jac=True, method="L-BFGS-B", options=options).x)

    def hold_and_release(self, beta: float, C: float) -> bool:
        """Hold the neurons that came to rest on points, let go those whose slope is outside; whether any changed."""
        before = self.held.copy()
        _, f = self.outputs()
        _, pull = self.pull(f, beta, C)
        live = np.linalg.norm(self.W, axis=1) > 1e-3 * np.linalg.norm(self.W, axis=1).max()
        reach = np.linalg.norm(self.W, axis=1)[:, None] * np.linalg.norm(self.R, axis=1)
        near = (np.abs(self.W @ self.R.T) <= HELD * reach) & live[:, None] & (np.abs(pull) > 1e-6 * np.abs(pull).max())
        self.held = (self.held | near) & live[:, None]
        for j in np.flatnonzero(self.held.any(axis=1)):
            at = np.flatnonzero(self.held[j])
            slopes = np.where(self.R @ self.W[j] > 0, 1.0, self.a)
            slopes[at] = 0.0
            rest = self.W[j] / self.v[j] - (pull * slopes) @ self.R
            wanted = np.linalg.lstsq((pull[at, None] * self.R[at]).T, rest, rcond=None)[0]
            for i, slope in zip(at, wanted, strict=True):
                if not self.a - 1e-3 <= slope <= 1 + 1e-3:
                    self.held[j, i] = False
                    side = 1.0 if slope > 1 else -1.0
                    side = side if self.v[j] * pull[i] > 0 else -side
                    self.W[j] += side * 2 * HELD * np.linalg.norm(self.W[j]) * self.R[i] / np.linalg.norm(self.R[i])
        return bool((before != self.held).any())


def train(name: str, width: int, *, a: float = 0.0, C: float = 50.0, regression: bool = False) -> Training:
    """Train from random weights on the data of a folder."""
    data = np.load(HERE / name / "data.npz")
    R = np.column_stack([data["X"].astype(float), np.ones(len(data["X"]))])
    run = Training(R, data["y"].astype(float), a, width, seed=0, regression=regression)
    for beta in np.geomspace(1, 1e4, 17):
        run.descend(beta, C)
    for beta in (1e4, 1e5, 1e6, 1e7):
        for _ in range(12):
            changed = run.hold_and_release(beta, C)
            run.descend(beta, C)
            if not changed:
                break
    return run


def store(folder: str, name: str, run: Training, dtype: type = np.float64) -> None:
    """Store the weights like those of the other networks."""
    W, v = run.W.astype(dtype), run.v.astype(dtype)
    np.savez(HERE / folder / f"{name}.npz", slope=run.a, W=W[:, :-1], v=v, b=W[:, -1])
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
