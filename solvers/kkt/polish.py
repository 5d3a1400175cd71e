"""From any two-layer network to a Clarke-stationary point of its max-margin or min-norm problem, in floats.

In turn, until the Clarke residual of what was found is below the target:

    1. Newton's method from the network as it is read           (`solvers.kkt.newton`)
    2. the convex program of the network's own pattern           (`solvers.kkt.pattern_polish`)
    3. annealed descent that holds neurons at the kinks where they come to rest (`solvers.kkt.annealing`),
       then the program of its pattern, beta growing from round to round

each result read by `solvers.kkt.reading` and refined by Newton's method; so a KKT point stays where it is, and a
network near one moves little.

The point is NOT the limit of the flow, of gradient descent or of anything else from this network: it is one KKT point
that could be reached, and `Polished.moved` says how far from the network it lies. From an early network it is often
another one than the flow would find (`docs/mathematics.md`, 10.2 "What stop tests mean").

Depth 2 without sharing, masks allowed, both layers counted, biases (if any) as a column of ones that counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from solvers.arrays import Floats
from solvers.clock import TimeIsUpError, is_late, poll, until
from solvers.kkt.annealing import SHARPEST, AnnealingState
from solvers.kkt.newton import newton
from solvers.kkt.pattern_program import optimum_in_pattern
from solvers.kkt.reading import Frame, KinkReading
from solvers.layers import Layers

__all__ = ["TARGET", "Moved", "PolishStatus", "Polished", "distance", "kkt_polish"]


TARGET: Final = 1e-6
"""Residual (and slack, and misfit) below which a network counts as stationary."""

FINE: Final = 0.1
"""Newton's method is tried on the given network only when it is this near: from afar it would only lead elsewhere."""

SUPPORTS: Final = (1e-7, 1e-5, 1e-3, 1e-2)
"""A point belongs to the support when its multiplier is above this part of the largest; tried in this order."""

BETAS: Final = (1e4, 1e5, 1e6, SHARPEST)
"""At which kinks are held, after annealing from 1 up to the first of them in `ANNEALING` steps."""

ANNEALING: Final = 17

CEILING: Final = 16.0
"""The bound on the multipliers where the network does not fit yet."""

RAISED, RAISES = 32.0, 3
"""By how much and how often it is raised, for max-margin."""

HOLDING: Final = 12
"""Rounds of holding and releasing at one beta."""

OVERSIZED: Final = 1e6
"""A network with larger balanced weights, in units in which points and targets are near 1, is scaled down first."""

ALIKE: Final = 1e-12
"""Points whose directions are nearer than this are one point to a homogeneous network."""

FITTED: Final = 1e-2
"""An interpolating network misses no target by more than this part of the largest; its pattern may then be tried."""


class PolishStatus(StrEnum):
    """How a polish ended."""

    STATIONARY = "stationary"
    NOT_REACHED = "not reached"
    """The network fits, but its residual stayed above the target."""
    NOT_FITTED = "not fitted"
    """No network was found that separates or interpolates the data."""


@dataclass(frozen=True, slots=True)
class Moved:
    """How far apart two networks are, dead neurons included.

    angle: between the parameter vectors, radians.
    relative: ||theta' - theta|| / ||theta||, for max-margin after bringing both to margin 1; inf where that cannot be.
    """

    angle: float
    relative: float


@dataclass(frozen=True, slots=True, eq=False)
class Polished:
    """What was reached.

    theta: as given if it was stationary already, else balanced; max-margin: of margin 1.
    residual, slack, misfit, kinks, multipliers: of theta, see `solvers.kkt.reading.KinkReading`.
    start: the residual of the given network, read in the same way; inf where it is on a wrong side.
    rounds: programs and descents tried.   moved: from the given network to theta.   reason: a sentence.
    """

    status: PolishStatus
    theta: Floats
    residual: float
    slack: float
    misfit: float
    kinks: tuple[tuple[int, int], ...]
    multipliers: Floats
    start: float
    rounds: int
    moved: Moved
    reason: str

    def __repr__(self) -> str:
        return f"<Polished: {self.status.value}, residual {self.residual:.2e}: {self.reason:.100}>"


def kkt_polish(
    layers: Layers,
    rows: ArrayLike,
    targets: ArrayLike,
    theta: Floats,
    *,
    margin: bool,
    target: float = TARGET,
    deadline: float | None = None,
    on_round: Callable[[int, float], None] | None = None,
) -> Polished:
    """A Clarke-stationary point near theta, or the nearest to one that was reached; a KKT point is left as it is.

    margin: max-margin (targets +-1) or min-norm.   deadline: a moment of `clock.now()`, at which the best so far is
    returned; raises TimeIsUpError where not even the given network could be read by then.
    on_round: told the number of each round and the least residual so far.

    Not the limit of training (see the module). Raises ValueError for layers that are not of depth 2 without sharing,
    for parameters that are not finite, and for data that `solvers.instance.ProblemInstance` refuses.
    """
    theta = np.asarray(theta, float)
    if theta.shape != (layers.size,) or not np.isfinite(theta).all():
        raise ValueError(f"theta must be {layers.size} finite numbers")
    frame = Frame.of(layers, rows, targets, margin=margin)
    if margin and theta.any():  # only the direction counts
        theta = theta / np.abs(theta).max()
    with until(deadline):
        given = frame.read(*frame.split(theta))
    best, rounds = given, 0
    contradiction = _contradiction(frame)
    needed = given.worst > target and contradiction is None
    try:
        with until(deadline):
            tried = _candidates(frame, given, theta, deadline) if needed else ()
            for rounds, reading in enumerate(tried, 1):
                if reading.worst < best.worst or not np.isfinite(best.worst):
                    best = reading
                if on_round is not None:
                    on_round(rounds, best.worst)
                if best.worst <= target or is_late(deadline):
                    break
    except TimeIsUpError:  # what was found by then is kept, unless the step around this one has to end as well
        poll()
    return _report(frame, theta, given, best, rounds, target, contradiction)


def distance(frame: Frame, theta: Floats, other: Floats) -> Moved:
    """How far the network `other` is from theta."""
    angle, ends = _angle(theta, other), []
    for end in (theta, other):
        weights, outgoing = frame.split(end)
        least = 1.0
        if frame.instance.margin:
            least = float((frame.instance.signs * frame.outputs(weights, outgoing)).min())
        if not least > 0:
            return Moved(angle, np.inf)
        ends.append(end / np.sqrt(least))
    size = float(np.linalg.norm(ends[0]))
    return Moved(angle, float(np.linalg.norm(ends[1] - ends[0])) / size if size else np.inf)


# ---------------------------------------------------------------------------------------------------- candidates


def _candidates(frame: Frame, given: KinkReading, theta: Floats, deadline: float | None) -> Iterator[KinkReading]:
    """Networks that may be stationary."""
    if not frame.instance.targets.any():
        yield frame.read(*frame.split(0.0 * theta))
        return
    if given.worst < FINE:
        yield _refined(frame, given)
    weights, outgoing = _balanced(frame, *frame.split(theta))
    largest = max(float(np.abs(weights).max()), float(np.abs(outgoing).max()))
    if largest > OVERSIZED:  # in the units of the frame; its size says nothing then
        weights, outgoing = weights / largest, outgoing / largest
    fits = _fits(frame, weights, outgoing)
    if fits:
        reading = _in_pattern(frame, weights, outgoing, deadline)
        if reading is not None:
            yield reading
            weights, outgoing = reading.weights, reading.outgoing
    descent = AnnealingState(frame.instance, frame.seen, weights, outgoing, CEILING, deadline)
    if fits:  # no multiplier of a better network is larger: their sum is its objective
        descent.ceiling = 2.0 * max(1.0, float(np.linalg.norm(weights, axis=1) @ np.abs(outgoing)))
    descent.anneal(BETAS[0], ANNEALING)
    for _ in range(RAISES if frame.instance.margin else 0):
        if _fits(frame, descent.W, descent.v) or is_late(deadline):
            break
        descent.ceiling *= RAISED
        descent.anneal(BETAS[0], ANNEALING)
    for beta in BETAS:
        for holding in range(HOLDING):
            changed = descent.hold_and_release(beta)
            descent.descend(beta)
            yield _refined(frame, frame.read(descent.W, descent.v, descent.multipliers(beta)))
            if not _fits(frame, descent.W, descent.v):
                descent.ceiling *= RAISED
                break
            reading = None if holding else _in_pattern(frame, *_balanced(frame, descent.W, descent.v), deadline)
            if reading is not None:
                yield reading
            if not changed:
                break


def _refined(frame: Frame, reading: KinkReading) -> KinkReading:
    """The reading after Newton's method, if that is better."""
    best = reading
    if not np.isfinite(reading.worst):
        return best
    sizes = np.abs(reading.multipliers)
    tried: set[bytes] = set()
    for part in SUPPORTS if frame.instance.margin else (-1.0,):
        support = sizes > part * sizes.max()
        if support.tobytes() in tried:
            continue
        tried.add(support.tobytes())
        found = newton(frame, reading, support)
        if found is None:
            continue
        refined = frame.read(*found, reading.multipliers)
        if refined.worst < best.worst:
            best = refined
        if best.worst <= TARGET**1.5:
            break
    return best


def _in_pattern(frame: Frame, weights: Floats, outgoing: Floats, deadline: float | None) -> KinkReading | None:
    """The optimum of the network's own pattern, read and refined."""
    found = optimum_in_pattern(frame, weights, outgoing, deadline)
    return None if found is None else _refined(frame, frame.read(*found))


# ---------------------------------------------------------------------------------------------------- the result


def _report(
    frame: Frame,
    theta: Floats,
    given: KinkReading,
    best: KinkReading,
    rounds: int,
    target: float,
    contradiction: str | None,
) -> Polished:
    """The best reading in the problem's own units, with its sentence."""
    own = frame.unscaled(best)
    reached = frame.joined(best.weights, best.outgoing)
    moved = distance(frame, theta, reached)
    if best.worst <= target:
        status = PolishStatus.STATIONARY
        reason = f"stationary within {best.worst:.1e}"
        if rounds:
            reason += (
                f" after {rounds} round{'s' if rounds != 1 else ''}, {moved.angle:.1e} radians from the given network; "
                "this need not be the limit of training from there"
            )
    elif _fits(frame, best.weights, best.outgoing):
        status = PolishStatus.NOT_REACHED
        reason = f"the residual is {best.worst:.1e} after {rounds} rounds, and the target was {target:.1e}"
    else:
        status, what = PolishStatus.NOT_FITTED, "separates" if frame.instance.margin else "interpolates"
        reason = contradiction or (
            f"no network that {what} the data was found from the given one at its width of {len(frame.seen)}"
        )
    return Polished(
        status=status,
        theta=reached,
        residual=own.residual,
        slack=own.slack,
        misfit=own.misfit,
        kinks=own.kinks,
        multipliers=own.multipliers,
        start=given.worst,
        rounds=rounds,
        moved=moved,
        reason=reason,
    )


def _contradiction(frame: Frame) -> str | None:
    """Why no network at all fits, where two points or a point at 0 show it."""
    rows, targets, margin = frame.instance.rows, frame.instance.targets, frame.instance.margin
    sizes = np.linalg.norm(rows, axis=1)
    for i in np.flatnonzero(sizes == 0):
        if targets[i]:
            return f"point {i} is 0, where a network without bias is 0, and its target is not"
    scales = np.where(sizes > 0, sizes, 1.0)
    units, wanted = rows / scales[:, None], targets if margin else targets / scales
    for i in range(1, len(rows)):
        alike = np.abs(units[:i] - units[i]).max(axis=1) <= ALIKE
        for j in np.flatnonzero(alike & (np.abs(wanted[:i] - wanted[i]) > 1e3 * ALIKE * abs(wanted[i]))):
            return f"points {j} and {i} contradict each other: they lie in one direction, and no network fits both"
    return None


def _fits(frame: Frame, weights: Floats, outgoing: Floats) -> bool:
    """Whether every point is on its side; min-norm: nearly interpolated."""
    f = frame.outputs(weights, outgoing)
    if frame.instance.margin:
        return bool((frame.instance.signs * f).min() > 0)
    return float(np.abs(f - frame.instance.targets).max()) < FITTED


def _balanced(frame: Frame, weights: Floats, outgoing: Floats) -> tuple[Floats, Floats]:
    """The same function with |v_j| = ||w_j||, of margin 1 where there is one."""
    sizes = np.linalg.norm(weights, axis=1)
    roots = np.sqrt(sizes * np.abs(outgoing))
    W = np.divide(weights, sizes[:, None], out=np.zeros_like(weights), where=sizes[:, None] > 0) * roots[:, None]
    v = np.sign(outgoing) * roots
    least = float((frame.instance.signs * frame.outputs(W, v)).min()) if frame.instance.margin else 1.0
    return (W / np.sqrt(least), v / np.sqrt(least)) if least > 0 else (W, v)


def _angle(a: Floats, b: Floats) -> float:
    """Between two vectors, accurate also when it is small; pi / 2 where one of them is 0, 0 where both are."""
    p, q = float(np.linalg.norm(a)), float(np.linalg.norm(b))
    if not (p > 0 and q > 0):
        return 0.0 if p == q else float(np.pi / 2)
    return float(2 * np.arctan2(np.linalg.norm(a / p - b / q), np.linalg.norm(a / p + b / q)))
