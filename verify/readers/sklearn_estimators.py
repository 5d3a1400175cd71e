"""scikit-learn: `MLPClassifier` and `MLPRegressor`, also in pipelines; and `.skops` files.

coefs_ hold the transposes of the matrices here. The network is the value before the logistic function; it is positive
for the class classes_[1]. Labels become -1 and 1 by `read_data(..., classes=estimator.classes_)`. Of three and more
classes, and of several targets, the chain has several outputs, which `verify.readers.several_outputs` reads.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

from verify.checker.errors import InputError
from verify.numbers.counts import count
from verify.readers.chains import Chain, LinearLayer
from verify.readers.sklearn_pipelines import unwrapped

_SLOPES = {"relu": 0, "identity": 1}
_SAFE = (
    "sklearn.neural_network._stochastic_optimizers.AdamOptimizer",
    "sklearn.neural_network._stochastic_optimizers.SGDOptimizer",
    "sklearn.metrics._scorer._PassthroughScorer",
    "sklearn.model_selection._split.KFold",
    "sklearn.model_selection._split.StratifiedKFold",
)
"""Numbers, lists and estimators only; skops does not trust them by default. Every estimator not trained by lbfgs has an
optimiser, and every search a scorer and a way to split, these unless it is told of others."""


def read_estimator(estimator: Any, place: str) -> Chain:
    """The layers of a fitted estimator, from its attributes: nothing is imported. Raises InputError.

    Of a pipeline, a search or a regressor of transformed targets those of the network inside, with its scalers.
    """
    around = unwrapped(estimator, place)
    estimator = around.estimator
    kinds = {kind.__name__ for kind in type(estimator).__mro__}
    if kinds.isdisjoint({"MLPClassifier", "MLPRegressor"}):
        what = "MLPClassifier and MLPRegressor are read, also in pipelines and searches"
        raise InputError(f"{place} is no network: of scikit-learn only {what}")
    if getattr(estimator, "coefs_", None) is None:
        raise InputError(f"{place} is not fitted: call fit first")
    if estimator.activation not in _SLOPES:
        raise InputError(
            f"{place} has the activation {estimator.activation!r}, which is not max(z, a z) with a slope 0 <= a <= 1: "
            "fit it with activation='relu' or 'identity'"
        )
    notes = _checked_classes(estimator, place) if "MLPClassifier" in kinds else _checked_target(estimator, place)
    return Chain(
        layers=tuple(
            LinearLayer(
                weights=coefficients.T.tolist(),
                bias=intercepts.tolist(),
                weights_name=f"coefs_[{i}].T",
                bias_name=f"intercepts_[{i}]",
            )
            for i, (coefficients, intercepts) in enumerate(zip(estimator.coefs_, estimator.intercepts_, strict=True))
        ),
        slopes=(_SLOPES[estimator.activation],) * (len(estimator.coefs_) - 1),
        remedy="scikit-learn always trains one, so ",
        notes=(*around.notes, *notes),
        inputs=around.inputs,
        outputs=around.outputs,
        scalers=around.scalers,
    )


def load_skops(content: bytes, place: str) -> object:
    """The object in a file of skops, when it holds nothing but what skops and this reader know to be data."""
    try:
        skops_io: Any = import_module("skops.io")
    except ImportError as error:
        raise InputError(
            f"{place} needs skops, which is not installed: install it with pip install 'isoptimal[sklearn]'"
        ) from error
    try:
        unknown = [name for name in skops_io.get_untrusted_types(data=content) if name not in _SAFE]
        if not unknown:
            return skops_io.loads(content, trusted=list(_SAFE))
    except Exception as error:  # a damaged archive can fail anywhere
        said = " ".join(str(error).split())[:100]
        raise InputError(
            f"{place} is damaged or not readable by this version of skops ({said}): write it again with skops.io.dump"
        ) from error
    raise InputError(
        f"{place} holds objects that are not known to be harmless ({', '.join(sorted(unknown))[:200]}): store the "
        "network or the pipeline alone (of a search its best_estimator_), or load it yourself and read it in memory"
    )


def _checked_classes(estimator: Any, place: str) -> tuple[str, ...]:
    classes = list(estimator.classes_)
    if estimator.n_outputs_ > 1 and estimator.out_activation_ == "softmax":
        return ()
    if len(classes) != 2 or estimator.n_outputs_ != 1:
        shown = _listed(classes)
        raise InputError(
            f"{place} tells {count(len(classes), 'label')} ({shown}) by {count(estimator.n_outputs_, 'output')}, each "
            "with a logistic loss of its own, and the sum of these is not decided: fit one label with its classes"
        )
    if classes in ([0, 1], [-1, 1]):
        return ()
    return (
        f"{place}: the output is positive for the class {classes[1]!s} (label 1), negative for {classes[0]!s} (-1)",
    )


def _checked_target(estimator: Any, place: str) -> tuple[str, ...]:
    if estimator.out_activation_ != "identity":
        raise InputError(
            f"{place} ends in the function {estimator.out_activation_!r} (its loss is {estimator.loss!r}), and the "
            "output of a network must be linear: fit it with the squared error"
        )
    return ()


def _listed(classes: Sequence[object]) -> str:
    return ", ".join(f"{name!s:.30}" for name in classes[:4]) + (", ..." if len(classes) > 4 else "")
