"""Descent for networks of any depth: better networks from given and random starts, in floats, without a promise.

    max-margin:  1/2 ||theta||^2 + C/beta sum_i log(1 + exp(beta (1 - q_i)))      for growing beta
    min-norm:    1/2 ||theta||^2 + C beta/2 sum_i (f(x_i) - y_i)^2

C is an estimate of what multipliers may be: at margin 1 a KKT point has sum lambda_i = ||theta||^2 / m.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from solvers.arrays import Floats
from solvers.clock import is_late, poll
from solvers.layers import Layers

__all__ = ["DeepDescent", "random_start", "starts"]

BETAS = tuple(float(beta) for beta in np.geomspace(1.0, 1e5, 6))
ITERATIONS = 400


@dataclass(frozen=True)
class DeepDescent:
    """rows (n, columns), targets (n,): the data.   margin: whether y_i f(x_i) >= 1 is asked, else f(x_i) = y_i."""

    layers: Layers
    rows: Floats
    targets: Floats
    margin: bool

    def ended(self, theta: Floats, ceiling: float) -> Floats:
        """Where the penalties lead from a start; at the deadline where they have led."""
        for beta in BETAS:
            if is_late(None):
                break
            theta = self._descended(theta, beta, ceiling)
        return theta

    def _descended(self, theta: Floats, beta: float, ceiling: float) -> Floats:
        from scipy.optimize import minimize

        def value(theta: Floats) -> tuple[float, Floats]:
            poll()
            pattern = self.layers.pattern(self.layers.preactivations(theta, self.rows))
            penalty = 0.0

            def pull(outputs: Floats) -> Floats:
                nonlocal penalty
                if not self.margin:
                    rest = outputs - self.targets
                    penalty = beta * ceiling / 2 * float(rest @ rest)
                    return beta * ceiling * rest
                s = beta * (1 - self.targets * outputs)
                penalty = ceiling / beta * float(np.logaddexp(0, s).sum())
                return -ceiling * self.targets * np.exp(-np.logaddexp(0, -s))

            gradient = self.layers.pulled(theta, self.rows, pattern, pull)[1]
            return float(theta @ theta) / 2 + penalty, theta + gradient

        options = {"maxiter": ITERATIONS, "maxcor": 30, "ftol": 1e-15, "gtol": 1e-11}
        return minimize(value, theta, jac=True, method="L-BFGS-B", options=options).x


def random_start(layers: Layers, random: np.random.Generator) -> Floats:
    """Weights of layer l of the size that keeps activations: normal, over the root of the places that a unit reads."""
    theta = np.zeros(layers.size)
    for places in layers.places:
        here = places[places >= 0]
        read = max(float((places >= 0).sum(axis=1).mean()), 1.0)
        theta[here] = random.normal(size=len(here)) * np.sqrt(2.0 / read)
    return theta


def starts(layers: Layers, given: Floats | None, count: int, seed: int = 0) -> Iterator[Floats]:
    """The given one, that one disturbed, and random ones."""
    random = np.random.default_rng(seed)
    if given is not None:
        yield given
        size = float(np.abs(given).mean())
        yield given + 0.1 * size * random.normal(size=len(given))
    for _ in range(count):
        yield random_start(layers, random)
