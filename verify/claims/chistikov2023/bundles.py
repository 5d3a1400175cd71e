"""Section 5 and Theorems 6 and 7 of arXiv:2306.06479: the bundle v = sum a_j w_j of the positive neurons on its way.

Coordinates nu_k = v.u_k are those of the eigenvectors of X X^T / n, eigenvalues falling; r_k = nu_k / nu*_k.
"""

from __future__ import annotations

from fractions import Fraction
from math import acos, log, sqrt
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from verify.claims.chistikov2023.alignment import from_scales, scale_of
from verify.claims.chistikov2023.correlated import EPSILON, Constants, constants, yardsticks_of
from verify.claims.chistikov2023.flows import Flow, flow_from, velocity
from verify.claims.records import Instance, Judgement, Outcome, failed, held, undecided

__all__ = ["converges_exponentially", "stays_in_s", "tends_to_rank_one"]

Floats: TypeAlias = NDArray[np.float64]

SCALES = (1e-3, 1e-6, 1e-9)

LEAST_RATE = EPSILON / 2
"""Of the distance in lambda: what 1 - cos <= 4 lambda^epsilon gives."""

TOO_LARGE = "no scale that floats hold is small enough for these data"

SEEN = 1e-12
"""Of the mean square of the targets: below this loss the coordinates' distances to 1 are rounding."""

ACCURACY = 1e-10
"""Of the steps where all coordinates are looked at: the largest pulls a thousand times as much as the least."""

ROUNDING = 1e-7
"""Of directions of neurons whose flow has steps right to 1e-8."""

NOISE = 1e-7
"""Of a coordinate r_k, from a flow of this accuracy."""

RESOLVED = 1e-5
"""eta_d / eta_1 at least, for the last coordinate to be seen above the rounding of the first."""

SHORT = 1e-4
"""Of a coordinate r_k that comes to 1 while SEEN, and then passes it by less than NOISE."""


def _is_nearly_linear(known: Constants, scale: float, sine: float) -> bool:
    """The padding lambda^(epsilon/3) leaves S connected, and v is along gamma at T_1 up to half of what S allows.

    At a handover r_(l-1) = 1 the cosine in Xi is about r_l nu*_l, and S bounds r_l by eta_l / (2 eta_(l-1)) from below.
    Along gamma r_k is eta_k / eta_1 of r_1; S allows factors down to 1/2, and up to about (1 + eta_(k-1) / eta_k) / 2.
    """
    ratios = known.eta[1:] / known.eta[:-1]
    narrowest = float((ratios / 2 * known.teacher[1:]).min())
    room = np.append(0.5, (1 - ratios) / 2)
    least = float((known.eta * known.teacher * np.minimum(room, 0.5)).min())
    return 4 * scale ** (EPSILON / 3) < narrowest and 2 * sine * known.pull < least


def _unfitted(flow: Flow, scale: float) -> Judgement:
    if flow.has_converged:
        return failed(f"at lambda = {scale:g} the loss does not tend to 0: {flow.reason}")
    return undecided(f"the flow did not come to an end: {flow.reason}")


def _without_a_scale(instance: Instance) -> Judgement:
    flow = flow_from(instance, SCALES[-1])
    return undecided(TOO_LARGE) if flow.is_fitted else _unfitted(flow, SCALES[-1])


def _bundle(flow: Flow, instance: Instance) -> Floats:
    """v at all steps, shape (T, d)."""
    positive = [found.neuron for found in yardsticks_of(instance) if found.sign > 0]
    return np.einsum("tj,tjc->tc", flow.outgoing[:, positive], flow.hidden[:, positive])


def converges_exponentially(instance: Instance) -> Judgement:
    """Theorem 6, and its proof's ||grad L||^2 > (2 eta_d^2 / 5 eta_1) L; measured: the least quotient of the two.

    T_2 is the first step after T_1 with r_1 >= 1/2.
    """
    known, scale = constants(instance), scale_of(instance, _is_nearly_linear)
    if scale is None:
        return _without_a_scale(instance)
    flow = flow_from(instance, scale, ACCURACY)
    if not flow.is_fitted:
        return _unfitted(flow, scale)
    first = _bundle(flow, instance) @ known.basis[:, 0] / known.teacher[0]
    reached = np.flatnonzero((flow.times >= known.aligned(scale)) & (first >= 0.5))
    d, delta, bound = len(known.eta), known.delta, known.bound
    latest = log(1 / scale) * (4 + EPSILON) * d * bound**2 / delta**6 if delta > 0 else float("inf")
    if not len(reached) or not flow.times[reached[0]] < latest:
        return failed(f"at lambda = {scale:g} T_2 is not before {latest:.3g}")
    after = slice(int(reached[0]), None)
    times, losses = flow.times[after] - flow.times[reached[0]], np.exp(flow.log_losses[after])
    # both fall: between two steps the loss is at most that at the first, and the bound at least that at the second
    if not (losses[:-1] < 0.5 * bound**2 * np.exp(-0.4 * times[1:] * delta**4 / bound**2)).all():
        return failed(f"at lambda = {scale:g} the loss is above the bound")
    constant = 2 * known.eta[-1] ** 2 / (5 * known.eta[0])
    quotients: list[float] = []
    for hidden, outgoing, loss in zip(flow.hidden[after], flow.outgoing[after], losses, strict=True):
        parts = velocity(flow.rows, flow.targets, hidden, outgoing)
        quotients.append(sum(float((part**2).sum()) for part in parts) / (constant * loss))
    if not min(quotients) > 1:
        return failed(f"at lambda = {scale:g} ||grad L||^2 falls to {min(quotients):.3g} times its bound")
    return held(f"at lambda = {scale:g}", measured=Fraction(min(quotients)))


def stays_in_s(instance: Instance) -> Judgement:
    """From T_1 on v is in S and passes its parts in their order, to the last; measured: the number of handovers.

    At a scale, and where that fails at its square too.
    """
    known, scale = constants(instance), scale_of(instance, _is_nearly_linear)
    if scale is None:
        return _without_a_scale(instance)
    if known.eta[-1] < RESOLVED * known.eta[0]:
        return undecided("the eigenvalues are too far apart for floats")
    first = _stays_in_s(instance, scale)
    return _stays_in_s(instance, scale**2) if first.outcome is Outcome.FAILED else first


def _stays_in_s(instance: Instance, scale: float) -> Judgement:
    known, flow = constants(instance), flow_from(instance, scale, ACCURACY)
    if not flow.is_fitted:
        return _unfitted(flow, scale)
    seen = (flow.times >= known.aligned(scale)) & (np.exp(flow.log_losses) > SEEN * (flow.targets**2).mean())
    ratios = _bundle(flow, instance)[seen] @ known.basis / known.teacher
    part, last = 0, len(known.eta) - 1
    for time, r in zip(flow.times[seen], ratios, strict=True):
        while part < last and r[part] > 1 + NOISE:
            part += 1
        if broken := _broken(r, part, known, scale):
            return failed(f"at lambda = {scale:g} and time {time:.6g} {broken}: r = {r.tolist()}")
    if part < last and r[part] < 1 - SHORT:  # pyright: ignore[reportPossiblyUnboundVariable]
        return failed(f"at lambda = {scale:g} it ends in part {part + 1} of {last + 1}")
    return held(f"at lambda = {scale:g}, to part {part + 1} of {last + 1}", measured=part)


def _broken(r: Floats, part: int, known: Constants, scale: float) -> str:
    """What of the part (from 0) of S is broken by more than NOISE; "" for nothing."""
    eta = known.eta
    if (r[:part] <= 1 - NOISE).any():
        return f"a coordinate before {part + 1} fell back"
    if r[part] > 1 + NOISE:
        return "the last coordinate is above 1"
    if part and not eta[part] / (2 * eta[part - 1]) < r[part] + NOISE:
        return f"Phi is broken in part {part + 1}"
    for k in range(part, len(r)):
        for later in range(k + 1, len(r)):
            ratio = eta[later] / eta[k]
            if not ratio / 2 * r[k] < r[later] * (1 + NOISE):
                return f"Psi-down of {k + 1} and {later + 1} is broken"
            if not 1 - r[later] > max(0.0, 1 - r[k]) ** (0.5 + ratio / 2) * (1 - NOISE) - NOISE * r[later]:
                return f"Psi-up of {k + 1} and {later + 1} is broken"
    v, pull = r * known.teacher, eta * (1 - r) * known.teacher
    if not v @ pull > scale ** (EPSILON / 3) * np.linalg.norm(v) * np.linalg.norm(pull):
        return "Xi is broken"
    return ""


def tends_to_rank_one(instance: Instance) -> Judgement:
    """Theorem 7: at the end of each flow the distance to the networks of rank 1 along v*, at three scales.

    The proof keeps the cosines between active neurons above 1 - 4 lambda^epsilon, and sum |w_j| w_j = v* at the end;
    so the direction of each is that near to v*. Dead neurons have at most their first norm. Measured: the power of the
    scale with which the distance falls from the first to the second; at the third it may be that of the end of a flow.
    """
    found: list[tuple[float, str]] = []
    distances: list[float] = []
    blur = 0.0  # |v - v*| at the end
    for scale in SCALES:
        flow = flow_from(instance, scale)
        if not flow.is_fitted:
            return _unfitted(flow, scale)
        distance, allowed = _distance(flow, constants(instance)), _allowed(flow, scale)
        distances.append(distance)
        blur = ROUNDING + sqrt(2 * float(np.exp(flow.log_losses[-1])) / float(constants(instance).eta[-1]))
        found.append((distance / allowed - 1, f"at lambda = {scale:g} the distance is {distance:.3g} of {allowed:.3g}"))
    if distances[1] < blur:
        return held(f"at lambda = {SCALES[1]:g} the distance is rounding")
    first, last = (log(distances[0] / distances[k]) / log(SCALES[0] / SCALES[k]) for k in (1, 2))
    if last < LEAST_RATE and distances[2] > blur:
        return failed(f"the distance to rank 1 falls from {distances[0]:.3g} to {distances[-1]:.3g} only")
    return from_scales(found, first)


def _distance(flow: Flow, known: Constants) -> float:
    """|theta - nearest network of rank 1 along v*, sum |w_j|^2 = 1, positive output weights|."""
    hidden, outgoing = flow.hidden[-1], flow.outgoing[-1]
    along = np.maximum(0.0, (hidden @ (known.basis @ known.teacher) + outgoing) / 2)  # of (v*, 1) c_j, the best c_j
    size = float(np.linalg.norm(along))
    if size == 0:
        return float(np.sqrt((hidden**2).sum() + (outgoing**2).sum() + 2))
    rest = hidden - np.outer(along / size, known.basis @ known.teacher), outgoing - along / size
    return float(np.sqrt(sum(float((part**2).sum()) for part in rest)))


def _allowed(flow: Flow, scale: float) -> float:
    """sum |w_j|^2 <= 1 / cos, all within the angle of v*: |w_j - |w_j| v*|, the sizes, and the dead neurons."""
    cosine = max(1 - 4 * scale**EPSILON, 1e-3)
    angle, total = acos(cosine), 1 / cosine
    dead = float(np.sqrt(2) * np.linalg.norm(flow.hidden[0]))
    return 2 * np.sin(angle / 2) * sqrt(total) + sqrt(2) * (sqrt(total) - 1) + dead
