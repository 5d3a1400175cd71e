"""When may training stop? Tests that the trainers call with each `Moment`; they answer with a sentence, or None.

`NearlyStationary` measures how far the network is from the Clarke KKT conditions of the max-margin problem, relative to
its norm. With q_i = y_i f(x_i), least q m, L the depth and h_i = grad q_i at the slopes that training follows,

    epsilon = ||theta - sum lambda_i h_i|| / ||theta||,   delta = sum lambda_i (q_i - m) / ||theta||^2,   lambda >= 0,

which do not change with the scale of theta: they are those of the network scaled to margin 1. Where some layers are
kept, theta are the parameters of the others, whose number L is.

lambda minimises epsilon^2 + delta^2. At kinks the slopes are those that the flow slides with, or (depth 2) neurons near
kinks are put on them, with the best slopes, whatever is the better reading.

`NearPolished` asks `solvers.kkt.polish` where the KKT point is, once the activation pattern has settled, and stops when
that is near. In floats: this ends a search, it proves nothing.

Source: arXiv:1906.05890v4, Definition 2 (approximate KKT points).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np

from solvers.arrays import Bits, Floats
from solvers.clock import now
from solvers.kkt.polish import Polished, PolishStatus, kkt_polish
from solvers.kkt.reading import kkt_reading
from solvers.layers import Layers
from solvers.programs.nonnegative import nonnegative_least_squares
from solvers.training.trajectory import Kink, Moment, counted

__all__ = [
    "NearPolished",
    "NearlyStationary",
    "Plateau",
    "SmallLoss",
    "StopTest",
    "TimeLimit",
    "any_of",
    "residuals",
]

StopTest: TypeAlias = Callable[[Moment], str | None]

SPACING = 0.1  # of the norm, between two tests of stationarity
PRECISE = 1e-3  # how nearly stationary a polished network has to be, as a part of the target
STILL = 1e-6  # of the speed that the data allow; below it a classifier has come to rest
SETTLED = 2.0  # a pattern has settled when the norm has grown by this factor and the pattern is the same


def residuals(
    layers: Layers,
    rows: Floats,
    targets: Floats,
    theta: Floats,
    held: Sequence[Kink] = (),
    slopes: Sequence[float] = (),
    trained: Bits | None = None,
) -> tuple[float, float]:
    """(epsilon, delta) at theta, with these slopes at the kinks that are held; (inf, inf) where a margin is not > 0.

    trained: which parameters are variables, those of whole layers; None for all.
    """
    norm = float(np.linalg.norm(theta if trained is None else theta[trained]))
    if not 0 < norm < np.inf:
        return np.inf, np.inf
    if trained is not None:
        return _residuals(layers, rows, targets, np.where(trained, theta / norm, theta), held, slopes, trained)
    followed = _residuals(layers, rows, targets, theta / norm, held, slopes)
    try:
        reading = kkt_reading(layers, rows, targets, theta / norm, margin=True)
    except ValueError:  # other depths, or shared weights
        return followed
    return min(followed, (reading.residual, reading.slack), key=max)


def _residuals(
    layers: Layers,
    rows: Floats,
    targets: Floats,
    unit: Floats,
    held: Sequence[Kink],
    slopes: Sequence[float],
    trained: Bits | None = None,
) -> tuple[float, float]:
    preactivations = layers.preactivations(unit, rows)
    q = targets * preactivations[-1][:, 0]
    if not q.min() > 0:
        return np.inf, np.inf
    pattern = layers.pattern(preactivations)
    for (layer, point, neuron), slope in zip(held, slopes, strict=True):
        pattern[layer][point, neuron] = slope
    gradients = (targets[:, None] * layers.jacobian(unit, rows, pattern)).T
    if trained is not None:
        gradients, unit = gradients[trained], unit[trained]
    loose = q - q.min()
    sizes = np.maximum(np.sqrt((gradients**2).sum(axis=0) + loose**2), np.finfo(float).tiny)
    system = np.vstack([gradients, loose]) / sizes
    try:
        multipliers = nonnegative_least_squares(system, np.append(unit, 0.0))
    except RuntimeError:
        return np.inf, np.inf
    multipliers = multipliers / sizes
    return float(np.linalg.norm(unit - gradients @ multipliers)), float(loose @ multipliers)


class NearlyStationary:
    """Stops once epsilon and delta are at most `target`; `last` holds the numbers of the latest test.

    Tests are made when the norm has grown by a tenth since the one before.
    """

    def __init__(
        self, layers: Layers, rows: Floats, targets: Floats, target: float, trained: Bits | None = None
    ) -> None:
        self.layers, self.rows, self.targets, self.target = layers, rows, targets, target
        self.trained = trained
        self.last = np.inf, np.inf
        self._norm = 0.0

    def __call__(self, moment: Moment) -> str | None:
        """The sentence that ends training, or None."""
        norm, _ = counted(self.layers, moment.theta, self.trained)
        if moment.margin <= 0 or norm < self._norm * (1 + SPACING):
            return None
        self._norm = norm
        self.last = residuals(
            self.layers, self.rows, self.targets, moment.theta, moment.held, moment.slopes, self.trained
        )
        epsilon, delta = self.last
        if max(epsilon, delta) > self.target:
            return None
        return nearly(epsilon, delta)


def nearly(epsilon: float, delta: float) -> str:
    """The sentence that says how nearly a network is stationary."""
    return f"stationary up to epsilon {epsilon:.1e} and delta {delta:.1e}"


class NearPolished:
    """Stops when the pattern has settled and a KKT point lies within `target`, relative to the norm, at margin 1.

    `polished` is that of the last test. Networks of depth 2 without sharing only; others are never stopped.
    """

    def __init__(self, layers: Layers, rows: Floats, targets: Floats, target: float) -> None:
        self.layers, self.rows, self.targets, self.target = layers, rows, targets, target
        self.polished: Polished | None = None
        self._norm, self._signs = 0.0, b""

    def __call__(self, moment: Moment) -> str | None:
        """The sentence that ends training, or None."""
        norm = float(np.linalg.norm(moment.theta))
        if len(self.layers.places) != 2 or moment.margin <= 0 or norm < SETTLED * self._norm:
            return None
        z = self.layers.preactivations(moment.theta, self.rows)[0]
        for _, point, unit in moment.held:
            z[point, unit] = 0.0
        before, self._norm, self._signs = self._signs, norm, np.sign(z).astype(np.int8).tobytes()
        if before != self._signs:
            return None
        try:
            found = kkt_polish(
                self.layers, self.rows, self.targets, moment.theta / norm, margin=True, target=PRECISE * self.target
            )
        except ValueError:  # shared weights
            return None
        self.polished = found
        if found.status is not PolishStatus.STATIONARY or found.moved.relative > self.target:
            return None
        return f"the activation pattern has settled, and a KKT point lies within {found.moved.relative:.1e} of its norm"


class Plateau:
    """Stops where a classifier no longer moves although points are on the wrong side; `is_over` says that it did.

    Where no neuron that could help is active at a point, its share of the gradient is 0; once the others are fitted the
    flow of log L comes to rest, ||d theta / ds|| -> 0 relative to ||theta||, which is of the order of max ||x_i|| as
    long as it learns, at small initial weights too. Where the loss is large the logistic one is of its order in the
    outputs, so that log L is flat, by a factor of L, although the flow is far from rest.
    """

    def __init__(self, rows: Floats, targets: Floats, why: Callable[[], str | None] | None = None) -> None:
        """why: asked at the end for what is known of the points that are missed."""
        self.rows, self.targets, self.is_over, self._why = rows, targets, False, why
        self._rate = STILL * float(np.linalg.norm(rows, axis=1).max(initial=0.0))
        self._time, self._theta = 0.0, np.zeros(0)

    def __call__(self, moment: Moment) -> str | None:
        """The sentence that ends training, or None."""
        before, elapsed = self._theta, moment.time - self._time
        rate = self._rate * float(np.exp(-max(moment.log_loss, 0.0)))
        if before.shape == moment.theta.shape and elapsed * rate < STILL:
            return None
        self._time, self._theta = moment.time, moment.theta.copy()
        if moment.margin > 0 or before.shape != moment.theta.shape:
            return None
        moved = float(np.linalg.norm(moment.theta - before)) / elapsed
        if moved > rate * float(np.linalg.norm(moment.theta)):
            return None
        self.is_over = True
        wrong = np.flatnonzero(self.targets * moment.outputs <= 0)
        names = ", ".join(map(str, wrong[:5])) + (", ..." if len(wrong) > 5 else "")
        count = f"{len(wrong)} of {len(self.targets)} points not classified correctly ({names}, counting from 0)"
        why = None if self._why is None else self._why()
        return f"nothing moves any more at loss {np.exp(moment.log_loss):.3g}, with {count}" + (
            f": {why}" if why else ""
        )


class SmallLoss:
    """Stops once the loss is at most `target`."""

    def __init__(self, target: float) -> None:
        self.target = float(np.log(target))

    def __call__(self, moment: Moment) -> str | None:
        """The sentence that ends training, or None."""
        if moment.log_loss > self.target:
            return None
        return f"the loss is {np.exp(moment.log_loss):.1e}, as small as it was asked to be"


class TimeLimit:
    """Stops so many seconds after it was made; `is_over` says that it did."""

    def __init__(self, seconds: float) -> None:
        self.seconds, self.is_over = seconds, False
        self._end = now() + seconds

    def __call__(self, moment: Moment) -> str | None:
        """The sentence that ends training, or None."""
        self.is_over = now() > self._end
        return (
            f"the time limit of {self.seconds:g} s, at log of the loss {moment.log_loss:.4g}" if self.is_over else None
        )


def any_of(*tests: StopTest) -> StopTest:
    """Stops when one of the tests does, with its sentence."""

    def stop(moment: Moment) -> str | None:
        return next((reason for test in tests if (reason := test(moment)) is not None), None)

    return stop
