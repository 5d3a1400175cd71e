"""Trainings that claims speak of: from the network of an instance, in floats, each done once.

What is measured on the way (times, angles, distances) is no proof. What is said about the network at the end is decided
like for any other network: `ended` hands it over with the exact values of its floats.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from solvers.training.flow.gradient_flow import gradient_flow
from solvers.training.losses import Loss, value
from solvers.training.stop_tests import Plateau, StopTest
from solvers.training.trajectory import Training, TrainingStatus
from verify.auditing.record import Audit
from verify.checker.enclosure import StationaryNear
from verify.claims.conclusions import judged
from verify.claims.decisions import TOLERANCE, audited, stationary
from verify.claims.records import Instance, Judgement, Outcome, failed, held, undecided
from verify.deciders.enclosure import nearby_point
from verify.deciders.proposal import FLOAT_FAILURES
from verify.numbers.floats import to_float
from verify.problem.problem import outputs
from verify.training import TrainingRun, layers_of, network_of, parameters_of, rows_of, targets_of, train

__all__ = [
    "after",
    "at_rest",
    "ended",
    "ends_stationary",
    "falls_without_end",
    "flowed",
    "has_loss_below",
    "is_nearly_stationary",
    "margins",
    "nearby_certificate",
    "nearly_audited",
    "trained",
    "vanishes_at_a_kkt_point",
    "with_weights",
]

NEARLY = Fraction(1, 1000)
"""Of the norm: what float networks are allowed by default in an audit as well."""

EVALUATIONS = 200_000
"""Gradients that a training may compute, unless a claim says otherwise."""


@lru_cache(maxsize=64)
def trained(
    instance: Instance, *, loss: Loss | None = None, stop_at: float | None = None, evaluations: int = EVALUATIONS
) -> TrainingRun:
    """Gradient flow from the instance's network on its data; the loss is chosen as in `verify.train`.

    Raises KeyboardInterrupt at Ctrl-C.
    """
    run = train(instance.data, start=instance.network, loss=loss, stop_at=stop_at, max_evaluations=evaluations)
    if run.status is TrainingStatus.INTERRUPTED:
        raise KeyboardInterrupt
    return run


def flowed(
    instance: Instance, *, loss: Loss, stop: StopTest | None = None, evaluations: int = EVALUATIONS, scale: float = 1.0,
    **options: Any,
) -> Training:  # fmt: skip
    """Gradient flow from `scale` times the instance's network, with a stop test of the claim's own.

    options: of `gradient_flow`.   Raises KeyboardInterrupt at Ctrl-C.
    """
    shape = instance.network.architecture
    rows, start = rows_of(instance.data, shape), scale * parameters_of(instance.network)
    run = gradient_flow(
        layers_of(shape), rows, targets_of(instance.data), start, loss=loss, stop=stop, max_evaluations=evaluations,
        **options,
    )  # fmt: skip
    if run.status is TrainingStatus.INTERRUPTED:
        raise KeyboardInterrupt
    return run


def at_rest(instance: Instance) -> Plateau:
    """The stop test that ends a flow which no longer moves although points are misclassified."""
    return Plateau(rows_of(instance.data, instance.network.architecture), targets_of(instance.data))


def with_weights(instance: Instance, theta: np.ndarray[Any, np.dtype[np.float64]]) -> Instance:
    """The instance's problem with the network of these floats, exactly."""
    return Instance(instance.problem, network_of(instance.network.architecture, theta))


def nearly_audited(instance: Instance, tolerance: Fraction = TOLERANCE) -> Audit:
    """The audit of a trained network, as by default: stationary up to 1e-3; `tolerance` of its bracket."""
    return audited(instance, tolerance, NEARLY)


def ended(instance: Instance, run: TrainingRun) -> Instance:
    """The instance's problem with the network that training ended with."""
    return Instance(instance.problem, run.network)


def after(instance: Instance, run: TrainingRun, conclusion: Callable[[Instance], Judgement]) -> Judgement:
    """The conclusion about the end of a training; undecided where a limit ended it before its limit was reached."""
    if run.status not in (TrainingStatus.CONVERGED, TrainingStatus.STOPPED):
        return undecided(f"training did not come to an end ({run.status})")
    return conclusion(ended(instance, run))


def ends_stationary(instance: Instance) -> Judgement:
    """Gradient flow from here ends at a KKT point, up to 1e-3, with a certificate."""
    return after(instance, trained(instance), is_nearly_stationary)


def is_nearly_stationary(instance: Instance) -> Judgement:
    """The max-margin network is a KKT point up to 1e-3, or an exact one is within 1e-3, relative to its norm.

    With a certificate either way. Failed where a point is misclassified.
    """
    if min(margins(instance)) <= 0:
        return failed("a point is misclassified where training ended")
    found = judged(stationary(instance, NEARLY))
    if found.outcome is Outcome.HELD:
        return found
    point = nearby_certificate(instance)
    if point is not None and point.moved <= NEARLY:
        return held(f"an exact KKT point lies within {to_float(point.moved):.1e} of its norm")
    return found


@lru_cache(maxsize=32)
def nearby_certificate(instance: Instance) -> StationaryNear | None:
    """The exact KKT point to which the network's own pattern leads, at whatever distance; None when none is found."""
    try:
        with np.errstate(all="ignore"):
            return nearby_point(instance.problem, instance.network).certificate
    except FLOAT_FAILURES:
        return None


def margins(instance: Instance) -> list[Fraction]:
    """y_i f(x_i), exactly."""
    values = outputs(instance.problem, instance.network)
    return [y * f for y, f in zip(instance.data.targets, values, strict=True)]


def falls_without_end(instance: Instance) -> Judgement:
    """Gradient flow of the logistic loss brings it to e^-10 of its tenth power, with growing weights; in floats."""
    shape = instance.network.architecture
    theta = parameters_of(instance.network)
    first = layers_of(shape).outputs(theta, rows_of(instance.data, shape))
    aim = 10 * value("logistic", targets_of(instance.data), first).log_loss - 10
    run = flowed(instance, loss="logistic", stop=lambda moment: "the loss is small" if moment.log_loss < aim else None)
    if run.status is TrainingStatus.CONVERGED and run.trajectory.margins[-1] <= 0:
        return failed("the flow comes to rest with points on the wrong side")
    if run.status is not TrainingStatus.STOPPED:
        return undecided(f"the loss has not vanished ({run.status})")
    if not np.linalg.norm(run.theta) > np.linalg.norm(theta):
        return failed("the loss fell, but the weights did not grow")
    return held("the loss falls, and the weights grow")


def vanishes_at_a_kkt_point(instance: Instance) -> Judgement:
    """`falls_without_end`, and `ends_stationary`: where the flow ends, with a certificate."""
    fallen = falls_without_end(instance)
    return ends_stationary(instance) if fallen.outcome is Outcome.HELD else fallen


def has_loss_below(instance: Instance, bound: Fraction) -> bool:
    """sum_i exp(-y_i f(x_i)) < bound, shown by lower bounds of the exponentials that are right to about 1 %.

    The logistic loss, log(1 + e^-m) at each point, is smaller still.
    """
    found = margins(instance)
    if min(found) < 0:
        return False
    return sum((1 / _exponential(m) for m in found), Fraction(0)) < bound


def _exponential(m: Fraction) -> Fraction:
    """A lower bound of e^m for m >= 0: e > 2718/1000, Taylor's polynomial of degree 4; e^50 for all m beyond 50."""
    m = min(m, Fraction(50))
    rest = m - (whole := int(m))
    return Fraction(2718, 1000) ** whole * (1 + rest * (1 + rest / 2 * (1 + rest / 3 * (1 + rest / 4))))
