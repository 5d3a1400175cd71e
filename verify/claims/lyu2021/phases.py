"""From small weights on symmetric data: growth along the mean, and the flow of two neurons that a wide network follows.

mu = 1/n sum y_i x_i, l = (1 + a)/4 |mu|, X = max |x_i|, M = |theta_0|_M the largest |w_k| or |v_k| at the start, m
neurons, b_k = (<w_k, mu>/|mu| + v_k) / (2 sqrt(m) M) there.

The paper has l = (1 + a)/2 |mu|, which counts every pair of points twice: G(w) = 1/2n sum over pairs of (1 + a) w.x
is (1 + a)/4 <w, mu>.

Source: arXiv:2110.13905, sections 5.1 and 5.2.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from math import isfinite, log, sqrt
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from verify.checker.exact import dot
from verify.claims.lyu2021.clocks import TOLERANCE, course
from verify.claims.lyu2021.scales import scaled
from verify.claims.records import Instance, Judgement, failed, held, undecided
from verify.problem.network import Network
from verify.problem.problem import Problem
from verify.strategies import drift_signs, is_small_start, mean_signed
from verify.training.conversion import parameters_of

__all__ = ["aligns", "commutes", "follows_two_neurons", "is_embedded", "is_good", "is_off_kinks", "is_small"]

Floats: TypeAlias = NDArray[np.float64]

FLOATS = 1e-3
"""Relative: what a bound may be exceeded by in floats."""

_NO_NUMBERS = "the flow has weights that are no numbers"


def is_small(instance: Instance) -> bool:
    """4 r^2 X^2 <= l for r^3 = sqrt(m) M, exactly: twice the least r with M <= r^3 / sqrt(m) is still small."""
    return is_small_start(instance.data, instance.network)


def is_good(instance: Instance) -> bool:
    """No b_k is 0, and both signs occur."""
    return set(drift_signs(instance.network, mean_signed(instance.data))) == {1, -1}


class _Start:
    """The numbers of the heading, in floats."""

    def __init__(self, instance: Instance) -> None:
        self.W, self.v = _weights(instance)
        self.mu = np.array([float(x) for x in mean_signed(instance.data)])
        self.norm = float(np.linalg.norm(self.mu))
        self.mean = self.mu / self.norm
        self.growth = float(1 + instance.slope) / 4 * self.norm
        self.reach = max(sqrt(float(dot(row, row))) for row in instance.data.inputs)
        self.largest = sqrt(len(self.v)) * float(max(np.linalg.norm(self.W, axis=1).max(), np.abs(self.v).max()))
        self.b = (self.W @ self.mean + self.v) / (2 * self.largest)

    def time(self, size: float) -> float:
        """When sqrt(m) M e^(l t) is this: T_1(r) for r, T_12 for 1."""
        return log(size / self.largest) / self.growth

    def embedded(self, r: float) -> Floats:
        """(r b_k mu/|mu|, r b_k)."""
        return np.append((r * self.b[:, None] * self.mean).ravel(), r * self.b)


def _weights(instance: Instance) -> tuple[Floats, Floats]:
    network = instance.network
    W = np.array([[float(x) for x in row] for row in network.hidden_weights])
    return W, np.array([float(x) for x in network.output_weights])


def _m_norm(theta: Floats, width: int) -> float:
    """max |w_k|, |v_k|; infinite where one is no number, which a maximum would overlook."""
    if not np.isfinite(theta).all():
        return float("inf")
    rows = theta[:-width].reshape(width, -1)
    return float(max(np.linalg.norm(rows, axis=1).max(), np.abs(theta[-width:]).max()))


def _measured(value: float) -> Fraction:
    return Fraction(value).limit_denominator(10**12)


# ------------------------------------------------------------------------------------------------------------- phase I
def aligns(instance: Instance) -> Judgement:
    """|theta(T_1(r)) - (r b_k mu/|mu|, r b_k)|_M <= C r^3 / sqrt(m), for the least r of the lemma and for twice that.

    C = sqrt(2) (1 + X^2 / (4 l) (1 - X^2 r^2 / (2 l))^(-3/2)), from: N = max |(w_k, v_k)| starts at most at sqrt(2) M;
    the flow is that of the matrix with top eigenvalue l and an error of at most m X^2 / 4 N^2 |(w_k, v_k)|, as |g(q) -
    1/2| <= |q| / 4 for the logistic loss's g; and what the matrix does not make grow is at most sqrt(2) M <= sqrt(2)
    r^3 / sqrt(m). Measured: the error in units of that bound.
    """
    start, width = _Start(instance), instance.network.width
    least = start.largest ** (1 / 3)
    found = course(instance, start.time(2 * least))
    if found is None:
        return undecided("the flow ended before")
    worst = 0.0
    for r in (least, 2 * least):
        rest = 1 - (start.reach * r) ** 2 / (2 * start.growth)
        constant = sqrt(2) * (1 + start.reach**2 / (4 * start.growth) * rest**-1.5)
        error = _m_norm(found(start.time(r)) - start.embedded(r), width)
        worst = max(worst, error * sqrt(width) / (constant * r**3))
    if not isfinite(worst):
        return undecided(_NO_NUMBERS)
    if worst > 1 + FLOATS:
        return failed(f"the error is {worst:.3g} times its bound", measured=_measured(worst))
    return held(f"the error is {worst:.3g} of its bound", measured=_measured(worst))


# ----------------------------------------------------------------------------------------------------------- embedding
def is_off_kinks(instance: Instance) -> bool:
    """No point is on the kink of a neuron, and no weight into or out of one is 0."""
    network = instance.network
    return all(network.output_weights) and all(
        dot(row, x) for row in network.hidden_weights for x in instance.data.inputs
    )


def is_embedded(instance: Instance) -> bool:
    """All (w_k, v_k) with v_k > 0 are positive multiples of one, and those with v_k < 0 of another; both occur."""
    network = instance.network
    rays: dict[bool, set[tuple[Fraction, ...]]] = {}
    for row, v in zip(network.hidden_weights, network.output_weights, strict=True):
        if v:
            rays.setdefault(v > 0, set()).add(tuple(x / abs(v) for x in row))
    return all(network.output_weights) and len(rays) == 2 and all(len(ray) == 1 for ray in rays.values())


COMMUTING = 1e-9
"""Relative to the weights: the least allowance for the difference of two integrations."""

TIMES = (0.5, 2.0, 8.0)
"""In units of 1 / X, where X = max |x_i|: those in which weights of size 1 change near 0."""


def commutes(instance: Instance) -> Judgement:
    """phi(pi_b(theta), t) = pi_b(phi(theta, t)), at three times.

    Two neurons are integrated at two tolerances; what these differ by, times 10, is allowed (but at least 1e-9). They
    have to move by a thousand times that, or there is nothing to compare.
    """
    start, width = _Start(instance), instance.network.width
    small, b = _two_neurons(instance)
    times = [factor / start.reach for factor in TIMES]
    flows = [course(instance, times[-1]), course(small, times[-1]), course(small, times[-1], 10 * TOLERANCE)]
    if any(flow is None for flow in flows):
        return undecided("the flow ended before")
    worst, error = 0.0, 0.0
    for time in times:
        wide, pair, rough = (flow(time) for flow in flows if flow is not None)
        if not np.isfinite(np.concatenate([wide, pair, rough])).all():
            return undecided(_NO_NUMBERS)
        size = _m_norm(pair, 2)
        worst = max(worst, _m_norm(wide - _embedding(pair, b), width) / size)
        error = max(error, _m_norm(rough - pair, 2) / size)
    if 10 * error > FLOATS:
        return undecided("the tolerance of the integrator matters")
    began, last = parameters_of(small.network), flows[1]
    moved = 0.0 if last is None else _m_norm(last(times[-1]) - began, 2) / _m_norm(began, 2)
    if moved < 1000 * max(COMMUTING, 10 * error):
        return undecided(f"the weights move by {moved:.2g} only")
    if worst > max(COMMUTING, 10 * error):
        return failed(f"they differ by {worst:.2g}", measured=_measured(worst))
    return held(f"they differ by {worst:.2g}", measured=_measured(worst))


def _two_neurons(instance: Instance) -> tuple[Instance, Floats]:
    """The two neurons that the network is the embedding of, and b with b_+ = 1 = -b_-."""
    W, v = _weights(instance)
    rows, outgoing, b = [], [], np.zeros(len(v))
    for sign in (1, -1):
        group = v * sign > 0
        size = float(np.linalg.norm(v[group]))
        b[group] = v[group] / size
        k = int(np.argmax(group))
        rows.append((W[k] * sign * size / v[k]).tolist())
        outgoing.append(sign * size)
    return _posed_pair(instance, rows, outgoing), b


def _posed_pair(instance: Instance, rows: list[list[float]], outgoing: list[float]) -> Instance:
    network = Network.two_layer(rows, outgoing, slope=instance.slope)
    old = instance.problem
    return Instance(Problem(old.data, network.architecture, goal=old.goal, bias=old.bias), network)


def _embedding(pair: Floats, b: Floats) -> Floats:
    """pi_b of (w_1, w_2, v_1, v_2), where b_+ and b_- are those of b."""
    rows, outgoing = pair[:-2].reshape(2, -1), pair[-2:]
    plus, minus = float(np.linalg.norm(b[b > 0])), float(np.linalg.norm(b[b < 0]))
    factors = np.where(b > 0, b / plus, -b / minus)
    chosen = np.where(b > 0, 0, 1)
    return np.append((factors[:, None] * rows[chosen]).ravel(), factors * outgoing[chosen])


# ------------------------------------------------------------------------------------------------------------ coupling
LATER = (0.0, 2.0, 4.0)
"""t in units of 1 / l."""

RADII = (1e-2, 1e-3, 1e-5)
SCALES = (Fraction(1), Fraction(1, 16), Fraction(1, 256))
LIMIT = 1e-9
"""Relative: below it a difference is 0 in floats."""


def follows_two_neurons(instance: Instance) -> Judgement:
    """phi(r b^, T_2(r) + t) has a limit as r -> 0, which is not 0, and theta(T_12 + t) tends to its embedding.

    The limit: between r = 1e-2, 1e-3, 1e-5 the differences, which are of the order of r^2, shrink at least tenfold;
    they are relative, so that the limit is not 0. The coupling: by Lemma 5.2 the error is of the order of r^2 =
    (sqrt(m) M)^(2/3) or less, 6.3 times less for weights 16 times smaller; held where it shrinks at least fourfold in
    the last of two such steps, or is 0 in floats; failed where it is above 1 % at the end and has not even been halved.
    Measured: the last error, relative.
    """
    start, width = _Start(instance), instance.network.width
    plus, minus = (float(np.linalg.norm(part)) for part in (start.b[start.b > 0], start.b[start.b < 0]))
    pairs: list[list[Floats]] = []
    for r in RADII:
        rows = [(r * plus * start.mean).tolist(), (-r * minus * start.mean).tolist()]
        found = course(_posed_pair(instance, rows, [r * plus, -r * minus]), (log(1 / r) + LATER[-1]) / start.growth)
        if found is None:
            return undecided("the flow of two neurons ended before")
        pairs.append([found((log(1 / r) + t) / start.growth) for t in LATER])
    sizes = [_m_norm(theta, 2) for theta in pairs[-1]]
    first, second = (
        max(_m_norm(p - q, 2) / _m_norm(q, 2) for p, q in zip(one, other, strict=True))
        for one, other in pairwise(pairs)
    )
    if second > max(LIMIT, first / 10):
        words = f"the flow of two neurons changes by {first:.2g} and then {second:.2g}, relative, as r -> 0"
        return failed(words) if second > max(1e-2, first / 2) else undecided("the limit r -> 0 is not reached")
    errors: list[float] = []
    for scale in SCALES:
        smaller = scaled(instance, scale)
        began = _Start(smaller)
        found = course(smaller, began.time(1.0) + LATER[-1] / began.growth)
        if found is None:
            return undecided("the flow ended before")
        ends = [found(began.time(1.0) + t / began.growth) for t in LATER]
        apart = [_m_norm(end - _embedding(pair, start.b), width) for end, pair in zip(ends, pairs[-1], strict=True)]
        errors.append(float(np.max(np.array(apart) / sizes)))
    if not all(map(isfinite, errors)):
        return undecided(_NO_NUMBERS)
    words = "the errors are " + ", ".join(f"{error:.2g}" for error in errors)
    if errors[-1] <= max(LIMIT, errors[-2] / 4):
        return held(words, measured=_measured(errors[-1]))
    if errors[-1] > max(1e-2, errors[0] / 2):
        return failed(words, measured=_measured(errors[-1]))
    return undecided("the error does not shrink as it should")
