"""Train the networks in the folders beside this file, with ordinary PyTorch and scikit-learn code and fixed seeds.

    python examples/train.py            # all
    python examples/train.py moons-40   # one data set

Each data set has networks of three qualities: *under-trained* (stopped as soon as every point is on its side; a
regression long before it interpolates), *trained* (as most people would) and *well trained* (weight decay on a margin
loss, lowered step by step, which is how the max-margin and min-norm problems are approached in practice).

Needs: pip install torch scikit-learn numpy. Takes about two minutes. Other versions may give other last digits.
"""

import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import torch
from sklearn.datasets import load_iris, make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier, MLPRegressor
from torch import nn
from torch.nn.functional import softplus

HERE = Path(__file__).parent
UNDER, TRAINED, WELL = QUALITIES = ("under-trained", "trained", "well-trained")


# ----------------------------------------------------------------------------------------------------- data sets


def moons_40() -> None:
    """Two moons, 40 points; ReLU in float32, leaky ReLU in float64."""
    X, y = make_moons(40, noise=0.1, random_state=0)
    X, y = store_data("moons-40", standardised(X).astype(np.float32), 2 * y - 1)
    for quality in QUALITIES:
        store_torch("moons-40", f"relu-{quality}", classifier(X, y, quality, 20, nn.ReLU()))
        store_torch("moons-40", f"leaky-{quality}", classifier(X, y, quality, 20, nn.LeakyReLU(0.1), torch.float64))


def moons_200() -> None:
    """Two moons, 200 points; ReLU in float32."""
    X, y = make_moons(200, noise=0.15, random_state=0)
    X, y = store_data("moons-200", standardised(X).astype(np.float32), 2 * y - 1)
    for quality in QUALITIES:
        store_torch("moons-200", f"relu-{quality}", classifier(X, y, quality, 100, nn.ReLU()))


def iris_pair() -> None:
    """Versicolor against virginica by all four features; ReLU, PyTorch in float32 and scikit-learn in float64."""
    X, y = store_data("iris-pair", *iris(1, 2))
    for quality in QUALITIES:
        store_torch("iris-pair", f"relu-{quality}", classifier(X, y, quality, 20, nn.ReLU()))
    for quality, estimator in zip(QUALITIES, estimators(X, y), strict=True):
        store_sklearn("iris-pair", f"sklearn-{quality}", estimator)


def iris_linear() -> None:
    """Setosa against versicolor by all four features; two linear layers without biases, in float64."""
    X, y = store_data("iris-linear", *iris(0, 1))
    for quality in QUALITIES:
        model = classifier(X, y, quality, 3, nn.Identity(), torch.float64, bias=False)
        store_torch("iris-linear", f"linear-{quality}", model)


def signs_1d() -> None:
    """Nine points on a line whose labels change four times; ReLU in float64."""
    x = np.array([-2.0, -1.5, -1.0, -0.5, 0.0, 0.25, 1.0, 1.5, 2.25])
    X, y = store_data("signs-1d", x[:, None], np.array([1, 1, 1, -1, -1, -1, 1, 1, -1]))
    for quality in QUALITIES:
        store_torch("signs-1d", f"relu-{quality}", classifier(X, y, quality, 30, nn.ReLU(), torch.float64))


def regression_12() -> None:
    """A smooth function of the plane at twelve points; ReLU in float64, PyTorch and scikit-learn."""
    X = np.random.default_rng(0).normal(size=(12, 2))
    X, y = store_data("regression-12", X, np.sin(2 * X[:, 0]) + X[:, 1] ** 2 / 2)
    for quality in QUALITIES:
        store_torch("regression-12", f"relu-{quality}", regressor(X, y, quality, 40))
    options = {"hidden_layer_sizes": (40,), "max_fun": 10**6, "max_iter": 20000, "tol": 1e-14, "random_state": 0}
    store_sklearn("regression-12", f"sklearn-{TRAINED}", MLPRegressor(solver="lbfgs", alpha=0, **options).fit(X, y))


def iris(negative: int, positive: int) -> tuple[np.ndarray, np.ndarray]:
    """Two species of Fisher's data, each feature standardised, labels -1 and 1."""
    features, species = load_iris(return_X_y=True)
    kept = (species == negative) | (species == positive)
    return standardised(features[kept]), np.where(species[kept] == positive, 1, -1)


def standardised(X: np.ndarray) -> np.ndarray:
    """Each column with mean 0 and deviation 1: what the network sees."""
    return (X - X.mean(axis=0)) / X.std(axis=0)


# ------------------------------------------------------------------------------------------------------ training


def classifier(
    X: np.ndarray,
    y: np.ndarray,
    quality: str,
    width: int,
    activation: nn.Module,
    dtype: torch.dtype = torch.float32,
    *,
    bias: bool = True,
) -> nn.Sequential:
    """A network without output bias, trained by Adam on all points."""
    model = network(X.shape[1], width, activation, dtype, bias=bias)
    inputs, labels = torch.tensor(X, dtype=dtype), torch.tensor(y, dtype=dtype)

    def margins() -> torch.Tensor:
        return labels * model(inputs).squeeze(1)

    logistic = adam(model, lambda: softplus(-margins()).mean(), rate=0.01)
    while margins().min() <= 0:
        next(logistic)
    if quality == UNDER:
        return model
    for _ in range(3000):
        next(logistic)
    if quality == WELL:
        for decay in (1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 3e-5, 1e-5):
            lower(model, lambda: (1 - margins()).clamp(min=0).square().mean(), decay)
    return model


def regressor(X: np.ndarray, y: np.ndarray, quality: str, width: int) -> nn.Sequential:
    """A network without output bias, trained by Adam on the squared error, then by L-BFGS until it interpolates."""
    model = network(X.shape[1], width, nn.ReLU(), torch.float64)
    inputs, targets = torch.tensor(X), torch.tensor(y)

    def error() -> torch.Tensor:
        return (model(inputs).squeeze(1) - targets).square().mean()

    plain = adam(model, error, rate=0.01)
    for _ in range(200 if quality == UNDER else 3000):
        next(plain)
    if quality == UNDER:
        return model
    if quality == WELL:
        for decay in (1e-2, 1e-3, 1e-4, 1e-5, 1e-6):
            lower(model, error, decay)
    optimizer = torch.optim.LBFGS(
        model.parameters(), max_iter=5000, tolerance_grad=0, tolerance_change=0, line_search_fn="strong_wolfe"
    )

    def closure() -> torch.Tensor:
        optimizer.zero_grad()
        value = error()
        value.backward()
        return value

    optimizer.step(closure)
    return model


def network(inputs: int, width: int, activation: nn.Module, dtype: torch.dtype, *, bias: bool = True) -> nn.Sequential:
    """A network with the initial weights of PyTorch for seed 0."""
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(inputs, width, bias=bias), activation, nn.Linear(width, 1, bias=False)).to(dtype)


def adam(model: nn.Module, loss: Callable[[], torch.Tensor], rate: float) -> Iterator[None]:
    """Steps of Adam, as many as are asked for."""
    optimizer = torch.optim.Adam(model.parameters(), lr=rate)
    while True:
        optimizer.zero_grad()
        loss().backward()
        optimizer.step()
        yield


def lower(model: nn.Module, loss: Callable[[], torch.Tensor], decay: float) -> None:
    """Minimise loss + decay / 2 ||theta||^2, biases included, with a falling step."""

    def penalised() -> torch.Tensor:
        return loss() + decay / 2 * sum(weight.square().sum() for weight in model.parameters())

    for rate in (3e-3, 1e-3, 3e-4, 1e-4):
        steps = adam(model, penalised, rate)
        for _ in range(500):
            next(steps)


def estimators(X: np.ndarray, y: np.ndarray) -> Iterator[MLPClassifier]:
    """scikit-learn in three qualities; its alpha does not penalise biases."""
    options = {"hidden_layer_sizes": (20,), "random_state": 0, "tol": 0, "n_iter_no_change": 10**6}
    early = MLPClassifier(solver="adam", max_iter=1, warm_start=True, **options)
    while not (hasattr(early, "coefs_") and early.score(X, y) == 1):
        early.fit(X, y)
    yield early
    yield MLPClassifier(solver="adam", alpha=0, max_iter=6000, **options).fit(X, y)
    late = MLPClassifier(solver="lbfgs", max_iter=5000, max_fun=10**6, warm_start=True, **options)
    for alpha in (1e-1, 1e-2, 1e-3, 1e-4, 1e-5):
        late.set_params(alpha=alpha).fit(X, y)
    yield late


# ------------------------------------------------------------------------------------------------------- storing


def store_data(folder: str, X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Store the data as the network sees them."""
    (HERE / folder).mkdir(exist_ok=True)
    y = y.astype(np.int8) if set(y.tolist()) == {-1, 1} else y
    np.savez(HERE / folder / "data.npz", X=X, y=y)
    return X, y


def store_torch(folder: str, name: str, model: nn.Sequential) -> None:
    """Store the weights of Linear, activation, Linear in their own float type."""
    hidden, activation, output = model
    slopes = {nn.ReLU: 0.0, nn.LeakyReLU: getattr(activation, "negative_slope", None), nn.Identity: 1.0}
    arrays = {"W": hidden.weight, "v": output.weight[0]} | ({"b": hidden.bias} if hidden.bias is not None else {})
    np.savez(
        HERE / folder / f"{name}.npz",
        slope=slopes[type(activation)],
        **{key: tensor.detach().numpy() for key, tensor in arrays.items()},
    )
    print(f"{folder}/{name}")


def store_sklearn(folder: str, name: str, estimator: MLPClassifier | MLPRegressor) -> None:
    """Store the weights of an estimator with one hidden layer, ReLU, with its output bias as b2."""
    (W, v), (b, b2) = estimator.coefs_, estimator.intercepts_
    np.savez(HERE / folder / f"{name}.npz", W=W.T, b=b, v=v[:, 0], b2=b2[0], slope=0)
    print(f"{folder}/{name}")


RECIPES = {
    "moons-40": moons_40,
    "moons-200": moons_200,
    "iris-pair": iris_pair,
    "iris-linear": iris_linear,
    "signs-1d": signs_1d,
    "regression-12": regression_12,
}

if __name__ == "__main__":
    torch.set_num_threads(1)
    warnings.simplefilter("ignore", ConvergenceWarning)
    for recipe in sys.argv[1:] or RECIPES:
        RECIPES[recipe]()
