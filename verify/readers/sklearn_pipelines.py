"""scikit-learn around a network: pipelines, searches, and regressors of transformed targets, from their attributes.

A scaler is a `Scaling` with the exact values of the numbers that it has fitted; scikit-learn rounds when it applies
them. Only what acts on each column alone is one: the standard, min-max, max-abs and robust scalers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, final

from verify.checker.errors import InputError
from verify.readers.scalings import Scaling

__all__ = ["Unwrapped", "is_scaler", "names_of", "scaling_of", "unwrapped"]

_SCALERS = ("StandardScaler", "MinMaxScaler", "MaxAbsScaler", "RobustScaler")


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Unwrapped:
    """The estimator inside, what is done to its inputs and to its prediction, and by what."""

    estimator: Any
    inputs: Scaling | None = None
    outputs: Scaling | None = None
    scalers: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def unwrapped(estimator: Any, place: str) -> Unwrapped:
    """The network inside pipelines, searches and regressors of transformed targets. Raises InputError."""
    kinds = _kinds(estimator)
    if "BaseSearchCV" in kinds:
        inner = _fitted(estimator, "best_estimator_", place)
        found = unwrapped(inner, place)
        return replace(found, notes=(f"{place} is a search: its best_estimator_ is read", *found.notes))
    if "Pipeline" in kinds:
        *steps, last = [step for _, step in estimator.steps]
        found = unwrapped(last, place)
        scaling, names = _composed(steps, place)
        if found.inputs is not None:
            scaling = found.inputs if scaling is None else scaling.then(found.inputs, place)
        return replace(found, inputs=scaling, scalers=(*names, *found.scalers))
    if "TransformedTargetRegressor" in kinds:
        found = unwrapped(_fitted(estimator, "regressor_", place), place)
        scaling, names = _of_targets(estimator, place)
        if scaling is None:
            return found
        back = scaling.wide(1, place).inverse()
        outputs = back if found.outputs is None else found.outputs.then(back, place)
        return replace(found, outputs=outputs, scalers=(*found.scalers, *(f"{name} of the targets" for name in names)))
    return Unwrapped(estimator=estimator)


def _of_targets(estimator: Any, place: str) -> tuple[Scaling | None, tuple[str, ...]]:
    """What a regressor of transformed targets does to them. Raises InputError unless it scales and shifts."""
    try:
        return _composed([estimator.transformer_], place)
    except InputError:
        if _fitted(estimator, "transformer_", place) and is_scaler(estimator.transformer_):
            raise
        raise InputError(
            f"{place}: {type(estimator.transformer_).__name__} does more than scale and shift the targets: read the "
            "network inside, .regressor_, with the targets .transformer_.transform(y)"
        ) from None


def is_scaler(source: object) -> bool:
    """Whether something is a scaler, or a pipeline of them."""
    kinds = _kinds(source)
    if "Pipeline" in kinds:
        return all(step in (None, "passthrough") or is_scaler(step) for _, step in getattr(source, "steps", ()))
    return not kinds.isdisjoint(_SCALERS)


def names_of(estimator: Any) -> tuple[str, ...] | None:
    """The names of the columns that something was fitted on, in their order, where it knows them.

    A pipeline that begins with what knows none, as "passthrough", knows those of what comes next: all steps that are
    read keep the columns in their places.
    """
    if "Pipeline" in _kinds(estimator):
        return next((names for _, step in estimator.steps if (names := names_of(step)) is not None), None)
    names = getattr(estimator, "feature_names_in_", None)
    if names is None:
        inner = [getattr(estimator, name, None) for name in ("best_estimator_", "regressor_")]
        return next((found for part in inner if part is not None and (found := names_of(part)) is not None), None)
    return tuple(str(name) for name in names)


def scaling_of(scaler: Any, place: str) -> Scaling | None:
    """What a fitted scaler does to each column; None for nothing. Raises InputError."""
    kinds = _kinds(scaler)
    if scaler in (None, "passthrough"):
        return None
    if "Pipeline" in kinds:
        return _composed([step for _, step in scaler.steps], place)[0]
    if "FunctionTransformer" in kinds and scaler.func is None and scaler.inverse_func is None:
        return None
    kind = next((name for name in _SCALERS if name in kinds), None)
    if kind is None:
        raise InputError(
            f"{place}: {type(scaler).__name__} does more than scale and shift each column: read the network alone, "
            "pipeline[-1], with the data pipeline[:-1].transform(X)"
        )
    if getattr(scaler, "clip", False):
        raise InputError(f"{place}: a {kind} that clips is not linear: fit it with clip=False")
    where = f"{place}: {kind}"
    match kind:
        case "MinMaxScaler":
            factors, offsets = _array(scaler, "scale_", where), _array(scaler, "min_", where)
            return Scaling.of(factors=factors, offsets=offsets, place=where)
        case "StandardScaler":
            centre = _array(scaler, "mean_", where) if scaler.with_mean else [0]
            scale = _array(scaler, "scale_", where) if scaler.with_std else [1]
        case "RobustScaler":
            centre = _array(scaler, "center_", where) if scaler.with_centering else [0]
            scale = _array(scaler, "scale_", where) if scaler.with_scaling else [1]
        case _:
            centre, scale = [0], _array(scaler, "scale_", where)
    return Scaling.standardising(centre, scale, where)


def _composed(steps: Sequence[Any], place: str) -> tuple[Scaling | None, tuple[str, ...]]:
    """Scalers one after the other, and their names."""
    scaling: Scaling | None = None
    names: list[str] = []
    for step in steps:
        own = scaling_of(step, place)
        if own is not None:
            scaling = own if scaling is None else scaling.then(own, place)
            names.append(type(step).__name__)
    return scaling, tuple(names)


def _array(scaler: Any, name: str, place: str) -> list[Any]:
    if getattr(scaler, name, None) is None:
        raise InputError(f"{place} is not fitted: call fit first")
    return getattr(scaler, name).tolist()


def _fitted(estimator: Any, name: str, place: str) -> Any:
    if getattr(estimator, name, None) is None:
        raise InputError(f"{place} has no {name}: call fit first (a search with refit=True)")
    return getattr(estimator, name)


def _kinds(source: object) -> set[str]:
    return {kind.__name__ for kind in type(source).__mro__ if kind.__module__.partition(".")[0] == "sklearn"}
