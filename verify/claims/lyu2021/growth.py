"""From small weights on symmetric data: growth along the mean, and the embedding of two neurons in a wide network.

mu = 1/n sum y_i x_i, l = (1 + a)/4 |mu|, X = max |x_i|, M = |theta_0|_M the largest |w_k| or |v_k| at the start, m
neurons, b_k = (<w_k, mu>/|mu| + v_k) / (2 sqrt(m) M) there.

The paper has l = (1 + a)/2 |mu|, which counts every pair of points twice: G(w) = 1/2n sum over pairs of (1 + a) w.x
is (1 + a)/4 <w, mu>.

Source: arXiv:2110.13905, sections 5.1 and 5.2.
"""

from __future__ import annotations

from fractions import Fraction
from math import log, sqrt

import numpy as np

from solvers.arrays import Floats
from verify.checker.exact import dot
from verify.claims.lyu2021.ends import weights_in_floats
from verify.claims.lyu2021.symmetric import SYMMETRIC, is_general
from verify.claims.records import Instance
from verify.numbers.floats import to_float, to_floats
from verify.problem.network import Network
from verify.problem.problem import Problem
from verify.strategies import drift_signs, is_small_start, mean_signed

__all__ = [
    "FLOATS",
    "GENERAL",
    "NO_NUMBERS",
    "Floats",
    "Start",
    "embedding",
    "is_good",
    "is_small",
    "m_norm",
    "measured_in_floats",
    "posed_pair",
]


FLOATS = 1e-3
"""Relative: what a bound may be exceeded by in floats."""


NO_NUMBERS = "the flow has weights that are no numbers"


def is_small(instance: Instance) -> bool:
    """4 r^2 X^2 <= l for r^3 = sqrt(m) M, exactly: twice the least r with M <= r^3 / sqrt(m) is still small."""
    return is_small_start(instance.data, instance.network)


def is_good(instance: Instance) -> bool:
    """No b_k is 0, and both signs occur."""
    return set(drift_signs(instance.network, mean_signed(instance.data))) == {1, -1}


class Start:
    """The numbers of the heading, in floats."""

    def __init__(self, instance: Instance) -> None:
        self.W, self.v = weights_in_floats(instance)
        self.mu = to_floats(mean_signed(instance.data))
        self.norm = float(np.linalg.norm(self.mu))
        self.mean = self.mu / self.norm
        self.growth = to_float(1 + instance.slope) / 4 * self.norm
        self.reach = max(sqrt(to_float(dot(row, row))) for row in instance.data.inputs)
        self.largest = sqrt(len(self.v)) * float(max(np.linalg.norm(self.W, axis=1).max(), np.abs(self.v).max()))
        self.b = (self.W @ self.mean + self.v) / (2 * self.largest)

    def time(self, size: float) -> float:
        """When sqrt(m) M e^(l t) is this: T_1(r) for r, T_12 for 1."""
        return log(size / self.largest) / self.growth

    def embedded(self, r: float) -> Floats:
        """(r b_k mu/|mu|, r b_k)."""
        return np.append((r * self.b[:, None] * self.mean).ravel(), r * self.b)


def m_norm(theta: Floats, width: int) -> float:
    """max |w_k|, |v_k|; infinite where one is no number, which a maximum would overlook."""
    if not np.isfinite(theta).all():
        return float("inf")
    rows = theta[:-width].reshape(width, -1)
    return float(max(np.linalg.norm(rows, axis=1).max(), np.abs(theta[-width:]).max()))


def measured_in_floats(value: float) -> Fraction:
    """A float as what a judgement measured: to 12 digits behind the point or so."""
    return Fraction(value).limit_denominator(10**12)


def posed_pair(instance: Instance, rows: list[list[float]], outgoing: list[float]) -> Instance:
    """The network of two neurons with these weights, on the data of the instance."""
    network = Network.two_layer(rows, outgoing, slope=instance.slope)
    old = instance.problem
    return Instance(Problem(old.data, network.architecture, goal=old.goal, bias=old.bias), network)


def embedding(pair: Floats, b: Floats) -> Floats:
    """pi_b of (w_1, w_2, v_1, v_2), where b_+ and b_- are those of b."""
    rows, outgoing = pair[:-2].reshape(2, -1), pair[-2:]
    plus, minus = float(np.linalg.norm(b[b > 0])), float(np.linalg.norm(b[b < 0]))
    factors = np.where(b > 0, b / plus, -b / minus)
    chosen = np.where(b > 0, 0, 1)
    return np.append((factors[:, None] * rows[chosen]).ravel(), factors * outgoing[chosen])


GENERAL = {**SYMMETRIC, "general": is_general, "small": is_small}
