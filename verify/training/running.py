"""From data to a trained network: defaults, conversions, the trainer, the report."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache, partial
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

import numpy as np

from solvers.arrays import Bits, Floats
from solvers.training.initialisation import INITIALISATIONS, initialise
from solvers.training.losses import LOSSES, Loss, rule_of, smallest_squared
from solvers.training.stop_tests import (
    NearlyStationary,
    NearPolished,
    Plateau,
    SmallLoss,
    StopTest,
    TimeLimit,
    any_of,
    nearly,
    residuals,
)
from solvers.training.trajectory import Moment, TrainingStatus, TrajectoryFileError
from verify.checker.errors import InputError
from verify.deciders.time_limits import TimeIsUpError, is_late, now, within
from verify.numbers.counts import count
from verify.numbers.floats import to_float
from verify.problem.network import Architecture, Network
from verify.problem.phrases import WHERE_TRAINING_STARTS
from verify.problem.posing import regression_note
from verify.problem.problem import Dataset
from verify.readers.reading import Options
from verify.training.conflicts import conflict
from verify.training.conversion import layers_of, network_of, parameters_of, rows_of, targets_of
from verify.training.given import read_given
from verify.training.runs import TrainingRun

if TYPE_CHECKING:
    from solvers.kkt.polish import Polished
    from solvers.layers import Layers
    from solvers.training.trajectory import Training

__all__ = ["METHODS", "Method", "train"]

Method: TypeAlias = Literal["flow", "descent"]
METHODS: tuple[Method, ...] = get_args(Method)

STOP_AT = 5e-4
"""Half of what the audit of a float network allows by default."""

"""For the squared loss, relative to the mean square of the targets: the outputs are right to about 9 digits."""

FITTED = -20.0
"""Of log L, relative to the mean square of the targets: above it the squared loss is not small."""

AT_ZERO = 1.0
"""Of log L: that of zero weights is below, with room for rounding."""

MOST_WEIGHTS = 10_000_000
"""That a network can have."""

INIT, SCALE = "balanced-sigma", 0.1
"""Small enough to learn features; from much smaller weights neurons often turn away from points for ever."""


def train(
    data: object,
    y: object = None,
    *,
    width: int | None = None,
    start: object = None,
    slope: object = None,
    bias: bool = False,
    loss: Loss | None = None,
    method: Method = "flow",
    init: str = INIT,
    scale: float = SCALE,
    output_scale: float | None = None,
    seed: int = 0,
    step: float | None = None,
    schedule: str | None = None,
    hidden_only: bool = False,
    stop_at: float | None = None,
    time_limit: float | None = None,
    max_evaluations: int | None = None,
    record: str | PathLike[str] | None = None,
    resume: bool = False,
    polish: bool = False,
    target: str | None = None,
    classes: Sequence[object] | None = None,
    standardise: object = None,
    output_bias: str = "refuse",
    two_logits: str = "refuse",
    fold: bool = False,
    trust_pickle: bool = False,
    progress: Callable[[Moment], None] | None = None,
) -> TrainingRun:
    """Train a network on `data` until it is nearly a KKT point (or, for the squared loss, until it fits).

    data, y: whatever `read_data` takes, with its options target, classes and standardise: `train(X, y, width=20)`.
    width, slope, bias: of a network of depth 2 (slope 0, ReLU, unless given); or
    start: a network to start from (whatever `read` takes, with its options slope, output_bias, two_logits, fold and
    trust_pickle, or a `Network` of any architecture) in place of width, bias, init, scale and seed. Its classes, its
    columns and its scaler are used for the data, as by `audit`; the network trained takes them so.
    loss: "exponential", "logistic" (default for targets -1 and 1) or "squared" (default for others).
    method: "flow" (gradient flow, integrated) or "descent" (gradient descent with `step` and `schedule`, "constant",
    "loss-scaled" or "loss-adapted", see `solvers.training.descent.gradient_descent`; default loss-scaled, squared loss:
    constant).
    init, scale, output_scale, seed: see `solvers.training.initialisation`.
    hidden_only: keep the output weights as they are; `TrainingRun.audit` then asks about given output weights.
    stop_at: stop once epsilon and delta of the KKT conditions are this small, or the activation pattern has settled and
    a KKT point lies this near (both relative to the norm; default 5e-4; the reason says which); for the squared loss
    once the loss is (default 1e-18 times the mean square of the targets).
    polish: go on from there to a KKT point (`solvers.kkt.polish`), which need not be the limit of training; the run
    says how far that is.
    time_limit: seconds, polishing included.   max_evaluations: gradients computed at most (by default 10,000,000,
    descent: 1,000,000).
    record: an .npz file for the trajectory, kept up to date: a run that was killed goes on from it with `resume=True`,
    to the same end.   progress: called now and then with a `solvers.training.trajectory.Moment`.

    Raises InputError. Whatever happens on the way (no separation, NaN, limits, Ctrl-C) is a status with a reason.
    """
    options = Options(
        slope=None if start is None else slope,
        output_bias=output_bias,
        two_logits=two_logits,
        fold=fold,
        trust_pickle=trust_pickle,
    )
    is_regression = loss in LOSSES and not rule_of(loss).is_for_margins
    network, points = read_given(
        start, data, y, options, target=target, classes=classes, standardise=standardise, as_stored=is_regression
    )
    shape = _shape(points, network, width, 0 if slope is None else slope, bias=bias)
    kind = _loss(points, loss)
    if polish and hidden_only:
        raise InputError(
            "polishing looks for a KKT point of all layers, and the output weights are kept: leave one of both out; an "
            "audit finds an exact KKT point near such a network by itself"
        )
    if polish and (shape.depth != 2 or shape.has_sharing):
        raise InputError("only networks of depth 2 without shared weights can be polished: leave polish out")
    layers, rows = layers_of(shape), rows_of(points, shape)
    targets = targets_of(points)
    if network is not None:
        theta, origin = parameters_of(network), "a given network"
        _require_in_range(layers, rows, theta)
    else:
        theta = _initial(init, layers, rows, targets, {"scale": scale, "output_scale": output_scale}, seed)
        origin = f"{init} initialisation, scale {scale:g}, seed {seed}"
    if not theta.any():
        raise InputError("every weight is 0 where training is to start, and no gradient moves them: start elsewhere")
    outgoing = layers.places[-1][layers.places[-1] >= 0]
    trained = ~np.isin(np.arange(layers.size), outgoing) if hidden_only else None
    began = time.monotonic()
    limit = TimeLimit(np.inf if time_limit is None else time_limit)
    is_margin = rule_of(kind).is_for_margins
    why = cache(partial(conflict, points, bias=shape.bias, is_for_margins=is_margin))
    plateau = Plateau(rows, targets, why)
    deadline = None if time_limit is None else now() + time_limit
    tests = [
        limit,
        _in_time(_stop_test(kind, layers, rows, targets, stop_at, trained), deadline),
        *([plateau] if is_margin else []),
    ]
    training = _trained(
        method,
        (layers, rows, targets, theta),
        {
            "loss": kind,
            "trained": trained,
            "stop": any_of(*tests),
            "max_evaluations": max_evaluations,
            "max_steps": max_evaluations,
            "checkpoint": None if record is None else Path(fspath(record)),
            "resume": resume,
            "on_progress": progress,
        },
        {"step": step, "schedule": schedule},
    )
    training = _with_status(training, kind, limit, plateau, (targets, why))
    reached = None
    if is_margin:
        limit_at = STOP_AT if stop_at is None else stop_at
        training, reached = _with_residuals(training, (layers, rows, targets), limit_at, trained)
    polished, notes = None, ()
    if polish:
        polished, training, notes = _polished((layers, rows, targets), training, kind, deadline)
    theta = training.theta if polished is None else polished.theta
    return TrainingRun(
        network=_like_the_start(network_of(shape, theta), network, points),
        data=points,
        description=f"{_described(shape, points)}, trained by gradient {method} of the {kind} loss from {origin}"
        + (", with the output weights kept as they were" if hidden_only else ""),
        loss=kind,
        training=training,
        polished=polished,
        residuals=reached,
        hidden_only=hidden_only,
        seconds=time.monotonic() - began,
        notes=(*_notes_of_labels(points, network, loss), *notes),
        start_notes=() if network is None else tuple(f"{WHERE_TRAINING_STARTS}{note}" for note in network.notes),
    )


def _notes_of_labels(points: Dataset, network: Network | None, asked: str | None) -> Iterator[str]:
    """What is to be known of targets that are taken for numbers, where no loss is asked for."""
    if asked is None and _loss(points, None) == "squared":
        note = regression_note(points, () if network is None else network.notes, "train")
        if note is not None:
            yield f"the loss is squared: {note}"


def _shape(points: Dataset, network: Network | None, width: int | None, slope: object, *, bias: bool) -> Architecture:
    if network is not None:
        if width is not None:
            raise InputError("both a width and a network to start from are given: leave one out")
        return network.architecture
    if width is None or width < 1:
        given = "the width is missing" if width is None else f"the width is {width}"
        raise InputError(f"{given}: say how many hidden neurons the network is to have, at least 1")
    if width * (points.dimension + 2) > MOST_WEIGHTS:
        raise InputError(f"a width of {width} is too large: with {MOST_WEIGHTS:,} weights at most")
    return Architecture.two_layer(points.dimension, width, slope=slope, bias=bias)


def _loss(points: Dataset, asked: str | None) -> Loss:
    is_labelled = all(abs(y) == 1 for y in points.targets)
    for name in LOSSES:
        if name == asked:
            if rule_of(name).is_for_margins and not is_labelled:
                raise InputError(f"the {name} loss needs targets -1 and 1: name the two classes, or take squared")
            return name
    if asked is not None:
        raise InputError(f"there is no loss {asked!r:.60}: give one of {', '.join(LOSSES)}")
    return "logistic" if is_labelled else "squared"


def _initial(
    init: str, layers: Layers, rows: Floats, targets: Floats, scales: dict[str, float | None], seed: int
) -> Floats:
    if init not in INITIALISATIONS or init == "given":
        names = ", ".join(name for name in INITIALISATIONS if name != "given")
        raise InputError(f"there is no initialisation {init!r:.60}: give one of {names}")
    takes = INITIALISATIONS[init].takes
    known: dict[str, object] = {"rows": rows, "targets": targets}
    try:
        return initialise(init, layers, seed=seed, **scales, **{name: known[name] for name in takes if name in known})
    except (TypeError, ValueError) as error:
        raise InputError(f"initialisation: {error}") from error


def _stop_test(
    loss: Loss, layers: Layers, rows: Floats, targets: Floats, stop_at: float | None, trained: Bits | None
) -> StopTest:
    if stop_at is not None and not stop_at > 0:
        raise InputError(f"stop_at is {stop_at}: it must be more than 0")
    if not rule_of(loss).is_for_margins:
        return SmallLoss(smallest_squared(targets) if stop_at is None else stop_at)
    target = STOP_AT if stop_at is None else stop_at
    nearly_there = NearlyStationary(layers, rows, targets, target, trained)
    return nearly_there if trained is not None else any_of(nearly_there, NearPolished(layers, rows, targets, target))


def _require_in_range(layers: Layers, rows: Floats, theta: Floats) -> None:
    """InputError where the squares of the weights or outputs are beyond floats, so that no gradient is a number."""
    with np.errstate(all="ignore"):
        sizes = float(theta @ theta), float((layers.outputs(theta, rows) ** 2).sum())
    if not np.isfinite(sizes).all():
        raise InputError(
            f"training is in floating point, and the weights to start from, up to {np.abs(theta).max():.2g}, "
            "are too large for their squares or those of the outputs: start from smaller ones"
        )


def _trained(
    method: str, problem: tuple[Layers, Floats, Floats, Floats], common: dict[str, object], own: dict[str, object]
) -> Training:
    common = {name: value for name, value in common.items() if value is not None}
    given = {name: value for name, value in own.items() if value is not None}
    try:
        if method == "flow":
            from solvers.training.flow.gradient_flow import gradient_flow

            if given:
                raise InputError(f"{' and '.join(given)} is for gradient descent: leave it out, or take descent")
            return gradient_flow(*problem, **common)  # type: ignore[arg-type]
        if method == "descent":
            from solvers.training.descent.gradient_descent import gradient_descent

            is_scaled = rule_of(common["loss"]).is_for_margins  # type: ignore[arg-type]
            given.setdefault("schedule", "loss-scaled" if is_scaled else "constant")
            return gradient_descent(*problem, **common, **given)  # type: ignore[arg-type]
    except (TrajectoryFileError, ValueError) as error:
        raise InputError(str(error)) from error
    raise InputError(f"there is no method {method!r:.60}: give one of {', '.join(METHODS)}")


def _in_time(test: StopTest, deadline: float | None) -> StopTest:
    """The test, which says nothing where the time ends before it has an answer."""

    def stop(moment: Moment) -> str | None:
        return within(deadline, lambda: test(moment))

    return stop


def _polished(
    problem: tuple[Layers, Floats, Floats], training: Training, loss: Loss, deadline: float | None
) -> tuple[Polished | None, Training, tuple[str, ...]]:
    """What was found by the deadline, training, and notes: what was trained is kept whatever happens."""
    from solvers.kkt.polish import PolishStatus, kkt_polish

    late = "the time limit was reached"
    if is_late(deadline):
        return None, training, (f"not polished: {late} before",)
    try:
        found = kkt_polish(*problem, training.theta, margin=rule_of(loss).is_for_margins, deadline=deadline)
    except ValueError as error:
        return None, training, (f"not polished: {error}",)
    except TimeIsUpError:
        return None, training, (f"not polished: {late} before",)
    except KeyboardInterrupt:
        return None, replace(training, status=TrainingStatus.INTERRUPTED), ("not polished: interrupted",)
    if found.status is PolishStatus.NOT_FITTED:  # what it made of the network is of no use
        why = f"{late} before a network that fits was found" if is_late(deadline) else found.reason
        return None, training, (f"not polished: {why}",)
    is_cut = is_late(deadline) and found.status is not PolishStatus.STATIONARY
    return found, training, (f"polishing ended early: {late}",) if is_cut else ()


def _with_status(
    training: Training,
    loss: Loss,
    limit: TimeLimit,
    plateau: Plateau,
    known: tuple[Floats, Callable[[], str | None]],
) -> Training:
    """A time limit, a plateau and a local minimum are not what training was to stop at.

    known: the targets, and what tells why no network fits, where that is known.

    No network rests where its loss is above that of zero weights, for a smaller multiple of it has less.
    """
    last, (targets, why), for_margins = training.trajectory, known, rule_of(loss).is_for_margins
    is_stopped = training.status is TrainingStatus.STOPPED
    is_at_rest = training.status is TrainingStatus.CONVERGED or (is_stopped and plateau.is_over)
    if for_margins and is_at_rest and last.log_losses[-1] > AT_ZERO:
        lost = "this is no rest, for zero weights have less loss: floats cannot follow; scale the data or the start"
        return replace(training, status=TrainingStatus.FAILED, reason=f"{training.reason}; {lost}")
    if training.status is TrainingStatus.CONVERGED:
        fitted = FITTED + np.log(float((targets**2).mean()) or 1.0)
        if last.margins[-1] <= 0 if for_margins else last.log_losses[-1] > fitted:
            lost = why() or (
                "it does not fit" + (" exactly; to audit it with a tolerance: --fit-tol" if not for_margins else "")
            )
            return replace(training, reason=f"{training.reason}; {lost}")
    is_short = training.status in (TrainingStatus.LIMIT, TrainingStatus.INTERRUPTED) or (is_stopped and limit.is_over)
    if is_short and last.margins[-1:].size and (last.margins[-1] <= 0 or not for_margins) and (lost := why()):
        training = replace(training, reason=f"{training.reason}; {lost}")
    if not is_stopped or not (limit.is_over or plateau.is_over):
        return training
    return replace(training, status=TrainingStatus.LIMIT if limit.is_over else TrainingStatus.CONVERGED)


def _with_residuals(
    training: Training, problem: tuple[Layers, Floats, Floats], target: float, trained: Bits | None
) -> tuple[Training, tuple[float, float]]:
    """Epsilon and delta of where it ended; a limit at which they are small enough is what training was to stop at."""
    reached = residuals(*problem, training.theta, training.held, training.slopes, trained)
    if training.status is TrainingStatus.LIMIT and max(reached) <= target:  # descent is asked now and then only
        training = replace(training, status=TrainingStatus.STOPPED, reason=f"{nearly(*reached)}; {training.reason}")
    return training, reached


def _like_the_start(trained: Network, start: Network | None, points: Dataset) -> Network:
    """Among the scalers, classes and columns of the network that it started from, or else of the data.

    Without the notes of the start: they tell of its weights.
    """
    return trained.placed(points.surroundings if start is None else start.surroundings)


def _described(shape: Architecture, points: Dataset) -> str:
    depth = count(shape.width, "neuron") if shape.depth == 2 else f"a network of depth {shape.depth}"
    bias = "with biases" if shape.bias else "without biases"
    seen = f"{count(len(points), 'point')} in dimension {points.dimension}"
    return f"{depth} {bias}, slope {to_float(shape.slope):.6g}, on {seen}"
