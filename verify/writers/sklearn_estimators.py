"""Networks as fitted estimators of scikit-learn."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

from verify.errors import InputError
from verify.statement import Network
from verify.writers.arrays import check_dense, double, matrices_of, slopes_of

__all__ = ["estimator_of"]


def estimator_of(network: Network, classes: Sequence[object] | None = None) -> Any:
    """An `MLPRegressor` that predicts f(x); with two classes an `MLPClassifier` that predicts the second where f > 0.

    Weights are the nearest doubles, biases that the network does not have are 0. It can predict and be fitted further
    with `warm_start`, but not by `partial_fit`. Raises InputError for slopes other than 0 (ReLU) and 1 (identity).
    """
    check_dense(network.architecture, "an estimator of scikit-learn")
    slopes = set(slopes_of(network.architecture))
    if len(slopes) > 1 or not slopes <= {0, 1}:
        raise InputError("scikit-learn has ReLU and identity only, and this network has a leaky ReLU: use to_torch()")
    if not slopes:
        raise InputError("an estimator of scikit-learn has a hidden layer, and this network has none: use to_torch()")
    if classes is not None and (isinstance(classes, str) or len(classes) != 2 or classes[0] == classes[1]):
        raise InputError("classes must be two different labels, the negative and the positive one, such as (-1, 1)")
    try:
        neural: Any = import_module("sklearn.neural_network")
        preprocessing: Any = import_module("sklearn.preprocessing")
    except ImportError as error:
        raise InputError("scikit-learn is not installed: install it with pip install isoptimal[sklearn]") from error
    import numpy as np

    layers = network.architecture.layers
    options: dict[str, Any] = {
        "hidden_layer_sizes": tuple(layer.outputs for layer in layers[:-1]),
        "activation": "relu" if slopes == {0} else "identity",
        "alpha": 0.0,
    }
    estimator = neural.MLPRegressor(**options) if classes is None else neural.MLPClassifier(**options)
    estimator.coefs_, estimator.intercepts_ = [], []
    for i, (weights, bias) in enumerate(matrices_of(network)):
        rows = [[double(number, f"layer {i}, row {r}") for number in row] for r, row in enumerate(weights)]
        estimator.coefs_.append(np.array(rows).T.copy())
        biases = [0.0] * len(rows) if bias is None else [double(number, f"layer {i}, biases") for number in bias]
        estimator.intercepts_.append(np.array(biases))
    estimator.n_layers_, estimator.n_outputs_ = len(layers) + 1, 1
    estimator.n_features_in_, estimator.n_iter_, estimator.t_ = layers[0].inputs, 0, 0
    estimator.out_activation_ = "identity" if classes is None else "logistic"
    if classes is not None:
        # The classes in the order given: what is positive is the second one.
        binarizer = preprocessing.LabelBinarizer().fit(np.array(list(classes)))
        if list(binarizer.classes_) != list(classes):
            raise InputError(
                "scikit-learn sorts its classes, and the positive one comes last: give them in order, with the sign of "
                "the network turned if need be"
            )
        estimator.classes_, estimator._label_binarizer = binarizer.classes_, binarizer  # noqa: SLF001 (no other way in)
    return estimator
