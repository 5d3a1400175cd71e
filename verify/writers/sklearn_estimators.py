"""Networks as fitted estimators of scikit-learn."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

from verify.checker.errors import InputError
from verify.checker.statement import Network
from verify.surroundings import Affine, Surroundings
from verify.writers.arrays import check_dense, double, matrices_of, slopes_of

__all__ = ["estimator_of"]


def estimator_of(network: Network, classes: Sequence[object] | None = None, around: Surroundings | None = None) -> Any:
    """An `MLPRegressor` that predicts f(x); with two classes an `MLPClassifier` that predicts the second where f > 0.

    classes: by default those of `around`.   around: its scalers are put before and after the network as a `Pipeline`
    and a `TransformedTargetRegressor`, each a `StandardScaler` that does the same, and the names of columns are set.

    Weights are the nearest doubles, biases that the network does not have are 0. It can predict and be fitted further
    with `warm_start`, but not by `partial_fit`. Raises InputError for slopes other than 0 (ReLU) and 1 (identity).
    """
    around = Surroundings() if around is None else around
    estimator = _network_of(network, around.classes if classes is None else classes)
    names = around.columns if around.asks_columns else None
    if around.inputs is None:
        _name(estimator, names)
    else:
        pipeline: Any = import_module("sklearn.pipeline")
        scaler = _scaler(around.inputs)
        _name(scaler, names)
        estimator = pipeline.make_pipeline(scaler, estimator)
    if around.outputs is None:
        return estimator
    compose: Any = import_module("sklearn.compose")
    factors, offsets = around.outputs
    found = compose.TransformedTargetRegressor(estimator, transformer=_standard_scaler())
    found.regressor_, found._training_dim = estimator, 1  # noqa: SLF001 (no other way in)
    found.transformer_ = _scaler(
        (tuple(1 / a for a in factors), tuple(-c / a for a, c in zip(factors, offsets, strict=True)))
    )
    _name(found, names)
    return found


def _standard_scaler() -> Any:
    return import_module("sklearn.preprocessing").StandardScaler()


def _scaler(scaling: Affine) -> Any:
    """A fitted `StandardScaler` that does x -> factor x + offset."""
    import numpy as np

    factors, offsets = scaling
    scaler = _standard_scaler()
    scaler.scale_ = np.array([double(1 / factor, "the scaler") for factor in factors])
    scaler.mean_ = np.array([double(-c / a, "the scaler") for a, c in zip(factors, offsets, strict=True)])
    scaler.var_ = scaler.scale_**2
    scaler.n_features_in_, scaler.n_samples_seen_ = len(factors), np.int64(1)
    return scaler


def _name(estimator: Any, names: Sequence[str] | None) -> None:
    """Let the estimator ask for its columns by these names."""
    if names is not None:
        import numpy as np

        estimator.feature_names_in_ = np.array(names, dtype=object)


def _network_of(network: Network, classes: Sequence[object] | None) -> Any:
    """The estimator of the network alone."""
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
        raise InputError("scikit-learn is not installed: install it with pip install 'isoptimal[sklearn]'") from error
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
        binarizer = preprocessing.LabelBinarizer().fit(np.array(list(classes)))
        if list(binarizer.classes_) != list(classes):  # scikit-learn sorts them, and the positive one comes last
            estimator.coefs_[-1] = -estimator.coefs_[-1]
            estimator.intercepts_[-1] = 0.0 - estimator.intercepts_[-1]
        estimator.classes_, estimator._label_binarizer = binarizer.classes_, binarizer  # noqa: SLF001 (no other way in)
    return estimator
