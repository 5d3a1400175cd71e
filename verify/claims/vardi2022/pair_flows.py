"""Where gradient flow arrives, for two points in the plane: the ends that arXiv:2110.02732 proves to be no optima."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import isqrt

import numpy as np
from numpy.typing import NDArray

from solvers.training.losses import Loss
from solvers.training.stop_tests import any_of
from solvers.training.trajectory import Moment, Training
from verify.checker.exact import dot
from verify.claims.conclusions import is_stationary_not_local, judged
from verify.claims.pairs_and_diagonals import is_pair, is_plane_relu
from verify.claims.records import Instance, Judgement, Outcome, failed, held, undecided
from verify.claims.trainings import after, at_rest, flowed, nearly_audited, trained, with_weights
from verify.deciders.finding import Verdict
from verify.problem.network import Network
from verify.training import parameters_of

__all__ = [
    "arrives_at_the_tie",
    "arrives_upwards",
    "ends_global",
    "has_a_positive_output",
    "is_a_small_two_neuron_start",
    "is_first_on",
    "is_second_off",
    "is_turned_onto_the_second",
    "is_two_neuron_tie",
]

Floats = NDArray[np.float64]
_LOSSES: tuple[Loss, ...] = ("exponential", "logistic")

UPWARDS = Network.two_layer([(0, 2), (0, 0)], [2, 0])
"""Where Theorem 3.2 says that the flow arrives."""

ARRIVED = 1e-6
"""Of the norm: what counts as this direction."""

TIED = 1e-3
"""The same for the tie, which is approached like the norm to a power between -1/2 and -2/7."""

FAR, MUCH = 1e-2, 1e30
"""A direction that is as far as this at such a norm is another one."""


# ------------------------------------------------------------------------------------------------------- Theorem 3.2
def is_a_small_two_neuron_start(instance: Instance) -> bool:
    """Points (1, 1/4), (-1, 1/4) of label 1, two dense ReLU neurons, a norm of at most 1e-7."""
    if not is_pair(instance) or not is_plane_relu(instance) or instance.network.width != 2:
        return False
    points = ((Fraction(1), Fraction(1, 4)), (Fraction(-1), Fraction(1, 4)))
    weights = [w for layer in instance.network.parameters for w in layer]
    return tuple(instance.data.inputs) == points and 0 < dot(weights, weights) <= Fraction(1, 10**14)


def is_first_on(instance: Instance) -> bool:
    """Neuron 1 is on at both points."""
    return all(dot(instance.network.hidden_weights[0], x) > 0 for x in instance.data.inputs)


def is_second_off(instance: Instance) -> bool:
    """Neuron 2 is off at both points."""
    return all(dot(instance.network.hidden_weights[1], x) < 0 for x in instance.data.inputs)


def has_a_positive_output(instance: Instance) -> bool:
    """v_1 > 0."""
    return instance.network.output_weights[0] > 0


def arrives_upwards(instance: Instance) -> Judgement:
    """The flow of both losses arrives at (0, 2), 2 and a zero neuron; the audit of its end: KKT near, no local optimum.

    Measured: the norm of the end, the larger of the two, relative to the one it started with.
    """
    goal = parameters_of(UPWARDS)
    grown = Fraction(0)
    for loss in _LOSSES:
        run, missed = _flow_to(instance, goal, loss, ARRIVED)
        if missed is not None:
            return missed
        found = nearly_audited(with_weights(instance, run.theta))
        for finding, wanted in (
            (found.stationary, Verdict.PROVED),
            (found.local_optimum, Verdict.REFUTED),
            (found.global_optimum, Verdict.REFUTED),
        ):
            verdict = judged(finding, wanted)
            if verdict.outcome is not Outcome.HELD:
                return verdict
        start = parameters_of(instance.network)
        grown = max(grown, Fraction(float(np.linalg.norm(run.theta) / np.linalg.norm(start))))
    return held(f"the direction is within {ARRIVED:g} of (0, 2), 2, 0, 0", measured=grown)


def _flow_to(instance: Instance, goal: Floats, loss: Loss, near: float) -> tuple[Training, Judgement | None]:
    """The flow until its direction is near the goal's; a judgement when it does not come there."""

    def arrived(moment: Moment) -> str | None:
        if distance(moment.theta, goal) <= near:
            return "the direction is near enough"
        return "another direction" if float(np.linalg.norm(moment.theta)) > MUCH else None

    test = any_of(arrived, at_rest(instance))
    run = flowed(instance, loss=loss, stop=test, evaluations=50_000, residual=1e-14)
    apart = distance(run.theta, goal)
    if apart <= near:
        return run, None
    text = f"{loss} loss: {run.status} at a distance of {apart:.3g} from the direction ({run.reason})"
    is_over = run.status in ("stopped", "converged")
    return run, failed(text) if is_over and apart > FAR else undecided(text)


def distance(first: Floats, second: Floats) -> float:
    """||a/|a| - b/|b|||."""
    return float(np.linalg.norm(first / np.linalg.norm(first) - second / np.linalg.norm(second)))


# --------------------------------------------------------------------------------------------------- Theorem 4.2 (2)
def is_two_neuron_tie(instance: Instance) -> bool:
    """Two points x_1 = (e - p) / l_1, x_2 = p / l_2 with orthonormal e, p; neurons (r e', r) and (s p, s), and

    sum r^2 / s^2 = l_1 / l_2: where e' = e the direction of a KKT point with x_2 on the kink of the first neurons. The
    first have one direction e', and their margin with e' = e is at least 16.
    """
    if not is_plane_relu(instance) or not is_pair(instance):
        return False
    frame = _frame(instance)
    if frame is None:
        return False
    e, p, first, second = frame
    network = instance.network
    rows = list(zip(network.hidden_weights, network.output_weights, strict=True))
    *group, (last, size) = rows
    tilts = {(dot(w, e) / v, dot(w, p) / v) for w, v in group if v > 0}
    is_grouped = all(v > 0 for _, v in group) and len(tilts) == 1 and next(iter(tilts))[0] == 1
    total = sum((v * v for _, v in group), Fraction(0))
    is_balanced = size > 0 and tuple(last) == tuple(size * q for q in p) and total * second == size * size * first
    return is_grouped and is_balanced and total >= 16 * first and 4 * first >= second and 4 * second >= first


def is_turned_onto_the_second(instance: Instance) -> bool:
    """The first neurons are on at the second point, at a tangent of 1/8 to 1/2 beyond its kink."""
    frame = _frame(instance)
    if frame is None:
        return False
    e, p, _, _ = frame
    w = instance.network.hidden_weights[0]
    return dot(w, e) > 0 and dot(w, e) <= 8 * dot(w, p) <= 4 * dot(w, e)


def _frame(instance: Instance) -> tuple[list[Fraction], list[Fraction], Fraction, Fraction] | None:
    """e, p, l_1, l_2 of the points; None when they are not rational, or the points not of this kind."""
    x, y = instance.data.inputs
    length = _root(dot(y, y))
    if not length:
        return None
    p = [q / length for q in y]
    along = dot(x, p)
    if along >= 0:
        return None
    e = [q / -along + r for q, r in zip(x, p, strict=True)]
    return (e, p, -1 / along, 1 / length) if dot(e, e) == 1 and dot(e, p) == 0 else None


def _root(square: Fraction) -> Fraction | None:
    found = Fraction(isqrt(square.numerator), isqrt(square.denominator))
    return found if found * found == square else None


def tied(instance: Instance) -> Instance | None:
    """The instance's network with its first neurons turned back, onto the kink at the second point."""
    frame = _frame(instance)
    if frame is None:
        return None
    e, p, _, _ = frame
    v = instance.network.output_weights
    hidden: list[Sequence[Fraction]] = [[r * q for q in e] for r in v[:-1]]
    network = Network.two_layer([*hidden, [v[-1] * q for q in p]], v)
    return Instance(instance.problem, network)


def arrives_at_the_tie(instance: Instance) -> Judgement:
    """The flow of both losses comes within 1e-3 of the direction of the tie, which is a KKT point and no local optimum.

    The verdicts are about the exact point, and that no neuron is zero is seen. Measured: the norm of the end.
    """
    point = tied(instance)
    if point is None:
        return undecided("the points are not of this kind")
    verdict = is_stationary_not_local(point)
    if verdict.outcome is not Outcome.HELD:
        return verdict
    norm = Fraction(0)
    for loss in _LOSSES:
        run, missed = _flow_to(instance, parameters_of(point.network), loss, TIED)
        if missed is not None:
            return missed
        norm = max(norm, Fraction(float(np.linalg.norm(run.theta))))
    return held(f"the direction is within {TIED:g} of the tie; {verdict.reason}", measured=norm)


# ------------------------------------------------------------------------------------------------------- Theorem 3.1
GLOBAL = Fraction(1, 1000)
"""The relative gap within which the end is to be a global optimum."""


def ends_global(instance: Instance) -> Judgement:
    """The end of the flow is a global optimum within 1e-3, with a certificate for every width."""

    def is_near(end: Instance) -> Judgement:
        return judged(nearly_audited(end, GLOBAL).global_any_width)

    return after(instance, trained(instance, stop_at=1e-5), is_near)
