"""Where gradient flow on separable symmetric data ends, and what it keeps near a local optimum.

Training ends at KKT residuals of 1e-5 relative to the norm. Margins at the end are exact, of the network with the exact
values of its floats; distances are in floats. The best margin is (1 + a)/4 times the linear one (Theorem 4.2).

Source: arXiv:2110.13905, Theorems 3.1, 4.3, 5.5 and 5.6, and Corollary 4.4.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from solvers.training.losses import value
from verify.checker.exact import dot
from verify.claims.asking import locally
from verify.claims.lyu2021.scales import at_two_scales
from verify.claims.lyu2021.symmetric import separator
from verify.claims.records import Instance, Judgement, Outcome, failed, held, undecided
from verify.claims.trainings import after, flowed, is_nearly_stationary, margins, trained
from verify.deciders.finding import Verdict
from verify.problem.problem import half_squared_norm
from verify.strategies import drift_signs, mean_signed
from verify.training.conversion import layers_of, network_of, parameters_of, rows_of, targets_of

__all__ = [
    "ends_at_best_margin",
    "ends_at_one_sign",
    "ends_at_pair",
    "ends_linear",
    "has_one_sign",
    "is_balanced_pair",
    "is_local_optimum",
    "keeps_the_margin",
    "loss_vanishes_at_kkt",
    "on_one_side",
]

Floats: TypeAlias = NDArray[np.float64]

STOP_AT = 1e-5
"""KKT residuals at which training ends, relative to the norm."""

CLOSE = Fraction(1, 1000)
"""Of a margin: 100 times the residuals at the end, which a margin differs by to first order."""

ALLOWED = Fraction(3, 100)
"""Of directions and classifiers: ten times the square root of the residuals, which they differ by where margins do not
change to first order."""


def normalised(instance: Instance) -> Fraction:
    """min y_i f(x_i) / |theta|^2, exactly."""
    return min(margins(instance)) / (2 * half_squared_norm(instance.problem, instance.network))


def loss_vanishes_at_kkt(instance: Instance) -> Judgement:
    """The loss falls to e^-10 of its tenth power with growing weights; the flow ends at a KKT point up to 1e-3.

    The end with a certificate, the loss and the weights in floats.
    """
    shape = instance.network.architecture
    theta = parameters_of(instance.network)
    first = layers_of(shape).outputs(theta, rows_of(instance.data, shape))
    aim = 10 * value("logistic", targets_of(instance.data), first).log_loss - 10
    run = flowed(instance, loss="logistic", stop=lambda moment: "the loss is small" if moment.log_loss < aim else None)
    if run.status == "converged" and run.trajectory.margins[-1] <= 0:
        return failed("the flow comes to rest with points on the wrong side")
    if run.status != "stopped":
        return undecided(f"the loss has not vanished ({run.status})")
    if not np.linalg.norm(run.theta) > np.linalg.norm(theta):
        return failed("the loss fell, but the weights did not grow")
    return after(instance, trained(instance, loss="logistic"), is_nearly_stationary)


# ---------------------------------------------------------------------------------------------------- small starts
def ends_linear(instance: Instance) -> Judgement:
    """f at unit norm tends to (1 + a)/4 <w*, x>, within 3 %, from here and from a thousandth of it."""
    return at_two_scales(instance, lambda start: after(start, trained(start, stop_at=STOP_AT), _is_linear))


def _is_linear(end: Instance) -> Judgement:
    w = separator(end)
    if w is None:
        return failed("no linear classifier fits")
    distance = Fraction(_from_linear(end, _unit(w))).limit_denominator(10**9)
    words = f"the classifier at the end is within {float(distance):.2g} of (1 + a)/4 <w*, x>"
    return (held if distance <= ALLOWED else failed)(words, measured=distance)


def _from_linear(end: Instance, w: Floats) -> float:
    """A bound of |f(x) - c <w, x>| on the unit sphere, relative to c = (1 + a)/4, at unit norm.

    f(x) = (1 + a)/2 u.x + (1 - a)/2 sum v_k |w_k.x| with u = sum v_k w_k, and |w_k.x| is within |w_k -+ |w_k| w| of
    |w_k| |w.x|.
    """
    W, v = _weights(end)
    a, norm = float(end.slope), float((W**2).sum() + (v**2).sum())
    sizes = np.linalg.norm(W, axis=1)
    odd = float(np.linalg.norm((1 + a) / 2 * v @ W / norm - (1 + a) / 4 * w))
    off = np.minimum(*(np.linalg.norm(W - sign * sizes[:, None] * w, axis=1) for sign in (1, -1)))
    even = (1 - a) / 2 * (abs(float(v @ sizes)) + float(np.abs(v) @ off)) / norm
    return (odd + even) / ((1 + a) / 4)


def ends_at_best_margin(instance: Instance) -> Judgement:
    """The normalised margin at the end is at least 0.999 of the best, exactly, from here and from a thousandth of it.

    It cannot exceed the best: that it does falsifies Theorem 4.2, and is a failure.
    """
    return at_two_scales(instance, lambda start: _ends_at(start, Fraction(1)))


def has_one_sign(instance: Instance) -> bool:
    """Every <w_k, mu> + v_k |mu| is positive, or every one negative."""
    signs = set(drift_signs(instance.network, mean_signed(instance.data)))
    return signs in ({1}, {-1})


def ends_at_one_sign(instance: Instance) -> Judgement:
    """The normalised margin at the end is 2 a / (1 + a) of the best, that of the one neuron s(<w*, x>)/2, to 1e-3."""
    share = 2 * instance.slope / (1 + instance.slope)
    return at_two_scales(instance, lambda start: _ends_at(start, share))


def _ends_at(start: Instance, share: Fraction) -> Judgement:
    return after(start, trained(start, stop_at=STOP_AT), lambda end: _has_margin(end, share))


def _has_margin(end: Instance, share: Fraction) -> Judgement:
    """The normalised margin is this share of (1 + a) / (4 |w|), w least with y_i <w, x_i> >= 1."""
    w = separator(end)
    if w is None:
        return failed("no linear classifier fits")
    scaled = normalised(end) * 4 / (1 + end.slope)
    square = scaled * abs(scaled) * dot(w, w)  # of the share at the end
    low, high = (share * (1 - CLOSE)) ** 2, (share * (1 + CLOSE if share < 1 else 1)) ** 2
    reached = Fraction(float(abs(square)) ** 0.5).limit_denominator(10**9)
    words = f"the margin is {float(reached):.6f} of the best"
    return (held if low <= square <= high else failed)(words, measured=reached)


# ----------------------------------------------------------------------------------------------------- two neurons
def is_balanced_pair(instance: Instance) -> bool:
    """Two neurons, v_1 = |w_1| and v_2 = -|w_2|."""
    network = instance.network
    if network.width != 2:
        return False
    (first, second), (u, v) = network.hidden_weights, network.output_weights
    return u > 0 > v and u * u == dot(first, first) and v * v == dot(second, second)


def on_one_side(instance: Instance) -> bool:
    """<w_1, w*> > 0 > <w_2, w*>."""
    w = separator(instance)
    if w is None or instance.network.width != 2:
        return False
    first, second = instance.network.hidden_weights
    return dot(first, w) > 0 > dot(second, w)


def ends_at_pair(instance: Instance) -> Judgement:
    """theta / |theta| ends within 3 % of (w*, -w*, 1, -1)/2, with at least 0.999 of the best margin, exactly."""
    return after(instance, trained(instance, stop_at=STOP_AT), _is_the_pair)


def _is_the_pair(end: Instance) -> Judgement:
    first = _has_margin(end, Fraction(1))
    w = separator(end)
    if first.outcome is not Outcome.HELD or w is None:
        return first
    W, v = _weights(end)
    theta, unit = np.append(W.ravel(), v), _unit(w)
    limit = np.concatenate([unit, -unit, [1.0, -1.0]]) / 2
    distance = Fraction(float(np.linalg.norm(theta / np.linalg.norm(theta) - limit))).limit_denominator(10**9)
    words = f"the direction at the end is {float(distance):.2g} from (w*, -w*, 1, -1)/2"
    return (held if distance <= ALLOWED else failed)(words, measured=distance)


# --------------------------------------------------------------------------------------------- near a local optimum
NEAR = (3e-2, 1e-2, 3e-3, 1e-3)
"""Above the residuals at which training ends: nearer, it would end at once."""

DELTA = 0.1
LEAST_MARGIN = 50.0


def is_local_optimum(instance: Instance) -> bool:
    """The network is proved to be a local optimum."""
    return locally(instance).verdict is Verdict.PROVED


def keeps_the_margin(instance: Instance) -> Judgement:
    """From near the network's direction, with a large norm, the flow ends near it, with its margin to 1e-3.

    delta = 1/10; epsilon = 3e-2, 1e-2, 3e-3, 1e-3 until two starts so near, in opposite directions, end within delta
    with the margin of the network, exactly compared; their norm is such that the network's margin would be 50 at first,
    ten times as much at each further one. Held then; failed where none does and the farthest end at 1e-3 is not half
    as far as at 3e-2. Measured: the farthest end relative to epsilon.
    """
    known = normalised(instance)
    farthest: list[float] = []
    for step, epsilon in enumerate(NEAR):
        size = (LEAST_MARGIN * 10**step / float(known)) ** 0.5
        far, is_kept = 0.0, True
        for sign in (1.0, -1.0):
            start, direction = _beside(instance, sign * epsilon, size)
            run = trained(start, stop_at=STOP_AT)
            if run.status not in ("converged", "stopped"):
                return undecided(f"training did not come to an end ({run.status})")
            end = Instance(instance.problem, run.network)
            theta = parameters_of(run.network)
            far = max(far, float(np.linalg.norm(theta / np.linalg.norm(theta) - direction)))
            is_kept = is_kept and abs(normalised(end) - known) <= CLOSE * known
        farthest.append(far)
        if is_kept and far <= DELTA:
            measured = Fraction(far / epsilon).limit_denominator(10**6)
            return held(f"from {epsilon:g} beside it, the flow ends within {far:.2g}", measured=measured)
    if farthest[-1] > max(DELTA, farthest[0] / 2):
        return failed("however near the start, the flow goes away")
    return undecided("the margin is not that of the local optimum")


def _beside(instance: Instance, epsilon: float, size: float) -> tuple[Instance, Floats]:
    """A network of that norm whose direction is |epsilon| beside the instance's, always the same way; its direction."""
    theta = parameters_of(instance.network)
    theta /= np.linalg.norm(theta)
    way = np.sin(1.0 + 2.4 * np.arange(len(theta)))
    way -= (way @ theta) * theta
    way /= np.linalg.norm(way)
    moved = np.cos(epsilon) * theta + np.sin(epsilon) * way
    network = network_of(instance.network.architecture, size * moved)
    return Instance(instance.problem, network), theta


# ----------------------------------------------------------------------------------------------------------- floats
def _weights(instance: Instance) -> tuple[Floats, Floats]:
    network = instance.network
    W = np.array([[float(x) for x in row] for row in network.hidden_weights])
    return W, np.array([float(x) for x in network.output_weights])


def _unit(w: list[Fraction]) -> Floats:
    found = np.array([float(x) for x in w])
    return found / np.linalg.norm(found)
