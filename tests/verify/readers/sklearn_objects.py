"""Kinds of objects of scikit-learn."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from tests.verify.readers.objects import Kind, Outputs

GROUP = "scikit-learn"
NORM = "the norm is not the one that was trained"


def kind(name: str, built: Callable[[Any], Any], said: str, *, is_read: bool = True, **options: object) -> Kind:
    """A row; `built` makes the estimator from the modules of scikit-learn."""
    options = {"output_bias": "neuron", **options} if is_read else options
    return Kind(
        group=GROUP, name=name, source="model", made=_made(built), options=options, said=said, is_read=is_read,
        needs=("sklearn",),
    )  # fmt: skip


def _made(built: Callable[[Any], Any]) -> Callable[[Path], tuple[object, Outputs, int]]:
    def made(_: Path) -> tuple[object, Outputs, int]:
        import sklearn.compose
        import sklearn.decomposition
        import sklearn.linear_model
        import sklearn.model_selection
        import sklearn.neural_network
        import sklearn.pipeline
        import sklearn.preprocessing

        X = np.random.default_rng(0).normal(size=(30, 3)) * [1, 5, 2] + 3
        model = built(sklearn)
        is_classifier = hasattr(model, "predict_proba")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(X, X[:, 0] > 3 if is_classifier else X[:, 1] * 10)

        def at(points: Any) -> Any:
            if not is_classifier:
                return model.predict(points)
            log = model.predict_log_proba(points)
            return log[:, 1] - log[:, 0]

        return model, at, 3

    return made


def classifier(sklearn: Any, **options: Any) -> Any:
    """Four neurons."""
    options = {"hidden_layer_sizes": (4,), "solver": "lbfgs", "max_iter": 5, "random_state": 0, "alpha": 3.0, **options}
    return sklearn.neural_network.MLPClassifier(**options)


def regressor(sklearn: Any, **options: Any) -> Any:
    """Four neurons."""
    options = {"hidden_layer_sizes": (4,), "solver": "lbfgs", "max_iter": 20, "random_state": 0, **options}
    return sklearn.neural_network.MLPRegressor(**options)


def scaled(sklearn: Any, network: Any, scaler: str = "StandardScaler") -> Any:
    """A pipeline."""
    return sklearn.pipeline.make_pipeline(getattr(sklearn.preprocessing, scaler)(), network)


CARRIED = "became hidden neuron 4"

KINDS = (
    kind("MLPClassifier of two classes", classifier, CARRIED),
    kind("MLPRegressor", regressor, CARRIED),
    kind("MLPRegressor, identity", lambda sk: regressor(sk, activation="identity"), CARRIED),
    kind("two hidden layers", lambda sk: regressor(sk, hidden_layer_sizes=(4, 3)), "one more neuron in each"),
    kind("pipeline with StandardScaler", lambda sk: scaled(sk, classifier(sk)), NORM, fold=True),
    kind("pipeline with MinMaxScaler", lambda sk: scaled(sk, regressor(sk), "MinMaxScaler"), NORM, fold=True),
    kind("GridSearchCV of a pipeline", lambda sk: sk.model_selection.GridSearchCV(
        scaled(sk, classifier(sk)), {"mlpclassifier__alpha": [1.0, 3.0]}, cv=2), "is a search", fold=True),
    kind("TransformedTargetRegressor", lambda sk: sk.compose.TransformedTargetRegressor(
        scaled(sk, regressor(sk)), transformer=sk.preprocessing.StandardScaler()), NORM, fold=True),
    kind("pipeline with PCA", lambda sk: sk.pipeline.make_pipeline(sk.decomposition.PCA(), regressor(sk)),
         "PCA does more than scale and shift each column", is_read=False),
    kind("tanh", lambda sk: regressor(sk, activation="tanh"), "not max(z, a z)", is_read=False),
    kind("LogisticRegression", lambda sk: sk.linear_model.LogisticRegression(), "is no network", is_read=False),
)  # fmt: skip
